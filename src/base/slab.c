/*
 * Why not malloc: a like takes 12 bytes, and a header of 16 bytes for each would more than double
 * it. Why cells of mixed sizes share a page: with 128 slabs and a page for each of twenty sizes,
 * half-empty pages would be larger than the data of a small server. Why pages are from shared
 * regions of 2 MiB: one huge page then serves many slabs, which saves most page faults and TLB
 * misses, and no slab needs a huge page of its own.
 *
 * Why each page counts its units in use: the emptiest pages can then retire first, empty pages need
 * no walk, and a page that an owner has not completely emptied is detected instead of given away.
 * It costs one load and one store when a cell is freed or used again. A page counts as completely
 * in use while new cells are being allocated from it, so new cells cost nothing. The counts are
 * separate from the addresses, which other cores read without the lock.
 *
 * Why free cells are sifted and not looked up: a list of the free cells of each page would need
 * memory in cells of 8 bytes, or a bitmap for every page, at each free and alloc. Sifting costs
 * something only when pages retire, and it can be done in steps: the list of one size at a time is
 * detached, and its cells are put back one by one. Until a cell is examined, free_pop drops it if
 * its page is retiring.
 *
 * Why the free cells of retiring pages are remembered: an owner that finds no memory for the last
 * few cells of a page has to cancel, and this happens when memory is short. If the free cells were
 * then lost, each attempt would reduce the usable memory. A free cell has room for a link and its
 * size.
 *
 * Why some pages of the pool are reserved for copying: a page can be emptied only if there is
 * memory for the cells that may not be freed, and a pool without a reserve has none when it is
 * needed most.
 */
#include "base/slab.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/array.h"
#include "base/assert.h"
#include "base/limits.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define SLAB_HIDE(at, size)   __asan_poison_memory_region(at, size)
#define SLAB_REVEAL(at, size) __asan_unpoison_memory_region(at, size)
#else
#define SLAB_HIDE(at, size)   ((void)sizeof(at), (void)(size))
#define SLAB_REVEAL(at, size) ((void)sizeof(at), (void)(size))
#endif

#define REGION_BYTES MIB(2)
#define PAGE_NUMBERS ((SLAB_CELL_LAST >> SLAB_PAGE_SHIFT) + 1)
#define REGION_PAGES (REGION_BYTES / SLAB_PAGE_BYTES)
/* The bytes of a page with its entries in the arrays of the slab and in the stock of the pool. */
#define PAGE_CHARGE (SLAB_PAGE_BYTES + 2 * sizeof(uint8_t *) + sizeof(uint16_t) + sizeof(uint32_t))

#define LINE_UNITS   (SLAB_LINE / SLAB_UNIT)
#define TABLE_COLORS 32
#define FREE_BYTES   ((SLAB_CELL_CLASSES * sizeof(uint32_t) + SLAB_LINE - 1) / SLAB_LINE * SLAB_LINE)

_Static_assert(REGION_BYTES % SLAB_PAGE_BYTES == 0, "pages tile a region");
_Static_assert(SLAB_CELL_MAX <= SLAB_PAGE_BYTES / 2, "a page holds the largest cell");
_Static_assert(SLAB_PAGE_UNITS <= SLAB_PAGE_IN_USE, "a page can be full");

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
    /* Returned pages: first the charged ones, then those that are not charged. */
    uint8_t **stock;
    size_t stock_room; /* enough for every page of every region */
    size_t free_count; /* charged */
    size_t move_pages; /* charged pages that only slabs with `moving` set may take */
    size_t kept_pages; /* charged pages that are never returned to the system */
    size_t bare_count; /* pages that are only addresses: the system has their memory */
    size_t region_count;
    uint64_t charged;
    uint32_t slab_count;
};

