/*
 * First all ids are collected, and the rows and counters of these comments are read in batches. Then the events are
 * applied in their order, each to what the ones before it have made.
 */
#include <stdlib.h>

#include "base/assert.h"
#include "comment/comment_id.h"
#include "comment/content.h"
#include "project/comments_priv.h"

enum { READ_AT_ONCE = 512 };

static int compare_works(const void *a, const void *b)
{
    uint64_t first = ((const struct comment_work *)a)->id;
    uint64_t second = ((const struct comment_work *)b)->id;
    return first < second ? -1 : first > second;
}

static struct comment_work *find_work(struct comments *comments, uint64_t id)
{
    const struct comment_work wanted = {.id = id};
    struct comment_work *found =
        bsearch(&wanted, comments->works, comments->work_count, sizeof wanted, compare_works);
    ASSERT(found != NULL);
    return found;
}

static enum status want(struct comments *comments, uint64_t id)
{
    if (!comments_grow(&comments->works, &comments->work_room, comments->work_count,
                       sizeof *comments->works))
        return STATUS_NO_MEMORY;
    comments->works[comments->work_count++] = (struct comment_work){.id = id};
    return STATUS_OK;
}

static void read_note(const struct comment_note *note, struct comment_body *body)
{
    enum status status = comment_body_decode(note->kind, note->body, note->length, body);
    ASSERT(status == STATUS_OK); /* comments_add has accepted it */
}

/* Which number of a comment's votes a counter is; NULL: none. */
static int64_t *vote_of(const struct comments *comments, struct comment_votes *votes, uint8_t name)
{
    if (name == NAME_INDEX_LIKE)
        return &votes->likes;
    if (name == UINT8_MAX)
        return NULL;
    return name == comments->dislike  ? &votes->dislikes
           : name == comments->report ? &votes->reports
                                      : NULL;
}

/* Is this a counter that decides about keys or queues, of an item that may be a comment? */
static bool is_vote(const struct comments *comments, const struct store_count *count)
{
    struct comment_votes votes;
    return count->item.type == comments->type && !id_is_wide(count->item.id) &&
           count->item.id.lo != COMMENT_NONE && vote_of(comments, &votes, count->name) != NULL;
}

static void drop_doubles(struct comments *comments)
{
    size_t kept = 0;
    if (comments->work_count > 0)
        qsort(comments->works, comments->work_count, sizeof *comments->works, compare_works);
    for (size_t i = 0; i < comments->work_count; i++)
        if (kept == 0 || comments->works[kept - 1].id != comments->works[i].id)
            comments->works[kept++] = comments->works[i];
    comments->work_count = kept;
}

static enum status collect(struct comments *comments, const struct store_changes *changes)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < comments->note_count && status == STATUS_OK; i++) {
        struct comment_body body;
        read_note(&comments->notes[i], &body);
        if (body.has_comment)
            status = want(comments, body.comment.id);
        if (body.has_root && status == STATUS_OK)
            status = want(comments, body.root.id);
    }
    for (size_t i = 0; i < changes->item.count_count && status == STATUS_OK; i++)
        if (is_vote(comments, &changes->item.counts[i]))
            status = want(comments, changes->item.counts[i].item.id.lo);
    drop_doubles(comments);
    return status;
}

/* Rows of a table that has one row for each comment. */
static enum status read_rows(struct comments *comments, enum store_table table,
                             struct comment_work *const *works, size_t count,
                             struct store_bytes *values)
{
    uint8_t keys[READ_AT_ONCE][ROW_KEY_MAX];
    struct store_bytes wanted[READ_AT_ONCE];
    ASSERT(count <= READ_AT_ONCE);
    if (count == 0)
        return STATUS_OK;
    for (size_t i = 0; i < count; i++)
        wanted[i] = row_bytes_id(works[i]->id, keys[i]);
    return store_read_rows(comments->options.reader, table, wanted, count, values,
                           &comments->arena);
}

