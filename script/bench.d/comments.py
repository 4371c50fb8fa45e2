"""Comments, in one run, against systems that keep comments as the notes of this project describe it.

Rows, for --only:
  post     COMMENT with 200 bytes of text, an OK is on disk: one in flight on each of 50 connections, and 16; against
           MariaDB with tables of subjects, index and contents, one transaction a post, also on 50 connections. All
           have the whole machine.
  page     page 1 by top: 20 roots with 3 replies, counters, the reader's and the owner's likes; against the same from
           Redis, where everything is cached and asked for in one round trip
  http     the same over HTTP as JSON, against the list of Waline, which does less; Waline and its MariaDB have the
           whole machine
  large    page 1 by top and by new of a subject with a million comments, against one with a thousand
  deep     pages ten thousand pages deep, by cursor, while votes come in, against first pages; both from the store
  votes    LIKE on comments of 1,000 subjects, half of them inside heads, while four orders are read, until everything
           is in the store; against LIKE on videos, also until everything is in the store
  videos   LIKE on videos at a pipeline of 64, against an older build (--against), in interleaved pairs
  friends  FEED of 20 with FRIENDS 3, as in script/bench friends
  memory   bytes of memory for a cached card beside its text, by RSS
The notes have the processor time that the servers used for a request. A measurement starts a fresh server; rounds are
interleaved, and the median of the rounds counts. --quick has a fiftieth of the data."""

import contextlib
import os
import subprocess
import sys
import tempfile
import time

import area
import comments_data as data
import friends
import mariadb
import mariadb_comments
import rig
import waline
from store_rig import IDS, LIKE

NAMES = ("post", "page", "http", "large", "deep", "votes", "videos", "friends", "memory")
SUBJECTS = 100000             # that posts are spread over
VOTES_A_SECOND = 2000         # while deep pages are read


