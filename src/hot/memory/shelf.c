/*
 * Why chunks and not one array that doubles: if a hundred thousand users grew at the same pace, each size
 * that they outgrew would remain as free cells that nobody needs again. A chunk is never copied to grow.
 * The next chunk has at most a little more entries than the shelf has already, and a third of them or
 * fewer on a long shelf. So little memory is unused, and the chain stays short. Chunks of narrow ids are
 * whole cache lines, the first one together with its user's row (users.c). The first chunk has seven
 * entries, which are enough for most users.
 *
 * Why there is a hint: following a chain is one cache miss after another. With the addresses of two older
 * chunks, right or outdated, two can be prefetched at once. The hint is used for nothing else.
 *
 * Why a removal shifts entries: the order of entries says which is the oldest, and every scan would have
 * to skip holes. Closing the gap from the newer side copies at most 12 bytes for each entry, and removed
 * reactions are mostly recent.
 */
#include "hot/memory/shelf.h"

#include <string.h>

#include "base/assert.h"

struct chunk {
    uint32_t older;
    uint8_t capacity;
    uint8_t start; /* entries are start … end - 1, oldest first */
    uint8_t end;
    uint8_t wide;
    uint32_t
        hint; /* the chunk after `older` when this one was made; it may have been freed since */
    uint32_t stamp; /* of the newest entry that is, or was, in it */
    uint64_t lo[];  /* then hi[capacity] if wide, then the times */
};

#define CHUNK_AHEAD 2

static const struct {
    uint32_t below;   /* if the shelf has fewer entries than this, */
    uint8_t capacity; /* the next chunk has this capacity */
} chunk_steps[] = {
    {1, 7}, {16, 9}, {36, 20}, {144, 36}, {300, 52}, {436, 68}, {636, 100}, {UINT32_MAX, 132},
};

static uint32_t chunk_capacity(uint32_t entries)
{
    size_t step = 0;
    while (entries >= chunk_steps[step].below)
        step++;
    return chunk_steps[step].capacity;
}

static size_t chunk_size(uint32_t capacity, bool wide)
{
    size_t bytes = sizeof(struct chunk) + capacity * ((wide ? 16 : 8) + sizeof(uint32_t));
    return (bytes + SLAB_UNIT - 1) / SLAB_UNIT * SLAB_UNIT;
}

static uint64_t *chunk_hi(struct chunk *chunk)
{
    return chunk->lo + chunk->capacity;
}

static uint32_t *chunk_times(struct chunk *chunk)
{
    return (uint32_t *)(chunk->lo + (size_t)chunk->capacity * (chunk->wide ? 2 : 1));
}

static struct shelf_entry chunk_get(struct chunk *chunk, uint32_t index)
{
    return (struct shelf_entry){
        .id = {.hi = chunk->wide ? chunk_hi(chunk)[index] : 0, .lo = chunk->lo[index]},
        .time_s = chunk_times(chunk)[index],
    };
}

static void chunk_put(struct chunk *chunk, uint32_t index, struct shelf_entry entry)
{
    chunk->lo[index] = entry.id.lo;
    if (chunk->wide)
        chunk_hi(chunk)[index] = entry.id.hi;
    chunk_times(chunk)[index] = entry.time_s;
}

/* Shifts the entries index + 1 … end - 1 down by one. */
static void chunk_close(struct chunk *chunk, uint32_t index)
{
    size_t count = chunk->end - 1 - index;
    memmove(chunk->lo + index, chunk->lo + index + 1, count * sizeof(uint64_t));
    if (chunk->wide)
        memmove(chunk_hi(chunk) + index, chunk_hi(chunk) + index + 1, count * sizeof(uint64_t));
    uint32_t *times = chunk_times(chunk);
    memmove(times + index, times + index + 1, count * sizeof(uint32_t));
}

/* The index in the chunk; its end if the id is not there. */
static uint32_t chunk_find(struct chunk *chunk, scan_fn *scan, struct id id)
{
    uint32_t from = chunk->start;
    for (;;) {
        from += (uint32_t)scan(chunk->lo + from, chunk->end - from, id.lo);
        if (from == chunk->end || !chunk->wide || chunk_hi(chunk)[from] == id.hi)
            return from;
        from++;
    }
}

/* Prefetches the heads and ids of the next two chunks, as if they were as large as this one. */
static void chunk_prefetch(const struct slab *slab, const struct chunk *chunk)
{
    size_t bytes = sizeof(*chunk) + chunk->capacity * sizeof(uint64_t);
    const uint32_t ahead[CHUNK_AHEAD] = {chunk->older, chunk->hint};
    for (size_t i = 0; i < CHUNK_AHEAD && ahead[i] != 0; i++) {
        const char *at = slab_hint(slab, ahead[i]);
        for (size_t offset = 0; offset < bytes; offset += 64)
            __builtin_prefetch(at + offset);
    }
}

