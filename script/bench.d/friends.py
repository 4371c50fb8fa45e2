"""Feeds with friends against Redis 7, in one run.

Rows, for --only:
  feed     FEED of 20 with FRIENDS 3 for a user with 500 followees, against 20 x 500 pipelined SISMEMBER and
           20 HMGET
Redis has the likers of each item in a set, and its client knows whom the user follows; which friends are the
newest is not asked. A request of the load generator has 500 SISMEMBER and one HMGET, for one item; twenty of
them are a page.
Servers are pinned and keep everything on disk: Laud with its store, Redis with an append-only file. Rounds are
interleaved, and the median of the rounds counts."""

import sys

import area
import rig
from store_rig import BASE, StoreArea

NAMES = ("feed",)

FOLLOWERS = 200
FOLLOWEES = 500
PEOPLE = 50021                # prime; who can be followed
LIKED_ITEMS = 1009            # prime; what they like
LIKES_OF_A_FOLLOWEE = 20
COUNTERS = ("view", "share", "save")
PAGE = 20
NAMED = 3


def number(expression):
    return "{seq%s+%d}" % (expression, BASE)


class Friends(StoreArea):
    name = "friends"

    @staticmethod
    def peer():
        return f"redis {rig.redis_version()}"

    def fill(self, server, lua):
        """Users 0 ... FOLLOWERS - 1 follow FOLLOWEES each; everybody who can be followed likes some."""
        def send(requests, command):
            self.drive(server, "--pipeline", 64, "--requests", requests, "--", command)

        if not lua:
            send(FOLLOWERS * FOLLOWEES,
                 f"REACT {number(f'%{FOLLOWERS}')} follow user:{number(f'*7919%{PEOPLE}')}")
        person, item = number(f"%{PEOPLE}"), number(f"*7919%{LIKED_ITEMS}")
        send(PEOPLE * LIKES_OF_A_FOLLOWEE,
             f"SADD likers:{item} {person}" if lua else f"LIKE {person} video:{item}")
        every = number("")
        send(LIKED_ITEMS, " ; ".join(f"HINCRBY counts:{every} {name} 7" if lua
                                     else f"ADD video:{every} {name} 7" for name in COUNTERS))
        if not lua:
            self.come_to_rest(server)

    def measure(self, side):
        """The pages a second of one side."""
        ids = ["--id-base", BASE, "--users", PEOPLE, "--items", LIKED_ITEMS]
        lua = side == "peer"
        counters = "counts:{item.1} like " + " ".join(COUNTERS)
        command = (f"{{{FOLLOWEES}*SISMEMBER likers:{{item.1}} {{user}} ;}} HMGET {counters}" if lua else
                   "FEED {user%%%d+%d} {%d*video:{item} }FRIENDS %d" % (FOLLOWERS, BASE, PAGE, NAMED))
        with rig.redis("everysec") if lua else self.laud() as server:
            self.fill(server, lua)
            run = self.drive(server, "--pipeline", 1, "--warmup", 0.5, "--seconds", self.seconds, *ids,
                             "--", command)
        if lua:
            run["rate"] /= PAGE
        rig.say(f"  FEED of {PAGE} with FRIENDS {NAMED}: {side} {run['rate']:,.0f} pages/s")
        return run

    def feed(self):
        row = self.row(what=f"FEED of {PAGE} with FRIENDS {NAMED}, {FOLLOWEES} followees", target=15,
                       at_least=True, unit="x")

        def measure():
            runs = {"peer": [], "laud": []}
            for _ in range(self.rounds):
                for side, taken in runs.items():
                    taken.append(self.measure(side))
            self.compare(row, runs)
            row.note += " (of one item)"

        self.attempt([row], measure)

    def run(self):
        for name in NAMES:
            if not self.options.only or name in self.options.only:
                getattr(self, name)()


def main():
    parser = area.parser("friends", __doc__)
    parser.add_argument("--quick", action="store_true", help="one short round")
    parser.add_argument("--only", type=area.chosen_from(NAMES), metavar="NAME,NAME",
                        help="only these rows")
    options = parser.parse_args()
    options.set = []
    return area.main(Friends, options)


if __name__ == "__main__":
    sys.exit(main())
