"""The world of one schedule: the partitions, the databases, the clock, and the calls between roles and engines."""
import random

import item_side
import user_side
from engines import LOST, TRYAGAIN, Database, Redis
from invariants import History, check_trim

USER_PARTITIONS = 2
ITEM_PARTITIONS = 2
USERS = 4               # user u belongs to partition u mod 2
ITEMS = 4               # item i belongs to partition i mod 2
LATEST = 1200           # a call that its caller gave up runs at most so many steps later


class World:
    """Everything that a role may touch. One step of the schedule is one tick of `now`."""

    def __init__(self, seed, faults, rules):
        chance = random.Random(seed)
        self.random, self.chance, self.faults, self.rules = chance.random, chance, faults, rules
        self.now, self.calm, self.check_trim = 0, False, check_trim
        self.next_late = 0                  # when the first of the late calls is due
        self.late, self.late_rate = [], 0.01 if "late" in faults else 0
        self.pauses = "stall" in faults
        # A stale trim is most dangerous where a restore and a restart meet; p can restart again and again.
        self.many_restarts = "p-restore-older-file" in faults
        self.trim_pause = 0.5 if self.many_restarts else 0.1
        self.lose_replies = "unknown" in faults
        self.history = History(USERS, ITEMS, USER_PARTITIONS)
        replicas = 2 if "two-replicas" in faults else 1
        closed = self.random() < 0.5        # a filter that knows nothing yet, or one that is open
        none = (0, 0, 0)
        self.user_nodes = [self.node(user_side.new(0, (0, 0), (none,) * ITEM_PARTITIONS,
                                                   frozenset() if closed else None, 0, (0,) * ITEM_PARTITIONS), replicas)
                           for _ in range(USER_PARTITIONS)]
        self.item_nodes = [self.node(item_side.new(0, (0, 0), (none,) * USER_PARTITIONS, {}, 0, -1), replicas)
                           for _ in range(ITEM_PARTITIONS)]
        self.user_dbs = [Database(user_side.new_rows(ITEM_PARTITIONS)) for _ in range(USER_PARTITIONS)]
        self.item_dbs = [Database(item_side.new_rows(USER_PARTITIONS)) for _ in range(ITEM_PARTITIONS)]
        self.restoring = {}                 # (side, partition): the backup, once its stream is pinned; before, None
        self.pinned = {}                    # the same from the moment when the pin is certain, until it is restored
        self.older_file = set()             # partitions that restarted from an older file and did not recover yet
        self.injected, self.rebuilt = {}, 0

    def node(self, keys, replicas):
        return Redis(self.rules, self.random, keys, replicas)

    def below(self, bound):
        """A random integer from 0 to bound - 1."""
        return int(self.random() * bound)

    def salt(self):
        return self.chance.getrandbits(30)

    def pause(self, rate=0.1):
        """A stall where stale knowledge is dangerous: between what a role has read and the write that relies on it."""
        if self.pauses and not self.calm and self.random() < rate:
            for _ in range(self.below(40)):
                yield

    def positions_needed(self, st):
        """What the stream of these keys must hold: the stored position, and that of a backup that is being restored.

        Only checks use this.
        """
        for side, nodes, dbs in (("p", self.user_nodes, self.user_dbs), ("q", self.item_nodes, self.item_dbs)):
            for index, node in enumerate(nodes):
                if node.keys is st:
                    saved = self.pinned.get((side, index))
                    return [rows["pos"] for rows in (dbs[index].data, saved) if rows]
        return []

    def read(self, node, declared, script, *args):
        """A call that changes nothing. Returns None if Redis refuses it."""
        if node.moved is not None and node.splits(declared):
            return None
        return script(self, node.keys, *args)

    def call(self, node, declared, script, *args):
        """A script at a Redis primary. It may run after its caller has given it up."""
        if node.moved is not None and node.splits(declared):
            return TRYAGAIN
        if self.late_rate and self.random() < self.late_rate:
            self.postpone(node, declared, script, args)
            return LOST
        return script(self, node.keys, *args)

    def query(self, database, statement, *args):
        """A read of MySQL, on its primary, as one snapshot. Returns None if the database is away."""
        return statement(self, database.data, *args) if database.up else None

    def transact(self, database, statement, *args):
        """A transaction of MySQL. It may commit after its caller has given it up."""
        if not database.up:
            return LOST
        if self.late_rate and self.random() < self.late_rate:
            self.postpone(database, (), statement, args)
            return LOST
        return statement(self, database.data, *args)

    def postpone(self, engine, declared, script, args):
        if self.random() < 0.8:             # otherwise the call never reaches the engine
            due = self.now + 1 + self.below(LATEST)
            self.next_late = min(due, self.next_late) if self.late else due
            self.late.append((due, engine, engine.epoch, declared, script, args))

    def run_late_calls(self):
        """Runs the abandoned calls that are due, each on the connection on which it was sent, if that still exists."""
        due = [call for call in self.late if call[0] <= self.now]
        self.late = [call for call in self.late if call[0] > self.now]
        self.next_late = min((call[0] for call in self.late), default=0)
        for _, engine, epoch, declared, script, args in due:
            if engine.epoch != epoch:
                continue
            if isinstance(engine, Database):
                if engine.up:
                    script(self, engine.data, *args)
            elif engine.moved is None or not engine.splits(declared):
                script(self, engine.keys, *args)
