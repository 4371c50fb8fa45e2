/*
 * The reactions of one user shard that were cleared lately: the store may still have them, and until
 * the projector has taken them out there, this is what says that they are gone. Each is stamped
 * with the journal position of its event (see clean.h) and forgotten once that is clean.
 *
 * Cells come from the shard's slab; used under the shard's lock.
 */
#ifndef LAUD_HOT_MEMORY_CLEARED_H
#define LAUD_HOT_MEMORY_CLEARED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/id.h"
#include "base/table.h"

struct cleared_key {
    struct id user;
    struct item item;
    uint8_t kind;
};

struct cleared {
    struct table table;
    uint32_t oldest; /* chain of cells in the order they came */
    uint32_t newest;
    uint64_t seed;
};

/* `seed`: so that nobody can choose ids that all look alike. */
void cleared_init(struct cleared *cleared, struct slab *slab, uint64_t seed);
void cleared_destroy(struct cleared *cleared);

bool cleared_has(const struct cleared *cleared, const struct cleared_key *key);

/*
 * One more, which must not be here yet; 0 past the budget. It counts at once, under the caller's
 * lock, and is either stamped when its event is recorded, or given up, the newest first.
 */
uint32_t cleared_add(struct cleared *cleared, const struct cleared_key *key);
void cleared_stamp(struct cleared *cleared, uint32_t cell, uint32_t stamp);
void cleared_give_up(struct cleared *cleared, uint32_t cell);

/* The reaction is set again; nothing happens if it is not here. */
void cleared_remove(struct cleared *cleared, const struct cleared_key *key);

/* Forgets up to `most` of the oldest whose stamps are below `clean`. */
void cleared_expire(struct cleared *cleared, uint32_t clean, uint32_t most);

/* Moves what lies in retiring pages of the slab; false: no memory for it. */
bool cleared_relocate(struct cleared *cleared);

#endif
