#include "live/news.h"

#include <string.h>

#include "base/assert.h"
#include "base/decimal.h"
#include "live/event.h"

/* What precedes the JSON of a comment in what was collected. */
struct news_entry {
    uint64_t changed;
    uint64_t appeared;
    uint32_t length;
    bool listed; /* false: the comment is not listed any more */
};

void news_init(struct news *news, struct memory_budget *budget, uint64_t mask)
{
    *news = (struct news){.read.budget = budget, .missing = NEWS_NONE, .mask = mask};
}

void news_free(struct news *news)
{
    buffer_free(&news->read);
}

uint64_t news_choose(struct news *news)
{
    bool missing = news->missing != NEWS_NONE;
    news->extra = missing && (!news->loaded || !news->extra);
    news->asked = news->extra ? news->missing : news->loaded ? news->newest : HOT_NEWS_BEGIN;
    if (news->extra)
        news->missing = NEWS_NONE;
    return news->asked;
}

void news_fail(struct news *news)
{
    if (news->extra)
        news_want(news, news->asked);
    news->extra = false;
}

void news_want(struct news *news, uint64_t sent)
{
    if (sent < news->missing)
        news->missing = sent;
}

static bool append_text(struct buffer *out, const char *text)
{
    return buffer_append(out, text, strlen(text));
}

/* "comment:7" */
static bool append_comment(struct buffer *out, uint64_t id)
{
    char digits[DECIMAL_MAX];
    return append_text(out, "\"" COMMENT_TYPE_NAME ":") &&
           buffer_append(out, digits, (size_t)(decimal_write(digits, id) - digits)) &&
           append_text(out, "\"");
}

/* {"comment":"comment:7"} */
static bool collect_removed(struct buffer *out, uint64_t id)
{
    return append_text(out, "{\"comment\":") && append_comment(out, id) && append_text(out, "}");
}

/* {"root":"comment:5","card":{ … }}; a root has null. A card alone does not say which thread it is in. */
static bool collect_listed(struct buffer *out, const struct hot_card *card,
                           const struct hot_scratch *scratch, const struct names *names,
                           live_card_fn *write_card)
{
    uint64_t root = card->comment.root;
    return append_text(out, "{\"root\":") &&
           (root == COMMENT_NONE ? append_text(out, "null") : append_comment(out, root)) &&
           append_text(out, ",\"card\":") && write_card(out, card, scratch, names) &&
           append_text(out, "}");
}

/* A line of an event ends at a line break. JSON has line breaks only where spaces may stand, too. */
static void join_lines(char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (bytes[i] == '\n' || bytes[i] == '\r')
            bytes[i] = ' ';
}

static bool collect_card(struct buffer *out, const struct hot_card *card,
                         const struct hot_scratch *scratch, const struct names *names,
                         live_card_fn *write_card)
{
    size_t start = out->length;
    struct news_entry entry;
    memset(&entry, 0, sizeof entry);
    entry.changed = card->changed;
    entry.appeared = card->appeared;
    entry.listed = card->exists;
    if (!buffer_append(out, &entry, sizeof entry) ||
        !(card->exists ? collect_listed(out, card, scratch, names, write_card)
                       : collect_removed(out, card->comment.id)))
        return false;
    size_t length = out->length - start - sizeof entry;
    join_lines(out->bytes + start + sizeof entry, length);
    entry.length = (uint32_t)length;
    memcpy(out->bytes + start, &entry, sizeof entry);
    return true;
}

bool news_collect(struct buffer *out, const struct hot_request *request,
                  const struct hot_scratch *scratch, const struct names *names,
                  live_card_fn *write_card)
{
    struct news_head head;
    memset(&head, 0, sizeof head);
    head.status = request->status;
    if (head.status != STATUS_OK)
        return buffer_append(out, &head, sizeof head);
    const struct hot_cards_page *page = &scratch->pages[request->cards.page];
    head.points = page->news;
    head.count = request->cards.after != HOT_NEWS_BEGIN ? page->count : 0;
    bool written = buffer_append(out, &head, sizeof head);
    for (uint32_t i = 0; written && i < head.count; i++)
        written = collect_card(out, &scratch->cards[page->first + i], scratch, names, write_card);
    return written;
}

