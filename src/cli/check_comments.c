#include "cli/check_comments.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "comment/comment_id.h"
#include "comment/restore.h"

enum status check_bad(struct comments_check *check, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(check->check->problem, sizeof check->check->problem, format, arguments);
    va_end(arguments);
    return STATUS_DAMAGED;
}

enum status check_bad_comment(struct comments_check *check, uint64_t id, const char *what)
{
    return check_bad(check, "the store: comment:%" PRIu64 " %s", id, what);
}

enum status check_bad_item(struct comments_check *check, struct item item, const char *what)
{
    char id[LIMIT_ID_TEXT + 1];
    const struct names *names = check->check->names;
    id[id_format(item.id, id)] = '\0';
    if (item.type >= names_type_count(names))
        return check_bad(check, "the store: #%u:%s %s", item.type, id, what);
    return check_bad(check, "the store: %s:%s %s", names_type(names, item.type)->text, id, what);
}

enum status check_bad_user(struct comments_check *check, struct id user, const char *what)
{
    char id[LIMIT_ID_TEXT + 1];
    id[id_format(user, id)] = '\0';
    return check_bad(check, "the store: user %s %s", id, what);
}

static enum status flush(struct check_rows *batch)
{
    enum status status = STATUS_OK;
    if (batch->count > 0)
        status = batch->flush(batch->check, batch->rows, batch->count);
    batch->count = 0;
    store_arena_empty(&batch->arena);
    store_arena_empty(&batch->check->arena);
    return status;
}

static enum status take_row(void *context, const struct store_row *row)
{
    struct check_rows *batch = context;
    struct store_row copy = *row;
    copy.key.data = store_arena_copy(&batch->arena, row->key.data, row->key.length);
    copy.value.data = store_arena_copy(&batch->arena, row->value.data, row->value.length);
    if (copy.key.data == NULL || copy.value.data == NULL)
        return STATUS_NO_MEMORY;
    batch->rows[batch->count++] = copy;
    return batch->count == CHECK_BATCH ? flush(batch) : STATUS_OK;
}

enum status check_visit_rows(struct comments_check *check, enum store_table table,
                             enum status (*flush_rows)(struct comments_check *check,
                                                       const struct store_row *rows, size_t count))
{
    struct check_rows *batch = calloc(1, sizeof *batch);
    if (batch == NULL)
        return STATUS_NO_MEMORY;
    batch->check = check;
    batch->flush = flush_rows;
    const struct store_visitor visitor = {
        .row = take_row, .tables = store_table_bit(table), .context = batch};
    enum status status = store_visit(&check->check->store->admin, &visitor);
    if (status == STATUS_OK)
        status = flush(batch);
    store_arena_destroy(&batch->arena);
    free(batch);
    return status;
}

enum status check_scan_group(struct comments_check *check, enum store_table table,
                             const uint8_t *group, check_scan_fn *take, void *context)
{
    struct store_row rows[CHECK_BATCH];
    struct store_scan scan = {.table = table,
                              .group = {group, (uint32_t)store_group_length(table)},
                              .limit_rows = CHECK_BATCH};
    struct store_arena arena = {0};
    uint8_t from[STORE_REST_MAX];
    size_t count = 0;
    bool more = true;
    enum status status = STATUS_OK;
    while (more && status == STATUS_OK) {
        status = store_scan_rows(check->reader, &scan, rows, &count, &more, &arena);
        if (status != STATUS_OK || count == 0)
            break;
        status = take(check, context, rows, count);
        struct store_bytes last = rows[count - 1].key;
        scan.from = (struct store_bytes){from, last.length - scan.group.length};
        memcpy(from, last.data + scan.group.length, scan.from.length);
        store_arena_empty(&arena);
    }
    store_arena_destroy(&arena);
    return status;
}

