/*
 * A slice of time does a little of each task in turn, until nothing is left to do or the time is over:
 * read some items and subjects, send events to some streams whose items changed, and send comments to streams that
 * were silent for long. What was handled goes to the end of its queue, so the next slice continues
 * where this one stopped, and an item with many viewers does not delay the others.
 *
 * An event that is not released yet is sent later, at a time that is not measured here. So only a few
 * events may wait like that; the other streams are tried again a moment later, when their events need
 * not wait.
 */
#include "base/assert.h"
#include "base/clock.h"
#include "live/event.h"
#include "live/private.h"

#define STEP_STREAMS  8       /* events that are sent in one step */
#define STEP_VIEWERS  64      /* viewers that are visited in one step; many of them need no event */
#define STEP_SUBJECTS 4       /* subjects whose changes are read in one step */
#define HELD_MAX      256     /* if so many groups wait for their release, no event joins them */
#define UNSENT_MAX    KIB(16) /* a client with more unsent bytes gets no further event */

/* Reading items */

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

/* Reads the counters of up to LIMIT_BATCH items whose types are found. */
static void look_at_batch(struct live *live, struct watched *const *items, uint32_t count)
{
    struct loop *loop = live->loop;
    struct hot_request *requests = loop->requests;
    struct hot_answer answers[LIMIT_BATCH];
    uint32_t used = loop->hot_scratch.used;
    ASSERT(count <= LIMIT_BATCH);
    for (uint32_t i = 0; i < count; i++)
        requests[i] = live_ask(live, items[i], &answers[i]);
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
    struct watched *typed[LIMIT_BATCH] = {NULL};
    uint32_t some = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!watched_find_type(items[i], live->loop->server->parts.names))
            live_take(live, items[i], NULL, 0, live->opened);
        else
            typed[some++] = items[i];
        if (some == LIMIT_BATCH || (i + 1 == count && some > 0)) {
            look_at_batch(live, typed, some);
            some = 0;
        }
    }
}

/* The next item of a table that was not read in this round; NULL: there is none. */
static struct watched *next_of_round(struct live *live, struct watched_table *table)
{
    struct watched *item = LIST_OF(table->all.next, struct watched, all);
    if (list_is_empty(&table->all) || item->round == live->round)
        return NULL;
    item->round = live->round;
    list_move_last(&table->all, &item->all);
    return item;
}

/* Reads the changes of some subjects. */
static void look_on_comments(struct live *live)
{
    struct watched *item = NULL;
    for (unsigned some = 0; some < STEP_SUBJECTS; some++) {
        item = next_of_round(live, &live->subjects);
        if (item == NULL)
            break;
        live_look_at_comments(live, item);
        hot_scratch_clear(&live->loop->hot_scratch);
    }
    live->looking = item != NULL;
}

/* Continues the round of reading: items, then subjects. False: there is no round, or it is complete. */
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
        struct watched *item = next_of_round(live, &live->items);
        if (item == NULL)
            break;
        items[some++] = item;
    }
    live_look_at(live, items, some);
    if (live->looking && some < LIMIT_BATCH)
        look_on_comments(live);
    return live->looking;
}

/* Sending events */

bool live_is_loaded(const struct live_stream *stream)
{
    for (uint32_t i = 0; i < stream->count; i++) {
        const struct watched *item = stream->viewers[i].item;
        if (item->version == 0 || item->seen < stream->number)
            return false;
    }
    return true;
}

/* Is there a version that the client does not have? */
static bool has_news(const struct live_stream *stream)
{
    for (uint32_t i = 0; i < stream->count; i++) {
        if (stream->viewers[i].sent != stream->viewers[i].item->version)
            return true;
    }
    return false;
}

/* The release point that the next event of the stream depends on. */
static uint64_t point_of(const struct live_stream *stream)
{
    uint64_t point = 0;
    for (uint32_t i = 0; i < stream->count; i++) {
        const struct watched *item = stream->viewers[i].item;
        if (stream->viewers[i].sent != item->version && item->point > point)
            point = item->point;
    }
    return point;
}

static void note_sent(struct live_stream *stream)
{
    struct loop_stats *stats = &stream->live->loop->stats;
    for (uint32_t i = 0; i < stream->count; i++) {
        struct viewer *viewer = &stream->viewers[i];
        uint64_t version = viewer->item->version;
        if (viewer->sent > 0 && viewer->sent != version)
            loop_count(&stats->live_coalesced, version - viewer->sent - 1);
        viewer->sent = version;
    }
}

