"""The worker of a user partition: transfer to the item side, store step, clean and trim. Two of them own every p."""
import item_side
import recovery
import user_side
from engines import LOST, TRYAGAIN


def work(world, p):
    sent = [0] * len(world.item_nodes)      # used only without the rule "resend"
    while True:
        trouble = yield from diverged(world, p)
        if trouble and (not trouble[1].open or trouble[0][2] == trouble[1].number or not world.rules.closenumber):
            yield from recovery.recover_user_side(world, p, *trouble)
            continue
        view = yield from gated_view(world, p)
        if view is None:
            continue
        taken_in = yield from transfer(world, p, view, sent)
        yield from store(world, p, view, taken_in)
        yield from clean(world, p)
        if world.random() < 0.3:
            yield from trim(world, p)


def read_view(world, p):
    node = world.user_nodes[p]
    view = world.read(node, ("m", "J"), user_side.read_view)
    if view is not None:
        view.epoch = node.epoch
    return view


def diverged(world, p):
    """Does J hold everything that others have of it? Guards and position are read first, then J.

    Returns None, or what was seen: the row of the store and the view of Redis.
    """
    guards = []
    for node in world.item_nodes:
        guards.append(world.read(node, ("m", "G"), item_side.read_guard, p))
        yield
    row = world.query(world.user_dbs[p], user_side.read_row)
    yield
    view = read_view(world, p)
    yield
    if view is None or row is None:
        return None
    if view.open and recovery.behind(row, view):
        row = world.query(world.user_dbs[p], user_side.read_row)
        yield
        return (row, view) if row is not None and recovery.behind(row, view) and world.rules.behind else None
    return (row, view) if not holds(world.rules, row, guards, view) else None


def holds(rules, row, guards, view):
    """Is p open, and does its J hold the stored position and the guards that are not older than what was trimmed?"""
    gen, pos, _ = row
    if not view.open or (rules.generation and gen > view.gen):
        return False
    if gen == view.gen:
        if pos[0] >= view.mark[0] and user_side.find(rules, view.J, view.mark, pos) is None:
            return False
        for q, guard in enumerate(guards):
            if guard is not None and guard[0] >= view.gen and guard[1] >= view.trims[q][1] \
                    and user_side.entries_after(rules, view, q, guard) is None:
                return False
    return True


def gated_view(world, p):
    """Reads J, and returns it once all replicas have it: a write, then WAIT, on the connection that read."""
    node, view = world.user_nodes[p], read_view(world, p)
    yield
    if view is None or not view.open:
        return None
    if world.rules.gate:
        if world.call(node, ("lease",), user_side.write_lease) in (LOST, TRYAGAIN):
            return None
        yield
        if not node.wait(view.epoch):
            return None
        yield
    return view


def transfer(world, p, view, sent):
    """Sends to each q what follows its guard. Returns per q the id that q is sure to have."""
    taken_in = [0] * len(world.item_nodes)
    for q, node in enumerate(world.item_nodes):
        yield from world.pause()
        epoch, guard = node.epoch, world.read(node, ("m", "G"), item_side.read_guard, p)
        yield
        entries = None if guard is None else user_side.entries_after(world.rules, view, q, guard)
        if entries is None:
            continue
        if not world.rules.resend:
            entries = [entry for entry in entries if entry[0] > sent[q]]
        entries = entries[:1 + world.below(4)]
        if entries:
            guard = send(world, node, p, q, view, guard, entries)
            if guard is None:
                continue
            sent[q] = entries[-1][0]
        elif world.call(node, ("lease",), user_side.write_lease) in (LOST, TRYAGAIN):
            continue
        yield
        # The guard counts only if the replicas of q have it: it was read first, WAIT follows on that connection.
        if not world.rules.orderwait or node.wait(epoch):
            if user_side.entries_after(world.rules, view, q, guard) is not None:
                taken_in[q] = guard[1]
        yield
    return taken_in


def send(world, node, p, q, view, expected, entries):
    """Returns the guard that is true afterwards, or None if that is unknown."""
    guard = (view.gen,) + entries[-1][:2]
    events = item_side.fold(world.rules, entries, q, len(world.item_nodes))
    keys = ("m", "I", "G") + tuple({("h", event[1]) for event in events})
    reply = world.call(node, keys, item_side.take_in, p, expected, guard, events, tuple(e[:2] for e in entries))
    return reply if isinstance(reply, tuple) else None


def store(world, p, view, taken_in):
    """Stores entries in the order of J, none before every concerned q has taken it in."""
    db = world.user_dbs[p]
    row = world.query(db, user_side.read_row)
    yield
    if row is None or (world.rules.generation and row[0] != view.gen):
        return
    index = user_side.find(world.rules, view.J, view.mark, row[1])
    entries = []
    if index is not None:
        for entry in view.J[index:index + 1 + world.below(5)]:
            if world.rules.order and any(entry[0] > taken_in[q] for q in entry[3]):
                break
            entries.append(entry)
    if entries:
        yield from world.pause()
        world.transact(db, user_side.store, view.gen, row[1], entries)
        yield


def clean(world, p):
    """Advances K; notes and shelves follow one by one, and each call looks at K again."""
    node = world.user_nodes[p]
    row = world.query(world.user_dbs[p], user_side.read_row)
    yield
    if row is None:
        return
    yield from world.pause()
    world.call(node, ("m", "J"), user_side.clean, row[0], row[1])
    yield
    for note in list(node.keys.get("X", ())):
        if world.random() < 0.4:
            world.call(node, ("m", "X"), user_side.clean_note, note)
            yield
    for key in [key for key in node.keys if key[0] == "s"]:
        if world.random() < 0.4:
            world.call(node, ("m", key), user_side.clean_shelf, key, world.random() < 0.2)
            yield


def trim(world, p):
    """Trims J by positions that were read after the connection to this primary was made."""
    node = world.user_nodes[p]
    view = read_view(world, p)
    yield
    if view is None or not view.open:
        return
    guards, numbers = [], []
    for q, db in enumerate(world.item_dbs):
        got = world.query(db, item_side.read_guards)
        yield
        if got is None:
            return
        if got[1] != view.numbers[q]:
            world.call(node, ("m",), user_side.adopt_for_item_side, q, view.numbers[q], got[1])
            yield
        guards.append(got[0][p] if world.rules.trimstored else world.item_nodes[q].keys.get("G", got[0])[p])
        numbers.append(got[1])
    row = world.query(world.user_dbs[p], user_side.read_row)
    yield
    if row is None:
        return
    yield from world.pause(world.trim_pause)
    if row[2] != view.number:
        world.call(node, ("m",), user_side.adopt, view.number, row[2])
    elif node.epoch == view.epoch or not world.rules.trimconn:
        keep = (0, 3, 12)[world.below(3)]
        world.call(node, ("m", "J"), user_side.trim, row[1][0], row[2], guards, numbers, keep)
    yield
