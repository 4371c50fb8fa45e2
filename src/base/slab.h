/*
 * Small cells of memory that are addressed by 32-bit handles. A handle is half as large as a
 * pointer, and a cell has no header. A slab belongs to one shard and is used under the lock of that
 * shard. All slabs of a tier take their pages from one pool, which has a lock of its own. A cell
 * keeps its address until its owner frees it, and memory stays mapped until the pool is freed. So
 * any thread may at any time compute the address of a present or former cell and prefetch it
 * (slab_hint).
 *
 * Sizes are multiples of 8 bytes. A page is charged to the budget when it is taken; an allocation
 * that would exceed the budget is refused. A freed cell is used again for cells of the same size;
 * larger free cells are divided only when the budget is used up. A new cell whose size is a whole
 * number of cache lines is aligned to a cache line. A new cell of half or a quarter of a cache line
 * does not cross the end of one.
 *
 * Pages are returned to the pool, where any slab can take them, by *retirement*. slab_retire_begin
 * chooses some pages, in which no cells are allocated any more. The owner then frees the cells in
 * these pages, or copies their contents to new cells first; slab_is_retiring says for each cell
 * whether its page retires. When slab_retire_left is 0, the pages are empty and slab_retire_end
 * gives them to the pool. An owner that cannot empty the pages calls slab_retire_cancel. The owner
 * may release its lock between these calls. An owner that found no memory for the copies may try
 * again with one page and with `moving` set: some pages of the pool are reserved for this purpose
 * (slab_pool_keep).
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

/* The state of a page in one word: how many of its units are in use, and these flags. */
#define SLAB_PAGE_IN_USE   0x1fffU
#define SLAB_PAGE_GONE     0x2000U /* this page number has no page at present */
#define SLAB_PAGE_FIXED    0x4000U /* has cells that are never freed, so it never retires */
#define SLAB_PAGE_RETIRING 0x8000U

struct slab {
    _Atomic(uint8_t *) *pages; /* by page number; a number without a page keeps its last address */
    uint16_t *states;          /* by page number */
    uint32_t *free; /* newest freed cell by size in units; a cell's first word is the next handle */
    uint32_t fresh; /* first unit of the newest page that was never allocated */
    uint32_t fresh_end; /* end of that page */
    uint32_t fixed;     /* the same for the newest page with cells that are never freed */
    uint32_t fixed_end;
    uint32_t page_count; /* page numbers that have been in use */
    uint32_t page_limit;
    uint32_t sift;         /* list of free cells not yet examined since pages began to retire */
    uint32_t sift_units;   /* size of the cells in `sift` */
    uint32_t sift_next;    /* the next size to examine */
    uint32_t retiring;     /* list of the retiring pages */
    uint32_t retire_units; /* units in use in the retiring pages */
    uint32_t aside;        /* list of the free cells in retiring pages, each with its size */
    uint32_t taken;        /* pages taken from the pool since pages began to retire */
    bool stuck;            /* the last retiring pages could not be emptied */
    bool moving;     /* may take the reserved pages of the pool; the owner sets it under its lock */
    uint32_t hand;   /* page number at which the next search for pages to retire begins */
    uint32_t gone;   /* list of page numbers without a page */
    uint32_t *links; /* by page number: the next page of its list. Lists contain page number + 1 */
    struct slab_pool *pool;
    void *tables; /* memory of all these arrays, reserved at once: no address ever changes */
};

/*
 * NULL: there is no memory. The budget must outlive the pool. slab_pool_free releases everything
 * that was charged.
 */
struct slab_pool *slab_pool_new(struct memory_budget *budget);
void slab_pool_free(struct slab_pool *pool);

/* The budget that slabs and their owners charge. */
struct memory_budget *slab_pool_budget(struct slab_pool *pool);

/*
 * Charges `bytes` bytes of pages now and keeps them for slabs for ever, and in addition
 * `move_pages` pages for slabs that have `moving` set. Pages of slab_pool_make_ready are included.
 * False: the budget does not have so much. Call it before other threads use the pool.
 */
