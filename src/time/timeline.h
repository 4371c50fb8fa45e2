/*
 * The times that a server records: the clock's, plus an offset that keeps them from going back (spans.h).
 *
 *   The clock is set back, by more than TIMELINE_HOLD_S. A span begins, with an offset that has recorded
 *   times go on behind the newest one, a second each second. Smaller steps are waited for instead: the
 *   recorded time stands still for as long.
 *
 *   The clock is put forward. Where there is an offset, it shrinks by as much; what is left of the step
 *   is followed. So a clock that jumps to and fro does not drive recorded times ahead.
 *
 *   The clock is past the newest recorded time. Then no offset is needed any more.
 *
 * A new offset is on disk before anything is recorded with it: until that is so, and while the clock says
 * something that cannot be, timeline_state is not OK and nothing may be recorded. Times that are asked
 * for meanwhile are that of the newest record.
 *
 * Steps of the clock are seen beside a second clock that nobody sets, and by the newest recorded time
 * itself. Any thread may ask; what changes the offset is under a lock.
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

#define TIMELINE_HOLD_S   10          /* steps back up to this are waited for */
#define TIMELINE_WALL_END 4102444800U /* 2100-01-01: a clock that says so or later is wrong */
#define TIMELINE_END      (UINT32_MAX - 86400) /* nothing later is recorded: 32 bits end in 2106 */

/* Both clocks at one moment. */
struct moment {
    uint64_t wall_ms;      /* since 1970 */
    uint64_t monotonic_ns; /* by the clock that nobody sets */
};

typedef struct moment timeline_clock_fn(void);

struct timeline {
    /* The offset, and how far the wall clock is ahead of the other one, in seconds: 32 bits each */
    _Atomic uint64_t pair;
    _Atomic int state;                /* enum status */
    const _Atomic uint32_t *newest_s; /* recorded; set by timeline_follow */
    _Atomic uint32_t own_newest_s;    /* until then */
    timeline_clock_fn *clock;
    const char *directory; /* where the table is kept; NULL: nowhere */

    pthread_mutex_t turning; /* held by who changes the offset */
    bool begun;              /* the pair is of a clock that was looked at */
    uint64_t retry_ns;       /* the table could not be written: not tried again before this */

    _Atomic bool plain; /* no offset anywhere */
    pthread_rwlock_t lock;
    struct spans spans; /* written under both locks */
};

struct timeline_stats {
    enum status state;
    uint32_t offset_s;
    uint32_t spans;
};

/* `clock`: NULL is the machine's. NULL: no memory. */
struct timeline *timeline_new(timeline_clock_fn *clock);
void timeline_free(struct timeline *timeline); /* may be NULL */

/*
 * The table of a data directory, which outlives the timeline; nothing is asked before. OK, or what
 * spans_read says.
 */
enum status timeline_load(struct timeline *timeline, const char *directory);

/*
 * At start, while it is not known yet what was recorded last: this was, and not before what was said
 * already. Nothing is written, and no offset changes; the newest such time; the least that now can be;
 * and will an offset begin, because the clock is far behind?
 */
void timeline_raise(struct timeline *timeline, uint32_t recorded_s);
uint32_t timeline_newest(const struct timeline *timeline);
uint32_t timeline_least(struct timeline *timeline);
bool timeline_is_behind(struct timeline *timeline);

/* From here on this is the newest recorded time. Before other threads ask. */
void timeline_follow(struct timeline *timeline, const _Atomic uint32_t *newest_s);

/* Looks at the clock: the recorded time of now. About once a second, and where it is seen to have been set. */
uint32_t timeline_turn(struct timeline *timeline);

/* May anything be recorded? OK, or why not. */
static inline enum status timeline_state(const struct timeline *timeline)
{
    return (enum status)atomic_load_explicit(&timeline->state, memory_order_relaxed);
}

/* The recorded time of a moment that is now. */
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

/* The same in milliseconds, by the timeline's own clock. */
uint64_t timeline_now_ms(struct timeline *timeline);

/* As in spans.h. */
uint32_t timeline_shown(struct timeline *timeline, uint32_t recorded_s);
uint32_t timeline_past(struct timeline *timeline, uint32_t recorded_s, uint32_t now_s);
uint32_t timeline_recorded(struct timeline *timeline, uint32_t shown_s);
void timeline_stats(struct timeline *timeline, struct timeline_stats *out);

/*
 * The offset to go on with: `offset_s` is that until now, step_s how far the clock was set since it was
 * last looked at. UINT32_MAX: there is none, recorded times are used up.
 */
uint32_t timeline_offset(uint32_t offset_s, int64_t step_s, uint64_t wall_s, uint32_t newest_s);

#endif
