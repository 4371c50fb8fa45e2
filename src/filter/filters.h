/*
 * The two filters before the store. `live` holds every reaction that the store holds; `known`
 * holds every item with counters there, and every (user, kind, type) that has a reaction there or
 * had one since it was made; nothing is removed from it. Both follow the store: what a batch makes
 * is added before the batch is applied, what it removes is removed after, so that at any moment "no"
 * is true of the store (law 7).
 *
 * They are saved with the position they stand for and loaded at start; if the file is not there,
 * or not good, they are made anew by visiting the store. A filter that has grown, or holds little of
 * what it did, is moved to one that is made for what the store has, while everybody goes on.
 *
 * One thread at a time follows, moves, saves, loads and rebuilds. Any thread may ask, but only once they
 * stand for the store: nobody asks while they are loaded or rebuilt.
 */
#ifndef LAUD_FILTER_FILTERS_H
#define LAUD_FILTER_FILTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/id.h"
#include "base/memory.h"
#include "base/status.h"
#include "filter/filter.h"
#include "store/store.h"

struct filters;

/*
 * Called now and then while loading (bytes) or rebuilding (reactions, their total an estimate until
 * the last call), and at the end of it. False: give it up, with STOPPING. Where one is taken it may be
 * NULL.
 */
typedef bool filters_progress_fn(void *context, uint64_t done, uint64_t total);

struct filters *filters_new(struct memory_budget *budget, uint64_t seed); /* NULL: no memory */
void filters_free(struct filters *filters);

/* Any thread: "false" means that the store has none. */
bool filters_may_have_reaction(const struct filters *filters, struct id user, uint8_t kind,
                               struct item item);
bool filters_may_have_shelf(const struct filters *filters, struct id user, uint8_t kind,
                            uint16_t type);
bool filters_may_have_item(const struct filters *filters, struct item item);
/* Returns its key: whoever fetches ahead need not hash it again to ask. */
uint64_t filters_prefetch_reaction(const struct filters *filters, struct id user, uint8_t kind,
                                   struct item item);
bool filters_may_have_key(const struct filters *filters, uint64_t reaction_key);
void filters_prefetch_item(const struct filters *filters, struct item item);
void filters_stats(const struct filters *filters, struct filter_stats *live,
                   struct filter_stats *known);

/* Bytes that they may still take of a budget that is theirs alone; UINT64_MAX: it is not. */
uint64_t filters_room(const struct filters *filters);

struct filters_move_stats {
    uint64_t moves; /* ended, since start */
    uint64_t bytes; /* of the filters that are being made, beside those in use; 0: none are */
    uint32_t part;  /* of STORE_PARTITIONS, how far they are */
};
void filters_move_stats(const struct filters *filters, struct filters_move_stats *out);

/* Around store_apply of the same changes. */
void filters_before(struct filters *filters, const struct store_changes *changes);
void filters_after(struct filters *filters, const struct store_changes *changes);

/*
 * Between two batches: does a little to bring a filter that has several segments, or will have soon,
 * into one, one that is far too large to its size, and one that is open to its senses. MORE: call it
 * again; OK: there is nothing to be done now. Anything else is what the store said, or NO_MEMORY: the
 * filters are as they were, and a later call begins anew.
 */
enum status filters_move(struct filters *filters, struct store_admin *admin);

/*
 * Whole file, checksummed, with format version, the seed and the position; written beside and
 * renamed, synced with its directory. -errno or 0; after an error the file is the one before, or
 * the new one if only the directory could not be synced. Filters of which one is open are saved
 * as such, and loading that says DAMAGED: they must be rebuilt.
 */
int filters_save(const struct filters *filters, const char *path, uint64_t position);

/*
 * Into filters as filters_new made them; takes over the file's seed. OK; MORE: there is no such
 * file; DAMAGED: it does not verify, or is of another version; IO_FAILED, NO_MEMORY. After any
 * but OK the filters are as new. `problem` (size bytes) gets a sentence.
 */
enum status filters_load(struct filters *filters, const char *path, uint64_t *position,
                         filters_progress_fn *progress, void *context, char *problem, size_t size);

/*
 * From what the store has. What the store says, or NO_MEMORY; after any but OK the filters are as
 * they were. There is no failure for lack of memory later on: a filter that cannot grow is open.
 */
enum status filters_rebuild(struct filters *filters, struct store_admin *admin,
                            filters_progress_fn *progress, void *context);

#endif
