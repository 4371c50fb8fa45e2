/*
 * The two filters of the store. `live` has every reaction that the store has. `known` has every
 * item with counters in the store, and every (user, kind, type) that has a reaction there or had
 * one since the filter was made; nothing is removed from it. Both follow the store: what a batch
 * creates is added before the batch is applied, and what it deletes is removed afterwards. So at
 * any moment a "no" is true for the store (law 7).
 *
 * The filters are saved together with their journal position and loaded at start. If the file does
 * not exist or is not valid, they are rebuilt by visiting the store. A filter that has grown, or
 * that has become mostly empty, is replaced by one that is made for what the store has, while all
 * threads go on.
 *
 * One thread at a time updates, replaces, saves, loads and rebuilds the filters. Any thread may
 * ask, but not while they are loaded or rebuilt.
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
 * Called repeatedly while loading (bytes) or rebuilding (reactions; the total is an estimate until
 * the last call), and at the end. False: stop with STOPPING. The function may be NULL.
 */
typedef bool filters_progress_fn(void *context, uint64_t done, uint64_t total);

/* NULL: there is no memory. */
struct filters *filters_new(struct memory_budget *budget, uint64_t seed);
void filters_free(struct filters *filters);

/* Any thread may call. False: the store does not have it. */
bool filters_may_have_reaction(const struct filters *filters, struct id user, uint8_t kind,
                               struct item item);
bool filters_may_have_shelf(const struct filters *filters, struct id user, uint8_t kind,
                            uint16_t type);
bool filters_may_have_item(const struct filters *filters, struct item item);
/*
 * Returns the key of the reaction, so that the caller need not compute it again for
 * filters_may_have_key.
 */
uint64_t filters_prefetch_reaction(const struct filters *filters, struct id user, uint8_t kind,
                                   struct item item);
bool filters_may_have_key(const struct filters *filters, uint64_t reaction_key);
void filters_prefetch_shelf(const struct filters *filters, struct id user, uint8_t kind,
                            uint16_t type);
void filters_prefetch_item(const struct filters *filters, struct item item);
void filters_stats(const struct filters *filters, struct filter_stats *live,
                   struct filter_stats *known);

/*
 * The bytes that the filters may still take from their budget, if it is theirs alone; otherwise
 * UINT64_MAX.
 */
uint64_t filters_room(const struct filters *filters);

struct filters_move_stats {
    uint64_t moves; /* replacements completed since the start */
    uint64_t bytes; /* size of the filters that are being made; 0: none */
    uint32_t part;  /* how many of STORE_PARTITIONS they include already */
};
void filters_move_stats(const struct filters *filters, struct filters_move_stats *out);

/* Call these before and after store_apply of the same changes. */
void filters_before(struct filters *filters, const struct store_changes *changes);
void filters_after(struct filters *filters, const struct store_changes *changes);

/*
 * Call it between two batches. It does a little work on the replacement of a filter that has
 * several segments or will have them soon, that is far too large, or that is open. MORE: call it
 * again; OK: there is nothing to do now. Any other status is from the store, or NO_MEMORY: the
 * filters are unchanged, and a later call begins again.
 */
enum status filters_move(struct filters *filters, struct store_admin *admin);

/*
 * Saves the filters to a file with format version, seed, position and checksums. The new file is
 * written beside the old one, synced and renamed, and the directory is synced. 0 or -errno; after
 * an error the old file is still there, or the new one if only the sync of the directory failed. If
 * a filter is open, the file says only this, and loading it gives DAMAGED: the filters must be
 * rebuilt.
 */
int filters_save(const struct filters *filters, const char *path, uint64_t position);

/*
 * Loads a file into new filters, including its seed. OK; MORE: there is no such file; DAMAGED: it
 * does not verify or has another version; IO_FAILED, NO_MEMORY. Without OK the filters are as new.
 * `problem` (size bytes) gets a sentence.
 */
enum status filters_load(struct filters *filters, const char *path, uint64_t *position,
                         filters_progress_fn *progress, void *context, char *problem, size_t size);

/*
 * Rebuilds the filters from the store. OK, a status of the store, or NO_MEMORY; without OK the
 * filters are unchanged. A lack of memory during the rebuild is no failure: a filter that cannot
 * grow is open.
 */
enum status filters_rebuild(struct filters *filters, struct store_admin *admin,
                            filters_progress_fn *progress, void *context);

#endif
