/*
 * One turn of the loop, in order:
 *
 *   poll, timers
 *               libuv reads each connection that is ready. Its commands are run at once, and its replies
 *               join the queue of reply groups, also if they depend on nothing that is unreleased.
 *               Sent together at the end of the turn, they wake a client with many connections once;
 *               sent one by one, they would wake it again and again.
 *   prepare     the last step before the thread waits, whatever happened before. If anything was
 *               written in this turn, the hot tier is kicked: once, so that one fdatasync covers the
 *               whole turn. Groups up to the point that the hot tier has released are sent, in order.
 *               Connections that waited for admission or for a name are run again.
 *
 * Replies are never sent before the hot tier has released them. On this side, the promise of durability
 * consists of this rule alone.
 */
#include "net/loop.h"

#include <stdlib.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/log.h"
#include "net/conn.h"
#include "net/face.h"
#include "net/streams.h"

#define CHECK_MS      1000
#define DRAIN_STEP_MS 10

#define GROUPS_MIN 64

static const struct streams_ops *streams_of(const struct loop *loop)
{
    return loop->server->parts.streams;
}

static void free_groups(struct loop *loop)
{
    memory_release_connection(loop->server->parts.budget,
                              loop->group_capacity * sizeof *loop->groups);
    free(loop->groups);
    loop->groups = NULL;
    loop->group_capacity = loop->group_first = 0;
}

static bool grow_groups(struct loop *loop)
{
    struct memory_budget *budget = loop->server->parts.budget;
    size_t capacity = loop->group_capacity ? 2 * loop->group_capacity : GROUPS_MIN;
    if (!memory_charge_connection(budget, capacity * sizeof *loop->groups))
        return false;
    struct reply_group *groups = malloc(capacity * sizeof *groups);
    if (groups == NULL) {
        memory_release_connection(budget, capacity * sizeof *groups);
        return false;
    }
    for (size_t i = 0; i < loop->group_count; i++)
        groups[i] = loop->groups[(loop->group_first + i) & (loop->group_capacity - 1)];
    free_groups(loop);
    loop->groups = groups;
    loop->group_capacity = capacity;
    return true;
}

bool loop_queue(struct loop *loop, struct reply_group group)
{
    ASSERT(group.conn != NULL);
    if (loop->group_count == loop->group_capacity && !grow_groups(loop))
        return false;
    loop->groups[(loop->group_first + loop->group_count++) & (loop->group_capacity - 1)] = group;
    return true;
}

static struct reply_group take_group(struct loop *loop)
{
    ASSERT(loop->group_count > 0);
    struct reply_group group = loop->groups[loop->group_first];
    loop->group_first = (loop->group_first + 1) & (loop->group_capacity - 1);
    loop->group_count--;
    return group;
}

/*
 * How long a group waited for its release. After a failure, sending errors can queue new groups, which
 * began after `now_ns`: they waited for 0.
 */
static uint64_t waited_ns(const struct reply_group *group, uint64_t now_ns)
{
    return now_ns > group->since_ns ? now_ns - group->since_ns : 0;
}

/* Sends all groups that the hot tier has released. After a failure, errors replace all other groups. */
static void release_groups(struct loop *loop)
{
    struct hot *hot = loop->server->parts.hot;
    bool failed = hot_state(hot) == STATUS_READONLY;
    uint64_t released = hot_released(hot);
    uint64_t now_ns = loop->group_count > 0 ? clock_monotonic_ns() : 0;
    while (loop->group_count > 0) {
        if (!failed && loop->groups[loop->group_first].point > released)
            break;
        struct reply_group group = take_group(loop);
        if (group.since_ns > 0)
            buckets_add(&loop->watch.meter.waits, waited_ns(&group, now_ns), BUCKETS_SHIFT_NS,
                        group.replies);
        if (group.point <= released || !group.wrote)
            conn_release(group.conn, &group);
        else
            conn_fail(group.conn, &group, STATUS_READONLY);
    }
}

static bool may_write(struct loop *loop)
{
    return hot_admit(loop->server->parts.hot, &loop->pacer, clock_monotonic_ns()) != STATUS_BLOCKED;
}

static bool always(struct loop *loop)
{
    (void)loop;
    return true;
}

/* The connection that has waited longest is first. One that has to wait again goes to the end. */
static bool resume_queue(struct loop *loop, struct conn_queue *queue, bool (*may)(struct loop *))
{
    const struct conn *last = queue->last, *conn = NULL;
    bool any = false;
    while (queue->first != NULL && conn != last && may(loop)) {
        conn = queue->first;
        conn_unblock(queue->first);
        any = true;
    }
    return any;
}

