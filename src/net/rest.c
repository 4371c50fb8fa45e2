#include "net/rest.h"

#include "base/assert.h"
#include "net/conn.h"

static void set_timer(struct loop *loop);

void rest_end(struct conn *conn)
{
    struct rests *rests = &conn->loop->rests;
    struct rest *rest = &conn->rest;
    if (!rest->resting)
        return;
    rest->resting = false;
    *(rest->previous ? &rest->previous->rest.next : &rests->first[rest->length]) = rest->next;
    *(rest->next ? &rest->next->rest.previous : &rests->last[rest->length]) = rest->previous;
}

/* Wakes those of one length whose rest is over. One that rests again goes to the end. */
static void wake_due(struct loop *loop, uint32_t length, uint64_t now_ms)
{
    const struct conn *last = loop->rests.last[length], *conn = NULL;
    while (conn != last && loop->rests.first[length] != NULL &&
           loop->rests.first[length]->rest.until_ms <= now_ms) {
        struct conn *due = loop->rests.first[length];
        conn = due;
        rest_end(due);
        conn_resume(due);
    }
}

static void on_timer(uv_timer_t *timer)
{
    struct loop *loop = timer->data;
    uint64_t now_ms = uv_now(&loop->uv);
    for (uint32_t length = 1; length < REST_LENGTHS; length++)
        wake_due(loop, length, now_ms);
    set_timer(loop);
}

/* An active idle handle keeps libuv from waiting in its next poll. */
static void on_idle(uv_idle_t *idle)
{
    (void)idle;
}

/*
 * It runs after the poll, so that other connections with input have had their turn. A timer of 0 ms would
 * not do: libuv runs a timer that is set again at once, before it polls.
 */
static void on_check(uv_check_t *check)
{
    struct loop *loop = check->data;
    wake_due(loop, 0, UINT64_MAX);
    if (loop->rests.first[0] != NULL)
        return;
    uv_check_stop(&loop->rests.check);
    uv_idle_stop(&loop->rests.idle);
}

/* Sets the timer for the rest that ends first. */
static void set_timer(struct loop *loop)
{
    uint64_t until_ms = UINT64_MAX, now_ms = uv_now(&loop->uv);
    for (uint32_t length = 1; length < REST_LENGTHS; length++) {
        const struct conn *first = loop->rests.first[length];
        if (first != NULL && first->rest.until_ms < until_ms)
            until_ms = first->rest.until_ms;
    }
    if (until_ms != UINT64_MAX)
        uv_timer_start(&loop->rests.timer, on_timer, until_ms > now_ms ? until_ms - now_ms : 0, 0);
}

void rest_init(struct loop *loop)
{
    uv_timer_init(&loop->uv, &loop->rests.timer);
    uv_check_init(&loop->uv, &loop->rests.check);
    uv_idle_init(&loop->uv, &loop->rests.idle);
    loop->rests.timer.data = loop->rests.check.data = loop;
}

void rest_begin(struct conn *conn, uint64_t ms)
{
    struct loop *loop = conn->loop;
    struct rest *rest = &conn->rest;
    ASSERT(!rest->resting && ms <= LIMIT_REST_MS);
    rest->length = (uint32_t)((ms + REST_STEP_MS - 1) / REST_STEP_MS);
    if (rest->length > 0)
        rest->length -= loop->rests.begun++ % (rest->length / 2 + 1);
    rest->until_ms = uv_now(&loop->uv) + (uint64_t)rest->length * REST_STEP_MS;
    rest->resting = true;
    rest->next = NULL;
    rest->previous = loop->rests.last[rest->length];
    *(rest->previous ? &rest->previous->rest.next : &loop->rests.first[rest->length]) = conn;
    loop->rests.last[rest->length] = conn;
    if (rest->length > 0) {
        set_timer(loop);
        return;
    }
    uv_check_start(&loop->rests.check, on_check);
    uv_idle_start(&loop->rests.idle, on_idle);
}
