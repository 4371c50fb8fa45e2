/*
 * A slice of time goes round between its jobs, a little of each, until nothing is left to do or the
 * time is over: look at some items, tell some streams of those that changed, say a word to those that
 * were quiet for long. Queues move what was handled to their end, so the next slice goes on where this
 * one stopped, and no item with many viewers keeps the others waiting.
 *
 * An event that has to wait for the journal leaves when that moves, and that time is not ours to
 * measure: so only a few may wait, and the others are written a moment later, when they need not.
 */
#include "base/assert.h"
#include "base/clock.h"
#include "live/event.h"
#include "live/private.h"

#define STEP_STREAMS 8       /* told in one go */
#define STEP_VIEWERS 64      /* come by for that, many of which have nothing to be told */
#define HELD_MAX     256     /* groups that wait for the journal, past which no event joins them */
#define UNSENT_MAX   KIB(16) /* bytes that wait for a client, past which it is told nothing more */

/* Looking */

void live_take(struct live *live, struct watched *item, const struct hot_counter *counters,
               uint32_t count, uint64_t seen)
{
    const struct server_parts *parts = &live->loop->server->parts;
    bool waited_for = item->awaited > item->seen && seen > item->seen;
    item->overtaken = true;
    if (seen > item->seen)
        item->seen = seen;
    if (watched_take(&live->items, item, counters, count, parts->names))
        item->point = hot_point(parts->hot);
    else if (!waited_for)
        return;
    item->walk++;
    if (!list_has(&item->changed))
        list_add_last(&live->changed, &item->changed);
}

/* Up to a batch of items whose types are known. */
static void look_at_batch(struct live *live, struct watched *const *items, uint32_t count)
{
    struct loop *loop = live->loop;
    struct hot_request *requests = loop->requests;
    struct hot_answer answers[LIMIT_BATCH];
    uint32_t used = loop->hot_scratch.used;
    ASSERT(count <= LIMIT_BATCH);
    for (uint32_t i = 0; i < count; i++)
        live_ask(&requests[i], items[i], &answers[i]);
    for (uint32_t done = 0; done < count; done++) {
        uint32_t ran = (uint32_t)hot_try(loop->server->parts.hot, requests + done, count - done,
                                         &loop->hot_scratch);
        ASSERT(ran <= count - done);
        for (uint32_t end = done + ran; done < end; done++) {
            const struct hot_answer *answer = requests[done].read.answers;
            if (requests[done].status == STATUS_OK)
                live_take(live, items[done], loop->hot_scratch.counters + answer->first,
                          answer->count, live->opened);
        }
        if (done < count)
            live_want_cold(live, items[done]);
    }
    loop->hot_scratch.used = used;
}

void live_look_at(struct live *live, struct watched *const *items, uint32_t count)
{
    struct watched *known[LIMIT_BATCH] = {NULL};
    uint32_t some = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!watched_find_type(items[i], live->loop->server->parts.names))
            live_take(live, items[i], NULL, 0, live->opened);
        else
            known[some++] = items[i];
        if (some == LIMIT_BATCH || (i + 1 == count && some > 0)) {
            look_at_batch(live, known, some);
            some = 0;
        }
    }
}

/* Goes on with a look at all items; false: there is none, or it is over. */
static bool look_on(struct live *live, uint64_t now_ns)
{
    struct watched *items[LIMIT_BATCH];
    uint32_t some = 0;
    if (!live->looking && now_ns - live->look_ns >= LIVE_GAP_NS) {
        live->looking = true;
        live->look_ns = now_ns;
        live->round++;
    }
    while (live->looking && some < LIMIT_BATCH) {
        struct watched *item = LIST_OF(live->items.all.next, struct watched, all);
        live->looking = !list_is_empty(&live->items.all) && item->round != live->round;
        if (!live->looking)
            break;
        item->round = live->round;
        list_move_last(&live->items.all, &item->all);
        items[some++] = item;
    }
    live_look_at(live, items, some);
    return live->looking;
}