class Comments(friends.Friends):
    name = "comments"

    def __init__(self, options):
        super().__init__(options)
        self.paged = 20 if options.quick else 200          # subjects whose pages are read
        self.scale = 50 if options.quick else 1

    @staticmethod
    def peer():
        return f"MariaDB {mariadb.version()}, redis {rig.redis_version()} and Waline"

    def drive_timed(self, server, *arguments):
        """A run by time or number, and the processor time of the server for a request."""
        before = server.cpu_seconds()
        run = self.drive(server, *arguments)
        run["server_us"] = (server.cpu_seconds() - before) / max(run["requests"], 1) * 1e6
        return run

    def compare(self, row, runs):
        super().compare(row, runs)
        if "server_us" in runs["laud"][0] and "server_us" in runs["peer"][0]:
            ours, theirs = (rig.median([run["server_us"] for run in runs[side]]) for side in ("laud", "peer"))
            row.note += f"; processor time of the server {ours:.1f} us a request, peer {theirs:.1f} us"

    def rounds_of(self, row, sides):
        """Interleaved rounds of functions that measure once; the row gets the ratio."""
        def measure():
            runs = {side: [] for side in sides}
            for _ in range(self.rounds):
                for side, once in sides.items():
                    runs[side].append(once())
                    rig.say(f"  {row.what}: {side} {runs[side][-1]['rate']:,.0f}/s")
            self.compare(row, runs)

        self.attempt([row], measure)

    # Posting

    def post_laud(self, pipeline):
        command = "COMMENT {user+%d} video:{item+%d} %s" % (data.BASE, data.BASE, data.TEXT)
        with self.laud(pin=False) as server:
            run = self.drive_timed(server, "--pipeline", pipeline, "--seconds", self.seconds, "--users", 10**6,
                                   "--items", SUBJECTS, "--", command)
            run["catch_up"] = self.catch_up(server)
        return run

    def post_mariadb(self):
        with mariadb_comments.Comments() as server:
            return server.post(50, self.seconds, SUBJECTS, data.TEXT_BYTES)

    def post(self):
        rows = {1: self.row(what="COMMENT, one in flight", target=4, at_least=True, unit="x"),
                16: self.row(what="COMMENT P=16", target=15, at_least=True, unit="x")}

        def measure():
            runs = {"peer": [], 1: [], 16: []}
            for _ in range(self.rounds):
                runs["peer"].append(self.post_mariadb())
                rig.say(f"  COMMENT: peer {runs['peer'][-1]['rate']:,.0f}/s")
                for pipeline in rows:
                    runs[pipeline].append(self.post_laud(pipeline))
                    rig.say(f"  COMMENT P={pipeline}: laud {runs[pipeline][-1]['rate']:,.0f}/s")
            for pipeline, row in rows.items():
                self.compare(row, {"peer": runs["peer"], "laud": runs[pipeline]})
                catch_up = rig.median([run["catch_up"] for run in runs[pipeline]])
                row.note += f"; the store has everything {catch_up:.1f} s later"

        self.attempt(list(rows.values()), measure)

    # First pages

    def page_ids(self):
        return ["--users", data.READERS, "--items", self.paged]

    def page_laud(self, http=False):
        with self.laud() as server:
            data.fill_laud(server, self.paged)
            self.come_to_rest(server)
            more = ["--http", "--port", server.http_port] if http else []
            return self.drive_timed(server, *more, "--seconds", self.seconds, *self.page_ids(), "--",
                                    data.http_page() if http else data.laud_page())

    def page_redis(self):
        with rig.redis("everysec") as server:
            data.fill_redis(server, self.paged)
            return self.drive_timed(server, "--seconds", self.seconds, *self.page_ids(), "--", data.redis_page())

    def page(self):
        row = self.row(what="page 1 by top, 20 x 3", target=4, at_least=True, unit="x")
        self.rounds_of(row, {"peer": self.page_redis, "laud": self.page_laud})

    def page_waline(self):
        waline.installed()
        with waline.Base() as base:
            base.make(self.paged, data.ROOTS, data.REPLIES, data.PLAIN)
            with waline.Waline(base) as server:
                path = server.path(0).replace("/p0", "/p{item}")
                return self.drive_timed(server, "--http", "--seconds", self.seconds, *self.page_ids(), "--",
                                        "GET " + path)

    def http(self):
        row = self.row(what="page 1 by top over HTTP", target=20, at_least=True, unit="x")
        self.rounds_of(row, {"peer": self.page_waline, "laud": lambda: self.page_laud(http=True)})

    # Large subjects

    def post_many(self, server, requests, item):
        """`item` may have placeholders."""
        self.drive(server, "--pipeline", 64, "--requests", requests, "--users", 10**6, "--",
                   "COMMENT {user+%d} video:%s %s" % (data.BASE, item, data.TEXT))

    @staticmethod
    def walk(client, item, order, pages, limit=50):
        """The cursors after each of so many pages, and the comments on them."""
        cursors, found, cursor = [], [], ""
        for _ in range(pages):
            page = data.pairs(client.call("COMMENTS", item, "BY", order, "REPLIES", 0, "LIMIT", limit,
                                          *(["CURSOR", cursor] if cursor else [])))
            cursor = page["cursor"]
            found += [data.pairs(card)["comment"] for card in page["comments"]]
            if not cursor:
                break
            cursors.append(cursor)
        return cursors, found

    def large(self):
        rows = {order: self.row(what=f"page 1 by {order}, {10**6 // self.scale:,} comments against 1,000", target=0.8, at_least=True, unit="x")
                for order in ("top", "new")}
        items = {"laud": f"video:{data.BASE + 1}", "peer": f"video:{data.BASE + 2}"}

        def measure():
            with self.laud() as server:
                self.post_many(server, 10**6 // self.scale, data.BASE + 1)
                self.post_many(server, 1000, data.BASE + 2)
                self.catch_up(server)
                with data.Client(server) as client:
                    for item in items.values():
                        _, found = self.walk(client, item, "new", 10)
                        client.all([("LIKE", data.BASE + user, comment) for number, comment in enumerate(found)
                                    for user in range(number % 7)])
                self.come_to_rest(server)
                for order, row in rows.items():
                    runs = {side: [] for side in items}
                    for _ in range(self.close_rounds):
                        for side, item in items.items():
                            runs[side].append(self.drive_timed(
                                server, "--seconds", 1, "--users", data.READERS, "--",
                                "COMMENTS %s BY %s FOR {user+%d}" % (item, order, data.BASE)))
                    self.compare(row, runs)

        self.attempt(list(rows.values()), measure)

    @contextlib.contextmanager
    def lines(self, lines):
        """A file of these lines, those of the usual length, for `laud bench`."""
        lengths = [len(line) for line in lines]
        usual = max(set(lengths), key=lengths.count)
        with tempfile.NamedTemporaryFile("w", prefix="laud-bench-") as file:
            file.write("".join(line + "\n" for line in lines if len(line) == usual))
            file.flush()
            yield ["--lines", file.name]

    @contextlib.contextmanager
    def beside(self, server, *arguments):
        """A load that goes on meanwhile; it must not end by itself."""
        argv = [self.options.laud, "bench", "--port", str(server.port), "--quiet", "--json", "--allow-errors",
                "--seconds", str(rig.LOAD_SECONDS), *map(str, arguments)]
        load = subprocess.Popen(rig.pinned(argv, 1), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)
        try:
            yield
            if load.poll() is not None:
                raise rig.Failure("the load beside the measured one has ended early")
        finally:
            load.kill()
            load.wait()

    def deep(self):
        pages = 10**4 // self.scale
        row = self.row(what=f"pages {pages:,} deep with votes, against first pages", target=0.7, at_least=True, unit="x")
        first_pages = 20000 // self.scale
        deep_item = f"video:{data.BASE - 1}"

        def measure():
            with self.laud() as server:
                self.post_many(server, (pages + first_pages) * data.PAGE, data.BASE - 1)
                self.post_many(server, first_pages * (data.PAGE + 5), "{seq%%%d+%d}" % (first_pages, data.BASE))
                self.come_to_rest(server)
                with data.Client(server) as client:
                    cursors, found = self.walk(client, deep_item, "top", pages + first_pages, data.PAGE)
                runs = {"peer": [], "laud": []}
                with self.lines(cursors[pages:]) as deep, self.lines(found[:10000]) as voted:
                    for _ in range(self.rounds):
                        runs["peer"].append(self.read_first(server, first_pages))
                        runs["laud"].append(self.read_deep(server, deep_item, deep, voted, first_pages))
                        rig.say("  deep pages: " + ", ".join(f"{side} {runs[side][-1]['rate']:,.0f}/s" for side in runs))
                self.compare(row, runs)

        self.attempt([row], measure)

    def restart(self, server):
        """Nothing is in memory afterwards."""
        self.come_to_rest(server)
        server.stop()
        server.start()

    def read_first(self, server, requests):
        self.restart(server)
        return self.drive_timed(server, "--requests", requests, "--",
                                "COMMENTS video:{seq+%d} BY top REPLIES 0 LIMIT %d" % (data.BASE, data.PAGE))

    def read_deep(self, server, item, deep, voted, requests):
        self.restart(server)
        with self.beside(server, "--rate", VOTES_A_SECOND, "--connections", 4, *voted, "--", "LIKE {user} {line}"):
            return self.drive_timed(server, "--requests", requests, *deep, "--",
                                    f"COMMENTS {item} BY top REPLIES 0 LIMIT {data.PAGE} CURSOR {{line}}")

    # Votes

    def likes_until_stored(self, server, requests, *arguments):
        begun = time.monotonic()
        run = self.drive_timed(server, "--pipeline", 64, "--requests", requests, "--users", 10**6, *arguments)
        self.catch_up(server)
        run["rate"] = requests / (time.monotonic() - begun)
        return run

    def votes_on_comments(self, subjects, roots, requests):
        with self.laud() as server:
            self.post_many(server, subjects * roots, "{seq%%%d+%d}" % (subjects, data.BASE))
            self.come_to_rest(server)
            with data.Client(server) as client:
                found = []
                for subject in range(subjects):
                    found += self.walk(client, f"video:{data.BASE + subject}", "old", roots // 50 + 1)[1]
            reads = [word for order in ("top", "best", "hot", "controversial") for word in (
                "--mix", "1:COMMENTS video:{item+%d} BY %s REPLIES 0" % (data.BASE, order))]
            with self.lines(found) as lines, self.beside(server, "--rate", 400, "--connections", 4, "--items", subjects,
                                                         *reads):
                return self.likes_until_stored(server, requests, *lines, "--", "LIKE {user+%d} {line}" % data.BASE)

    def votes(self):
        row = self.row(what="LIKE on comments until stored, against videos", target=0.6, at_least=True, unit="x")
        subjects, roots = 1000 // self.scale, 512
        requests = 2 * 10**6 // self.scale

        def videos():
            with self.laud() as server:
                return self.likes_until_stored(server, requests, "--items", subjects * roots, "--",
                                               "LIKE {user+%d} video:{item+%d}" % (data.BASE, data.BASE))

        self.rounds_of(row, {"peer": videos, "laud": lambda: self.votes_on_comments(subjects, roots, requests)})

    def videos(self):
        row = self.row(what="LIKE P=64 on videos, against an older build", target=0.95, at_least=True, unit="x")
        if self.options.against is None:
            row.problem = "--against did not name the older build"
            return

        def once(binary):
            with rig.laud(binary) as server:
                return self.drive_timed(server, "--pipeline", 64, "--warmup", 0.5, "--seconds", self.seconds, *IDS, "--",
                                        LIKE)

        def measure():
            runs = {"peer": [], "laud": []}
            for turn in range(self.close_rounds):
                for side in (("peer", "laud") if turn % 2 == 0 else ("laud", "peer")):
                    runs[side].append(once(self.options.laud if side == "laud" else self.options.against))
                    rig.say(f"  LIKE P=64: {side} {runs[side][-1]['rate']:,.0f}/s")
            self.compare(row, runs)

        self.attempt([row], measure)

    def friends(self):
        self.feed()

    # Memory

    def memory(self):
        comments = 10**6 // self.scale
        subjects = comments // 50
        row = self.row(what="memory of a cached card", target=160, at_least=False, unit="bytes")

        def measure():
            with self.laud("--max-memory", "8G", "--block-cache", "2M") as server:
                self.post_many(server, comments, "{seq%%%d+%d}" % (subjects, data.BASE))
                self.restart(server)
                before = server.rss_bytes()
                self.drive(server, "--pipeline", 4, "--requests", subjects, "--",
                           "COMMENTS video:{seq+%d} BY old REPLIES 0 LIMIT 50" % data.BASE)
                after = server.rss_bytes()
            row.value = row.ours = (after - before) / comments - data.TEXT_BYTES
            row.note = (f"RSS {before / 1e6:.1f} to {after / 1e6:.1f} MB with {comments:,} cards of "
                        f"{data.TEXT_BYTES} bytes of text, {subjects:,} heads included")

        self.attempt([row], measure)

    def run(self):
        for name in NAMES:
            if not self.options.only or name in self.options.only:
                getattr(self, name)()


def main():
    parser = area.parser("comments", __doc__)
    parser.add_argument("--quick", action="store_true", help="one short round of small sizes")
    parser.add_argument("--only", type=area.chosen_from(NAMES), metavar="NAME,NAME", help="only these rows")
    parser.add_argument("--against", metavar="PROGRAM", help="the older build of the row `videos`")
    options = parser.parse_args()
    options.set = []
    if options.against is not None:
        options.against = os.path.abspath(options.against)
    return area.main(Comments, options)


if __name__ == "__main__":
    sys.exit(main())
