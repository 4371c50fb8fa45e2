"""The item side: the keys of one item partition {q}, the scripts that run there, and its rows in MySQL.

An entry of the stream I is (id, salt, what, effects). What is one of
    ("events", p, guard, events, folded)    events of p, folded from the entries of J whose (id, salt) are listed;
                                            an event is (user, item, kind, final state, change of the count)
    ("raise", p, guard)                     p has a new generation
    ("add", token, item, time)              an ADD of 1 to the counter "add"
and effects are (item, counter, change). A hash h is {"complete": bool, counter: value}; a partial one has only what
arrived after K. G has a guard for each user partition. T are the tokens. B is the board {(counter, item): value}.
"""
from engines import BUSY, find, put, put_at, same_guard
from user_side import KINDS, MAX_LATE, NEED

COUNTERS = KINDS + ("add",)
TOKEN_TTL = 600         # a token is remembered for so long
RETRY = 200             # a client repeats an ADD under its token for at most so long


def new(gen, pos, guards, board, number, opened):
    """An item partition that starts at a stored position. `frm`: per p, the last guard that I no longer holds."""
    return {"gen": gen, "open": True, "K": pos[0], "clock": pos[0], "mark": pos, "frm": guards, "number": number,
            "opened": opened, "I": (), "G": guards, "T": {}, "B": board, "lease": 0}


def new_rows(user_partitions):
    """by_item, count, token, and the row of pos. `ledger` is the checker's: how often each token was applied."""
    return {"gen": 0, "pos": (0, 0), "number": 0, "guards": ((0, 0, 0),) * user_partitions, "by_item": frozenset(),
            "count": {}, "token": {}, "ledger": {}}


def append(world, st, what, effects):
    st["clock"] += 1 + world.below(2)
    st["I"] += ((st["clock"], world.salt(), what, effects),)


def change_hashes(st, effects):
    for item, counter, change in effects:
        h = st.get(("h", item)) or {"complete": False}
        st[("h", item)] = put(h, counter, h.get(counter, 0) + change)


# ---- transfer

def fold(rules, entries, q, item_partitions):
    """The final state of each reaction that the entries touch, and by how much its count changes."""
    net = {}
    for entry in entries:
        for user, item, kind, change in entry[2]:
            if item % item_partitions == q:
                key = user, item, kind
                state, total = net.get(key, (0, 0))
                net[key] = int(change > 0), total + change
    # A reaction that ends where it began changes no count, but the copy for a lost p must see its final state.
    return tuple(key + value for key, value in net.items() if value[1] or rules.foldstate)


def take_in(world, st, p, expected, guard, events, folded):
    """Applies events of p if the guard is exactly the expected one. Returns the guard that is true afterwards."""
    if not st.get("open"):
        return BUSY
    if world.rules.cas and not same_guard(world.rules, st["G"][p], expected):
        return st["G"][p]
    effects = tuple((item, kind, change) for _, item, kind, _, change in events if change)
    change_hashes(st, effects)
    append(world, st, ("events", p, guard, events, folded), effects)
    st["G"] = put_at(st["G"], p, guard)
    return guard


def raise_guard(world, st, p, gen):
    """p gets a new generation: from here on, nothing of an older generation is taken in."""
    if not st.get("open"):
        return BUSY
    if st["G"][p][0] < gen:
        guard = (gen,) + st["G"][p][1:]
        append(world, st, ("raise", p, guard), ())
        st["G"] = put_at(st["G"], p, guard)
    return None


def read_guard(_world, st, p):
    return st["G"][p] if st.get("open") else None


def read_copy_source(_world, st, p):
    """What the recovery of p reads: the entries of p in I, the guard before them, and the guard after them."""
    if not st.get("open"):
        return None
    return [e[2] for e in st["I"] if e[2][0] != "add" and e[2][1] == p], st["frm"][p], st["G"][p]


# ---- ADD with a token

def read_token(_world, data, token):
    return data["gen"], data["pos"], token in data["token"]


def answer_counts(world, st, gen, pos):
    if st["K"] > pos[0]:
        return False
    return st["gen"] == gen and find(world.rules, st["I"], st["mark"], pos) is not None


def add(world, st, sent, token, item, answer):
    """Adds 1 under a token. Returns 1, NEED or BUSY. The same token again adds nothing."""
    rules = world.rules
    if not st.get("open") or (rules.deadline and world.now - sent > MAX_LATE):
        return BUSY
    if token in st["T"]:
        return 1
    if rules.tokens and st["opened"] >= 0 and world.now - st["opened"] < TOKEN_TTL:
        # The tokens before this generation were lost with it, so only the store knows them.
        if answer is None or not answer_counts(world, st, answer[0], answer[1]):
            return NEED
        if answer[2]:
            return 1
    st["T"] = put(st["T"], token, world.now)
    effects = ((item, "add", 1),)
    change_hashes(st, effects)
    append(world, st, ("add", token, item, world.now), effects)
    return 1


# ---- fill and expiry

def read_base(_world, data, item):
    return data["gen"], data["pos"], {c: data["count"].get((item, c), 0) for c in COUNTERS}


def touched_after_k(st):
    return {effect[0] for entry in st["I"] if entry[0] > st["K"] for effect in entry[3]}


def fill(world, st, item, gen, pos, base):
    """Sets an absent hash, or completes a partial one, from counts that were read at a position."""
    rules, h = world.rules, st.get(("h", item))
    if not st.get("open") or st["K"] > pos[0]:
        return
    if rules.fillsalt and (st["gen"] != gen or find(rules, st["I"], st["mark"], pos) is None):
        return
    if h is None:
        if item not in touched_after_k(st):
            st[("h", item)] = {**base, "complete": True}
    elif not h["complete"] and (st["K"] == pos[0] or not rules.fillk):
        st[("h", item)] = {**{c: base[c] + h.get(c, 0) for c in COUNTERS}, "complete": True}