/* Telling */

bool live_is_known(const struct live_stream *stream)
{
    for (uint32_t i = 0; i < stream->count; i++) {
        const struct watched *item = stream->viewers[i].item;
        if (item->version == 0 || item->seen < stream->number)
            return false;
    }
    return true;
}

/* Is there something it was not told? */
static bool is_behind(const struct live_stream *stream)
{
    for (uint32_t i = 0; i < stream->count; i++) {
        if (stream->viewers[i].told != stream->viewers[i].item->version)
            return true;
    }
    return false;
}

/* The release point that what it was not told depends on. */
static uint64_t point_of(const struct live_stream *stream)
{
    uint64_t point = 0;
    for (uint32_t i = 0; i < stream->count; i++) {
        const struct watched *item = stream->viewers[i].item;
        if (stream->viewers[i].told != item->version && item->point > point)
            point = item->point;
    }
    return point;
}

static void note_told(struct live_stream *stream)
{
    struct loop_stats *stats = &stream->live->loop->stats;
    for (uint32_t i = 0; i < stream->count; i++) {
        struct viewer *viewer = &stream->viewers[i];
        uint64_t version = viewer->item->version;
        if (viewer->told > 0 && viewer->told != version)
            loop_count(&stats->live_coalesced, version - viewer->told - 1);
        viewer->told = version;
    }
}

bool live_tell(struct live_stream *stream, struct buffer *out, uint64_t now_ns)
{
    struct loop *loop = stream->live->loop;
    const struct names *names = loop->server->parts.names;
    bool same = !stream->begun && stream->resumes &&
                event_digest(stream->viewers, stream->count) == stream->last;
    bool written = same ? event_write_text(out, ": nothing new\n\n", stream->chunked)
                        : event_write(out, stream->viewers, stream->count, !stream->begun, names,
                                      stream->chunked);
    if (!written)
        return false;
    loop_count(&loop->stats.live_events, !same);
    stream->begun = true;
    stream->told_ns = stream->wrote_ns = now_ns;
    note_told(stream);
    return true;
}

static void wait_in(struct list *queue, struct live_stream *stream, uint64_t ready_ns)
{
    stream->ready_ns = ready_ns;
    list_move_last(queue, &stream->queue);
}

/* Sends what is in `out`, as far as it is released; a client may have too much of it. */
static void send_off(struct live_stream *stream, uint64_t point)
{
    struct conn *conn = stream->conn;
    list_move_last(&stream->live->quiet, &stream->quiet);
    conn_send(conn, point);
    if (conn_unsent(conn) > conn->loop->server->parts.options->output_buffer)
        conn_close(conn);
}

static bool is_ending(const struct live_stream *stream)
{
    return !conn_is_open(stream->conn);
}

/* Would an event have to wait for its release, where too many replies wait already? */
static bool is_held(const struct live *live, uint64_t point)
{
    struct hot *hot = live->loop->server->parts.hot;
    return live->loop->group_count >= HELD_MAX && point > hot_released(hot) &&
           hot_state(hot) != STATUS_READONLY;
}

/* Tells it, or lets it wait for its turn; false: neither, it cost nothing. */
static bool tell(struct live_stream *stream, uint64_t now_ns)
{
    struct live *live = stream->live;
    if (is_ending(stream) || !is_behind(stream) || !live_is_known(stream))
        return false;
    uint64_t point = point_of(stream);
    if (conn_unsent(stream->conn) > UNSENT_MAX) {
        loop_count(&live->loop->stats.live_stalled, 1);
        wait_in(&live->stalled, stream, now_ns + LIVE_STALLED_NS);
        return false;
    }
    if (stream->told_ns > 0 && now_ns < stream->told_ns + LIVE_GAP_NS) {
        wait_in(&live->later, stream, stream->told_ns + LIVE_GAP_NS);
        return false;
    }
    if (is_held(live, point)) {
        wait_in(&live->held, stream, now_ns + LIVE_HELD_NS);
        return false;
    }
    if (live_tell(stream, &stream->conn->out, now_ns))
        send_off(stream, point);
    else
        conn_close(stream->conn);
    return true;
}

