"""The store and the projector, in one run: sustained likes against MariaDB, a burst, the hot path
with and without a store, much data on disk against little, cold reads, and the start.

Rows, for --only:
  sustained  likes of random users and items, as many as the projector keeps up with, for a minute;
             MariaDB with the same kind of likes. Both have the whole machine.
  burst      10 million likes flat out, then the catching up. The whole machine.
  hot        LIKE flat out with a store against without. Pinned, as in script/bench hot.
  start      seconds from starting the process to the first exact answer
  cold       LIKED of never-liked items (filters) against likes that are only in the store
  disk       LIKE and FEED of hot users with much on disk against little
The last three share one base of 20 million relations (--full: 100 million; --quick: 1 million)
that is loaded through the server."""

import contextlib
import os
import shutil
import sys
import threading
import time

import area
import mariadb
import rig

BASE = 10**18                 # all ids have 19 digits, like Snowflakes
USERS = ITEMS = 10**6
IDS = ["--id-base", BASE, "--users", USERS, "--items", ITEMS]
LIKE = "LIKE {user} video:{item}"

STEP_SECONDS = 5              # how long a rate is kept before it is looked at again
STEP_WARM_SECONDS = 2
RATE_FIRST = 100000
RATE_BATCH = 32               # requests due at once: clients pipeline
LAG_WANTED_SECONDS = 3        # what the rate is steered to
LAG_GROWTH_MS = 2000          # allowed from the beginning to the end
LAG_MOST_MS = 10000           # allowed at any time

BURST_MEMORY = 2 * 1024**3
CATCH_UP_SECONDS = 900

LIKES_A_USER = 20
DISK_ITEMS = 1000003          # prime: with it no (user, item) comes twice
USER_STRIDE = 7919            # primes, so that neighbours in time are strangers
ITEM_STRIDE = 15485863
LOAD_CHUNK = 500000
LOAD_LAG = 2000000            # events; loading waits above it
LOAD_TRIES = 10
DISK_BYTES = 400              # a relation may take while it is compacted, at the very most
HOT_USERS = 10000
HOT_ITEMS = 100000


def millions(count):
    return f"{count / 1e6:g}M"


class Watch(threading.Thread):
    """Looks at the projector each second."""

    def __init__(self, store, server):
        super().__init__(daemon=True)
        self.store = store
        self.server = server
        self.ended = threading.Event()
        self.samples = []
        self.problem = None

    def run(self):
        try:
            while not self.ended.wait(1):
                self.samples.append(self.store.projector(self.server))
        except rig.Failure as problem:
            self.problem = problem

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, kind, *_):
        self.ended.set()
        self.join()
        if self.problem is not None and kind is None:
            raise self.problem

    def most(self, name):
        return max((sample[name] for sample in self.samples), default=0)


class Relations:
    """A base of relations whose r-th can be named: r < count was loaded, r >= count never. The user
    and the item of r are in the base either way."""

    def __init__(self, count):
        self.count = count
        self.users = count // LIKES_A_USER

    def template(self, command, first):
        return (f"{command} {{seq+{first}*{USER_STRIDE}%{self.users}+{BASE}}} "
                f"video:{{seq+{first}*{ITEM_STRIDE}%{DISK_ITEMS}+{BASE}}}")

    def words(self, number):
        return (str(number * USER_STRIDE % self.users + BASE),
                f"video:{number * ITEM_STRIDE % DISK_ITEMS + BASE}")


