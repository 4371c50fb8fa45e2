"""HTTP/1.1 over a plain socket, for tests that care about bytes: what is sent is sent as it is, and
what comes is read strictly."""
import json

import laud
from laud import expect


class Response:
    def __init__(self, code, headers, body):
        self.code = code
        self.headers = headers
        self.body = body

    def json(self):
        expect(self.headers.get("content-type") == "application/json", self.headers)
        return json.loads(self.body)

    def error(self):
        """The code of the error object, which every error has."""
        error = self.json()["error"]
        expect(set(error) == {"code", "message"} and error["message"], error)
        return error["code"]


class Raw(laud.Connection):
    def __init__(self, server, **options):
        super().__init__(server.http_port, **options)

    def send(self, data):
        self.socket.sendall(data.encode() if isinstance(data, str) else data)

    def line(self):
        line = self.file.readline()
        if not line:
            raise laud.Closed()
        expect(line.endswith(b"\r\n"), "a line without its end:", line)
        return line[:-2].decode("ascii")

    def read(self, bare=False):
        version, code, *_ = self.line().split(" ")
        expect(version == "HTTP/1.1", version)
        headers = {}
        while line := self.line():
            name, value = line.split(": ", 1)
            expect(name.lower() not in headers, f"{name} twice")
            headers[name.lower()] = value
        code = int(code)
        if code == 100:
            return Response(code, headers, b"")
        expect("date" in headers, "no Date")
        streamed = bare and headers.get("transfer-encoding") == "chunked"
        length = 0 if code == 204 or streamed else int(headers["content-length"])
        body = b"" if bare else self.file.read(length)
        expect(bare or len(body) == length, f"{len(body)} of {length} bytes")
        return Response(code, headers, body)

    def call(self, method, path, body=None, **headers):
        self.send(request(method, path, body, **headers))
        return self.read(bare=method == "HEAD")


def request(method, path, body=None, **headers):
    """The bytes of a request; a body that is not bytes goes as JSON. `X_Y=None` leaves X-Y out."""
    fields = {"Host": "localhost"}
    if body is not None and not isinstance(body, bytes):
        body = json.dumps(body).encode()
        fields["Content-Type"] = "application/json"
    if body is not None:
        fields["Content-Length"] = str(len(body))
    for name, value in headers.items():
        fields[name.replace("_", "-")] = value
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items() if value is not None)
    return f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + (body or b"")
