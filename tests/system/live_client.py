"""Clients of live streams: one that reads strictly, and thousands of which only the last word counts."""
import json
import re
import select
import socket
import time

import laud
from http_raw import request
from laud import expect


def path_of(items, last=None):
    return "/v1/live?items=" + ",".join(items) + (f"&last={last}" if last else "")


class Event:
    def __init__(self, at, number, items):
        self.at = at          # when it was read
        self.id = number
        self.items = items


class Streaming(laud.Connection):
    """The head of a stream, and its chunks."""

    def __init__(self, server, path, receive_buffer=None, **headers):
        super().__init__(server.http_port, receive_buffer=receive_buffer)
        self.last = None
        self.retry = None
        self.send_raw(request("GET", path, **headers))
        version, code, *_ = self.line().decode().split(" ")
        expect(version == "HTTP/1.1", version)
        self.code = int(code)
        self.headers = {}
        while line := self.line().decode():
            name, value = line.split(": ", 1)
            expect(name.lower() not in self.headers, f"{name} twice")
            self.headers[name.lower()] = value
        if self.code == 200:
            expect(self.headers["content-type"] == "text/event-stream", self.headers)
            expect(self.headers.get("transfer-encoding") == "chunked", self.headers)
            expect("content-length" not in self.headers, self.headers)
            self.retry = re.fullmatch(r"retry: (\d+)\n\n", self.chunk()).group(1)

    def chunk(self):
        """One chunk; None: the body has ended as it should."""
        length = int(self.line(), 16)
        data = self.exactly(length)
        expect(self.line() == b"", "a chunk without its end")
        return data.decode() if length else None

    def refusal(self):
        return self.code, json.loads(self.exactly(int(self.headers["content-length"])))["error"]["code"]


class Stream(Streaming):
    """Takes one piece of the stream after the other; `state` is what its events come to."""

    def __init__(self, server, items, last=None, receive_buffer=None, **headers):
        self.state = {}
        super().__init__(server, path_of(items, last), receive_buffer, **headers)

    def next(self):
        """The next event, or a comment as text, or None at the end."""
        text = self.chunk()
        if text is None or text.startswith(":"):
            return text
        found = re.fullmatch(r"id: ([0-9a-f]{16})\nevent: counts\ndata: (.*)\n\n", text)
        expect(found, "no event:", repr(text))
        items = json.loads(found.group(2))
        expect(list(items) == ["items"], items)
        for item, counts in items["items"].items():
            self.state[item] = {name: value for name, value in counts.items() if value != 0}
        self.last = found.group(1)
        return Event(time.monotonic(), self.last, items["items"])

    def until(self, state):
        """Reads until this is the case; the events that came."""
        expect(self.code == 200, "the stream was refused with", self.code)
        events = []
        while self.state != state or not events:
            event = self.next()
            expect(event is not None, "the stream ended")
            if not isinstance(event, str):
                events.append(event)
        return events


class CommentStream(Streaming):
    """A stream of the comments of one item; events are pairs of a name and data."""

    def __init__(self, server, item, last=None, **headers):
        self.waiting = []
        self.root = None       # of the last event that was expected
        self.text = ""         # everything that was read
        super().__init__(server, f"/v1/items/{item}/comments/live" + (f"?last={last}" if last else ""), **headers)

    def next(self):
        """The next event; None at the end. Lines that only keep the connection open are passed over."""
        while not self.waiting:
            text = self.chunk()
            if text is None:
                return None
            if text.startswith(":"):
                continue
            self.text += text
            found = re.findall(r"id: ([0-9a-f]{16})\nevent: (\w+)\ndata: (.*)\n\n", text)
            expect("".join(f"id: {a}\nevent: {b}\ndata: {c}\n\n" for a, b, c in found) == text, repr(text))
            self.waiting = found
        self.last, name, data = self.waiting.pop(0)
        return name, json.loads(data)

    def expect_next(self, *names):
        """Reads as many events, which must have these names; the data of the last one, or its card."""
        expect(self.code == 200, "the stream was refused with", self.code)
        data = None
        for name in names:
            event = self.next()
            expect(event is not None and event[0] == name, "got", event, "instead of", name)
            data = event[1]
        self.root = data.get("root")
        return data.get("card", data)


class Crowd:
    """Many streams at once. Of what comes, only what ends the last whole event is kept."""

    def __init__(self, server):
        self.port = server.http_port
        self.poll = select.epoll()
        self.sockets = {}
        self.tails = {}
        self.bytes = 0
        self.closed = 0

    def open(self, items, number):
        """From one of several addresses of our own: each has only so many ports."""
        client = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
        client.bind((f"127.0.0.{2 + number % 4}", 0))
        client.connect(("127.0.0.1", self.port))
        client.sendall(request("GET", path_of(items)))
        client.setblocking(False)
        self.sockets[client.fileno()] = client
        self.tails[client.fileno()] = b""
        self.poll.register(client.fileno(), select.EPOLLIN)

    def take(self, seconds):
        """Reads whatever comes, for so long."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            for number, _ in self.poll.poll(left, 512):
                try:
                    data = self.sockets[number].recv(65536)
                except ConnectionError:
                    data = b""
                self.bytes += len(data)
                self.tails[number] = (self.tails[number] + data)[-600:]
                if not data:
                    self.closed += 1
                    self.poll.unregister(number)

    def told(self, number):
        """The data of the last event of a stream."""
        found = re.findall(rb"data: (.*)\n\n", self.tails[number])
        return json.loads(found[-1])["items"] if found else None

    def close(self):
        for client in self.sockets.values():
            client.close()
        self.poll.close()
