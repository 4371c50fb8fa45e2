"""What must hold: the answers that clients got are explained by some order of the operations, and at rest everything
that is kept twice agrees.

The value of (user, item) is 0, or the kind that is set; the two kinds exclude each other.
"""
import item_side
import user_side
from engines import find

ANYTHING = frozenset((0,) + user_side.KINDS)


class Violation(Exception):
    """A rule of the protocol, or the absence of one, led to a wrong state or a wrong answer."""


class Op:
    """One operation of a client: set or clear a kind. `earlier` are those sent before it on the same connection."""
    __slots__ = ("user", "item", "kind", "want", "earlier", "executed", "told", "closed")

    def __init__(self, user, item, kind, want, earlier):
        self.user, self.item, self.kind, self.want = user, item, kind, want
        self.earlier = [op for op in earlier if op.user == user and op.item == item]
        self.executed, self.told, self.closed = False, None, False

    def after(self, value):
        """The value of (user, item) after this operation."""
        if self.want:
            return self.kind
        return 0 if value == self.kind else value

    def changes(self, value):
        return (value == self.kind) != bool(self.want)

    def __str__(self):
        return f"{'set' if self.want else 'clear'} kind {self.kind} of user {self.user} on item {self.item}"


class History:
    """For each (user, item) the values that are possible after everything that clients were told.

    The log has the executed operations in the order of their execution. One whose outcome the client does not know
    may have been undone by a failover, so both values remain possible.
    """

    def __init__(self, users, items, user_partitions):
        self.partitions = user_partitions
        self.base = {(u, i): frozenset((0,)) for u in range(users) for i in range(items)}
        self.log = {key: [] for key in self.base}
        self.added = {}     # tokens of acknowledged ADDs: item partition
        self.eras = {}      # item partition: how often it lost acknowledged ADDs

    def execute(self, op):
        for earlier in op.earlier:
            if not earlier.executed and not earlier.closed:
                raise Violation(f"{op} was decided before an earlier operation of the same connection")
        op.executed = True
        self.log[op.user, op.item].append(op)
        self.fold((op.user, op.item))

    def acknowledge(self, op, changed):
        """The client was told the outcome, so a failover may not take it back."""
        key = op.user, op.item
        if op in self.log[key]:
            op.told, op.closed = changed, True
            if not self.values(key):
                raise Violation(f"{op}: told {'changed' if changed else 'unchanged'}, which no order explains")
            self.fold(key)

    def close(self, op):
        """The client will not be told any more."""
        if not op.closed:
            op.closed = True
            self.fold((op.user, op.item))

    def fold(self, key):
        if all(op.closed for op in self.log[key]):
            self.base[key] = self.values(key)
            self.log[key] = []

    def values(self, key):
        values = self.base[key]
        for op in self.log[key]:
            if op.told is None:
                values = values | {op.after(v) for v in values}
            elif op.told:
                values = {op.after(v) for v in values if op.changes(v)}
            else:
                values = {v for v in values if not op.changes(v)}
        return frozenset(values)

    def forget_user_side(self, p):
        """The partition lost what it had acknowledged: a fault that the protocol does not promise to survive."""
        for key in self.base:
            if key[0] % self.partitions == p:
                self.base[key], self.log[key] = ANYTHING, []

    def acknowledge_add(self, token, q, era):
        if era == self.eras.get(q, 0):
            self.added[token] = q

    def forget_item_side(self, q, stored):
        self.eras[q] = self.eras.get(q, 0) + 1
        self.added = {token: x for token, x in self.added.items() if x != q or token in stored}


def audit(world):
    """A role that sees everything: what Redis has must always be the store plus the rest of the stream."""
    while True:
        yield
        index = world.below(len(world.user_nodes) + len(world.item_nodes))
        if index < len(world.user_nodes):
            audit_user_side(world, index)
        else:
            audit_item_side(world, index - len(world.user_nodes))


def rest_of(world, st, data, stream):
    """The entries that are not stored yet; None if the partition is not open or its stream diverged."""
    if not st.get("open") or st["gen"] != data["gen"]:
        return None
    index = find(world.rules, st[stream], st["mark"], data["pos"])
    return None if index is None else st[stream][index:]


def audit_user_side(world, p):
    st, data = world.user_nodes[p].keys, world.user_dbs[p].data
    rest = rest_of(world, st, data, "J")
    if rest is None:
        return
    truth = user_side.apply_events(data["relation"], [event for entry in rest for event in entry[2]])
    for user, item in world.history.base:
        if user % len(world.user_nodes) == p:
            for kind in user_side.KINDS:
                hot = user_side.hot_value(world, st, user, item, kind)
                if hot is not None and hot != ((user, item, kind) in truth):
                    raise Violation(f"the hot tier says {hot} of {(user, item, kind)}, the store and J say {1 - hot}")


