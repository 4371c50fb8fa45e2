#include "time/timeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/log.h"

#define RETRY_NS 1000000000ULL /* between two attempts to write the table */

static struct moment machine_clock(void)
{
    return (struct moment){.wall_ms = clock_wall_ms(), .monotonic_ns = clock_monotonic_ns()};
}

struct timeline *timeline_new(timeline_clock_fn *clock)
{
    struct timeline *timeline = calloc(1, sizeof *timeline);
    if (timeline == NULL)
        return NULL;
    timeline->clock = clock != NULL ? clock : machine_clock;
    timeline->newest_s = &timeline->own_newest_s;
    atomic_store(&timeline->plain, true);
    pthread_mutex_init(&timeline->turning, NULL);
    pthread_rwlock_init(&timeline->lock, NULL);
    return timeline;
}

void timeline_free(struct timeline *timeline)
{
    if (timeline == NULL)
        return;
    pthread_rwlock_destroy(&timeline->lock);
    pthread_mutex_destroy(&timeline->turning);
    free(timeline);
}

static void publish(struct timeline *timeline, const struct spans *spans)
{
    ASSERT(spans->count <= SPANS_MAX);
    pthread_rwlock_wrlock(&timeline->lock);
    timeline->spans = *spans;
    pthread_rwlock_unlock(&timeline->lock);
    atomic_store(&timeline->plain, spans->count < 2);
}

enum status timeline_load(struct timeline *timeline, const char *directory)
{
    struct spans spans;
    enum status status = spans_read(directory, &spans);
    timeline->directory = directory;
    publish(timeline, &spans);
    atomic_store(&timeline->pair, (uint64_t)spans_offset(&spans) << 32);
    return status;
}

void timeline_raise(struct timeline *timeline, uint32_t recorded_s)
{
    if (recorded_s > atomic_load(&timeline->own_newest_s))
        atomic_store(&timeline->own_newest_s, recorded_s);
}

void timeline_follow(struct timeline *timeline, const _Atomic uint32_t *newest_s)
{
    ASSERT(newest_s != NULL);
    timeline->newest_s = newest_s;
}

uint32_t timeline_offset(uint32_t offset_s, int64_t step_s, uint64_t wall_s, uint32_t newest_s)
{
    uint64_t offset = offset_s;
    /* The offset with which times continue directly after the newest one. */
    uint64_t next = wall_s > newest_s ? 0 : newest_s + 1ULL - wall_s;
    if (next == 0 || wall_s + offset + TIMELINE_HOLD_S < newest_s || wall_s + offset > TIMELINE_END)
        offset = next;
    else if (step_s > TIMELINE_HOLD_S && offset > next)
        offset = offset - next > (uint64_t)step_s ? offset - (uint64_t)step_s : next;
    return wall_s + offset > TIMELINE_END ? UINT32_MAX : (uint32_t)offset;
}

uint32_t timeline_newest(const struct timeline *timeline)
{
    return atomic_load(timeline->newest_s);
}

uint32_t timeline_least(struct timeline *timeline)
{
    uint32_t newest_s = timeline_newest(timeline);
    uint64_t wall_s = timeline->clock().wall_ms / 1000;
    if (wall_s >= TIMELINE_WALL_END)
        return newest_s;
    uint32_t offset_s = timeline_offset(spans_offset(&timeline->spans), 0, wall_s, newest_s);
    uint64_t now_s = offset_s == UINT32_MAX ? 0 : wall_s + offset_s;
    return now_s > newest_s ? (uint32_t)now_s : newest_s;
}

bool timeline_is_behind(struct timeline *timeline)
{
    uint64_t wall_s = timeline->clock().wall_ms / 1000;
    return wall_s + spans_offset(&timeline->spans) + TIMELINE_HOLD_S < timeline_newest(timeline);
}

static const char *show_time(uint64_t time_s, char out[32])
{
    time_t seconds = (time_t)time_s;
    struct tm utc;
    if (gmtime_r(&seconds, &utc) == NULL || strftime(out, 32, "%Y-%m-%d %H:%M:%S UTC", &utc) == 0)
        snprintf(out, 32, "%" PRIu64, time_s);
    return out;
}

static void say_state(enum status before, enum status state, uint64_t wall_s)
{
    char shown[32];
    if (state == before)
        return;
    if (state == STATUS_OK)
        log_info("the clock says %s: writes resume", show_time(wall_s, shown));
    else
        log_error("the clock says %s: %s", show_time(wall_s, shown), status_sentence(state));
}

static void say_span(uint32_t before_s, uint32_t offset_s, uint64_t wall_s, uint32_t newest_s)
{
    char clock[32], newest[32];
    show_time(wall_s, clock);
    show_time(newest_s, newest);
    if (offset_s > before_s)
        log_warn("the clock was set back: it says %s, but the last change was recorded at %s. From "
                 "now on times are recorded %" PRIu32
                 " s ahead of the clock, which keeps their order, and shown as the clock says",
                 clock, newest, offset_s);
    else
        log_info("the clock was set forward to %s: times are now recorded %" PRIu32
                 " s ahead of it, no longer %" PRIu32 " s",
                 clock, offset_s, before_s);
}

