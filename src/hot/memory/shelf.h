/*
 * One user's reactions of one kind on one type of items, newest first. Narrow and wide ids have
 * shelves of their own. A shelf is a chain of chunks from newest to oldest; a chunk holds ids and
 * 4-byte times in arrays side by side, and the stamp (clean.h) of the newest change in it. Only the
 * newest chunk has room at its end, only the oldest may have a gap at its beginning.
 *
 * All of it lives in the slab of the user's shard and is used under that shard's lock.
 */
#ifndef LAUD_HOT_MEMORY_SHELF_H
#define LAUD_HOT_MEMORY_SHELF_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "base/slab.h"
#include "hot/memory/scan.h"

enum {
    SHELF_USED = 1,       /* it has a kind and type: false only for a row's first, once emptied */
    SHELF_WIDE = 2,       /* ids of 16 bytes */
    SHELF_INCOMPLETE = 4, /* more of it may be in the store */
    SHELF_ROW_WIDE = 8,   /* not the shelf's but the row's that begins with it, see users.h */
    SHELF_WARM = 16,      /* what was read from the store lately, in no order, clean */
    SHELF_AGE = 0x60,     /* the row's: how many rounds of the keeper ago it was last used */
    SHELF_AGE_ONE = 0x20, /* one of them */
    SHELF_SOLE = 0x80,    /* of the other width there is nothing, here or in the store */
};

struct shelf {
    uint32_t next;           /* shelf of the same user */
    _Atomic uint32_t newest; /* chunk; atomic because prefetching looks at it without the lock */
    uint32_t count;          /* entries */
    uint16_t type;
    uint8_t kind;
    uint8_t flags;
};

struct shelf_entry {
    struct id id;
    uint32_t time_s;
};

/* Where an entry was found; valid until the shelf changes. */
struct shelf_place {
    uint32_t chunk; /* 0: nowhere */
    uint32_t index;
};

struct shelf_place shelf_find(const struct slab *slab, const struct shelf *shelf, scan_fn *scan,
                              struct id id);

/* Time of an entry that was found. */
uint32_t shelf_time(const struct slab *slab, struct shelf_place place);

/* Bytes of the chunk that the next entry needs first; 0 if there is room. */
size_t shelf_chunk_size(const struct slab *slab, const struct shelf *shelf);

/* Adds the newest entry. `chunk` is a cell of shelf_chunk_size bytes, or 0 if that was 0. */
void shelf_push(const struct slab *slab, struct shelf *shelf, uint32_t chunk,
                struct shelf_entry entry, uint32_t stamp);

void shelf_remove(struct slab *slab, struct shelf *shelf, struct shelf_place place);

/* Of a shelf that is not empty. */
struct shelf_entry shelf_oldest(const struct slab *slab, const struct shelf *shelf);
void shelf_drop_oldest(struct slab *slab, struct shelf *shelf);

/* Newest time and stamp of the oldest chunk, of a shelf that is not empty. */
struct shelf_tail {
    uint32_t time_s;
    uint32_t stamp;
    uint32_t count; /* entries in it */
};
struct shelf_tail shelf_tail(const struct slab *slab, const struct shelf *shelf);

/*
 * Of the entries in chunks with stamps below `clean` those go that are more than `most`, or in chunks
 * with nothing of oldest_s or later; in one walk. Returns how many.
 */
uint32_t shelf_cut(struct slab *slab, struct shelf *shelf, uint32_t most, uint32_t oldest_s,
                   uint32_t clean);

/* Stamp of its newest change that is not a removal; 0 if it is empty. */
uint32_t shelf_stamp(const struct slab *slab, const struct shelf *shelf);

/* Does any of it lie in a retiring page of the slab? */
bool shelf_is_retiring(const struct slab *slab, const struct shelf *shelf);
/* Moves chunks that lie in retiring pages of the slab; false: no memory for it. */
bool shelf_relocate(struct slab *slab, struct shelf *shelf);
/* All its chunks go. */
void shelf_empty(struct slab *slab, struct shelf *shelf);

/* The arrays of each chunk from newest to oldest; `hi` is NULL if narrow. Oldest entry first. */
typedef void shelf_visit_fn(void *context, const uint64_t *lo, const uint64_t *hi,
                            const uint32_t *times, size_t count);
void shelf_visit(const struct slab *slab, const struct shelf *shelf, shelf_visit_fn *visit,
                 void *context);

/* Each entry from newest to oldest, until `walk` says false. */
typedef bool shelf_walk_fn(void *context, struct shelf_entry entry);
void shelf_walk(const struct slab *slab, const struct shelf *shelf, shelf_walk_fn *walk,
                void *context);

static inline uint32_t shelf_newest(const struct shelf *shelf)
{
    return atomic_load_explicit(&shelf->newest, memory_order_relaxed);
}

#endif