class Store(area.Area):
    name = "store"

    def __init__(self, options):
        super().__init__(options)
        quick, full = options.quick, options.full
        self.minute = 10 if quick else 60
        self.warm = 10 if quick else 20
        self.peer_seconds = 5 if quick else 30
        self.burst_likes = 10**6 if quick else 10**7
        self.large = Relations(10**6 if quick else 10**8 if full else 2 * 10**7)
        self.small = Relations(2 * 10**5 if quick else 10**6)
        self.seed = 0
        self.stack = contextlib.ExitStack()
        self.base = None
        self.base_problem = None

    @staticmethod
    def peer():
        return f"MariaDB {mariadb.version()}"

    def laud(self, *more, store="rocksdb", pin=True):
        """A server with a store gets what --set says too."""
        extra = [word for name, value in self.options.set for word in ("--" + name, value)]
        return rig.laud(self.options.laud, "--store", store, *more,
                        *(extra if store != "none" else []), pin=pin)

    def drive_accepted(self, server, *arguments):
        """A run in which likes may be refused; `accepted` is the rate of those that were not."""
        run = self.drive(server, "--allow-errors", *arguments)
        run["accepted"] = (run["requests"] - run["errors"]) / run["seconds"]
        return run

    def next_seed(self):
        self.seed += 1
        return ["--seed", self.seed]

    @staticmethod
    def projector(server):
        lines = rig.info(server, "Projector")
        try:
            return {name: int(lines[name]) for name in ("events", "lag_events", "lag_ms")}
        except (KeyError, ValueError) as problem:
            raise rig.Failure(f"INFO's Projector section is not as expected: {problem}") from None

    def catch_up(self, server, behind=0):
        """Waits until all but `behind` events are in the store; how long that took."""
        begun = time.monotonic()
        while self.projector(server)["lag_events"] > behind:
            if time.monotonic() - begun > CATCH_UP_SECONDS:
                raise rig.Failure(f"the projector did not catch up within {CATCH_UP_SECONDS} s")
            time.sleep(0.05)
        return time.monotonic() - begun

    # Sustained

    def steer(self, server, rate, seconds, step):
        """Likes for `seconds`, at a rate that holds the lag where it is wanted."""
        end = time.monotonic() + seconds
        refused = 0
        while time.monotonic() < end - 0.1:
            begun, before = time.monotonic(), self.projector(server)
            run = self.drive_accepted(server, "--pipeline", 64, "--rate", int(rate), "--batch",
                                      RATE_BATCH, "--seconds", min(step, end - begun),
                                      *self.next_seed(), *IDS, "--", LIKE)
            refused += run["errors"]
            after = self.projector(server)
            applied = (after["events"] - before["events"]) / (time.monotonic() - begun)
            rig.say(f"  sustained: offered {rate:,.0f}/s, accepted {run['accepted']:,.0f}/s, applied "
                    f"{applied:,.0f}/s, lag {after['lag_ms']} ms, {after['lag_events']:,} events")
            room = LAG_WANTED_SECONDS * applied - after["lag_events"]
            rate = min(rate * 1.5, max(applied + room / step / 2, RATE_FIRST / 10))
        return rate, refused

    def sustained_laud(self, row, moonshot):
        with self.laud(pin=False) as server:
            rate, _ = self.steer(server, RATE_FIRST, self.warm, STEP_WARM_SECONDS)
            with Watch(self, server) as watch:
                begun, first = time.monotonic(), self.projector(server)
                _, refused = self.steer(server, rate, self.minute, STEP_SECONDS)
                last, elapsed = self.projector(server), time.monotonic() - begun
            peak = server.peak_rss_bytes()
        row.ours = moonshot.ours = moonshot.value = (last["events"] - first["events"]) / elapsed
        most = watch.most("lag_ms")
        row.note = (f"applied over {elapsed:.0f} s; lag {first['lag_ms']} ms at first, "
                    f"{last['lag_ms']} ms at last, {most} ms at most (allowed: {LAG_GROWTH_MS} ms "
                    f"more at last, never {LAG_MOST_MS}); {refused:,} refused; peak RSS "
                    f"{peak / 1e6:,.0f} MB; not pinned")
        if last["lag_ms"] > first["lag_ms"] + LAG_GROWTH_MS or most > LAG_MOST_MS:
            row.broken = "the projector did not keep up"
        row.runs["lag"] = watch.samples

    def sustained_peer(self, row):
        work = mariadb.transactions(self.peer_seconds * mariadb.BATCHES_A_SECOND, BASE, USERS, ITEMS)
        runs = {}
        with mariadb.MariaDB() as server:
            for connections in (1, 2):
                runs[connections] = run = mariadb.run(server, work, connections, self.peer_seconds)
                rig.say(f"  mariadb, {connections} connections: {run['rate']:,.0f} likes/s for "
                        f"{run['seconds']:.0f} s; it used {run['server_cores']:.2f} cores, its client "
                        f"{run['client_cores']:.2f}")
        best = max(runs, key=lambda connections: runs[connections]["rate"])
        row.peer = runs[best]["rate"]
        row.runs["peer"] = runs
        return (f"MariaDB {runs[1]['rate']:,.0f}/s on one connection, {runs[2]['rate']:,.0f}/s on two, "
                f"the better counts; {' '.join(mariadb.SETTINGS)}")

    def sustained(self):
        row = self.row(what="sustained LIKE, projected", target=4, at_least=True, unit="x")
        moonshot = self.row(what="  likes a second (moonshot 300k)", target=300000, at_least=True,
                            unit="likes/s", informal=True)

        def measure():
            told = self.sustained_peer(row)
            self.sustained_laud(row, moonshot)
            row.value = row.ours / row.peer
            row.note += "; " + told

        self.attempt([row, moonshot], measure)

    # Burst

    def burst_run(self, server):
        return self.drive_accepted(server, "--pipeline", 64, "--requests", self.burst_likes,
                                   *self.next_seed(), *IDS, "--", LIKE)

    def burst(self):
        name = f"burst of {millions(self.burst_likes)} likes"
        rows = [self.row(what=what, target=target, at_least=False, unit=unit, informal=informal)
                for what, target, unit, informal in (
                    (f"{name}, accepted", 0, "x of no store", True),
                    ("  peak RSS of --max-memory", 1, "x", False),
                    ("  lag at its end", 0, "s", True),
                    ("  caught up at", 0, "events/s", True))]
        accepted, memory, lag, caught = rows
        limit = ["--max-memory", BURST_MEMORY]

        def measure():
            with self.laud(*limit, store="none", pin=False) as server:
                accepted.peer = self.burst_run(server)["accepted"]
            with self.laud(*limit, pin=False) as server:
                run = self.burst_run(server)
                left = self.projector(server)
                seconds = self.catch_up(server)
                peak = server.peak_rss_bytes()
            accepted.ours = run["accepted"]
            accepted.value = accepted.ours / accepted.peer
            accepted.note = (f"{run['errors']:,} of {run['requests']:,} refused"
                             f"{': ' + run['first_error'] if run['errors'] else ''}; not pinned")
            memory.ours, memory.peer = peak / 1e6, BURST_MEMORY / 1e6
            memory.value = peak / BURST_MEMORY
            lag.ours = lag.value = left["lag_ms"] / 1000
            lag.note = f"{left['lag_events']:,} events"
            if left["lag_events"] > 0:
                caught.ours = caught.value = left["lag_events"] / seconds
                caught.note = f"nothing left after {seconds:.1f} s"
            else:
                caught.ours = caught.value = run["accepted"]
                caught.note = "nothing was left: the rate is that of the burst"
            rig.say(f"  {name}: {run['accepted']:,.0f}/s, without store {accepted.peer:,.0f}/s, "
                    f"{lag.note} behind, caught up in {seconds:.1f} s, peak {peak / 1e6:,.0f} MB")

        self.attempt(rows, measure)

    # The hot path

    def hot(self):
        row = self.row(what="LIKE P=64, with store against none", target=0.7, at_least=True, unit="x")

        def measure():
            runs = {"peer": [], "laud": []}
            for _ in range(self.rounds):
                for side, store in (("peer", "none"), ("laud", "rocksdb")):
                    with self.laud(store=store) as server:
                        run = self.drive_accepted(server, "--pipeline", 64, "--warmup", 0.5,
                                                  "--seconds", self.seconds, *IDS, "--", LIKE)
                    run["rate"] = run["accepted"]
                    runs[side].append(run)
                    rig.say(f"  hot path, store {store}: {run['rate']:,.0f}/s, "
                            f"{run['errors']:,} refused")
            self.compare(row, runs)
            row.note += f"; {sum(run['errors'] for run in runs['laud']):,} refused"

        self.attempt([row], measure)

    # The base of relations

    def fill(self, server, relations):
        """All relations, through the server and into the store. A chunk in which likes were refused
        is sent again: what was accepted stays as it is."""
        begun, first, refused = time.monotonic(), 0, 0
        while first < relations.count:
            count = min(LOAD_CHUNK, relations.count - first)
            run = self.drive_accepted(server, "--pipeline", 64, "--requests", count, "--",
                                      relations.template("LIKE", first))
            if run["errors"] == 0:
                first, refused = first + count, 0
            elif refused == LOAD_TRIES:
                raise rig.Failure(f"loading got nowhere: {run['first_error']}")
            else:
                refused += 1
            self.catch_up(server, 0 if refused else LOAD_LAG)
        self.catch_up(server)
        seconds = time.monotonic() - begun
        rig.say(f"  {millions(relations.count)} relations are in the store after {seconds:.0f} s: "
                f"{relations.count / seconds:,.0f}/s")

    @staticmethod
    def check(server, relations):
        """What was loaded is there and what was not is not, by sample."""
        for number in range(0, relations.count, max(1, relations.count // 50)):
            for there in (1, 0):
                user, item = relations.words(number + (0 if there else relations.count))
                if rig.call(server, "LIKED", user, item) != [there]:
                    raise rig.Failure(f"LIKED {user} {item} did not answer {there}")

    def loaded(self, relations):
        """A stopped server with these relations in its store."""
        server = self.stack.enter_context(self.laud(pin=False))
        free = shutil.disk_usage(server.directory).free
        if free < relations.count * DISK_BYTES:
            raise rig.Failure(f"{relations.count * DISK_BYTES >> 30} GiB free disk are needed at "
                              f"{server.directory}, there are {free >> 30}")
        self.fill(server, relations)
        self.check(server, relations)
        server.stop()
        return server

    def large_base(self):
        if self.base_problem is not None:
            raise self.base_problem
        if self.base is None:
            try:
                self.base = self.loaded(self.large)
            except rig.Failure as problem:
                self.base_problem = problem
                raise
        return self.base

    @contextlib.contextmanager
    def running(self, server):
        """A loaded server started anew, pinned now: nothing is hot."""
        os.sync()
        time.sleep(rig.SETTLE_SECONDS)
        server.pin = True
        server.start()
        try:
            yield server
        finally:
            server.stop()

    # Start

    def first_answer(self, server):
        server.pin = False
        begun = time.monotonic()
        server.start()
        user, item = self.large.words(0)
        if rig.call(server, "LIKED", user, item) != [1]:
            raise rig.Failure("the first answer is wrong")
        return time.monotonic() - begun

    def start(self):
        size = millions(self.large.count)
        rows = {how: self.row(what=f"start with {size} relations, after {how}", target=10,
                              at_least=False, unit="s per 100M") for how in ("a stop", "kill -9")}

        def measure():
            server = self.large_base()
            clean = self.first_answer(server)
            self.drive_accepted(server, "--pipeline", 64, "--seconds", 3, *self.next_seed(), *IDS,
                                "--", LIKE)
            behind = self.projector(server)["lag_events"]
            server.kill()
            killed = self.first_answer(server)
            self.catch_up(server)
            self.check(server, self.large)
            server.stop()
            for how, seconds in (("a stop", clean), ("kill -9", killed)):
                rows[how].ours = seconds
                rows[how].value = seconds * 10**8 / self.large.count
                rows[how].note = f"{seconds:.2f} s"
                rig.say(f"  {rows[how].what}: {seconds:.2f} s")
            rows["kill -9"].note += (f", killed after 3 s of likes flat out, {behind:,} events "
                                     "of them not yet in the store")

        self.attempt(list(rows.values()), measure)

    # Cold reads

    def cold_run(self, server, there, pipeline, turn):
        """Each request asks another user, who was not seen since the start."""
        most = self.large.users // self.rounds
        requests = min(most, 300000 if there else 10**6)
        first = turn * most + (0 if there else self.large.count)
        with self.running(server):
            return self.drive(server, "--pipeline", pipeline, "--requests", requests, "--",
                              self.large.template("LIKED", first))

    def cold(self):
        rows = {pipeline: self.row(what=f"LIKED P={pipeline}, never liked against in store",
                                   target=5, at_least=True, unit="x", informal=pipeline == 1)
                for pipeline in (64, 1)}

        def measure():
            server = self.large_base()
            for pipeline, row in rows.items():
                runs = {"peer": [], "laud": []}
                for turn in range(self.rounds):
                    for side, there in (("peer", True), ("laud", False)):
                        runs[side].append(self.cold_run(server, there, pipeline, turn))
                        rig.say(f"  LIKED P={pipeline}, {'in store' if there else 'never liked'}: "
                                f"{runs[side][-1]['rate']:,.0f}/s")
                self.compare(row, runs)
                row.note += "; the peer is a read of the store, the kernel's page cache warm"

        self.attempt(list(rows.values()), measure)

    # Much on disk

    def hot_users_run(self, server):
        ids = ["--id-base", BASE, "--users", min(HOT_USERS, self.small.users), "--items", HOT_ITEMS]
        like = self.drive_accepted(server, "--pipeline", 64, "--warmup", 1, "--seconds",
                                   self.seconds / 2, *self.next_seed(), *ids, "--", LIKE)
        like["rate"] = like["accepted"]
        feed = self.drive(server, "--pipeline", 8, "--warmup", 1, "--seconds", self.seconds / 2,
                          *self.next_seed(), *ids, "--", "FEED {user} {20*video:{item}}")
        return {"LIKE P=64": like, "FEED P=8": feed}

    def hot_users_small(self, small, pristine):
        """The small base, as it was loaded: what a run adds to it is thrown away."""
        data = os.path.join(small.directory, "data")
        shutil.rmtree(data)
        shutil.copytree(pristine, data)
        with self.running(small):
            found = self.hot_users_run(small)
            small.kill()
        return found

    def disk(self):
        sizes = f"{millions(self.large.count)} on disk against {millions(self.small.count)}"
        rows = {what: self.row(what=f"{what} of hot users, {sizes}", target=0.8, at_least=True,
                               unit="x") for what in ("LIKE P=64", "FEED P=8")}

        def measure():
            large, small = self.large_base(), self.loaded(self.small)
            pristine = os.path.join(small.directory, "pristine")
            os.rename(os.path.join(small.directory, "data"), pristine)
            os.mkdir(os.path.join(small.directory, "data"))
            runs = {what: {"peer": [], "laud": []} for what in rows}
            for _ in range(self.rounds):
                for side in ("peer", "laud"):
                    if side == "peer":
                        found = self.hot_users_small(small, pristine)
                    else:
                        with self.running(large):
                            found = self.hot_users_run(large)
                    for what, run in found.items():
                        runs[what][side].append(run)
                        rig.say(f"  {what}, {'little' if side == 'peer' else 'much'} on disk: "
                                f"{run['rate']:,.0f}/s, {run['errors']:,} refused")
            for what, row in rows.items():
                self.compare(row, runs[what])

        self.attempt(list(rows.values()), measure)

    def run(self):
        with self.stack:
            for name in NAMES:
                if not self.options.only or name in self.options.only:
                    getattr(self, name)()


NAMES = ("sustained", "burst", "hot", "start", "cold", "disk")


def names(text):
    chosen = text.split(",")
    for name in chosen:
        if name not in NAMES:
            raise ValueError(name)
    return chosen


def setting(text):
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise ValueError(text)
    return name, value


def main():
    parser = area.parser("store", __doc__)
    parser.add_argument("--quick", action="store_true", help="one short round of small sizes")
    parser.add_argument("--full", action="store_true", help="100 million relations instead of 20")
    parser.add_argument("--only", type=names, metavar="NAME,NAME", help="only these rows")
    parser.add_argument("--set", type=setting, action="append", default=[], metavar="NAME=VALUE",
                        help="an option for every server with a store, as in window-ms=1000; may be "
                        "repeated")
    return area.main(Store, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
