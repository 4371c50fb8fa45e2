#include "comment/restore.h"

#include "comment/rows.h"

struct ban_visit {
    comment_ban_fn *ban;
    void *context;
};

static enum status visit_user(void *context, const struct store_row *row)
{
    const struct ban_visit *visit = context;
    struct id user;
    struct user_ban ban;
    uint8_t what;
    if (!row_read_user(row->key, &user, &what))
        return STATUS_DAMAGED;
    if (what != 'b')
        return STATUS_OK;
    enum status status = row_read_ban(row->value, &ban);
    return status == STATUS_OK ? visit->ban(visit->context, user, ban) : status;
}

enum status comment_restore_bans(struct store_admin *admin, comment_ban_fn *ban, void *context)
{
    struct ban_visit visit = {ban, context};
    const struct store_visitor visitor = {
        .row = visit_user, .tables = store_table_bit(STORE_USER), .context = &visit};
    return store_visit(admin, &visitor);
}

/* The row of STATE; its data is NULL if there is none. */
static enum status read_state(struct store_reader *reader, uint8_t what, struct store_bytes *value,
                              struct store_arena *arena)
{
    uint8_t key[ROW_KEY_MAX];
    const struct store_bytes keys = {key, (uint32_t)row_key_state(what, key)};
    *value = (struct store_bytes){0};
    return store_read_rows(reader, STORE_STATE, &keys, 1, value, arena);
}

enum status comment_restore_ms(struct store_reader *reader, uint64_t *ms)
{
    struct store_bytes value;
    struct store_arena arena = {0};
    *ms = 0;
    enum status status = read_state(reader, 'i', &value, &arena);
    if (status == STATUS_OK && value.data != NULL)
        status = row_read_number(value, ms);
    store_arena_destroy(&arena);
    return status;
}

enum status comment_restore_kinds(struct store_reader *reader, struct comment_kinds *kinds,
                                  bool *found)
{
    struct store_bytes value;
    struct store_arena arena = {0};
    *kinds = (struct comment_kinds){0};
    enum status status = read_state(reader, 'k', &value, &arena);
    *found = status == STATUS_OK && value.data != NULL;
    if (*found)
        status = row_read_kinds(value, kinds);
    store_arena_destroy(&arena);
    return status;
}
