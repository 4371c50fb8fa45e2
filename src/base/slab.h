/*
 * Small cells of memory by 32-bit handle: half the size of a pointer, and no header on the cell. A
 * slab belongs to one shard and is used under that shard's lock; the pool that all slabs of a tier
 * draw their pages from has a lock of its own. A cell stays where it is until its owner frees it,
 * and memory stays mapped until the pool is freed, so any thread may at any time compute where a
 * cell is or was and prefetch it (slab_hint).
 *
 * Sizes are multiples of 8. Pages are charged to the budget as they are taken; a cell that cannot
 * be had without passing it is refused. Freed cells wait for the next of their own size; only when
 * the budget is spent are larger ones cut up. A new cell of whole cache lines begins at one, and one
 * of half a line, or a quarter, lies within one.
 *
 * Pages go back to the pool, for all slabs, by retirement. slab_retire_begin marks some pages:
 * nothing is put into them any more. The owner then frees what is in them, or moves it to cells
 * that it takes and frees it there: slab_is_retiring tells for each of its cells. When
 * slab_retire_left is 0 nothing is left in them and slab_retire_end gives them to the pool; an
 * owner that gets stuck calls slab_retire_cancel. Between the calls the lock may be given up. An owner
 * that found no room to move to may try again with one page and `moving` set: some pages of the pool
 * are for that alone (slab_pool_keep).
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

/* What is known of a page, in one word: how many of its units are in use, and these. */
#define SLAB_PAGE_IN_USE   0x1fffU
#define SLAB_PAGE_GONE     0x2000U /* its number waits for another page */
#define SLAB_PAGE_FIXED    0x4000U /* for what is never freed: stays */
#define SLAB_PAGE_RETIRING 0x8000U

struct slab {
    _Atomic(uint8_t *) *pages; /* by page number; one that is gone keeps its last address */
    uint16_t *states;          /* by page number */
    uint32_t *free;            /* newest freed cell by units, linked by first word */
    uint32_t fresh;            /* handle of the first unit of the newest page not yet given out */
    uint32_t fresh_end;        /* and the end of that page */
    uint32_t fixed;            /* the same in the newest page for what is never freed */
    uint32_t fixed_end;
    uint32_t page_count; /* numbers that have been in use */
    uint32_t page_limit;
    uint32_t sift;         /* free cells not yet looked at since pages began to retire, */
    uint32_t sift_units;   /* their size, */
    uint32_t sift_next;    /* and the next size to look at */
    uint32_t retiring;     /* list of retiring pages */
    uint32_t retire_units; /* in use in them */
    uint32_t aside;        /* free cells in them, linked, each with its size */
    uint32_t taken;        /* pages taken from the pool since they began to retire */
    bool stuck;            /* the last ones could not be emptied */
    bool moving;           /* may take the pool's last pages: set by the owner, under its lock */
    uint32_t hand;         /* page number where the search for the next ones begins */
    uint32_t gone;         /* list of numbers without a page */
    uint32_t *links;       /* by page number: the next of its list. Lists hold numbers plus 1 */
    struct slab_pool *pool;
    void *tables; /* where all the arrays are: reserved whole, so that none ever moves */
};

/* NULL: no memory. The budget outlives the pool; freeing gives back all that was charged. */
struct slab_pool *slab_pool_new(struct memory_budget *budget);
void slab_pool_free(struct slab_pool *pool);

/* What slabs and their owners charge to. */
struct memory_budget *slab_pool_budget(struct slab_pool *pool);

/*
 * So many bytes of pages are charged from now on, whoever else needs memory, and `move_pages` more that
 * only slabs get whose owner moves what is in retiring pages. Pages made ready count. False: the budget
 * has less. Nobody else uses the pool yet.
 */
bool slab_pool_keep(struct slab_pool *pool, uint64_t bytes, uint32_t move_pages);
/*
 * Takes so many bytes from the system ahead of use, charged: the first touch of memory is slow, and
 * a burst should not wait for it. As far as there are that many; nobody else uses the pool yet.
 */
void slab_pool_make_ready(struct slab_pool *pool, uint64_t bytes);
/* Pages that are charged and ready for the next slab that needs one. */
size_t slab_pool_free_pages(struct slab_pool *pool);
/* Would a slab that needs a page get one? */
bool slab_pool_has_page(struct slab_pool *pool);
/* Gives up to so many bytes of them, past those kept, to the system and the budget; returns how many. */
size_t slab_pool_shrink(struct slab_pool *pool, size_t bytes);

bool slab_init(struct slab *slab, struct slab_pool *pool); /* false: no memory */
void slab_destroy(struct slab *slab);                      /* its cells go with the pool */

/* A cell whose bytes are not set; 0 past the budget. */
uint32_t slab_alloc(struct slab *slab, size_t size);
/*
 * Two, the other right behind the first unless cells of these sizes are free to be used again. They
 * are freed one by one. False past the budget: neither is taken.
 */
bool slab_alloc_two(struct slab *slab, size_t size, size_t other_size, uint32_t *cell,
                    uint32_t *other);
/* The same, beginning at a cache line; only for what is never freed. */
uint32_t slab_alloc_lines(struct slab *slab, size_t size);
void slab_free(struct slab *slab, uint32_t cell, size_t size);

/*
 * Marks up to `count` pages, those with the least in use first and otherwise each in its turn;
 * returns how many. Only when no pages are retiring.
 */
uint32_t slab_retire_begin(struct slab *slab, uint32_t count);
/*
 * Takes the cells of retiring pages out of the lists of free cells, looking at up to so many; true
 * when all have been seen. What is left of it slab_retire_end does at once: a slab with very many
 * free cells is locked for long unless this is called before, in steps.
 */
bool slab_retire_sift(struct slab *slab, uint32_t cells);
/* Nothing is left in the retiring pages: they go to the pool. */
void slab_retire_end(struct slab *slab);
/*
 * The pages are as before, and what is free in them can be had again. Unless `moving` is set, the next
 * pages to retire are then chosen in turn and not by how full they are: the emptiest one might be the
 * same again, and what can be freed in the others would never be looked at.
 */
void slab_retire_cancel(struct slab *slab);
/* Gives the pages without a cell in use to the pool, all in one go; returns how many. */
uint32_t slab_retire_empty(struct slab *slab);

/* Room in the pages that may retire that nothing uses; looks at every page's state. */
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
 * Without the lock, of any number that once was a cell or never: where it would be, NULL if that is
 * nowhere. To be prefetched: what is there may belong to another slab by now.
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
