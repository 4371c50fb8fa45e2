"""The user side: the keys of one user partition {p}, the scripts that run there, and its rows in MySQL.

A position is (id, salt). A guard is (generation, id, salt). An entry of the stream J is (id, salt, events, concerned):
events are (user, item, kind, +1 or -1) in the order in which they were decided, concerned are the item partitions of
these items. A shelf is (complete, {item: id}): one user's reactions of one kind. X has the cleared notes
{(user, item, kind): id}. F is the filter, a set of what was ever set, or None while it is open (it says "maybe" to
everything).
"""
from engines import BUSY, drop, find, put, put_at

KINDS = (1, 2)          # two kinds that exclude each other, such as like and dislike
SHELF = 2               # a shelf keeps at most so many stored reactions
MAX_LATE = 200          # a script refuses a write that was sent longer ago than this

NEED = "NEED"           # only the store can know this
AGAIN = "AGAIN"         # not decided, because an earlier operation of the same user is not decided yet


def new(gen, mark, trims, filter_, number, numbers):
    """A user partition that holds nothing but its position."""
    return {"gen": gen, "open": True, "K": mark[0], "clock": mark[0], "mark": mark, "trims": trims,
            "number": number, "numbers": numbers, "J": (), "X": {}, "F": filter_, "lease": 0}


def new_rows(item_partitions):
    """relation, and the row of pos with a guard for each item partition."""
    return {"gen": 0, "pos": (0, 0), "number": 0, "guards": ((0, 0, 0),) * item_partitions, "relation": frozenset()}


class Answer:
    """What one statement on the store said: rows of the listed (user, kind), with generation and position."""
    __slots__ = ("gen", "pos", "listed", "rows")

    def __init__(self, gen, pos, listed, rows):
        self.gen, self.pos, self.listed, self.rows = gen, pos, listed, rows


def read_answer(_world, data, listed):
    rows = {row for row in data["relation"] if (row[0], row[2]) in listed}
    return Answer(data["gen"], data["pos"], listed, rows)


# ---- decide

def hot_value(world, st, user, item, kind):
    """1 or 0 if the hot tier knows whether the reaction is set, otherwise None."""
    rules = world.rules
    shelf = st.get(("s", user, kind))
    if shelf is not None:
        if item in shelf[1]:
            return 1
        if shelf[0]:
            return 0
    note = st["X"].get((user, item, kind))
    if note is not None and rules.notes and (note > st["K"] or not rules.notek):
        return 0
    seen = st["F"]
    if seen is not None and (user, item, kind) not in seen and (user + item + kind) % 5:
        return 0        # a filter may only say no; one in five keys is a false positive
    return None


def answer_counts(world, st, answer):
    """Is the answer of the store exact for this J, together with the hot tier?"""
    rules = world.rules
    if rules.needk and st["K"] > answer.pos[0]:
        return False
    if rules.needsalt:
        return st["gen"] == answer.gen and find(rules, st["J"], st["mark"], answer.pos) is not None
    return True


def value_of(world, st, op, kind, answer, needs):
    """The value of one kind, from the hot tier or from evidence. What is missing is added to `needs`."""
    value = hot_value(world, st, op.user, op.item, kind)
    if value is not None:
        return value
    if answer is None or (world.rules.evidence and (op.user, kind) not in answer.listed):
        needs.add((op.user, kind))
        return None
    return int((op.user, op.item, kind) in answer.rows)


def decide_keys(batch):
    """The keys that decide declares for a batch."""
    return ("m", "J", "X", "F") + tuple({("s", op.user, kind) for op in batch for kind in KINDS})


