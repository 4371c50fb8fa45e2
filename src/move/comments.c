/*
 * Decides imported comments and subjects. The events have after-images like those of the server
 * (comment/body.h). A comment with earlier texts becomes several events: it is posted with the
 * oldest text and then edited, so that its history is made as it always is.
 */
#include "move/comments.h"

#include <inttypes.h>
#include <string.h>

#include "base/assert.h"
#include "base/hash.h"
#include "comment/comment_id.h"
#include "comment/screen.h"
#include "move/comments_private.h"

#define AHEAD_S  86400 /* seconds that the clock which made an id may have been ahead */
#define ID_TRIES 64

/* Checks of a comment */

static enum status content_check(struct import *import, const struct comment_content *content)
{
    uint32_t time_s = content->time_s;
    enum status status = import_time(import, &time_s);
    if (status != STATUS_OK)
        return status;
    if (content->text.length == 0)
        return import_refuse(import, "the text is empty");
    if (content->text.length > LIMIT_COMMENT_TEXT)
        return import_refuse(import, "the text has %zu bytes, and at most %d are allowed",
                             content->text.length, LIMIT_COMMENT_TEXT);
    if (content->extra.length > LIMIT_COMMENT_EXTRA)
        return import_refuse(import, "extra has %zu bytes, and at most %llu are allowed",
                             content->extra.length, LIMIT_COMMENT_EXTRA);
    if (utf8_valid(content->text) != content->text.length ||
        utf8_valid(content->extra) != content->extra.length)
        return import_refuse(import, "the text is not valid UTF-8");
    return content->mention_count <= LIMIT_MENTIONS
               ? STATUS_OK
               : import_refuse(import, "there are more than %d mentions", LIMIT_MENTIONS);
}

static enum status contents_check(struct import *import, const struct moved_comment *moved)
{
    const struct comment *comment = &moved->comment;
    if (moved->has_content == comment->deleted)
        return import_refuse(import, comment->deleted
                                         ? "a deleted comment has no text and no history"
                                         : "the comment has no text and is not deleted");
    if (moved->history_count > LIMIT_VERSIONS || moved->history_count > comment->versions ||
        (comment->deleted && moved->history_count > 0))
        return import_refuse(import,
                             "the history has %u entries, but there can be at most %d, "
                             "and not more than there were versions",
                             moved->history_count, LIMIT_VERSIONS);
    enum status status = moved->has_content ? content_check(import, &moved->content) : STATUS_OK;
    for (uint32_t i = 0; status == STATUS_OK && i < moved->history_count; i++)
        status = content_check(import, &moved->history[i]);
    return status;
}

static enum status id_check(struct import *import, const struct comment *comment)
{
    uint64_t most_ms =
        ((uint64_t)import->options.recorded_s + AHEAD_S - COMMENT_EPOCH_S) * UINT64_C(1000);
    if (import->options.recorded_s < COMMENT_EPOCH_S || comment->id >> 63 != 0 ||
        comment_id_ms(comment->id) > most_ms)
        return import_refuse(import,
                             "comment:%" PRIu64 " is not an id of a comment that was "
                             "posted before now",
                             comment->id);
    if (comment_id_gene(comment->id) != gene(comment->subject))
        return import_refuse(import,
                             "comment:%" PRIu64 " is not an id of a comment on this "
                             "subject: ids contain a hash of the subject, in which types are "
                             "numbered in the order of their definition",
                             comment->id);
    return STATUS_OK;
}

/* Makes the comment of the row with recorded times. */
static enum status comment_check(struct import *import, const struct moved_comment *moved,
                                 struct item subject, struct comment *comment)
{
    *comment = moved->comment;
    comment->subject = subject;
    comment->open_replies = 0;
    comment->was_open = comment->was_open || comment_is_open(comment);
    enum status status = contents_check(import, moved);
    if (status == STATUS_OK)
        status = import_time(import, &comment->time_s);
    if (status == STATUS_OK && comment->edited_s != 0)
        status = import_time(import, &comment->edited_s);
    if (status == STATUS_OK && comment->id != COMMENT_NONE)
        status = id_check(import, comment);
    if (status != STATUS_OK)
        return status;
    if (comment_is_root(comment) ? comment->reply_to != COMMENT_NONE
                                 : comment->reply_to == COMMENT_NONE)
        return import_refuse(import, "a reply has both a root and a comment that it answers, "
                                     "and a root has neither");
    if (comment->floor == UINT32_MAX || comment->next_floor == UINT32_MAX)
        return import_refuse(import, "a floor is less than %u", UINT32_MAX);
    if (!comment_is_root(comment))
        comment->next_floor = 0;
    else if (comment->next_floor == 0)
        comment->next_floor = 1;
    return STATUS_OK;
}

/* Comments that exist */

