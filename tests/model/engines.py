"""The engines: a Redis primary with its replicas and its append-only file, and a MySQL database.

Every value in `Redis.keys` and in `Database.data` is treated as immutable: a write assigns a new value and never
changes the old one. Therefore a shallow copy of the dictionary is a complete snapshot, and replicas, append-only
files and backups are cheap.
"""

TRYAGAIN = "TRYAGAIN"   # Redis refused the script before it ran, because a slot is being migrated
LOST = "LOST"           # the caller has no reply; the call ran, or runs later, or never runs
BUSY = "BUSY"           # the script ran and refused without changing anything

# The fields of the hash `m` of a partition. A slot migration transfers them together, as one key.
META = frozenset(("gen", "open", "K", "clock", "mark", "trims", "frm", "number", "numbers", "opened"))


def put(mapping, key, value):
    """A copy of the mapping with one more entry."""
    return {**mapping, key: value}


def drop(mapping, key):
    """A copy of the mapping without this key."""
    return {k: v for k, v in mapping.items() if k != key}


def put_at(values, index, value):
    """A copy of the tuple with another value at this index."""
    return values[:index] + (value,) + values[index + 1:]


def find(rules, entries, mark, position):
    """The index of the first entry after a position (id, salt), or None if the stream does not hold that position.

    The mark is the (id, salt) of the last entry that was trimmed. An entry starts with its id and its salt.
    """
    number, salt = position
    if mark[0] == number and (mark[1] == salt or not rules.salt):
        return 0
    for index, entry in enumerate(entries):
        if entry[0] == number and (entry[1] == salt or not rules.salt):
            return index + 1
    return None


def same_guard(rules, a, b):
    """Do two guards (generation, id, salt) name the same entry?"""
    return (a[1] == b[1] and (a[2] == b[2] or not rules.salt) and (a[0] == b[0] or not rules.generation))


class Redis:
    """The primary that owns one partition, with its replicas.

    `epoch` stands for the connection: it changes whenever the keys are served by another process, so a caller that
    remembers the epoch knows whether it still talks to the same primary.
    """
    __slots__ = ("rules", "random", "keys", "replicas", "epoch", "files", "moved")

    def __init__(self, rules, random, keys, replicas):
        self.rules, self.random = rules, random
        self.keys = keys
        self.replicas = [keys.copy() for _ in range(replicas)]
        self.epoch = 0
        self.files = []     # older append-only files
        self.moved = None   # while the slot is being migrated: the keys that are already at the target

    def wait(self, epoch):
        """WAIT on the connection of this epoch. True means that the caller may rely on the replicas."""
        if epoch != self.epoch:
            return False
        if self.moved is not None:
            # WAIT asks the replicas of one node, but the keys are on two. It returns and proves nothing.
            return not self.rules.waitmoving
        copy = self.keys.copy()
        if self.rules.waitall:
            self.replicas = [copy] * len(self.replicas)
        else:
            self.replicate(copy)
        return True

    def replicate(self, copy=None):
        """Asynchronous replication reaches one of the replicas."""
        self.replicas[int(self.random() * len(self.replicas))] = copy or self.keys.copy()

    def failover(self):
        """Any one of the replicas becomes the primary with what it has."""
        self.become(self.replicas[int(self.random() * len(self.replicas))])

    def become(self, keys):
        """Another process serves these keys now, and its replicas copy them. Connections are broken."""
        self.keys = keys.copy()
        self.replicas = [keys.copy()] * len(self.replicas)
        self.epoch += 1
        self.moved = None

    def splits(self, declared):
        """Does Redis answer TRYAGAIN to a script that declares these keys, while the slot is being migrated?

        It does if a key does not exist, or if some keys are at the source and others at the target. If all of them
        are at the target, the caller is redirected by ASK and the script runs there.
        """
        source = target = False
        for key in declared:
            if key != "m" and key not in self.keys:
                return True
            if key in self.moved:
                target = True
            else:
                source = True
        return source and target

    def migrate_one_key(self):
        """Transfers one more key. After the last one, the slot belongs to the target."""
        keys = ["m" if key in META else key for key in self.keys]
        remaining = [key for key in keys if key not in self.moved]
        if remaining:
            self.moved.add(remaining[int(self.random() * len(remaining))])
        else:
            self.end_migration()

    def end_migration(self):
        """The target serves the slot. What its replicas have is what was replicated before."""
        self.moved = None
        self.epoch += 1


class Database:
    """One shard of MySQL. Every statement or transaction of the model is one atomic step."""
    __slots__ = ("data", "epoch", "up")

    def __init__(self, data):
        self.data, self.epoch, self.up = data, 0, True

    def stop(self):
        """Connections are broken, and no statement that was sent before can run any more."""
        self.up = False
        self.epoch += 1

    def start(self, data):
        self.data, self.up = data, True
