"""Lists, boards and friends against Redis 7, in one run.

Rows, for --only:
  likes    the newest 20 likes of a hot user, against ZREVRANGE of 20
  top      TOP 100, against ZREVRANGE 0 99 WITHSCORES
  boards   LIKE flat out with boards and windows on, against off
  friends  FRIENDS with 1,000 followees, against 1,000 pipelined SISMEMBER
  import   likes a second from a file of JSON lines into an empty directory; the whole machine
Servers are pinned and keep what they are told on disk: Laud with its store, Redis with an append-only
file. Rounds are interleaved, and the median of the rounds counts."""

import os
import sys
import tempfile
import time

import area
import rig
from store_rig import BASE, LIKE, StoreArea

NAMES = ("likes", "top", "boards", "friends", "import")

USERS = 10000
ITEMS = 100003                # prime, so that {seq*7919%...} never repeats an item for a user
LIKES_A_USER = 100
BOARD_ITEMS = 200000
FOLLOWERS = 200
FOLLOWEES = 1000
PEOPLE = 50021                # prime; who can be followed
LIKED_ITEMS = 1009            # prime; what they like
LIKES_OF_A_FOLLOWEE = 20
IMPORTED = 5 * 10**6

USER = "{user}"
PAGE = 20


def number(expression):
    return "{seq%s+%d}" % (expression, BASE)


