/*
 * The items that streams of one I/O thread watch: each once, however many streams do. An item is known
 * by its text as it was asked for; it has its counters as last seen, a version that grows whenever
 * they were seen to differ, and a digest of them that is the same on any server at any time.
 *
 * A counter that went back to 0 is kept, so that a stream can be told of it; it goes with the item.
 *
 * All of it belongs to one thread, and is charged to the budget as memory of connections.
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

struct watched_counter {
    int64_t value;
    uint64_t changed; /* version of the item in which it came to this value */
    uint8_t name;
};

struct watched {
    struct watched *hash_next;
    struct list all;     /* in the table */
    struct list changed; /* in a queue: its viewers are to be told */
    struct list cold;    /* in a queue: its counters are to be read by a worker */
    struct list viewers; /* of struct viewer */
    uint64_t version;    /* 0: it was not read yet */
    uint64_t point;      /* the release point that the version depends on */
    uint64_t digest;
    uint64_t seen;    /* number of the newest stream that was open when its counters were read */
    uint64_t awaited; /* number of the newest stream that began to wait for them to be read */
    uint32_t round;   /* of looking, in which it was last looked at */
    uint32_t walk;    /* through its viewers, that is under way or was the last */
    bool away;        /* with a worker: it is not freed before that is back */
    bool overtaken;   /* it was looked at since it went there: that is newer than what comes back */
    uint16_t count;   /* counters, and for how many there is room */
    uint16_t capacity;
    struct watched_counter *counters;
    struct item item; /* of a type that may be TYPE_UNKNOWN */
    uint64_t hash;
    uint32_t length;
    char text[];
};

/* That somebody watches an item. Embedded in what watches. */
struct viewer {
    struct watched *item;
    struct live_stream *stream; /* that it is a part of; nobody here looks at it */
    struct list link;
    uint64_t told; /* version that the client has; 0: none */
    uint32_t walk; /* the last one that came by */
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
};

void watched_init(struct watched_table *table, struct memory_budget *budget, uint64_t seed);
void watched_free(struct watched_table *table); /* nobody watches any more */

/*
 * Begins to watch an item by its text, which is `type:id`. False: no memory. The viewer stays where
 * it is until watched_leave.
 */
bool watched_join(struct watched_table *table, struct viewer *viewer, struct text text,
                  struct id id);
void watched_leave(struct watched_table *table, struct viewer *viewer);
void watched_back(struct watched_table *table, struct watched *item); /* no longer away */

/* Finds the type of the item if that was not known yet. False: nobody has used it so far. */
bool watched_find_type(struct watched *item, struct names *names);

/*
 * The counters are now these, in any order; zeros count as absent. True: they differ from before, or
 * it is the first time, and the version is a new one. False as well if there is no memory for them:
 * then nothing changed.
 */
bool watched_take(struct watched_table *table, struct watched *item,
                  const struct hot_counter *counters, uint32_t count, const struct names *names);

#endif
