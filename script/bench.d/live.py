"""What open live streams cost a like: the rate of LIKE with ten thousand of them on the items that are
liked, against the rate with none. One server, pinned to a core of its own; rounds are interleaved, and
the median counts. The streams are read on the other core, where the load is too, at lowest priority."""

import contextlib
import os
import subprocess
import sys

import area
import rig

STREAMS = 10000
ITEMS = 16
BASE = 10**18
LIKE = "LIKE {user} video:{item}"
CROWD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "live_crowd.py")


@contextlib.contextmanager
def crowd(server, count=STREAMS):
    """So many streams are open within; each on one of the items that LIKE is for."""
    items = ",".join(f"video:{BASE + number}" for number in range(ITEMS))
    argv = rig.pinned([sys.executable, CROWD, rig.info(server, "Server")["http_port"], str(count), items], 1)
    process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        if process.stdout.readline() != "open\n":
            raise rig.Failure("the streams could not be opened")
        yield
        if process.poll() is not None:
            raise rig.Failure("the streams ended too early")
    finally:
        process.stdin.close()
        process.stdout.close()
        process.wait()


def measure(area_, row, depth):
    """Fills the row: likes a second with streams, and without; can be called by any area."""
    runs = {"peer": [], "laud": []}
    with rig.laud(area_.options.laud, "--durability", "interval", "--live-streams", STREAMS) as server:
        for number in range(area_.close_rounds):
            for side in ("peer", "laud"):
                with crowd(server) if side == "laud" else contextlib.nullcontext():
                    before = int(rig.info(server, "Live")["events"])
                    run = area_.drive(server, "--pipeline", depth, "--warmup", 0.5, "--seconds",
                                      area_.seconds, "--id-base", BASE, "--users", 10**6, "--items",
                                      ITEMS, "--seed", 2 * number + (side == "laud"), "--", LIKE)
                    events = int(rig.info(server, "Live")["events"]) - before
                runs[side].append(run)
                rig.say(f"  LIKE P={depth}, {'10,000' if side == 'laud' else 'no'} streams: "
                        f"{run['rate']:,.0f}/s, {events} events")
    area_.compare(row, runs)


class Live(area.Area):
    name = "live"

    @staticmethod
    def peer():
        return "itself without streams"

    def run(self):
        for depth in (1, 16):
            row = self.row(what=f"LIKE P={depth} with {STREAMS:,} live streams, against none",
                           target=0.95, at_least=True, unit="x")
            self.attempt([row], lambda row=row, depth=depth: measure(self, row, depth))


def main():
    parser = area.parser("live", __doc__)
    parser.add_argument("--quick", action="store_true", help="one short round of everything")
    return area.main(Live, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
