"""A clock that a test sets: wrong_clock.c, preloaded into the server, says what a file has."""
import os
import struct
import subprocess

import laud

NOW = 1_790_000_000  # what time it is, in 2026
HERE = os.path.dirname(os.path.abspath(__file__))


def build_shim():
    path = os.path.join(laud.temporary_directory(), "wrong_clock.so")
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", path,
                    os.path.join(HERE, "wrong_clock.c")], check=True)
    return path


SHIM = build_shim()


class Clock:
    """What the machine's clock says: nothing moves it but a test, unless it runs."""

    def __init__(self, seconds=NOW):
        self.path = os.path.join(laud.temporary_directory(), "time")
        with open(self.path, "wb") as file:
            file.write(bytes(16))
        self.set(seconds)

    def set(self, seconds):
        self.seconds = seconds
        with open(self.path, "r+b") as file:
            file.write(struct.pack("=q", seconds))

    def run_ahead(self, seconds):
        """It runs, so much ahead of the real one."""
        with open(self.path, "r+b") as file:
            file.write(struct.pack("=qq", 0, seconds))

    def pass_by(self, seconds):
        self.set(self.seconds + seconds)

    def environment(self, **more):
        return {"LD_PRELOAD": SHIM, "WRONG_CLOCK": self.path, **more}
