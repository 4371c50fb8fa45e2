/*
 * The rows of users: bans, and inboxes with their numbered entries. What events do to a user is collected in the
 * order of the events; then the states of these inboxes are read, and each user is done by itself.
 */
#include <stdlib.h>

#include "base/assert.h"
#include "comment/content.h"
#include "project/comments_priv.h"

enum { READ_AT_ONCE = 512 };

enum status comments_add_user(struct comments *comments, const struct user_work *user)
{
    if (!comments_grow(&comments->users, &comments->user_room, comments->user_count,
                       sizeof *comments->users))
        return STATUS_NO_MEMORY;
    comments->users[comments->user_count] = *user;
    comments->users[comments->user_count].serial = (uint32_t)comments->user_count;
    comments->user_count++;
    return STATUS_OK;
}

static enum status notify(struct comments *comments, const struct comment *comment, struct id user,
                          bool mention, uint32_t time_s)
{
    const struct user_work notice = {
        .user = user,
        .change = USER_NOTICE,
        .entry = {
            .comment = comment->id, .by = comment->author, .time_s = time_s, .mention = mention}};
    return id_equal(user, comment->author) ? STATUS_OK : comments_add_user(comments, &notice);
}

/* Has the user a notice of this comment already? A reply wins over a mention. */
static bool is_notified(const struct comment *comment, const struct comment_content *content,
                        uint32_t mention)
{
    struct id user = content->mentions[mention];
    if (!comment_is_root(comment) && id_equal(user, comment->reply_to_user))
        return true;
    for (uint32_t i = 0; i < mention; i++)
        if (id_equal(user, content->mentions[i]))
            return true;
    return false;
}

enum status comments_notify(struct comments *comments, const struct comment_work *work,
                            uint32_t time_s)
{
    const struct comment *comment = &work->now;
    struct comment_content content = {.mention_count = 0};
    enum status status = STATUS_OK;
    if (work->content.data != NULL &&
        comment_content_decode(work->content.data, work->content.length, &content) != STATUS_OK)
        return comments_contradict(comments, work->id, "has a content that cannot be read");
    if (!comment_is_root(comment))
        status = notify(comments, comment, comment->reply_to_user, false, time_s);
    for (uint32_t i = 0; i < content.mention_count && status == STATUS_OK; i++)
        if (!is_notified(comment, &content, i))
            status = notify(comments, comment, content.mentions[i], true, time_s);
    return status;
}

static int compare_users(const void *a, const void *b)
{
    const struct user_work *first = a, *second = b;
    if (first->user.hi != second->user.hi)
        return first->user.hi < second->user.hi ? -1 : 1;
    if (first->user.lo != second->user.lo)
        return first->user.lo < second->user.lo ? -1 : 1;
    return first->serial < second->serial ? -1 : first->serial > second->serial;
}

/* What a window does to one inbox. */
struct inbox {
    struct inbox_state before;
    struct inbox_state now;
    bool emptied;
    size_t first_notice; /* index of the first change since it was last emptied */
    const struct user_ban *ban;
};

static struct inbox run_changes(const struct user_work *changes, size_t count,
                                struct inbox_state before)
{
    struct inbox inbox = {.before = before, .now = before};
    for (size_t i = 0; i < count; i++) {
        const struct user_work *change = &changes[i];
        switch (change->change) {
        case USER_NOTICE:
            inbox.now.newest += inbox.now.newest < UINT32_MAX;
            break;
        case USER_IMPORTED:
            if (change->number > inbox.now.newest)
                inbox.now.newest = change->number;
            break;
        case USER_SEEN:
            if (change->seen > inbox.now.seen)
                inbox.now.seen = change->seen < inbox.now.newest ? change->seen : inbox.now.newest;
            break;
        case USER_EMPTIED:
            inbox.now = (struct inbox_state){0};
            inbox.emptied = true;
            inbox.first_notice = i + 1;
            break;
        default:
            inbox.ban = &change->ban;
        }
    }
    return inbox;
}

static bool is_kept(uint32_t number, uint32_t newest)
{
    return number <= newest && newest - number < LIMIT_INBOX;
}

/* Writes the entries of this window that are kept; *first is the number of the first new one. */
static enum status write_notices(struct comments *comments, const struct inbox *inbox,
                                 const struct user_work *changes, size_t count, uint32_t *first)
{
    uint8_t key[ROW_KEY_MAX], value[ROW_COMMENT_MAX];
    uint32_t number = inbox->emptied ? 0 : inbox->before.newest;
    enum status status = STATUS_OK;
    *first = number + 1;
    for (size_t i = inbox->first_notice; i < count && status == STATUS_OK; i++) {
        bool imported = changes[i].change == USER_IMPORTED && changes[i].number > number;
        if ((changes[i].change != USER_NOTICE && !imported) || number == UINT32_MAX)
            continue;
        number = imported ? changes[i].number : number + 1;
        if (is_kept(number, inbox->now.newest) && changes[i].entry.comment != COMMENT_NONE)
            status = comment_rows_put(comments, STORE_INBOX, key,
                                      row_key_inbox(changes[i].user, number, key), value,
                                      row_write_inbox(&changes[i].entry, value));
    }
    ASSERT(status != STATUS_OK || number == inbox->now.newest);
    return status;
}

