/*
 * The entries of an order are merged from the store's rows and from the comments that were changed since
 * they were stored. The changed ones are asked for first, and then the store is read: whatever was changed
 * before the question and is not among the changed ones is in the store by then. Rows of changed comments
 * are ignored, so each comment is there once, and at its present key.
 *
 * Rows are read in *streams*: one with the listed comments and, for a moderator in the orders NEW and OLD,
 * one with those that are not listed. An entry is final once every stream that has more rows was read
 * beyond it. If too few entries are final, the streams are read further. Each reading continues after the
 * last row, so the cost does not depend on how deep a page is.
 */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "comment/rows.h"
#include "query/comment_view.h"

#define READ_MORE 16 /* rows beyond the limit that are read at once, for those that are ignored */

struct stream {
    uint8_t order; /* enum comment_order or ROWS_UNLISTED */
    bool complete; /* the store has no more rows */
    bool begun;
    struct comment_entry last; /* the last row that was read */
};

struct merging {
    struct comment_view *view;
    const struct entries_query *query;
    struct comment *changed;
    uint64_t *changed_keys;
    size_t changed_count;
    struct stream streams[2];
    size_t stream_count;
    struct comment_entry *entries; /* the rows that count, and the changed comments */
    size_t count;
    size_t room;
};

/* Less than 0: a comes before b in the direction of reading. */
static int direction(const struct entries_query *query, const struct comment_entry *a,
                     const struct comment_entry *b)
{
    int order = comment_entry_order(query->order, a, b);
    return query->after.back ? -order : order;
}

static bool is_after_mark(const struct entries_query *query, const struct comment_entry *entry)
{
    struct comment_entry mark = {.key = query->after.key, .floor = query->after.floor};
    if (!query->after.is_set)
        return true;
    int order = direction(query, &mark, entry);
    return order < 0 || (order == 0 && query->inclusive);
}

static bool is_changed(const struct merging *m, uint64_t id)
{
    for (size_t i = 0; i < m->changed_count; i++)
        if (m->changed[i].id == id)
            return true;
    return false;
}

static enum status add_entry(struct merging *m, struct comment_entry entry)
{
    if (m->count == m->room) {
        size_t room = m->room == 0 ? 64 : 2 * m->room;
        struct comment_entry *entries = view_take(m->view, room, sizeof *entries);
        if (entries == NULL)
            return STATUS_NO_MEMORY;
        if (m->count > 0)
            memcpy(entries, m->entries, m->count * sizeof *entries);
        m->entries = entries;
        m->room = room;
    }
    m->entries[m->count++] = entry;
    return STATUS_OK;
}

/* Does a comment that is not listed belong to the entries of an order by floor? */
static bool is_shown_unlisted(const struct merging *m, const struct comment *comment)
{
    return !comment_order_has_key(m->query->order) &&
           (m->view->all || comment_is_own_held(m->view, comment));
}

/* Asks the tier for changed comments; if it does not remember all of them, waits for the store. */
static enum status read_changed(struct comment_view *view, struct item parent, struct comment **out,
                                size_t *count)
{
    struct query_tier *tier = view->tier;
    enum status status = STATUS_LAGGING;
    for (int tries = 0; status == STATUS_LAGGING && tries < 3; tries++) {
        status = tier->functions->changed(tier, parent, &view->scratch->arena, out, count);
        if (status != STATUS_LAGGING)
            break;
        if (!tier->may_wait)
            return STATUS_BLOCKED;
        enum status reached =
            tier->functions->reach(tier, tier->functions->comments_point(tier, parent));
        if (reached != STATUS_OK)
            return reached;
    }
    return status;
}

static enum status add_changed(struct merging *m)
{
    enum status status = read_changed(m->view, m->query->parent, &m->changed, &m->changed_count);
    if (status != STATUS_OK || m->changed_count == 0)
        return status;
    m->changed_keys = view_take(m->view, m->changed_count, sizeof *m->changed_keys);
    if (m->changed_keys == NULL)
        return STATUS_NO_MEMORY;
    status = comment_present_keys(m->view, m->changed, m->changed_count, m->query->order,
                                  m->changed_keys);
    for (size_t i = 0; i < m->changed_count && status == STATUS_OK; i++) {
        const struct comment *comment = &m->changed[i];
        struct comment_entry entry = {
            .key = m->changed_keys[i], .id = comment->id, .floor = comment->floor};
        bool listed = comment_is_listed(comment) && !m->query->own_only;
        if ((listed || is_shown_unlisted(m, comment)) && is_after_mark(m->query, &entry))
            status = add_entry(m, entry);
    }
    return status;
}

