"""The API node: clients that react, clients that add under a token, and readers that fill hashes.

Each role is a generator. It makes at most one engine call between two yields, and anything may happen at a yield.
"""
import item_side
import user_side
from engines import BUSY, LOST, TRYAGAIN
from invariants import Op
from user_side import AGAIN, NEED


def make_batch(world):
    """One to three operations on one user partition, most of them of the same user and item."""
    users, items = len(world.user_nodes) * 2, len(world.item_nodes) * 2
    user, item, batch = world.below(users), world.below(items), []
    for _ in range((1, 1, 2, 3)[world.below(4)]):
        batch.append(Op(user, item, user_side.KINDS[world.below(2)], int(world.random() < 0.6), batch))
        if world.random() < 0.4:
            item = world.below(items)
        if world.random() < 0.3:
            user = (user + len(world.user_nodes)) % users
    return batch


def react(world):
    """A connection that sends a batch, answers NEED from the store, and waits for the replicas before it replies."""
    while True:
        batch = make_batch(world)
        try:
            yield from run_batch(world, batch)
        finally:
            for op in batch:
                world.history.close(op)
        yield


def run_batch(world, batch):
    p = batch[0].user % len(world.user_nodes)
    node, answer = world.user_nodes[p], None
    for _ in range(5):
        sent = world.now
        yield
        epoch = node.epoch
        reply = world.call(node, user_side.decide_keys(batch), user_side.decide, sent, batch, answer)
        yield
        if reply is LOST:
            return                      # the client is told that the outcome is unknown
        if reply is TRYAGAIN or reply is BUSY:
            continue                    # refused before anything was changed, so it may be sent again
        results, needs = reply
        acknowledge(world, node, epoch, batch, results)
        batch = [op for op, result in zip(batch, results) if result is NEED or result is AGAIN]
        if not batch:
            return
        yield
        answer = world.query(world.user_dbs[p], user_side.read_answer, needs)
        yield from world.pause()


def acknowledge(world, node, epoch, batch, results):
    """The replies leave only after WAIT; otherwise the outcomes are unknown."""
    done = [(op, result) for op, result in zip(batch, results) if result in (0, 1)]
    if not done or (world.lose_replies and world.random() < 0.3) or not node.wait(epoch):
        return
    for op, result in done:
        world.history.acknowledge(op, result)


def add(world):
    """A client that repeats an ADD under one token until it is told, but never longer than the token is remembered."""
    token = 0
    name = world.salt()
    while True:
        token += 1
        yield from add_once(world, (name, token))
        yield


def add_once(world, token):
    item = world.below(len(world.item_nodes) * 2)
    q, answer, began = item % len(world.item_nodes), None, world.now
    node = world.item_nodes[q]
    while world.now - began <= item_side.RETRY:
        sent = world.now
        yield
        epoch, era = node.epoch, world.history.eras.get(q, 0)
        reply = world.call(node, ("m", "I", "T", ("h", item)), item_side.add, sent, token, item, answer)
        yield
        if reply is NEED:
            answer = world.query(world.item_dbs[q], item_side.read_token, token)
        elif reply == 1 and world.random() < 0.7 and node.wait(epoch):
            world.history.acknowledge_add(token, q, era)
            if world.random() < 0.7:    # otherwise the client repeats although it was told
                return
        for _ in range((1, 1, 10)[world.below(3)]):
            yield


def read(world):
    """A read of counters. A miss is filled from the store."""
    while True:
        item = world.below(len(world.item_nodes) * 2)
        q = item % len(world.item_nodes)
        h = world.item_nodes[q].keys.get(("h", item))
        yield
        if h is None or not h["complete"]:
            base = world.query(world.item_dbs[q], item_side.read_base, item)
            yield
            yield from world.pause()
            if base is not None:
                world.call(world.item_nodes[q], ("m", "I", ("h", item)), item_side.fill, item, *base)
                yield
