"""Runs schedules: in each step one role, chosen at random, makes one engine call; then everything comes to rest."""
import gc

import api
import item_worker
import restore
import user_worker
from faults import Faults
from invariants import Violation, at_rest, audit, check
from world import World

STEPS = 4000
ROUNDS_TO_REST = 4000


def makers(world):
    """A function for each role that starts it; the clients first."""
    clients = [lambda: api.react(world)] * 3 + [lambda: api.add(world)] + [lambda: api.read(world)] * 2
    workers = [lambda: restore.operate(world), lambda: audit(world)]
    for p in range(len(world.user_nodes)):
        workers += [lambda p=p: user_worker.work(world, p)] * 2
    for q in range(len(world.item_nodes)):
        workers += [lambda q=q: item_worker.work(world, q)] * 2
    return clients, workers


def run(seed, faults, rules, steps=STEPS):
    """One schedule. Raises Violation; otherwise returns the world at rest."""
    world = World(seed, faults, rules)
    injector = Faults(world)
    clients, workers = makers(world)
    make = clients + workers
    operator = len(clients)
    roles = [start() for start in make]
    stalls, kills, random = "stall" in faults, "kill" in faults, world.random
    stalled = world.stalled = [0] * len(make)
    for now in range(steps):
        world.now = now
        if world.late and world.next_late <= world.now:
            world.run_late_calls()
        index = int(random() * len(roles))
        while stalled[index] > now and min(stalled) <= now:
            index = int(random() * len(roles))
        if stalls and random() < 0.01:
            stalled[index] = now + 50 + int(random() * 750)
        if kills and index != operator and random() < 0.005:
            roles[index].close()
            roles[index] = make[index]()
        injector.strike()
        next(roles[index])
    injector.calm()
    world.calm, world.late_rate = True, 0
    for role in roles[:operator]:
        role.close()
    come_to_rest(world, roles[operator:])
    check(world)
    return world


def come_to_rest(world, workers):
    for round_ in range(ROUNDS_TO_REST):
        world.now += 1
        if world.late and world.next_late <= world.now:
            world.run_late_calls()
        for role in workers:
            next(role)
        if round_ % 20 == 19 and not world.late and at_rest(world):
            break
    else:
        raise Violation("it does not come to rest")
    for _ in range(40):
        for role in workers:
            next(role)


def run_many(seed, schedules, faults, rules, steps=STEPS, first=0):
    """Yields (index, violation or None, world or None) of each schedule."""
    gc.disable()        # the cycles of a finished schedule are collected now and then, which is faster
    for index in range(first, first + schedules):
        if index % 20 == 0:
            gc.collect()
        try:
            world = run(seed * 1_000_000 + index, faults, rules, steps)
        except Violation as violation:
            yield index, violation, None
        else:
            yield index, None, world