struct slab_pool *slab_pool_new(struct memory_budget *budget)
{
    ASSERT(budget != NULL);
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
    free(pool->stock);
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

/* Room in the stock for the pages of one more region, so that giving back never fails. */
static bool pool_reserve_stock(struct slab_pool *pool)
{
    size_t needed = (pool->region_count + 1) * REGION_PAGES;
    if (needed <= pool->stock_room)
        return true;
    uint8_t **stock = array_grow(pool->stock, &pool->stock_room, needed, 0, sizeof(stock[0]));
    if (stock != NULL)
        pool->stock = stock;
    return stock != NULL;
}

static bool pool_grow(struct slab_pool *pool)
{
    if (!pool_reserve_stock(pool))
        return false;
    struct region *region = malloc(sizeof(*region));
    if (region == NULL)
        return false;
    region->start = region_map();
    if (region->start == NULL) {
        free(region);
        return false;
    }
    SLAB_HIDE(region->start, REGION_BYTES);
    region->next = pool->regions;
    pool->regions = region;
    pool->region_count++;
    pool->fresh = region->start;
    pool->fresh_bytes = REGION_BYTES;
    return true;
}

/* Takes a charged page out of the stock. The last page that is not charged fills the gap. */
static uint8_t *stock_pop_free(struct slab_pool *pool)
{
    ASSERT(pool->free_count > 0);
    uint8_t *page = pool->stock[--pool->free_count];
    pool->stock[pool->free_count] = pool->stock[pool->free_count + pool->bare_count];
    return page;
}

static void stock_push_free(struct slab_pool *pool, uint8_t *page)
{
    ASSERT(pool->free_count + pool->bare_count < pool->stock_room);
    pool->stock[pool->free_count + pool->bare_count] = pool->stock[pool->free_count];
    pool->stock[pool->free_count++] = page;
}

/* A page that is not charged yet; pages that were in use before are taken first. */
static uint8_t *pool_take_bare(struct slab_pool *pool)
{
    if (pool->bare_count != 0)
        return pool->stock[pool->free_count + --pool->bare_count];
    if (pool->fresh_bytes == 0 && !pool_grow(pool))
        return NULL;
    ASSERT(pool->fresh_bytes >= SLAB_PAGE_BYTES);
    uint8_t *page = pool->fresh;
    pool->fresh += SLAB_PAGE_BYTES;
    pool->fresh_bytes -= SLAB_PAGE_BYTES;
    return page;
}

static uint8_t *pool_take_page(struct slab_pool *pool, bool moving)
{
    uint8_t *page = NULL;
    pthread_mutex_lock(&pool->lock);
    if (pool->free_count > (moving ? 0 : pool->move_pages)) {
        page = stock_pop_free(pool);
    } else if (memory_charge(pool->budget, PAGE_CHARGE)) {
        page = pool_take_bare(pool);
        if (page == NULL)
            memory_release(pool->budget, PAGE_CHARGE);
        else
            pool->charged += PAGE_CHARGE;
    }
    pthread_mutex_unlock(&pool->lock);
    return page;
}

static void pool_give_page(struct slab_pool *pool, uint8_t *page)
{
    ASSERT(page != NULL);
    SLAB_HIDE(page, SLAB_PAGE_BYTES);
    pthread_mutex_lock(&pool->lock);
    stock_push_free(pool, page);
    pthread_mutex_unlock(&pool->lock);
}

bool slab_pool_keep(struct slab_pool *pool, uint64_t bytes, uint32_t move_pages)
{
    ASSERT(pool->kept_pages == 0); /* once, before threads start */
    pool->kept_pages = bytes / SLAB_PAGE_BYTES + move_pages;
    pool->move_pages = move_pages;
    while (pool->charged < pool->kept_pages * PAGE_CHARGE) {
        if (!memory_charge(pool->budget, PAGE_CHARGE))
            return false;
        uint8_t *page = pool_take_bare(pool);
        if (page == NULL) {
            memory_release(pool->budget, PAGE_CHARGE);
            return false;
        }
        pool->charged += PAGE_CHARGE;
        stock_push_free(pool, page);
    }
    return true;
}

/* Whole regions are touched at once. If a kernel cannot do that, only later accesses are slower. */
void slab_pool_make_ready(struct slab_pool *pool, uint64_t bytes)
{
    uint64_t pages = bytes / SLAB_PAGE_BYTES;
    for (uint64_t i = 0; i < pages && memory_charge(pool->budget, PAGE_CHARGE); i++) {
        if (pool->fresh_bytes == 0 &&
            (!pool_grow(pool) || madvise(pool->fresh, REGION_BYTES, MADV_POPULATE_WRITE) != 0)) {
            memory_release(pool->budget, PAGE_CHARGE);
            return;
        }
        pool->charged += PAGE_CHARGE;
        stock_push_free(pool, pool_take_bare(pool));
    }
}

size_t slab_pool_free_pages(struct slab_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    size_t count = pool->free_count > pool->move_pages ? pool->free_count - pool->move_pages : 0;
    pthread_mutex_unlock(&pool->lock);
    return count;
}

bool slab_pool_has_page(struct slab_pool *pool)
{
    return memory_left(pool->budget) >= PAGE_CHARGE || slab_pool_free_pages(pool) > 0;
}

/* The lock is released during the system call, so that no thread waits for it. */
static bool pool_shrink_page(struct slab_pool *pool)
{
    uint8_t *page = NULL;
    pthread_mutex_lock(&pool->lock);
    if (pool->free_count > pool->move_pages && pool->charged > pool->kept_pages * PAGE_CHARGE)
        page = stock_pop_free(pool);
    pthread_mutex_unlock(&pool->lock);
    if (page == NULL)
        return false;
    bool given = madvise(page, SLAB_PAGE_BYTES, MADV_DONTNEED) == 0;
    pthread_mutex_lock(&pool->lock);
    if (given) {
        pool->stock[pool->free_count + pool->bare_count++] = page;
        ASSERT(pool->charged >= PAGE_CHARGE);
        pool->charged -= PAGE_CHARGE;
    } else {
        stock_push_free(pool, page);
    }
    pthread_mutex_unlock(&pool->lock);
    if (given)
        memory_release(pool->budget, PAGE_CHARGE);
    return given;
}

size_t slab_pool_shrink(struct slab_pool *pool, size_t bytes)
{
    size_t given = 0;
    while (given + SLAB_PAGE_BYTES <= bytes && pool_shrink_page(pool))
        given += SLAB_PAGE_BYTES;
    return given;
}

static size_t tables_bytes(const struct slab *slab)
{
    return TABLE_COLORS * SLAB_LINE + FREE_BYTES +
           slab->page_limit *
               (sizeof(slab->pages[0]) + sizeof(slab->links[0]) + sizeof(slab->states[0]));
}

/*
 * The table of free cells and that of pages lie together, so that a small slab needs one page of
 * address translation for both. Those of a pool's slabs start at different cache lines of their
 * pages, because all of them are in use at once.
 */
bool slab_init(struct slab *slab, struct slab_pool *pool)
{
    ASSERT(pool != NULL && pool->budget != NULL);
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
    slab->links = (void *)(slab->pages + slab->page_limit);
    slab->states = (void *)(slab->links + slab->page_limit);
    return true;
}

void slab_destroy(struct slab *slab)
{
    if (slab->tables != NULL)
        munmap(slab->tables, tables_bytes(slab));
    slab->tables = NULL;
}

static uint16_t *state_of(const struct slab *slab, uint32_t cell)
{
    return &slab->states[cell >> SLAB_PAGE_SHIFT];
}

static void free_push(struct slab *slab, uint32_t cell, uint32_t units)
{
    uint32_t *link = slab_at(slab, cell);
    *link = slab->free[units];
    slab->free[units] = cell;
    *state_of(slab, cell) -= (uint16_t)units;
    SLAB_HIDE(link, units * SLAB_UNIT);
}

/* A free cell of a retiring page, remembered with its size for the case that the page stays. */
static void aside_push(struct slab *slab, uint32_t cell, uint32_t units)
{
    uint32_t *link = slab_at(slab, cell);
    SLAB_REVEAL(link, SLAB_UNIT);
    link[0] = slab->aside;
    link[1] = units;
    slab->aside = cell;
    SLAB_HIDE(link, units * SLAB_UNIT);
}

static uint32_t list_pop(struct slab *slab, uint32_t *list, uint32_t units)
{
    while (*list != 0) {
        uint32_t cell = *list;
        uint32_t *link = slab_at(slab, cell);
        uint16_t *state = state_of(slab, cell);
        SLAB_REVEAL(link, units * SLAB_UNIT);
        *list = *link;
        if (__builtin_expect(!(*state & SLAB_PAGE_RETIRING), 1)) {
            *state += (uint16_t)units;
            return cell;
        }
        aside_push(slab, cell, units);
    }
    return 0;
}

static uint32_t free_pop(struct slab *slab, uint32_t units)
{
    uint32_t cell = list_pop(slab, &slab->free[units], units);
    if (cell != 0 || units != slab->sift_units)
        return cell;
    return list_pop(slab, &slab->sift, units);
}

static void number_push(struct slab *slab, uint32_t *list, uint32_t number)
{
    ASSERT(number < slab->page_count);
    slab->links[number] = *list;
    *list = number + 1;
}

static uint32_t number_pop(struct slab *slab, uint32_t *list)
{
    ASSERT(*list != 0 && *list <= slab->page_count);
    uint32_t number = *list - 1;
    *list = slab->links[number];
    return number;
}

/* The unallocated rest of a page becomes a free cell of its size. */
static void fresh_close(struct slab *slab, uint32_t *next, const uint32_t *end)
{
    ASSERT(*next <= *end);
    while (*next != *end) {
        uint32_t left = *end - *next;
        uint32_t units = left < SLAB_CELL_CLASSES ? left : SLAB_CELL_CLASSES - 1;
        SLAB_REVEAL(slab_at(slab, *next), SLAB_UNIT);
        free_push(slab, *next, units);
        *next += units;
    }
}

/* Takes a new page and allocates from *next to *end of it; the previous page is closed. */
static bool slab_grow(struct slab *slab, uint32_t kind, uint32_t *next, uint32_t *end)
{
    if (slab->gone == 0 && slab->page_count == slab->page_limit)
        return false;
    uint8_t *page = pool_take_page(slab->pool, slab->moving);
    if (page == NULL)
        return false;
    slab->taken++;
    fresh_close(slab, next, end);
    uint32_t number = slab->gone != 0 ? number_pop(slab, &slab->gone) : slab->page_count++;
    ASSERT(number < slab->page_limit);
    atomic_store_explicit(&slab->pages[number], page, memory_order_release);
    uint32_t skipped = number == 0; /* handle 0 is no cell */
    slab->states[number] = (uint16_t)(kind | (SLAB_PAGE_UNITS - skipped));
    *next = (number << SLAB_PAGE_SHIFT) + skipped;
    *end = (number + 1) << SLAB_PAGE_SHIFT;
    return true;
}

/* The budget is used up: takes any larger free cell, and the rest of it stays free. */
static uint32_t slab_cut(struct slab *slab, uint32_t units)
{
    ASSERT(units > 0 && units < SLAB_CELL_CLASSES);
    for (uint32_t larger = units + 1; larger < SLAB_CELL_CLASSES; larger++) {
        uint32_t cell = free_pop(slab, larger);
        if (cell == 0)
            continue;
        free_push(slab, cell + units, larger - units);
        return cell;
    }
    return 0;
}

/* Where a new cell of this size may begin so that it touches as few cache lines as possible. */
static uint32_t cell_step(uint32_t units)
{
    if (units % LINE_UNITS == 0)
        return LINE_UNITS;
    return units < LINE_UNITS && (units & (units - 1)) == 0 ? units : 1;
}

/* Allocates from the current page or from a new one; 0: the budget is used up. */
static uint32_t fresh_take(struct slab *slab, uint32_t kind, uint32_t *next, uint32_t *end,
                           uint32_t units)
{
    uint32_t step = cell_step(units);
    uint32_t gap = (0 - *next) % step;
    if (*end - *next < gap + units) {
        if (!slab_grow(slab, kind, next, end))
            return 0;
        gap = (0 - *next) % step;
    }
    if (gap != 0) {
        SLAB_REVEAL(slab_at(slab, *next), SLAB_UNIT);
        free_push(slab, *next, gap);
    }
    uint32_t cell = *next + gap;
    *next = cell + units;
    SLAB_REVEAL(slab_at(slab, cell), units * SLAB_UNIT);
    return cell;
}

uint32_t slab_alloc(struct slab *slab, size_t size)
{
    ASSERT(size != 0 && size % SLAB_UNIT == 0 && size <= SLAB_CELL_MAX);
    uint32_t units = (uint32_t)(size / SLAB_UNIT);
    uint32_t cell = free_pop(slab, units);
    if (cell != 0)
        return cell;
    cell = fresh_take(slab, 0, &slab->fresh, &slab->fresh_end, units);
    if (cell == 0)
        return slab_cut(slab, units);
    if (slab->fresh + 2 * LINE_UNITS <= slab->fresh_end) {
        /* Prefetches the first lines of the next cell. */
        const char *next = slab_at(slab, slab->fresh);
        __builtin_prefetch(next, 1);
        __builtin_prefetch(next + SLAB_LINE, 1);
    }
    return cell;
}

bool slab_alloc_two(struct slab *slab, size_t size, size_t other_size, uint32_t *cell,
                    uint32_t *other)
{
    bool again = slab->free[size / SLAB_UNIT] != 0 || slab->free[other_size / SLAB_UNIT] != 0;
    *cell = again ? 0 : slab_alloc(slab, size + other_size);
    if (*cell != 0) {
        *other = *cell + (uint32_t)(size / SLAB_UNIT);
        return true;
    }
    *cell = slab_alloc(slab, size);
    *other = *cell == 0 ? 0 : slab_alloc(slab, other_size);
    if (*cell != 0 && *other == 0) {
        slab_free(slab, *cell, size);
        *cell = 0;
    }
    return *cell != 0;
}

uint32_t slab_alloc_lines(struct slab *slab, size_t size)
{
    ASSERT(size != 0 && size % SLAB_LINE == 0 && size <= SLAB_CELL_MAX);
    return fresh_take(slab, SLAB_PAGE_FIXED, &slab->fixed, &slab->fixed_end,
                      (uint32_t)(size / SLAB_UNIT));
}

void slab_free(struct slab *slab, uint32_t cell, size_t size)
{
    ASSERT(cell != 0 && size != 0 && size % SLAB_UNIT == 0 && size <= SLAB_CELL_MAX);
    uint32_t units = (uint32_t)(size / SLAB_UNIT);
    uint16_t *state = state_of(slab, cell);
    ASSERT((*state & SLAB_PAGE_IN_USE) >= units);
    if (__builtin_expect(!(*state & SLAB_PAGE_RETIRING), 1)) {
        free_push(slab, cell, units);
        return;
    }
    ASSERT(slab->retire_units >= units);
    *state -= (uint16_t)units;
    slab->retire_units -= units;
    aside_push(slab, cell, units);
}

/*
 * How full a page is: 0 if it is empty, otherwise in sixteenths. After a retirement that failed,
 * all pages that are not empty count as equally full, so that each has its turn.
 */
#define LEVEL_UNITS (SLAB_PAGE_UNITS / 16)
#define LEVELS      17
#define LEVEL_STAYS LEVELS

static uint32_t page_level(const struct slab *slab, uint32_t number)
{
    uint32_t state = slab->states[number];
    bool fresh = slab->fresh != slab->fresh_end && number == slab->fresh >> SLAB_PAGE_SHIFT;
    if (fresh || state & (SLAB_PAGE_GONE | SLAB_PAGE_FIXED | SLAB_PAGE_RETIRING))
        return LEVEL_STAYS;
    if (slab->stuck && !slab->moving && (state & SLAB_PAGE_IN_USE) != 0)
        return LEVELS - 1;
    return ((state & SLAB_PAGE_IN_USE) + LEVEL_UNITS - 1) / LEVEL_UNITS;
}

static void page_retire(struct slab *slab, uint32_t number)
{
    ASSERT(!(slab->states[number] & (SLAB_PAGE_RETIRING | SLAB_PAGE_GONE | SLAB_PAGE_FIXED)));
    slab->retire_units += slab->states[number] & SLAB_PAGE_IN_USE;
    slab->states[number] |= SLAB_PAGE_RETIRING;
    number_push(slab, &slab->retiring, number);
}

/* Chooses all pages below a level of fullness and, from the hand on, some of that level. */
static void pages_retire(struct slab *slab, uint32_t level, uint32_t some)
{
    uint32_t start = slab->hand < slab->page_count ? slab->hand : 0;
    for (uint32_t i = 0; i < slab->page_count; i++) {
        uint32_t ahead = slab->page_count - start;
        uint32_t number = i < ahead ? start + i : i - ahead;
        uint32_t found = page_level(slab, number);
        if (found < level) {
            page_retire(slab, number);
        } else if (found == level && some != 0) {
            page_retire(slab, number);
            slab->hand = number + 1;
            some--;
        }
    }
}

uint32_t slab_retire_begin(struct slab *slab, uint32_t count)
{
    ASSERT(slab->retiring == 0 && slab->aside == 0);
    slab->taken = 0;
    /* The rest of the newest page may be too small for large cells. */
    if (slab->fresh_end - slab->fresh < SLAB_CELL_CLASSES)
        fresh_close(slab, &slab->fresh, &slab->fresh_end);
    uint32_t pages[LEVELS + 1] = {0};
    for (uint32_t number = 0; number < slab->page_count; number++)
        pages[page_level(slab, number)]++;
    uint32_t level = 0;
    uint32_t below = 0;
    while (level < LEVELS && below + pages[level] <= count)
        below += pages[level++];
    uint32_t some = level < LEVELS ? count - below : 0;
    ASSERT(below + some <= count && below + some <= slab->page_count);
    if (below + some != 0) {
        pages_retire(slab, level, some);
        slab->sift_next = 1;
    }
    return below + some;
}

bool slab_retire_sift(struct slab *slab, uint32_t cells)
{
    for (;;) {
        while (slab->sift == 0) {
            if (slab->sift_next >= SLAB_CELL_CLASSES) {
                slab->sift_units = 0;
                return true;
            }
            slab->sift_units = slab->sift_next++;
            slab->sift = slab->free[slab->sift_units];
            slab->free[slab->sift_units] = 0;
        }
        if (cells-- == 0)
            return false;
        uint32_t cell = slab->sift;
        uint32_t *link = slab_at(slab, cell);
        SLAB_REVEAL(link, SLAB_UNIT);
        slab->sift = *link;
        if (slab_is_retiring(slab, cell)) {
            aside_push(slab, cell, slab->sift_units);
            continue;
        }
        *link = slab->free[slab->sift_units];
        slab->free[slab->sift_units] = cell;
        SLAB_HIDE(link, SLAB_UNIT);
    }
}

void slab_retire_end(struct slab *slab)
{
    ASSERT(slab->retire_units == 0);
    while (!slab_retire_sift(slab, UINT32_MAX)) {
    }
    slab->aside = 0;
    slab->stuck = false;
    while (slab->retiring != 0) {
        uint32_t number = number_pop(slab, &slab->retiring);
        ASSERT(slab->states[number] == SLAB_PAGE_RETIRING);
        slab->states[number] = SLAB_PAGE_GONE;
        number_push(slab, &slab->gone, number);
        pool_give_page(slab->pool,
                       atomic_load_explicit(&slab->pages[number], memory_order_relaxed));
    }
}

/* Detached cells stay detached: free_pop takes from them, and the next sifting begins with them. */
void slab_retire_cancel(struct slab *slab)
{
    while (slab->retiring != 0)
        slab->states[number_pop(slab, &slab->retiring)] &= (uint16_t)~SLAB_PAGE_RETIRING;
    slab->retire_units = 0;
    slab->stuck = true;
    while (slab->aside != 0) {
        uint32_t cell = slab->aside;
        uint32_t *link = slab_at(slab, cell);
        SLAB_REVEAL(link, SLAB_UNIT);
        uint32_t units = link[1];
        slab->aside = link[0];
        link[0] = slab->free[units];
        slab->free[units] = cell;
        SLAB_HIDE(link, SLAB_UNIT);
    }
}

uint32_t slab_retire_empty(struct slab *slab)
{
    ASSERT(slab->retiring == 0);
    uint32_t count = 0;
    for (uint32_t number = 0; number < slab->page_count; number++)
        count += page_level(slab, number) == 0;
    if (count != 0) {
        slab_retire_begin(slab, count);
        slab_retire_end(slab);
    }
    return count;
}

uint64_t slab_idle_bytes(const struct slab *slab)
{
    uint64_t units = 0;
    for (uint32_t number = 0; number < slab->page_count; number++)
        if (page_level(slab, number) != LEVEL_STAYS)
            units += SLAB_PAGE_UNITS - (slab->states[number] & SLAB_PAGE_IN_USE);
    return units * SLAB_UNIT;
}
