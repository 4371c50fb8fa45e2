"""Recovery of a partition that was lost, or whose stream does not hold what others have of it (divergence).

The order is the same for both sides: close the partition in Redis under a new generation and WAIT; raise the
generation in MySQL; make a new state from what the store and the other side have; open it in Redis. Redis opens only
the generation under which it was closed, so of two recoveries at the same time at most one opens the partition.
"""
import item_side
import user_side
from engines import BUSY
from invariants import Violation


# ---- the steps that both sides share

def close(world, st, name, seen, number, gen, forget):
    """Takes no more writes: only if the partition is still as it was seen, (generation, open).

    `number` is that of the database with which the stream was compared. If the database was restored since, the
    comparison means nothing.
    """
    if (st.get("gen", -1), st.get("open", False)) != seen:
        return BUSY
    if st.get("open"):
        if world.rules.closenumber and st["number"] != number:
            return BUSY
        abandon(world, name, forget)
    st["gen"], st["open"] = gen, False
    return gen


def open_with(world, st, name, gen, fresh, forget):
    """Serves the new state."""
    if world.rules.fence:
        if st.get("gen", -1) != gen or st.get("open"):
            return BUSY
    elif st.get("gen", -1) >= gen:
        return BUSY
    elif st.get("open"):
        abandon(world, name, forget)
    st.clear()
    st.update(fresh)
    world.older_file.discard(name)
    return gen


def abandon(world, name, forget):
    """An open partition is given up with what it acknowledged. Only a restart from an older file excuses that."""
    if name not in world.older_file:
        raise Violation(f"partition {name} was given up although it lost nothing")
    forget()


def raise_generation(_world, data, gen):
    if data["gen"] >= gen:
        return False
    data["gen"] = gen
    return True


def behind(row, view):
    """Does the database need what the stream no longer has, or has it an older generation than an open partition?

    This proves something only if the row was read after the view, because otherwise the stream may have been trimmed
    by what was stored in between.
    """
    return row[0] < view.gen or (row[0] == view.gen and row[1][0] < view.mark[0])


def begin(world, node, db, name, seen, row, forget):
    """Waits in case somebody else is recovering, then closes and raises. Returns the new generation, or None."""
    under_way = seen[0] >= 0 and not seen[1]
    for _ in range(40 + world.below(80) if under_way else world.below(12)):
        yield
        if (node.keys.get("gen", -1), node.keys.get("open", False)) != seen:
            return None
    gen, epoch = max(row[0], seen[0]) + 1, node.epoch
    if world.rules.fence:
        if world.call(node, ("m",), close, name, seen, row[2], gen, forget) != gen:
            return None
        yield
        if not node.wait(epoch):
            return None
        yield
    if world.transact(db, raise_generation, gen) is not True:
        return None
    yield
    return gen


# ---- user side

def recover_user_side(world, p, row, view):
    name, node, db = ("p", p), world.user_nodes[p], world.user_dbs[p]

    def forget():
        world.history.forget_user_side(p)

    gen = yield from begin(world, node, db, name, (view.gen, view.open), row, forget)
    if gen is None:
        return
    if not (yield from raise_at_item_sides(world, p, gen)):
        return
    rows = world.query(db, lambda _world, data: (data["gen"], data["pos"], data["guards"], data["number"]))
    yield
    if rows is None or rows[0] != gen:
        return
    copies = yield from copy_from_item_sides(world, p, gen, rows)
    if copies is None:
        return
    ends = [end for _, _, end in copies]
    top = max([rows[1][0]] + [end[1] for end in ends]) if world.rules.idspast else 0
    mark = top + 1, world.salt()
    guards = tuple((gen,) + end[1:] for end in ends)
    if world.transact(db, finish_user_rows, gen, rows[1], copies, mark, guards) is not True:
        return
    yield
    numbers = []
    for other in world.item_dbs:
        got = world.query(other, item_side.read_guards)
        numbers.append(got and got[1])      # if that database is away, a worker sets its number later
        yield
    fresh = user_side.new(gen, mark, guards, None if world.rules.openfilter else frozenset(), rows[3], tuple(numbers))
    world.call(node, ("m",), open_with, name, gen, fresh, forget)
    yield