/* An author who was forgotten since then does not come back. */
static bool is_by_same(const struct comment *existing, const struct comment *comment)
{
    return existing->anonymous ||
           (!comment->anonymous && id_equal(existing->author, comment->author));
}

static bool is_same_place(const struct comment *existing, const struct comment *comment)
{
    return item_equal(existing->subject, comment->subject) && existing->root == comment->root;
}

static enum status refuse_other(struct import *import, uint64_t id)
{
    return import_refuse(import,
                         "comment:%" PRIu64 " is there already, but it is on another "
                         "subject, in another thread or by another author; it stays as "
                         "it is",
                         id);
}

/* Does the existing comment have the same `extra`, which says where it comes from? */
static enum status has_same_source(struct import *import, const struct comment *existing,
                                   const struct moved_comment *moved, bool *same)
{
    uint8_t key[ROW_KEY_MAX];
    struct store_bytes value;
    struct comment_content content;
    enum status status =
        import_read_row(import, STORE_CONTENT, key, row_key_id(existing->id, key), &value);
    *same = existing->deleted || !moved->has_content;
    if (status != STATUS_OK || value.data == NULL || !moved->has_content)
        return status;
    if (comment_content_decode(value.data, value.length, &content) != STATUS_OK)
        return import_damaged(import);
    *same = content.extra.length == moved->content.extra.length &&
            memcmp(content.extra.bytes, moved->content.extra.bytes, content.extra.length) == 0;
    return STATUS_OK;
}

/*
 * Ids begin with the time. Comments from before 2025 have ids of the first days of 2025, in their
 * order: a second of theirs is a millisecond of an id. Later tries may be a minute later, so that many
 * comments of the same moment find free ids soon.
 */
static uint64_t id_try(const struct comment *comment, uint64_t source, unsigned attempt)
{
    uint64_t ms = comment->time_s;
    if (comment->time_s > COMMENT_EPOCH_S &&
        (comment->time_s - COMMENT_EPOCH_S) * UINT64_C(1000) > ms)
        ms = (comment->time_s - COMMENT_EPOCH_S) * UINT64_C(1000);
    uint64_t range = (uint64_t)COMMENT_SEQUENCE_COUNT << (attempt < 16 ? attempt : 16);
    uint64_t number = (ms << COMMENT_SEQUENCE_BITS) + hash_mix(source, attempt) % range;
    return ((number >> COMMENT_SEQUENCE_BITS) << GENE_BITS | gene(comment->subject))
               << COMMENT_SEQUENCE_BITS |
           (number & (COMMENT_SEQUENCE_COUNT - 1));
}

/* Chooses an id. *found: the comment is there already. */
static enum status id_choose(struct import *import, const struct moved_comment *moved,
                             struct comment *comment, bool *found)
{
    for (unsigned attempt = 0; attempt < ID_TRIES; attempt++) {
        struct comment existing;
        bool here;
        comment->id = id_try(comment, moved->source, attempt);
        enum status status = import_read_comment(import, comment->id, &existing, found, &here);
        if (status != STATUS_OK || !*found)
            return status;
        /* A source has each comment once, so what this import has decided just now is another one. */
        if (here || existing.time_s != comment->time_s || !is_same_place(&existing, comment) ||
            !is_by_same(&existing, comment))
            continue;
        status = has_same_source(import, &existing, moved, found);
        if (status != STATUS_OK || *found)
            return status;
    }
    return import_refuse(import, "no id is free for a comment of the time %u", comment->time_s);
}

static enum status id_find(struct import *import, const struct moved_comment *moved,
                           struct comment *comment, bool *found)
{
    struct comment existing;
    if (comment->id == COMMENT_NONE)
        return id_choose(import, moved, comment, found);
    enum status status = import_read_comment(import, comment->id, &existing, found, NULL);
    if (status != STATUS_OK || !*found)
        return status;
    return is_same_place(&existing, comment) && is_by_same(&existing, comment)
               ? STATUS_OK
               : refuse_other(import, comment->id);
}

/* New comments */

static enum status root_read(struct import *import, const struct comment *comment,
                             struct comment *root)
{
    bool found;
    struct comment answered;
    enum status status = import_read_comment(import, comment->root, root, &found, NULL);
    if (status != STATUS_OK)
        return status;
    if (!found || !comment_is_root(root) || !item_equal(root->subject, comment->subject))
        return import_refuse(import,
                             "its root comment:%" PRIu64 " is not a root on this "
                             "subject; a root comes before its replies",
                             comment->root);
    if (comment->reply_to == comment->root)
        return STATUS_OK;
    status = import_read_comment(import, comment->reply_to, &answered, &found, NULL);
    if (status == STATUS_OK && (!found || answered.root != comment->root))
        return import_refuse(import,
                             "comment:%" PRIu64 ", which it answers, is not in its "
                             "thread; it must come before",
                             comment->reply_to);
    return status;
}

