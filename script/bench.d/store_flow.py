"""Likes on their way into the store: sustained, in a burst, and what that costs the hot path."""

import threading
import time

import mariadb
import rig
from store_rig import BASE, IDS, ITEMS, LIKE, USERS, StoreArea, millions

LAG_MAX = "96M"                # of journal, about 3 M likes: what bounds the lag is the server itself
LAG_GROWTH_MS = 3000          # allowed from the beginning to the end
LAG_MOST_MS = 10000           # allowed at any time
BURST_MEMORY = 4 * 1024**3


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


class Flow(StoreArea):
    def __init__(self, options):
        super().__init__(options)
        quick = options.quick
        self.minute = 10 if quick else 60
        self.warm = 10 if quick else 20
        self.peer_seconds = 5 if quick else 30
        self.burst_likes = 10**6 if quick else 10**7

    # Sustained

    def flat_out(self, server, seconds):
        """Likes as fast as they are taken: the server slows them down to what the store takes."""
        run = self.drive_accepted(server, "--pipeline", 64, "--seconds", seconds, *self.next_seed(),
                                  *IDS, "--", LIKE)
        return run["requests"] - run["errors"], run["errors"]

    def sustained_laud(self, row, moonshot):
        with self.laud("--lag-max", LAG_MAX, pin=False) as server:
            self.flat_out(server, self.warm)
            with Watch(self, server) as watch:
                begun, first = time.monotonic(), self.projector(server)
                accepted, refused = self.flat_out(server, self.minute)
                last, elapsed = self.projector(server), time.monotonic() - begun
            peak = server.peak_rss_bytes()
        rig.say(f"  sustained: {accepted / elapsed:,.0f}/s accepted, "
                f"{(last['events'] - first['events']) / elapsed:,.0f}/s applied, lag "
                f"{first['lag_ms']} to {last['lag_ms']} ms, {watch.most('lag_ms')} at most")
        # Applied, but not what was left from before: the lag may have shrunk meanwhile.
        applied = min(last["events"] - first["events"], accepted)
        row.ours = moonshot.ours = moonshot.value = applied / elapsed
        most = watch.most("lag_ms")
        row.note = (f"applied over {elapsed:.0f} s; lag {first['lag_ms']} ms at first, "
                    f"{last['lag_ms']} ms at last, {most} ms at most (allowed: {LAG_GROWTH_MS} ms "
                    f"more at last, never {LAG_MOST_MS}); {refused:,} refused; peak RSS "
                    f"{peak / 1e6:,.0f} MB; --lag-max {LAG_MAX}, not pinned")
        if last["lag_ms"] > first["lag_ms"] + LAG_GROWTH_MS or most > LAG_MOST_MS:
            row.broken = "the projector did not keep up"
        row.runs["lag"] = watch.samples

    def sustained_peer(self, row, two):
        work = mariadb.transactions(self.peer_seconds * mariadb.BATCHES_A_SECOND, BASE, USERS, ITEMS)
        runs = {}
        with mariadb.MariaDB() as server:
            for connections in (1, 2):
                runs[connections] = run = mariadb.run(server, work, connections, self.peer_seconds)
                rig.say(f"  mariadb, {connections} connections: {run['rate']:,.0f} likes/s for "
                        f"{run['seconds']:.0f} s; it used {run['server_cores']:.2f} cores, its client "
                        f"{run['client_cores']:.2f}")
        row.peer = runs[1]["rate"]
        two.peer = runs[2]["rate"]
        row.runs["peer"] = runs
        return " ".join(mariadb.SETTINGS)

    def sustained(self):
        row = self.row(what="sustained LIKE, projected", target=4, at_least=True, unit="x")
        two = self.row(what="  against two connections", target=4, at_least=True, unit="x",
                       informal=True)
        moonshot = self.row(what="  likes a second (moonshot 300k)", target=300000, at_least=True,
                            unit="likes/s", informal=True)

        def measure():
            told = self.sustained_peer(row, two)
            self.sustained_laud(row, moonshot)
            two.ours = row.ours
            row.value, two.value = row.ours / row.peer, two.ours / two.peer
            row.note += "; " + told

        self.attempt([row, two, moonshot], measure)

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