/* Adds an offset to the table and writes it to disk first. OK, or CLOCK_UNWRITTEN. */
static enum status change_offset(struct timeline *timeline, uint32_t offset_s, uint32_t newest_s,
                                 struct moment now)
{
    struct spans spans = timeline->spans; /* only this function writes it */
    uint32_t before_s = spans_offset(&spans);
    spans_add(&spans, newest_s, offset_s);
    ASSERT(offset_s != before_s && spans_offset(&spans) == offset_s);
    if (timeline->retry_ns > now.monotonic_ns)
        return STATUS_CLOCK_UNWRITTEN;
    int result = timeline->directory != NULL ? spans_write(timeline->directory, &spans) : 0;
    if (result != 0) {
        log_warn("%s/" SPANS_NAME " was not written: %s", timeline->directory, strerror(-result));
        timeline->retry_ns = now.monotonic_ns + RETRY_NS;
        return STATUS_CLOCK_UNWRITTEN;
    }
    publish(timeline, &spans);
    say_span(before_s, offset_s, now.wall_ms / 1000, newest_s);
    return STATUS_OK;
}

/* Call it under the lock. If the result is OK, the pair belongs to this moment. */
static enum status turn(struct timeline *timeline, struct moment now, uint32_t newest_s)
{
    uint64_t pair = atomic_load(&timeline->pair), wall_s = now.wall_ms / 1000;
    uint32_t offset_s = (uint32_t)(pair >> 32);
    uint32_t skew_s = (uint32_t)(wall_s - now.monotonic_ns / 1000000000);
    ASSERT(offset_s == spans_offset(&timeline->spans)); /* only this function changes both */
    if (wall_s >= TIMELINE_WALL_END)
        return STATUS_CLOCK_WRONG;
    /*
     * Modulo 2^32, so a step of 68 years or more looks like one in the other direction; that only
     * changes the size of the offset
     */
    int64_t step_s = timeline->begun ? (int32_t)(skew_s - (uint32_t)pair) : 0;
    uint32_t next_s = timeline_offset(offset_s, step_s, wall_s, newest_s);
    if (next_s == UINT32_MAX)
        return STATUS_TIMES_USED_UP;
    ASSERT(wall_s + next_s <= TIMELINE_END);
    enum status status = STATUS_OK;
    if (next_s != offset_s)
        status = change_offset(timeline, next_s, newest_s, now);
    if (status != STATUS_OK)
        return status;
    timeline->begun = true;
    atomic_store(&timeline->pair, (uint64_t)next_s << 32 | skew_s);
    return STATUS_OK;
}

/*
 * The clock is read under the lock: a thread that read it before waiting for the lock could have a
 * time from before a step.
 */
uint32_t timeline_turn(struct timeline *timeline)
{
    ASSERT(timeline->clock != NULL && timeline->newest_s != NULL);
    pthread_mutex_lock(&timeline->turning);
    struct moment now = timeline->clock();
    uint32_t newest_s = atomic_load(timeline->newest_s);
    enum status before = timeline_state(timeline);
    enum status state = turn(timeline, now, newest_s);
    atomic_store(&timeline->state, (int)state);
    say_state(before, state, now.wall_ms / 1000);
    uint32_t recorded_s = newest_s;
    if (state == STATUS_OK)
        recorded_s = (uint32_t)(now.wall_ms / 1000 + (atomic_load(&timeline->pair) >> 32));
    pthread_mutex_unlock(&timeline->turning);
    return recorded_s;
}

uint64_t timeline_now_ms(struct timeline *timeline)
{
    struct moment now = timeline->clock();
    return timeline_at(timeline, now) * 1000ULL + now.wall_ms % 1000;
}

uint32_t timeline_shown(struct timeline *timeline, uint32_t recorded_s)
{
    if (atomic_load_explicit(&timeline->plain, memory_order_relaxed))
        return recorded_s;
    pthread_rwlock_rdlock(&timeline->lock);
    uint32_t shown_s = spans_shown(&timeline->spans, recorded_s);
    pthread_rwlock_unlock(&timeline->lock);
    return shown_s;
}

uint32_t timeline_past(struct timeline *timeline, uint32_t recorded_s, uint32_t now_s)
{
    pthread_rwlock_rdlock(&timeline->lock);
    uint32_t past_s = spans_past(&timeline->spans, recorded_s, now_s);
    pthread_rwlock_unlock(&timeline->lock);
    return past_s;
}

uint32_t timeline_recorded(struct timeline *timeline, uint32_t shown_s)
{
    pthread_rwlock_rdlock(&timeline->lock);
    uint32_t recorded_s = spans_recorded(&timeline->spans, shown_s);
    pthread_rwlock_unlock(&timeline->lock);
    return recorded_s;
}

void timeline_stats(struct timeline *timeline, struct timeline_stats *out)
{
    pthread_rwlock_rdlock(&timeline->lock);
    *out = (struct timeline_stats){
        .state = timeline_state(timeline),
        .offset_s = spans_offset(&timeline->spans),
        .spans = timeline->spans.count == 0 ? 1 : timeline->spans.count,
    };
    pthread_rwlock_unlock(&timeline->lock);
}