static struct news_entry entry_at(const char *at)
{
    struct news_entry entry;
    memcpy(&entry, at, sizeof entry);
    return entry;
}

static size_t length_of(const struct news_head *head, const char *bytes, size_t length)
{
    size_t at = sizeof *head;
    for (uint32_t i = 0; i < head->count; i++)
        at += sizeof(struct news_entry) + entry_at(bytes + at).length;
    ASSERT(at <= length);
    return at;
}

size_t news_take(struct news *news, const char *bytes, size_t length, uint64_t seen, bool *fresh)
{
    struct news_head head;
    ASSERT(length >= sizeof head);
    memcpy(&head, bytes, sizeof head);
    size_t used = length_of(&head, bytes, length);
    *fresh = false;
    if (head.status == STATUS_SUBJECT_CLOSED) {
        *fresh = !news->closed;
        news->closed = true;
        return used;
    }
    news->read.length = 0;
    if (head.status != STATUS_OK ||
        !buffer_append(&news->read, bytes + sizeof head, used - sizeof head)) {
        news->head.count = 0;
        news->after = news->head.points.until;
        news_fail(news);
        return used;
    }
    *fresh = head.count > 0 || news->extra || !news->loaded ||
             head.points.since > news->head.points.since;
    news->head = head;
    news->closed = false;
    news->after = news->asked != HOT_NEWS_BEGIN ? news->asked : head.points.until;
    news->seen = seen;
    news->loaded = true;
    if (head.points.until > news->newest)
        news->newest = head.points.until;
    return used;
}

enum news_need news_need(const struct news *news, bool begun, uint64_t sent, uint64_t number)
{
    const struct hot_news *points = &news->head.points;
    if (news->closed)
        return NEWS_END;
    if (!news->loaded)
        return NEWS_NOTHING;
    if (!begun)
        return NEWS_BEGIN;
    if (sent < points->since)
        return NEWS_RESET;
    if (sent > points->now && sent > news->newest)
        return number <= news->seen ? NEWS_RESET : NEWS_READ;
    if (sent >= news->newest)
        return NEWS_NOTHING;
    if (sent < news->after || sent >= points->until)
        return NEWS_READ;
    const char *at = news->read.bytes;
    for (uint32_t i = 0; i < news->head.count; i++) {
        struct news_entry entry = entry_at(at);
        if (entry.changed > sent)
            return NEWS_EVENTS;
        at += sizeof entry + entry.length;
    }
    return NEWS_SKIP;
}

static bool write_event(struct buffer *out, const struct news *news, uint64_t point,
                        const char *name, const char *data, size_t length)
{
    return event_put_id(out, point ^ news->mask) && buffer_append(out, "event: ", 7) &&
           buffer_append(out, name, strlen(name)) && buffer_append(out, "\ndata: ", 7) &&
           buffer_append(out, data, length) && buffer_append(out, "\n\n", 2);
}

static bool write_entries(struct buffer *out, const struct news *news, uint64_t sent)
{
    const char *at = news->read.bytes;
    bool written = true;
    for (uint32_t i = 0; written && i < news->head.count; i++) {
        struct news_entry entry = entry_at(at);
        const char *name = !entry.listed ? "removed" : entry.appeared > sent ? "new" : "changed";
        if (entry.changed > sent)
            written = write_event(out, news, entry.changed, name, at + sizeof entry, entry.length);
        at += sizeof entry + entry.length;
    }
    return written;
}

bool news_write(struct buffer *out, const struct news *news, enum news_need need, uint64_t *sent,
                bool chunked)
{
    const struct hot_news *points = &news->head.points;
    size_t start = out->length;
    uint64_t until = need == NEWS_BEGIN    ? news->newest
                     : need == NEWS_EVENTS ? points->until
                                           : points->now;
    bool written = event_begin(out, chunked);
    if (written && need == NEWS_EVENTS)
        written = write_entries(out, news, *sent);
    else if (written)
        written = write_event(out, news, until, need == NEWS_BEGIN ? "begin" : "reset", "{}", 2);
    if (!event_end(out, start, chunked, written))
        return false;
    *sent = until;
    return true;
}
