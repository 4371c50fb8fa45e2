/*
 * Why chunks and not one array that doubles: a hundred thousand users growing in step would leave
 * every size they outgrew behind as free cells nobody wants again. A chunk stays where it is and
 * fills up; the next one is little more than there is already at most, and a third of it or less
 * where that is much, so little is ever empty and the chain stays short. Those of narrow ids are of
 * whole cache lines, the first one together with its user's row (users.c). That one holds seven, which
 * is all that most users ever have.
 *
 * Why a hint: a chain is one cache miss after another. From the addresses of two older chunks, right
 * or outdated, two can be fetched at once; the hint is never followed for anything else.
 *
 * Why entries move on removal: order is what tells the oldest, and holes would have to be skipped
 * by every scan. Closing the gap from the newer side moves at most 12 bytes an entry, and what is
 * taken back is mostly recent.
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
    uint32_t hint;  /* the chunk behind `older` when this was made; perhaps freed since */
    uint32_t stamp; /* of the newest entry that is, or was, in it */
    uint64_t lo[];  /* then hi[capacity] if wide, then the times */
};

#define CHUNK_AHEAD 2

static const struct {
    uint32_t below;   /* with fewer entries than this, */
    uint8_t capacity; /* the next chunk holds so many */
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

/* Moves index + 1 … end - 1 down by one. */
static void chunk_close(struct chunk *chunk, uint32_t index)
{
    size_t count = chunk->end - 1 - index;
    memmove(chunk->lo + index, chunk->lo + index + 1, count * sizeof(uint64_t));
    if (chunk->wide)
        memmove(chunk_hi(chunk) + index, chunk_hi(chunk) + index + 1, count * sizeof(uint64_t));
    uint32_t *times = chunk_times(chunk);
    memmove(times + index, times + index + 1, count * sizeof(uint32_t));
}

/* Index in the chunk, or its end. */
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

/* Two chunks ahead: their heads and ids, taken to be as many as here. */
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

struct shelf_place shelf_find(const struct slab *slab, const struct shelf *shelf, scan_fn *scan,
                              struct id id)
{
    uint32_t walked = 0;
    for (uint32_t at = shelf_newest(shelf); at != 0; walked++) {
        struct chunk *chunk = slab_at(slab, at);
        if (walked % CHUNK_AHEAD == 0)
            chunk_prefetch(slab, chunk);
        uint32_t index = chunk_find(chunk, scan, id);
        if (index != chunk->end)
            return (struct shelf_place){at, index};
        at = chunk->older;
    }
    return (struct shelf_place){0, 0};
}

uint32_t shelf_time(const struct slab *slab, struct shelf_place place)
{
    return chunk_times(slab_at(slab, place.chunk))[place.index];
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

void shelf_remove(struct slab *slab, struct shelf *shelf, struct shelf_place place)
{
    struct shelf_entry carried = {0};
    uint32_t stamp = shelf_stamp(slab, shelf);
    for (uint32_t at = shelf_newest(shelf);;) {
        struct chunk *chunk = slab_at(slab, at);
        chunk->stamp = stamp; /* what moves in from the newer side is no newer than that */
        uint32_t index = at == place.chunk ? place.index : chunk->start;
        struct shelf_entry first = chunk_get(chunk, index);
        chunk_close(chunk, index);
        if (at == shelf_newest(shelf))
            chunk->end--;
        else
            chunk_put(chunk, chunk->end - 1U, carried);
        if (at == place.chunk)
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

/* `newer` is the chunk before it, 0 if there is none. */
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
    uint32_t newer;
    uint32_t at = oldest_chunk(slab, shelf, &newer);
    struct chunk *chunk = slab_at(slab, at);
    ASSERT(chunk->start < chunk->end);
    chunk->start++;
    shelf->count--;
    if (chunk->start == chunk->end)
        chunk_unlink(slab, shelf, at, newer);
}

/* From this one on to the oldest. */
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

/* Stamps fall from newest to oldest: behind the first chunk that can go, all can. */
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
            uint32_t moved = slab_alloc(slab, size);
            if (moved == 0)
                return false;
            memcpy(slab_at(slab, moved), chunk, size);
            if (newer == NULL)
                newest_set(shelf, moved);
            else
                newer->older = moved;
            slab_free(slab, at, size);
            chunk = slab_at(slab, moved);
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