bool slab_pool_keep(struct slab_pool *pool, uint64_t bytes, uint32_t move_pages);
/*
 * Takes and charges up to `bytes` bytes of pages in advance, because the first access to new memory
 * is slow and a burst of writes should not wait for it. Call it before other threads use the pool.
 */
void slab_pool_make_ready(struct slab_pool *pool, uint64_t bytes);
/* The number of free pages that are already charged. */
size_t slab_pool_free_pages(struct slab_pool *pool);
/* Could a slab get a page now? */
bool slab_pool_has_page(struct slab_pool *pool);
/*
 * Returns up to `bytes` bytes of free pages to the system and the budget, except those that
 * slab_pool_keep keeps. Returns how many bytes it were.
 */
size_t slab_pool_shrink(struct slab_pool *pool, size_t bytes);

bool slab_init(struct slab *slab, struct slab_pool *pool); /* false: there is no memory */
void slab_destroy(struct slab *slab); /* its cells are freed together with the pool */

/* Returns a cell whose bytes are not initialised; 0: the budget is used up. */
uint32_t slab_alloc(struct slab *slab, size_t size);
/*
 * Allocates two cells, the second directly after the first unless free cells of these sizes can be
 * used again. They are freed separately. False: the budget is used up, and neither is allocated.
 */
bool slab_alloc_two(struct slab *slab, size_t size, size_t other_size, uint32_t *cell,
                    uint32_t *other);
/* Like slab_alloc, but aligned to a cache line, and only for cells that are never freed. */
uint32_t slab_alloc_lines(struct slab *slab, size_t size);
void slab_free(struct slab *slab, uint32_t cell, size_t size);

/*
 * Chooses up to `count` pages to retire, those with the fewest units in use first, and otherwise in
 * turn. Returns how many. No page may be retiring already.
 */
uint32_t slab_retire_begin(struct slab *slab, uint32_t count);
/*
 * Removes the cells of retiring pages from the lists of free cells. One call examines at most
 * `cells` cells; true: all have been examined. slab_retire_end does the rest at once. A slab with
 * very many free cells would then be locked for a long time, unless this was called in steps
 * before.
 */
bool slab_retire_sift(struct slab *slab, uint32_t cells);
/* Gives the retiring pages, which must be empty, to the pool. */
void slab_retire_end(struct slab *slab);
/*
 * Ends the retirement: the pages are used as before, and their free cells can be allocated again.
 * Unless `moving` is set, the next pages to retire are chosen in turn and not by how full they are.
 * Otherwise the same page might be chosen each time, and pages that could be emptied would never be
 * tried.
 */
void slab_retire_cancel(struct slab *slab);
/* Gives all pages without a cell in use to the pool at once. Returns how many. */
uint32_t slab_retire_empty(struct slab *slab);

/* Unused bytes in the pages that may retire. It reads the state of every page. */
uint64_t slab_idle_bytes(const struct slab *slab);

/* Bytes in use in the retiring pages. */
static inline uint64_t slab_retire_left(const struct slab *slab)
{
    return (uint64_t)slab->retire_units * SLAB_UNIT;
}

static inline bool slab_is_retiring(const struct slab *slab, uint32_t cell)
{
    return slab->states[cell >> SLAB_PAGE_SHIFT] & SLAB_PAGE_RETIRING;
}

static inline void *slab_at(const struct slab *slab, uint32_t cell)
{
    uint8_t *page =
        atomic_load_explicit(&slab->pages[cell >> SLAB_PAGE_SHIFT], memory_order_relaxed);
    return page + (size_t)(cell & (SLAB_PAGE_UNITS - 1)) * SLAB_UNIT;
}

/*
 * The address of a present or former cell, or of any other number, without the lock; NULL if there
 * is none. It is only for prefetching: that memory may belong to another slab now.
 */
static inline void *slab_hint(const struct slab *slab, uint32_t cell)
{
    uint32_t number = cell >> SLAB_PAGE_SHIFT;
    if (number >= slab->page_limit)
        return NULL;
    uint8_t *page = atomic_load_explicit(&slab->pages[number], memory_order_relaxed);
    return page == NULL ? NULL : page + (size_t)(cell & (SLAB_PAGE_UNITS - 1)) * SLAB_UNIT;
}

#endif