/* The rows of pending and shadow comments of the reader on this subject; there are few. */
static enum status scan_own(struct comment_view *view, struct item subject, uint64_t *ids,
                            size_t *count)
{
    uint8_t first[ROW_KEY_MAX], last[ROW_KEY_MAX];
    struct store_row rows[LIMIT_OWN_COMMENTS];
    size_t group = store_group_length(STORE_ORDER);
    size_t first_length = row_key_held(subject, view->reader, UINT64_MAX, first);
    size_t last_length = row_key_held(subject, view->reader, 0, last);
    struct store_scan scan = {.table = STORE_ORDER,
                              .group = {first, (uint32_t)group},
                              .from = {first + group, (uint32_t)(first_length - group)},
                              .until = {last + group, (uint32_t)(last_length - group)},
                              .limit_rows = LIMIT_OWN_COMMENTS};
    bool more;
    *count = 0;
    enum status status =
        store_scan_rows(view->tier->store, &scan, rows, count, &more, &view->scratch->arena);
    for (size_t i = 0; i < *count && status == STATUS_OK; i++)
        status = row_read_number(rows[i].value, &ids[i]);
    return status;
}

/* Most subjects have no such rows, and the tier remembers this. */
static enum status read_own(struct comment_view *view, struct item subject)
{
    if (view->own_read || !view->has_reader || view->all)
        return STATUS_OK;
    struct query_tier *tier = view->tier;
    struct comment_entry probe;
    size_t count = 1;
    bool complete = false;
    enum status status = tier->functions->head(tier, subject, ROWS_HELD, &probe, &count, &complete);
    if (status != STATUS_OK)
        return status;
    if (count > 0) {
        uint64_t ids[LIMIT_OWN_COMMENTS];
        if (!tier->may_wait)
            return STATUS_BLOCKED;
        status = scan_own(view, subject, ids, &count);
        view->own = view_take(view, count, sizeof *view->own);
        if (status != STATUS_OK || view->own == NULL)
            return status != STATUS_OK ? status : STATUS_NO_MEMORY;
        for (size_t i = 0; i < count; i++)
            view->own[i] = (struct query_comment){.id = ids[i]};
        status = tier->functions->comments(tier, view->own, count, false, view->scratch);
        view->own_count = count;
    }
    view->own_read = status == STATUS_OK;
    return status;
}

static bool has_parent(const struct comment_view *view, const struct comment *comment,
                       struct item parent)
{
    struct item own = comment_is_root(comment)
                          ? comment->subject
                          : comment_item(comment->root, view->tier->comment_type);
    return item_equal(own, parent);
}

/* The tier gave the present state of these comments, so only those that are still held are added. */
static enum status add_own(struct merging *m)
{
    struct comment_view *view = m->view;
    enum status status = read_own(view, m->query->subject);
    for (size_t i = 0; i < view->own_count && status == STATUS_OK; i++) {
        const struct comment *comment = &view->own[i].comment;
        struct comment_entry entry = {.id = comment->id, .floor = comment->floor};
        if (view->own[i].found && has_parent(view, comment, m->query->parent) &&
            comment_is_own_held(view, comment) && !is_changed(m, comment->id) &&
            is_after_mark(m->query, &entry))
            status = add_entry(m, entry);
    }
    return status;
}

/* Makes the key of a row at an entry, or before or after all rows with this key and floor. */
static size_t row_key(const struct stream *stream, struct item parent,
                      const struct comment_entry *entry, uint8_t *out)
{
    if (stream->order == ROWS_UNLISTED)
        return row_key_unlisted(parent, entry->floor, out);
    if (!comment_order_has_key((enum comment_order)stream->order))
        return row_key_floor(parent, entry->floor, out);
    return row_key_order(parent, (enum comment_order)stream->order, entry->key, entry->floor, out);
}