static void newest_set(struct shelf *shelf, uint32_t chunk)
{
    atomic_store_explicit(&shelf->newest, chunk, memory_order_release);
}

struct shelf_slot shelf_find(const struct slab *slab, const struct shelf *shelf, scan_fn *scan,
                             struct id id)
{
    uint32_t walked = 0;
    for (uint32_t at = shelf_newest(shelf); at != 0; walked++) {
        struct chunk *chunk = slab_at(slab, at);
        if (walked % CHUNK_AHEAD == 0)
            chunk_prefetch(slab, chunk);
        uint32_t index = chunk_find(chunk, scan, id);
        if (index != chunk->end)
            return (struct shelf_slot){at, index};
        at = chunk->older;
    }
    return (struct shelf_slot){0, 0};
}

uint32_t shelf_time(const struct slab *slab, struct shelf_slot slot)
{
    return chunk_times(slab_at(slab, slot.chunk))[slot.index];
}

size_t shelf_chunk_size(const struct slab *slab, const struct shelf *shelf)
{
    uint32_t newest = shelf_newest(shelf);
    if (newest != 0) {
        const struct chunk *chunk = slab_at(slab, newest);
        if (chunk->end < chunk->capacity)
            return 0;
    }
    return chunk_size(chunk_capacity(shelf->count), shelf->flags & SHELF_WIDE);
}

void shelf_push(const struct slab *slab, struct shelf *shelf, uint32_t chunk,
                struct shelf_entry entry, uint32_t stamp)
{
    if (chunk != 0) {
        struct chunk *made = slab_at(slab, chunk);
        *made = (struct chunk){
            .older = shelf_newest(shelf),
            .capacity = (uint8_t)chunk_capacity(shelf->count),
            .wide = (shelf->flags & SHELF_WIDE) != 0,
        };
        if (made->older != 0)
            made->hint = ((const struct chunk *)slab_at(slab, made->older))->older;
        newest_set(shelf, chunk);
    }
    struct chunk *newest = slab_at(slab, shelf_newest(shelf));
    ASSERT(newest->end < newest->capacity);
    chunk_put(newest, newest->end++, entry);
    newest->stamp = stamp;
    shelf->count++;
}

static void chunk_free(struct slab *slab, uint32_t at)
{
    const struct chunk *chunk = slab_at(slab, at);
    slab_free(slab, at, chunk_size(chunk->capacity, chunk->wide));
}

void shelf_remove(struct slab *slab, struct shelf *shelf, struct shelf_slot slot)
{
    struct shelf_entry carried = {0};
    uint32_t stamp = shelf_stamp(slab, shelf);
    for (uint32_t at = shelf_newest(shelf);;) {
        struct chunk *chunk = slab_at(slab, at);
        chunk->stamp =
            stamp; /* the entry that is shifted in from the newer chunk has no newer stamp */
        uint32_t index = at == slot.chunk ? slot.index : chunk->start;
        struct shelf_entry first = chunk_get(chunk, index);
        chunk_close(chunk, index);
        if (at == shelf_newest(shelf))
            chunk->end--;
        else
            chunk_put(chunk, chunk->end - 1U, carried);
        if (at == slot.chunk)
            break;
        carried = first;
        at = chunk->older;
        ASSERT(at != 0);
    }
    shelf->count--;
    uint32_t newest = shelf_newest(shelf);
    const struct chunk *chunk = slab_at(slab, newest);
    if (chunk->start == chunk->end) {
        newest_set(shelf, chunk->older);
        chunk_free(slab, newest);
    }
}

static uint32_t oldest_chunk(const struct slab *slab, const struct shelf *shelf, uint32_t *newer)
{
    uint32_t at = shelf_newest(shelf);
    *newer = 0;
    for (;;) {
        ASSERT(at != 0);
        const struct chunk *chunk = slab_at(slab, at);
        if (chunk->older == 0)
            return at;
        *newer = at;
        at = chunk->older;
    }
}

uint32_t shelf_stamp(const struct slab *slab, const struct shelf *shelf)
{
    uint32_t newest = shelf_newest(shelf);
    return newest == 0 ? 0 : ((const struct chunk *)slab_at(slab, newest))->stamp;
}

struct shelf_tail shelf_tail(const struct slab *slab, const struct shelf *shelf)
{
    uint32_t newer;
    struct chunk *chunk = slab_at(slab, oldest_chunk(slab, shelf, &newer));
    return (struct shelf_tail){
        .time_s = chunk_times(chunk)[chunk->end - 1],
        .stamp = chunk->stamp,
        .count = (uint32_t)(chunk->end - chunk->start),
    };
}

