#include "query/comment_first.h"

#include "comment/rows.h"

#define LOOKS_AT_ONCE 100

enum { CLASS_OPEN = 0 }; /* of rows in WRITTEN; these come first */

/* A walk over what a user has written, newest first within a class. */
struct written {
    struct query_tier *tier;
    struct id user;
    uint8_t last[ROW_KEY_MAX]; /* the key of the last row; length 0: the walk begins */
    uint32_t last_length;
    uint8_t classes[LOOKS_AT_ONCE];
    uint64_t ids[LOOKS_AT_ONCE];
    size_t count;
    bool more;
};

static enum status read_keys(struct written *written, const struct store_row *rows)
{
    for (size_t i = 0; i < written->count; i++)
        if (!row_read_written(rows[i].key, NULL, &written->classes[i], &written->ids[i]))
            return STATUS_DAMAGED;
    if (written->count == 0)
        return STATUS_OK;
    written->last_length =
        (uint32_t)row_key_written(written->user, written->classes[written->count - 1],
                                  written->ids[written->count - 1], written->last);
    return STATUS_OK;
}

/* Reads up to `limit` further rows. */
static enum status read_some(struct written *written, size_t limit)
{
    uint8_t key[ROW_KEY_MAX];
    struct store_row rows[LOOKS_AT_ONCE];
    struct store_arena arena = {0};
    size_t group = store_group_length(STORE_WRITTEN);
    struct store_scan scan = {.table = STORE_WRITTEN, .limit_rows = limit};
    row_key_written(written->user, CLASS_OPEN, 0, key);
    scan.group = (struct store_bytes){key, (uint32_t)group};
    if (written->last_length > 0)
        scan.from =
            (struct store_bytes){written->last + group, written->last_length - (uint32_t)group};
    written->count = 0;
    enum status status =
        store_scan_rows(written->tier->store, &scan, rows, &written->count, &written->more, &arena);
    if (status == STATUS_OK)
        status = read_keys(written, rows);
    store_arena_destroy(&arena);
    return status;
}

/* Was any of the comments that were read last ever open? */
static enum status look_at(struct written *written, bool *was_open)
{
    uint8_t bytes[LOOKS_AT_ONCE][8];
    struct store_bytes keys[LOOKS_AT_ONCE], values[LOOKS_AT_ONCE];
    struct store_arena arena = {0};
    for (size_t i = 0; i < written->count; i++)
        keys[i] = row_bytes_id(written->ids[i], bytes[i]);
    enum status status =
        store_read_rows(written->tier->store, STORE_COMMENT, keys, written->count, values, &arena);
    for (size_t i = 0; i < written->count && status == STATUS_OK && !*was_open; i++) {
        struct comment comment;
        if (values[i].data == NULL)
            continue; /* it was removed between the two readings */
        status = row_read_comment(values[i], written->ids[i], &comment, NULL);
        *was_open = status == STATUS_OK && comment.was_open;
    }
    store_arena_destroy(&arena);
    return status;
}

static enum status walk(struct written *written, bool *was_open)
{
    enum status status = STATUS_OK;
    size_t looks = 0;
    written->last_length = 0;
    do {
        status = read_some(written, LOOKS_AT_ONCE);
        if (status == STATUS_OK && written->count > 0) {
            *was_open = written->classes[0] == CLASS_OPEN;
            if (!*was_open)
                status = look_at(written, was_open);
        }
        looks += written->count;
    } while (status == STATUS_OK && !*was_open && written->more && looks < FIRST_LOOKS);
    return status;
}

enum status query_was_open(struct query_tier *tier, struct id user, bool *was_open)
{
    struct written written = {.tier = tier, .user = user};
    *was_open = false;
    if (!tier->may_wait)
        return STATUS_BLOCKED;
    enum status status = read_some(&written, 1);
    if (status != STATUS_OK)
        return status;
    if (written.count > 0 && written.classes[0] == CLASS_OPEN) {
        *was_open = true;
        return STATUS_OK;
    }
    status = tier->functions->reach(tier, tier->functions->any_comment_point(tier));
    return status == STATUS_OK ? walk(&written, was_open) : status;
}