static enum status read_row(const struct store_row *row, struct comment_entry *entry)
{
    *entry = (struct comment_entry){0};
    bool good = row->table == STORE_FLOOR
                    ? row_read_floor(row->key, NULL, &entry->floor)
                    : row_read_order(row->key, NULL, NULL, &entry->key, &entry->floor);
    return good ? row_read_number(row->value, &entry->id) : STATUS_DAMAGED;
}

/* In OLD the rows of dropped comments, of which there may be many, come first and are skipped. */
static bool begins_after_dropped(const struct entries_query *query)
{
    return query->order == ORDER_OLD && query->dropped_floor > 0;
}

/* Where a stream begins: at the mark of the query, which is given as the entry before it. */
static bool stream_start(const struct entries_query *query, const struct stream *stream,
                         struct comment_entry *from)
{
    if (stream->begun) {
        *from = stream->last;
        return true;
    }
    if (!query->after.is_set && begins_after_dropped(query)) {
        *from = (struct comment_entry){.floor = query->dropped_floor};
        return true;
    }
    if (!query->after.is_set)
        return false;
    *from = (struct comment_entry){.key = query->after.key, .floor = query->after.floor};
    if (!query->inclusive)
        return true;
    ASSERT(!query->after.back);
    bool descending = query->order == ORDER_NEW;
    from->floor = descending ? from->floor + 1 : from->floor - 1;
    return true;
}

static enum status scan_stream(struct merging *m, struct stream *stream,
                               struct comment_entry *entries, size_t *count)
{
    const struct entries_query *query = m->query;
    uint8_t key[ROW_KEY_MAX];
    struct comment_entry from = {0};
    bool starts = stream_start(query, stream, &from);
    size_t length = row_key(stream, query->parent, &from, key);
    bool floors =
        stream->order != ROWS_UNLISTED && !comment_order_has_key((enum comment_order)stream->order);
    struct store_scan scan = {.table = floors ? STORE_FLOOR : STORE_ORDER,
                              .reverse = (query->order == ORDER_NEW) != query->after.back,
                              .limit_rows = *count};
    size_t group = store_group_length(scan.table);
    scan.group = (struct store_bytes){key, (uint32_t)group};
    if (starts)
        scan.from = (struct store_bytes){key + group, (uint32_t)(length - group)};
    struct store_row *rows = view_take(m->view, *count, sizeof *rows);
    bool more = false;
    if (rows == NULL)
        return STATUS_NO_MEMORY;
    enum status status =
        store_scan_rows(m->view->tier->store, &scan, rows, count, &more, &m->view->scratch->arena);
    for (size_t i = 0; i < *count && status == STATUS_OK; i++)
        status = read_row(&rows[i], &entries[i]);
    stream->complete = !more;
    return status;
}

/* The first rows of an order are cached by the tier; everything else is read from the store. */
static enum status read_stream(struct merging *m, struct stream *stream, size_t want)
{
    const struct entries_query *query = m->query;
    struct query_tier *tier = m->view->tier;
    size_t count = want < QUERY_HEAD ? want : QUERY_HEAD;
    struct comment_entry *entries = view_take(m->view, count, sizeof *entries);
    enum status status;
    if (entries == NULL)
        return STATUS_NO_MEMORY;
    if (!stream->begun && !query->after.is_set && stream->order != ROWS_UNLISTED &&
        !begins_after_dropped(query))
        status = tier->functions->head(tier, query->parent, stream->order, entries, &count,
                                       &stream->complete);
    else if (!tier->may_wait)
        return STATUS_BLOCKED;
    else
        status = scan_stream(m, stream, entries, &count);
    stream->begun = true;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        stream->last = entries[i];
        if (!is_changed(m, entries[i].id) && entries[i].floor > query->dropped_floor)
            status = add_entry(m, entries[i]);
    }
    /* In NEW nothing but dropped comments follows the first of them. */
    if (count > 0 && query->order == ORDER_NEW && !query->after.back &&
        stream->last.floor <= query->dropped_floor)
        stream->complete = true;
    if (count == 0)
        stream->complete = true;
    return status;
}

