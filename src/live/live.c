#include "live/live.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/hash.h"
#include "live/event.h"
#include "live/private.h"
#include "net/streams.h"

#define RETRY_MIN_MS 1000 /* clients wait at least so long before they connect again, */
#define RETRY_ROOM_MS                                                                              \
    4000 /* and up to so much longer, so that not all connect to a new server at once */

static void on_timer(uv_timer_t *timer)
{
    struct live *live = timer->data;
    if (live->streams == 0)
        return;
    uint64_t next_ms = live_run(live);
    uv_timer_start(&live->timer, on_timer, next_ms, 0);
}

/* The thread is about to wait for events. This time counts as idle. */
static void live_wait(void *streams)
{
    struct live *live = streams;
    if (live->streams > 0)
        live->before_ns = clock_monotonic_ns();
}

static void on_after(uv_check_t *check)
{
    struct live *live = check->data;
    if (live->before_ns > 0)
        live->pace.waited_ns += clock_monotonic_ns() - live->before_ns;
    live->before_ns = 0;
}

static void *live_open_all(struct loop *loop)
{
    struct live *live = calloc(1, sizeof *live);
    if (live == NULL)
        return NULL;
    live->loop = loop;
    watched_init(&live->items, loop->server->parts.budget, loop->server->parts.seed, false);
    watched_init(&live->subjects, loop->server->parts.budget, loop->server->parts.seed, true);
    struct list *lists[] = {&live->quiet, &live->changed, &live->later,
                            &live->held,  &live->stalled, &live->cold};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        list_init(lists[i]);
    uv_timer_init(&loop->uv, &live->timer);
    uv_check_init(&loop->uv, &live->after);
    live->timer.data = live->after.data = live;
    return live;
}

static void live_free(void *streams)
{
    struct live *live = streams;
    ASSERT(live->streams == 0 && live->away == 0);
    watched_free(&live->items);
    watched_free(&live->subjects);
    free(live);
}

static void start(struct live *live)
{
    live->pace = (struct pace){.at_ns = clock_monotonic_ns()};
    live->before_ns = 0;
    uv_check_start(&live->after, on_after);
    uv_timer_start(&live->timer, on_timer, LIVE_STEP_MS, 0);
}

static void stop(struct live *live)
{
    uv_timer_stop(&live->timer);
    uv_check_stop(&live->after);
}

static void free_stream(struct live_stream *stream)
{
    struct live *live = stream->live;
    for (uint32_t i = 0; i < stream->count; i++)
        watched_remove(live_table(live, stream->viewers[i].item), &stream->viewers[i]);
    list_remove(&stream->queue);
    list_remove(&stream->quiet);
    live_count_items(live);
    memory_release_connection(live->items.budget, stream->charged);
    free(stream);
}

/* Does another viewer of the stream have the same item as the last one? */
static bool is_repeated(const struct live_stream *stream)
{
    for (uint32_t i = 0; i + 1 < stream->count; i++) {
        if (stream->viewers[i].item == stream->viewers[stream->count - 1].item)
            return true;
    }
    return false;
}

static bool watch(struct live_stream *stream, struct text text)
{
    struct watched_table *table =
        stream->of_comments ? &stream->live->subjects : &stream->live->items;
    struct viewer *viewer = &stream->viewers[stream->count];
    const char *colon = memchr(text.bytes, ':', text.length);
    struct id id;
    bool good =
        colon != NULL && id_parse(colon + 1, text.length - (size_t)(colon + 1 - text.bytes), &id);
    ASSERT(good); /* the words were decoded before */
    if (!watched_add(table, viewer, text, id))
        return false;
    viewer->stream = stream;
    stream->count++;
    if (is_repeated(stream)) {
        watched_remove(table, viewer);
        stream->count--;
    }
    return true;
}

static struct live_stream *make(struct conn *conn, const struct live_ask *ask)
{
    struct live *live = conn->loop->streams;
    size_t bytes = sizeof(struct live_stream) + ask->count * sizeof(struct viewer);
    if (!memory_charge_connection(live->items.budget, bytes))
        return NULL;
    struct live_stream *stream = calloc(1, bytes);
    if (stream == NULL) {
        memory_release_connection(live->items.budget, bytes);
        return NULL;
    }
    *stream = (struct live_stream){.live = live,
                                   .conn = conn,
                                   .charged = bytes,
                                   .chunked = ask->chunked,
                                   .of_comments = ask->write_card != NULL,
                                   .resumes = ask->resumes,
                                   .last = ask->last,
                                   .number = ++live->opened};
    bool watches = true;
    for (uint32_t i = 0; watches && i < ask->count; i++)
        watches = watch(stream, ask->items[i]);
    if (watches)
        return stream;
    free_stream(stream);
    return NULL;
}

/*
 * Returns whether each item was read since the stream was opened. Counters that were read earlier for other
 * streams may be older than what the client knows, so the stream waits for the items that are not in memory.
 */
static bool load_or_await(struct live_stream *stream)
{
    for (uint32_t i = 0; i < stream->count; i++)
        if (stream->viewers[i].item->seen < stream->number)
            stream->viewers[i].item->awaited = stream->number;
    return live_is_loaded(stream);
}

