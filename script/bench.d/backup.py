"""What a backup costs a like: the rate of LIKE while backups are made one after the other, each with all
files copied, against the rate without. One server with its store, pinned to a core of its own; rounds
are interleaved, and the median counts. laud backup runs on the other core, where the load is too, at
lowest priority: what is measured is what the server and its disk notice."""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading

import area
import rig

BASE = 10**18
USERS, ITEMS = 10**6, 10**5
FILLED = 2 * 10**6            # likes in the store before the first round
LIKE = "LIKE {user} video:{item}"


class Backups:
    """Makes backups until it is told to stop; counts those that were complete."""

    def __init__(self, binary, server):
        self.directory = tempfile.mkdtemp(prefix="laud-bench-backup-")
        self.argv = ["nice", "-n", "19", binary, "backup", self.directory, "--address",
                     f"127.0.0.1:{server.port}", "--copy", "--keep", "1"]
        self.complete = 0
        self.problem = None
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while not self.stopping.is_set() and self.problem is None:
            done = subprocess.run(rig.pinned(self.argv, 1), capture_output=True, text=True, check=False)
            if done.returncode == 0:
                self.complete += 1
            else:
                self.problem = done.stderr.strip() or f"laud backup ended with {done.returncode}"

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *unused):
        self.stopping.set()
        self.thread.join()
        shutil.rmtree(self.directory)
        if self.problem is not None and unused[0] is None:
            raise rig.Failure(self.problem)


class Backup(area.Area):
    name = "backup"

    @staticmethod
    def peer():
        return "itself without a backup"

    def likes(self, server, pipeline, number):
        return self.drive(server, "--pipeline", pipeline, "--warmup", 0.5, "--seconds", self.seconds,
                          "--id-base", BASE, "--users", USERS, "--items", ITEMS, "--seed", number, "--", LIKE)

    def measure(self, server, row, pipeline):
        runs = {"peer": [], "laud": []}
        made = 0
        for number in range(self.close_rounds):
            for side in ("peer", "laud"):
                backups = Backups(self.options.laud, server) if side == "laud" else None
                with backups or contextlib.nullcontext():
                    run = self.likes(server, pipeline, 2 * number + (side == "laud"))
                made += backups.complete if backups else 0
                runs[side].append(run)
                rig.say(f"  LIKE P={pipeline}, {'backups' if backups else 'no backup'}: {run['rate']:,.0f}/s")
        self.compare(row, runs)
        row.note += f"; {made} backups were made"

    def run(self):
        rows = {pipeline: self.row(what=f"LIKE P={pipeline} while backups are made, against none",
                                   target=0.95, at_least=True, unit="x") for pipeline in (1, 16)}
        with rig.laud(self.options.laud, "--max-memory", "2G") as server:
            self.drive(server, "--pipeline", 64, "--requests", FILLED // (10 if self.options.quick else 1),
                       "--id-base", BASE, "--users", USERS, "--items", ITEMS, "--", LIKE)
            for pipeline, row in rows.items():
                self.attempt([row], lambda row=row, pipeline=pipeline: self.measure(server, row, pipeline))


def main():
    parser = area.parser("backup", __doc__)
    parser.add_argument("--quick", action="store_true", help="one short round of everything")
    return area.main(Backup, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