def expire(world, st, chosen):
    """Hashes expire if everything in them is stored, tokens after their time."""
    if not st.get("open"):
        return
    late = touched_after_k(st) if world.rules.pinned else ()
    for item in chosen:
        if ("h", item) in st and item not in late:
            del st[("h", item)]
    if any(world.now - time > TOKEN_TTL for time in st["T"].values()):
        st["T"] = {token: time for token, time in st["T"].items() if world.now - time <= TOKEN_TTL}


# ---- store step

class View:
    """What a worker has read of an item partition in one call."""
    __slots__ = ("gen", "open", "I", "mark", "K", "number", "epoch")


def read_view(_world, st):
    view = View()
    view.gen, view.open, view.I = st.get("gen", -1), st.get("open", False), st.get("I", ())
    view.mark, view.K, view.number = st.get("mark"), st.get("K"), st.get("number")
    return view


def read_row(_world, data):
    return data["gen"], data["pos"], data["number"]


def read_guards(_world, data):
    return data["guards"], data["number"]


def read_pair(_world, data, p, user_partitions):
    """by_item of the users of p, and the guard up to which it is complete, in one snapshot."""
    return {row for row in data["by_item"] if row[0] % user_partitions == p}, data["guards"][p]


def store(world, data, gen, pos, entries):
    """The store step: by_item, count, tokens, guards and position in one transaction."""
    rules = world.rules
    if rules.generation and data["gen"] != gen:
        return False
    if rules.cas and (data["pos"][0] != pos[0] or (rules.salt and data["pos"][1] != pos[1])):
        return False
    count = data["count"].copy()
    for _, _, what, effects in entries:
        store_what(data, what)
        for item, counter, change in effects:
            count[item, counter] = count.get((item, counter), 0) + change
    data["count"], data["pos"] = count, entries[-1][:2]
    return True


def store_what(data, what):
    if what[0] == "add":
        data["token"] = put(data["token"], what[1], what[3])
        data["ledger"] = put(data["ledger"], what[1], data["ledger"].get(what[1], 0) + 1)
        return
    data["guards"] = put_at(data["guards"], what[1], what[2])
    if what[0] == "events":
        rows = set(data["by_item"])
        for user, item, kind, state, _ in what[3]:
            (rows.add if state else rows.discard)((user, item, kind))
        data["by_item"] = frozenset(rows)


def expire_tokens(world, data):
    data["token"] = {t: time for t, time in data["token"].items() if world.now - time <= TOKEN_TTL}


# ---- clean and trim

def read_counts(_world, data, items):
    """Position and counts of these items, in one snapshot."""
    return data["gen"], data["pos"], {i: {c: data["count"].get((i, c), 0) for c in COUNTERS} for i in items}


def clean(world, st, gen, pos, counts):
    """Advances K, completes the partial hashes of the window (K, pos] and corrects the board, in one step."""
    rules = world.rules
    if not st.get("open") or (rules.generation and st["gen"] != gen):
        return BUSY
    index = find(rules, st["I"], st["mark"], pos)
    if index is None or (rules.cleanforward and st["K"] >= pos[0]):
        return BUSY
    window = [entry for entry in st["I"][:index] if entry[0] > st["K"]]
    touched = {effect[0] for entry in window for effect in entry[3]}
    if rules.cleancover and not touched <= counts.keys():
        return BUSY
    for item in touched & counts.keys():
        complete_hash(st, item, counts[item], window)
    change_board(rules, st, counts if not rules.cleanforward else touched & counts.keys(), counts, window)
    st["K"] = pos[0]
    return None


def complete_hash(st, item, count, window):
    """What is stored up to pos, and what the hash has beyond it."""
    h = st.get(("h", item))
    if h is None or h["complete"]:
        return
    value = {c: count[c] + h.get(c, 0) for c in COUNTERS}
    for entry in window:
        for touched, counter, change in entry[3]:
            if touched == item:
                value[counter] -= change
    st[("h", item)] = {**value, "complete": True}


def change_board(rules, st, items, counts, window):
    board = st["B"].copy()
    if rules.boards:
        for item in items:
            for counter in COUNTERS:
                board[counter, item] = counts[item][counter]
    else:
        for entry in window:
            for item, counter, change in entry[3]:
                board[counter, item] = board.get((counter, item), 0) + change
    st["B"] = board


def trim(world, st, stored, number, guards, keep):
    """Drops entries that q has stored and whose p has stored their events (guards of relation)."""
    rules = world.rules
    if not st.get("open") or (rules.pin and st["number"] != number):
        return BUSY
    bound = min(stored, st["K"])
    entries, mark, gone = st["I"], st["mark"], st["frm"]
    while len(entries) > keep and entries[0][0] <= bound:
        what = entries[0][2]
        if what[0] == "events" and rules.keepi and what[2][1] > guards[what[1]][1]:
            break
        if what[0] != "add":
            gone = put_at(gone, what[1], what[2])
        mark, entries = entries[0][:2], entries[1:]
    world.check_trim(world, st, entries, mark)
    st["I"], st["mark"], st["frm"] = entries, mark, gone
    return None


# ---- restored databases

def pin(world, st, pos, number):
    """Before q's database is restored: only if I reaches back to the restored position.

    Returns the generation and the guards.
    """
    if not st.get("open") or find(world.rules, st["I"], st["mark"], pos) is None:
        return BUSY
    st["number"] = number
    return st["gen"], st["G"]


def adopt(_world, st, expected, number):
    """The number of the database is another one than expected, because Redis went back behind the pin."""
    if st.get("open") and st["number"] == expected:
        st["number"] = number
