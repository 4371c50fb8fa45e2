/*
 * Small cells of memory by 32-bit handle: half the size of a pointer, and no header on the cell. A
 * slab belongs to one shard and is used under that shard's lock; the pool that all slabs of a tier
 * draw their pages from has a lock of its own. Cells never move and pages never go back before the
 * pool is freed, so the address of a cell may be computed (not read) by any thread at any time.
 *
 * Sizes are multiples of 8. Pages are charged to the budget as they are taken; a cell that cannot
 * be had without passing it is refused. Freed cells wait for the next of their own size; only when
 * the budget is spent are larger ones cut up.
 */
#ifndef LAUD_BASE_SLAB_H
#define LAUD_BASE_SLAB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"

#define SLAB_UNIT         8  /* bytes; handles count units */
#define SLAB_PAGE_SHIFT   12 /* units in a page: 32 KiB */
#define SLAB_PAGE_UNITS   (1U << SLAB_PAGE_SHIFT)
#define SLAB_PAGE_BYTES   (SLAB_PAGE_UNITS * SLAB_UNIT)
#define SLAB_LINE         64
#define SLAB_CELL_LAST    0x7fffffffU /* the largest handle */
#define SLAB_CELL_MAX     4096        /* bytes of the largest cell */
#define SLAB_CELL_CLASSES (SLAB_CELL_MAX / SLAB_UNIT + 1)

struct slab_pool;

struct slab {
    _Atomic(uint8_t *) *pages; /* by page number */
    uint32_t *free;            /* newest freed cell by units, linked by first word */
    uint32_t fresh;            /* handle of the first unit of the newest page not yet given out */
    uint32_t fresh_end;        /* and the end of that page */
    uint32_t page_count;
    uint32_t page_limit;
    struct slab_pool *pool;
    void *tables; /* where free and pages are: reserved whole, so that neither ever moves */
};

/* NULL: no memory. The budget outlives the pool; freeing gives back all that was charged. */
struct slab_pool *slab_pool_new(struct memory_budget *budget);
void slab_pool_free(struct slab_pool *pool);

/* What slabs and their owners charge to. */
struct memory_budget *slab_pool_budget(struct slab_pool *pool);

bool slab_init(struct slab *slab, struct slab_pool *pool); /* false: no memory */
void slab_destroy(struct slab *slab);                      /* its cells go with the pool */

/* A cell whose bytes are not set; 0 past the budget. */
uint32_t slab_alloc(struct slab *slab, size_t size);
/* The same, beginning at a cache line; only for what is never freed. */
uint32_t slab_alloc_lines(struct slab *slab, size_t size);
void slab_free(struct slab *slab, uint32_t cell, size_t size);

static inline void *slab_at(const struct slab *slab, uint32_t cell)
{
    uint8_t *page =
        atomic_load_explicit(&slab->pages[cell >> SLAB_PAGE_SHIFT], memory_order_relaxed);
    return page + (size_t)(cell & (SLAB_PAGE_UNITS - 1)) * SLAB_UNIT;
}

#endif
