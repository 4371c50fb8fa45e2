#include "query/comments.h"

#include "base/assert.h"
#include "query/comment_cards.h"

static const struct hot_detail no_detail;

static comments_fn *function_of(enum hot_action action)
{
    switch (action) {
    case HOT_COMMENTS:
        return comments_read_page;
    case HOT_SUBJECT:
        return comments_read_subject;
    case HOT_CARDS:
        return comments_read_cards;
    case HOT_WRITTEN:
        return comments_read_written;
    case HOT_INBOX:
        return comments_read_inbox;
    case HOT_COMMENT_NEWS:
        return comments_read_news;
    case HOT_HISTORY:
        return comments_read_history;
    default:
        ASSERT(action == HOT_QUEUE);
        return comments_read_queue;
    }
}

void query_comments(struct query_tier *tier, struct hot_request *request,
                    struct hot_scratch *scratch)
{
    ASSERT(tier->store != NULL);
    if (request->cards.detail == NULL)
        request->cards.detail = &no_detail;
    struct comment_view view = {.tier = tier,
                                .scratch = scratch,
                                .has_reader = request->cards.detail->has_reader,
                                .reader = request->cards.detail->reader,
                                .detail = request->cards.detail,
                                .all = request->cards.all};
    uint32_t cards = scratch->cards_used, pages = scratch->pages_used;
    uint32_t inbox = scratch->inbox_used, versions = scratch->versions_used;
    request->cards.page = cards_page(scratch);
    request->status = request->cards.page == UINT32_MAX
                          ? STATUS_NO_MEMORY
                          : function_of(request->action)(&view, request);
    if (request->status != STATUS_OK) {
        scratch->cards_used = cards;
        scratch->pages_used = pages;
        scratch->inbox_used = inbox;
        scratch->versions_used = versions;
    }
}
