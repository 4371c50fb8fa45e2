/*
 * The inbox of a user: replies to the user's comments, and comments that mention the user, newest first.
 * Entries are numbered, so the number of unread ones and the place of a cursor do not depend on times.
 * Entries that are too old, or by somebody whom the user has blocked, are left out when the inbox is read.
 */
#include "base/array.h"
#include "base/assert.h"
#include "query/comment_cards.h"
#include "query/comments.h"

#define DAY_S 86400U

static enum status read_state(struct comment_view *view, struct id user, struct inbox_state *state)
{
    uint8_t key[ROW_KEY_MAX];
    size_t length = row_key_user(user, 'i', key);
    struct store_bytes keys = {key, (uint32_t)length}, value = {0};
    *state = (struct inbox_state){0};
    enum status status =
        store_read_rows(view->tier->store, STORE_USER, &keys, 1, &value, &view->scratch->arena);
    return status == STATUS_OK && value.data != NULL ? row_read_inbox_state(value, state) : status;
}

/* All entries that exist, newest first. */
static enum status read_entries(struct comment_view *view, struct id user,
                                struct hot_inbox_entry **out, size_t *count)
{
    uint8_t key[ROW_KEY_MAX];
    row_key_inbox(user, 0, key);
    struct store_scan scan = {.table = STORE_INBOX,
                              .group = {key, (uint32_t)store_group_length(STORE_INBOX)},
                              .limit_rows = LIMIT_INBOX};
    struct store_row *rows = view_take(view, LIMIT_INBOX, sizeof *rows);
    *out = view_take(view, LIMIT_INBOX, sizeof **out);
    bool more;
    if (rows == NULL || *out == NULL)
        return STATUS_NO_MEMORY;
    enum status status =
        store_scan_rows(view->tier->store, &scan, rows, count, &more, &view->scratch->arena);
    for (size_t i = 0; i < *count && status == STATUS_OK; i++) {
        status = row_read_inbox_entry(rows[i].value, &(*out)[i].entry);
        if (status == STATUS_OK && !row_read_inbox(rows[i].key, NULL, &(*out)[i].number))
            status = STATUS_DAMAGED;
    }
    return status;
}

/* Which of the writers the user has blocked: the reaction `block` on user:ID. */
static enum status drop_blocked(struct comment_view *view, const struct hot_request *request,
                                struct hot_inbox_entry *entries, size_t *count)
{
    if (request->name == UINT8_MAX || request->cards.type == UINT16_MAX || *count == 0)
        return STATUS_OK;
    struct item *items = view_take(view, *count, sizeof *items);
    struct hot_answer *answers = view_take(view, *count, sizeof *answers);
    if (items == NULL || answers == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < *count; i++)
        items[i] = (struct item){.id = entries[i].entry.by, .type = request->cards.type};
    ASSERT(*count <= LIMIT_ITEMS);
    struct hot_request ask = {.action = HOT_ASK,
                              .user = request->user,
                              .name = request->name,
                              .items = items,
                              .item_count = (uint32_t)*count,
                              .time_s = request->time_s,
                              .read.answers = answers};
    enum status status = view_run(view, &ask, 1);
    size_t kept = 0;
    for (size_t i = 0; i < *count && status == STATUS_OK; i++)
        if (!kind_set_has(&answers[i].kinds, request->name))
            entries[kept++] = entries[i];
    if (status == STATUS_OK)
        *count = kept;
    return status;
}

static size_t drop_old(struct hot_inbox_entry *entries, size_t count, uint32_t now_s)
{
    uint32_t age_s = LIMIT_INBOX_DAYS * DAY_S;
    uint32_t oldest_s = now_s > age_s ? now_s - age_s : 0;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (entries[i].entry.time_s >= oldest_s)
            entries[kept++] = entries[i];
    return kept;
}

static enum status add_entries(struct hot_scratch *scratch, const struct hot_inbox_entry *entries,
                               size_t count)
{
    if (count > scratch->inbox_capacity - scratch->inbox_used) {
        size_t room = scratch->inbox_capacity;
        void *inbox = array_grow(scratch->inbox, &room, scratch->inbox_used + count, 64,
                                 sizeof *scratch->inbox);
        if (inbox == NULL)
            return STATUS_NO_MEMORY;
        scratch->inbox = inbox;
        scratch->inbox_capacity = (uint32_t)room;
    }
    for (size_t i = 0; i < count; i++)
        scratch->inbox[scratch->inbox_used++] = entries[i];
    return STATUS_OK;
}

/* Finds out which writers were forgotten since: their comments have no author any more. */
static enum status find_forgotten(struct comment_view *view, struct hot_inbox_entry *entries,
                                  size_t count)
{
    struct query_tier *tier = view->tier;
    struct query_comment *comments = view_take(view, count, sizeof *comments);
    if (comments == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        comments[i] = (struct query_comment){.id = entries[i].entry.comment};
    enum status status =
        count == 0 ? STATUS_OK
                   : tier->functions->comments(tier, comments, count, false, view->scratch);
    for (size_t i = 0; i < count && status == STATUS_OK; i++)
        entries[i].forgotten = comments[i].found && comments[i].comment.anonymous;
    return status;
}

static uint32_t count_unread(const struct hot_inbox_entry *entries, size_t count, uint32_t seen)
{
    uint32_t unread = 0;
    while (unread < count && entries[unread].number > seen)
        unread++;
    return unread;
}

/*
 * An inbox has at most 1000 entries, so all of them are read: the number of unread ones is exact although
 * some are left out.
 */
enum status comments_read_inbox(struct comment_view *view, struct hot_request *request)
{
    struct query_tier *tier = view->tier;
    struct hot_cards_page *answer = &view->scratch->pages[request->cards.page];
    struct hot_inbox_entry *entries = NULL;
    struct inbox_state state;
    size_t count = 0, first = 0;
    if (!tier->may_wait)
        return STATUS_BLOCKED;
    enum status status = tier->functions->reach(tier, tier->functions->any_comment_point(tier));
    if (status == STATUS_OK)
        status = read_state(view, request->user, &state);
    if (status == STATUS_OK)
        status = read_entries(view, request->user, &entries, &count);
    if (status != STATUS_OK)
        return status;
    count = drop_old(entries, count, request->time_s);
    status = drop_blocked(view, request, entries, &count);
    if (status != STATUS_OK)
        return status;
    answer->unread = count_unread(entries, count, state.seen);
    const struct hot_mark *after = &request->cards.detail->after;
    while (after->is_set && first < count && entries[first].number >= after->id)
        first++;
    bool more = count - first > request->cards.limit;
    answer->entry_first = view->scratch->inbox_used;
    answer->entry_count = (uint32_t)(more ? request->cards.limit : count - first);
    if (more)
        answer->next = (struct hot_mark){.is_set = true,
                                         .id = entries[first + answer->entry_count - 1].number};
    status = find_forgotten(view, entries + first, answer->entry_count);
    return status == STATUS_OK ? add_entries(view->scratch, entries + first, answer->entry_count)
                               : status;
}
