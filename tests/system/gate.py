"""A server that a test can stop at chosen calls: syncs of the journal, reads of the store, turns of its event
loop. So a test can show that something does not happen, without waiting for a time in which it might: it
holds the server where the thing would have to happen too early, lets the event loop go round, and looks."""
import contextlib
import mmap
import os
import select
import struct
import subprocess

import laud
from laud import wait_until

WORDS = ("hold_syncs", "syncs_held", "syncs", "hold_reads", "reads_held", "hold_turns", "turns_held",
         "turns", "hold_source", "source_held", "receive_us")


def build(name):
    """Compiles tests/system/NAME.c, which is to be preloaded."""
    path = os.path.join(laud.temporary_directory(), f"{name}.so")
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", path, os.path.join(laud.HERE, f"{name}.c"),
                    "-ldl"], check=True)
    return path


class Gate:
    """The words of gate.c, by name: gate.get("syncs"), gate.set("hold_syncs", 1)."""

    library = None

    def __init__(self):
        if Gate.library is None:
            Gate.library = build("gate")
        self.path = os.path.join(laud.temporary_directory(), "gate")
        with open(self.path, "w+b") as file:
            file.truncate(8 * len(WORDS))
            self.words = mmap.mmap(file.fileno(), 8 * len(WORDS))

    def get(self, name):
        return struct.unpack_from("=q", self.words, 8 * WORDS.index(name))[0]

    def set(self, name, value):
        struct.pack_into("=q", self.words, 8 * WORDS.index(name), value)

    def environment(self):
        return {"LD_PRELOAD": Gate.library, "LAUD_TEST_GATE": self.path}

    @contextlib.contextmanager
    def hold(self, what):
        """Holds "syncs", "reads" (of the store), "source" (reads of the journal, which the projector makes) or
        "turns" for as long as the block lasts."""
        self.set(f"hold_{what}", 1)
        try:
            yield
        finally:
            self.set(f"hold_{what}", 0)

    def wait_for(self, what, count=1):
        """Until so many calls are held."""
        wait_until(lambda: self.get(f"{what}_held") >= count, f"{count} {what} are held")


class Server(laud.Server):
    """One event loop, so that one turn after another says all; `gate` holds its calls."""

    def __init__(self, *flags, **options):
        self.gate = Gate()
        super().__init__("--threads", "1", "--segment-size", "4M", *flags,
                         environment=self.gate.environment(), **options)

    def go_round(self):
        """Until whatever was sent before this call has been read, has run, and its turn is over. The loop may
        have looked for events just before something was sent; then the next look finds it, so it takes
        two turns. A connection that opens makes it turn."""
        first = self.gate.get("turns")
        while self.gate.get("turns") < first + 2:
            laud.Connection(self.port).close()
            turn = self.gate.get("turns")
            wait_until(lambda: self.gate.get("turns") > turn or self.gate.get("turns") >= first + 2,
                       "the event loop goes round")


def has_answer(connection):
    """Has the server sent anything that was not read yet, or closed? On this machine, what it sent is there at
    once."""
    timeout = connection.socket.gettimeout()
    connection.socket.settimeout(0)
    try:
        return bool(connection.file.peek(1)) or bool(select.select([connection.socket], [], [], 0)[0])
    finally:
        connection.socket.settimeout(timeout)
