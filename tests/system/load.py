"""Clients that remember: each owns its users, knows what every reply must be, and keeps the order
in which it sent its operations and how many of them were acknowledged.

A connection's operations run in the order they were sent and the journal keeps that order, so after
any crash the state of a client's users must be what a *prefix* of its operations leaves: one that
ends at or behind the last acknowledged operation, and nowhere in the middle of one. That is what
Client.settle checks; it covers "every acknowledged one is there" and "each in-flight one is wholly
there or wholly absent" in one go.
"""
import random
import subprocess
import threading
import time

from laud import (LAUD, Closed, Connection, Error, Failed, clean_environment, die_with_parent,
                  encode, expect, expect_equal, need_binary, pairs)

ITEMS = 12
USERS = 6
EXCLUSIVE = ("like", "dislike")
KINDS = ("like", "dislike", "favorite")
SHARED = "page:1"  # every client adds to its counter `view`


class Operation:
    """One command, and the one thing it changes."""
    __slots__ = ("words", "key", "before", "after", "reply", "acknowledged_at")

    def __init__(self, words, key, before, after, reply):
        self.words = words
        self.key = key          # of the client's state
        self.before = before    # what the state there was, if all before it happened
        self.after = after
        self.reply = reply      # what the server must say; None: depends on others
        self.acknowledged_at = None


