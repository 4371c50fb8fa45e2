/*
 * Lists that only the store has: what a user has written, inboxes, histories and the queues of moderators.
 * A worker waits until the store has every change of any comment that was made before, and then reads a
 * few rows. Comments that the reader may not see (any more) are left out, so a page may have fewer
 * entries than were asked for although there are more.
 */
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "query/comment_cards.h"
#include "query/comments.h"

#define LOOKS_MOST 4 /* times that rows are read for one page, if many of them are left out */

static struct hot_cards_page *answer_of(const struct comment_view *view,
                                        const struct hot_request *request)
{
    return &view->scratch->pages[request->cards.page];
}

/* Waits until the store has every change of a comment so far. */
static enum status await_store(struct comment_view *view)
{
    struct query_tier *tier = view->tier;
    if (!tier->may_wait)
        return STATUS_BLOCKED;
    return tier->functions->reach(tier, tier->functions->any_comment_point(tier));
}

/* Appends a card for each comment that the reader may see; others are absent or left out. */
static enum status add_cards(struct comment_view *view, struct query_comment *comments,
                             size_t count, bool keep_absent, uint32_t most, size_t *taken)
{
    struct query_comment *roots = NULL;
    size_t bytes = 0;
    uint32_t first = view->scratch->cards_used;
    enum status status = cards_load(view, comments, count);
    if (status == STATUS_OK && count > 0)
        status = cards_load_roots(view, comments, count, &roots);
    for (*taken = 0; *taken < count && status == STATUS_OK; ++*taken) {
        const struct query_comment *comment = &comments[*taken];
        bool exists = comment->found && roots[*taken].found;
        enum comment_sight sight =
            exists ? comment_sight(view, &comment->comment, &roots[*taken].comment) : SIGHT_NONE;
        uint32_t cards = view->scratch->cards_used - first;
        if (cards == most || (bytes > LIMIT_PAGE_CONTENT && !keep_absent))
            break;
        if (sight == SIGHT_FULL || (sight == SIGHT_PLACEHOLDER && keep_absent)) {
            if (comment->has_content)
                bytes += comment->content.text.length + comment->content.extra.length;
            if (!cards_add(view, comment, sight, NULL))
                status = STATUS_NO_MEMORY;
        } else if (keep_absent && !cards_add_absent(view, comment->id)) {
            status = STATUS_NO_MEMORY;
        }
    }
    return status;
}

enum status comments_read_cards(struct comment_view *view, struct hot_request *request)
{
    struct hot_cards_page *answer = answer_of(view, request);
    size_t taken = 0;
    struct query_comment *comments = view_take(view, request->item_count, sizeof *comments);
    if (comments == NULL)
        return STATUS_NO_MEMORY;
    for (uint32_t i = 0; i < request->item_count; i++) {
        bool narrow = !id_is_wide(request->items[i].id);
        comments[i] = (struct query_comment){.id = narrow ? request->items[i].id.lo : COMMENT_NONE};
    }
    answer->first = view->scratch->cards_used;
    enum status status =
        add_cards(view, comments, request->item_count, true, request->item_count, &taken);
    answer->count = view->scratch->cards_used - answer->first;
    return status == STATUS_OK ? cards_complete(view, answer->first, request->time_s) : status;
}

/* How a list of ids is read: the scan of its rows, and what a row says. */
struct id_list {
    struct store_scan scan;
    uint8_t key[ROW_KEY_MAX]; /* the group, and the row to continue after */
    bool (*read)(const struct store_row *row, struct hot_mark *mark);
    uint64_t least_key; /* the list ends before a row with a lower key */
};

/* Reads ids from the list's present point on; *ended: there are no more. */
static enum status read_ids(struct comment_view *view, const struct id_list *list, size_t most,
                            struct hot_mark *marks, size_t *count, bool *ended)
{
    struct store_row *rows = view_take(view, most, sizeof *rows);
    struct store_scan scan = list->scan;
    bool more = false;
    *count = 0;
    scan.limit_rows = most;
    if (rows == NULL)
        return STATUS_NO_MEMORY;
    enum status status =
        store_scan_rows(view->tier->store, &scan, rows, count, &more, &view->scratch->arena);
    *ended = !more;
    for (size_t i = 0; i < *count && status == STATUS_OK; i++) {
        marks[i] = (struct hot_mark){.is_set = true};
        if (!list->read(&rows[i], &marks[i]))
            return STATUS_DAMAGED;
        if (marks[i].key < list->least_key) {
            *count = i;
            *ended = true;
        }
    }
    return status;
}

/* `continue_after` sets the scan of the list to begin after a mark. */
typedef void continue_fn(struct id_list *list, const struct hot_request *request,
                         const struct hot_mark *mark);

static enum status read_id_list(struct comment_view *view, struct hot_request *request,
                                struct id_list *list, continue_fn *continue_after)
{
    uint32_t limit = request->cards.limit;
    struct hot_mark *marks = view_take(view, limit + 1, sizeof *marks);
    struct query_comment *comments = view_take(view, limit + 1, sizeof *comments);
    struct hot_cards_page *answer = answer_of(view, request);
    enum status status = marks != NULL && comments != NULL ? STATUS_OK : STATUS_NO_MEMORY;
    bool ended = false;
    answer->first = view->scratch->cards_used;
    if (request->cards.detail->after.is_set)
        continue_after(list, request, &request->cards.detail->after);
    for (unsigned look = 0; look < LOOKS_MOST && status == STATUS_OK && !ended; look++) {
        size_t count = 0, taken = 0;
        uint32_t room = limit - (view->scratch->cards_used - answer->first);
        if (room == 0)
            break;
        status = read_ids(view, list, room, marks, &count, &ended);
        for (size_t i = 0; i < count; i++)
            comments[i] = (struct query_comment){.id = marks[i].id};
        if (status == STATUS_OK)
            status = add_cards(view, comments, count, false, room, &taken);
        if (taken < count) {
            ended = false;
            look = LOOKS_MOST; /* the page has enough bytes */
        }
        answer->next = (struct hot_mark){0};
        if (taken > 0 && !ended) {
            answer->next = marks[taken - 1];
            continue_after(list, request, &answer->next);
        }
    }
    answer->count = view->scratch->cards_used - answer->first;
    return status == STATUS_OK ? cards_complete(view, answer->first, request->time_s) : status;
}

