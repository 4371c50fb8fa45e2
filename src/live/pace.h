/*
 * How much time an I/O thread may spend on live streams. The thread earns credit as time passes:
 * little while it is busy, more while it is idle. It spends what live streams really took, and after
 * it has spent too much they have to wait. A thread that waits now and then is not idle: it may wait
 * for the journal, or for other threads on its core. So only waiting beyond half of the time counts.
 * The caller passes the time in.
 *
 * The real cost is about twice as high as the measured one, because the kernel goes on working on what
 * was sent while nobody measures. So a share is half of the time that may be lost to streams.
 */
#ifndef LAUD_LIVE_PACE_H
#define LAUD_LIVE_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define PACE_BUSY_MILLE 5   /* thousandths of all time */
#define PACE_IDLE_MILLE 200 /* thousandths of the time that the thread waited beyond half of it */
#define PACE_MOST_NS    2000000LL

struct pace {
    uint64_t at_ns;    /* up to this time credit was earned */
    int64_t credit_ns; /* below 0: too much was spent */
    uint64_t
        waited_ns; /* how long the thread has waited since at_ns; it may be increased at any time */
};

/* Earns the credit for the time up to now. If the time went backwards, nothing is earned. */
static inline void pace_earn(struct pace *pace, uint64_t now_ns)
{
    uint64_t passed_ns = now_ns > pace->at_ns ? now_ns - pace->at_ns : 0;
    uint64_t waited_ns = pace->waited_ns < passed_ns ? pace->waited_ns : passed_ns;
    waited_ns = waited_ns > passed_ns / 2 ? waited_ns - passed_ns / 2 : 0;
    uint64_t most_ns = (uint64_t)PACE_MOST_NS * 1000;
    passed_ns =
        passed_ns < most_ns ? passed_ns : most_ns; /* more would exceed PACE_MOST_NS anyway */
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

/* How much time may be spent now. */
static inline uint64_t pace_has_ns(const struct pace *pace)
{
    return pace->credit_ns > 0 ? (uint64_t)pace->credit_ns : 0;
}

#endif
