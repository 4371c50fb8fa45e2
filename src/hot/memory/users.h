/*
 * One shard of users: from a user's id to that user's shelves. A row carries its first shelf within
 * itself, so that the common user, with one shelf, costs one row; others hang in a chain from it.
 *
 * Used under the shard's lock.
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
    struct shelf first; /* its SHELF_ROW_WIDE tells whether the user's id is wide */
    uint64_t id_lo;
    uint64_t id_hi[]; /* if wide */
};

static inline struct id user_of(const struct user_row *row)
{
    return (struct id){.hi = row->first.flags & SHELF_ROW_WIDE ? row->id_hi[0] : 0,
                       .lo = row->id_lo};
}

#define ABSENT_KEYS   64  /* a power of two */
#define CHANGED_SLOTS 256 /* likewise */

struct user_shard {
    _Alignas(64) pthread_mutex_t lock;
    struct table table;
    uint64_t shelves;   /* in use */
    uint64_t reactions; /* on them */
    uint64_t denied;    /* questions that a filter answered with no */
    bool long_shelves;  /* one may have more than it should, which the keeper can cut in time */
    struct cleared cleared;
    struct slab slab;
    /* Asked for lately and found in neither place; each stands where its hash says. */
    bool absent_any; /* one was ever there */
    struct {
        struct cleared_key key;
        bool used;
    } absent[ABSENT_KEYS];
    uint32_t changed[CHANGED_SLOTS]; /* stamps: users that hash there did not change since */
};

/* The stamp of the last change of a user, or a later one. */
static inline uint32_t *user_changed(struct user_shard *shard, uint64_t hash)
{
    return &shard->changed[hash & (CHANGED_SLOTS - 1)];
}

/* What a new reaction needs, taken from the slab before anything is changed. */
struct user_room {
    struct user_row *row; /* the user's, NULL if there is none yet */
    struct shelf *shelf;  /* the shelf, NULL if there is none yet */
    uint32_t row_cell;    /* 0 where it is not needed */
    uint32_t shelf_cell;
    uint32_t chunk_cell;
    uint8_t flags; /* of the shelf, if it has to be made */
};

bool user_shard_init(struct user_shard *shard, struct slab_pool *pool, uint64_t seed);
void user_shard_destroy(struct user_shard *shard);

struct user_row *user_find(const struct user_shard *shard, uint64_t hash, struct id user);

/* The shelf for an item, NULL if there is none. `sort` is 0, or SHELF_WARM for the other one. */
struct shelf *user_shelf(const struct user_shard *shard, struct user_row *row, uint8_t kind,
                         struct item item, uint8_t sort);

/* Has the user so many that no more should be made? */
bool user_has_many_shelves(const struct user_shard *shard, const struct user_row *row);

/* Drops one that is clean and of another type than this; false: there is none. */
bool user_drop_shelf(struct user_shard *shard, struct user_row *row, uint16_t but, uint32_t clean);

/* The shelf after this one of the same user, NULL at the end. */
static inline struct shelf *user_next_shelf(const struct user_shard *shard,
                                            const struct shelf *shelf)
{
    return shelf->next == 0 ? NULL : slab_at(&shard->slab, shelf->next);
}

/*
 * Takes the cells that one more reaction of this kind on this item needs; false: no memory. `flags`
 * is what a shelf that has to be made begins with: SHELF_WARM, SHELF_INCOMPLETE, SHELF_SOLE.
 */
bool user_reserve(struct user_shard *shard, uint64_t hash, struct user_row *row, struct id user,
                  uint8_t kind, struct item item, uint8_t flags, struct user_room *room);
void user_release(struct user_shard *shard, struct id user, uint8_t kind, struct item item,
                  struct user_room *room);

/* Uses the room; returns the shelf the reaction now is the newest of. */
struct shelf *user_push(struct user_shard *shard, uint64_t hash, struct id user, uint8_t kind,
                        struct shelf_entry entry, uint16_t type, uint32_t stamp,
                        struct user_room *room);

/* Takes a reaction off its shelf, and an empty shelf out of use. */
void user_remove(struct user_shard *shard, struct user_row *row, struct shelf *shelf,
                 struct shelf_place place);

/* A shelf that has become empty goes out of use. */
void user_retire_shelf(struct user_shard *shard, struct user_row *row, struct shelf *shelf);

static inline void user_touch(struct user_row *row)
{
    if (row->first.flags & SHELF_AGE)
        row->first.flags &= (uint8_t)~SHELF_AGE;
}

/* Drops the user at a cell with all shelves. */
void user_evict(struct user_shard *shard, uint64_t hash, uint32_t cell);
/* Moves what of it lies in retiring pages of the slab, perhaps its cell; false: no memory. */
bool user_relocate(struct user_shard *shard, uint64_t hash, uint32_t *cell);

/* What was found absent, until it is made or its place is taken. */
bool user_absent_has(const struct user_shard *shard, const struct cleared_key *key);
void user_absent_add(struct user_shard *shard, const struct cleared_key *key);
void user_absent_remove(struct user_shard *shard, const struct cleared_key *key);

/*
 * Without the lock, in three steps with time between them: table_prefetch; this, which brings what is
 * most likely the user's row closer, with its first chunk, which was made behind it and is mostly the
 * only one; then user_prefetch_on with what this returned.
 */
static inline uint32_t user_prefetch(const struct user_shard *shard,
                                     const struct table_bucket *bucket, uint64_t hash)
{
    return table_prefetch_next(&shard->table, bucket, hash, 2 * SLAB_LINE);
}

/* The newest chunk of the row's first shelf; or the row, if it is in the rest of a full bucket. */
static inline void user_prefetch_on(const struct user_shard *shard, uint32_t next, uint64_t hash)
{
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    (void)shard; /* the row may be gone by now, or be something else: harmless, but not to these */
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
