/*
 * Pauses of connections, called rests. A connection that rests is neither read nor run, so that other
 * connections get their turn.
 *
 * A connection whose commands fill a whole read, or take long (LIMIT_RUN_NS), rests until the next turn of
 * the loop. Otherwise a deep pipeline could keep the thread busy for as long as it likes.
 *
 * A connection that the limits (guard/limits.h) refused LIMIT_REFUSALS times in a row rests until some
 * operations could pass, but at most LIMIT_REST_MS. One refusal is cheap, but a flood of refusals is not.
 * A client that waits as long as its refusals say never has to rest. A bot has many connections, which
 * begin to rest at the same time. Each of them rests for a different time, between half of the length and
 * all of it, so that they do not return together and delay everybody else. A connection from a proxy
 * never rests in this way, because many clients share it and only some of them sent too much.
 *
 * Only the loop's own thread may call these functions.
 */
#ifndef LAUD_NET_REST_H
#define LAUD_NET_REST_H

#include <stdbool.h>
#include <stdint.h>

#include <uv.h>

#include "base/limits.h"

struct conn;
struct loop;

#define REST_OPERATIONS 20 /* so many operations could pass after a rest that is not shortened */
#define REST_STEP_MS    10
#define REST_LENGTHS    (LIMIT_REST_MS / REST_STEP_MS + 1)

/* The rests of a loop: one queue for each length, so that each queue is ordered by the ends. */
struct rests {
    uv_timer_t timer;
    uv_check_t check; /* runs while connections rest until the next turn */
    uv_idle_t idle;   /* runs while connections rest until the next turn */
    struct conn *first[REST_LENGTHS], *last[REST_LENGTHS];
    uint32_t begun; /* rests with a length so far; it decides by how much the next is shortened */
};

/* The rest of one connection. */
struct rest {
    struct conn *next, *previous;
    uint64_t until_ms;
    uint32_t length; /* in steps of REST_STEP_MS */
    bool resting;
};

void rest_init(struct loop *loop);

/*
 * Begins a rest of between half of `ms` and all of it, rounded up to a step. 0: until the next turn of the
 * loop. conn_resume is called when the rest ends.
 */
void rest_begin(struct conn *conn, uint64_t ms);

/* Ends a rest early, if there is one. conn_resume is not called. */
void rest_end(struct conn *conn);

#endif
