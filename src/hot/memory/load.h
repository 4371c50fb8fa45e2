/*
 * Loading from the store into memory, by worker threads that may wait. While a load is on its way,
 * nothing that was changed after it began can become clean: so when its answer arrives, memory
 * knows of everything that the answer may lack, and "not in memory" still means "as the store says".
 *
 * Many who ask for the same key at once cause one read: whoever comes second waits for the first.
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

#define LOAD_NOBODY UINT32_MAX          /* the number of who is no worker */
#define LOAD_KEEPER LIMIT_WORKERS       /* that of the keeper */
#define LOAD_BOARDS (LIMIT_WORKERS + 1) /* that of the boards' filler */
#define LOADERS     (LIMIT_WORKERS + 2)
#define LOAD_KEYS   128 /* read of the store at a time */

struct hot_memory;

/* What a request has to wait for. */
enum hot_need {
    NEED_NOTHING,
    NEED_REACTIONS, /* whether some of its reactions are in the store */
    NEED_ITEM,      /* its item's counters */
    NEED_MEMORY,    /* that something be evicted */
};

/* What was read of the store for one SET or CLEAR. */
struct hot_reads {
    uint32_t count;
    struct store_reaction keys[1 + LIMIT_EXCLUSIVE];
};

struct loads {
    _Alignas(64) _Atomic uint64_t applied; /* the position the projector has reached */
    _Atomic uint64_t begun[LOADERS];       /* what it was when a worker's load began; UINT64_MAX */

    pthread_mutex_t lock;
    pthread_cond_t ended;
    struct {
        uint32_t count;
        uint64_t keys[LOAD_KEYS]; /* hashes of what a worker is reading */
    } claims[LOADERS];

    pthread_rwlock_t base_lock;
    struct store_snapshot *base; /* the store at start: what partial rows lack; NULL: none does */

    struct {
        _Atomic uint64_t items;     /* read of the store */
        _Atomic uint64_t reactions; /* likewise */
        _Atomic uint64_t shared;    /* that waited for another's read instead */
        _Atomic uint64_t hits;      /* that a filter let through, and were there */
        _Atomic uint64_t misses;    /* and were not */
    } stats;
};

void loads_init(struct loads *loads);
void loads_destroy(struct loads *loads, struct store_reader *store);

/* Stamps below this are clean. */
uint32_t loads_clean(struct loads *loads);

/* For statistics: the filters let `count` questions pass, and the store had `found` of them. */
void loads_count_found(struct loads *loads, size_t found, size_t count);

/* Around anything that relies on an answer of the store. */
void load_begin(struct loads *loads, unsigned worker);
void load_end(struct loads *loads, unsigned worker);

/*
 * Claims up to LOAD_KEYS keys (hashes) that no other worker is reading: mine[i] tells which; returns
 * how many. Then, once those are in memory: lets them go, and waits until the others are as well.
 */
size_t load_claim(struct loads *loads, unsigned worker, const uint64_t *keys, size_t count,
                  bool *mine);
void load_claim_end(struct loads *loads, unsigned worker, const uint64_t *keys, size_t count,
                    const bool *mine);

/* Brings the counters of items that are not in memory there, as far as there is room. */
enum status load_items(struct hot_memory *hot, unsigned worker, const struct item *items,
                       size_t count);

/* Reads reactions; between load_begin and load_end, with no lock held. */
enum status load_reactions(struct hot_memory *hot, unsigned worker, struct store_reaction *keys,
                           size_t count);

#endif
