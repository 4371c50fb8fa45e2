/*
 * One shard of users: a table from a user's id to that user's shelves. A row contains the first shelf, so
 * that a user with one shelf, which is the most common case, needs only the row. Further shelves are in a
 * chain.
 *
 * All functions except those for prefetching are called under the shard's lock. The memory belongs to
 * the shard's slab.
 */
#ifndef LAUD_HOT_MEMORY_USERS_H
#define LAUD_HOT_MEMORY_USERS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/id.h"
#include "base/table.h"
#include "hot/memory/cleared.h"
#include "hot/memory/shelf.h"

struct user_row {
    struct shelf first; /* its flag SHELF_ROW_WIDE says whether the user's id is wide */
    uint64_t id_lo;
    uint64_t id_hi[]; /* if wide */
};

static inline struct id user_of(const struct user_row *row)
{
    return (struct id){.hi = row->first.flags & SHELF_ROW_WIDE ? row->id_hi[0] : 0,
                       .lo = row->id_lo};
}

#define ABSENT_KEYS   64  /* a power of two */
#define CHANGED_SLOTS 256 /* a power of two */

struct user_shard {
    _Alignas(64) pthread_mutex_t lock;
    struct table table;
    uint64_t shelves;   /* in use */
    uint64_t reactions; /* on them */
    uint64_t denied;    /* lookups that a filter answered with no */
    bool long_shelves;  /* a shelf may be too long; the keeper shortens it later */
    struct cleared cleared;
    struct slab slab;
    /* Reactions that were found neither in memory nor in the store; the hash gives the slot. */
    bool absent_any; /* a slot was ever used */
    struct {
        struct cleared_key key;
        bool used;
    } absent[ABSENT_KEYS];
    uint32_t
        changed[CHANGED_SLOTS]; /* stamps; the users of a slot did not change after its stamp */
};

/* The stamp of the last change of a user, or a later one. */
static inline uint32_t *user_changed(struct user_shard *shard, uint64_t hash)
{
    return &shard->changed[hash & (CHANGED_SLOTS - 1)];
}

/* The cells that a new reaction needs. They are allocated before anything is changed. */
struct user_room {
    struct user_row *row; /* the user's row, NULL if there is none yet */
    struct shelf *shelf;  /* the shelf, NULL if there is none yet */
    uint32_t row_cell;    /* 0 if it is not needed, as for the next two */
    uint32_t shelf_cell;
    uint32_t chunk_cell;
    uint8_t flags; /* of the shelf, if it has to be made */
};

bool user_shard_init(struct user_shard *shard, struct slab_pool *pool, uint64_t seed);
void user_shard_destroy(struct user_shard *shard);

struct user_row *user_find(const struct user_shard *shard, uint64_t hash, struct id user);

/* The shelf for an item, NULL if there is none. `warm` is SHELF_WARM for the warm shelf, otherwise 0. */
struct shelf *user_shelf(const struct user_shard *shard, struct user_row *row, uint8_t kind,
                         struct item item, uint8_t warm);

/* Does the user have so many shelves that no more should be made? */
bool user_has_many_shelves(const struct user_shard *shard, const struct user_row *row);

/* Evicts a clean shelf whose type is not `but`; false: there is none. */
bool user_drop_shelf(struct user_shard *shard, struct user_row *row, uint16_t but, uint32_t clean);

/* The shelf after this one of the same user, NULL at the end. */
static inline struct shelf *user_next_shelf(const struct user_shard *shard,
                                            const struct shelf *shelf)
{
    return shelf->next == 0 ? NULL : slab_at(&shard->slab, shelf->next);
}

/*
 * Allocates the cells that one more reaction of this kind on this item needs; false: no memory. If a shelf
 * has to be made, it gets these flags (SHELF_WARM, SHELF_INCOMPLETE, SHELF_SOLE). user_release frees the
 * cells again.
 */
bool user_reserve(struct user_shard *shard, uint64_t hash, struct user_row *row, struct id user,
                  uint8_t kind, struct item item, uint8_t flags, struct user_room *room);
void user_release(struct user_shard *shard, struct id user, uint8_t kind, struct item item,
                  struct user_room *room);

/* Adds the reaction, with the cells in `room`, and returns the shelf on which it is now the newest. */
struct shelf *user_push(struct user_shard *shard, uint64_t hash, struct id user, uint8_t kind,
                        struct shelf_entry entry, uint16_t type, uint32_t stamp,
                        struct user_room *room);

/* Removes a reaction from its shelf, and retires the shelf if it is empty then. */
void user_remove(struct user_shard *shard, struct user_row *row, struct shelf *shelf,
                 struct shelf_slot slot);

/* Retires a shelf that has become empty: it is freed, or is unused if it is the row's first shelf. */
void user_retire_shelf(struct user_shard *shard, struct user_row *row, struct shelf *shelf);

static inline void user_touch(struct user_row *row)
{
    if (row->first.flags & SHELF_AGE)
        row->first.flags &= (uint8_t)~SHELF_AGE;
}

/* Evicts the user in a cell with all shelves. */
void user_evict(struct user_shard *shard, uint64_t hash, uint32_t cell);
/*
 * Copies those of the user's cells that are in retiring pages of the slab to other pages. *cell changes
 * if the row itself was copied. False: no memory.
 */
bool user_relocate(struct user_shard *shard, uint64_t hash, uint32_t *cell);

/* Notes of reactions that were found absent. A note is valid until the slot is used for another one. */
bool user_absent_has(const struct user_shard *shard, const struct cleared_key *key);
void user_absent_add(struct user_shard *shard, const struct cleared_key *key);
void user_absent_remove(struct user_shard *shard, const struct cleared_key *key);

/*
 * Prefetching takes no lock and has three steps, with some time between them: first table_prefetch; then
 * user_prefetch, which prefetches the row that most likely is the user's, together with its first chunk,
 * which is mostly the only one and follows the row in memory; then user_prefetch_on with the result.
 */
static inline uint32_t user_prefetch(const struct user_shard *shard,
                                     const struct table_bucket *bucket, uint64_t hash)
{
    return table_prefetch_next(&shard->table, bucket, hash, 2 * SLAB_LINE);
}

/*
 * Prefetches the newest chunk of the row's first shelf; or the row, if it is in the overflow of a full
 * bucket.
 */
static inline void user_prefetch_on(const struct user_shard *shard, uint32_t next, uint64_t hash)
{
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    (void)shard; /* the row may have been freed or reused: harmless, but sanitizers report it */
    (void)next;
    (void)hash;
#else
    table_prefetch_rest(&shard->table, next, hash, 2 * SLAB_LINE);
    if (next == 0 || next & TABLE_LINK)
        return;
    const struct user_row *row = slab_hint(&shard->slab, next);
    if (row == NULL)
        return;
    const char *at =
        slab_hint(&shard->slab, atomic_load_explicit(&row->first.newest, memory_order_acquire));
    if (at == NULL)
        return;
    __builtin_prefetch(at, 1);
    __builtin_prefetch(at + SLAB_LINE, 1);
#endif
}

#endif
