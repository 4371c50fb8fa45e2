/*
 * Every comment: its row is read again as the projector would write it, from its state and its counters; then each
 * row that it must have is looked for, and its content.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "cli/check_comments.h"
#include "comment/comment_id.h"
#include "comment/content.h"
#include "comment/index.h"

static enum status read_votes(struct comments_check *check, const struct comment *comment,
                              struct comment_votes *votes, int64_t *replies)
{
    struct store_item asked = {.item = comment_item(comment->id, check->type)};
    struct store_values values = {0};
    enum status status = store_read_items(check->reader, NULL, &asked, 1, &values);
    *votes = (struct comment_votes){0};
    *replies = 0;
    for (uint32_t i = 0; i < asked.count && status == STATUS_OK; i++) {
        const struct store_value *value = &values.values[asked.first + i];
        if (value->name == NAME_INDEX_LIKE)
            votes->likes = value->value;
        if (value->name == NAME_INDEX_COMMENT)
            *replies = value->value;
        if (value->name == check->dislike)
            votes->dislikes = value->value;
        if (value->name == check->report)
            votes->reports = value->value;
    }
    free(values.values);
    return status;
}

static enum status check_index(struct comments_check *check, const struct checked_comment *at,
                               const struct comment_votes *votes)
{
    struct comment_index want = comment_index_of(&at->comment, votes);
    const struct comment_index *have = &at->index;
    if (want.listed != have->listed || want.unlisted != have->unlisted)
        return check_bad_comment(check, at->id,
                                 want.listed ? "is not listed, but its state says it is"
                                             : "is listed, but its state says it is not");
    if (want.held != have->held || want.queued != have->queued || want.written != have->written)
        return check_bad_comment(check, at->id, "is in lists that do not fit its state");
    if (want.reported != have->reported)
        return check_bad_comment(
            check, at->id, "has a rank among the reported ones that does not fit its reports");
    for (int order = 0; order < ORDER_TOTAL; order++)
        if (want.keys[order] != have->keys[order]) {
            char what[96];
            snprintf(what, sizeof what, "has a key in the order %s that does not fit its votes",
                     comment_order_text(order));
            return check_bad_comment(check, at->id, what);
        }
    return STATUS_OK;
}

static enum status check_row(struct comments_check *check, uint64_t comment,
                             const struct comment_row *row, enum comment_slot slot)
{
    const struct store_bytes key = {row->key, row->length};
    struct store_bytes value = {0};
    uint64_t id = comment;
    char what[128];
    enum status status = store_read_rows(check->reader, row->table, &key, 1, &value, &check->arena);
    if (status != STATUS_OK)
        return status;
    snprintf(what, sizeof what, "has no row in %s", comment_slot_text(slot));
    if (value.data == NULL)
        return check_bad_comment(check, comment, what);
    if (row->has_id && (row_read_number(value, &id) != STATUS_OK || id != comment)) {
        snprintf(what, sizeof what, "should have a row in %s that another comment has",
                 comment_slot_text(slot));
        return check_bad_comment(check, comment, what);
    }
    if (!row->has_id && value.length > 0)
        return check_bad_comment(check, comment, "has a row with a value that cannot be read");
    return STATUS_OK;
}

/* The rows that this comment must have. */
static enum status check_rows_of(struct comments_check *check, const struct checked_comment *at)
{
    struct comment_row rows[COMMENT_SLOTS];
    enum status status = STATUS_OK;
    comment_index_rows(&at->comment, &at->index, check->type, rows);
    for (int i = 0; i < COMMENT_SLOTS && status == STATUS_OK; i++)
        if (rows[i].length > 0)
            status = check_row(check, at->id, &rows[i], i);
    return status;
}

static enum status check_content(struct comments_check *check, const struct checked_comment *at)
{
    uint8_t bytes[ROW_KEY_MAX];
    const struct store_bytes key = {bytes, (uint32_t)row_key_id(at->id, bytes)};
    struct store_bytes value = {0};
    struct comment_content content;
    enum status status =
        store_read_rows(check->reader, STORE_CONTENT, &key, 1, &value, &check->arena);
    if (status != STATUS_OK)
        return status;
    if (at->comment.deleted && value.data != NULL)
        return check_bad_comment(check, at->id, "is deleted, but its text is still there");
    if (!at->comment.deleted && value.data == NULL)
        return check_bad_comment(check, at->id, "has no text");
    if (value.data != NULL &&
        comment_content_decode(value.data, value.length, &content) != STATUS_OK)
        return check_bad_comment(check, at->id, "has a text that cannot be read");
    return STATUS_OK;
}

