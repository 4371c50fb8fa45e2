/* Which rows a store must have, comment by comment, as the table in comment/rows.h says it. */
#include <string.h>

#include "comment/comment_id.h"
#include "comment_world.h"

void cw_rows_add(struct cw_rows *rows, unsigned table, const uint8_t *key, size_t length,
                 const uint8_t *value, size_t value_length)
{
    if (rows->count == rows->room) {
        rows->room = rows->room == 0 ? 256 : rows->room * 2;
        rows->at = realloc(rows->at, rows->room * sizeof *rows->at);
        assert_non_null(rows->at);
    }
    struct cw_row *row = &rows->at[rows->count++];
    assert_true(length <= sizeof row->key && value_length <= sizeof row->value);
    memset(row, 0, sizeof *row);
    row->table = (uint8_t)table;
    row->key_length = (uint8_t)length;
    row->value_length = (uint32_t)value_length;
    memcpy(row->key, key, length);
    if (value_length > 0)
        memcpy(row->value, value, value_length);
}

static int compare(const void *a, const void *b)
{
    const struct cw_row *first = a, *second = b;
    if (first->table != second->table)
        return (int)first->table - (int)second->table;
    int order = memcmp(first->key, second->key, sizeof first->key);
    return order != 0 ? order : (int)first->key_length - (int)second->key_length;
}

void cw_rows_sort(struct cw_rows *rows)
{
    if (rows->count > 0)
        qsort(rows->at, rows->count, sizeof *rows->at, compare);
}

void cw_rows_free(struct cw_rows *rows)
{
    free(rows->at);
    *rows = (struct cw_rows){0};
}

struct comment_votes cw_votes(const struct cw_comment *comment)
{
    struct comment_votes votes = {0};
    for (unsigned user = 0; user < CW_USERS; user++) {
        votes.likes += comment->votes[user][0];
        votes.dislikes += comment->votes[user][1];
        votes.reports += comment->votes[user][2];
    }
    return votes;
}

static void add_lists(struct cw_rows *rows, const struct comment *comment,
                      const struct comment_votes *votes, struct comment_index *index)
{
    uint8_t key[ROW_KEY_MAX], value[ROW_COMMENT_MAX];
    size_t length = row_write_number(comment->id, value);
    bool root = comment->root == COMMENT_NONE;
    struct item parent = root ? comment->subject : comment_item(comment->root, CW_TYPE_COMMENT);
    index->listed = comment_is_listed(comment);
    index->unlisted = !index->listed;
    if (index->unlisted)
        cw_rows_add(rows, STORE_ORDER, key, row_key_unlisted(parent, comment->floor, key), value,
                    length);
    else
        cw_rows_add(rows, STORE_FLOOR, key, row_key_floor(parent, comment->floor, key), value,
                    length);
    static const enum comment_order orders[] = {ORDER_TOP, ORDER_BEST, ORDER_HOT,
                                                ORDER_CONTROVERSIAL};
    for (size_t i = 0; i < 4 && index->listed && root; i++) {
        uint64_t rank = comment_order_key(orders[i], votes, comment->time_s);
        index->keys[orders[i]] = rank;
        cw_rows_add(rows, STORE_ORDER, key,
                    row_key_order(parent, orders[i], rank, comment->floor, key), value, length);
    }
    index->held = !comment->deleted &&
                  (comment->moderation == COMMENT_PENDING || comment->moderation == COMMENT_SHADOW);
    if (index->held)
        cw_rows_add(rows, STORE_ORDER, key,
                    row_key_held(comment->subject, comment->author, comment->id, key), value,
                    length);
}