def decide(world, st, sent, batch, answer):
    """Decides some operations in one step and records their events as one entry.

    Returns BUSY, or (results, needs): one result for each operation (1 changed, 0 unchanged, NEED, AGAIN), and the
    (user, kind) pairs that the store has to be asked for.
    """
    if not st.get("open") or (world.rules.deadline and world.now - sent > MAX_LATE):
        return BUSY
    if answer is not None and not answer_counts(world, st, answer):
        answer = None
    tick = st["clock"] + 1 + world.below(2)
    results, needs, events, waiting = [], set(), [], set()
    for op in batch:
        if op.user in waiting and world.rules.needorder:
            results.append(AGAIN)
            continue
        result = decide_one(world, st, tick, op, answer, needs, events)
        results.append(result)
        if result is NEED:
            waiting.add(op.user)
        else:
            world.history.execute(op)
    if events:
        st["clock"] = tick
        concerned = tuple({event[1] % len(st["trims"]) for event in events})
        st["J"] += ((tick, world.salt(), tuple(events), concerned),)
    return results, needs


def decide_one(world, st, tick, op, answer, needs, events):
    user, item, kind = op.user, op.item, op.kind
    unknown = set()
    current = value_of(world, st, op, kind, answer, unknown)
    others = ()
    if op.want and current != 1:
        others = [(x, value_of(world, st, op, x, answer, unknown)) for x in KINDS if x != kind]
    if unknown:
        needs |= unknown
        return NEED
    if current == op.want:
        return 0
    for other, value in others:
        if value:
            clear(st, user, item, other, tick)
            events.append((user, item, other, -1))
    if op.want:
        add_to_shelf(world, st, user, item, kind, tick, answer)
        events.append((user, item, kind, 1))
    else:
        clear(st, user, item, kind, tick)
        events.append((user, item, kind, -1))
    return 1


def add_to_shelf(world, st, user, item, kind, tick, answer):
    """Adds to the shelf. A new shelf is complete if the store told all of it and nothing was cleared since."""
    shelf = st.get(("s", user, kind))
    if shelf is None:
        shelf = (False, {})
        if answer is not None and (user, kind) in answer.listed:
            stored = [row[1] for row in answer.rows if row[0] == user and row[2] == kind]
            cleared = any(n[0] == user and n[2] == kind and id_ > st["K"] for n, id_ in st["X"].items())
            if len(stored) <= SHELF and not (cleared and world.rules.shelfnotes):
                shelf = (True, dict.fromkeys(stored, 0))
    st[("s", user, kind)] = (shelf[0], put(shelf[1], item, tick))
    if st["F"] is not None:
        st["F"] |= {(user, item, kind)}


def clear(st, user, item, kind, tick):
    shelf = st.get(("s", user, kind))
    if shelf is not None and item in shelf[1]:
        st[("s", user, kind)] = (shelf[0], drop(shelf[1], item))
    st["X"] = put(st["X"], (user, item, kind), tick)


# ---- what workers read and write

class View:
    """What a worker has read of a user partition in one call."""
    __slots__ = ("gen", "open", "J", "mark", "trims", "number", "numbers", "epoch")


def read_view(_world, st):
    view = View()
    view.gen, view.open, view.J = st.get("gen", -1), st.get("open", False), st.get("J", ())
    view.mark, view.trims = st.get("mark"), st.get("trims")
    view.number, view.numbers = st.get("number"), st.get("numbers")
    return view


def entries_after(rules, view, q, guard):
    """The entries that concern q and follow its guard; None if this J does not hold the guard."""
    if rules.generation and guard[0] != view.gen:
        return None
    concerned = [entry for entry in view.J if q in entry[3]]
    index = find(rules, concerned, view.trims[q][1:], guard[1:])
    return None if index is None else concerned[index:]


def write_lease(_world, st):
    """A write that makes the following WAIT prove something. The number grows with every write."""
    if "lease" not in st:
        return BUSY
    st["lease"] += 1
    return None


def read_row(_world, data):
    return data["gen"], data["pos"], data["number"]


def read_guards(_world, data):
    return data["guards"]


