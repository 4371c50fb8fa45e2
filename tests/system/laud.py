"""What every system test stands on: a real server in a directory of its own, and a plain socket
that speaks RESP.

A test is a list of functions; run() calls them in order, tells how long each took and turns the
outcome into the exit status the runner expects: 0 passed, 77 skipped with a reason, 1 failed.
Whatever a test started or mounted is taken down at the end, however it ends.
"""
import atexit
import contextlib
import ctypes
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
LAUD = os.environ.get("LAUD", os.path.join(ROOT, "build", "laud"))
LAUD_FAULTY = os.environ.get("LAUD_FAULTY", os.path.join(ROOT, "build-asan", "laud"))

# A machine may be slow and its disk slower; these only say when waiting is in vain.
WAIT_SECONDS = 300
REPLY_SECONDS = 180
SKIPPED = 77

PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None, use_errno=True)


class Skip(Exception):
    """The machine does not allow what the test needs; the text says what."""


class Failed(Exception):
    """Something did not hold; the text says what was expected and what came."""


class Closed(Exception):
    """The server closed the connection."""


class Error(str):
    """An error reply, without its leading '-'."""


def expect(condition, *what):
    if not condition:
        raise Failed(" ".join(str(part) for part in what))


def expect_equal(got, wanted, what=""):
    if got != wanted:
        raise Failed(f"{what}: expected {wanted!r}, got {got!r}")


def expect_error(reply, code, *words):
    """One line, the right code, and words that tell the caller what was expected."""
    expect(isinstance(reply, Error), "expected an error, got", repr(reply))
    expect(reply.startswith(code + " "), f"expected -{code}, got", repr(reply))
    for word in words:
        expect(word.lower() in reply.lower(), f"expected {word!r} in", repr(reply))
    expect("\n" not in reply and "\r" not in reply, "more than one line:", repr(reply))


