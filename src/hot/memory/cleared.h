/*
 * Notes of the reactions of one user shard that were cleared lately. The store may still have such a
 * reaction, and until the projector has removed it there, the note says that it is not set. Each note has
 * the stamp of its event (clean.h) and is removed once the stamp is clean.
 *
 * The memory comes from the shard's slab. All functions are called under the shard's lock.
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
    uint32_t oldest; /* a chain of cells in the order in which they were added */
    uint32_t newest;
    uint64_t seed;
};

/* The seed prevents clients from choosing ids whose hashes collide. */
void cleared_init(struct cleared *cleared, struct slab *slab, uint64_t seed);
void cleared_destroy(struct cleared *cleared);

bool cleared_has(const struct cleared *cleared, const struct cleared_key *key);

/*
 * Adds a note for a reaction that has none yet, and returns its cell; 0: no memory. The note is valid at
 * once. Before the caller unlocks the shard, it either gives the note the stamp of the recorded event, or
 * gives it up. The newest note has to be given up first.
 */
uint32_t cleared_add(struct cleared *cleared, const struct cleared_key *key);
void cleared_stamp(struct cleared *cleared, uint32_t cell, uint32_t stamp);
void cleared_give_up(struct cleared *cleared, uint32_t cell);

/* Removes the note of a reaction that is set again, if there is one. */
void cleared_remove(struct cleared *cleared, const struct cleared_key *key);

/* Removes up to `most` of the oldest notes, if their stamps are below `clean`. */
void cleared_expire(struct cleared *cleared, uint32_t clean, uint32_t most);

/* Copies the cells in retiring pages of the slab to other pages; false: no memory for this. */
bool cleared_relocate(struct cleared *cleared);

#endif