enum status check_read_comments(struct comments_check *check, struct checked_comment *comments,
                                size_t count)
{
    uint8_t keys[CHECK_BATCH][ROW_KEY_MAX];
    struct store_bytes wanted[CHECK_BATCH], values[CHECK_BATCH];
    ASSERT(count <= CHECK_BATCH);
    if (count == 0)
        return STATUS_OK;
    for (size_t i = 0; i < count; i++)
        wanted[i] = row_bytes_id(comments[i].id, keys[i]);
    enum status status =
        store_read_rows(check->reader, STORE_COMMENT, wanted, count, values, &check->arena);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        struct checked_comment *at = &comments[i];
        at->found = values[i].data != NULL;
        if (at->found && row_read_comment(values[i], at->id, &at->comment, &at->index) != STATUS_OK)
            status = check_bad_comment(check, at->id, "has a row that cannot be read");
    }
    return status;
}

enum status check_read_subject(struct comments_check *check, struct item item,
                               struct subject *subject, bool *found)
{
    uint8_t key[ROW_KEY_MAX];
    const struct store_bytes wanted = {key, (uint32_t)row_key_item(item, key)};
    struct store_bytes value = {0};
    enum status status =
        store_read_rows(check->reader, STORE_SUBJECT, &wanted, 1, &value, &check->arena);
    *found = status == STATUS_OK && value.data != NULL;
    if (*found && row_read_subject(value, item, subject) != STATUS_OK)
        status = check_bad_item(check, item, "has a row of a subject that cannot be read");
    return status;
}

enum status check_read_count(struct comments_check *check, struct item item, uint8_t name,
                             int64_t *value)
{
    struct store_item asked = {.item = item};
    struct store_values values = {0};
    enum status status = store_read_items(check->reader, NULL, &asked, 1, &values);
    *value = 0;
    for (uint32_t i = 0; i < asked.count && status == STATUS_OK; i++)
        if (values.values[asked.first + i].name == name)
            *value = values.values[asked.first + i].value;
    free(values.values);
    return status;
}

static uint8_t find_kind(const struct names *names, const char *text)
{
    int index = names_find(names, text, strlen(text));
    bool is_kind = index >= 0 && names_get(names, (uint8_t)index)->role == NAME_KIND;
    return is_kind ? (uint8_t)index : UINT8_MAX;
}

/* What all steps need: names, and what is kept once. */
static enum status prepare(struct comments_check *check)
{
    struct comment_kinds kinds;
    const struct names *names = check->check->names;
    bool found;
    int type = names_find_type(names, COMMENT_TYPE_NAME, strlen(COMMENT_TYPE_NAME));
    check->type = type >= 0 ? (uint16_t)type : UINT16_MAX;
    enum status status = comment_restore_ms(check->reader, &check->highest_ms);
    if (status == STATUS_DAMAGED)
        return check_bad(check, "the store: the row of the newest id cannot be read");
    if (status == STATUS_OK)
        status = comment_restore_kinds(check->reader, &kinds, &found);
    if (status == STATUS_DAMAGED)
        return check_bad(check, "the store: the row of the kinds cannot be read");
    check->dislike = find_kind(names, kinds.dislike);
    check->report = find_kind(names, kinds.report);
    return status;
}

enum status check_comments(struct check_store *store)
{
    typedef enum status step_fn(struct comments_check * check);
    static step_fn *const steps[] = {prepare, check_comments_own, check_comments_rows,
                                     check_comments_counts, check_comments_users};
    struct comments_check check = {.check = store, .reader = &store->store->reader};
    enum status status = STATUS_OK;
    store->problem[0] = '\0';
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && status == STATUS_OK; i++)
        status = steps[i](&check);
    store_arena_destroy(&check.arena);
    if (status != STATUS_OK && store->problem[0] == '\0')
        check_bad(&check, "the store: comments cannot be read: %s", status_sentence(status));
    if (status == STATUS_OK && check.subjects > 0)
        fprintf(store->summary, "comments    %" PRIu64 " on %" PRIu64 " subjects\n", check.comments,
                check.subjects);
    return status;
}