static enum status floor_take(struct import *import, struct comment *comment, uint32_t *next_floor,
                              uint32_t dropped_floor)
{
    struct item parent = import_parent(import, comment);
    uint64_t other = COMMENT_NONE;
    enum status status = STATUS_OK;
    if (comment->floor == 0)
        comment->floor = *next_floor;
    else
        status = import_read_floor(import, parent, comment->floor, &other);
    if (status != STATUS_OK)
        return status;
    if (other != COMMENT_NONE)
        return import_refuse(import, "its floor %u is that of comment:%" PRIu64 " already",
                             comment->floor, other);
    if (comment->floor <= dropped_floor)
        return import_refuse(import, "its floor %u was dropped here", comment->floor);
    if (comment->floor >= UINT32_MAX - 1)
        return import_refuse(import, "there are no more floors");
    if (*next_floor <= comment->floor)
        *next_floor = comment->floor + 1;
    import_set_floor(import, parent, comment->floor, comment->id);
    return STATUS_OK;
}

/* The time was checked before. */
static void content_encode(struct import *import, const struct comment_content *content,
                           struct comment_body *body)
{
    struct comment_content recorded = *content;
    enum status status = import_time(import, &recorded.time_s);
    ASSERT(status == STATUS_OK);
    body->has_content = true;
    body->content = import->comments->content;
    body->content_length = (uint32_t)comment_content_encode(&recorded, import->comments->content);
    body->comment.edited_s = body->comment.versions > 0 ? recorded.time_s : 0;
}

/* Records the comment as it first was, then one event for each later text. */
static enum status comment_record(struct import *import, const struct moved_comment *moved,
                                  struct comment_body *body)
{
    const struct comment comment = body->comment;
    body->comment.versions -= moved->history_count;
    enum status status = STATUS_OK;
    for (uint32_t i = 0; status == STATUS_OK && i <= moved->history_count; i++) {
        bool last = i == moved->history_count;
        if (moved->has_content)
            content_encode(import, last ? &moved->content : &moved->history[i], body);
        if (last)
            body->comment = comment;
        status = import_record(import, i == 0 ? COMMENT_EVENT_IMPORT : COMMENT_EVENT_EDIT,
                               comment.author, comment.subject, body);
        *body = (struct comment_body){.has_comment = true, .comment = body->comment};
        body->comment.versions++;
    }
    return status;
}

/* Counts a new reply that is open, as comment.h says. */
static int64_t reply_count(const struct comment *comment, struct comment *root,
                           struct subject *subject)
{
    uint64_t listed = comment_is_listed(root);
    root->open_replies += comment_is_open(comment);
    subject->roots += comment_is_listed(root) - listed;
    return comment_is_counted(comment, root);
}

static enum status comment_add(struct import *import, const struct moved_comment *moved,
                               struct comment *comment)
{
    struct comment_body body = {.has_subject = true, .has_comment = true};
    struct comment *root = &body.root;
    struct subject *subject = &body.subject;
    bool reply = !comment_is_root(comment);
    enum status status = import_read_subject(import, comment->subject, subject);
    if (status == STATUS_OK && reply)
        status = root_read(import, comment, root);
    if (status == STATUS_OK && reply && comment_is_dropped(root, subject))
        return import_refuse(import, "its root comment:%" PRIu64 " was dropped here", root->id);
    if (status == STATUS_OK)
        status = floor_take(import, comment, reply ? &root->next_floor : &subject->next_floor,
                            reply ? 0 : subject->dropped_floor);
    if (status != STATUS_OK)
        return status;
    body.comment = *comment;
    body.has_root = reply;
    if (reply) {
        body.subject_delta = body.root_delta = reply_count(comment, root, subject);
        import_set_comment(import, root);
    } else {
        body.subject_delta = comment_is_open(comment);
        subject->roots += comment_is_listed(comment);
    }
    import_set_comment(import, comment);
    import_set_subject(import, subject);
    import->summary.changed++;
    return comment_record(import, moved, &body);
}

enum status import_comment(struct import *import, struct text text,
                           const struct moved_comment *moved, uint64_t *id)
{
    struct item subject;
    struct comment comment;
    bool found = false;
    enum status status = import_subject_item(import, text, &subject);
    if (status == STATUS_OK)
        status = comment_check(import, moved, subject, &comment);
    if (status == STATUS_OK)
        status = id_find(import, moved, &comment, &found);
    if (status == STATUS_OK && !found)
        status = comment_add(import, moved, &comment);
    if (status != STATUS_OK)
        return status;
    import->summary.rows++;
    import->summary.same += found;
    if (id != NULL)
        *id = comment.id;
    return STATUS_OK;
}
