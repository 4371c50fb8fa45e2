/*
 * A shelf: one user's reactions of one kind on one type of items, newest first. Narrow ids (8 bytes) and
 * wide ids (16 bytes) are on separate shelves. A shelf is a chain of chunks from newest to oldest. A chunk
 * has an array of ids and an array of 4-byte times, and the stamp (clean.h) of the newest change in it.
 * Only the newest chunk has room at its end, and only the oldest may have a gap at its beginning.
 *
 * The memory belongs to the slab of the user's shard. All functions are called under that shard's lock.
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
    SHELF_USED =
        1, /* it has a kind and type; not set only for a row's first shelf, while it is empty */
    SHELF_WIDE = 2,       /* ids of 16 bytes */
    SHELF_INCOMPLETE = 4, /* the store may have more reactions that belong on it */
    SHELF_ROW_WIDE = 8,   /* belongs to the user's row that begins with this shelf, see users.h */
    SHELF_WARM = 16,      /* its entries were read from the store: clean, and in no order */
    SHELF_AGE = 0x60,     /* of the row: the number of keeper rounds since it was last used */
    SHELF_AGE_ONE = 0x20, /* one round */
    SHELF_SOLE = 0x80,    /* there are no entries with ids of the other width, also in the store */
};

struct shelf {
    uint32_t next;           /* the next shelf of the same user */
    _Atomic uint32_t newest; /* the newest chunk; atomic: prefetching reads it without the lock */
    uint32_t count;          /* of entries */
    uint16_t type;
    uint8_t kind;
    uint8_t flags;
};

struct shelf_entry {
    struct id id;
    uint32_t time_s;
};

/* Where an entry was found; valid until the shelf changes. */
struct shelf_slot {
    uint32_t chunk; /* 0: it was not found */
    uint32_t index;
};

struct shelf_slot shelf_find(const struct slab *slab, const struct shelf *shelf, scan_fn *scan,
                             struct id id);

/* The time of an entry that was found. */
uint32_t shelf_time(const struct slab *slab, struct shelf_slot slot);

/* The size in bytes of the chunk that must be allocated for the next entry; 0 if there is room. */
size_t shelf_chunk_size(const struct slab *slab, const struct shelf *shelf);

/* Adds the newest entry. `chunk` is a cell of shelf_chunk_size bytes, or 0 if that was 0. */
void shelf_push(const struct slab *slab, struct shelf *shelf, uint32_t chunk,
                struct shelf_entry entry, uint32_t stamp);

void shelf_remove(struct slab *slab, struct shelf *shelf, struct shelf_slot slot);

/* The oldest entry, and its removal. The shelf must not be empty. */
struct shelf_entry shelf_oldest(const struct slab *slab, const struct shelf *shelf);
void shelf_drop_oldest(struct slab *slab, struct shelf *shelf);

/* The newest time and the stamp of the oldest chunk. The shelf must not be empty. */
struct shelf_tail {
    uint32_t time_s;
    uint32_t stamp;
    uint32_t count; /* of entries in the chunk */
};
struct shelf_tail shelf_tail(const struct slab *slab, const struct shelf *shelf);

/*
 * Evicts old entries in one walk and returns how many. Only chunks with stamps below `clean` are
 * considered. Of their entries, those are evicted that exceed `most` entries on the shelf, or that are in
 * a chunk whose entries are all older than oldest_s.
 */
uint32_t shelf_cut(struct slab *slab, struct shelf *shelf, uint32_t most, uint32_t oldest_s,
                   uint32_t clean);

/* The stamp of the newest change that was not a removal; 0 if the shelf is empty. */
uint32_t shelf_stamp(const struct slab *slab, const struct shelf *shelf);

/* Is any chunk in a retiring page of the slab? */
bool shelf_is_retiring(const struct slab *slab, const struct shelf *shelf);
/* Copies the chunks in retiring pages of the slab to other pages; false: no memory for this. */
bool shelf_relocate(struct slab *slab, struct shelf *shelf);
/* Frees all chunks. */
void shelf_empty(struct slab *slab, struct shelf *shelf);

/*
 * Visits the arrays of each chunk, from the newest chunk to the oldest. Inside a chunk the oldest entry is
 * first. `hi` is NULL for narrow ids.
 */
typedef void shelf_visit_fn(void *context, const uint64_t *lo, const uint64_t *hi,
                            const uint32_t *times, size_t count);
void shelf_visit(const struct slab *slab, const struct shelf *shelf, shelf_visit_fn *visit,
                 void *context);

/* Visits each entry from newest to oldest, until `walk` returns false. */
typedef bool shelf_walk_fn(void *context, struct shelf_entry entry);
void shelf_walk(const struct slab *slab, const struct shelf *shelf, shelf_walk_fn *walk,
                void *context);

static inline uint32_t shelf_newest(const struct shelf *shelf)
{
    return atomic_load_explicit(&shelf->newest, memory_order_relaxed);
}

#endif
