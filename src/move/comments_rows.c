/* Rows of comments during an import: from the overlay, and otherwise from the store. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/assert.h"
#include "move/comments_private.h"

#define ROWS_A_LINE 8 /* No line sets more rows. */

static enum status memory_make(struct import *import)
{
    struct memory_budget *budget = import->options.carry.budget;
    size_t bytes = sizeof *import->comments + overlay_bytes();
    if (!memory_charge(budget, bytes))
        return import_fail(import, STATUS_NO_MEMORY, "there is no memory for comments");
    import->charged_bytes += bytes;
    struct import_comments *comments = calloc(1, sizeof *comments);
    if (comments != NULL)
        comments->overlay = overlay_new(import->options.reader, import->options.carry.seed);
    import->comments = comments;
    if (comments == NULL || comments->overlay == NULL)
        return import_fail(import, STATUS_NO_MEMORY, "there is no memory for comments");
    return STATUS_OK;
}

/* Options may list the types that can be used; then every comment is refused. */
static enum status type_find(struct import *import)
{
    struct import_comments *comments = import->comments;
    enum status status = STATUS_OK;
    if (!comments->has_type)
        status = import_type(import, text_from(COMMENT_TYPE_NAME), &comments->type);
    comments->has_type = status == STATUS_OK;
    return status;
}

void import_comments_free(struct import *import)
{
    if (import->comments != NULL)
        overlay_free(import->comments->overlay);
    free(import->comments);
}

enum status import_begin_comment(struct import *import)
{
    if (import->failed != STATUS_OK)
        return import->failed;
    ASSERT(!import->finished);
    enum status status = import->comments != NULL ? STATUS_OK : memory_make(import);
    if (status == STATUS_OK)
        status = type_find(import);
    if (status != STATUS_OK || overlay_has_room(import->comments->overlay, ROWS_A_LINE))
        return status;
    status = import_flush(import);
    overlay_clear(import->comments->overlay);
    return status;
}

enum status import_refuse(struct import *import, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(import->problem, sizeof import->problem, format, arguments);
    va_end(arguments);
    return STATUS_BAD_ARGUMENT;
}

enum status import_damaged(struct import *import)
{
    return import_fail(import, STATUS_DAMAGED, "a row of a comment in the store is damaged");
}

static enum status read_row(struct import *import, enum store_table table, const uint8_t *key,
                            size_t length, struct store_bytes *value, bool *here)
{
    enum status status = overlay_read(import->comments->overlay, table, key, length, value, here);
    return status == STATUS_OK ? status
                               : import_fail(import, status, "the existing data cannot be read: %s",
                                             status_sentence(status));
}

enum status import_read_row(struct import *import, enum store_table table, const uint8_t *key,
                            size_t length, struct store_bytes *value)
{
    return read_row(import, table, key, length, value, NULL);
}

enum status import_read_subject(struct import *import, struct item item, struct subject *out)
{
    uint8_t key[ROW_KEY_MAX];
    struct store_bytes value;
    enum status status =
        read_row(import, STORE_SUBJECT, key, row_key_item(item, key), &value, NULL);
    *out = subject_new(item);
    if (status == STATUS_OK && value.data != NULL &&
        row_read_subject(value, item, out) != STATUS_OK)
        return import_damaged(import);
    return status;
}

enum status import_read_comment(struct import *import, uint64_t id, struct comment *out,
                                bool *found, bool *here)
{
    uint8_t key[ROW_KEY_MAX];
    struct store_bytes value;
    enum status status = read_row(import, STORE_COMMENT, key, row_key_id(id, key), &value, here);
    *found = status == STATUS_OK && value.data != NULL;
    if (*found && row_read_comment(value, id, out, NULL) != STATUS_OK)
        return import_damaged(import);
    return status;
}

static enum status read_number(struct import *import, enum store_table table, const uint8_t *key,
                               size_t length, uint64_t *id)
{
    struct store_bytes value;
    *id = COMMENT_NONE;
    enum status status = read_row(import, table, key, length, &value, NULL);
    if (status == STATUS_OK && value.data != NULL && row_read_number(value, id) != STATUS_OK)
        return import_damaged(import);
    return status;
}

/* The overlay has the floors of all its comments in the table FLOOR, whether they are listed or not. */
enum status import_read_floor(struct import *import, struct item parent, uint32_t floor,
                              uint64_t *id)
{
    uint8_t key[ROW_KEY_MAX];
    enum status status =
        read_number(import, STORE_FLOOR, key, row_key_floor(parent, floor, key), id);
    if (status != STATUS_OK || *id != COMMENT_NONE)
        return status;
    return read_number(import, STORE_ORDER, key, row_key_unlisted(parent, floor, key), id);
}

void import_set_subject(struct import *import, const struct subject *subject)
{
    uint8_t key[ROW_KEY_MAX], value[ROW_COMMENT_MAX];
    overlay_set(import->comments->overlay, STORE_SUBJECT, key, row_key_item(subject->item, key),
                value, row_write_subject(subject, value));
}

void import_set_comment(struct import *import, const struct comment *comment)
{
    static const struct comment_index index;
    uint8_t key[ROW_KEY_MAX], value[ROW_COMMENT_MAX];
    overlay_set(import->comments->overlay, STORE_COMMENT, key, row_key_id(comment->id, key), value,
                row_write_comment(comment, &index, value));
}

void import_set_floor(struct import *import, struct item parent, uint32_t floor, uint64_t id)
{
    uint8_t key[ROW_KEY_MAX], value[ROW_COMMENT_MAX];
    overlay_set(import->comments->overlay, STORE_FLOOR, key, row_key_floor(parent, floor, key),
                value, row_write_number(id, value));
}

enum status import_record(struct import *import, enum comment_event kind, struct id user,
                          struct item item, const struct comment_body *body)
{
    struct event event = {.type = EVENT_COMMENT,
                          .name = (uint8_t)kind,
                          .time_s = import->options.recorded_s,
                          .user = user,
                          .item = item,
                          .body = import->comments->body};
    event.body_length = (uint32_t)comment_body_encode(kind, body, import->comments->body);
    enum status status = record_event(&import->record, &event);
    return status == STATUS_OK ? status : import_fail_journal(import, status);
}
