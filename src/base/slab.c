/*
 * Why not malloc: a like is 12 bytes, and a header of 16 on each piece would double it. Why cells
 * of mixed sizes share a page: with 128 slabs and a page for each of twenty sizes, half-filled
 * pages would outweigh the data of a small server. Why pages come from shared 2 MiB regions: one
 * huge page then serves many slabs, which saves most page faults and TLB misses without a private
 * huge page for each.
 */
#include "base/slab.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/assert.h"
#include "base/limits.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define SLAB_HIDE(at, size)   __asan_poison_memory_region(at, size)
#define SLAB_REVEAL(at, size) __asan_unpoison_memory_region(at, size)
#else
#define SLAB_HIDE(at, size)   ((void)(at), (void)(size))
#define SLAB_REVEAL(at, size) ((void)(at), (void)(size))
#endif

#define REGION_BYTES MIB(2)
#define PAGE_NUMBERS ((SLAB_CELL_LAST >> SLAB_PAGE_SHIFT) + 1)
#define PAGE_CHARGE  (SLAB_PAGE_BYTES + sizeof(void *)) /* with its place in the page table */

#define LINE_UNITS   (SLAB_LINE / SLAB_UNIT)
#define TABLE_COLORS 32
#define FREE_BYTES   ((SLAB_CELL_CLASSES * sizeof(uint32_t) + SLAB_LINE - 1) / SLAB_LINE * SLAB_LINE)

_Static_assert(REGION_BYTES % SLAB_PAGE_BYTES == 0, "pages tile a region");
_Static_assert(SLAB_CELL_MAX <= SLAB_PAGE_BYTES / 2, "a page holds the largest cell");

struct region {
    struct region *next;
    uint8_t *start;
};

struct slab_pool {
    pthread_mutex_t lock;
    struct memory_budget *budget;
    struct region *regions;
    uint8_t *fresh;
    size_t fresh_bytes;
    uint64_t charged;
    uint32_t slab_count;
};

struct slab_pool *slab_pool_new(struct memory_budget *budget)
{
    struct slab_pool *pool = calloc(1, sizeof(*pool));
    if (pool == NULL)
        return NULL;
    pthread_mutex_init(&pool->lock, NULL);
    pool->budget = budget;
    return pool;
}

