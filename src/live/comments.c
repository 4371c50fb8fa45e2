/*
 * Streams of comments. They share everything with streams of counters but what is read and what is
 * written: the changes of a subject since the last read (news.h). While a read is being sent to its
 * viewers, or a worker reads, the subject is not read again. So reads of a subject never overtake each
 * other, and no stream is sent an older state after a newer one.
 */
#include "base/assert.h"
#include "base/clock.h"
#include "live/event.h"
#include "live/private.h"

static uint32_t recorded_time_s(const struct live *live)
{
    struct timeline *timeline = live->loop->server->parts.timeline;
    struct moment now = {.wall_ms = clock_wall_ms(), .monotonic_ns = clock_monotonic_ns()};
    return timeline != NULL ? timeline_at(timeline, now) : (uint32_t)(now.wall_ms / 1000);
}

struct hot_request live_ask(struct live *live, struct watched *item, struct hot_answer *answer)
{
    struct hot_request request = {.op = item->news != NULL ? OP_LIVECOMMENTS : OP_LIVE,
                                  .item_count = 1,
                                  .items = &item->item};
    if (item->news == NULL) {
        request.action = HOT_COUNTS;
        request.read.answers = answer;
    } else {
        request.action = HOT_COMMENT_NEWS;
        request.time_s = recorded_time_s(live);
        request.cards.after = news_choose(item->news);
    }
    return request;
}

size_t live_take_comments(struct live *live, struct watched *item, const char *bytes, size_t length,
                          uint64_t seen)
{
    bool fresh;
    bool waited_for = item->awaited > item->seen && seen > item->seen;
    size_t used = news_take(item->news, bytes, length, seen, &fresh);
    if (seen > item->seen)
        item->seen = seen;
    if (!fresh && !waited_for)
        return used;
    item->point = hot_point(live->loop->server->parts.hot);
    item->walk++;
    if (!list_has(&item->changed))
        list_add_last(&live->changed, &item->changed);
    return used;
}

/* Takes what hot_try has answered. */
static void take_answer(struct live *live, struct watched *item, const struct hot_request *request)
{
    const struct server_parts *parts = &live->loop->server->parts;
    struct buffer out = {.budget = parts->budget};
    if (news_collect(&out, request, &live->loop->hot_scratch, parts->names, live->write_card))
        live_take_comments(live, item, out.bytes, out.length, live->opened);
    else
        news_fail(item->news);
    buffer_free(&out);
}

void live_look_at_comments(struct live *live, struct watched *item)
{
    struct hot_scratch *scratch = &live->loop->hot_scratch;
    if (item->away || list_has(&item->cold) || list_has(&item->changed))
        return;
    watched_find_type(item, live->loop->server->parts.names);
    struct hot_request request = live_ask(live, item, NULL);
    uint32_t used = scratch->used, cards = scratch->cards_used, pages = scratch->pages_used;
    if (hot_try(live->loop->server->parts.hot, &request, 1, scratch) == 1) {
        take_answer(live, item, &request);
    } else {
        news_fail(item->news);
        live_want_cold(live, item);
    }
    scratch->used = used;
    scratch->cards_used = cards;
    scratch->pages_used = pages;
}

enum news_need live_comments_need(struct live_stream *stream)
{
    struct viewer *viewer = &stream->viewers[0];
    struct news *news = viewer->item->news;
    enum news_need need =
        news_need(news, stream->begun || stream->resumes, viewer->sent, stream->number);
    if (need == NEWS_SKIP) {
        viewer->sent = news->head.points.until;
        need = viewer->sent < news->newest ? NEWS_READ : NEWS_NOTHING;
    }
    if (need != NEWS_READ)
        return need;
    news_want(news, viewer->sent);
    return NEWS_NOTHING;
}

bool live_write_comments(struct live_stream *stream, enum news_need need, struct buffer *out,
                         uint64_t now_ns)
{
    struct loop *loop = stream->live->loop;
    struct viewer *viewer = &stream->viewers[0];
    struct news *news = viewer->item->news;
    size_t start = out->length;
    uint64_t sent = viewer->sent;
    if (!news_write(out, news, need, &sent, stream->chunked))
        return false;
    if (out->length - start > loop->server->parts.options->output_buffer) {
        out->length = start; /* it is larger than any answer may be, so the client has to ask */
        if (!news_write(out, news, NEWS_RESET, &sent, stream->chunked))
            return false;
    }
    if (need == NEWS_END && !event_write_end(out, stream->chunked))
        return false;
    viewer->sent = sent;
    if (sent < news->newest)
        news_want(news, sent);
    loop_count(&loop->stats.live_events, 1);
    stream->begun = true;
    stream->event_ns = stream->wrote_ns = now_ns;
    return true;
}
