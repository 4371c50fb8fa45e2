"""Servers and loads for the benchmarks: each server fresh, on a free loopback port, in a directory
of its own, pinned to one core and stopped by its pid; each load pinned to another core. A server
made with pin=False has the whole machine, and its load too."""

import csv
import http.client as http_client
import json
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

READY_SECONDS = 300
STOP_SECONDS = 300
CALL_SECONDS = 30
SETTLE_SECONDS = 1
LOAD_SECONDS = 900


class Failure(Exception):
    """A server or a load that did not do what it was started for."""


def say(text):
    print(text, file=sys.stderr, flush=True)


def cores():
    """The server's core and the load's; None where there is only one to share."""
    allowed = sorted(os.sched_getaffinity(0))
    return (allowed[0], allowed[1]) if len(allowed) > 1 else None


def pinned(argv, which):
    both = cores()
    return argv if both is None else ["taskset", "-c", str(both[which])] + argv


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def ping(port):
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as client:
            client.sendall(b"*1\r\n$4\r\nPING\r\n")
            return client.recv(64).startswith(b"+PONG")
    except OSError:
        return False


def reply_read(stream):
    """One RESP2 reply: a number, a text, None, or a list of these."""
    line = stream.readline()
    if not line.endswith(b"\r\n"):
        raise Failure("the connection was closed in the middle of a reply")
    kind, rest = line[:1], line[1:-2]
    if kind == b"-":
        raise Failure(f"the server answered: {rest.decode(errors='replace')}")
    if kind == b"+":
        return rest.decode()
    count = int(rest)
    if kind == b":":
        return count
    if count < 0:
        return None
    if kind == b"$":
        return stream.read(count + 2)[:-2].decode()
    return [reply_read(stream) for _ in range(count)]


def call(server, *words):
    """One command on a connection of its own."""
    request = b"*%d\r\n" % len(words)
    for word in (str(word).encode() for word in words):
        request += b"$%d\r\n%s\r\n" % (len(word), word)
    try:
        with socket.create_connection(("127.0.0.1", server.port), timeout=CALL_SECONDS) as client:
            client.sendall(request)
            with client.makefile("rb") as stream:
                return reply_read(stream)
    except OSError as problem:
        raise Failure(f"{server.name} does not answer {words[0]}: {problem}") from None


def http(server, method, path):
    """The body of one answer over HTTP; OSError where there is none."""
    client = http_client.HTTPConnection("127.0.0.1", server.http_port, timeout=CALL_SECONDS)
    try:
        client.request(method, path)
        answer = client.getresponse()
        body = answer.read()
    except http_client.HTTPException as problem:
        raise OSError(f"{server.name} does not speak HTTP: {problem}") from None
    finally:
        client.close()
    if answer.status != 200:
        raise OSError(f"{server.name} answered {method} {path} with {answer.status}")
    return body


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def children_seconds():
    """What those took that have ended: between two calls, loads, if no server was stopped."""
    used = os.times()
    return used.children_user + used.children_system


def info(server, section):
    """The lines of one section of INFO, without the prefix that most sections have."""
    found, lines, prefix = None, {}, section.lower() + "_"
    for line in call(server, "INFO").splitlines():
        if line.startswith("# "):
            found = line[2:].lower() == section.lower()
        elif found and ":" in line:
            name, value = line.split(":", 1)
            lines[name] = value
    if all(name.startswith(prefix) for name in lines):
        lines = {name.removeprefix(prefix): value for name, value in lines.items()}
    if not lines:
        raise Failure(f"{server.name} has no section {section} in its INFO")
    return lines


class Server:
    """One server process in its own directory. A context manager: leaving it stops the process and
    removes the directory; between, it may be stopped, killed and started again."""

    def __init__(self, name, argv_for, pin=True):
        self.name = name
        self.argv_for = argv_for
        self.pin = pin
        self.directory = tempfile.mkdtemp(prefix="laud-bench-")
        self.process = None
        self.port = None
        self.log_path = os.path.join(self.directory, "log")

    def start(self):
        self.port = free_port()
        argv = self.argv_for(self.port, self.directory)
        if self.pin:
            argv = pinned(argv, 0)
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        deadline = time.monotonic() + READY_SECONDS
        while not self.is_ready():
            if self.process.poll() is not None:
                raise Failure(f"{self.name} did not start: {self.last_words()}")
            if time.monotonic() > deadline:
                raise Failure(f"{self.name} was not ready after {READY_SECONDS} s")
            time.sleep(0.02)

    def is_ready(self):
        return ping(self.port)

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process = None

    def stop(self):
        if self.process is None:
            return
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise Failure(f"{self.name} did not stop within {STOP_SECONDS} s of SIGTERM") from None
        finally:
            self.process = None

    def log(self):
        with open(self.log_path, errors="replace") as log:
            return log.read()

    def last_words(self):
        lines = self.log().strip().splitlines()
        return lines[-1] if lines else "it said nothing"

    def status_bytes(self, name):
        with open(f"/proc/{self.process.pid}/status") as status:
            return int(re.search(name + r":\s+(\d+) kB", status.read()).group(1)) * 1024

    def rss_bytes(self):
        return self.status_bytes("VmRSS")

    def peak_rss_bytes(self):
        return self.status_bytes("VmHWM")

    def cpu_seconds(self):
        return cpu_seconds(self.process.pid)

    def __enter__(self):
        # What the server before this one left to the disk (writes, discarded blocks) is its own.
        os.sync()
        time.sleep(SETTLE_SECONDS)
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        try:
            self.stop()
        finally:
            shutil.rmtree(self.directory, ignore_errors=True)


