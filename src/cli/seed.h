/*
 * The seed of the hash tables: a number that nobody can guess, so that nobody can choose ids that all
 * fall into one place.
 *
 * A server without a store keeps it, in a file of the data directory. Which users and items share a
 * shard, and so its pages, follows from it: with the same seed the journal goes into memory as it did
 * while it was served, and whatever fitted then fits at the next start.
 */
#ifndef LAUD_CLI_SEED_H
#define LAUD_CLI_SEED_H

#include <stdint.h>

#define SEED_NAME "seed"

uint64_t seed_new(void);

/*
 * That of the directory, made if it has none. One that cannot be read or written is told, and then it is
 * a new one: that is no error, for a start only may need somewhat more memory then.
 */
uint64_t seed_keep(const char *directory);

#endif