struct shelf_entry shelf_oldest(const struct slab *slab, const struct shelf *shelf)
{
    uint32_t newer;
    struct chunk *chunk = slab_at(slab, oldest_chunk(slab, shelf, &newer));
    ASSERT(chunk->start < chunk->end);
    return chunk_get(chunk, chunk->start);
}

/* `newer` is the chunk before this one in the chain; 0 if there is none. */
static void chunk_unlink(struct slab *slab, struct shelf *shelf, uint32_t at, uint32_t newer)
{
    if (newer == 0)
        newest_set(shelf, 0);
    else
        ((struct chunk *)slab_at(slab, newer))->older = 0;
    chunk_free(slab, at);
}

void shelf_drop_oldest(struct slab *slab, struct shelf *shelf)
{
    ASSERT(shelf->count > 0);
    uint32_t newer;
    uint32_t at = oldest_chunk(slab, shelf, &newer);
    struct chunk *chunk = slab_at(slab, at);
    ASSERT(chunk->start < chunk->end);
    chunk->start++;
    shelf->count--;
    if (chunk->start == chunk->end)
        chunk_unlink(slab, shelf, at, newer);
}

/* Frees this chunk and all older ones. */
static void chunks_free(struct slab *slab, uint32_t at)
{
    while (at != 0) {
        uint32_t older = ((const struct chunk *)slab_at(slab, at))->older;
        chunk_free(slab, at);
        at = older;
    }
}

void shelf_empty(struct slab *slab, struct shelf *shelf)
{
    uint32_t newest = shelf_newest(shelf);
    newest_set(shelf, 0);
    shelf->count = 0;
    chunks_free(slab, newest);
}

/* Stamps decrease from newest to oldest: if a chunk can be evicted, so can all older ones. */
uint32_t shelf_cut(struct slab *slab, struct shelf *shelf, uint32_t most, uint32_t oldest_s,
                   uint32_t clean)
{
    struct chunk *last = NULL;
    uint32_t kept = 0;
    uint32_t before = shelf->count;
    uint32_t at = shelf_newest(shelf);
    while (at != 0) {
        struct chunk *chunk = slab_at(slab, at);
        if (chunk->stamp < clean && (kept >= most || chunk_times(chunk)[chunk->end - 1] < oldest_s))
            break;
        kept += (uint32_t)(chunk->end - chunk->start);
        last = chunk;
        at = chunk->older;
    }
    if (last == NULL)
        newest_set(shelf, 0);
    else
        last->older = 0;
    chunks_free(slab, at);
    if (kept > most && last->stamp < clean) {
        last->start = (uint8_t)(last->start + kept - most);
        kept = most;
    }
    shelf->count = kept;
    return before - kept;
}

bool shelf_is_retiring(const struct slab *slab, const struct shelf *shelf)
{
    for (uint32_t at = shelf_newest(shelf); at != 0;
         at = ((const struct chunk *)slab_at(slab, at))->older)
        if (slab_is_retiring(slab, at))
            return true;
    return false;
}

bool shelf_relocate(struct slab *slab, struct shelf *shelf)
{
    struct chunk *newer = NULL;
    for (uint32_t at = shelf_newest(shelf); at != 0;) {
        struct chunk *chunk = slab_at(slab, at);
        if (slab_is_retiring(slab, at)) {
            size_t size = chunk_size(chunk->capacity, chunk->wide);
            uint32_t relocated = slab_alloc(slab, size);
            if (relocated == 0)
                return false;
            memcpy(slab_at(slab, relocated), chunk, size);
            if (newer == NULL)
                newest_set(shelf, relocated);
            else
                newer->older = relocated;
            slab_free(slab, at, size);
            chunk = slab_at(slab, relocated);
        }
        newer = chunk;
        at = chunk->older;
    }
    return true;
}

void shelf_visit(const struct slab *slab, const struct shelf *shelf, shelf_visit_fn *visit,
                 void *context)
{
    uint32_t walked = 0;
    for (uint32_t at = shelf_newest(shelf); at != 0; walked++) {
        struct chunk *chunk = slab_at(slab, at);
        if (walked % CHUNK_AHEAD == 0)
            chunk_prefetch(slab, chunk);
        uint32_t start = chunk->start;
        visit(context, chunk->lo + start, chunk->wide ? chunk_hi(chunk) + start : NULL,
              chunk_times(chunk) + start, chunk->end - start);
        at = chunk->older;
    }
}

void shelf_walk(const struct slab *slab, const struct shelf *shelf, shelf_walk_fn *walk,
                void *context)
{
    for (uint32_t at = shelf_newest(shelf); at != 0;) {
        struct chunk *chunk = slab_at(slab, at);
        for (uint32_t i = chunk->end; i > chunk->start; i--)
            if (!walk(context, chunk_get(chunk, i - 1)))
                return;
        at = chunk->older;
    }
}
