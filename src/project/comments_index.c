/*
 * The rows of one comment. What the store has is described by the comment's row before the window, and what it
 * must have by the comment and its votes after it; only what differs is written. A key is never both removed and
 * written.
 */
#include <stdlib.h>
#include <string.h>

#include "comment/index.h"
#include "project/comments_priv.h"

/* A comment and its rows, before the window or after it. Without `exists` there are none. */
struct side {
    bool exists;
    const struct comment *comment;
    struct comment_index index;
};

static void rows_of(const struct comments *comments, const struct side *side,
                    struct comment_row rows[COMMENT_SLOTS])
{
    comment_index_rows(side->comment, &side->index, comments->type, rows);
    for (int i = 0; i < COMMENT_SLOTS && !side->exists; i++)
        rows[i].length = 0;
}

/* Replaces one row by the other. *changed: something was written. */
static enum status exchange(struct comments *comments, const struct comment_row *before,
                            const struct comment_row *now, uint64_t id, bool *changed)
{
    uint8_t value[ROW_COMMENT_MAX];
    enum status status = STATUS_OK;
    if (before->length == now->length && memcmp(before->key, now->key, now->length) == 0)
        return STATUS_OK;
    *changed = true;
    if (before->length > 0)
        status = comment_rows_remove(comments, before->table, before->key, before->length);
    if (now->length > 0 && status == STATUS_OK)
        status = comment_rows_put(comments, now->table, now->key, now->length, value,
                                  now->has_id ? row_write_number(id, value) : 0);
    return status;
}

static enum status add_parent(struct comments *comments, struct item parent)
{
    if (!comments_grow(&comments->parents, &comments->parent_room, comments->parent_count,
                       sizeof *comments->parents))
        return STATUS_NO_MEMORY;
    comments->parents[comments->parent_count++] = parent;
    return STATUS_OK;
}

/* Rows of lists, orders and queues. */
static enum status write_lists(struct comments *comments, const struct side *before,
                               const struct side *now)
{
    const struct comment *comment = now->exists ? now->comment : before->comment;
    struct comment_row old[COMMENT_SLOTS], new[COMMENT_SLOTS];
    bool listed = false, held = false, other = false;
    enum status status = STATUS_OK;
    rows_of(comments, before, old);
    rows_of(comments, now, new);
    for (int i = 0; i < COMMENT_SLOTS && status == STATUS_OK; i++)
        status = exchange(comments, &old[i], &new[i], comment->id,
                          i < COMMENT_SLOT_HELD    ? &listed
                          : i == COMMENT_SLOT_HELD ? &held
                                                   : &other);
    if (status == STATUS_OK && listed)
        status = add_parent(comments, comment_parent(comment, comments->type));
    return status == STATUS_OK && held ? add_parent(comments, comment->subject) : status;
}

static enum status write_comment(struct comments *comments, const struct side *before,
                                 const struct side *now)
{
    uint8_t key[ROW_KEY_MAX], old[ROW_COMMENT_MAX], new[ROW_COMMENT_MAX];
    size_t length = row_key_id(now->comment->id, key);
    if (!now->exists)
        return comment_rows_remove(comments, STORE_COMMENT, key, length);
    size_t old_length =
        before->exists ? row_write_comment(before->comment, &before->index, old) : 0;
    size_t new_length = row_write_comment(now->comment, &now->index, new);
    if (old_length == new_length && memcmp(old, new, new_length) == 0)
        return STATUS_OK;
    return comment_rows_put(comments, STORE_COMMENT, key, length, new, new_length);
}

static enum status write_content(struct comments *comments, const struct comment_work *work)
{
    uint8_t key[ROW_KEY_MAX];
    size_t length = row_key_id(work->id, key);
    if (work->content_changed)
        return comment_rows_put(comments, STORE_CONTENT, key, length, work->content.data,
                                work->content.length);
    return work->wiped && work->was ? comment_rows_remove(comments, STORE_CONTENT, key, length)
                                    : STATUS_OK;
}

static const struct comment_version *next_version(const struct comments *comments, uint32_t next)
{
    return next != 0 ? &comments->versions[next - 1] : NULL;
}

/* Is this version, which has its number from a comment with so many versions, one of the last ones? */
static bool is_recent(uint32_t number, uint32_t versions)
{
    return number <= versions && versions - number < LIMIT_VERSIONS;
}

/* Earlier texts of this window, and those in the store that are too old now or removed. */
static enum status write_history(struct comments *comments, const struct comment_work *work)
{
    uint8_t key[ROW_KEY_MAX];
    enum status status = STATUS_OK;
    uint32_t versions = work->now.versions, first = UINT32_MAX;
    const struct comment_version *version = next_version(comments, work->versions);
    for (; version != NULL && status == STATUS_OK && is_recent(version->number, versions);
         version = next_version(comments, version->next)) {
        first = version->number;
        status =
            comment_rows_put(comments, STORE_HISTORY, key, row_key_history(work->id, first, key),
                             version->content.data, version->content.length);
    }
    uint32_t most = work->was && !work->before.deleted ? work->before.versions : 0;
    uint32_t least = most > LIMIT_VERSIONS ? most - LIMIT_VERSIONS : 0;
    for (uint32_t number = most; number > least && status == STATUS_OK; number--) {
        bool stays = !work->wiped && is_recent(number, versions);
        if (!stays && !(number >= first && number <= versions))
            status = comment_rows_remove(comments, STORE_HISTORY, key,
                                         row_key_history(work->id, number, key));
    }
    return status;
}

enum status comments_write_work(struct comments *comments, const struct comment_work *work)
{
    const struct side before = {work->was, &work->before, work->index};
    struct side now = {work->is, &work->now, {0}};
    if (!work->was && !work->is && !work->wiped)
        return STATUS_OK; /* an item that is no comment */
    if (work->is)
        now.index = comment_index_of(&work->now, &work->votes);
    enum status status = STATUS_OK;
    if (work->was || work->is)
        status = write_lists(comments, &before, &now);
    if (status == STATUS_OK && (work->was || work->is))
        status = write_comment(comments, &before, &now);
    if (status == STATUS_OK)
        status = write_content(comments, work);
    return status == STATUS_OK ? write_history(comments, work) : status;
}

static int compare_subjects(const void *a, const void *b)
{
    const struct subject_work *first = a, *second = b;
    struct item one = first->subject.item, two = second->subject.item;
    if (one.type != two.type)
        return one.type < two.type ? -1 : 1;
    if (one.id.hi != two.id.hi)
        return one.id.hi < two.id.hi ? -1 : 1;
    if (one.id.lo != two.id.lo)
        return one.id.lo < two.id.lo ? -1 : 1;
    return first->serial < second->serial ? -1 : first->serial > second->serial;
}

/* Of several events on a subject the last one is right. */
enum status comments_write_subjects(struct comments *comments)
{
    uint8_t key[ROW_KEY_MAX], value[ROW_COMMENT_MAX];
    enum status status = STATUS_OK;
    struct subject_work *subjects = comments->subjects;
    if (comments->subject_count > 0)
        qsort(subjects, comments->subject_count, sizeof *subjects, compare_subjects);
    for (size_t i = 0; i < comments->subject_count && status == STATUS_OK; i++) {
        const struct subject *subject = &subjects[i].subject;
        if (i + 1 < comments->subject_count &&
            item_equal(subject->item, subjects[i + 1].subject.item))
            continue;
        status = comment_rows_put(comments, STORE_SUBJECT, key, row_key_item(subject->item, key),
                                  value, row_write_subject(subject, value));
    }
    return status;
}