static enum status read_comments(struct comments *comments, struct comment_work *const *works,
                                 size_t count)
{
    struct store_bytes values[READ_AT_ONCE];
    enum status status = read_rows(comments, STORE_COMMENT, works, count, values);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        struct comment_work *work = works[i];
        work->was = work->is = values[i].data != NULL;
        if (!work->was)
            continue;
        if (row_read_comment(values[i], work->id, &work->before, &work->index) != STATUS_OK)
            return comments_contradict(comments, work->id, "has a row that cannot be read");
        work->now = work->before;
    }
    return status;
}

static enum status read_contents(struct comments *comments, struct comment_work *const *works,
                                 size_t count)
{
    struct store_bytes values[READ_AT_ONCE];
    enum status status = read_rows(comments, STORE_CONTENT, works, count, values);
    for (size_t i = 0; i < count && status == STATUS_OK; i++)
        works[i]->content = values[i];
    return status;
}

static enum status read_votes(struct comments *comments, struct comment_work *const *works,
                              size_t count)
{
    struct store_item items[READ_AT_ONCE];
    struct store_values values = {0};
    for (size_t i = 0; i < count; i++)
        items[i] = (struct store_item){.item = comment_item(works[i]->id, comments->type)};
    enum status status = store_read_items(comments->options.reader, NULL, items, count, &values);
    for (size_t i = 0; i < count && status == STATUS_OK; i++)
        for (uint32_t k = 0; k < items[i].count; k++) {
            const struct store_value *value = &values.values[items[i].first + k];
            int64_t *vote = vote_of(comments, &works[i]->votes, value->name);
            if (vote != NULL)
                *vote += value->value;
        }
    free(values.values);
    return status;
}

typedef enum status read_fn(struct comments *comments, struct comment_work *const *works,
                            size_t count);
typedef bool wanted_fn(const struct comment_work *work);

static bool any_work(const struct comment_work *work)
{
    (void)work;
    return true;
}

static bool wants_content(const struct comment_work *work)
{
    return work->wants_content;
}

/* Reads something of all comments for which it is wanted, many at once. */
static enum status read_all(struct comments *comments, wanted_fn *wanted, read_fn *read)
{
    struct comment_work *works[READ_AT_ONCE];
    size_t count = 0;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < comments->work_count && status == STATUS_OK; i++) {
        if (wanted(&comments->works[i]))
            works[count++] = &comments->works[i];
        if (count == READ_AT_ONCE) {
            status = read(comments, works, count);
            count = 0;
        }
    }
    return status == STATUS_OK && count > 0 ? read(comments, works, count) : status;
}

/*
 * The content that the store has is needed if it becomes history, or if it says whom a comment mentions that
 * becomes open now.
 */
static void choose_contents(struct comments *comments)
{
    for (size_t i = 0; i < comments->note_count; i++) {
        struct comment_body body;
        read_note(&comments->notes[i], &body);
        if (!body.has_comment)
            continue;
        struct comment_work *work = find_work(comments, body.comment.id);
        bool opens = body.comment.was_open && !work->before.was_open && !body.has_content;
        if (work->was && (opens || body.comment.versions > work->before.versions))
            work->wants_content = true;
    }
}

static void count_votes(struct comments *comments, const struct store_changes *changes)
{
    for (size_t i = 0; i < changes->item.count_count; i++) {
        const struct store_count *count = &changes->item.counts[i];
        if (is_vote(comments, count))
            *vote_of(comments, &find_work(comments, count->item.id.lo)->votes, count->name) +=
                count->value;
    }
}

/* The present content becomes history. */
static enum status keep_version(struct comments *comments, struct comment_work *work,
                                uint32_t number)
{
    if (work->content.data == NULL)
        return STATUS_OK;
    if (!comments_grow(&comments->versions, &comments->version_room, comments->version_count,
                       sizeof *comments->versions))
        return STATUS_NO_MEMORY;
    comments->versions[comments->version_count++] =
        (struct comment_version){number, work->versions, work->content};
    work->versions = (uint32_t)comments->version_count;
    return STATUS_OK;
}

static void wipe(struct comment_work *work)
{
    work->content = (struct store_bytes){0};
    work->content_changed = false;
    work->wiped = true;
    work->versions = 0;
}

