"""The operator who restores a database from a backup, step by step, while everything else goes on.

The database is stopped first. Then the stream is pinned: Redis gets a new number for this database, and a trim counts
only if it names the number that Redis has. So no position that was read from the database before can trim the stream.
The backup then starts with that number and the generation that Redis has.
"""
import item_side
import user_side
from engines import find


def operate(world):
    while True:
        yield
        for side, fault in (("p", "p-restore"), ("q", "q-restore")):
            wanted = fault in world.faults or fault + "-older-file" in world.faults
            if wanted and not world.calm and world.random() < 0.05:
                backups = [backup for backup in world.backups if backup[0] == side]
                if backups:
                    _, index, saved = backups[world.below(len(backups))]
                    yield from restore(world, side, index, saved)


def restore(world, side, index, saved):
    db = (world.user_dbs if side == "p" else world.item_dbs)[index]
    number, first = world.salt(), world.rules.stopfirst
    world.restoring[side, index] = None
    if first:
        db.stop()
    for _ in range(1 + world.below(6)):
        yield
    gen = yield from (pin_user_side if side == "p" else pin_item_side)(world, index, saved, number)
    if gen is not None:
        world.pinned[side, index] = saved
    for _ in range(world.below(8)):
        yield
    if gen is not None:
        del world.pinned[side, index]
        if not first:
            db.stop()
        if side == "q":
            forgive_double_loss(world, index, saved)
        db.start({**saved, "gen": gen, "number": number})
        world.injected[side + "-restore"] = world.injected.get(side + "-restore", 0) + 1
    elif first:
        db.start(db.data)
    if side == "p" and world.many_restarts:
        for _ in range(world.below(8)):     # a restart from an older file is likely in this time, too
            yield
    del world.restoring[side, index]
    yield


def forgive_double_loss(world, q, saved):
    """An ADD that Redis lost with its file and that the backup does not have either is nowhere any more."""
    st, data = world.item_nodes[q].keys, world.item_dbs[q].data
    if not st.get("open") or find(world.rules, st["I"], st["mark"], data["pos"]) is None:
        in_stream = {entry[2][1] for entry in st.get("I", ()) if entry[2][0] == "add"}
        world.history.forget_item_side(q, saved["ledger"].keys() | in_stream)


def pin_user_side(world, p, saved, number):
    """Returns the generation, or None if the stream does not reach or the pin is not certain."""
    node = world.user_nodes[p]
    epoch = node.epoch
    reply = world.call(node, ("m", "J"), user_side.pin, saved["pos"], number)
    yield
    world.restoring["p", p] = saved
    return reply if isinstance(reply, int) and node.wait(epoch) else None


def pin_item_side(world, q, saved, number):
    """I is pinned, and every J as far as it concerns q."""
    node = world.item_nodes[q]
    epoch = node.epoch
    reply = world.call(node, ("m", "I"), item_side.pin, saved["pos"], number)
    world.restoring["q", q] = saved
    yield
    if not isinstance(reply, tuple) or not node.wait(epoch):
        return None
    gen, guards = reply
    for p, other in enumerate(world.user_nodes):
        epoch = other.epoch
        reply = world.call(other, ("m", "J"), user_side.pin_for_item_side, q, guards[p], number)
        yield
        if reply is not None or not other.wait(epoch):
            return None
        yield
    return gen
