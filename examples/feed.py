"""A like, a double tap, a view and a page of a feed, with redis-py: any Redis client is a client of Laud.

    python3 feed.py [PORT]        (Debian: python3-redis; the server: script/server)

On a new server it prints:

    like: True, again: False
    views: 1, sent again: 1
    video:42 liked 1 likes 1 views
    video:43 not liked 0 likes 0 views
"""
import sys

import redis

laud = redis.Redis("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 5283, decode_responses=True)


def like(user, item):
    """True if the like was set now, False if it was set before. It is always safe to try again."""
    return laud.execute_command("LIKE", user, item) == 1


def view(item, token):
    """The number of views. With the same token again, nothing is added."""
    return laud.execute_command("ADD", item, "view", 1, "TOKEN", token)


def feed(user, items):
    """For each item: the item, whether this user likes it, and its counters."""
    for item, (mine, counts) in zip(items, laud.execute_command("FEED", user, *items)):
        yield item, "like" in mine, dict(zip(counts[::2], counts[1::2]))


print(f"like: {like(7, 'video:42')}, again: {like(7, 'video:42')}")
print(f"views: {view('video:42', 'play-1')}, sent again: {view('video:42', 'play-1')}")
for name, liked, counters in feed(7, ["video:42", "video:43"]):
    print(name, "liked" if liked else "not liked", counters.get("like", 0), "likes", counters.get("view", 0), "views")
