#include "query/comment_view.h"

#include <string.h>

#include "base/assert.h"
#include "base/names.h"

bool comment_is_own_held(const struct comment_view *view, const struct comment *comment)
{
    return view->has_reader && !view->all && !comment->deleted && !comment->anonymous &&
           id_equal(comment->author, view->reader) &&
           (comment->moderation == COMMENT_PENDING || comment->moderation == COMMENT_SHADOW);
}

/* A reader who answers an own shadow comment sees this answer, too: nothing may show that it is one. */
enum comment_sight comment_sight(const struct comment_view *view, const struct comment *comment,
                                 const struct comment *root)
{
    bool in_thread = comment_is_root(comment) || comment_has_thread(root);
    if (!hot_detail_allows(view->detail, comment->subject.type))
        return SIGHT_NONE;
    if (view->all)
        return comment->deleted ? SIGHT_PLACEHOLDER : SIGHT_FULL;
    if (comment_is_own_held(view, comment))
        return in_thread || comment_is_own_held(view, root) ? SIGHT_FULL : SIGHT_NONE;
    if (comment->moderation != COMMENT_VISIBLE || !in_thread)
        return SIGHT_NONE;
    return comment->deleted ? SIGHT_PLACEHOLDER : SIGHT_FULL;
}

void *view_take(struct comment_view *view, size_t count, size_t bytes)
{
    const size_t align = _Alignof(max_align_t);
    uint8_t *memory = store_arena_take(&view->scratch->arena, count * bytes + align);
    if (memory == NULL)
        return NULL;
    return memory + (align - (uintptr_t)memory % align) % align;
}

enum status view_run(struct comment_view *view, struct hot_request *requests, size_t count)
{
    struct query_tier *tier = view->tier;
    if (tier->may_wait)
        tier->functions->run(tier, requests, count, view->scratch);
    else if (!tier->functions->try_run(tier, requests, count, view->scratch))
        return STATUS_BLOCKED;
    for (size_t i = 0; i < count; i++)
        if (requests[i].status != STATUS_OK)
            return requests[i].status;
    return STATUS_OK;
}

static struct comment_votes votes_of(const struct comment_view *view,
                                     const struct hot_answer *answer)
{
    struct comment_votes votes = {0};
    const struct hot_counter *counter = view->scratch->counters + answer->first;
    for (uint32_t i = 0; i < answer->count; i++, counter++) {
        if (counter->name == NAME_INDEX_LIKE)
            votes.likes = counter->value;
        else if (counter->name == view->tier->dislike)
            votes.dislikes = counter->value;
        else if (counter->name == view->tier->report)
            votes.reports = counter->value;
    }
    return votes;
}

enum status comment_present_keys(struct comment_view *view, const struct comment *comments,
                                 size_t count, enum comment_order order, uint64_t *keys)
{
    memset(keys, 0, count * sizeof *keys);
    if (!comment_order_has_key(order) || count == 0)
        return STATUS_OK;
    struct item *items = view_take(view, count, sizeof *items);
    struct hot_answer *answers = view_take(view, count, sizeof *answers);
    if (items == NULL || answers == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        items[i] = comment_item(comments[i].id, view->tier->comment_type);
    for (size_t at = 0; at < count; at += LIMIT_ITEMS) {
        size_t some = count - at < LIMIT_ITEMS ? count - at : LIMIT_ITEMS;
        struct hot_request request = {.action = HOT_COUNTS,
                                      .items = items + at,
                                      .item_count = (uint32_t)some,
                                      .read.answers = answers + at};
        enum status status = view_run(view, &request, 1);
        if (status != STATUS_OK)
            return status;
    }
    for (size_t i = 0; i < count; i++) {
        struct comment_votes votes = votes_of(view, &answers[i]);
        keys[i] = comment_order_key(order, &votes, comments[i].time_s);
    }
    return STATUS_OK;
}
