/*
 * The items that the streams of one I/O thread watch: one table of the items whose counters are watched, and
 * one of the subjects whose comments are. Each item is in its table once, however many streams watch it. It is found by its text in the request. It has its counters as they were last read, a
 * version that grows whenever they had changed, and a digest of them that is the same on any server at
 * any time.
 *
 * A counter that became 0 is kept as long as the item, so that streams can be sent the 0.
 *
 * Everything belongs to one thread, and is charged to the budget as memory of connections.
 */
#ifndef LAUD_LIVE_WATCHED_H
#define LAUD_LIVE_WATCHED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/id.h"
#include "base/list.h"
#include "base/memory.h"
#include "base/names.h"
#include "base/text.h"
#include "hot/hot.h"

struct live_stream;
struct news;

struct watched_counter {
    int64_t value;
    uint64_t changed; /* the version of the item in which it got this value */
    uint8_t name;
};

struct watched {
    struct watched *hash_next;
    struct list all;     /* in watched_table.all */
    struct list changed; /* in live->changed, while its viewers may need an event */
    struct list cold;    /* in live->cold, while a worker has to load its counters */
    struct list viewers; /* a list of struct viewer */
    uint64_t version;    /* 0: it was not read yet */
    uint64_t point;      /* the release point that the version depends on */
    uint64_t digest;
    uint64_t seen; /* the number of the newest stream that was open when its counters were read */
    uint64_t awaited; /* the number of the newest stream that waits until they are read */
    uint32_t round;   /* the round of reading in which it was last read */
    uint32_t walk;    /* the number of the current or last walk through its viewers */
    bool away;        /* it is submitted, so it must not be freed until it is back */
    bool overtaken;   /* it was read since it was submitted, so the worker's result is older */
    uint16_t count;   /* how many counters it has */
    uint16_t capacity;
    struct watched_counter *counters;
    struct news *news; /* of a subject; NULL: its counters are watched */
    struct item item;  /* its type may be TYPE_UNKNOWN */
    uint64_t hash;
    uint32_t length;
    char text[];
};

/* One watcher of an item. It is embedded in the stream that watches. */
struct viewer {
    struct watched *item;
    struct live_stream *stream; /* the stream that it belongs to; this file does not use it */
    struct list link;
    uint64_t sent; /* the version that the client has; 0: none */
    uint32_t walk; /* the last walk that has visited it */
};

struct watched_head {
    struct watched *first;
};

struct watched_table {
    struct memory_budget *budget;
    uint64_t seed;
    struct watched_head *heads;
    size_t capacity; /* a power of two, or 0 */
    size_t count;
    struct list all;
    bool of_subjects;
};

/* of_subjects: the comments of the items are watched, not their counters. */
void watched_init(struct watched_table *table, struct memory_budget *budget, uint64_t seed,
                  bool of_subjects);

/* Frees the table. No item may be watched any more. */
void watched_free(struct watched_table *table);

/*
 * Begins to watch the item with this text, `type:id`. False: there is no memory. The address of the
 * viewer must not change until watched_remove.
 */
bool watched_add(struct watched_table *table, struct viewer *viewer, struct text text,
                 struct id id);

/* Ends the watching of one viewer. An item without viewers is freed, unless it is away. */
void watched_remove(struct watched_table *table, struct viewer *viewer);

/* The item is no longer away. It is freed if it has no viewers. */
void watched_back(struct watched_table *table, struct watched *item);

/* Looks up the type of the item, if that is still missing. False: no write has used the type so far. */
bool watched_find_type(struct watched *item, struct names *names);

/*
 * Stores counters that were read, in any order; a counter of 0 counts as absent. True: they differ
 * from before, or they are the first, and the item has a new version. False: they are the same, or
 * there is no memory for them; then nothing changed.
 */
bool watched_take(struct watched_table *table, struct watched *item,
                  const struct hot_counter *counters, uint32_t count, const struct names *names);

#endif