static __thread const struct entries_query *sorted_by; /* qsort has no argument for its function */

static int compare(const void *a, const void *b)
{
    return direction(sorted_by, a, b);
}

/* Sorts, removes entries that are there twice, and returns how many are final. */
static size_t settle(struct merging *m)
{
    sorted_by = m->query;
    if (m->count > 1)
        qsort(m->entries, m->count, sizeof *m->entries, compare);
    size_t kept = 0;
    for (size_t i = 0; i < m->count; i++)
        if (kept == 0 || m->entries[i].id != m->entries[kept - 1].id)
            m->entries[kept++] = m->entries[i];
    m->count = kept;
    for (size_t s = 0; s < m->stream_count; s++) {
        const struct stream *stream = &m->streams[s];
        while (!stream->complete && kept > 0 &&
               direction(m->query, &m->entries[kept - 1], &stream->last) > 0)
            kept--;
    }
    return kept;
}

static enum status read_streams(struct merging *m, size_t *final)
{
    size_t needed = (size_t)m->query->limit + 1;
    for (;;) {
        for (size_t s = 0; s < m->stream_count; s++) {
            if (m->streams[s].complete)
                continue;
            enum status status = read_stream(m, &m->streams[s], needed + READ_MORE);
            if (status != STATUS_OK)
                return status;
        }
        *final = settle(m);
        bool complete = true;
        for (size_t s = 0; s < m->stream_count; s++)
            complete = complete && m->streams[s].complete;
        if (complete || *final >= needed)
            return STATUS_OK;
    }
}

enum status comment_entries(struct comment_view *view, const struct entries_query *query,
                            struct entries *out)
{
    struct merging m = {.view = view, .query = query};
    size_t final = 0;
    if (!query->own_only)
        m.streams[m.stream_count++] = (struct stream){.order = (uint8_t)query->order};
    if (view->all && !comment_order_has_key(query->order))
        m.streams[m.stream_count++] = (struct stream){.order = ROWS_UNLISTED};
    enum status status = add_changed(&m);
    if (status == STATUS_OK && !comment_order_has_key(query->order))
        status = add_own(&m);
    if (status == STATUS_OK)
        status = read_streams(&m, &final);
    if (status != STATUS_OK)
        return status;
    out->more = final > query->limit;
    out->count = out->more ? query->limit : final;
    out->entries = m.entries;
    if (query->after.back) {
        for (size_t i = 0; i < out->count / 2; i++) {
            struct comment_entry swapped = out->entries[i];
            out->entries[i] = out->entries[out->count - 1 - i];
            out->entries[out->count - 1 - i] = swapped;
        }
    }
    return STATUS_OK;
}

enum status comment_entries_before(struct comment_view *view, const struct subject *on,
                                   struct entries *out)
{
    *out = (struct entries){0};
    if (!view->all && !view->has_reader)
        return STATUS_OK;
    struct entries_query query = {.parent = on->item,
                                  .subject = on->item,
                                  .order = ORDER_NEW,
                                  .limit = LIMIT_OWN_COMMENTS,
                                  .dropped_floor = on->dropped_floor};
    struct merging m = {.view = view, .query = &query};
    size_t final = 0;
    enum status status = add_changed(&m);
    /* Listed ones have their place in the order that was asked for. */
    size_t kept = 0;
    for (size_t i = 0; i < m.count; i++) {
        size_t at = 0;
        while (m.changed[at].id != m.entries[i].id)
            at++;
        if (!comment_is_listed(&m.changed[at]))
            m.entries[kept++] = m.entries[i];
    }
    m.count = kept;
    if (status == STATUS_OK && view->all) {
        m.streams[m.stream_count++] = (struct stream){.order = ROWS_UNLISTED};
        status = read_streams(&m, &final);
    } else if (status == STATUS_OK) {
        status = add_own(&m);
        final = settle(&m);
    }
    out->entries = m.entries;
    out->count = final < LIMIT_OWN_COMMENTS ? final : LIMIT_OWN_COMMENTS;
    return status;
}
