"""One build of Laud against another, in one run.

Rows, for --only:
  instructions  how many instructions the server executes for one operation, counted by callgrind. The
                figure is the difference of a run with twice as many operations and a run with as many,
                so that start and stop do not count. The machine's speed does not matter. All runs have
                the same hash seed, because collisions in hash tables cost instructions too.
  time          operations a second in interleaved pairs of both builds; the median of the ratios counts

Both builds run without a store, except for list pages. --against names the older program, for example
one that was built in another checkout:

  git worktree add ../before HEAD~10 && ../before/script/build
  script/bench builds --against ../before/build/laud"""

import glob
import os
import re
import shutil
import sys
import tempfile

import area
import rig

BASE = 10**18
USERS, ITEMS = 1000, 10007    # ITEMS is prime, so that {seq*7919%...} does not repeat an item for a user
COUNTED = 100000              # operations; a run with twice as many is compared with one of as many
FEED = "FEED {user} {20*video:{item}}"
PAGE = "LIKES {user} video LIMIT 20"

OPERATIONS = {                # name: (command, how many are counted)
    "LIKE": ("LIKE {user} video:{item}", COUNTED),
    "ADD": ("ADD video:{item} view 1", COUNTED),
    "FEED of 20": (FEED, COUNTED // 4),
    "list page of 20": (PAGE, COUNTED // 4),
}
TIMED = {                     # name: (pipeline, command, HTTP?)
    "LIKE P=64": (64, "LIKE {user} video:{item}", False),
    "FEED of 20, P=8": (8, FEED, False),
    "list page of 20, P=16": (16, PAGE, False),
    "GET counts over HTTP, P=16": (16, "GET /v1/items/video:{item}/counts", True),
    "PUT like over HTTP, P=1": (1, "PUT /v1/items/video:{item}/reactions/like/{user}", True),
}


class Builds(area.Area):
    name = "builds"

    def peer(self):
        return "laud " + rig.first_line([self.options.against, "version"]).removeprefix("laud ")

    def binary(self, side):
        return self.options.laud if side == "laud" else self.options.against

    def drive_ids(self, server, *arguments):
        return self.drive(server, "--id-base", BASE, "--users", USERS, "--items", ITEMS, *arguments)

    def fill(self, server):
        """Each user likes 100 items, and each item has four counters: pages and feeds have something to say."""
        user, item = "{seq%%%d+%d}" % (USERS, BASE), "{seq*7919%%%d+%d}" % (ITEMS, BASE)
        self.drive(server, "--pipeline", 64, "--requests", 100 * USERS, "--", f"LIKE {user} video:{item}")
        every = "video:{seq+%d}" % BASE
        self.drive(server, "--pipeline", 64, "--requests", ITEMS, "--",
                   " ; ".join(f"ADD {every} {name} 7" for name in ("view", "share", "save")))

    # Instructions

    def counted(self, side, command, requests):
        """Instructions of a whole run of the server, with so many operations in it."""
        def argv(port, directory):
            out = os.path.join(directory, "callgrind.%p")
            os.mkdir(os.path.join(directory, "data"), 0o700)
            shutil.copy(self.seed, os.path.join(directory, "data", "seed"))
            return ["valgrind", "--tool=callgrind",
                    f"--callgrind-out-file={out}", self.binary(side), "serve", "--data",
                    os.path.join(directory, "data"), "--resp", f"127.0.0.1:{port}", "--http", "none",
                    "--threads", "1", "--workers", "1", "--durability", "none", "--store", "none",
                    "--max-memory", "256M", "--ready-memory", "0"]
        with rig.Server("laud under callgrind", argv, pin=False) as server:
            if self.needs_data(command):
                user, item = "{seq%%%d+%d}" % (USERS, BASE), "{seq*7919%%%d+%d}" % (ITEMS, BASE)
                self.drive(server, "--pipeline", 64, "--requests", 20 * USERS, "--",
                           f"LIKE {user} video:{item}")
            if requests > 0:
                self.drive_ids(server, "--connections", 1, "--pipeline", 64, "--requests", requests,
                               "--", command)
            server.stop()
            return self.read_total(server.directory)

    @staticmethod
    def needs_data(command):
        return command in (FEED, PAGE)

    @staticmethod
    def read_total(directory):
        for path in glob.glob(os.path.join(directory, "callgrind.*")):
            with open(path, errors="replace") as file:
                total = re.search(r"^(?:totals|summary): (\d+)", file.read(), re.M)
            if total:
                return int(total.group(1))
        raise rig.Failure("callgrind left no file with a total")

    def make_seed(self, directory):
        """Has the older build choose a hash seed, which it keeps in its data directory."""
        with rig.Server("laud for its seed", lambda port, own: [
                self.options.against, "serve", "--data", os.path.join(own, "data"), "--resp",
                f"127.0.0.1:{port}", "--http", "none", "--store", "none", "--max-memory", "256M"]) as server:
            self.seed = shutil.copy(os.path.join(server.directory, "data", "seed"), directory)

    def instructions(self):
        with tempfile.TemporaryDirectory() as directory:
            self.make_seed(directory)
            self.count_instructions()

    def count_instructions(self):
        for what, (command, count) in OPERATIONS.items():
            row = self.row(what=f"instructions, {what}", target=1.03, at_least=False, unit="x")

            def measure(row=row, what=what, command=command, count=count):
                figures = {}
                for side in ("peer", "laud"):
                    once = self.counted(side, command, count)
                    twice = self.counted(side, command, 2 * count)
                    figures[side] = (twice - once) / count
                    rig.say(f"  {what}: {side} {figures[side]:,.0f} instructions")
                row.peer, row.ours = figures["peer"], figures["laud"]
                row.value = row.ours / row.peer

            self.attempt([row], measure)

    # Time

    def timed(self, side, what):
        pipeline, command, http = TIMED[what]
        more = [] if "list page" in what else ["--store", "none"]
        with rig.laud(self.binary(side), *more) as server:
            if self.needs_data(command):
                self.fill(server)
            port = server.http_port if http else server.port
            return self.drive_ids(server, *(["--http"] if http else []), "--port", port, "--pipeline",
                                  pipeline, "--warmup", 0.5, "--seconds", self.seconds, "--", command)

    def time(self):
        for what in TIMED:
            row = self.row(what=what, target=0.90, at_least=True, unit="x")

            def measure(row=row, what=what):
                runs = {"peer": [], "laud": []}
                for turn in range(self.options.pairs):
                    for side in (("peer", "laud") if turn % 2 == 0 else ("laud", "peer")):
                        runs[side].append(self.timed(side, what))
                        rig.say(f"  {what}: {side} {runs[side][-1]['rate']:,.0f}/s")
                self.compare_rates(row, {side: [run["rate"] for run in runs[side]] for side in runs})
                self.compare_pairs(row)
                row.note = row.note.removeprefix("; ")

            self.attempt([row], measure)

    def run(self):
        if "instructions" in self.options.only:
            self.instructions()
        if "time" in self.options.only:
            self.time()


def main():
    names = ["instructions", "time"]
    parser = area.parser("builds", __doc__)
    parser.add_argument("--against", required=True, metavar="PROGRAM", help="the build to compare with")
    parser.add_argument("--only", type=area.chosen_from(names), default=names, metavar="NAME,NAME",
                        help="only these rows")
    parser.add_argument("--pairs", type=int, default=9, help="pairs of runs for each row of time (%(default)s)")
    parser.add_argument("--quick", action="store_true", help="short runs, three pairs")
    options = parser.parse_args()
    options.against = os.path.abspath(options.against)
    if not os.access(options.against, os.X_OK):
        parser.error(f"--against: {options.against} is not a program")
    if options.quick:
        options.pairs = 3
    return area.main(Builds, options)


if __name__ == "__main__":
    sys.exit(main())
