"""What the measurements of the store have in common: servers with and without one, likes that may be
refused, and how far the projector is."""

import time

import area
import rig

BASE = 10**18                 # all ids have 19 digits, like Snowflakes
USERS = ITEMS = 10**6
IDS = ["--id-base", BASE, "--users", USERS, "--items", ITEMS]
LIKE = "LIKE {user} video:{item}"
CATCH_UP_SECONDS = 900


def millions(count):
    return f"{count / 1e6:g}M"


class StoreArea(area.Area):
    def __init__(self, options):
        super().__init__(options)
        self.seed = 0

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
        if lines.get("state", "ok") != "ok":
            raise rig.Failure(f"the projector does not go on: {lines['state']}")
        try:
            return {name: int(lines[name]) for name in ("events", "lag_events", "lag_ms")}
        except (KeyError, ValueError) as problem:
            raise rig.Failure(f"INFO's Projector section is not as expected: {problem}") from None

    def catch_up(self, server, behind=0):
        """Waits until all but `behind` events are in the store; how long that took."""
        begun = time.monotonic()
        while True:
            lag = self.projector(server)
            if lag["lag_events"] <= behind and (behind > 0 or lag["lag_ms"] == 0):
                return time.monotonic() - begun
            if time.monotonic() - begun > CATCH_UP_SECONDS:
                raise rig.Failure(f"the projector did not catch up within {CATCH_UP_SECONDS} s")
            time.sleep(0.05)

    def come_to_rest(self, server):
        """Waits until everything is in the store, the store has merged what it wanted to and the
        filters are moved, if they were to be."""
        self.catch_up(server)
        begun, still = time.monotonic(), 0
        while still < 2:    # between two moves there is a moment without one
            busy = (int(rig.info(server, "Store")["merges"]) > 0 or
                    int(rig.info(server, "Filter")["moving_bytes"]) > 0)
            still = 0 if busy else still + 1
            if time.monotonic() - begun > CATCH_UP_SECONDS:
                raise rig.Failure(f"the store was not at rest within {CATCH_UP_SECONDS} s")
            time.sleep(0.2)