void slab_pool_free(struct slab_pool *pool)
{
    if (pool == NULL)
        return;
    while (pool->regions != NULL) {
        struct region *region = pool->regions;
        pool->regions = region->next;
        SLAB_REVEAL(region->start, REGION_BYTES);
        munmap(region->start, REGION_BYTES);
        free(region);
    }
    memory_release(pool->budget, pool->charged);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

struct memory_budget *slab_pool_budget(struct slab_pool *pool)
{
    return pool->budget;
}

/* Maps twice as much and trims, so that the region starts where a huge page can. */
static uint8_t *region_map(void)
{
    uint8_t *mapped = mmap(NULL, 2 * REGION_BYTES, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED)
        return NULL;
    size_t before = (REGION_BYTES - (uintptr_t)mapped % REGION_BYTES) % REGION_BYTES;
    uint8_t *start = mapped + before;
    if (before != 0)
        munmap(mapped, before);
    munmap(start + REGION_BYTES, REGION_BYTES - before);
    madvise(start, REGION_BYTES, MADV_HUGEPAGE);
    return start;
}

static bool pool_grow(struct slab_pool *pool)
{
    struct region *region = malloc(sizeof(*region));
    if (region == NULL)
        return false;
    region->start = region_map();
    if (region->start == NULL) {
        free(region);
        return false;
    }
    region->next = pool->regions;
    pool->regions = region;
    pool->fresh = region->start;
    pool->fresh_bytes = REGION_BYTES;
    return true;
}

static uint8_t *pool_take_page(struct slab_pool *pool)
{
    if (!memory_charge(pool->budget, PAGE_CHARGE))
        return NULL;
    uint8_t *page = NULL;
    pthread_mutex_lock(&pool->lock);
    if (pool->fresh_bytes != 0 || pool_grow(pool)) {
        page = pool->fresh;
        pool->fresh += SLAB_PAGE_BYTES;
        pool->fresh_bytes -= SLAB_PAGE_BYTES;
        pool->charged += PAGE_CHARGE;
    }
    pthread_mutex_unlock(&pool->lock);
    if (page == NULL)
        memory_release(pool->budget, PAGE_CHARGE);
    return page;
}

static size_t tables_bytes(const struct slab *slab)
{
    return TABLE_COLORS * SLAB_LINE + FREE_BYTES + slab->page_limit * sizeof(slab->pages[0]);
}

/*
 * The table of free cells and that of pages lie together, so that a small slab needs one page of
 * address translation for both. Those of a pool's slabs start at different cache lines of their
 * pages, because all of them are in use at once.
 */
bool slab_init(struct slab *slab, struct slab_pool *pool)
{
    *slab = (struct slab){.pool = pool};
    uint64_t affordable = pool->budget->limit / SLAB_PAGE_BYTES + 1;
    slab->page_limit = affordable < PAGE_NUMBERS ? (uint32_t)affordable : PAGE_NUMBERS;
    void *tables = mmap(NULL, tables_bytes(slab), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (tables == MAP_FAILED)
        return false;
    pthread_mutex_lock(&pool->lock);
    size_t color = pool->slab_count++ % TABLE_COLORS;
    pthread_mutex_unlock(&pool->lock);
    uint8_t *start = (uint8_t *)tables + color * SLAB_LINE;
    slab->tables = tables;
    slab->free = (uint32_t *)start;
    slab->pages = (void *)(start + FREE_BYTES);
    return true;
}

void slab_destroy(struct slab *slab)
{
    if (slab->tables != NULL)
        munmap(slab->tables, tables_bytes(slab));
    slab->tables = NULL;
}

static void free_push(struct slab *slab, uint32_t cell, uint32_t units)
{
    uint32_t *link = slab_at(slab, cell);
    *link = slab->free[units];
    slab->free[units] = cell;
    SLAB_HIDE(link, units * SLAB_UNIT);
}

static uint32_t free_pop(struct slab *slab, uint32_t units)
{
    uint32_t cell = slab->free[units];
    if (cell == 0)
        return 0;
    uint32_t *link = slab_at(slab, cell);
    SLAB_REVEAL(link, units * SLAB_UNIT);
    slab->free[units] = *link;
    return cell;
}

/* What is left of the page before goes to the free cells of its size. */
static bool slab_grow(struct slab *slab)
{
    if (slab->page_count == slab->page_limit)
        return false;
    uint8_t *page = pool_take_page(slab->pool);
    if (page == NULL)
        return false;
    while (slab->fresh != slab->fresh_end) {
        uint32_t left = slab->fresh_end - slab->fresh;
        uint32_t units = left < SLAB_CELL_CLASSES ? left : SLAB_CELL_CLASSES - 1;
        free_push(slab, slab->fresh, units);
        slab->fresh += units;
    }
    uint32_t number = slab->page_count++;
    atomic_store_explicit(&slab->pages[number], page, memory_order_release);
    slab->fresh = number << SLAB_PAGE_SHIFT;
    slab->fresh_end = slab->fresh + SLAB_PAGE_UNITS;
    if (number == 0)
        slab->fresh++; /* handle 0 is no cell */
    return true;
}

/* The budget is spent: any larger free cell will do, its rest stays free. */
static uint32_t slab_cut(struct slab *slab, uint32_t units)
{
    for (uint32_t larger = units + 1; larger < SLAB_CELL_CLASSES; larger++) {
        uint32_t cell = free_pop(slab, larger);
        if (cell == 0)
            continue;
        free_push(slab, cell + units, larger - units);
        return cell;
    }
    return 0;
}

uint32_t slab_alloc(struct slab *slab, size_t size)
{
    ASSERT(size != 0 && size % SLAB_UNIT == 0 && size <= SLAB_CELL_MAX);
    uint32_t units = (uint32_t)(size / SLAB_UNIT);
    uint32_t cell = free_pop(slab, units);
    if (cell != 0)
        return cell;
    if (slab->fresh_end - slab->fresh < units && !slab_grow(slab))
        return slab_cut(slab, units);
    cell = slab->fresh;
    slab->fresh += units;
    if (slab->fresh + 2 * LINE_UNITS <= slab->fresh_end) {
        const char *next = slab_at(slab, slab->fresh); /* the next cell's first lines, in time */
        __builtin_prefetch(next, 1);
        __builtin_prefetch(next + SLAB_LINE, 1);
    }
    return cell;
}

uint32_t slab_alloc_lines(struct slab *slab, size_t size)
{
    ASSERT(size != 0 && size % SLAB_LINE == 0 && size <= SLAB_CELL_MAX);
    uint32_t units = (uint32_t)(size / SLAB_UNIT);
    uint32_t gap = (0 - slab->fresh) % LINE_UNITS;
    if (slab->fresh_end - slab->fresh < gap + units) {
        if (!slab_grow(slab))
            return 0;
        gap = (0 - slab->fresh) % LINE_UNITS;
    }
    if (gap != 0)
        free_push(slab, slab->fresh, gap);
    uint32_t cell = slab->fresh + gap;
    slab->fresh = cell + units;
    return cell;
}

void slab_free(struct slab *slab, uint32_t cell, size_t size)
{
    ASSERT(cell != 0 && size != 0 && size % SLAB_UNIT == 0 && size <= SLAB_CELL_MAX);
    free_push(slab, cell, (uint32_t)(size / SLAB_UNIT));
}
