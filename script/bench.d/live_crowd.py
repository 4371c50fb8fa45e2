"""Opens live streams on a few items and takes what they send, as cheaply as possible, until its standard
input ends: live_crowd.py PORT STREAMS ITEM,…  Says "open" when all of them are."""

import os
import resource
import select
import socket
import sys


def open_stream(port, item, number):
    """From one of several addresses of our own: each has only so many ports."""
    client = socket.socket()
    client.bind((f"127.0.0.{2 + number % 4}", 0))
    client.connect(("127.0.0.1", port))
    client.sendall(f"GET /v1/live?items={item} HTTP/1.1\r\nHost: bench\r\n\r\n".encode())
    if not client.recv(1024).startswith(b"HTTP/1.1 200 "):
        sys.exit("a stream was refused")
    client.setblocking(False)
    return client


def main():
    port, count, items = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3].split(",")
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    os.nice(19)
    poll = select.epoll()
    poll.register(0, select.EPOLLIN | select.EPOLLHUP)
    streams = {}
    for number in range(count):
        stream = open_stream(port, items[number % len(items)], number)
        streams[stream.fileno()] = stream
        poll.register(stream.fileno(), select.EPOLLIN)
    print("open", flush=True)
    while True:
        for number, _ in poll.poll(maxevents=1024):
            if number == 0:
                return
            if not streams[number].recv(1 << 16, socket.MSG_TRUNC):
                sys.exit("a stream was closed")


main()
