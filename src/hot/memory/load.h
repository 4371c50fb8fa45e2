/*
 * Loading from the store into memory, by threads that may wait. While a load is in progress, nothing that
 * was changed after it began can become clean. So when the store's answer arrives, memory still has every
 * change that the answer may lack, and what is not in memory is as the store says.
 *
 * If several workers need the same key at once, one of them reads it and the others wait for that read.
 */
#ifndef LAUD_HOT_MEMORY_LOAD_H
#define LAUD_HOT_MEMORY_LOAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "base/limits.h"
#include "base/status.h"
#include "store/store.h"

#define LOAD_NOBODY UINT32_MAX          /* the `worker` number of threads that may not wait */
#define LOAD_KEEPER LIMIT_WORKERS       /* the number of the keeper */
#define LOAD_BOARDS (LIMIT_WORKERS + 1) /* the number of the boards' filler */
#define LOADERS     (LIMIT_WORKERS + 2)
#define LOAD_KEYS   128 /* read from the store at a time */

struct hot_memory;

/* What a request has to wait for. */
enum hot_need {
    NEED_NOTHING,
    NEED_REACTIONS, /* whether some of its reactions are in the store */
    NEED_ITEM,      /* its item's counters */
    NEED_MEMORY,    /* until the keeper has evicted something */
};

/* What was read from the store for one SET or CLEAR. */
struct hot_reads {
    uint32_t count;
    struct store_reaction keys[1 + LIMIT_EXCLUSIVE];
};

struct loads {
    _Alignas(64) _Atomic uint64_t applied; /* the position that the projector has reached */
    _Atomic uint64_t begun[LOADERS]; /* `applied` when the load began; UINT64_MAX: there is none */

    pthread_mutex_t lock;
    pthread_cond_t ended;
    struct {
        uint32_t count;
        uint64_t keys[LOAD_KEYS]; /* hashes of the keys that a worker is reading */
    } claims[LOADERS];

    pthread_rwlock_t base_lock;
    struct store_snapshot
        *base; /* the store at the start, to complete partial rows; NULL: none is partial */

    struct {
        _Atomic uint64_t items;     /* read from the store */
        _Atomic uint64_t reactions; /* read from the store */
        _Atomic uint64_t shared;    /* keys for which a worker waited for the read of another one */
        _Atomic uint64_t hits;      /* keys that a filter let pass and the store had */
        _Atomic uint64_t misses;    /* keys that a filter let pass and the store did not have */
    } stats;
};

void loads_init(struct loads *loads);
void loads_destroy(struct loads *loads, struct store_reader *store);

/* Stamps below this are clean. */
uint32_t loads_clean(struct loads *loads);
/* The same for entries with exact positions: what was changed at or before this position is clean. */
uint64_t loads_clean_position(struct loads *loads);

/* For statistics: the filters let `count` keys pass, and the store had `found` of them. */
void loads_count_found(struct loads *loads, size_t found, size_t count);

/* A worker uses an answer of the store only between these two calls. */
void load_begin(struct loads *loads, unsigned worker);
void load_end(struct loads *loads, unsigned worker);

/*
 * load_claim claims up to LOAD_KEYS keys (hashes) that no other worker is reading, sets mine[i] for these
 * and returns how many they are. Once they are in memory, load_claim_end gives up the claims and waits
 * until no other worker is reading the other keys.
 */
size_t load_claim(struct loads *loads, unsigned worker, const uint64_t *keys, size_t count,
                  bool *mine);
void load_claim_end(struct loads *loads, unsigned worker, const uint64_t *keys, size_t count,
                    const bool *mine);

/* Loads the counters of those items that are not in memory, as far as there is memory for them. */
enum status load_items(struct hot_memory *hot, unsigned worker, const struct item *items,
                       size_t count);

/* Reads reactions from the store. Called between load_begin and load_end, with no lock held. */
enum status load_reactions(struct hot_memory *hot, unsigned worker, struct store_reaction *keys,
                           size_t count);

#endif