/* Writes when the client should connect again. */
static bool write_retry(struct live_stream *stream, struct buffer *out)
{
    char retry[32];
    uint64_t spread = hash_mix(stream->conn->id, stream->live->items.seed) % RETRY_ROOM_MS;
    snprintf(retry, sizeof retry, "retry: %llu\n\n", (unsigned long long)(RETRY_MIN_MS + spread));
    return event_write_text(out, retry, stream->chunked);
}

/* Writes the first event, or what the client has missed, if it can be read without waiting. */
static bool write_first_comments(struct live_stream *stream, struct buffer *out, uint64_t now_ns)
{
    struct viewer *viewer = &stream->viewers[0];
    struct news *news = viewer->item->news;
    if (stream->resumes) {
        viewer->sent = stream->last ^ news->mask;
        news_want(news, viewer->sent);
    }
    viewer->item->awaited = stream->number;
    if (!news->loaded || stream->resumes)
        live_look_at_comments(stream->live, viewer->item);
    enum news_need need = live_comments_need(stream);
    return need == NEWS_NOTHING || need == NEWS_END ||
           live_write_comments(stream, need, out, now_ns);
}

/* Writes all items, unless the client has them already. */
static bool write_first_items(struct live_stream *stream, struct buffer *out, uint64_t now_ns)
{
    struct live *live = stream->live;
    struct watched *items[LIMIT_LIVE_ITEMS];
    for (uint32_t i = 0; i < stream->count; i++)
        items[i] = stream->viewers[i].item;
    live_look_at(live, items, stream->count);
    return !load_or_await(stream) || live_write_event(stream, out, now_ns);
}

static bool write_beginning(struct live_stream *stream, struct buffer *out, uint64_t now_ns)
{
    return write_retry(stream, out) &&
           (stream->of_comments ? write_first_comments(stream, out, now_ns)
                                : write_first_items(stream, out, now_ns));
}

/* Counts as a stream from now on, no longer as a connection. */
static bool count_stream(struct server *server)
{
    uint64_t open = atomic_fetch_add_explicit(&server->streams, 1, memory_order_relaxed);
    if (open < server->parts.options->live_streams)
        return true;
    atomic_fetch_sub_explicit(&server->streams, 1, memory_order_relaxed);
    return false;
}

static void take_over(struct conn *conn, struct live_stream *stream, uint64_t now_ns)
{
    struct live *live = stream->live;
    int bytes = LIMIT_LIVE_KERNEL;
    ASSERT(conn->counted && !conn->streaming);
    if (live->streams++ == 0)
        start(live);
    stream->wrote_ns = now_ns;
    list_add_last(&live->quiet, &stream->quiet);
    live_count_items(live);
    atomic_fetch_sub_explicit(&live->loop->server->connections, 1, memory_order_relaxed);
    conn->streaming = true;
    conn->linger_bytes = LIMIT_LIVE_INPUT;
    uv_send_buffer_size((uv_handle_t *)&conn->tcp, &bytes);
}

enum status live_open(struct conn *conn, const struct live_ask *ask, struct buffer *out,
                      struct live_stream **stream)
{
    struct server *server = conn->loop->server;
    uint64_t now_ns = clock_monotonic_ns();
    ASSERT(ask->count > 0 && ask->count <= (ask->write_card != NULL ? 1 : LIMIT_LIVE_ITEMS));
    if (conn->loop->stopping)
        return STATUS_STOPPING;
    if (!count_stream(server))
        return STATUS_TOO_MANY_STREAMS;
    if (ask->write_card != NULL)
        ((struct live *)conn->loop->streams)->write_card = ask->write_card;
    *stream = make(conn, ask);
    if (*stream != NULL && write_beginning(*stream, out, now_ns)) {
        take_over(conn, *stream, now_ns);
        return STATUS_OK;
    }
    if (*stream != NULL)
        free_stream(*stream);
    *stream = NULL;
    atomic_fetch_sub_explicit(&server->streams, 1, memory_order_relaxed);
    return STATUS_NO_MEMORY;
}

void live_close(struct live_stream *stream)
{
    struct live *live = stream->live;
    ASSERT(live->streams > 0);
    free_stream(stream);
    if (--live->streams == 0)
        stop(live);
}

/* The server stops: all streams end. A stream with unsent bytes is closed at once. */
static void live_stop(void *streams)
{
    struct live *live = streams;
    for (struct list *link = live->quiet.next; link != &live->quiet; link = link->next) {
        struct live_stream *stream = LIST_OF(link, struct live_stream, quiet);
        struct conn *conn = stream->conn;
        if (conn_is_closing(conn))
            continue;
        if (conn_unsent(conn) > 0 || !event_write_end(&conn->out, stream->chunked)) {
            conn_close(conn);
            continue;
        }
        conn_drain(conn, false);
        conn_send(conn, 0);
    }
}

const struct streams_ops live_streams = {
    .open = live_open_all,
    .close = live_free,
    .stop = live_stop,
    .wait = live_wait,
};
