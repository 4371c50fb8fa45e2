/*
 * Connections that rest: they are neither read nor run for a moment, so that others get their turn.
 *
 * One whose commands fill a whole read, or take long (LIMIT_RUN_NS), rests until the next turn of the
 * loop, or a deep pipeline would keep the thread for as long as it likes. One that was refused
 * LIMIT_REFUSALS times in a row by the limits (guard/limits.h) rests until some operations could pass,
 * but for LIMIT_REST_MS at most: refusing is cheap, and a flood of it is not. Whoever waits as told
 * never gets there. A bot has many connections, which come to rest together: each gets another part of
 * its rest, half of it at least, so that they do not come back together, and nobody has to wait behind
 * all of them. What clients share behind a proxy never rests: those who wait did not ask too much.
 *
 * By the loop's own thread.
 */
#ifndef LAUD_NET_REST_H
#define LAUD_NET_REST_H

#include <stdbool.h>
#include <stdint.h>

#include <uv.h>

#include "base/limits.h"

struct conn;
struct loop;

#define REST_OPERATIONS 20 /* that could pass after a rest, if it is not cut short */
#define REST_STEP_MS    10
#define REST_LENGTHS    (LIMIT_REST_MS / REST_STEP_MS + 1)

/* A queue for each length of a rest, so that each is in the order of its ends. */
struct rests {
    uv_timer_t timer;
    uv_check_t check; /* while some rest until the next turn */
    uv_idle_t idle;   /* likewise */
    struct conn *first[REST_LENGTHS], *last[REST_LENGTHS];
    uint32_t begun; /* with a length; tells how much of it the next one gets */
};

/* A connection's part in it. */
struct rest {
    struct conn *next, *previous;
    uint64_t until_ms;
    uint32_t length; /* in steps */
    bool resting;
};

void rest_init(struct loop *loop);

/* Begins a rest of between half of it and all, rounded up to a step; 0: until the next turn. At its end
 * conn_resume is called. */
void rest_begin(struct conn *conn, uint64_t ms);

/* It rests no more, if it did; nothing else happens. */
void rest_end(struct conn *conn);

#endif
