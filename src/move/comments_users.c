/* Decides imported bans and inboxes. */
#include <string.h>

#include "base/assert.h"
#include "move/comments_private.h"

static const struct item no_item;

static enum status done(struct import *import, bool changed)
{
    import->summary.rows++;
    import->summary.changed += changed;
    import->summary.same += !changed;
    return STATUS_OK;
}

enum status import_ban(struct import *import, struct id user, const struct user_ban *given)
{
    uint8_t key[ROW_KEY_MAX], bytes[ROW_COMMENT_MAX];
    struct store_bytes value;
    struct user_ban before = {0};
    struct comment_body body = {.ban = *given};
    enum status status = import_begin_comment(import);
    if (status == STATUS_OK && given->until_s == 0)
        return import_refuse(import, "a ban has a time at which it ends, or null for none");
    if (status != STATUS_OK)
        return status;
    if (given->until_s != UINT32_MAX && import->options.timeline != NULL)
        body.ban.until_s = timeline_recorded(import->options.timeline, given->until_s);
    size_t length = row_key_user(user, 'b', key);
    status = import_read_row(import, STORE_USER, key, length, &value);
    if (status != STATUS_OK)
        return status;
    if (value.data != NULL && row_read_ban(value, &before) != STATUS_OK)
        return import_damaged(import);
    if (before.until_s == body.ban.until_s && before.shadow == body.ban.shadow)
        return done(import, false);
    overlay_set(import->comments->overlay, STORE_USER, key, length, bytes,
                row_write_ban(&body.ban, bytes));
    status = import_record(import, COMMENT_EVENT_BAN, user, no_item, &body);
    return status == STATUS_OK ? done(import, true) : status;
}

static enum status read_inbox(struct import *import, struct id user, struct inbox_state *state)
{
    uint8_t key[ROW_KEY_MAX];
    struct store_bytes value;
    enum status status =
        import_read_row(import, STORE_USER, key, row_key_user(user, 'i', key), &value);
    *state = (struct inbox_state){0};
    if (status == STATUS_OK && value.data != NULL &&
        row_read_inbox_state(value, state) != STATUS_OK)
        return import_damaged(import);
    return status;
}

static void set_inbox(struct import *import, struct id user, const struct inbox_state *state)
{
    uint8_t key[ROW_KEY_MAX], bytes[ROW_COMMENT_MAX];
    overlay_set(import->comments->overlay, STORE_USER, key, row_key_user(user, 'i', key), bytes,
                row_write_inbox_state(state, bytes));
}

/* Is the entry with this number there, and the same? */
static enum status has_entry(struct import *import, struct id user,
                             const struct inbox_notice *notice, bool *same)
{
    uint8_t key[ROW_KEY_MAX], bytes[ROW_COMMENT_MAX];
    struct store_bytes value;
    enum status status =
        import_read_row(import, STORE_INBOX, key, row_key_inbox(user, notice->number, key), &value);
    size_t length = row_write_inbox(&notice->entry, bytes);
    *same = status == STATUS_OK && value.data != NULL && value.length == length &&
            memcmp(value.data, bytes, length) == 0;
    return status;
}

enum status import_notice(struct import *import, struct id user, const struct inbox_notice *given)
{
    struct inbox_state state;
    struct comment_body body = {.notice = *given};
    bool same;
    enum status status = import_begin_comment(import);
    if (status == STATUS_OK && (given->number == 0 || given->entry.comment == COMMENT_NONE))
        return import_refuse(import, "an entry of an inbox has a number from 1 and a comment");
    if (status == STATUS_OK)
        status = import_time(import, &body.notice.entry.time_s);
    if (status == STATUS_OK)
        status = read_inbox(import, user, &state);
    if (status == STATUS_OK)
        status = has_entry(import, user, &body.notice, &same);
    if (status != STATUS_OK)
        return status;
    if (same)
        return done(import, false);
    if (given->number <= state.newest)
        return import_refuse(import, "the inbox has other entries up to number %u already",
                             state.newest);
    uint8_t key[ROW_KEY_MAX], bytes[ROW_COMMENT_MAX];
    overlay_set(import->comments->overlay, STORE_INBOX, key,
                row_key_inbox(user, given->number, key), bytes,
                row_write_inbox(&body.notice.entry, bytes));
    state.newest = given->number;
    set_inbox(import, user, &state);
    status = import_record(import, COMMENT_EVENT_NOTICE, user, no_item, &body);
    return status == STATUS_OK ? done(import, true) : status;
}

enum status import_inbox(struct import *import, struct id user, const struct inbox_state *given)
{
    struct inbox_state state;
    enum status status = import_begin_comment(import);
    if (status == STATUS_OK && (given->newest == 0 || given->seen > given->newest))
        return import_refuse(import, "the newest entry of an inbox has a number from 1, and what "
                                     "was seen is not above it");
    if (status == STATUS_OK)
        status = read_inbox(import, user, &state);
    if (status != STATUS_OK)
        return status;
    bool more = given->newest > state.newest, seen = given->seen > state.seen;
    if (more) {
        const struct comment_body body = {.notice = {.number = given->newest}};
        state.newest = given->newest;
        status = import_record(import, COMMENT_EVENT_NOTICE, user, no_item, &body);
    }
    if (status == STATUS_OK && seen) {
        const struct comment_body body = {.seen = given->seen};
        state.seen = given->seen;
        status = import_record(import, COMMENT_EVENT_SEEN, user, no_item, &body);
    }
    set_inbox(import, user, &state);
    return status == STATUS_OK ? done(import, more || seen) : status;
}
