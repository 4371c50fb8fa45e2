"""Recorded conversations with a server, as text that a person can read and edit.

A file of tests/system/recorded has these lines:

    # a comment
    = serve FLAGS        starts a server in an empty directory; the one before is stopped. The word TOKENS
                         stands for a file with the tokens below
    = open NAME FLAGS    likewise, in a copy of the recorded directory NAME (archive.py)
    = connect            opens a new connection, which the next lines use
    = time SECONDS       what the server's clock says from now on
    = settle             waits until the store has everything
    = restart            stops the server and starts it again
    > COMMAND            RESP: a command, its words quoted as in a shell; HTTP: method and target
    >> BYTES             bytes to send as they are, with the escapes of Python
    + NAME: VALUE        HTTP: a header field of the request above
    | BODY               HTTP: its body
    < ANSWER             what came, line by line; "< (closed)": the connection was closed

What differs from run to run is masked: "*" stands for it. A cursor is shown as (cursor), and $cursor in a
command stands for the last one. replay() compares what comes with what was recorded; record() writes the
answers anew and keeps all other lines.
"""
import difflib
import hashlib
import json
import os
import re
import shlex
import struct

import archive
import gate
import laud
from http_raw import request

FOLDER = os.path.join(laud.HERE, "recorded")
TOKENS = ["read reader-of-all-types", "write writer-of-all-types", "admin admin-of-all-types",
          "read reader-of-videos-only video"]
CURSOR = re.compile(r"(?<![0-9a-f-])[0-9a-f]{24,96}(?![0-9a-f-])")


class Clock:
    """What the server's clock says; it stands still until it is set."""

    library = None

    def __init__(self, seconds):
        if Clock.library is None:
            Clock.library = gate.build("wrong_clock")
        self.path = os.path.join(laud.temporary_directory(), "time")
        with open(self.path, "wb") as file:
            file.write(bytes(16))
        self.set(seconds)

    def set(self, seconds):
        with open(self.path, "r+b") as file:
            file.write(struct.pack("=q", seconds))

    def environment(self):
        return {"LD_PRELOAD": Clock.library, "WRONG_CLOCK": self.path}


def tokens_file():
    path = os.path.join(laud.temporary_directory(), "tokens")
    with open(path, "w", encoding="ascii", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.writelines(f"{line}\n" for line in TOKENS)
    return path


def visible(raw):
    return raw.decode("utf-8", "backslashreplace").replace("\r", "\\r")


def raw_reply(file):
    """The lines of one RESP reply, whole bulk strings as one line each."""
    line = file.readline()
    if not line.endswith(b"\r\n"):
        raise laud.Closed("no whole reply")
    line, lines = line[:-2], [visible(line[:-2])]
    kind, rest = line[:1], line[1:]
    if kind in b"$=" and rest != b"-1":
        text = file.read(int(rest) + 2)[:-2]
        lines.extend(visible(text).replace("\\r\n", "\n").split("\n"))
    elif kind in b"*~%>" and rest != b"-1":
        for _ in range(int(rest) * (2 if kind == b"%" else 1)):
            lines.extend(raw_reply(file))
    return lines


# Masks

def mask_values(lines):
    """INFO and CONFIG: names stay."""
    return [re.sub(r"^([a-z0-9_]+):.*", r"\1:*", line) for line in ["$*", *lines[1:]]]


def mask_metrics(lines):
    """METRICS: families, types and labels stay; buckets are only shown by their first."""
    kept = []
    for line in lines:
        if line.startswith("# TYPE ") or line == "":
            kept.append(line)
        elif found := re.match(r"^([a-z_]+(?:\{.*\})?) \S+$", line):
            name = re.sub(r'(le|version|revision)="[^"]*"', r'\1="*"', found.group(1))
            if not kept or kept[-1] != f"{name} *":
                kept.append(f"{name} *")
    return kept


def mask_client(lines):
    return ["$*", *[re.sub(r"\b(id|addr|laddr|fd|age|idle|qbuf|omem|tot-mem)=\S*", r"\1=*", line)
                    for line in lines[1:]]]


def mask_hello(lines):
    """The version and the number of the connection."""
    for name in ("version", "id"):
        at = lines.index(name) + 1
        lines[at:at + (2 if lines[at].startswith("$") else 1)] = ["*"]
    return lines


def mask_options(lines):
    """CONFIG GET: the values of what differs from run to run."""
    for name in ("data", "resp", "http", "threads", "max-memory", "max-connections", "live-streams"):
        if name in lines:
            at = lines.index(name) + 1
            lines[at:at + 2] = ["$*", "*"]
    return lines


def mask_summaries(lines):
    """COMMAND DOCS: sentences for people may become better ones."""
    for at, line in enumerate(lines):
        if line == "summary":
            lines[at + 1:at + 3] = ["$*", "*"]
    return lines


MASKS = {"INFO": mask_values, "METRICS": mask_metrics, "HELLO": mask_hello, "CONFIG": mask_options,
         "COMMAND": mask_summaries}


def mask_resp(words, lines):
    name = words[0].upper()
    if lines[0].startswith("-"):
        return lines
    if name == "CLIENT" and words[1].upper() == "ID":
        return ["*"]
    if name == "CLIENT" and words[1].upper() in ("INFO", "LIST"):
        return mask_client(lines)
    return MASKS.get(name, lambda same: same)(lines)


def without_sentences(value):
    if isinstance(value, dict):
        return {name: without_sentences(inner) for name, inner in value.items()
                if name not in ("summary", "description", "version")}
    return [without_sentences(inner) for inner in value] if isinstance(value, list) else value


def outline(body):
    """/openapi.json: operations and schemas by name, and a digest of each without its sentences."""
    found = without_sentences(json.loads(body))

    def digest(value):
        return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]
    lines = [f"{method.upper()} {path} {digest(operation)}" for path, methods in found["paths"].items()
             for method, operation in methods.items()]
    for group, named in found["components"].items():
        lines.extend(f"{group} {name} {digest(value)}" for name, value in named.items())
    found.pop("paths")
    found.pop("components")
    return [*lines, f"the rest {digest(found)}"]