class Lists(StoreArea):
    name = "lists"

    @staticmethod
    def peer():
        return f"redis {rig.redis_version()}"

    def fill(self, server, requests, command):
        self.drive(server, "--pipeline", 64, "--requests", requests, "--", command)

    def ready(self, server, lua):
        """Everything told has come to rest: what follows is read from memory that is warm."""
        if not lua:
            self.come_to_rest(server)

    def versus(self, what, target, depths, fill, commands, *ids):
        """The same data on both sides, then the two commands at each depth."""
        rows = {depth: self.row(what=f"{what}, P={depth}", target=target, at_least=True, unit="x")
                for depth in depths}

        def measure():
            runs = {depth: {"peer": [], "laud": []} for depth in depths}
            for _ in range(self.rounds):
                for side in ("peer", "laud"):
                    lua = side == "peer"
                    with rig.redis("everysec") if lua else self.laud() as server:
                        fill(server, lua)
                        self.ready(server, lua)
                        for depth in depths:
                            run = self.drive(server, "--pipeline", depth, "--warmup", 0.5, "--seconds",
                                             self.seconds, *ids, "--", commands[side])
                            runs[depth][side].append(run)
                            rig.say(f"  {what}, P={depth}: {side} {run['rate']:,.0f}/s")
            for depth in depths:
                self.compare(rows[depth], runs[depth])

        self.attempt(list(rows.values()), measure)

    # The likes of a user

    def fill_likes(self, server, lua):
        user, item = number(f"%{USERS}"), number(f"*7919%{ITEMS}")
        self.fill(server, USERS * LIKES_A_USER,
                  f"ZADD user:likes:{user} {{seq+1700000000}} {item}" if lua
                  else f"LIKE {user} video:{item}")

    def likes(self):
        self.versus("LIKES, first 20 of a hot user", 1, (1, 16), self.fill_likes,
                    {"peer": f"ZREVRANGE user:likes:{USER} 0 {PAGE - 1}",
                     "laud": f"LIKES {USER} video LIMIT {PAGE}"},
                    "--id-base", BASE, "--users", USERS)

    # A board

    def fill_board(self, server, lua):
        item, amount = number(""), "{rand:1-1000000}"
        self.fill(server, BOARD_ITEMS, f"ZADD top:view {amount} {item}" if lua
                  else f"ADD video:{item} view {amount}")

    def top(self):
        self.versus("TOP 100", 1, (1, 16), self.fill_board,
                    {"peer": "ZREVRANGE top:view 0 99 WITHSCORES",
                     "laud": "TOP video view LIMIT 100"})

    # What boards cost a like

    def boards(self):
        rows = {depth: self.row(what=f"LIKE P={depth} with boards and windows, against without",
                                target=0.85, at_least=True, unit="x") for depth in (16, 64)}

        def measure():
            for depth, row in rows.items():
                runs = {"peer": [], "laud": []}
                for _ in range(self.rounds):
                    for side, switch in (("peer", "no"), ("laud", "yes")):
                        with self.laud("--boards", switch, "--trends", switch) as server:
                            run = self.drive_accepted(
                                server, "--pipeline", depth, "--warmup", 0.5, "--seconds",
                                self.seconds, "--id-base", BASE, "--users", 10**6, "--items", 10**6,
                                "--", LIKE)
                        run["rate"] = run["accepted"]
                        runs[side].append(run)
                        rig.say(f"  LIKE P={depth}, boards {switch}: {run['rate']:,.0f}/s")
                self.compare(row, runs)

        self.attempt(list(rows.values()), measure)

    # Friends

    def fill_friends(self, server, lua):
        """Users 0 ... FOLLOWERS - 1 follow FOLLOWEES each; everybody who can be followed likes some."""
        if not lua:
            self.fill(server, FOLLOWERS * FOLLOWEES,
                      f"REACT {number(f'%{FOLLOWERS}')} follow user:{number(f'*7919%{PEOPLE}')}")
        person, item = number(f"%{PEOPLE}"), number(f"*7919%{LIKED_ITEMS}")
        self.fill(server, PEOPLE * LIKES_OF_A_FOLLOWEE,
                  f"SADD likers:{item} {person}" if lua else f"LIKE {person} video:{item}")

    def friends(self):
        member = "SISMEMBER likers:{item.1} {user}"
        self.versus(f"FRIENDS, {FOLLOWEES:,} followees", 5, (1,), self.fill_friends,
                    {"peer": f"{{{FOLLOWEES - 1}*{member} ;}} {member}",
                     "laud": "FRIENDS {user%%%d+%d} video:{item}" % (FOLLOWERS, BASE)},
                    "--id-base", BASE, "--users", PEOPLE, "--items", LIKED_ITEMS)

    # Moving in

    def write_likes(self, path, count):
        """`count` likes, none twice: 20 a user, all over the users and items."""
        users = count // LIKES_OF_A_FOLLOWEE
        with open(path, "w") as file:
            for seq in range(count):
                file.write('{"user":"%d","kind":"like","item":"video:%d","time":%d}\n' % (
                    BASE + seq * 7919 % users, BASE + seq * 15485863 % 1000003,
                    1700000000 + seq // 1000))

    def import_once(self, path, count):
        with tempfile.TemporaryDirectory(prefix="laud-bench-") as directory:
            data = os.path.join(directory, "data")
            os.sync()
            begun = time.monotonic()
            rig.run_load([self.options.laud, "import", data, path], pin=False)
            seconds = time.monotonic() - begun
            rig.say(f"  import: {count:,} likes in {seconds:.1f} s, {count / seconds:,.0f}/s")
            return count / seconds

    def moving(self):
        count = IMPORTED // 10 if self.options.quick else IMPORTED
        row = self.row(what=f"import of {count / 1e6:g}M likes", target=500000, at_least=True,
                       unit="likes/s")

        def measure():
            with tempfile.TemporaryDirectory(prefix="laud-bench-") as directory:
                path = os.path.join(directory, "likes.jsonl")
                self.write_likes(path, count)
                rates = [self.import_once(path, count) for _ in range(self.rounds)]
            row.value = row.ours = rig.median(rates)
            row.note = "JSON lines, from starting the program to its end, all in the store"

        self.attempt([row], measure)

    def run(self):
        for name in NAMES:
            if not self.options.only or name in self.options.only:
                (self.moving if name == "import" else getattr(self, name))()


def main():
    parser = area.parser("lists", __doc__)
    parser.add_argument("--quick", action="store_true", help="one short round")
    parser.add_argument("--only", type=area.chosen_from(NAMES), metavar="NAME,NAME",
                        help="only these rows")
    options = parser.parse_args()
    options.set = []
    return area.main(Lists, options)


if __name__ == "__main__":
    sys.exit(main())