static enum status count_rows(struct comments_check *check, void *context,
                              const struct store_row *rows, size_t count)
{
    (void)check, (void)rows;
    *(uint64_t *)context += count;
    return STATUS_OK;
}

/* How many rows of open replies the thread has. */
static enum status count_replies(struct comments_check *check, uint64_t root, uint64_t *replies)
{
    uint8_t group[ROW_KEY_MAX];
    row_key_item(comment_item(root, check->type), group);
    *replies = 0;
    return check_scan_group(check, STORE_FLOOR, group, count_rows, replies);
}

/* A root: n is the number of its open replies, and its counter follows from it. */
static enum status check_root(struct comments_check *check, const struct checked_comment *at,
                              const struct subject *subject, int64_t counted)
{
    uint64_t replies;
    enum status status = count_replies(check, at->id, &replies);
    if (status != STATUS_OK)
        return status;
    if (comment_is_dropped(&at->comment, subject))
        return STATUS_OK; /* its thread is being removed piece by piece */
    if (replies != at->comment.open_replies)
        return check_bad(check,
                         "the store: comment:%" PRIu64 " has %" PRIu64
                         " open replies, but its row says %" PRIu32,
                         at->id, replies, at->comment.open_replies);
    if (counted != comment_root_count(&at->comment))
        return check_bad(check,
                         "the store: comment:%" PRIu64 " has the counter comment %" PRId64
                         ", but it should be %" PRId64,
                         at->id, counted, comment_root_count(&at->comment));
    return STATUS_OK;
}

static enum status check_reply(struct comments_check *check, const struct checked_comment *at,
                               const struct subject *subject, int64_t counted)
{
    struct checked_comment root = {.id = at->comment.root};
    enum status status = check_read_comments(check, &root, 1);
    if (status != STATUS_OK)
        return status;
    if (counted != 0)
        return check_bad_comment(check, at->id, "is a reply, but has a counter comment");
    if (at->comment.open_replies != 0 || at->comment.next_floor != 0)
        return check_bad_comment(check, at->id, "is a reply, but has replies of its own");
    if (!root.found)
        return subject->dropped_floor > 0
                   ? STATUS_OK
                   : check_bad_comment(check, at->id, "answers a root that does not exist");
    if (!comment_is_root(&root.comment) || !item_equal(root.comment.subject, at->comment.subject))
        return check_bad_comment(check, at->id, "answers a root that is none of its subject");
    if (at->comment.floor >= root.comment.next_floor)
        return check_bad_comment(check, at->id, "has a floor that its root has not given yet");
    return STATUS_OK;
}

static enum status check_one(struct comments_check *check, const struct checked_comment *at)
{
    struct comment_votes votes;
    struct subject subject;
    bool found;
    int64_t counted;
    if (check->type == UINT16_MAX)
        return check_bad_comment(check, at->id, "exists, but there is no type comment");
    if (comment_id_ms(at->id) > check->highest_ms)
        return check_bad_comment(check, at->id, "is newer than the newest id");
    enum status status = check_read_subject(check, at->comment.subject, &subject, &found);
    if (status == STATUS_OK && !found)
        status = check_bad_comment(check, at->id, "has a subject without a row");
    if (status == STATUS_OK && comment_is_root(&at->comment) &&
        at->comment.floor >= subject.next_floor)
        status = check_bad_comment(check, at->id, "has a floor that its subject has not given yet");
    if (status == STATUS_OK)
        status = read_votes(check, &at->comment, &votes, &counted);
    if (status == STATUS_OK)
        status = check_index(check, at, &votes);
    if (status == STATUS_OK)
        status = check_rows_of(check, at);
    if (status == STATUS_OK)
        status = check_content(check, at);
    if (status != STATUS_OK)
        return status;
    return comment_is_root(&at->comment) ? check_root(check, at, &subject, counted)
                                         : check_reply(check, at, &subject, counted);
}

static enum status flush_comments(struct comments_check *check, const struct store_row *rows,
                                  size_t count)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        struct checked_comment at = {.found = true};
        if (rows[i].key.length != 8 || !row_read_id(rows[i].key, &at.id) || at.id == COMMENT_NONE)
            return check_bad(check, "the store: a row of a comment has a malformed key");
        if (row_read_comment(rows[i].value, at.id, &at.comment, &at.index) != STATUS_OK)
            return check_bad_comment(check, at.id, "has a row that cannot be read");
        status = check_one(check, &at);
        check->comments++;
    }
    return status;
}

enum status check_comments_own(struct comments_check *check)
{
    return check_visit_rows(check, STORE_COMMENT, flush_comments);
}
