"""HTTP against nginx and Redis 7, and what the limits cost, in one run.

Rows, for --rows:
  counts    GET of an item's counters, against nginx answering a static file of the same size
  interval  PUT of a like with --durability interval, against nginx likewise
  commit    the same with --durability commit
  feed      POST of a feed's page of 20 items, against the page as 20 HMGET + ZMSCORE on Redis
  limits    RESP LIKE at a pipeline of 16 with limits by address, user and device, against without
  hotkeys   RESP LIKE likewise, with hot keys looked for, against without
Over HTTP there is one request in flight on each of 50 connections, which are kept. One client,
`laud bench`, loads all sides. A measurement starts a fresh server; rounds are interleaved and the
median of the rounds counts. The notes say how busy the two cores were: where the client is and the
server is not, the ratio is nearer to 1 than the servers are. Laud runs without its store (--store
none)."""

import signal
import sys
import tempfile
import time

import area
import hot
import nginx
import rig

WHO = hot.BASE
COUNTS = "/v1/items/video:{item}/counts"
LIKE = "/v1/items/video:{item}/reactions/like/{user}"
PAGE = '{"user":"{user}","items":[{19*"video:{item}",} "video:{item}"]}'
FEED_IDS = ["--id-base", hot.BASE, "--users", hot.FEED_USERS, "--items", hot.FEED_ITEMS]

# Past what one core does, so that all are asked and none refuses.
LIMITS = "".join(f"limit-{who}-{what} = 10000000/10000000\n" for who in ("ip", "user", "device")
                 for what in ("read", "write"))


class Http(hot.Hot):
    name = "http"

    @staticmethod
    def peer():
        return f"nginx {nginx.version()} and redis {rig.redis_version()}"

    def run_for(self, server, *arguments):
        """A run by time, and how busy the two sides were meanwhile."""
        begun, served, driven = time.monotonic(), server.cpu_seconds(), rig.children_seconds()
        run = self.drive(server, "--warmup", 0.5, "--seconds", self.seconds, *arguments)
        elapsed = time.monotonic() - begun
        run["server_busy"] = (server.cpu_seconds() - served) / elapsed
        run["client_busy"] = (rig.children_seconds() - driven) / elapsed
        run["server_us"] = run["server_busy"] / run["rate"] * 1e6
        return run

    def run_http(self, server, ids, request):
        return self.run_for(server, "--http", "--port", server.http_port, *ids, "--", request)

    def compare(self, row, runs):
        super().compare(row, runs)
        for side in ("laud", "peer"):
            server, client, each_us = (rig.median([run[what] for run in runs[side]])
                                       for what in ("server_busy", "client_busy", "server_us"))
            row.note += (f"; with {side} the server's core is {server:.0%} busy, {each_us:.1f} us a "
                         f"request, the client's {client:.0%}")

    def interleave(self, row, sides, rounds=None):
        """`sides` are functions that measure once, by name, in the order they run."""
        def measure():
            runs = {side: [] for side in sides}
            for _ in range(rounds or self.rounds):
                for side, once in sides.items():
                    runs[side].append(once())
                    rig.say(f"  {row.what}: {side} {runs[side][-1]['rate']:,.0f}/s")
            self.compare(row, runs)

        self.attempt([row], measure)

    # Against a static file

    def versus_file(self, what, target, options, fill, method, path, ids):
        """A path with its placeholders; the file is what Laud answers for the first ids there are."""
        row = self.row(what=what, target=target, at_least=True, unit="x")
        one = path.replace("{item}", str(WHO)).replace("{user}", str(WHO))
        answer = b""

        def ours():
            nonlocal answer
            with self.laud(*options) as server:
                fill(server)
                answer = rig.http(server, method, one)
                return self.run_http(server, ids, f"{method} {path}")

        def theirs():
            with nginx.Nginx(one, answer) as server:
                return self.run_http(server, ids, f"GET {one}")

        self.interleave(row, {"laud": ours, "peer": theirs})

    def counts(self):
        self.versus_file("GET counts, against a file", 0.8, [],
                         lambda server: self.feed_fill(server, False), "GET", COUNTS, FEED_IDS)

    def likes_put(self, durability, target):
        self.versus_file(f"PUT like, {durability}, against a file", target,
                         ["--durability", durability], lambda server: None, "PUT", LIKE, hot.IDS)

    def interval(self):
        self.likes_put("interval", 0.7)

    def commit(self):
        self.likes_put("commit", 0.4)

    # Against Redis

    def feed(self):
        row = self.row(what="POST feed, 20 items x 4", target=2, at_least=True, unit="x")

        def ours():
            with self.laud() as server:
                self.feed_fill(server, False)
                return self.run_http(server, FEED_IDS, "POST /v1/feed " + PAGE)

        def theirs():
            with rig.redis("everysec") as server:
                self.feed_fill(server, True)
                return self.run_for(server, *FEED_IDS, "--", self.feed_page(True))

        self.interleave(row, {"peer": theirs, "laud": ours})

    # What limits and looking for hot keys cost

    def run_likes(self, server):
        return self.run_for(server, "--pipeline", 16, "--prelude", "DEVICE bench-{seq}", *hot.IDS,
                            "--", "LIKE {user} video:{item}")

    def limits(self):
        """One server, that reads its limits anew in between."""
        row = self.row(what="LIKE P=16 with limits, against without", target=0.9, at_least=True,
                       unit="x")

        def once(server, path, limits):
            with open(path, "w", encoding="ascii") as file:
                file.write(limits)
            server.process.send_signal(signal.SIGHUP)
            while (rig.info(server, "Limits")["state"] == "on") != bool(limits):
                time.sleep(0.01)
            before = int(rig.info(server, "Limits")["checked"])
            run = self.run_likes(server)
            checked = int(rig.info(server, "Limits")["checked"]) - before
            if (checked >= run["requests"]) != bool(limits):
                raise rig.Failure(f"{checked:,} of {run['requests']:,} likes were held to limits")
            return run

        with tempfile.NamedTemporaryFile() as file, self.laud("--config", file.name) as server:
            self.interleave(row, {"peer": lambda: once(server, file.name, ""),
                                  "laud": lambda: once(server, file.name, LIMITS)},
                            self.close_rounds)

    def hotkeys(self):
        row = self.row(what="LIKE P=16 with hot keys, against without", target=0.98, at_least=True,
                       unit="x")

        def once(choice):
            with self.laud("--hotkeys", choice) as server:
                return self.run_likes(server)

        self.interleave(row, {"peer": lambda: once("no"), "laud": lambda: once("yes")},
                        self.close_rounds)

    def run(self):
        for name in NAMES:  # each a method
            if not self.options.rows or name in self.options.rows:
                getattr(self, name)()


NAMES = ("counts", "interval", "commit", "feed", "limits", "hotkeys")


def main():
    parser = area.parser("http", __doc__)
    parser.add_argument("--quick", action="store_true", help="one short round")
    parser.add_argument("--rows", type=area.chosen_from(NAMES), metavar="NAME,NAME",
                        help="only these rows")
    return area.main(Http, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
