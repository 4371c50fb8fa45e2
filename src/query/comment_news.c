/*
 * What has changed on a subject since a point, for live streams. The changes say only which comments were
 * changed. Their present state is looked up after the changes were read, so it is never older than the
 * changes are. Everything is as everybody sees it: there is no reader.
 */
#include "base/assert.h"
#include "query/comment_cards.h"
#include "query/comments.h"

#define NO_TYPE UINT16_MAX /* of an item whose type no write has used yet */

/* One comment that has changed, perhaps repeatedly. */
struct news_entry {
    uint64_t changed;
    uint64_t appeared;
};

struct news {
    struct query_news read;
    uint64_t until;
    size_t count;
    struct query_comment *comments;
    struct news_entry entries[LIMIT_NEWS];
};

static bool is_last(const struct query_news *read, size_t index)
{
    for (size_t i = index + 1; i < read->count; i++)
        if (read->changes[i].id == read->changes[index].id)
            return false;
    return true;
}

/* Fills in the entry for the change at this index, which is the last one of its comment. */
static void add_entry(struct news *news, size_t index)
{
    const struct query_change *changes = news->read.changes;
    struct news_entry *entry = &news->entries[news->count];
    *entry = (struct news_entry){.changed = changes[index].point};
    for (size_t i = 0; i <= index; i++)
        if (changes[i].id == changes[index].id && changes[i].appeared)
            entry->appeared = changes[i].point;
    news->comments[news->count++] = (struct query_comment){.id = changes[index].id};
}

/* Each comment once, by its last change. One decision may have changed two comments at the same point. */
static enum status choose(struct comment_view *view, struct news *news)
{
    const struct query_news *read = &news->read;
    size_t i = 0;
    news->comments = view_take(view, read->count, sizeof *news->comments);
    if (news->comments == NULL)
        return STATUS_NO_MEMORY;
    for (; i < read->count; i++) {
        if (news->count >= LIMIT_NEWS_CARDS && read->changes[i].point != news->until)
            break;
        news->until = read->changes[i].point;
        if (read->changes[i].id != COMMENT_NONE && is_last(read, i))
            add_entry(news, i);
    }
    if (i == read->count)
        news->until = read->now;
    return STATUS_OK;
}

static bool is_listed(const struct comment_view *view, const struct query_comment *comment,
                      const struct query_comment *root)
{
    if (!comment->found || !root->found)
        return false;
    enum comment_sight sight = comment_sight(view, &comment->comment, &root->comment);
    return sight != SIGHT_NONE && comment_is_listed(&comment->comment);
}

static bool add_card(struct comment_view *view, const struct query_comment *comment, bool listed)
{
    if (!listed)
        return cards_add_absent(view, comment->id);
    enum comment_sight sight = comment_is_open(&comment->comment) ? SIGHT_FULL : SIGHT_PLACEHOLDER;
    if (!cards_add(view, comment, sight, NULL))
        return false;
    if (comment_is_root(&comment->comment))
        view->scratch->cards[view->scratch->cards_used - 1].more = comment->comment.open_replies;
    return true;
}

/* The cards end early if the contents are large; at least one comment is there. */
static enum status add_cards(struct comment_view *view, struct news *news)
{
    struct query_comment *roots = NULL;
    size_t bytes = 0;
    enum status status = cards_load(view, news->comments, news->count);
    if (status == STATUS_OK && news->count > 0)
        status = cards_load_roots(view, news->comments, news->count, &roots);
    for (size_t i = 0; i < news->count && status == STATUS_OK; i++) {
        const struct query_comment *comment = &news->comments[i];
        bool listed = is_listed(view, comment, &roots[i]);
        if (bytes > LIMIT_NEWS_CONTENT &&
            news->entries[i].changed != news->entries[i - 1].changed) {
            news->until = news->entries[i - 1].changed;
            break;
        }
        if (!add_card(view, comment, listed))
            return STATUS_NO_MEMORY;
        struct hot_card *card = &view->scratch->cards[view->scratch->cards_used - 1];
        card->changed = news->entries[i].changed;
        card->appeared = news->entries[i].appeared;
        bytes += card->text.length + card->extra.length;
    }
    return status;
}

static enum status find_subject(struct comment_view *view, struct item item)
{
    struct subject subject;
    enum status status = view->tier->functions->subject(view->tier, item, &subject);
    return status == STATUS_OK && subject.mode == SUBJECT_CLOSED ? STATUS_SUBJECT_CLOSED : status;
}

static enum status read_changes(struct comment_view *view, struct hot_request *request,
                                struct news *news)
{
    struct hot_cards_page *answer = &view->scratch->pages[request->cards.page];
    uint32_t first = view->scratch->cards_used;
    enum status status = find_subject(view, request->items[0]);
    if (status == STATUS_OK)
        status = choose(view, news);
    if (status == STATUS_OK)
        status = add_cards(view, news);
    answer->first = first;
    answer->count = view->scratch->cards_used - first;
    return status == STATUS_OK ? cards_complete(view, first, request->time_s) : status;
}

static enum status begin(struct comment_view *view, struct hot_request *request)
{
    enum status status = find_subject(view, request->items[0]);
    return status == STATUS_OK ? comments_read_subject(view, request) : status;
}

/* Without changes there is nothing to look up: this is the usual case, and needs no store. */
enum status comments_read_news(struct comment_view *view, struct hot_request *request)
{
    struct query_tier *tier = view->tier;
    struct item item = request->items[0];
    struct news news = {.count = 0};
    enum status status = STATUS_OK;
    if (item.type != NO_TYPE && item.type == tier->comment_type)
        return STATUS_NOT_A_SUBJECT;
    view->scratch->pages[request->cards.page].subject = subject_new(item);
    if (item.type == NO_TYPE)
        news.read = (struct query_news){.since = 1, .now = 1};
    else
        status =
            tier->functions->news(tier, item, request->cards.after, request->time_s, &news.read);
    news.until = news.read.now;
    if (status == STATUS_OK && request->cards.after == HOT_NEWS_BEGIN && item.type != NO_TYPE)
        status = begin(view, request);
    else if (status == STATUS_OK && news.read.count > 0)
        status = read_changes(view, request, &news);
    struct hot_cards_page *answer = &view->scratch->pages[request->cards.page];
    answer->news =
        (struct hot_news){.since = news.read.since, .until = news.until, .now = news.read.now};
    return status;
}