static void add_queues(struct cw_rows *rows, const struct comment *comment,
                       const struct comment_votes *votes, struct comment_index *index)
{
    uint8_t key[ROW_KEY_MAX];
    uint16_t type = comment->subject.type;
    bool open = comment->moderation == COMMENT_VISIBLE && !comment->deleted;
    if (!comment->anonymous) {
        index->written = open ? 1 : 2;
        cw_rows_add(rows, STORE_WRITTEN, key,
                    row_key_written(comment->author, !open, comment->id, key), NULL, 0);
    }
    if (!comment->deleted && comment->moderation == COMMENT_PENDING) {
        index->queued = 1;
        cw_rows_add(rows, STORE_QUEUE, key, row_key_queue(type, QUEUE_PENDING, 0, comment->id, key),
                    NULL, 0);
    }
    if (!comment->deleted && comment->moderation == COMMENT_HIDDEN) {
        index->queued = 2;
        cw_rows_add(rows, STORE_QUEUE, key, row_key_queue(type, QUEUE_HIDDEN, 0, comment->id, key),
                    NULL, 0);
    }
    if (open && votes->reports > (int64_t)comment->reviewed) {
        index->reported = (uint32_t)(votes->reports - comment->reviewed);
        cw_rows_add(rows, STORE_QUEUE, key,
                    row_key_queue(type, QUEUE_REPORTED, index->reported, comment->id, key), NULL,
                    0);
    }
}

static void add_texts(struct cw_rows *rows, const struct cw_comment *at)
{
    uint8_t key[ROW_KEY_MAX];
    if (at->comment.deleted)
        return;
    cw_rows_add(rows, STORE_CONTENT, key, row_key_id(at->comment.id, key), at->content.bytes,
                at->content.length);
    for (uint32_t number = 1; number <= at->comment.versions; number++)
        if (at->comment.versions - number < LIMIT_VERSIONS)
            cw_rows_add(rows, STORE_HISTORY, key, row_key_history(at->comment.id, number, key),
                        at->versions[number].bytes, at->versions[number].length);
}

static void add_user(struct cw_rows *rows, const struct cw_user *user, struct id id)
{
    uint8_t key[ROW_KEY_MAX], value[ROW_COMMENT_MAX];
    if (user->ban.until_s != 0)
        cw_rows_add(rows, STORE_USER, key, row_key_user(id, 'b', key), value,
                    row_write_ban(&user->ban, value));
    if (user->state.newest == 0)
        return;
    cw_rows_add(rows, STORE_USER, key, row_key_user(id, 'i', key), value,
                row_write_inbox_state(&user->state, value));
    for (uint32_t number = 1; number <= user->state.newest; number++)
        if (user->state.newest - number < LIMIT_INBOX)
            cw_rows_add(rows, STORE_INBOX, key, row_key_inbox(id, number, key), value,
                        row_write_inbox(&user->entries[number], value));
}

void comment_world_rows(const struct comment_world *world, struct cw_rows *rows)
{
    uint8_t key[ROW_KEY_MAX], value[ROW_COMMENT_MAX];
    uint64_t highest = 0;
    *rows = (struct cw_rows){0};
    for (unsigned i = 0; i < CW_SUBJECTS; i++)
        if (world->has_row[i])
            cw_rows_add(rows, STORE_SUBJECT, key, row_key_item(world->subjects[i].item, key), value,
                        row_write_subject(&world->subjects[i], value));
    for (size_t i = 0; i < world->comment_count; i++) {
        const struct cw_comment *at = &world->comments[i];
        struct comment_votes votes = cw_votes(at);
        struct comment_index index = {0};
        uint64_t ms = comment_id_ms(at->comment.id);
        highest = ms > highest ? ms : highest;
        if (at->removed)
            continue;
        add_lists(rows, &at->comment, &votes, &index);
        add_queues(rows, &at->comment, &votes, &index);
        add_texts(rows, at);
        cw_rows_add(rows, STORE_COMMENT, key, row_key_id(at->comment.id, key), value,
                    row_write_comment(&at->comment, &index, value));
    }
    for (unsigned i = 0; i < CW_USERS; i++)
        add_user(rows, &world->users[i], cw_user(i));
    if (highest > 0)
        cw_rows_add(rows, STORE_STATE, key, row_key_state('i', key), value,
                    row_write_number(highest, value));
    const struct comment_kinds kinds = {.dislike = "dislike", .report = "report"};
    if (highest > 0)
        cw_rows_add(rows, STORE_STATE, key, row_key_state('k', key), value,
                    row_write_kinds(&kinds, value));
    cw_rows_sort(rows);
}
