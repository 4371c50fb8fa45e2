"""A bot with one account, and what others notice of it, in one run.

Others ask at a fixed rate (LIKED, FEED and some LIKE, 50 connections) while one account hammers LIKED on
what it really liked, as fast as it can: valid data, which passes any filter. Their p99 is compared
without the bot, with it and a limit of reads a user (--limit-user-read), and with it and no limit; once
with the bot on 50 connections, once with a deep pipeline on one.

The server is pinned to one core, all load to another. There the bot runs only when nothing else would
(SCHED_IDLE), so that it does not take the time of who measures. Rounds are interleaved, and the median
of the rounds counts."""

import json
import subprocess
import sys

import area
import rig

BASE = 10**18
USERS = ITEMS = 10**5
BOT = 7                       # its user id
BOT_ITEMS = 20
LIMIT = "100/200"             # reads a second of one user, and at once
TARGET = 1.5
CASES = ("none", "limit", "open")
SHAPES = {"50 connections": ("--connections", 50, "--pipeline", 16),
          "one deep pipeline": ("--connections", 1, "--pipeline", 20000)}

ASKED = " ".join(f"video:{i}" for i in range(BOT_ITEMS))
OTHERS = ["--mix", "60:LIKED {user} video:{item}",
          "--mix", "30:FEED {user} video:{item.1} video:{item.2} video:{item.3} video:{item.4}",
          "--mix", "10:LIKE {user} video:{item}"]


class Load:
    """A load that goes on until it is stopped; leaving it gives what it came to."""

    def __init__(self, binary, server, *arguments):
        argv = [binary, "bench", "--port", str(server.port), "--json", "--quiet",
                *map(str, arguments)]
        self.argv = rig.pinned(["chrt", "--idle", "0", *argv], 1)
        self.process = None
        self.outcome = None

    def __enter__(self):
        self.process = subprocess.Popen(self.argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        return self

    def __exit__(self, kind, *_):
        if kind is not None:
            self.process.kill()
        out, said = self.process.communicate(timeout=rig.LOAD_SECONDS)
        if kind is None and self.process.returncode != 0:
            raise rig.Failure(f"the bot failed: {said.strip() or 'no words'}")
        self.outcome = json.loads(out) if kind is None else None


class Bot(area.Area):
    name = "bot"

    @staticmethod
    def peer():
        return "itself without a bot"

    def laud(self, case):
        limit = ["--limit-user-read", LIMIT] if case == "limit" else []
        return rig.laud(self.options.laud, "--store", "none", "--durability", "interval", *limit)

    def others(self, server):
        before = server.cpu_seconds()
        run = self.drive(server, "--rate", self.options.rate, "--seconds", self.seconds, "--id-base",
                         BASE, "--users", USERS, "--items", ITEMS, "--allow-errors", *OTHERS)
        run["core"] = (server.cpu_seconds() - before) / run["seconds"]
        return run

    def fill(self, server):
        for item in range(BOT_ITEMS):
            rig.call(server, "LIKE", BOT, f"video:{item}")
        self.drive(server, "--pipeline", 64, "--requests", 4 * USERS, "--id-base", BASE, "--users",
                   USERS, "--items", ITEMS, "--", "LIKE {user} video:{item}")

    def run_case(self, case, shape):
        with self.laud(case) as server:
            self.fill(server)
            if case == "none":
                run = self.others(server)
            else:
                with Load(self.options.laud, server, "--seconds", self.seconds + 1.5,
                          "--allow-errors", *SHAPES[shape], "--", f"LIKED {BOT} {ASKED}") as bot:
                    run = self.others(server)
                run["bot"] = bot.outcome
        bot = run.get("bot")
        told = "" if bot is None else (f"; the bot {bot['rate']:,.0f}/s, "
                                       f"{bot['errors'] / max(1, bot['requests']):.1%} refused")
        rig.say(f"  {shape}, {case}: p99 {run['latency_us']['p99'] / 1000:.2f} ms{told}")
        return run

    def compare_p99(self, row, runs, case):
        def p99(which):
            return [run["latency_us"]["p99"] / 1000 for run in runs[which]]
        row.ours, row.peer = rig.median(p99(case)), rig.median(p99("none"))
        row.value = row.ours / row.peer
        row.runs = {which: p99(which) for which in ("none", case)}
        rates = {which: rig.median([run["rate"] for run in runs[which]]) for which in runs}
        core = {which: rig.median([run["core"] for run in runs[which]]) for which in runs}
        bots = [run["bot"] for run in runs[case]]
        row.note = (f"p99 {row.ours:.2f} ms, {row.peer:.2f} ms without; others "
                    f"{rates[case]:,.0f}/s of {self.options.rate:,}/s; the bot asked "
                    f"{rig.median([bot['rate'] for bot in bots]):,.0f}/s; the server used "
                    f"{core[case]:.2f} of a core, {core['none']:.2f} without")
        refused = sum(run["errors"] for run in runs[case])
        if refused > 0:
            row.broken = f"{refused} requests of others were refused"

    def run(self):
        for shape in SHAPES:
            limited = self.row(what=f"p99 of others, bot on {shape}, limit on", target=TARGET,
                               at_least=False, unit="x")
            without = self.row(what=f"p99 of others, bot on {shape}, no limit", target=TARGET,
                               at_least=False, unit="x", informal=True)

            def measure(shape=shape, limited=limited, without=without):
                runs = {case: [] for case in CASES}
                for _ in range(self.rounds):
                    for case in CASES:
                        runs[case].append(self.run_case(case, shape))
                self.compare_p99(limited, runs, "limit")
                self.compare_p99(without, runs, "open")
                without.broken = ""

            self.attempt([limited, without], measure)


def main():
    parser = area.parser("bot", __doc__)
    parser.add_argument("--quick", action="store_true", help="one short round")
    parser.add_argument("--rate", type=int, default=10000, help="requests a second of others "
                        "(%(default)s)")
    return area.main(Bot, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