bool live_write_event(struct live_stream *stream, struct buffer *out, uint64_t now_ns)
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
    stream->event_ns = stream->wrote_ns = now_ns;
    note_sent(stream);
    return true;
}

static void wait_in(struct list *queue, struct live_stream *stream, uint64_t ready_ns)
{
    stream->ready_ns = ready_ns;
    list_move_last(queue, &stream->queue);
}

/* Sends what is in `out` as far as it is released. A client with too many unsent bytes is closed. */
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

/* Would an event have to wait for its release, although many groups wait already? */
static bool is_held(const struct live *live, uint64_t point)
{
    struct hot *hot = live->loop->server->parts.hot;
    return live->loop->group_count >= HELD_MAX && point > hot_released(hot) &&
           hot_state(hot) != STATUS_READONLY;
}

/* Writes what a stream of comments needs. A stream that has ended is closed once this is sent. */
static bool write_comments(struct live_stream *stream, enum news_need need, uint64_t now_ns)
{
    if (!live_write_comments(stream, need, &stream->conn->out, now_ns))
        return false;
    if (need == NEWS_END)
        conn_drain(stream->conn, false);
    return true;
}

/* Sends an event, or queues the stream for later. True: an event was written, which costs time. */
static bool send_event(struct live_stream *stream, uint64_t now_ns)
{
    struct live *live = stream->live;
    enum news_need need = NEWS_NOTHING;
    if (is_ending(stream))
        return false;
    if (stream->of_comments)
        need = live_comments_need(stream);
    if (stream->of_comments ? need == NEWS_NOTHING : !has_news(stream) || !live_is_loaded(stream))
        return false;
    uint64_t point = stream->of_comments ? stream->viewers[0].item->point : point_of(stream);
    if (conn_unsent(stream->conn) > UNSENT_MAX) {
        loop_count(&live->loop->stats.live_stalled, 1);
        wait_in(&live->stalled, stream, now_ns + LIVE_STALLED_NS);
        return false;
    }
    if (stream->event_ns > 0 && now_ns < stream->event_ns + LIVE_GAP_NS) {
        wait_in(&live->later, stream, stream->event_ns + LIVE_GAP_NS);
        return false;
    }
    if (is_held(live, point)) {
        wait_in(&live->held, stream, now_ns + LIVE_HELD_NS);
        return false;
    }
    if (stream->of_comments ? write_comments(stream, need, now_ns)
                            : live_write_event(stream, &stream->conn->out, now_ns))
        send_off(stream, point);
    else
        conn_close(stream->conn);
    return true;
}

/* Sends to the streams of a queue that are due. False: no more are due. */
static bool send_queue(struct list *queue, uint64_t now_ns)
{
    for (unsigned sent = 0, seen = 0; sent < STEP_STREAMS && seen < STEP_VIEWERS; seen++) {
        struct live_stream *stream = LIST_OF(queue->next, struct live_stream, queue);
        if (list_is_empty(queue) || stream->ready_ns > now_ns)
            return false;
        list_remove(&stream->queue);
        sent += send_event(stream, now_ns);
    }
    return true;
}

/* Sends to some viewers of the first changed item, which then goes to the end of the queue. */
static bool send_viewers(struct live *live, uint64_t now_ns)
{
    if (list_is_empty(&live->changed))
        return false;
    struct watched *item = LIST_OF(live->changed.next, struct watched, changed);
    list_move_last(&live->changed, &item->changed);
    for (unsigned sent = 0, seen = 0; sent < STEP_STREAMS && seen < STEP_VIEWERS; seen++) {
        struct viewer *viewer = LIST_OF(item->viewers.next, struct viewer, link);
        if (list_is_empty(&item->viewers) || viewer->walk == item->walk) {
            list_remove(&item->changed);
            break;
        }
        viewer->walk = item->walk;
        list_move_last(&item->viewers, &viewer->link);
        struct live_stream *stream = viewer->stream;
        if (!list_has(&stream->queue))
            sent += send_event(stream, now_ns);
    }
    return !list_is_empty(&live->changed);
}

static bool break_silence(struct live *live, uint64_t now_ns)
{
    for (unsigned sent = 0; sent < STEP_STREAMS; sent++) {
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
        more = send_queue(&live->later, now_ns) || more;
        more = send_queue(&live->held, now_ns) || more;
        more = send_queue(&live->stalled, now_ns) || more;
        more = send_viewers(live, now_ns) || more;
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