/* What the event says of the comment itself. */
static enum status take_comment(struct comments *comments, const struct comment_note *note,
                                const struct comment_body *body)
{
    struct comment_work *work = find_work(comments, body->comment.id);
    bool imported = note->kind == COMMENT_EVENT_IMPORT;
    bool added = imported || note->kind == COMMENT_EVENT_ADD;
    enum status status = STATUS_OK;
    if (work->is == added)
        return comments_contradict(comments, work->id,
                                   added ? "is added and exists already"
                                         : "is changed and does not exist");
    bool opens = body->comment.was_open && !(work->is && work->now.was_open);
    if (work->is && body->comment.versions > work->now.versions)
        status = keep_version(comments, work, body->comment.versions);
    if (added && comment_id_ms(work->id) > comments->highest_ms)
        comments->highest_ms = comment_id_ms(work->id);
    comments->added = comments->added || added;
    work->is = true;
    work->now = body->comment;
    if (body->has_content) {
        work->content = (struct store_bytes){body->content, body->content_length};
        work->content_changed = true;
    }
    if (status == STATUS_OK && opens && !imported)
        status = comments_notify(comments, work, note->time_s);
    if (body->comment.deleted)
        wipe(work);
    return status;
}

/* A piece of DROP: nothing of the comment is kept. */
static void remove_comment(struct comments *comments, uint64_t id)
{
    struct comment_work *work = find_work(comments, id);
    work->is = false;
    wipe(work);
}

static enum status take_root(struct comments *comments, const struct comment_note *note,
                             const struct comment *root)
{
    struct comment_work *work = find_work(comments, root->id);
    if (work->is)
        work->now = *root;
    else if (note->kind != COMMENT_EVENT_ROWS) /* its own rows may have been removed before */
        return comments_contradict(comments, work->id, "is answered and does not exist");
    return STATUS_OK;
}

static enum status take_subject(struct comments *comments, const struct subject *subject)
{
    if (!comments_grow(&comments->subjects, &comments->subject_room, comments->subject_count,
                       sizeof *comments->subjects))
        return STATUS_NO_MEMORY;
    size_t serial = comments->subject_count++;
    comments->subjects[serial] = (struct subject_work){(uint32_t)serial, *subject};
    return STATUS_OK;
}

static enum status take_user(struct comments *comments, const struct comment_note *note,
                             const struct comment_body *body)
{
    struct user_work user = {.user = note->user,
                             .seen = body->seen,
                             .ban = body->ban,
                             .number = body->notice.number,
                             .entry = body->notice.entry};
    user.change = note->kind == COMMENT_EVENT_BAN      ? USER_BANNED
                  : note->kind == COMMENT_EVENT_SEEN   ? USER_SEEN
                  : note->kind == COMMENT_EVENT_NOTICE ? USER_IMPORTED
                                                       : USER_EMPTIED;
    return comments_add_user(comments, &user);
}

static enum status take_note(struct comments *comments, const struct comment_note *note)
{
    struct comment_body body;
    enum status status = STATUS_OK;
    read_note(note, &body);
    switch (note->kind) {
    case COMMENT_EVENT_BAN:
    case COMMENT_EVENT_SEEN:
    case COMMENT_EVENT_INBOX:
    case COMMENT_EVENT_NOTICE:
        return take_user(comments, note, &body);
    case COMMENT_EVENT_ROWS:
        remove_comment(comments, body.comment.id);
        break;
    default:
        if (body.has_comment)
            status = take_comment(comments, note, &body);
    }
    if (status == STATUS_OK && body.has_root)
        status = take_root(comments, note, &body.root);
    if (status == STATUS_OK && body.has_subject)
        status = take_subject(comments, &body.subject);
    return status;
}

enum status comments_apply(struct comments *comments, const struct store_changes *changes)
{
    enum status status = collect(comments, changes);
    if (status == STATUS_OK)
        status = read_all(comments, any_work, read_comments);
    if (status == STATUS_OK)
        status = read_all(comments, any_work, read_votes);
    if (status != STATUS_OK)
        return status;
    choose_contents(comments);
    status = read_all(comments, wants_content, read_contents);
    if (status == STATUS_OK)
        count_votes(comments, changes);
    for (size_t i = 0; i < comments->note_count && status == STATUS_OK; i++)
        status = take_note(comments, &comments->notes[i]);
    return status;
}