static bool read_written_row(const struct store_row *row, struct hot_mark *mark)
{
    return row_read_written(row->key, NULL, NULL, &mark->id);
}

static void set_key(struct id_list *list, size_t length, bool from)
{
    size_t group = store_group_length(list->scan.table);
    list->scan.group = (struct store_bytes){list->key, (uint32_t)group};
    list->scan.from = from ? (struct store_bytes){list->key + group, (uint32_t)(length - group)}
                           : (struct store_bytes){0};
}

static void continue_written(struct id_list *list, const struct hot_request *request,
                             const struct hot_mark *mark)
{
    set_key(list, row_key_written(request->user, 0, mark->id, list->key), true);
}

/* Only open comments are in the list: their class is 0, and rows of class 1 are after it. */
enum status comments_read_written(struct comment_view *view, struct hot_request *request)
{
    struct id_list list = {.scan.table = STORE_WRITTEN, .read = read_written_row};
    static const uint8_t next_class[] = {1};
    enum status status = await_store(view);
    if (status != STATUS_OK)
        return status;
    list.scan.until = (struct store_bytes){next_class, sizeof next_class};
    set_key(&list, row_key_written(request->user, 0, 0, list.key), false);
    return read_id_list(view, request, &list, continue_written);
}

static bool read_queue_row(const struct store_row *row, struct hot_mark *mark)
{
    uint32_t rank = 0;
    bool good = row_read_queue(row->key, NULL, NULL, &rank, &mark->id);
    mark->key = rank;
    return good;
}

static void continue_queue(struct id_list *list, const struct hot_request *request,
                           const struct hot_mark *mark)
{
    set_key(list,
            row_key_queue(request->cards.type, (enum queue_state)request->cards.queue,
                          (uint32_t)mark->key, mark->id, list->key),
            true);
}

/* Reported comments are ordered by the number of new reports; a threshold says how many are enough. */
enum status comments_read_queue(struct comment_view *view, struct hot_request *request)
{
    enum queue_state state = (enum queue_state)request->cards.queue;
    struct id_list list = {.scan.table = STORE_QUEUE, .read = read_queue_row};
    enum status status = await_store(view);
    if (status != STATUS_OK)
        return status;
    if (state == QUEUE_REPORTED)
        list.least_key = view->tier->report_at;
    view->all = true;
    set_key(&list, row_key_queue(request->cards.type, state, 0, 0, list.key), false);
    return read_id_list(view, request, &list, continue_queue);
}

static enum status add_version(struct hot_scratch *scratch, const struct comment_content *content)
{
    if (scratch->versions_used == scratch->versions_capacity) {
        size_t room = scratch->versions_capacity;
        void *versions = array_grow(scratch->versions, &room, scratch->versions_used + 1,
                                    LIMIT_VERSIONS + 1, sizeof *scratch->versions);
        if (versions == NULL)
            return STATUS_NO_MEMORY;
        scratch->versions = versions;
        scratch->versions_capacity = (uint32_t)room;
    }
    scratch->versions[scratch->versions_used++] =
        (struct hot_version){.time_s = content->time_s, .text = content->text};
    return STATUS_OK;
}

static enum status add_history(struct comment_view *view, uint64_t id)
{
    struct store_row rows[LIMIT_VERSIONS];
    uint8_t key[ROW_KEY_MAX];
    size_t length = row_key_id(id, key), count = 0;
    bool more;
    struct store_scan scan = {
        .table = STORE_HISTORY, .group = {key, (uint32_t)length}, .limit_rows = LIMIT_VERSIONS};
    enum status status =
        store_scan_rows(view->tier->store, &scan, rows, &count, &more, &view->scratch->arena);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        struct comment_content content;
        status = comment_content_decode(rows[i].value.data, rows[i].value.length, &content);
        if (status == STATUS_OK)
            status = add_version(view->scratch, &content);
    }
    return status;
}

/* The present text first, then the earlier ones, newest first. */
enum status comments_read_history(struct comment_view *view, struct hot_request *request)
{
    struct hot_cards_page *answer = answer_of(view, request);
    struct query_comment comment = {.id = request->items[0].id.lo}, *roots = NULL;
    enum status status = await_store(view);
    if (status == STATUS_OK)
        status = cards_load(view, &comment, 1);
    if (status == STATUS_OK)
        status = cards_load_roots(view, &comment, 1, &roots);
    if (status != STATUS_OK)
        return status;
    if (id_is_wide(request->items[0].id) || !comment.found || !roots->found ||
        comment_sight(view, &comment.comment, &roots->comment) != SIGHT_FULL)
        return STATUS_NO_COMMENT;
    answer->entry_first = view->scratch->versions_used;
    if (comment.has_content)
        status = add_version(view->scratch, &comment.content);
    if (status == STATUS_OK)
        status = add_history(view, comment.id);
    answer->entry_count = view->scratch->versions_used - answer->entry_first;
    return status;
}
