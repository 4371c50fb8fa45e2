"""What is on disk already: the start with it, reads that only it can answer, and whether hot users
notice how much it is. All three share one large base that is loaded through the server."""

import contextlib
import os
import shutil
import time

import rig
from store_rig import BASE, IDS, LIKE, StoreArea, millions

LIKES_A_USER = 20
DISK_ITEMS = 1000003          # prime: with it no (user, item) comes twice
USER_STRIDE = 7919            # primes, so that neighbours in time are strangers
ITEM_STRIDE = 15485863
LOAD_CHUNK = 500000
LOAD_LAG = 2000000            # events; loading waits above it
LOAD_TRIES = 10
DISK_BYTES = 400              # a relation may take while it is compacted, at the very most
COLD_LIKED = 300000           # requests of a run
COLD_NEVER = 1000000          # they take less time
HOT_USERS = 10000
HOT_ITEMS = 100000
HOT_LIKES = 200000


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


class Disk(StoreArea):
    def __init__(self, options):
        super().__init__(options)
        self.large = Relations(10**6 if options.quick else 10**8 if options.full else 2 * 10**7)
        self.small = Relations(2 * 10**5 if options.quick else 10**6)
        self.stack = contextlib.ExitStack()     # closed by whoever runs the area
        self.base = None
        self.base_problem = None

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
        self.come_to_rest(server)
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
        # With few relations, what every start costs would be scaled up with the rest.
        few = self.large.count < 10**7
        rows = {how: self.row(what=f"start with {size} relations, after {how}", target=10,
                              at_least=False, unit="s per 100M", informal=few)
                for how in ("a stop", "kill -9")}

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
        requests = min(self.large.users, COLD_LIKED if there else COLD_NEVER)
        first = turn * requests + (0 if there else self.large.count)
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
        """Hot: users who liked something and items that were asked for, all of them since the
        start. The likes of a run are on their way to the store and merged there while it goes on;
        those of the run before are not."""
        ids = ["--id-base", BASE, "--users", min(HOT_USERS, self.small.users), "--items", HOT_ITEMS]
        self.drive(server, "--pipeline", 64, "--requests", HOT_ITEMS, "--",
                   f"COUNTS video:{{seq+{BASE}}}")
        self.drive_accepted(server, "--pipeline", 64, "--requests", HOT_LIKES, *self.next_seed(),
                            *ids, "--", LIKE)
        self.come_to_rest(server)
        feed = self.drive(server, "--pipeline", 8, "--warmup", 1, "--seconds", self.seconds / 2,
                          *self.next_seed(), *ids, "--", "FEED {user} {20*video:{item}}")
        like = self.drive_accepted(server, "--pipeline", 64, "--warmup", 1, "--seconds",
                                   self.seconds / 2, *self.next_seed(), *ids, "--", LIKE)
        like["rate"] = like["accepted"]
        return {"LIKE P=64": like, "FEED P=8": feed}

    def hot_users_on(self, server):
        """A base as it was loaded: what a run adds to it is thrown away."""
        data = os.path.join(server.directory, "data")
        pristine = os.path.join(server.directory, "pristine")
        os.rename(data, pristine)
        shutil.copytree(pristine, data)
        try:
            with self.running(server):
                found = self.hot_users_run(server)
                server.kill()
        finally:
            shutil.rmtree(data)
            os.rename(pristine, data)
        return found

    def disk(self):
        sizes = f"{millions(self.large.count)} on disk against {millions(self.small.count)}"
        rows = {what: self.row(what=f"{what} of hot users, {sizes}", target=0.8, at_least=True,
                               unit="x") for what in ("LIKE P=64", "FEED P=8")}

        def measure():
            large, small = self.large_base(), self.loaded(self.small)
            runs = {what: {"peer": [], "laud": []} for what in rows}
            for _ in range(self.rounds):
                for side, server in (("peer", small), ("laud", large)):
                    for what, run in self.hot_users_on(server).items():
                        runs[what][side].append(run)
                        rig.say(f"  {what}, {'little' if side == 'peer' else 'much'} on disk: "
                                f"{run['rate']:,.0f}/s, {run['errors']:,} refused")
            for what, row in rows.items():
                self.compare(row, runs[what])

        self.attempt(list(rows.values()), measure)
