/*
 * The store port: the full base, exact for everything the hot tier does not hold (law 4). Domain
 * level and batch-shaped: many keys in, many answers out; a batch of changes is applied together
 * with the journal position it reaches, in one step (law 5), and applying a batch whose position
 * is not beyond the store's own changes nothing.
 *
 * Any thread may call; calls may block (a disk, a network), so no caller holds an I/O thread on a
 * store that says it may_block. Two real implementations are to come (RocksDB, MySQL); memory/ is
 * the plain reference.
 */
#ifndef LAUD_STORE_STORE_H
#define LAUD_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "base/status.h"

/* A reaction, as key and as row. time_s is 0 where it is not live. */
struct store_reaction {
    struct id user;
    struct item item;
    uint8_t kind;
    uint32_t time_s;
};

struct store_count {
    struct item item;
    uint8_t name;
    int64_t value; /* in a change: the sum to add */
};

struct store_changes {
    const struct store_reaction *reactions; /* net effect: time_s != 0 makes, 0 removes */
    size_t reaction_count;
    const struct store_count *counts;
    size_t count_count;
    uint64_t position; /* reached once this is applied; 0: not tied to the journal */
};

struct store;

struct store_ops {
    const char *name;
    bool may_block;
    /* Fills time_s of each key, all as of one moment: no batch is seen in half. */
    enum status (*read_reactions)(struct store *store, struct store_reaction *keys, size_t count);
    /* Fills value of each (item, name); 0 if there is none. */
    enum status (*read_counts)(struct store *store, struct store_count *keys, size_t count);
    enum status (*apply)(struct store *store, const struct store_changes *changes);
    uint64_t (*position)(struct store *store);
    uint64_t (*reaction_count)(struct store *store);
    void (*close)(struct store *store);
};

struct store {
    const struct store_ops *ops;
};

static inline enum status store_read_reactions(struct store *store, struct store_reaction *keys,
                                               size_t count)
{
    return store->ops->read_reactions(store, keys, count);
}

static inline enum status store_read_counts(struct store *store, struct store_count *keys,
                                            size_t count)
{
    return store->ops->read_counts(store, keys, count);
}

static inline enum status store_apply(struct store *store, const struct store_changes *changes)
{
    return store->ops->apply(store, changes);
}

static inline uint64_t store_position(struct store *store)
{
    return store->ops->position(store);
}

static inline uint64_t store_reaction_count(struct store *store)
{
    return store->ops->reaction_count(store);
}

static inline void store_close(struct store *store)
{
    store->ops->close(store);
}

#endif