def store(world, data, gen, pos, entries):
    """The store step: rows and position in one transaction, only from exactly the expected position."""
    rules = world.rules
    if rules.generation and data["gen"] != gen:
        return False
    if rules.cas and (data["pos"][0] != pos[0] or (rules.salt and data["pos"][1] != pos[1])):
        return False
    guards = data["guards"]
    for entry in entries:
        data["relation"] = apply_events(data["relation"], entry[2])
        for q in entry[3]:
            guards = put_at(guards, q, (gen, entry[0], entry[1]))
    data["guards"], data["pos"] = guards, entries[-1][:2]
    return True


def apply_events(relation, events):
    relation = set(relation)
    for user, item, kind, change in events:
        (relation.add if change > 0 else relation.discard)((user, item, kind))
    return frozenset(relation)


# ---- clean and trim

def clean(world, st, gen, pos):
    """Advances K to a stored position that J holds."""
    rules = world.rules
    if not st.get("open") or (rules.generation and st["gen"] != gen):
        return BUSY
    if (st["K"] < pos[0] or not rules.cleanforward) and find(rules, st["J"], st["mark"], pos) is not None:
        st["K"] = pos[0]
    return None


def clean_note(_world, st, note):
    """Removes a note of what is stored."""
    if st.get("open") and st["X"].get(note, st["K"] + 1) <= st["K"]:
        st["X"] = drop(st["X"], note)


def clean_shelf(world, st, key, expire):
    """Removes the oldest stored reactions beyond the bound, or the whole shelf if all of it is stored."""
    shelf = st.get(key)
    if not st.get("open") or shelf is None:
        return
    stored = sorted((id_, item) for item, id_ in shelf[1].items() if id_ <= st["K"] or not world.rules.pinned)
    if expire and len(stored) == len(shelf[1]):
        del st[key]
        return
    surplus = len(shelf[1]) - SHELF
    if surplus > 0 and stored:
        removed = {item for _, item in stored[:surplus]}
        st[key] = (False, {item: id_ for item, id_ in shelf[1].items() if item not in removed})


def trim(world, st, stored, number, guards, numbers, keep):
    """Drops entries that p has stored and that every concerned q has stored (guards).

    `number` and `numbers` name the incarnations of the databases from which the positions were read.
    """
    rules = world.rules
    if not st.get("open") or (rules.pin and st["number"] != number):
        return BUSY
    view = read_view(world, st)
    low = [guard[1] if guard is not None and (numbers[q] == st["numbers"][q] or not rules.pin)
           and entries_after(rules, view, q, guard) is not None else -1 for q, guard in enumerate(guards)]
    bound = min(stored, st["K"])
    entries, mark, trims = st["J"], st["mark"], st["trims"]
    while len(entries) > keep and entries[0][0] <= bound and all(entries[0][0] <= low[q] for q in entries[0][3]):
        entry, entries = entries[0], entries[1:]
        mark = entry[:2]
        for q in entry[3]:
            trims = put_at(trims, q, (st["gen"],) + mark)
    world.check_trim(world, st, entries, mark)
    st["J"], st["mark"], st["trims"] = entries, mark, trims
    return None


# ---- restored databases

def pin(world, st, pos, number):
    """Before p's database is restored: only if J reaches back to the restored position. Returns the generation."""
    if not st.get("open") or find(world.rules, st["J"], st["mark"], pos) is None:
        return BUSY
    st["number"] = number
    return st["gen"]


def pin_for_item_side(world, st, q, guard, number):
    """Before q's database is restored: only if J holds what q took in last."""
    if not st.get("open"):
        return BUSY
    if world.rules.restorereach and entries_after(world.rules, read_view(world, st), q, guard) is None:
        return BUSY
    st["numbers"] = put_at(st["numbers"], q, number)
    return None


def adopt(_world, st, expected, number):
    """The number of the database is another one than expected, because Redis went back behind the pin."""
    if st.get("open") and st["number"] == expected:
        st["number"] = number


def adopt_for_item_side(_world, st, q, expected, number):
    if st.get("open") and st["numbers"][q] == expected:
        st["numbers"] = put_at(st["numbers"], q, number)
