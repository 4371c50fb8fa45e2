"""The worker of an item partition: store step, clean, expiry and trim. Two of them own every q."""
import item_side
import recovery
import user_side
from engines import LOST, TRYAGAIN, find


def work(world, q):
    while True:
        row = world.query(world.item_dbs[q], item_side.read_row)
        yield
        view = read_view(world, q)
        yield
        if row is None or view is None:
            continue
        index = find(world.rules, view.I, view.mark, row[1]) if view.open else None
        if index is None or row[0] != view.gen:
            row = yield from diverged(world, q, row, view)
            if row is not None and (not view.open or row[2] == view.number or not world.rules.closenumber):
                yield from recovery.recover_item_side(world, q, row, view)
                continue
        elif index < len(view.I):
            yield from store(world, q, view, row, view.I[index:index + 1 + world.below(3)])
        yield from clean(world, q, view)
        yield from expire(world, q)
        if world.random() < 0.3:
            yield from trim(world, q)


def diverged(world, q, row, view):
    """The row of the store if the stream does not hold its position, otherwise None."""
    if view.open and recovery.behind(row, view):
        row = world.query(world.item_dbs[q], item_side.read_row)
        yield
        return row if row is not None and recovery.behind(row, view) and world.rules.behind else None
    return row


def read_view(world, q):
    node = world.item_nodes[q]
    view = world.read(node, ("m", "I"), item_side.read_view)
    if view is not None:
        view.epoch = node.epoch
    return view


def store(world, q, view, row, entries):
    """Gates what was read, then stores it."""
    node = world.item_nodes[q]
    if world.rules.gate:
        if world.call(node, ("lease",), user_side.write_lease) in (LOST, TRYAGAIN):
            return
        yield
        if not node.wait(view.epoch):
            return
        yield
    if not world.rules.generation or row[0] == view.gen:
        yield from world.pause()
        world.transact(world.item_dbs[q], item_side.store, view.gen, row[1], entries)
        yield


def clean(world, q, view):
    """Reads the counts of every item that the window may touch, and brings them to the hashes and the board."""
    items = {effect[0] for entry in view.I if entry[0] > view.K for effect in entry[3]}
    yield from world.pause()
    got = world.query(world.item_dbs[q], item_side.read_counts, items)
    yield
    yield from world.pause()
    if got is not None and got[1][0] > view.K:
        keys = ("m", "I", "B") + tuple(("h", item) for item in items)
        world.call(world.item_nodes[q], keys, item_side.clean, *got)
        yield


def expire(world, q):
    if world.calm:
        return
    items = [item for item in range(len(world.item_nodes) * 2) if world.random() < 0.1]
    if items:
        world.call(world.item_nodes[q], ("m", "I", "T"), item_side.expire, items)
        yield
        world.transact(world.item_dbs[q], item_side.expire_tokens)
        yield


def trim(world, q):
    """Trims I by positions that were read after the connection to this primary was made."""
    node = world.item_nodes[q]
    view = read_view(world, q)
    yield
    guards = []
    for db in world.user_dbs:
        guards.append(world.query(db, user_side.read_guards))
        yield
    row = world.query(world.item_dbs[q], item_side.read_row)
    yield
    if view is None or not view.open or row is None or None in guards:
        return
    yield from world.pause(world.trim_pause)
    if row[2] != view.number:
        world.call(node, ("m",), item_side.adopt, view.number, row[2])
    elif node.epoch == view.epoch or not world.rules.trimconn:
        keep = (0, 3, 12)[world.below(3)]
        world.call(node, ("m", "I"), item_side.trim, row[1][0], row[2], [g[q] for g in guards], keep)
    yield
