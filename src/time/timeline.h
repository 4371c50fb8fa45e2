/*
 * The times that a server records: the time of the clock plus an offset, which prevents recorded
 * times from going back (spans.h).
 *
 * If the clock is set back by more than TIMELINE_HOLD_S, a new span begins. Its offset is such that
 * recorded times continue after the newest one, a second per second. After a smaller step back, the
 * recorded time stands still until the clock has reached it again.
 *
 * If the clock is set forward and there is an offset, the offset becomes smaller by as much as
 * possible, and recorded times follow the rest of the step. So a clock that jumps back and forth
 * does not make recorded times run ahead.
 *
 * If the clock is later than the newest recorded time, no offset is needed any more.
 *
 * A new offset is on disk before anything is recorded with it. Until then, and while the clock has
 * an impossible time, timeline_state is not OK and nothing may be recorded. During that time all
 * functions answer the time of the newest record.
 *
 * Steps of the clock are noticed by comparing it with the monotonic clock, which nobody sets, and
 * with the newest recorded time. Any thread may call; the offset is changed under a lock.
 */
#ifndef LAUD_TIME_TIMELINE_H
#define LAUD_TIME_TIMELINE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/status.h"
#include "time/spans.h"

#define TIMELINE_HOLD_S   10          /* after a step back up to this, recorded times stand still */
#define TIMELINE_WALL_END 4102444800U /* 2100-01-01: a clock that says so or later is wrong */
#define TIMELINE_END      (UINT32_MAX - 86400) /* the latest recorded time: 32 bits end in 2106 */

/* Both clocks at one moment. */
struct moment {
    uint64_t wall_ms;      /* since 1970 */
    uint64_t monotonic_ns; /* of the clock that nobody sets */
};

typedef struct moment timeline_clock_fn(void);

struct timeline {
    /* 32 bits each: the offset, and the wall clock minus the monotonic clock, in seconds */
    _Atomic uint64_t pair;
    _Atomic int state;                /* enum status */
    const _Atomic uint32_t *newest_s; /* newest recorded time; set by timeline_follow */
    _Atomic uint32_t own_newest_s;    /* the same until timeline_follow */
    timeline_clock_fn *clock;
    const char *directory; /* directory of the table's file; NULL: no file */

    pthread_mutex_t turning; /* held by the thread that changes the offset */
    bool begun;              /* the clock was read, and `pair` is valid */
    uint64_t retry_ns;       /* after a failure the table is not written before this time */

    _Atomic bool plain; /* all spans have the offset 0 */
    pthread_rwlock_t lock;
    struct spans spans; /* written while holding both locks */
};

struct timeline_stats {
    enum status state;
    uint32_t offset_s;
    uint32_t spans;
};

/* NULL as `clock` means the clocks of this machine. Returns NULL if there is no memory. */
struct timeline *timeline_new(timeline_clock_fn *clock);
void timeline_free(struct timeline *timeline); /* may be NULL */

/*
 * Loads the table of a data directory. The string must outlive the timeline. Call it before all
 * functions below. OK, or the status of spans_read.
 */
enum status timeline_load(struct timeline *timeline, const char *directory);

/*
 * For the start, until timeline_follow. timeline_raise reports a time that was recorded; earlier
 * times than the newest are ignored. timeline_newest returns the newest such time, timeline_least
 * the lowest possible recorded time of now. timeline_is_behind: is the clock so far before the
 * newest recorded time that a new offset will begin? None of them changes an offset or writes the
 * table.
 */
void timeline_raise(struct timeline *timeline, uint32_t recorded_s);
uint32_t timeline_newest(const struct timeline *timeline);
uint32_t timeline_least(struct timeline *timeline);
bool timeline_is_behind(struct timeline *timeline);

/*
 * From now on *newest_s is the newest recorded time. Call it before other threads use the timeline.
 */
void timeline_follow(struct timeline *timeline, const _Atomic uint32_t *newest_s);

/*
 * Reads the clock, changes the offset if necessary, and returns the recorded time of now. It is
 * called about once a second, and by timeline_at when the clock was set.
 */
uint32_t timeline_turn(struct timeline *timeline);

/* OK, or why nothing may be recorded now. */
static inline enum status timeline_state(const struct timeline *timeline)
{
    return (enum status)atomic_load_explicit(&timeline->state, memory_order_relaxed);
}

/* The recorded time of a moment, which must be now. */
static inline uint32_t timeline_at(struct timeline *timeline, struct moment now)
{
    uint64_t pair = atomic_load_explicit(&timeline->pair, memory_order_relaxed);
    uint64_t wall_s = now.wall_ms / 1000, recorded_s = wall_s + (pair >> 32);
    uint32_t step_s = (uint32_t)(wall_s - now.monotonic_ns / 1000000000) - (uint32_t)pair;
    uint32_t newest_s = atomic_load_explicit(timeline->newest_s, memory_order_relaxed);
    bool steady = step_s + TIMELINE_HOLD_S <= 2 * TIMELINE_HOLD_S &&
                  recorded_s + TIMELINE_HOLD_S >= newest_s && wall_s < TIMELINE_WALL_END &&
                  timeline_state(timeline) == STATUS_OK;
    if (__builtin_expect(steady, 1))
        return (uint32_t)recorded_s;
    return timeline_turn(timeline);
}

/* The same in milliseconds, for the present moment of the timeline's own clock. */
uint64_t timeline_now_ms(struct timeline *timeline);

/* These do the same as the functions of spans.h. */
uint32_t timeline_shown(struct timeline *timeline, uint32_t recorded_s);
uint32_t timeline_past(struct timeline *timeline, uint32_t recorded_s, uint32_t now_s);
uint32_t timeline_recorded(struct timeline *timeline, uint32_t shown_s);
void timeline_stats(struct timeline *timeline, struct timeline_stats *out);

/*
 * Computes the next offset. `offset_s` is the present one; `step_s` is by how much the clock was
 * set since it was last read. UINT32_MAX: there is none, because recorded times have reached their
 * end.
 */
uint32_t timeline_offset(uint32_t offset_s, int64_t step_s, uint64_t wall_s, uint32_t newest_s);

#endif
