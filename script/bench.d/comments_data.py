"""The data of the benchmark "comments", for Laud and for Redis, and how they are asked for."""

import json
import socket

import rig

BASE = 10**18                 # all ids have 19 digits
TEXT_BYTES = 200
UNIQUE = "{rand:1000000000000000000-9999999999999999999}"
TEXT = "x" * (TEXT_BYTES - 19) + UNIQUE
PLAIN = "x" * TEXT_BYTES
PAGE = 20
REPLIES = 3
ROOTS = 30                    # of each subject with pages
READERS = 1000
LIKES_OF_A_READER = 20
AT_ONCE = 500


class Client:
    """One connection that sends many commands at once."""

    def __init__(self, server):
        self.socket = socket.create_connection(("127.0.0.1", server.port), timeout=rig.LOAD_SECONDS)
        self.stream = self.socket.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stream.close()
        self.socket.close()

    def call(self, *words):
        return self.all([words])[0]

    def all(self, commands):
        replies = []
        for first in range(0, len(commands), AT_ONCE):
            some = commands[first:first + AT_ONCE]
            parts = []
            for words in some:
                parts.append(b"*%d\r\n" % len(words))
                for word in words:
                    word = word if isinstance(word, bytes) else str(word).encode()
                    parts.append(b"$%d\r\n%s\r\n" % (len(word), word))
            self.socket.sendall(b"".join(parts))
            replies += [rig.reply_read(self.stream) for _ in some]
        return replies


def pairs(reply):
    return dict(zip(reply[::2], reply[1::2]))


def text_of(number):
    return str(number).rjust(TEXT_BYTES, "x")


# Pages: subjects 0 ... subjects - 1 have ROOTS roots with REPLIES replies; root i has the likes of ROOTS - i users, so
# the first PAGE roots are page 1 by top.

def fill_laud(server, subjects):
    """Returns the ids of all comments: for each subject its roots and, for each root, its replies."""
    with Client(server) as client:
        items = [f"video:{BASE + subject}" for subject in range(subjects)]
        posts = [("COMMENT", BASE + root, item, text_of(number * ROOTS + root))
                 for number, item in enumerate(items) for root in range(ROOTS)]
        roots = [pairs(reply)["comment"] for reply in client.all(posts)]
        posts = [("COMMENT", BASE + reply, root, text_of(number * REPLIES + reply))
                 for number, root in enumerate(roots) for reply in range(REPLIES)]
        replies = [pairs(reply)["comment"] for reply in client.all(posts)]
        client.all([("SUBJECTSET", item, "OWNER", BASE + READERS) for item in items])
        client.all([("LIKE", BASE + 2 * READERS + user, root) for number, root in enumerate(roots)
                    for user in range(ROOTS - number % ROOTS)])
        client.all(likes_of_readers(roots, replies))
    return roots, replies


def likes_of_readers(roots, replies):
    """What the readers, and the owner of all subjects, like."""
    everything = roots + replies
    return ([("LIKE", BASE + reader, everything[(reader * 7919 + i * 104729) % len(everything)])
             for reader in range(READERS) for i in range(LIKES_OF_A_READER)] +
            [("LIKE", BASE + READERS, comment) for comment in everything[::10]])


def redis_id(subject, index):
    """Roots are 0 ... ROOTS - 1 and their replies 100 + 3 * root + number."""
    return BASE + subject * 1000 + index


def redis_indices(root):
    return [100 + REPLIES * root + reply for reply in range(REPLIES)]


def fill_redis(server, subjects):
    about = json.dumps({"user": str(BASE), "floor": 1, "time": 1700000000})
    commands = []
    for subject in range(subjects):
        commands.append(("SET", f"subject:{subject}", about))
        for root in range(ROOTS):
            name = redis_id(subject, root)
            commands.append(("ZADD", f"top:{subject}", ROOTS - root, name))
            for index in [root, *redis_indices(root)]:
                each = redis_id(subject, index)
                commands.append(("SET", f"content:{each}", about + text_of(each)))
                commands.append(("HSET", f"counts:{each}", "like", 3, "dislike", 1, "comment", REPLIES))
                if index != root:
                    commands.append(("ZADD", f"replies:{name}", index, each))
    count = subjects * ROOTS
    everything = [redis_id(number // ROOTS, number % ROOTS) for number in range(count)]
    everything += [redis_id(number // ROOTS, index) for number in range(count)
                   for index in redis_indices(number % ROOTS)]
    for _, user, comment in likes_of_readers(everything[:count], everything[count:]):
        commands.append(("SADD", f"mine:{user}", comment))
    with Client(server) as client:
        client.all(commands)


def redis_page():
    """Page 1 in one round trip: the client is given the ids, which it would have to ask for in two more."""
    def comment(index):
        return "{item.1*1000+%d}" % (BASE + index)

    indices = [*range(PAGE), *(index for root in range(PAGE) for index in redis_indices(root))]
    ids = " ".join(comment(index) for index in indices)
    parts = ["ZREVRANGE top:{item.1} 0 %d" % (PAGE - 1), "GET subject:{item.1}",
             "MGET " + " ".join("content:" + comment(index) for index in indices)]
    parts += [f"HMGET counts:{comment(index)} like dislike comment" for index in indices]
    parts += [f"ZRANGE replies:{comment(root)} 0 {REPLIES - 1}" for root in range(PAGE)]
    parts += ["SMISMEMBER mine:{user+%d} %s" % (BASE, ids), f"SMISMEMBER mine:{BASE + READERS} {ids}"]
    return " ; ".join(parts)


def laud_page():
    return "COMMENTS video:{item+%d} BY top FOR {user+%d} REPLIES %d LIMIT %d" % (BASE, BASE, REPLIES, PAGE)


def http_page():
    return "GET /v1/items/video:{item+%d}/comments?by=top&for={user+%d}&replies=%d&limit=%d" % (
        BASE, BASE, REPLIES, PAGE)
