"""Owners: clients whose model is exact over far more data than the server may keep in memory.

Each owner has users and items that nobody else touches, so that every reply about them is known;
likes on shared items are known one by one, their counters when all owners are added up. Replies are
foretold when they arrive, not when a command is sent: one that was refused as BUSY has changed
nothing, is sent again, and those behind it in the pipeline are still judged rightly.
"""
import random
import threading

from laud import Closed, Connection, Error, Failed, expect, expect_equal, pairs

BASE = 10_000_000  # ids of one owner
USERS = 150_000
SHARED = 5000
BATCH = 200
WRITES = ("LIKE", "UNLIKE", "ADD")


class Owner:
    """`liked` maps a user to the set of its items, `likes` and `views` an own item to its counters;
    `shared` has this owner's part of the counters of shared items."""

    def __init__(self, number, seed):
        self.first = BASE * (number + 1)
        self.random = random.Random(seed)
        self.liked, self.likes, self.views, self.shared = {}, {}, {}, {}
        self.loaded = 0     # users that were given a first like
        self.recent = []    # (user, item) that were liked once, a random some of them
        self.again = []     # refused as BUSY
        self.pending = []   # sent, without an answer
        self.done = self.busy = 0
        self.problem = None

    def change(self, user, item, by):
        """One like more or less."""
        if by > 0:
            self.liked.setdefault(user, set()).add(item)
        else:
            self.liked[user].discard(item)
        counters = self.likes if item.startswith("own") else self.shared
        counters[item] = counters.get(item, 0) + by

    def has(self, user, item):
        return item in self.liked.get(user, ())

    def counters(self, item):
        known = {"like": self.likes.get(item, 0), "view": self.views.get(item, 0)}
        return {name: value for name, value in known.items() if value}

    # Making commands

    def any_user(self):
        return self.first + self.random.randrange(USERS)

    def any_item(self):
        if self.random.random() < 0.1:
            return f"video:{self.random.randrange(SHARED)}"
        return f"own:{self.first + self.random.randrange(USERS)}"

    def own_item(self):
        return f"own:{self.first + self.random.randrange(USERS)}"

    def known_like(self):
        """Something that was liked at some time, if there is any."""
        if not self.recent or self.random.random() < 0.5:
            user = self.first + self.random.randrange(max(1, self.loaded))
            return user, f"own:{user}"
        return self.random.choice(self.recent)

    def make(self):
        chance = self.random.random()
        if chance < 0.30:
            made = ("LIKE", self.any_user(), self.any_item())
            if len(self.recent) < 20_000:
                self.recent.append(made[1:])
        elif chance < 0.40:
            made = ("LIKE", *self.known_like())
        elif chance < 0.52:
            made = ("UNLIKE", *self.known_like())
        elif chance < 0.64:
            made = ("ADD", self.own_item(), "view", self.random.randint(-2, 5))
        elif chance < 0.76:
            user, item = self.known_like()
            made = ("LIKED", user, item, *(self.any_item() for _ in range(3)))
        elif chance < 0.88:
            made = ("COUNTS", self.known_like()[1], self.own_item(), self.own_item())
        else:
            user, item = self.known_like()
            made = ("FEED", user, item, self.any_item(), self.any_item())
        return made

    # Judging replies

    def take(self, made, reply):
        if isinstance(reply, Error):
            if not reply.startswith("BUSY"):
                raise Failed(f"{made}: {reply}")
            self.busy += 1
            self.again.append(made)
            return
        self.done += 1
        expect_equal(reply if made[0] != "COUNTS" else [pairs(one) for one in reply],
                     *self.foretell(made, reply), f"{made}")

    def foretell(self, made, reply):
        if made[0] == "ADD":
            self.views[made[1]] = self.views.get(made[1], 0) + made[3]
            return (self.views[made[1]],)
        if made[0] == "COUNTS":
            return ([self.counters(item) if item.startswith("own") else pairs(got)
                     for item, got in zip(made[1:], reply)],)
        if made[0] == "LIKED":
            return ([int(self.has(made[1], item)) for item in made[2:]],)
        if made[0] == "FEED":
            return ([self.foretell_feed(made[1], item, got) for item, got in zip(made[2:], reply)],)
        has = self.has(made[1], made[2])
        changed = has == (made[0] == "UNLIKE")
        if changed:
            self.change(made[1], made[2], -1 if has else 1)
        return (int(changed),)

    def foretell_feed(self, user, item, got):
        """The counters of own items may come in any order, those of shared ones may be anything."""
        fits = not item.startswith("own") or pairs(got[1]) == self.counters(item)
        return [["like"] if self.has(user, item) else [], got[1] if fits else self.counters(item)]

    # Running

    def load(self, connection, count):
        """First likes, user by user; a little faster than the rest."""
        while self.loaded < count:
            users = range(self.first + self.loaded, self.first + min(self.loaded + 1000, count))
            made = [("LIKE", user, f"own:{user}") for user in users]
            self.exchange(connection, made)
            while self.again:
                self.exchange(connection, self.take_again())
            self.loaded += len(made)

    def take_again(self):
        again, self.again = self.again[:BATCH], self.again[BATCH:]
        return again

    def exchange(self, connection, made):
        self.pending = list(made)
        connection.send_raw("".join(" ".join(map(str, words)) + "\r\n" for words in made).encode())
        for place, words in enumerate(made):
            reply = connection.read()
            self.pending[place] = None
            self.take(words, reply)
        self.pending = []

    def work(self, port, count):
        """So many commands, or until cut off."""
        try:
            with Connection(port) as connection:
                goal = self.done + count
                while self.done < goal or self.again:
                    made = self.take_again()
                    made += [self.make() for _ in range(BATCH - len(made))]
                    self.exchange(connection, made)
        except (Closed, ConnectionError):
            pass
        except Exception as problem:
            self.problem = problem

    # After a crash

    def settle(self, connection):
        """Commands without an answer were each carried out or not; what they were about is asked
        for, and must be one of the two."""
        unknown = [made for made in self.pending if made and made[0] in WRITES]
        self.pending = []
        for user, item in {made[1:3] for made in unknown if made[0] != "ADD"}:
            live = bool(connection.call("LIKED", user, item)[0])
            tried = {made[0] for made in unknown if made[1:3] == (user, item)}
            if live != self.has(user, item):
                expect(("LIKE" if live else "UNLIKE") in tried, f"{user} {item} changed by itself")
                self.change(user, item, 1 if live else -1)
        for item in {made[1] for made in unknown if made[0] == "ADD"}:
            value = connection.counters(item).get("view", 0)
            possible = {self.views.get(item, 0)}
            for made in unknown:
                if made[0] == "ADD" and made[1] == item:
                    possible |= {before + made[3] for before in possible}
            expect(value in possible, f"view of {item} is {value}, not one of {possible}")
            self.views[item] = value

    def check_all(self, connection):
        """A third of the users that ever liked, every own item."""
        users = self.random.sample(list(self.liked), len(self.liked) // 3)
        for start in range(0, len(users), 1000):
            self.exchange(connection, [("LIKED", user, *sorted(self.liked[user])[:900],
                                        self.own_item()) for user in users[start:start + 1000]])
        for start in range(0, max(USERS, self.loaded), 500):
            self.exchange(connection, [("COUNTS", *(f"own:{self.first + start + i}"
                                                    for i in range(500)))])
        expect(not self.again, "a read was refused when nothing else went on")


def all_at_once(owners, task, meanwhile=None):
    """task(owner) in a thread of its own for each, and the first problem that one of them met."""
    threads = [threading.Thread(target=task, args=(owner,)) for owner in owners]
    for thread in threads:
        thread.start()
    if meanwhile:
        meanwhile()
    for thread in threads:
        thread.join()
    for owner in owners:
        if owner.problem:
            raise owner.problem


def load_together(owners, port, count):
    """Every owner has so many users with a first like after this."""
    def load(owner):
        try:
            with Connection(port) as connection:
                owner.load(connection, count)
        except Exception as problem:
            owner.problem = problem
    all_at_once(owners, load)


def run_together(owners, port, count, while_running=None):
    """All owners at work; while_running() is called meanwhile."""
    all_at_once(owners, lambda owner: owner.work(port, count), while_running)


def check_shared(owners, connection):
    for start in range(0, SHARED, 500):
        items = [f"video:{i}" for i in range(start, start + 500)]
        for item, counters in zip(items, connection.call("COUNTS", *items)):
            wanted = sum(owner.shared.get(item, 0) for owner in owners)
            expect_equal(pairs(counters).get("like", 0), wanted, f"likes of {item}")
