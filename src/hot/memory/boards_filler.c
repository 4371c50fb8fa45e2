/*
 * The filler's thread, waiting for it, and the list of counters that it has to read again after a start.
 * The keeper's thread could not do this, because a pass over the store may take minutes, and the keeper
 * has to keep memory within its bounds meanwhile.
 */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "hot/memory/boards.h"
#include "hot/memory/hot_memory_priv.h"

#define ROUND_MS      100
#define ROUND_SOON_MS 10 /* while a worker waits, or boards cannot be read yet */
#define WAITING_MAX   2  /* workers that wait for a board; other requests need workers too */
#define INLINE_ROUNDS (BOARDS_PAUSE_MIN + 2)
#define TOUCHED_FIRST 4096

void boards_filler_init(struct boards_filler *filler)
{
    pthread_mutex_init(&filler->lock, NULL);
    pthread_mutex_init(&filler->round, NULL);
    clock_condition_init(&filler->asked);
    clock_condition_init(&filler->turned);
    filler->pause_next = BOARDS_PAUSE_MIN;
}

void boards_touched_free(struct hot_memory *hot)
{
    struct boards_filler *filler = &hot->boards.filler;
    if (filler->touched_capacity != 0)
        memory_release(hot->budget, filler->touched_capacity * sizeof(*filler->touched));
    free(filler->touched);
    filler->touched = NULL;
    filler->touched_count = filler->touched_capacity = 0;
}

void boards_filler_destroy(struct hot_memory *hot)
{
    struct boards_filler *filler = &hot->boards.filler;
    boards_touched_free(hot);
    pthread_cond_destroy(&filler->turned);
    pthread_cond_destroy(&filler->asked);
    pthread_mutex_destroy(&filler->round);
    pthread_mutex_destroy(&filler->lock);
}

static int touched_compare(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct board_counter));
}

static void touched_unite(struct boards_filler *filler)
{
    size_t kept = 0;
    qsort(filler->touched, filler->touched_count, sizeof(*filler->touched), touched_compare);
    for (size_t i = 0; i < filler->touched_count; i++)
        if (i == 0 || touched_compare(&filler->touched[i], &filler->touched[kept - 1]) != 0)
            filler->touched[kept++] = filler->touched[i];
    filler->touched_count = kept;
}

static bool touched_grow(struct hot_memory *hot)
{
    struct boards_filler *filler = &hot->boards.filler;
    size_t capacity = filler->touched_capacity == 0 ? TOUCHED_FIRST : filler->touched_capacity * 2;
    size_t more = (capacity - filler->touched_capacity) * sizeof(*filler->touched);
    if (capacity > LIMIT_BOARD_TOUCHED || !memory_charge(hot->budget, more))
        return false;
    struct board_counter *touched = realloc(filler->touched, capacity * sizeof(*touched));
    if (touched == NULL) {
        memory_release(hot->budget, more);
        return false;
    }
    filler->touched = touched;
    filler->touched_capacity = capacity;
    return true;
}

bool boards_touch(struct hot_memory *hot, struct board_counter counter)
{
    struct boards_filler *filler = &hot->boards.filler;
    if (filler->touched_count == filler->touched_capacity) {
        if (filler->touched_count > 0)
            touched_unite(filler);
        /* If the array stayed nearly full, it would be sorted again and again. */
        if (filler->touched_count >= filler->touched_capacity / 4 * 3 && !touched_grow(hot))
            return false;
    }
    struct board_counter *at = &filler->touched[filler->touched_count++];
    memset(at, 0, sizeof(*at)); /* also the padding, because entries are compared byte by byte */
    at->id = counter.id;
    at->type = counter.type;
    at->name = counter.name;
    return true;
}

void boards_recount(struct hot_memory *hot)
{
    for (uint32_t i = 0; i < LIMIT_SHARDS; i++) {
        struct item_shard *shard = &hot->items[i];
        pthread_mutex_lock(&shard->lock);
        board_shard_destroy(&shard->boards);
        shard->boards.counting = true;
        pthread_mutex_unlock(&shard->lock);
    }
    boards_touched_free(hot);
    atomic_store(&hot->boards.loading, false);
}

static void *filler_run(void *argument)
{
    struct hot_memory *hot = argument;
    struct boards_filler *filler = &hot->boards.filler;
    pthread_setname_np(pthread_self(), "boards");
    pthread_mutex_lock(&filler->lock);
    while (!atomic_load(&filler->stopping)) {
        pthread_mutex_unlock(&filler->lock);
        boards_round(hot);
        bool soon = atomic_load(&hot->boards.loading) || filler->begun;
        pthread_mutex_lock(&filler->lock);
        filler->rounds++;
        pthread_cond_broadcast(&filler->turned);
        struct timespec until =
            clock_after_ms(soon || filler->waiting > 0 ? ROUND_SOON_MS : ROUND_MS);
        if (!atomic_load(&filler->stopping))
            pthread_cond_timedwait(&filler->asked, &filler->lock, &until);
    }
    pthread_mutex_unlock(&filler->lock);
    return NULL;
}

bool boards_filler_start(struct hot_memory *hot)
{
    struct boards_filler *filler = &hot->boards.filler;
    ASSERT(!filler->running);
    filler->running = pthread_create(&filler->thread, NULL, filler_run, hot) == 0;
    return filler->running;
}

void boards_filler_stop(struct hot_memory *hot)
{
    struct boards_filler *filler = &hot->boards.filler;
    if (!filler->running)
        return;
    pthread_mutex_lock(&filler->lock);
    atomic_store(&filler->stopping, true);
    pthread_cond_broadcast(&filler->asked);
    pthread_cond_broadcast(&filler->turned);
    pthread_mutex_unlock(&filler->lock);
    pthread_join(filler->thread, NULL);
    filler->running = false;
}

/* Without a thread, the caller makes the rounds itself: one to begin, one to fill, and one between. */
static bool rounds_inline(struct hot_memory *hot)
{
    for (int i = 0; i < INLINE_ROUNDS; i++)
        boards_round(hot);
    return false;
}

/* A round may be in progress, so this waits for one that begins after the call. */
bool boards_wait(struct hot_memory *hot, uint64_t until_ns)
{
    struct boards_filler *filler = &hot->boards.filler;
    if (!filler->running)
        return rounds_inline(hot);
    pthread_mutex_lock(&filler->lock);
    bool waits = filler->waiting < WAITING_MAX;
    uint64_t until_round = filler->rounds + 2;
    filler->waiting += waits;
    pthread_cond_signal(&filler->asked);
    while (waits && !atomic_load(&filler->stopping) && filler->rounds < until_round &&
           clock_monotonic_ns() < until_ns) {
        struct timespec until = clock_after_ms(ROUND_MS);
        pthread_cond_timedwait(&filler->turned, &filler->lock, &until);
    }
    bool again = waits && !atomic_load(&filler->stopping) && clock_monotonic_ns() < until_ns;
    filler->waiting -= waits;
    pthread_mutex_unlock(&filler->lock);
    return again;
}
