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

import sys

import area
import mariadb
from store_disk import Disk
from store_flow import Flow

NAMES = ("sustained", "burst", "hot", "start", "cold", "disk")


class Store(Flow, Disk):
    name = "store"

    @staticmethod
    def peer():
        return f"MariaDB {mariadb.version()}"

    def run(self):
        with self.stack:
            for name in NAMES:
                if not self.options.only or name in self.options.only:
                    getattr(self, name)()


def setting(text):
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise ValueError(text)
    return name, value


def main():
    parser = area.parser("store", __doc__)
    parser.add_argument("--quick", action="store_true", help="one short round of small sizes")
    parser.add_argument("--full", action="store_true", help="100 million relations instead of 20")
    parser.add_argument("--only", type=area.chosen_from(NAMES), metavar="NAME,NAME",
                        help="only these rows")
    parser.add_argument("--set", type=setting, action="append", default=[], metavar="NAME=VALUE",
                        help="an option for every server with a store, as in window-ms=1000; may be "
                        "repeated")
    return area.main(Store, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