/* After a wake, all connections that wait for a name ask again. The wake is noted before they do. */
static bool resume_unnamed(struct loop *loop)
{
    if (loop->unnamed.first == NULL)
        return false;
    uint64_t wakes = names_wakes(loop->server->parts.names);
    if (wakes == loop->name_wakes)
        return false;
    loop->name_wakes = wakes;
    return resume_queue(loop, &loop->unnamed, always);
}

/* The server stops: each connection is closed when its replies are sent, or when time is up. */
static void drain(struct loop *loop)
{
    bool late = uv_now(&loop->uv) >= loop->stop_deadline_ms;
    for (struct conn *conn = loop->conns, *next; conn != NULL; conn = next) {
        next = conn->next;
        if (late || (conn->groups == 0 && conn->job == NULL && conn_unsent(conn) == 0))
            conn_close(conn);
    }
    if (loop->conns == NULL && loop->group_count == 0 && loop->submitted == 0)
        uv_stop(&loop->uv);
}

static void on_check(uv_timer_t *timer)
{
    struct loop *loop = timer->data;
    if (loop->stopping) {
        release_groups(loop);
        drain(loop);
        return;
    }
    log_settle(clock_wall_ms());
    uint64_t now_ms = uv_now(&loop->uv);
    for (struct conn *conn = loop->conns, *next; conn != NULL; conn = next) {
        next = conn->next;
        conn_check(conn, now_ms);
    }
    if (loop->group_count == 0 && loop->group_capacity > GROUPS_MIN)
        free_groups(loop);
}

static void begin_stop(struct loop *loop)
{
    loop->stopping = true;
    loop->stop_deadline_ms = uv_now(&loop->uv) + LIMIT_DRAIN_MS;
    for (unsigned i = 0; i < loop->listener_count; i++)
        listener_end(&loop->listeners[i]);
    if (loop->streams != NULL)
        streams_of(loop)->stop(loop->streams);
    uv_timer_start(&loop->check, on_check, 0, DRAIN_STEP_MS);
}

bool loop_submit(struct loop *loop, struct hot_submission *submission)
{
    ASSERT(submission->count > 0);
    submission->mailbox = &loop->mailbox;
    submission->deadline_ns = clock_monotonic_ns() + loop->server->parts.submission_ns;
    loop->submitted++;
    bool taken = hot_submit(loop->server->parts.hot, submission);
    if (taken)
        loop_count(&loop->stats.jobs, 1);
    else
        loop->submitted--;
    return taken;
}

void loop_took_back(struct loop *loop)
{
    ASSERT(loop->submitted > 0);
    loop->submitted--;
}

/* Any thread may call it: the mailbox has a submission. */
static void wake_up(void *context)
{
    struct loop *loop = context;
    uv_async_send(&loop->wake);
}

static void on_wake(uv_async_t *async)
{
    struct loop *loop = async->data;
    if (loop->submitted > 0)
        mailbox_drain(&loop->mailbox);
    if (atomic_load(&loop->stop_wanted) && !loop->stopping)
        begin_stop(loop);
}

/* The timer needs no work of its own: it wakes the loop, and the end of the turn does the rest. */
static void on_pace(uv_timer_t *timer)
{
    (void)timer;
}

/* True if the oldest group in the queue is released. */
static bool releasable(struct loop *loop)
{
    struct hot *hot = loop->server->parts.hot;
    return loop->group_count > 0 && (loop->groups[loop->group_first].point <= hot_released(hot) ||
                                     hot_state(hot) == STATUS_READONLY);
}

/*
 * While connections wait because writes are slowed down, the hot tier may have no news that would wake
 * the loop. Therefore a timer wakes it.
 */
static void set_pace(struct loop *loop)
{
    uint64_t wait_ns = 0;
    if (loop->blocked.first != NULL)
        wait_ns = hot_wait_ns(loop->server->parts.hot, &loop->pacer, clock_monotonic_ns());
    if (wait_ns > 0)
        uv_timer_start(&loop->pace, on_pace, (wait_ns + 999999) / 1000000, 0);
}

/*
 * The end of a turn, also of a turn in which only a wake arrived. The loop sets `waiting` *before* it
 * looks at the hot tier, and the hot tier changes its state before it looks at `waiting`. Both exchange
 * the same flag, so that one of the two notices the other.
 */
