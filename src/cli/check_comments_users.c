/* Rows of users: bans, and inboxes, which have all entries that their state says; and what is kept once. */
#include "cli/check_comments.h"

static enum status read_inbox_state(struct comments_check *check, struct id user,
                                    struct inbox_state *state)
{
    uint8_t bytes[ROW_KEY_MAX];
    const struct store_bytes key = {bytes, (uint32_t)row_key_user(user, 'i', bytes)};
    struct store_bytes value = {0};
    *state = (struct inbox_state){0};
    enum status status = store_read_rows(check->reader, STORE_USER, &key, 1, &value, &check->arena);
    if (status == STATUS_OK && value.data != NULL &&
        row_read_inbox_state(value, state) != STATUS_OK)
        status = check_bad_user(check, user, "has an inbox whose state cannot be read");
    return status;
}

static enum status flush_inbox(struct comments_check *check, const struct store_row *rows,
                               size_t count)
{
    struct inbox_state state = {0};
    struct id before = {0};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        struct inbox_entry entry;
        struct id user;
        uint32_t number;
        if (!row_read_inbox(rows[i].key, &user, &number))
            return check_bad(check, "the store: an entry of an inbox has a malformed key");
        if (row_read_inbox_entry(rows[i].value, &entry) != STATUS_OK)
            return check_bad_user(check, user, "has an entry in the inbox that cannot be read");
        if (i == 0 || !id_equal(user, before))
            status = read_inbox_state(check, user, &state);
        before = user;
        if (status == STATUS_OK &&
            (number == 0 || number > state.newest || state.newest - number >= LIMIT_INBOX))
            status = check_bad_user(check, user, "has an entry in the inbox with a wrong number");
    }
    return status;
}

static enum status count_entries(struct comments_check *check, void *context,
                                 const struct store_row *rows, size_t count)
{
    (void)check, (void)rows;
    *(uint64_t *)context += count;
    return STATUS_OK;
}

/* All entries that the state says are there. An entry more would have a wrong number. */
static enum status check_inbox(struct comments_check *check, struct id user,
                               const struct inbox_state *state)
{
    uint8_t group[ROW_KEY_MAX];
    uint64_t entries = 0, want = state->newest < LIMIT_INBOX ? state->newest : LIMIT_INBOX;
    row_key_inbox(user, 0, group);
    enum status status = check_scan_group(check, STORE_INBOX, group, count_entries, &entries);
    if (status == STATUS_OK && entries != want)
        status = check_bad_user(check, user, "has an inbox with missing entries");
    return status;
}

static enum status check_user(struct comments_check *check, const struct store_row *row)
{
    struct inbox_state state;
    struct user_ban ban;
    struct id user;
    uint8_t what;
    if (!row_read_user(row->key, &user, &what))
        return check_bad(check, "the store: a row of a user has a malformed key");
    if (what == 'b')
        return row_read_ban(row->value, &ban) == STATUS_OK && ban.until_s != 0
                   ? STATUS_OK
                   : check_bad_user(check, user, "has a ban that cannot be read");
    if (row_read_inbox_state(row->value, &state) != STATUS_OK)
        return check_bad_user(check, user, "has an inbox whose state cannot be read");
    if (state.newest == 0 || state.seen > state.newest)
        return check_bad_user(check, user, "has seen entries of an inbox that were never there");
    return check_inbox(check, user, &state);
}

static enum status flush_users(struct comments_check *check, const struct store_row *rows,
                               size_t count)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        store_arena_empty(&check->arena);
        status = check_user(check, &rows[i]);
    }
    return status;
}

/* The values were read before (check_comments.c). */
static enum status flush_state(struct comments_check *check, const struct store_row *rows,
                               size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i].key.length != 1 || (rows[i].key.data[0] != 'i' && rows[i].key.data[0] != 'k'))
            return check_bad(check, "the store: a row of what is kept once has an unknown key");
    return STATUS_OK;
}

enum status check_comments_users(struct comments_check *check)
{
    enum status status = check_visit_rows(check, STORE_INBOX, flush_inbox);
    if (status == STATUS_OK)
        status = check_visit_rows(check, STORE_USER, flush_users);
    return status == STATUS_OK ? check_visit_rows(check, STORE_STATE, flush_state) : status;
}