def raise_at_item_sides(world, p, gen):
    """Fences transfers of older generations at every q, until the stores of all q have the raised guards too."""
    missing = set(range(len(world.item_nodes)))
    while missing:
        for q in sorted(missing):
            if (yield from raised_at(world, p, q, gen)):
                missing.discard(q)
        row = world.query(world.user_dbs[p], user_side.read_row)
        yield
        if row is not None and row[0] != gen:
            return False
    return True


def raised_at(world, p, q, gen):
    node = world.item_nodes[q]
    epoch = node.epoch
    reply = world.call(node, ("m", "I", "G"), item_side.raise_guard, p, gen)
    yield
    if reply is not None or not node.wait(epoch):
        return False
    yield
    if not world.rules.raisestored:
        return True
    got = world.query(world.item_dbs[q], item_side.read_guards)
    yield
    return got is not None and got[0][p][0] >= gen


def copy_from_item_sides(world, p, gen, rows):
    """Per q: (kind of copy, what to apply to relation, the guard that relation has afterwards)."""
    copies = []
    for q, node in enumerate(world.item_nodes):
        source = world.read(node, ("m", "I", "G"), item_side.read_copy_source, p)
        yield
        if source is None or source[2][0] < gen:
            return None
        entries, before, end = source
        start = copy_start(world.rules, entries, before, rows[1], rows[2][q])
        if start is not None or not world.rules.rebuild:
            events = [event for what in entries[start or 0:] if what[0] == "events" for event in what[3]]
            copies.append(("events", events, end))
            continue
        pair = world.query(world.item_dbs[q], item_side.read_pair, p, len(world.user_nodes))
        yield
        if pair is None or (world.rules.raisestored and pair[1][0] < gen):
            return None
        world.rebuilt += 1
        copies.append(("rows", pair[0], pair[1]))
    return copies


def copy_start(rules, entries, before, pos, guard):
    """The first entry of I that relation may not have completely; None if I does not reach back to its guard."""
    if not rules.pairs:
        later = [n for n, what in enumerate(entries) if what[2][1] > pos[0]]
        return later[0] if later else len(entries)
    start = 0 if before[1:] == guard[1:] else None
    for n, what in enumerate(entries):
        if what[0] == "events" and guard[1:] in what[4]:
            start = n + (guard[1:] == what[4][-1])  # in the middle of an entry: all of it again, states do not mind
    return start


def finish_user_rows(world, data, gen, pos, copies, mark, guards):
    if data["gen"] != gen or data["pos"] != pos:
        return False
    relation = set(data["relation"])
    for q, (kind, what, _) in enumerate(copies):
        if kind == "rows":
            relation = {row for row in relation if row[1] % len(copies) != q} | what
        elif world.rules.fromi:
            for user, item, reaction, state, _ in what:
                (relation.add if state else relation.discard)((user, item, reaction))
    data["relation"], data["pos"], data["guards"] = frozenset(relation), mark, guards
    return True


# ---- item side

def recover_item_side(world, q, row, view):
    """q starts from what its store has; every p sends again what follows the stored guards."""
    name, node, db = ("q", q), world.item_nodes[q], world.item_dbs[q]

    def forget():
        world.history.forget_item_side(q, db.data["ledger"])

    gen = yield from begin(world, node, db, name, (view.gen, view.open), row, forget)
    if gen is None:
        return
    got = world.query(db, lambda _world, data: tuple(data[x] for x in ("gen", "pos", "guards", "count", "number")))
    yield
    if got is None or got[0] != gen:
        return
    _, pos, guards, count, number = got
    board = {(counter, item): value for (item, counter), value in count.items()} if world.rules.boards else {}
    fresh = item_side.new(gen, pos, guards, board, number, world.now)
    world.call(node, ("m",), open_with, name, gen, fresh, forget)
    yield