static void end_turn(struct loop *loop)
{
    bool progress;
    do {
        if (loop->wrote || loop->blocked.first != NULL)
            hot_kick(loop->server->parts.hot);
        loop->wrote = false;
        if (loop->group_count == 0 && loop->blocked.first == NULL && loop->unnamed.first == NULL)
            return;
        progress = false;
        atomic_exchange(&loop->waiting, true);
        if (releasable(loop)) {
            release_groups(loop);
            progress = true;
        }
        progress = resume_queue(loop, &loop->blocked, may_write) || progress;
        progress = resume_unnamed(loop) || progress;
    } while (progress);
    set_pace(loop);
}

static void on_prepare(uv_prepare_t *prepare)
{
    struct loop *loop = prepare->data;
    end_turn(loop);
    if (loop->streams != NULL)
        streams_of(loop)->wait(loop->streams);
}

/* Makes the libuv loop and everything on it that needs memory. After an error nothing remains. */
static int make_uv(struct loop *loop)
{
    int error = uv_loop_init(&loop->uv);
    if (error)
        return error;
    if (streams_of(loop) == NULL)
        return 0;
    loop->streams = streams_of(loop)->open(loop);
    if (loop->streams != NULL)
        return 0;
    uv_loop_close(&loop->uv);
    return UV_ENOMEM;
}

int loop_init(struct loop *loop, struct server *server)
{
    const struct options *options = server->parts.options;
    loop->hot_scratch.timeline = server->parts.timeline;
    loop->server = server;
    loop->args = malloc(options->max_args * sizeof *loop->args);
    int error = loop->args && mailbox_init(&loop->mailbox, wake_up, loop) == 0 ? 0 : UV_ENOMEM;
    if (error == 0) {
        error = make_uv(loop);
        if (error)
            mailbox_destroy(&loop->mailbox);
    }
    if (error) {
        free(loop->args);
        return error;
    }
    uv_async_init(&loop->uv, &loop->wake, on_wake);
    uv_prepare_init(&loop->uv, &loop->prepare);
    uv_timer_init(&loop->uv, &loop->check);
    uv_timer_init(&loop->uv, &loop->pace);
    loop->wake.data = loop->prepare.data = loop->check.data = loop->pace.data = loop;
    rest_init(loop);
    uv_prepare_start(&loop->prepare, on_prepare);
    uv_timer_start(&loop->check, on_check, CHECK_MS, CHECK_MS);
    return 0;
}

int loop_listen(struct loop *loop, const struct face *face, int socket)
{
    ASSERT(loop->listener_count < LOOP_LISTENERS);
    struct listener *listener = &loop->listeners[loop->listener_count++];
    listener->loop = loop;
    listener->face = face;
    listener->socket = socket;
    uv_timer_init(&loop->uv, &listener->pause);
    listener->pause.data = listener;
    return listener_open(listener);
}

static void close_handle(uv_handle_t *handle, void *unused)
{
    (void)unused;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

static void loop_thread(void *argument)
{
    struct loop *loop = argument;
    uv_run(&loop->uv, UV_RUN_DEFAULT);
}

int loop_run(struct loop *loop)
{
    ASSERT(!loop->running);
    int error = uv_thread_create(&loop->thread, loop_thread, loop);
    loop->running = error == 0;
    return error;
}

void loop_notify(struct loop *loop)
{
    if (atomic_exchange(&loop->waiting, false))
        uv_async_send(&loop->wake);
}

void loop_stop(struct loop *loop)
{
    atomic_store(&loop->stop_wanted, true);
    uv_async_send(&loop->wake);
}

void loop_join(struct loop *loop)
{
    if (loop->running)
        uv_thread_join(&loop->thread);
    loop->running = false;
}

void loop_free(struct loop *loop)
{
    ASSERT(!loop->running);
    for (unsigned i = 0; i < loop->listener_count; i++)
        listener_end(&loop->listeners[i]);
    uv_walk(&loop->uv, close_handle, NULL);
    uv_run(&loop->uv, UV_RUN_DEFAULT);
    int error = uv_loop_close(&loop->uv);
    ASSERT(error == 0);
    mailbox_destroy(&loop->mailbox);
    free(loop->args);
    free_groups(loop);
    hot_scratch_free(&loop->hot_scratch);
    if (loop->streams != NULL)
        streams_of(loop)->close(loop->streams);
}