def audit_item_side(world, q):
    st, data = world.item_nodes[q].keys, world.item_dbs[q].data
    rest = rest_of(world, st, data, "I")
    if rest is None:
        return
    count = data["count"].copy()
    for entry in rest:
        for item, counter, change in entry[3]:
            count[item, counter] = count.get((item, counter), 0) + change
    for item in range(q, len(world.item_nodes) * 2, len(world.item_nodes)):
        h = st.get(("h", item))
        if h is not None and h["complete"]:
            for counter in item_side.COUNTERS:
                if h.get(counter, 0) != count.get((item, counter), 0):
                    raise Violation(f"hash {counter} of item {item} is {h.get(counter, 0)}, "
                                    f"the store and I say {count.get((item, counter), 0)}")


def check_trim(world, st, entries, mark):
    """Called before a trim changes a stream to these entries: the database must find its position in what remains."""
    stream = st["J"] if "J" in st else st["I"]
    for position in world.positions_needed(st):
        if find(world.rules, entries, mark, position) is None \
                and find(world.rules, stream, st["mark"], position) is not None:
            raise Violation("a trim dropped entries that the database has not stored")


def at_rest(world):
    """Is everything stored and clean?"""
    for node, db in zip(world.user_nodes + world.item_nodes, world.user_dbs + world.item_dbs):
        st, data = node.keys, db.data
        if not db.up or node.moved is not None or not st.get("open"):
            return False
        stream = st["J"] if "J" in st else st["I"]
        if st["gen"] != data["gen"] or st["K"] != data["pos"][0] or (stream and stream[-1][:2] != data["pos"]):
            return False
    for p, node in enumerate(world.user_nodes):
        view = user_side.read_view(world, node.keys)
        for q, other in enumerate(world.item_nodes):
            if user_side.entries_after(world.rules, view, q, other.keys["G"][p]) != []:
                return False
    return True


def check(world):
    """Called at rest: relation = by_item = count = hash = board = shelf, and what clients were told is true."""
    for key in world.history.base:
        check_reaction(world, *key)
    for q, db in enumerate(world.item_dbs):
        st = world.item_nodes[q].keys
        for item in range(q, len(world.item_nodes) * 2, len(world.item_nodes)):
            check_item(st, db.data, item)
        check_tokens(world, q, db.data)
    if world.rebuilt and not set(world.injected) - {"p-lost"}:
        raise Violation("a pair was rebuilt although only user partitions were lost")


def check_reaction(world, user, item):
    p, q = user % len(world.user_nodes), item % len(world.item_nodes)
    relation, by_item = world.user_dbs[p].data["relation"], world.item_dbs[q].data["by_item"]
    have = [kind for kind in user_side.KINDS if (user, item, kind) in relation]
    possible = world.history.values((user, item))
    if len(have) > 1:
        raise Violation(f"user {user} has two exclusive kinds on item {item}")
    if (have[0] if have else 0) not in possible:
        raise Violation(f"an acknowledged change is lost: ({user}, {item}) is {have}, possible {set(possible)}")
    for kind in user_side.KINDS:
        row, key = kind in have, (user, item, kind)
        if row != (key in by_item):
            raise Violation(f"relation of {key} is {row}, by_item is not")
        hot = user_side.hot_value(world, world.user_nodes[p].keys, user, item, kind)
        if hot is not None and bool(hot) != row:
            raise Violation(f"the hot tier says {hot} of {key}, relation {row}")


def check_item(st, data, item):
    h = st.get(("h", item))
    for counter in item_side.COUNTERS:
        count = data["count"].get((item, counter), 0)
        if counter != "add":
            rows = sum(1 for row in data["by_item"] if row[1] == item and row[2] == counter)
            if rows != count:
                raise Violation(f"count {counter} of item {item} is {count}, by_item has {rows} rows")
        if h is not None and h["complete"] and h.get(counter, 0) != count:
            raise Violation(f"hash {counter} of item {item} is {h.get(counter, 0)}, count is {count}")
        if st["B"].get((counter, item), 0) != count:
            raise Violation(f"board {counter} has {st['B'].get((counter, item), 0)} for item {item}, count is {count}")


def check_tokens(world, q, data):
    ledger = data["ledger"]
    if any(times > 1 for times in ledger.values()):
        raise Violation("an ADD was applied twice under one token")
    total = sum(value for (_, counter), value in data["count"].items() if counter == "add")
    if total != sum(ledger.values()):
        raise Violation("the count of ADD is not the number of tokens")
    for token, where in world.history.added.items():
        if where == q and token not in ledger:
            raise Violation(f"the acknowledged ADD with token {token} is lost")