class Client:
    """`state` maps (user, item) to the set of live kinds, and an own item's name to the value of
    its counter. ("shared",) counts what was added to the counter all clients share."""

    def __init__(self, number, seed, pipeline_max=40):
        self.number = number
        self.random = random.Random(seed)
        self.pipeline_max = pipeline_max
        self.users = [str(1000 * (number + 1) + i) for i in range(USERS - 1)]
        self.users.append(f"{number + 1:08x}-0000-4000-8000-00000000abcd")
        self.items = [f"video:{i}" for i in range(ITEMS)]
        self.own = [f"post:{100 * number + i}" for i in range(3)]
        self.state = {(user, item): frozenset() for user in self.users for item in self.items}
        self.state.update({item: 0 for item in self.own})
        self.state[("shared",)] = 0
        self.tokens = []      # (item, token) that were acknowledged once
        self.tokens_settled = 0
        self.token_next = 0
        self.operations = []  # since the last settle, in the order sent
        self.acknowledged = 0
        self.problem = None
        self.refused = None   # the first -READONLY
        self.total = 0

    # Making operations

    def react(self):
        user, item = self.random.choice(self.users), self.random.choice(self.items)
        kind = self.random.choice(KINDS)
        live = self.state[(user, item)]
        if self.random.random() < 0.6:
            words = ("LIKE", user, item) if kind == "like" else ("REACT", user, kind, item)
            after = live | {kind}
            if kind in EXCLUSIVE:
                after -= set(EXCLUSIVE) - {kind}
            reply = int(kind not in live)
        else:
            words = ("UNLIKE", user, item) if kind == "like" else ("UNREACT", user, kind, item)
            after = live - {kind}
            reply = int(kind in live)
        return Operation(words, (user, item), live, frozenset(after), reply)

    def add(self):
        item, delta = self.random.choice(self.own), self.random.randint(-3, 9)
        value = self.state[item] + delta
        return Operation(("ADD", item, "view", delta), item, self.state[item], value, value)

    def add_with_token(self):
        item = self.random.choice(self.own)
        self.token_next += 1
        token = f"t{self.number}.{self.token_next}"
        value = self.state[item] + 7
        return Operation(("ADD", item, "view", 7, "TOKEN", token), item, self.state[item], value,
                         value)

    def add_again(self):
        """A token that was acknowledged before: nothing may be added."""
        item, token = self.random.choice(self.tokens)
        value = self.state[item]
        return Operation(("ADD", item, "view", 7, "TOKEN", token), item, value, value, value)

    def add_shared(self):
        value = self.state[("shared",)]
        return Operation(("ADD", SHARED, "view", 1), ("shared",), value, value + 1, None)

    def make(self):
        chance = self.random.random()
        if chance < 0.80:
            operation = self.react()
        elif chance < 0.88:
            operation = self.add()
        elif chance < 0.93:
            operation = self.add_with_token()
        elif chance < 0.96 and self.tokens:
            operation = self.add_again()
        else:
            operation = self.add_shared()
        self.state[operation.key] = operation.after
        return operation

    # Running them

    def take_reply(self, operation, reply):
        if isinstance(reply, Error):
            if reply.startswith("READONLY"):
                self.refused = self.refused or reply
                return False
            raise Failed(f"{operation.words}: {reply}")
        if operation.reply is not None:
            expect_equal(reply, operation.reply, f"the reply to {operation.words}")
        operation.acknowledged_at = time.monotonic()
        self.acknowledged += 1
        self.total += 1
        if "TOKEN" in operation.words and len(self.tokens) < 500:
            self.tokens.append((operation.words[1], operation.words[5]))
        return True

    def burst(self, connection):
        count = self.random.randint(1, self.pipeline_max)
        made = [self.make() for _ in range(count)]
        self.operations += made
        connection.send_raw(b"".join(encode(*operation.words) for operation in made))
        for operation in made:
            if not self.take_reply(operation, connection.read()):
                return False
        return True

    def run(self, port, stop):
        """Until told to stop, refused, or cut off."""
        try:
            with Connection(port) as connection:
                while not stop.is_set() and self.burst(connection):
                    pass
        except (Closed, ConnectionError):
            pass
        except Exception as problem:
            self.problem = problem

    # Settling after a crash

    def tokens_in_flight(self):
        return [(index, operation) for index, operation in enumerate(self.operations)
                if index >= self.acknowledged and operation.before != operation.after
                and "TOKEN" in operation.words]

    def retry_tokens(self, connection, in_flight, first, last):
        """What was in flight with a token is sent again, twice: now it counts once for all."""
        for index, operation in in_flight:
            value = self.state[operation.key]
            got = connection.call(*operation.words)
            wanted = {value} if index < first else {value + 7} if index >= last else {value,
                                                                                     value + 7}
            expect(got in wanted, f"{operation.words} again: {got}, not one of {wanted}")
            expect_equal(connection.call(*operation.words), got, f"{operation.words} a third time")
            self.state[operation.key] = got

    def acknowledged_before(self, when):
        """How many of the acknowledged operations were so by then."""
        return sum(1 for operation in self.operations[:self.acknowledged]
                   if operation.acknowledged_at <= when)

    def settle(self, actual, at_least=None):
        """Finds the prefix of operations that explains `actual`; returns the fewest and the most
        additions to the shared counter that it stands for. Raises if there is none of at_least
        operations or more (by default: of all that were acknowledged)."""
        if at_least is None:
            at_least = self.acknowledged
        else:
            del self.tokens[self.tokens_settled:]  # they may be lost with their additions
        self.tokens_settled = len(self.tokens)
        state = dict(self.state)
        for operation in reversed(self.operations):
            state[operation.key] = operation.before
        shared = state[("shared",)]
        different = {key for key in actual if actual[key] != state[key]}
        fits = []
        for done in range(len(self.operations) + 1):
            if done >= at_least and not different:
                fits.append((done, shared))
            if done < len(self.operations):
                operation = self.operations[done]
                if operation.key == ("shared",):
                    shared = operation.after
                elif actual[operation.key] != operation.after:
                    different.add(operation.key)
                else:
                    different.discard(operation.key)
        if not fits:
            raise Failed(self.explain(actual, at_least))
        self.state.update(actual)
        self.operations, self.acknowledged, self.refused = [], 0, None
        return fits[0], fits[-1]

    def explain(self, actual, at_least):
        state = dict(self.state)
        for operation in reversed(self.operations[at_least:]):
            state[operation.key] = operation.before
        wrong = [f"{key}: {set_text(state[key])} promised, {set_text(actual[key])} found"
                 for key in actual if actual[key] != state[key]]
        return (f"client {self.number}: {at_least} of {len(self.operations)} operations had to be "
                f"there, and no such state is found; {len(wrong)} differ: {'; '.join(wrong[:5])}")