def wait_until(condition, what, seconds=WAIT_SECONDS):
    """The value of condition() once it is true; no test waits for a fixed time instead."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise Failed(f"not within {seconds} s: {what}")
        time.sleep(0.005)


# Directories

def temporary_directory():
    path = tempfile.mkdtemp(prefix="laud-test-")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


# RESP

def encode(*words):
    parts = [b"*%d\r\n" % len(words)]
    for word in words:
        raw = word if isinstance(word, bytes) else str(word).encode()
        parts.append(b"$%d\r\n%s\r\n" % (len(raw), raw))
    return b"".join(parts)


class Connection:
    """A socket and a reader of replies; bulk strings come as text, maps as dict."""

    def __init__(self, port, timeout=REPLY_SECONDS, receive_buffer=None, source=None):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(timeout)
        if source:
            self.socket.bind((source, 0))
        self.socket.connect(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb", 65536)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def close(self):
        with contextlib.suppress(OSError):
            self.file.close()
        self.socket.close()

    def send(self, *words):
        self.socket.sendall(encode(*words))

    def send_raw(self, raw):
        self.socket.sendall(raw)

    def line(self):
        try:
            line = self.file.readline()
        except (ConnectionError, BrokenPipeError) as error:
            raise Closed(str(error)) from None
        if not line.endswith(b"\n"):
            raise Closed("in the middle of a line" if line else "no more replies")
        expect(line.endswith(b"\r\n"), "a line that does not end in CRLF:", repr(line))
        return line[:-2]

    def exactly(self, length):
        try:
            raw = self.file.read(length)
        except (ConnectionError, BrokenPipeError) as error:
            raise Closed(str(error)) from None
        if len(raw) != length:
            raise Closed("in the middle of a reply")
        return raw

    def read(self):
        line = self.line()
        marker, rest = line[:1], line[1:]
        if marker == b":":
            return int(rest)
        if marker == b"+":
            return rest.decode()
        if marker == b"-":
            return Error(rest.decode())
        if marker == b"$":
            return None if rest == b"-1" else self.exactly(int(rest) + 2)[:-2].decode()
        if marker == b"*":
            return None if rest == b"-1" else [self.read() for _ in range(int(rest))]
        if marker == b"%":
            return {self.read(): self.read() for _ in range(int(rest))}
        if marker == b"_":
            return None
        raise Failed(f"not a RESP reply: {line!r}")

    def call(self, *words):
        self.send(*words)
        return self.read()

    def pipeline(self, commands):
        self.socket.sendall(b"".join(encode(*words) for words in commands))
        return [self.read() for _ in commands]

    def is_closed(self):
        """Reads to the end; true if the server closed and said nothing more."""
        try:
            return self.file.read(1) == b""
        except ConnectionError:
            return True

    def info(self, section):
        """One section, its names without the prefix that most sections have."""
        prefix = section.lower() + "_"
        lines = [line for line in self.call("INFO", section).split("\r\n") if ":" in line]
        if all(line.startswith(prefix) for line in lines):
            lines = [line.removeprefix(prefix) for line in lines]
        return dict(line.split(":", 1) for line in lines)

    def counters(self, item):
        """The counters of one item as a dict, in either protocol version."""
        return pairs(self.call("COUNTS", item)[0])


def pairs(reply):
    return reply if isinstance(reply, dict) else dict(zip(reply[::2], reply[1::2]))


# Servers

def clean_environment(extra=None):
    """Ours, without options of the server that happen to be set. What test_delayed sets is kept."""
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith("LAUD") or name == "LAUD_HOT_DELAYED"}
    kept.setdefault("ASAN_OPTIONS", "abort_on_error=0:exitcode=99:detect_leaks=1")
    kept.setdefault("UBSAN_OPTIONS", "halt_on_error=1:exitcode=99:print_stacktrace=1")
    kept.setdefault("TSAN_OPTIONS", "exitcode=99:halt_on_error=0")
    kept.update(extra or {})
    return kept


def die_with_parent():
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def need_binary(path):
    if not os.access(path, os.X_OK):
        raise Failed(f"there is no server at {path}; script/build makes it")
    return path


class Server:
    """`laud serve` in a data directory, on a port the kernel chose. As a context manager it is
    stopped with SIGTERM at the end, which must succeed."""

    def __init__(self, *flags, data=None, binary=None, environment=None, prefix=()):
        self.binary = need_binary(binary or LAUD)
        self.own = temporary_directory()
        self.data = data or os.path.join(self.own, "data")
        self.flags = list(flags)
        self.environment = environment
        self.prefix = list(prefix)
        self.process = None
        self.port = None
        self.http_port = None
        self.log_path = None
        self.starts = 0
        atexit.register(self.kill)

    def __enter__(self):
        return self if self.process else self.start()

    def __exit__(self, kind, *unused):
        if self.process is None:
            return
        if kind is None:
            self.stop()
        else:
            self.kill()
            print(f"--- the server said:\n{self.log()[-4000:]}---", file=sys.stderr)

    def launch(self, *more):
        """Starts the process and does not wait for it to be ready."""
        expect(self.process is None, "the server runs already")
        self.starts += 1
        self.port = None
        self.log_path = os.path.join(self.own, f"log-{self.starts}")
        command = self.prefix + [self.binary, "serve", "--data", self.data, "--resp",
                                 "127.0.0.1:0", "--http", "127.0.0.1:0", *self.flags, *more]
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, env=clean_environment(self.environment),
                                            preexec_fn=die_with_parent)
        return self

    def start(self, *more):
        self.launch(*more)
        wait_until(self.is_ready_or_gone, "the server says it is ready")
        if self.port is None:
            code = self.process.wait()
            self.process = None
            raise Failed(f"the server did not start (exit {code}):\n{self.log()}")
        return self

    def is_ready_or_gone(self):
        found = re.search(r"is ready: RESP on \S*:(\d+),(?: HTTP on \S*:(\d+))?.*\n", self.log())
        if found:
            self.port = int(found.group(1))
            self.http_port = int(found.group(2) or 0)
        return found or self.process.poll() is not None

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def wait(self, seconds=WAIT_SECONDS):
        """The exit status once the process has ended by itself."""
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Failed(f"the server did not end within {seconds} s:\n{self.log()}") from None
        self.process = None
        self.check_log()
        return code

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        code = self.wait()
        expect(code == 0, f"the server stopped with exit {code}:\n{self.log()[-4000:]}")

    def kill(self):
        """kill -9, and the zombie taken away; harmless if it does not run."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def check_log(self):
        """No sanitizer report and no failed assertion, whatever the exit status was."""
        for sign in ("ERROR: AddressSanitizer", "runtime error:", "ERROR: LeakSanitizer",
                     "WARNING: ThreadSanitizer", "ssertion"):
            expect(sign not in self.log(), f"'{sign}' in what the server said:\n{self.log()}")

    def connect(self, **options):
        return Connection(self.port, **options)

    def memory_peak_mib(self):
        """The most it ever held, by the kernel's own count."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return int(re.search(r"^VmHWM:\s+(\d+) kB$", file.read(), re.M).group(1)) / 1024

    def memory_bytes(self):
        """What it really holds: its resident set."""
        with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def laud(*arguments, environment=None, directory=None, seconds=WAIT_SECONDS, binary=None):
    """Runs a subcommand to its end."""
    return subprocess.run([need_binary(binary or LAUD), *arguments], capture_output=True, text=True,
                          env=clean_environment(environment), timeout=seconds, check=False,
                          cwd=directory, stdin=subprocess.DEVNULL)


# Running

def seed():
    """One seed a run, printed, so that a failure can be had again with LAUD_SEED."""
    value = int(os.environ.get("LAUD_SEED", random.SystemRandom().randrange(1 << 32)))
    print(f"seed {value}", flush=True)
    return value


def setting(name, default):
    return int(os.environ.get(name, default))


def run(*tests):
    """Runs them all; each may return a sentence on what it showed. LAUD_EXCLUDED has a JSON object of
    those that are skipped, each with the reason."""
    excluded = json.loads(os.environ.get("LAUD_EXCLUDED", "{}"))
    unknown = set(excluded) - {test.__name__ for test in tests}
    if unknown:
        sys.exit(f"LAUD_EXCLUDED names tests that do not exist: {unknown}")
    signal.signal(signal.SIGTERM, lambda *unused: sys.exit(1))
    passed, failed, skipped = 0, 0, 0
    for test in tests:
        start = time.monotonic()
        try:
            if test.__name__ in excluded:
                raise Skip(excluded[test.__name__])
            outcome, said = "ok  ", test()
            passed += 1
        except Skip as reason:
            outcome, said = "skip", str(reason)
            skipped += 1
        except Exception as problem:
            traceback.print_exc(limit=-4)
            outcome, said = "FAIL", str(problem).split("\n", maxsplit=1)[0]
            failed += 1
        took = time.monotonic() - start
        name = test.__name__.replace("_", " ")
        print(f"  {outcome} {name} ({took:.1f} s){': ' + said if said else ''}", flush=True)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 0 if passed else SKIPPED)
