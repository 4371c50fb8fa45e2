"""The hot path against Redis 7, in one run: likes, feeds, memory, one popular item, replay.

A measurement starts a fresh server; rounds are interleaved (peer, laud, peer, laud, ...) and the
median of the rounds counts. Redis runs the full like as one Lua script (like.lua) with an
append-only file, which is what a like that must not be lost takes there. Laud runs without its
store (--store none): what that costs beside the hot path is measured by script/bench store."""

import os
import re
import sys
import time

import area
import rig

HERE = os.path.dirname(os.path.abspath(__file__))
LIKE_LUA = os.path.join(HERE, "like.lua")
BASE = 10**18                 # all ids have 19 digits, like Snowflakes
PREFIX = "1000000"            # with redis-benchmark's 12 digits: the same ids
STAMP = "1700000000000"
IDS = ["--id-base", BASE, "--users", 1000000, "--items", 1000000]

FEED_USERS = 10000
FEED_ITEMS = 100003           # prime, so that {seq*7919%...} never repeats an item for a user
FEED_LIKES = 1000000
FEED_COUNTERS = ["view", "share", "save"]


class Hot(area.Area):
    name = "hot"

    @staticmethod
    def peer():
        return f"redis {rig.redis_version()}"

    def laud(self, *more):
        return rig.laud(self.options.laud, "--store", "none", *more)

    def laud_lean(self):
        """For memory: nothing is taken from the system before it is needed."""
        return self.laud("--ready-memory", 0)

    def wanted(self, number):
        return not self.options.rows or number in self.options.rows

    # Likes

    def like_run(self, server, lua, pipeline):
        command = (["--load-script", LIKE_LUA, "--", "EVALSHA {sha} 0 {user} {item} " + STAMP] if lua
                   else ["--", "LIKE {user} video:{item}"])
        return self.drive(server, "--pipeline", pipeline, "--warmup", 0.5, "--seconds", self.seconds,
                          *IDS, *command)

    def like_run_redis_benchmark(self, server, lua, pipeline, rate):
        user = item = PREFIX + "__rand_int__"
        words = (["EVALSHA", rig.script_load(server, LIKE_LUA), "0", user, item, STAMP] if lua
                 else ["LIKE", user, "video:" + item])
        return rig.redis_benchmark(server, pipeline, rate * self.seconds, 1000000, *words)

    def likes(self, pipeline, appendfsync, target):
        what = f"LIKE P={pipeline}, redis {appendfsync}"
        row = self.row(what=what, target=target, at_least=True, unit="x")
        other = self.row(what="  by redis-benchmark", target=target, at_least=True, unit="x",
                         informal=True)

        def measure():
            runs = {"peer": [], "laud": []}
            others = {"peer": [], "laud": []}
            for turn in range(self.rounds):
                for side in ("peer", "laud"):
                    lua = side == "peer"
                    with rig.redis(appendfsync) if lua else self.laud() as server:
                        runs[side].append(self.like_run(server, lua, pipeline))
                    rate = runs[side][-1]["rate"]
                    rig.say(f"  {what}: {side} {rate:,.0f}/s, "
                            f"p99 {runs[side][-1]['latency_us']['p99'] / 1000:.2f} ms")
                    if turn > 0 and not self.options.full:
                        continue
                    with rig.redis(appendfsync) if lua else self.laud() as server:
                        others[side].append(
                            self.like_run_redis_benchmark(server, lua, pipeline, rate * 0.7))
                    rig.say(f"  {what}: {side} {others[side][-1]:,.0f}/s by redis-benchmark")
            self.compare(row, runs)
            self.compare_rates(other, others)

        self.attempt([row, other], measure)

    # Feeds

    def feed_fill(self, server, lua):
        """The same items, counters and likes on both sides."""
        user = "{seq%%%d+%d}" % (FEED_USERS, BASE)
        item = "{seq*7919%%%d+%d}" % (FEED_ITEMS, BASE)
        every = "{seq+%d}" % BASE
        amount = "{rand:100000-999999}"
        if lua:
            likes = f"HINCRBY counts:{item} like 1 ; ZADD user:likes:{user} {STAMP} {item}"
            adds = " ; ".join(f"HINCRBY counts:{every} {name} {amount}" for name in FEED_COUNTERS)
        else:
            likes = f"LIKE {user} video:{item}"
            adds = " ; ".join(f"ADD video:{every} {name} {amount}" for name in FEED_COUNTERS)
        self.drive(server, "--pipeline", 64, "--requests", FEED_LIKES, "--", likes)
        self.drive(server, "--pipeline", 64, "--requests", FEED_ITEMS, "--", adds)

    @staticmethod
    def feed_page(lua):
        return ("{20*HMGET counts:{item.n} like view share save ;} "
                "ZMSCORE user:likes:{user} {20*{item.n}}" if lua
                else "FEED {user} {20*video:{item}}")

    def feed_run(self, server, lua, pipeline):
        return self.drive(server, "--pipeline", pipeline, "--warmup", 0.5, "--seconds", self.seconds,
                          "--id-base", BASE, "--users", FEED_USERS, "--items", FEED_ITEMS, "--",
                          self.feed_page(lua))

    def feed_run_redis_benchmark(self, server, lua, pipeline, rate):
        """redis-benchmark sends one command over and over: for Redis a page is 21 HMGET."""
        one = PREFIX + "__rand_int__"
        if lua:
            words = ["HMGET", "counts:" + one, "like", "view", "share", "save"]
            return rig.redis_benchmark(server, 21 * pipeline, rate * 21 * self.seconds, FEED_ITEMS,
                                       *words) / 21
        return rig.redis_benchmark(server, pipeline, rate * self.seconds, FEED_ITEMS, "FEED",
                                   PREFIX + "000000000001", *(["video:" + one] * 20))

    def feeds(self):
        depths = (1, 8)
        rows = {depth: self.row(what=f"FEED 20 items x 4, P={depth}", target=5, at_least=True, unit="x")
                for depth in depths}
        others = {depth: self.row(what=f"  by redis-benchmark, P={depth}", target=5, at_least=True,
                                  unit="x", informal=True) for depth in depths}

        def measure():
            runs = {depth: {"peer": [], "laud": []} for depth in depths}
            rates = {depth: {"peer": [], "laud": []} for depth in depths}
            for turn in range(self.rounds):
                for side in ("peer", "laud"):
                    lua = side == "peer"
                    with rig.redis("everysec") if lua else self.laud() as server:
                        self.feed_fill(server, lua)
                        for depth in depths:
                            run = self.feed_run(server, lua, depth)
                            runs[depth][side].append(run)
                            rig.say(f"  FEED P={depth}: {side} {run['rate']:,.0f} pages/s")
                            if turn > 0 and not self.options.full:
                                continue
                            rates[depth][side].append(self.feed_run_redis_benchmark(
                                server, lua, depth, run["rate"] * 0.7))
            for depth in depths:
                self.compare(rows[depth], runs[depth])
                self.compare_rates(others[depth], rates[depth])

        self.attempt([*rows.values(), *others.values()], measure)

    # Memory and replay

    def fill_likes(self, server, lua, likes, users, items):
        """`users` and `items` have no common divisor, so no (user, item) comes twice."""
        user = "{seq%%%d+%d}" % (users, BASE)
        item = "{seq*7919%%%d+%d}" % (items, BASE)
        command = (["--load-script", LIKE_LUA, "--", f"EVALSHA {{sha}} 0 {user} {item} {STAMP}"]
                   if lua else ["--", f"LIKE {user} video:{item}"])
        before = server.rss_bytes()
        run = self.drive(server, "--pipeline", 64, "--requests", likes, *command)
        return before, server.rss_bytes(), run

    def memory_of_likes(self, judge_memory, judge_replay):
        likes, users, items = (10**6, 10000, 10007) if self.options.quick else (10**7, 100000, 100003)
        row = replay = None
        if judge_memory:
            row = self.row(what=f"memory, {likes // 10**6}M likes", target=20, at_least=False,
                           unit="bytes a like")
        if judge_replay:
            replay = self.row(what="replay", target=2e6, at_least=True, unit="events/s")

        def measure():
            with self.laud_lean() as server:
                before, after, run = self.fill_likes(server, False, likes, users, items)
                rig.say(f"  {likes:,} likes at {run['rate']:,.0f}/s, RSS {before / 1e6:.0f} to "
                        f"{after / 1e6:.0f} MB")
                if row is not None:
                    row.value = row.ours = (after - before) / likes
                    row.note = (f"{users:,} users over {items:,} items, RSS {before / 1e6:.1f} to "
                                f"{after / 1e6:.1f} MB")
                if replay is not None:
                    self.measure_replay(server, likes, replay)
            if row is not None and self.options.full:
                with rig.redis("everysec") as server:
                    before, after, _ = self.fill_likes(server, True, likes, users, items)
                    row.peer = (after - before) / likes

        self.attempt([each for each in (row, replay) if each is not None], measure)

    @staticmethod
    def measure_replay(server, likes, replay):
        server.stop()
        begun = time.monotonic()
        server.start()
        ready = time.monotonic() - begun
        said = re.search(r"replayed (\d+) events in ([\d.]+) ?s", server.log())
        if said is None:
            raise rig.Failure("the server's start said nothing of a replay")
        events, seconds = int(said.group(1)), float(said.group(2))
        if events < likes:
            raise rig.Failure(f"{likes:,} likes were recorded but only {events:,} events replayed")
        replay.value = replay.ours = events / max(seconds, 1e-9)
        replay.note = f"{events:,} events in {seconds:g} s, ready after {ready:.2f} s"
        rig.say(f"  replay: {replay.note}")

    def memory_of_items(self):
        items = 10**6 if self.options.quick else 10**7
        row = self.row(what=f"memory, {items // 10**6}M items x 4", target=64, at_least=False,
                       unit="bytes an item")

        def measure():
            item = "video:{seq+%d}" % BASE
            command = " ; ".join(f"ADD {item} {name} {{rand:1-1000}}"
                                 for name in ["view", "share", "save", "play"])
            with self.laud_lean() as server:
                before = server.rss_bytes()
                run = self.drive(server, "--pipeline", 32, "--requests", items, "--", command)
                after = server.rss_bytes()
            row.value = row.ours = (after - before) / items
            row.note = (f"RSS {before / 1e6:.1f} to {after / 1e6:.1f} MB, "
                        f"{run['rate'] * 4:,.0f} ADD/s")
            rig.say(f"  {items:,} items: {row.note}")

        self.attempt([row], measure)

    # One popular item

    def one_item(self):
        """Every like comes from a new user, in both cases, so each is a transition."""
        row = self.row(what="LIKE P=16, one item against many", target=0.8, at_least=True, unit="x")
        requests = 10**6 if self.options.quick else 3 * 10**6
        user = "{seq+%d}" % BASE
        targets = {"peer": "video:{item}", "laud": f"video:{BASE}"}

        def measure():
            runs = {"peer": [], "laud": []}
            for _ in range(self.rounds):
                for side, item in targets.items():
                    with self.laud() as server:
                        runs[side].append(self.drive(server, "--pipeline", 16, "--requests", requests,
                                                     *IDS, "--", f"LIKE {user} {item}"))
                    rig.say(f"  one item: {side} {runs[side][-1]['rate']:,.0f}/s")
            self.compare(row, runs)
            row.note = "peer is laud with spread items; " + row.note

        self.attempt([row], measure)

    def run(self):
        for number, pipeline, appendfsync, target in ((1, 16, "everysec", 10), (2, 64, "everysec", 20),
                                                      (3, 1, "always", 2)):
            if self.wanted(number):
                self.likes(pipeline, appendfsync, target)
        if self.wanted(4):
            self.feeds()
        if self.wanted(5) or self.wanted(8):
            self.memory_of_likes(self.wanted(5), self.wanted(8))
        if self.wanted(6):
            self.memory_of_items()
        if self.wanted(7):
            self.one_item()


def main():
    parser = area.parser("hot", __doc__)
    parser.add_argument("--quick", action="store_true", help="one short round, a tenth of the data")
    parser.add_argument("--full", action="store_true",
                        help="redis-benchmark in every round, and memory of Redis too")
    parser.add_argument("--rows", type=lambda text: {int(part) for part in text.split(",")},
                        metavar="N,N", help="only these: 1-3 likes at P=16, 64, 1; 4 feed; 5 memory of "
                        "likes; 6 memory of items; 7 one popular item; 8 replay")
    return area.main(Hot, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
