/*
 * How much time an I/O thread may give to live streams. It is earned as time passes, little while the
 * thread is busy and more while it has nothing else to do, and spent by what was really used; who
 * spent too much waits. A thread that waits now and then is not idle: it may wait for the journal, or
 * for others on its core. So only what it waited beyond half of the time counts. Time is the caller's.
 *
 * What is spent is not all that it costs: the kernel goes on with what was sent when nobody measures, and
 * takes about as long again. A share is half of what may be lost by it.
 */
#ifndef LAUD_LIVE_PACE_H
#define LAUD_LIVE_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define PACE_BUSY_MILLE 5   /* of any time */
#define PACE_IDLE_MILLE 200 /* and of what the thread waited beyond half of it */
#define PACE_MOST_NS    2000000LL

struct pace {
    uint64_t at_ns;     /* up to when it was earned */
    int64_t credit_ns;  /* below 0: too much was spent */
    uint64_t waited_ns; /* since then, by the thread; may be added to at any time */
};

/* Earns what the time up to now is worth. Time that runs backwards is worth nothing. */
static inline void pace_earn(struct pace *pace, uint64_t now_ns)
{
    uint64_t passed_ns = now_ns > pace->at_ns ? now_ns - pace->at_ns : 0;
    uint64_t waited_ns = pace->waited_ns < passed_ns ? pace->waited_ns : passed_ns;
    waited_ns = waited_ns > passed_ns / 2 ? waited_ns - passed_ns / 2 : 0;
    uint64_t most_ns = (uint64_t)PACE_MOST_NS * 1000;
    passed_ns = passed_ns < most_ns ? passed_ns : most_ns; /* enough for all that can be had */
    waited_ns = waited_ns < most_ns ? waited_ns : most_ns;
    pace->credit_ns +=
        (int64_t)((passed_ns * PACE_BUSY_MILLE + waited_ns * PACE_IDLE_MILLE) / 1000);
    if (pace->credit_ns > PACE_MOST_NS)
        pace->credit_ns = PACE_MOST_NS;
    pace->at_ns = now_ns;
    pace->waited_ns = 0;
}

static inline void pace_spend(struct pace *pace, uint64_t took_ns)
{
    pace->credit_ns -= (int64_t)took_ns;
}

/* What may be used now. */
static inline uint64_t pace_has_ns(const struct pace *pace)
{
    return pace->credit_ns > 0 ? (uint64_t)pace->credit_ns : 0;
}

#endif
