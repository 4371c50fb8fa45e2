/*
 * The times of reactions that a change replaces. By-item and by-user rows have the time in their keys, so
 * the time that the store has is needed to delete the row. It is read from the relation row. Only the
 * thread that applies changes uses this.
 */
#ifndef LAUD_STORE_ROCKSDB_REPLACED_H
#define LAUD_STORE_ROCKSDB_REPLACED_H

#include "store/rocksdb/private.h"

/* The reactions of one span of a change. */
struct replaced {
    const struct store_reaction *reactions;
    size_t count;
    size_t lived;          /* how many of them the store has already */
    const uint32_t *times; /* by index; set only where the store has the reaction */
};

struct replaced replaced_of(const struct store_reaction *reactions, size_t count);

/*
 * Fills the times of both spans. They are valid until the next call. DAMAGED: a change says that the store
 * has a reaction, and the store does not have it.
 */
enum status replaced_find(struct store_rocksdb *rocks, struct replaced *user,
                          struct replaced *item);

/* 0: the store does not have the reaction. */
static inline uint32_t replaced_time(const struct replaced *replaced, size_t at)
{
    return replaced->reactions[at].was_live ? replaced->times[at] : 0;
}

#endif