def redis(appendfsync):
    """Redis as a durable store, at its best: append-only file, no snapshots, no rewriting meanwhile."""
    return Server(f"redis ({appendfsync})", lambda port, directory: [
        "redis-server", "--port", str(port), "--bind", "127.0.0.1", "--dir", directory,
        "--save", "", "--appendonly", "yes", "--appendfsync", appendfsync,
        "--auto-aof-rewrite-percentage", "0"])


def laud(binary, *more, pin=True):
    """Laud with an OK on disk; `more` are options of the server."""
    def argv(port, directory):
        server.http_port = free_port()
        return [binary, "serve", "--data", os.path.join(directory, "data"), "--resp",
                f"127.0.0.1:{port}", "--http", f"127.0.0.1:{server.http_port}", "--threads", "1",
                "--durability", "commit", *map(str, more)]

    server = Server("laud", argv, pin)
    return server


def run_load(argv, pin=True):
    try:
        done = subprocess.run(pinned(argv, 1) if pin else argv, capture_output=True, text=True,
                              timeout=LOAD_SECONDS)
    except subprocess.TimeoutExpired:
        raise Failure(f"{argv[0]} did not end within {LOAD_SECONDS} s") from None
    if done.returncode != 0:
        words = (done.stderr.strip() or done.stdout.strip() or "no words").splitlines()
        raise Failure(f"{' '.join(argv[:2])} failed: {words[-1]}")
    return done.stdout


def load(binary, server, *arguments):
    """One run of `laud bench`; its JSON."""
    return json.loads(run_load([binary, "bench", "--port", str(server.port), "--json", "--quiet",
                                *map(str, arguments)], server.pin))


def redis_benchmark(server, pipeline, requests, keyspace, *words):
    """Requests a second by redis-benchmark's own account."""
    out = run_load(["redis-benchmark", "-p", str(server.port), "--threads", "1", "-c", "50",
                    "-P", str(pipeline), "-n", str(int(requests)), "-r", str(keyspace), "--csv",
                    *map(str, words)])
    rows = [row for row in csv.reader(out.splitlines()) if len(row) > 1]
    if len(rows) < 2:
        raise Failure(f"redis-benchmark said: {out.strip()[-200:]}")
    return float(rows[-1][1])


def script_load(server, path):
    with open(path) as file:
        text = file.read()
    out = subprocess.run(["redis-cli", "-p", str(server.port), "SCRIPT", "LOAD", text],
                         capture_output=True, text=True, check=True, timeout=30).stdout.strip()
    if not re.fullmatch(r"[0-9a-f]{40}", out):
        raise Failure(f"SCRIPT LOAD answered: {out}")
    return out


def median(values):
    return statistics.median(values)


def first_line(argv):
    try:
        return subprocess.run(argv, capture_output=True, text=True, timeout=10).stdout.splitlines()[0]
    except (OSError, IndexError, subprocess.TimeoutExpired):
        return "unknown"


def redis_version():
    return re.sub(r".*v=(\S+).*", r"\1", first_line(["redis-server", "--version"]))


def machine(binary):
    with open("/proc/cpuinfo") as info:
        model = re.search(r"model name\s*:\s*(.*)", info.read())
    return {
        "cpu": model.group(1) if model else os.uname().machine,
        "cores": os.cpu_count(),
        "kernel": os.uname().release,
        "filesystem": first_line(["stat", "-f", "-c", "%T", tempfile.gettempdir()]),
        "pinned": cores() is not None,
        "laud": first_line([binary, "version"]).removeprefix("laud "),
    }


class Neighbours:
    """How much of the machine others took meanwhile: what was busy less what our children, all of
    them waited for by now, and this process used."""

    def __init__(self):
        self.begun = time.monotonic()
        self.before = self.foreign_seconds()

    @staticmethod
    def foreign_seconds():
        with open("/proc/stat") as stat:
            user, nice, system, _, _, irq, soft, steal = map(int, stat.readline().split()[1:9])
        busy = (user + nice + system + irq + soft + steal) / os.sysconf("SC_CLK_TCK")
        used = os.times()
        return busy - used.user - used.system - used.children_user - used.children_system

    def cores_taken(self):
        elapsed = time.monotonic() - self.begun
        return max(0.0, (self.foreign_seconds() - self.before) / elapsed)


def exit_on_sigterm():
    """So that servers are stopped and directories removed then too."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