/* Those of a queue whose time has come; false: there is none. */
static bool tell_queue(struct list *queue, uint64_t now_ns)
{
    for (unsigned told = 0, seen = 0; told < STEP_STREAMS && seen < STEP_VIEWERS; seen++) {
        struct live_stream *stream = LIST_OF(queue->next, struct live_stream, queue);
        if (list_is_empty(queue) || stream->ready_ns > now_ns)
            return false;
        list_remove(&stream->queue);
        told += tell(stream, now_ns);
    }
    return true;
}

/* Some viewers of one item that changed; the next time, of the next one. */
static bool tell_viewers(struct live *live, uint64_t now_ns)
{
    if (list_is_empty(&live->changed))
        return false;
    struct watched *item = LIST_OF(live->changed.next, struct watched, changed);
    list_move_last(&live->changed, &item->changed);
    for (unsigned told = 0, seen = 0; told < STEP_STREAMS && seen < STEP_VIEWERS; seen++) {
        struct viewer *viewer = LIST_OF(item->viewers.next, struct viewer, link);
        if (list_is_empty(&item->viewers) || viewer->walk == item->walk) {
            list_remove(&item->changed);
            break;
        }
        viewer->walk = item->walk;
        list_move_last(&item->viewers, &viewer->link);
        struct live_stream *stream = viewer->stream;
        if (!list_has(&stream->queue))
            told += tell(stream, now_ns);
    }
    return !list_is_empty(&live->changed);
}

static bool break_silence(struct live *live, uint64_t now_ns)
{
    for (unsigned said = 0; said < STEP_STREAMS; said++) {
        struct live_stream *stream = LIST_OF(live->quiet.next, struct live_stream, quiet);
        if (list_is_empty(&live->quiet) || now_ns < stream->wrote_ns + LIVE_QUIET_NS)
            return false;
        struct conn *conn = stream->conn;
        bool quiet = !is_ending(stream) && conn_unsent(conn) == 0;
        stream->wrote_ns = now_ns;
        if (quiet && !event_write_text(&conn->out, ":\n\n", stream->chunked))
            conn_close(conn);
        else if (quiet)
            send_off(stream, 0);
        else
            list_move_last(&live->quiet, &stream->quiet);
    }
    return true;
}

uint64_t live_run(struct live *live)
{
    uint64_t start_ns = clock_monotonic_ns(), now_ns = start_ns;
    pace_earn(&live->pace, start_ns);
    uint64_t most_ns = pace_has_ns(&live->pace);
    bool more = true;
    live->loop->clock_ns = now_ns;
    while (more && now_ns - start_ns < most_ns) {
        more = look_on(live, now_ns);
        more = tell_queue(&live->later, now_ns) || more;
        more = tell_queue(&live->held, now_ns) || more;
        more = tell_queue(&live->stalled, now_ns) || more;
        more = tell_viewers(live, now_ns) || more;
        more = break_silence(live, now_ns) || more;
        now_ns = clock_monotonic_ns();
    }
    live_send_cold(live, now_ns);
    pace_spend(&live->pace, clock_monotonic_ns() - start_ns);
    uint64_t next_ns = live->look_ns + LIVE_GAP_NS;
    if (more)
        return LIVE_STEP_MS;
    if (!list_is_empty(&live->later) || !list_is_empty(&live->held) || !list_is_empty(&live->cold))
        return LIVE_STEP_IDLE_MS;
    return next_ns > now_ns ? (next_ns - now_ns) / LIVE_MS + 1 : 1;
}
