/*
 * Every row of a list, an order, a queue or a text belongs to a comment that has this row. Together with
 * check_comments_own.c this means that each comment has exactly its rows.
 */
#include <string.h>

#include "base/assert.h"
#include "cli/check_comments.h"
#include "comment/content.h"
#include "comment/index.h"

/* What a table's key and value say of the comment that the row belongs to. False: they are malformed. */
typedef bool read_row_fn(const struct store_row *row, uint64_t *id);

static bool has_key(const struct comment_row *row, struct store_bytes key)
{
    return row->length == key.length && memcmp(row->key, key.data, key.length) == 0;
}

/* Has the comment, as its row describes it, this row in a table? */
static bool owns(const struct comments_check *check, const struct checked_comment *at,
                 const struct store_row *row)
{
    struct comment_row rows[COMMENT_SLOTS];
    comment_index_rows(&at->comment, &at->index, check->type, rows);
    for (int i = 0; i < COMMENT_SLOTS; i++)
        if (rows[i].table == row->table && has_key(&rows[i], row->key))
            return true;
    return false;
}

static const char *table_text(uint8_t table)
{
    return table == STORE_FLOOR     ? "a list by floor"
           : table == STORE_ORDER   ? "an order"
           : table == STORE_WRITTEN ? "the list of an author"
           : table == STORE_QUEUE   ? "a queue"
           : table == STORE_CONTENT ? "the texts"
                                    : "the histories";
}

/* Reads which comments these rows belong to, and their rows. */
static enum status read_owners(struct comments_check *check, const struct store_row *rows,
                               size_t count, read_row_fn *read, struct checked_comment *owners)
{
    for (size_t i = 0; i < count; i++) {
        owners[i] = (struct checked_comment){0};
        if (!read(&rows[i], &owners[i].id))
            return check_bad(check, "the store: a row in %s has a malformed key or value",
                             table_text(rows[i].table));
    }
    enum status status = check_read_comments(check, owners, count);
    for (size_t i = 0; i < count && status == STATUS_OK; i++)
        if (!owners[i].found) {
            char what[96];
            snprintf(what, sizeof what, "does not exist, but has a row in %s",
                     table_text(rows[i].table));
            status = check_bad_comment(check, owners[i].id, what);
        }
    return status;
}

static enum status check_lists(struct comments_check *check, const struct store_row *rows,
                               size_t count, read_row_fn *read)
{
    struct checked_comment owners[CHECK_BATCH];
    enum status status = read_owners(check, rows, count, read, owners);
    for (size_t i = 0; i < count && status == STATUS_OK; i++)
        if (!owns(check, &owners[i], &rows[i])) {
            char what[96];
            snprintf(what, sizeof what, "has a row in %s that it should not have",
                     table_text(rows[i].table));
            status = check_bad_comment(check, owners[i].id, what);
        }
    return status;
}

static bool read_floor(const struct store_row *row, uint64_t *id)
{
    return row_read_floor(row->key, NULL, NULL) && row_read_number(row->value, id) == STATUS_OK;
}

static bool read_order(const struct store_row *row, uint64_t *id)
{
    return (row_read_order(row->key, NULL, NULL, NULL, NULL) ||
            row_read_held(row->key, NULL, NULL, NULL)) &&
           row_read_number(row->value, id) == STATUS_OK;
}

static bool read_written(const struct store_row *row, uint64_t *id)
{
    return row_read_written(row->key, NULL, NULL, id);
}

static bool read_queue(const struct store_row *row, uint64_t *id)
{
    return row_read_queue(row->key, NULL, NULL, NULL, id);
}

static bool read_content(const struct store_row *row, uint64_t *id)
{
    return row->key.length == 8 && row_read_id(row->key, id);
}

static bool read_history(const struct store_row *row, uint64_t *id)
{
    return row_read_history(row->key, id, NULL);
}

static enum status flush_floor(struct comments_check *check, const struct store_row *rows,
                               size_t count)
{
    return check_lists(check, rows, count, read_floor);
}

/* A floor is used once: a comment that is not listed must not have that of a listed one. */
static enum status check_unlisted(struct comments_check *check, const struct store_row *row)
{
    struct item parent;
    uint8_t order, bytes[ROW_KEY_MAX];
    uint32_t floor;
    struct store_bytes value = {0};
    uint64_t id = COMMENT_NONE;
    if (!row_read_order(row->key, &parent, &order, NULL, &floor) || order != ROWS_UNLISTED)
        return STATUS_OK;
    const struct store_bytes key = {bytes, (uint32_t)row_key_floor(parent, floor, bytes)};
    enum status status =
        store_read_rows(check->reader, STORE_FLOOR, &key, 1, &value, &check->arena);
    if (status != STATUS_OK || value.data == NULL)
        return status;
    (void)row_read_number(row->value, &id); /* check_lists has read it */
    return check_bad_comment(check, id, "has the same floor as another one");
}

static enum status flush_order(struct comments_check *check, const struct store_row *rows,
                               size_t count)
{
    enum status status = check_lists(check, rows, count, read_order);
    for (size_t i = 0; i < count && status == STATUS_OK; i++)
        status = check_unlisted(check, &rows[i]);
    return status;
}

static enum status flush_written(struct comments_check *check, const struct store_row *rows,
                                 size_t count)
{
    return check_lists(check, rows, count, read_written);
}

static enum status flush_queue(struct comments_check *check, const struct store_row *rows,
                               size_t count)
{
    return check_lists(check, rows, count, read_queue);
}

/* That a comment has the right content is seen with the comment itself; here only whether it exists. */
static enum status flush_content(struct comments_check *check, const struct store_row *rows,
                                 size_t count)
{
    struct checked_comment owners[CHECK_BATCH];
    return read_owners(check, rows, count, read_content, owners);
}

static enum status check_version(struct comments_check *check, const struct store_row *row,
                                 const struct checked_comment *at)
{
    struct comment_content content;
    uint32_t number = 0, versions = at->comment.versions;
    bool read = row_read_history(row->key, NULL, &number);
    ASSERT(read); /* read_owners has read it */
    if (at->comment.deleted)
        return check_bad_comment(check, at->id, "is deleted, but an earlier text is still there");
    if (number == 0 || number > versions || versions - number >= LIMIT_VERSIONS)
        return check_bad_comment(check, at->id, "has an earlier text with a wrong number");
    if (comment_content_decode(row->value.data, row->value.length, &content) != STATUS_OK)
        return check_bad_comment(check, at->id, "has an earlier text that cannot be read");
    return STATUS_OK;
}

static enum status flush_history(struct comments_check *check, const struct store_row *rows,
                                 size_t count)
{
    struct checked_comment owners[CHECK_BATCH];
    enum status status = read_owners(check, rows, count, read_history, owners);
    for (size_t i = 0; i < count && status == STATUS_OK; i++)
        status = check_version(check, &rows[i], &owners[i]);
    return status;
}

enum status check_comments_rows(struct comments_check *check)
{
    enum status status = check_visit_rows(check, STORE_FLOOR, flush_floor);
    if (status == STATUS_OK)
        status = check_visit_rows(check, STORE_ORDER, flush_order);
    if (status == STATUS_OK)
        status = check_visit_rows(check, STORE_WRITTEN, flush_written);
    if (status == STATUS_OK)
        status = check_visit_rows(check, STORE_QUEUE, flush_queue);
    if (status == STATUS_OK)
        status = check_visit_rows(check, STORE_CONTENT, flush_content);
    return status == STATUS_OK ? check_visit_rows(check, STORE_HISTORY, flush_history) : status;
}