def http_body(path, kind, body):
    path = path.split("?")[0]
    if path == "/openapi.json":
        return outline(body)
    if path == "/metrics" and kind.startswith("text/plain"):
        return mask_metrics(body.decode().split("\n"))
    if kind.startswith("text/html"):
        return ["(a page)"]
    text = visible(body)
    return (re.sub(r'"version":"[^"]*"', '"version":"*"', text) if path == "/" else text).split("\n")


# Playing

class Player:
    """Runs the lines of one transcript, and gives them back with the answers that came."""

    def __init__(self, face, keep_cursors=False):
        self.face = face
        self.keep_cursors = keep_cursors
        self.clock = Clock(1_790_000_000)
        self.server = None
        self.connection = None
        self.cursor = ""

    def serve(self, flags, data=None):
        self.stop()
        flags = [tokens_file() if word == "TOKENS" else word for word in flags]
        self.server = laud.Server("--threads", "1", "--segment-size", "4M", "--window-ms", "20", *flags,
                                  data=data, environment=self.clock.environment())
        self.server.start()
        self.connect()

    def connect(self):
        if self.connection:
            self.connection.close()
        port = self.server.http_port if self.face == "http" else self.server.port
        self.connection = laud.Connection(port)

    def settle(self):
        with self.server.connect() as c:
            laud.wait_until(lambda: c.info("Projector")["lag_bytes"] == "0", "the store has everything")

    def stop(self):
        if self.connection:
            self.connection.close()
            self.connection = None
        if self.server and self.server.process:
            self.server.stop()

    def direct(self, words):
        if words[0] == "serve":
            self.serve(words[1:])
        elif words[0] == "open":
            self.serve(words[2:], data=archive.unpack(os.path.join(FOLDER, words[1])))
        elif words[0] == "time":
            self.clock.set(int(words[1]))
        elif words[0] == "connect":
            self.connect()
        elif words[0] == "settle":
            self.settle()
        elif words[0] == "restart":
            self.connection.close()
            self.server.stop()
            self.server.start()
            self.connect()
        else:
            raise laud.Failed(f"no such line: = {' '.join(words)}")

    def shown(self, lines, mask_cursor):
        for at, line in enumerate(lines):
            if found := CURSOR.search(line):
                self.cursor = found.group(0)
                if mask_cursor:
                    lines[at] = CURSOR.sub("(cursor)", line)
        return [f"< {line}".rstrip() for line in lines]

    def ask(self, words):
        """One reply. A board that is being counted is asked again; and so is a removal that says that there is
        more, because one call may take only so long: the answer has the sum."""
        removed = 0
        while True:
            self.connection.send(*words)
            lines = raw_reply(self.connection.file)
            if "the board is being counted" in lines[0]:
                continue
            if words[0].upper() not in ("FORGET", "DROP") or len(lines) != 3 or "LIMIT" in words:
                return lines
            removed += int(lines[1][1:])
            if lines[2] == ":0":
                return [lines[0], f":{removed}", lines[2]]

    def resp(self, text, raw):
        if raw:
            self.connection.send_raw(text.encode().decode("unicode_escape").encode("latin-1"))
            words = ["raw"]
        else:
            words = shlex.split(text.replace("$cursor", self.cursor))
        try:
            came = raw_reply(self.connection.file) if raw else self.ask(words)
            lines = mask_resp(words, came)
        except (laud.Closed, ConnectionError):
            return ["< (closed)"]
        shown = self.shown(lines, not self.keep_cursors or words[0].upper() == "CHANGES")
        if words[0].upper() == "QUIT" or "Protocol error" in lines[0]:
            shown += ["< (closed)"] if self.connection.is_closed() else []
        return shown

    def exchange(self, sent, method):
        """Sends a request: the lines of the head, and the body."""
        self.connection.send_raw(sent)
        file = self.connection.file
        head, length = [], 0
        while line := file.readline().rstrip(b"\r\n").decode("latin-1"):
            head.append(line)
            if line.lower().startswith("content-length: "):
                length = int(line.split(": ")[1])
        return head, file.read(length) if length and method != "HEAD" else b""

    def exchange_all(self, sent, method, path):
        """The same, and a removal that says that there is more is asked again, as in ask()."""
        head, body = self.exchange(sent, method)
        removed = 0
        while method == "DELETE" and "limit" not in path and body.endswith(b'"more":true}'):
            removed += json.loads(body)["removed"]
            head, body = self.exchange(sent, method)
        if removed:
            body = b'{"removed":%d,"more":false}' % (removed + json.loads(body)["removed"])
            head = [f"Content-Length: {len(body)}" if line.startswith("Content-Length: ") else line
                    for line in head]
        return head, body

    def http(self, text, fields, body, raw):
        if raw:
            sent, method, path = text.encode().decode("unicode_escape").encode("latin-1"), "GET", ""
        else:
            method, path = text.replace("$cursor", self.cursor).split(" ", 1)
            sent = request(method, path, body, **fields)
        head, came = self.exchange_all(sent, method, path)
        if not head:
            return ["< (closed)"]
        kind = next((line[14:] for line in head if line.startswith("Content-Type: ")), "")
        masked = ["date"]
        if path in ("/", "/metrics", "/openapi.json"):
            masked += ["content-length", "etag", "content-security-policy"]
        lines = [re.sub(": .*", ": *", line) if line.split(":")[0].lower() in masked else line
                 for line in head]
        if came:
            lines += ["", *http_body(path, kind, came)]
        shown = self.shown(lines, True)
        if "connection: close" in (line.lower() for line in head):
            shown += ["< (closed)"] if self.connection.is_closed() else ["< (open)"]
            self.connect()
        return shown

    def play(self, lines):
        out, at = [], 0
        while at < len(lines):
            line = lines[at]
            at += 1
            if line.startswith("< ") or line == "<":
                continue
            out.append(line)
            if line.startswith("= "):
                self.direct(shlex.split(line[2:]))
            elif line.startswith(">"):
                raw, fields, body = line.startswith(">>"), {}, None
                while at < len(lines) and lines[at][:2] in ("+ ", "| "):
                    out.append(lines[at])
                    if lines[at][0] == "|":
                        body = lines[at][2:].encode()
                        fields.setdefault("Content_Type", "application/json")
                    else:
                        name, value = lines[at][2:].split(": ", 1)
                        fields[name.replace("-", "_")] = value
                    at += 1
                text = line.lstrip(">")[1:]
                out += self.http(text, fields, body, raw) if self.face == "http" else self.resp(text, raw)
        self.stop()
        return out


def read(name):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return file.read().split("\n")[:-1]


def write(name, lines):
    with open(os.path.join(FOLDER, name), "w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)


def compare(name, came):
    recorded = read(name)
    different = [line for line in difflib.unified_diff(recorded, came, "recorded", "came", lineterm="", n=3)]
    laud.expect(not different, f"not as recorded in {name}:\n" + "\n".join(different[:60]))
    asked = sum(line.startswith(">") for line in came)
    laud.expect(asked > 0, f"nothing is asked in {name}")
    return f"{asked} answers"