static enum status remove_entries(struct comments *comments, const struct inbox *inbox,
                                  struct id user, uint32_t first_new)
{
    uint8_t key[ROW_KEY_MAX];
    uint32_t most = inbox->before.newest;
    uint32_t least = most > LIMIT_INBOX ? most - LIMIT_INBOX : 0;
    enum status status = STATUS_OK;
    for (uint32_t number = most; number > least && status == STATUS_OK; number--) {
        bool stays = is_kept(number, inbox->now.newest) && (!inbox->emptied || number >= first_new);
        if (!stays)
            status =
                comment_rows_remove(comments, STORE_INBOX, key, row_key_inbox(user, number, key));
    }
    return status;
}

static enum status write_state(struct comments *comments, const struct inbox *inbox, struct id user)
{
    uint8_t key[ROW_KEY_MAX], value[ROW_COMMENT_MAX];
    size_t length = row_key_user(user, 'i', key);
    if (inbox->now.newest == inbox->before.newest && inbox->now.seen == inbox->before.seen)
        return STATUS_OK;
    if (inbox->now.newest == 0)
        return comment_rows_remove(comments, STORE_USER, key, length);
    return comment_rows_put(comments, STORE_USER, key, length, value,
                            row_write_inbox_state(&inbox->now, value));
}

static enum status write_ban(struct comments *comments, const struct user_ban *ban, struct id user)
{
    uint8_t key[ROW_KEY_MAX], value[ROW_COMMENT_MAX];
    size_t length = row_key_user(user, 'b', key);
    if (ban->until_s == 0)
        return comment_rows_remove(comments, STORE_USER, key, length);
    return comment_rows_put(comments, STORE_USER, key, length, value, row_write_ban(ban, value));
}

/* All changes of one user. */
static enum status write_user(struct comments *comments, const struct user_work *changes,
                              size_t count, struct inbox_state before)
{
    struct id user = changes[0].user;
    uint32_t first_new;
    struct inbox inbox = run_changes(changes, count, before);
    enum status status = write_notices(comments, &inbox, changes, count, &first_new);
    if (status == STATUS_OK)
        status = remove_entries(comments, &inbox, user, first_new);
    if (status == STATUS_OK)
        status = write_state(comments, &inbox, user);
    return status == STATUS_OK && inbox.ban != NULL ? write_ban(comments, inbox.ban, user) : status;
}

/* Users whose changes begin at these indices; ends[i] is the end of the changes of the i-th. */
struct user_batch {
    size_t starts[READ_AT_ONCE];
    size_t ends[READ_AT_ONCE];
    size_t count;
};

static enum status write_batch(struct comments *comments, const struct user_batch *batch)
{
    uint8_t keys[READ_AT_ONCE][ROW_KEY_MAX];
    struct store_bytes wanted[READ_AT_ONCE], found[READ_AT_ONCE];
    for (size_t i = 0; i < batch->count; i++) {
        struct id user = comments->users[batch->starts[i]].user;
        uint32_t length = (uint32_t)row_key_user(user, 'i', keys[i]);
        wanted[i] = (struct store_bytes){keys[i], length};
    }
    enum status status = store_read_rows(comments->options.reader, STORE_USER, wanted, batch->count,
                                         found, &comments->arena);
    for (size_t i = 0; i < batch->count && status == STATUS_OK; i++) {
        const struct user_work *changes = &comments->users[batch->starts[i]];
        struct inbox_state before = {0};
        if (found[i].data != NULL)
            status = row_read_inbox_state(found[i], &before);
        if (status == STATUS_OK)
            status = write_user(comments, changes, batch->ends[i] - batch->starts[i], before);
    }
    return status;
}

enum status comments_write_users(struct comments *comments)
{
    struct user_batch batch = {.count = 0};
    size_t count = comments->user_count;
    enum status status = STATUS_OK;
    if (count > 0)
        qsort(comments->users, count, sizeof *comments->users, compare_users);
    for (size_t i = 0, end; i < count && status == STATUS_OK; i = end) {
        for (end = i + 1;
             end < count && id_equal(comments->users[end].user, comments->users[i].user);)
            end++;
        batch.starts[batch.count] = i;
        batch.ends[batch.count++] = end;
        if (batch.count == READ_AT_ONCE || end == count) {
            status = write_batch(comments, &batch);
            batch.count = 0;
        }
    }
    return status;
}