def set_text(value):
    return "{" + ",".join(sorted(value)) + "}" if isinstance(value, frozenset) else str(value)


class Noise:
    """Load from `laud bench` beside the clients, on users and items of its own: enough of it that
    the journal goes from segment to segment while the clients are at work."""

    def __init__(self, port, seed, *more):
        self.process = subprocess.Popen(
            [need_binary(LAUD), "bench", "--port", str(port), "--connections", "4", "--pipeline",
             "64", "--seconds", "3600", "--id-base", "1000000000", "--seed", str(seed), "--quiet",
             "--allow-errors", *more, "LIKE {user} noise:{item}"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=clean_environment(), preexec_fn=die_with_parent)

    def stop(self):
        self.process.kill()
        self.process.wait()


# All clients together

def start_threads(clients, port):
    stop = threading.Event()
    threads = [threading.Thread(target=client.run, args=(port, stop)) for client in clients]
    for thread in threads:
        thread.start()
    return stop, threads


def join_threads(clients, threads):
    for thread in threads:
        thread.join()
    for client in clients:
        if client.problem:
            raise client.problem


def look(connection, clients):
    """The whole state as the server tells it: one dict a client, and the counters of all items."""
    states, commands = [], []
    for client in clients:
        for user in client.users:
            commands += [("REACTED", user, kind, *client.items) for kind in KINDS]
        commands.append(("COUNTS", *client.own))
    replies = iter(connection.pipeline(commands))
    for client in clients:
        state = {}
        for user in client.users:
            flags = [next(replies) for _ in KINDS]
            for i, item in enumerate(client.items):
                state[(user, item)] = frozenset(kind for kind, flag in zip(KINDS, flags) if flag[i])
        for item, counters in zip(client.own, next(replies)):
            state[item] = pairs(counters).get("view", 0)
        states.append(state)
    items = clients[0].items + [SHARED]
    counters = dict(zip(items, map(pairs, connection.call("COUNTS", *items))))
    return states, counters


def expect_exact_counts(states, counters):
    """Every counter of a kind is the number of distinct live reactions."""
    live = {}
    for state in states:
        for key, kinds in state.items():
            if isinstance(kinds, frozenset):
                expect(not set(EXCLUSIVE) <= kinds, f"{key} is both like and dislike")
                for kind in kinds:
                    live[(key[1], kind)] = live.get((key[1], kind), 0) + 1
    for item, kept in counters.items():
        for kind in KINDS:
            expect_equal(kept.get(kind, 0), live.get((item, kind), 0), f"count of {kind} on {item}")


def settle_all(connection, clients, at_least=None):
    """Looks, and checks everything there is to check. at_least: how many operations of each client
    must be there. Returns how many acknowledged operations were found missing."""
    states, counters = look(connection, clients)
    expect_exact_counts(states, counters)
    low = high = missing = 0
    for i, client in enumerate(clients):
        acknowledged, in_flight = client.acknowledged, client.tokens_in_flight()
        first, last = client.settle(states[i], at_least[i] if at_least else None)
        low, high = low + first[1], high + last[1]
        missing += max(0, acknowledged - last[0])
        client.retry_tokens(connection, in_flight, first[0], last[0])
    shared = counters[SHARED].get("view", 0)
    expect(low <= shared <= high, f"the shared counter is {shared}, not from {low} to {high}")
    share_out(clients, shared)
    return missing


def share_out(clients, shared):
    """From here on, the first client stands for all that was added to the shared counter."""
    for client in clients:
        client.state[("shared",)] = 0
    clients[0].state[("shared",)] = shared
