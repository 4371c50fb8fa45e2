/*
 * The seed of the hash tables: a number that nobody can guess, so that nobody can choose ids that all
 * have the same hash.
 *
 * A server without a store keeps its seed in a file of the data directory. The seed decides which
 * users and items share a shard, and therefore its pages. With the same seed, replaying the journal
 * fills memory in the same way as serving did, so that what fitted then fits at the next start.
 */
#ifndef LAUD_CLI_SEED_H
#define LAUD_CLI_SEED_H

#include <stdint.h>

#define SEED_NAME "seed"

/* A new random seed. */
uint64_t seed_new(void);

/*
 * The seed of the directory, which is made if there is none. If it cannot be read or written, this is
 * logged and a new seed is returned. That is no error: the start may only need somewhat more memory.
 */
uint64_t seed_keep(const char *directory);

#endif
