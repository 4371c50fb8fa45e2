#include "comment/index.h"

#include "base/assert.h"
#include "comment/comment_id.h"

struct comment_index comment_index_of(const struct comment *comment,
                                      const struct comment_votes *votes)
{
    struct comment_index index = {.listed = comment_is_listed(comment)};
    index.unlisted = !index.listed;
    index.written = comment->anonymous ? 0 : comment_is_open(comment) ? 1 : 2;
    if (!comment->deleted) {
        index.held =
            comment->moderation == COMMENT_PENDING || comment->moderation == COMMENT_SHADOW;
        index.queued = comment->moderation == COMMENT_PENDING  ? QUEUE_PENDING + 1
                       : comment->moderation == COMMENT_HIDDEN ? QUEUE_HIDDEN + 1
                                                               : 0;
    }
    if (comment_is_open(comment) && votes->reports > (int64_t)comment->reviewed) {
        int64_t more = votes->reports - comment->reviewed;
        index.reported = more < UINT32_MAX ? (uint32_t)more : UINT32_MAX;
    }
    for (int order = 0; order < ORDER_TOTAL && index.listed && comment_is_root(comment); order++)
        if (comment_order_has_key(order))
            index.keys[order] = comment_order_key(order, votes, comment->time_s);
    return index;
}

struct item comment_parent(const struct comment *comment, uint16_t type)
{
    return comment_is_root(comment) ? comment->subject : comment_item(comment->root, type);
}

/* The rows by which lists of the parent are read. */
static void list_rows(const struct comment *comment, const struct comment_index *index,
                      uint16_t type, struct comment_row *rows)
{
    static const enum comment_order orders[] = {ORDER_TOP, ORDER_BEST, ORDER_HOT,
                                                ORDER_CONTROVERSIAL};
    struct item parent = comment_parent(comment, type);
    struct comment_row *row = &rows[COMMENT_SLOT_FLOOR];
    row->table = STORE_FLOOR;
    if (index->listed)
        row->length = (uint32_t)row_key_floor(parent, comment->floor, row->key);
    row = &rows[COMMENT_SLOT_UNLISTED];
    if (index->unlisted)
        row->length = (uint32_t)row_key_unlisted(parent, comment->floor, row->key);
    for (unsigned i = 0; i < 4 && index->listed && comment_is_root(comment); i++) {
        row = &rows[COMMENT_SLOT_TOP + i];
        row->length = (uint32_t)row_key_order(parent, orders[i], index->keys[orders[i]],
                                              comment->floor, row->key);
    }
    row = &rows[COMMENT_SLOT_HELD];
    if (index->held)
        row->length =
            (uint32_t)row_key_held(comment->subject, comment->author, comment->id, row->key);
}

/* The rows of the author's list and of the queues, which have no value. */
static void other_rows(const struct comment *comment, const struct comment_index *index,
                       struct comment_row *rows)
{
    uint16_t type = comment->subject.type;
    struct comment_row *row = &rows[COMMENT_SLOT_WRITTEN];
    *row = (struct comment_row){.table = STORE_WRITTEN};
    if (index->written != 0)
        row->length = (uint32_t)row_key_written(comment->author, (uint8_t)(index->written - 1),
                                                comment->id, row->key);
    row = &rows[COMMENT_SLOT_QUEUED];
    *row = (struct comment_row){.table = STORE_QUEUE};
    if (index->queued != 0)
        row->length = (uint32_t)row_key_queue(type, (enum queue_state)(index->queued - 1), 0,
                                              comment->id, row->key);
    row = &rows[COMMENT_SLOT_REPORTED];
    *row = (struct comment_row){.table = STORE_QUEUE};
    if (index->reported != 0)
        row->length =
            (uint32_t)row_key_queue(type, QUEUE_REPORTED, index->reported, comment->id, row->key);
}

void comment_index_rows(const struct comment *comment, const struct comment_index *index,
                        uint16_t type, struct comment_row rows[COMMENT_SLOTS])
{
    for (int i = 0; i < COMMENT_SLOTS; i++)
        rows[i] = (struct comment_row){.table = STORE_ORDER, .has_id = true};
    list_rows(comment, index, type, rows);
    other_rows(comment, index, rows);
}

const char *comment_slot_text(enum comment_slot slot)
{
    static const char *const texts[] = {
        [COMMENT_SLOT_FLOOR] = "the list by floor",
        [COMMENT_SLOT_UNLISTED] = "the list of those that are not listed",
        [COMMENT_SLOT_TOP] = "the order top",
        [COMMENT_SLOT_BEST] = "the order best",
        [COMMENT_SLOT_HOT] = "the order hot",
        [COMMENT_SLOT_CONTROVERSIAL] = "the order controversial",
        [COMMENT_SLOT_HELD] = "the list of pending and shadow ones",
        [COMMENT_SLOT_WRITTEN] = "the list of its author",
        [COMMENT_SLOT_QUEUED] = "the queue of its state",
        [COMMENT_SLOT_REPORTED] = "the queue of reported ones",
    };
    ASSERT((size_t)slot < sizeof texts / sizeof texts[0]);
    return texts[slot];
}
