/*
 * Collecting is cheap: the body of an event is checked and copied. Everything that reads the store happens when the
 * window is complete, in comments_make_rows.
 */
#include "project/comments.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "comment/comment_id.h"
#include "comment/content.h"
#include "project/comments_priv.h"

/* Bytes that rows of one comment take, and those of one entry of an inbox or one removed row. */
enum { WORK_COST = COMMENTS_VOTE_COST, USER_COST = 512, REMOVED_COST = 96, ROOM_LEAST = 64 };

struct comments *comments_new(const struct comments_options *options)
{
    struct comments *comments = calloc(1, sizeof *comments);
    if (comments == NULL)
        return NULL;
    comments->options = *options;
    comments->type = UINT16_MAX;
    comments->dislike = comments->report = UINT8_MAX;
    return comments;
}

void comments_free(struct comments *comments)
{
    if (comments == NULL)
        return;
    store_arena_destroy(&comments->bodies);
    store_arena_destroy(&comments->arena);
    free(comments->notes);
    free(comments->works);
    free(comments->versions);
    free(comments->subjects);
    free(comments->users);
    free(comments->rows.at);
    free(comments->parents);
    free(comments);
}

bool comments_grow(void *array, size_t *room, size_t count, size_t entry_bytes)
{
    if (count < *room)
        return true;
    void **at = array;
    void *grown = array_grow(*at, room, count + 1, ROOM_LEAST, entry_bytes);
    if (grown != NULL)
        *at = grown;
    return grown != NULL;
}

enum status comments_contradict(struct comments *comments, uint64_t id, const char *what)
{
    snprintf(comments->problem, comments->problem_size, "the comment %" PRIu64 " %s", id, what);
    return STATUS_DAMAGED;
}

static bool is_text(const char *wanted, const char *text, size_t length)
{
    return wanted != NULL && strlen(wanted) == length && memcmp(wanted, text, length) == 0;
}

void comments_define(struct comments *comments, const struct event *event)
{
    ASSERT(event->type == EVENT_DEFINE);
    if (event->name == NAME_TYPE && is_text(COMMENT_TYPE_NAME, event->text, event->text_length))
        comments->type = event->index;
    if (event->name != NAME_KIND)
        return;
    if (is_text(comments->options.dislike, event->text, event->text_length))
        comments->dislike = (uint8_t)event->index;
    if (is_text(comments->options.report, event->text, event->text_length))
        comments->report = (uint8_t)event->index;
}

static void find_kind(const struct names *names, const char *text, uint8_t *kind)
{
    int index = *kind == UINT8_MAX && text != NULL ? names_find(names, text, strlen(text)) : -1;
    if (index >= 0 && names_get(names, (uint8_t)index)->role == NAME_KIND)
        *kind = (uint8_t)index;
}

static void find_type(struct comments *comments)
{
    int index =
        names_find_type(comments->options.names, COMMENT_TYPE_NAME, strlen(COMMENT_TYPE_NAME));
    if (index >= 0)
        comments->type = (uint16_t)index;
}

uint16_t comments_type(struct comments *comments)
{
    if (comments->type == UINT16_MAX)
        find_type(comments);
    return comments->type;
}

/* Which comment's counter `comment` an event changes, beside that of the subject. */
static uint64_t root_of(const struct comment_body *body)
{
    if (body->has_root)
        return body->root.id;
    return comment_is_root(&body->comment) ? body->comment.id : body->comment.root;
}

size_t comments_cost(const struct event *event)
{
    size_t cost = sizeof(struct comment_note) + event->body_length;
    switch (event->name) {
    case COMMENT_EVENT_BAN:
    case COMMENT_EVENT_SEEN:
    case COMMENT_EVENT_NOTICE:
        return cost + USER_COST;
    case COMMENT_EVENT_INBOX:
        return cost + USER_COST + LIMIT_INBOX * REMOVED_COST;
    case COMMENT_EVENT_PIN:
    case COMMENT_EVENT_SUBJECT:
    case COMMENT_EVENT_DROP:
        return cost + WORK_COST;
    case COMMENT_EVENT_ADD:
        return cost + event->body_length + 3 * WORK_COST + (1 + LIMIT_MENTIONS) * USER_COST;
    case COMMENT_EVENT_EDIT:
    case COMMENT_EVENT_STATE:
        cost += COMMENT_CONTENT_BYTES + (1 + LIMIT_MENTIONS) * USER_COST;
        break;
    }
    return cost + event->body_length + 3 * WORK_COST + LIMIT_VERSIONS * REMOVED_COST;
}

static bool is_about_user(uint8_t kind)
{
    return kind == COMMENT_EVENT_BAN || kind == COMMENT_EVENT_SEEN || kind == COMMENT_EVENT_INBOX ||
           kind == COMMENT_EVENT_NOTICE;
}

/* Does everything in the body belong to the subject that the event names? */
static bool is_of_subject(const struct comment_body *body, struct item subject)
{
    return (!body->has_subject || item_equal(body->subject.item, subject)) &&
           (!body->has_comment || item_equal(body->comment.subject, subject)) &&
           (!body->has_root || item_equal(body->root.subject, subject));
}

static enum status effect_of(struct comments *comments, const struct event *event,
                             struct comments_effect *effect)
{
    struct comment_body body;
    *effect = (struct comments_effect){0};
    enum status status = comment_body_decode(event->name, event->body, event->body_length, &body);
    if (status != STATUS_OK || is_about_user(event->name))
        return status;
    uint64_t root = body.has_comment ? root_of(&body) : COMMENT_NONE;
    if (!is_of_subject(&body, event->item) || comments_type(comments) == UINT16_MAX ||
        (body.root_delta != 0 && root == COMMENT_NONE))
        return STATUS_DAMAGED;
    *effect = (struct comments_effect){.subject = event->item,
                                       .root = comment_item(root, comments->type),
                                       .subject_delta = body.subject_delta,
                                       .root_delta = body.root_delta,
                                       .has_token = body.has_token,
                                       .token = {body.token[0], body.token[1]},
                                       .comment = body.comment.id};
    return STATUS_OK;
}

enum status comments_add(struct comments *comments, const struct event *event,
                         struct comments_effect *effect)
{
    ASSERT(event->type == EVENT_COMMENT);
    enum status status = effect_of(comments, event, effect);
    if (status != STATUS_OK)
        return status;
    if (!comments_grow(&comments->notes, &comments->note_room, comments->note_count,
                       sizeof *comments->notes))
        return STATUS_NO_MEMORY;
    const uint8_t *body = store_arena_copy(&comments->bodies, event->body, event->body_length);
    if (body == NULL)
        return STATUS_NO_MEMORY;
    comments->notes[comments->note_count++] = (struct comment_note){.kind = event->name,
                                                                    .time_s = event->time_s,
                                                                    .length = event->body_length,
                                                                    .user = event->user,
                                                                    .body = body};
    return STATUS_OK;
}

/* Forgets what an earlier call of comments_make_rows has made. */
static void forget_rows(struct comments *comments)
{
    store_arena_empty(&comments->arena);
    comments->work_count = comments->version_count = comments->subject_count = 0;
    comments->user_count = comments->rows.count = comments->parent_count = 0;
    comments->highest_ms = 0;
    comments->added = false;
}

/* The highest milliseconds of all ids, from which new ids continue after a start. */
static enum status write_highest(struct comments *comments, struct store_bytes stored)
{
    uint8_t key[ROW_KEY_MAX], value[ROW_COMMENT_MAX];
    uint64_t highest = 0;
    enum status status = stored.data != NULL ? row_read_number(stored, &highest) : STATUS_OK;
    if (status != STATUS_OK || highest >= comments->highest_ms)
        return status;
    return comment_rows_put(comments, STORE_STATE, key, row_key_state('i', key), value,
                            row_write_number(comments->highest_ms, value));
}

/* The kinds with which keys are computed, which a later start must use, too. */
static enum status write_kinds(struct comments *comments, struct store_bytes stored)
{
    uint8_t key[ROW_KEY_MAX], value[ROW_COMMENT_MAX];
    struct comment_kinds kinds = {0};
    const struct comments_options *options = &comments->options;
    if (stored.data != NULL)
        return STATUS_OK;
    if (options->dislike != NULL)
        snprintf(kinds.dislike, sizeof kinds.dislike, "%s", options->dislike);
    if (options->report != NULL)
        snprintf(kinds.report, sizeof kinds.report, "%s", options->report);
    return comment_rows_put(comments, STORE_STATE, key, row_key_state('k', key), value,
                            row_write_kinds(&kinds, value));
}

/* What is kept once; it changes only if comments were added. */
static enum status write_state(struct comments *comments)
{
    uint8_t keys[2][ROW_KEY_MAX];
    const struct store_bytes wanted[2] = {{keys[0], (uint32_t)row_key_state('i', keys[0])},
                                          {keys[1], (uint32_t)row_key_state('k', keys[1])}};
    struct store_bytes found[2];
    if (!comments->added)
        return STATUS_OK;
    enum status status =
        store_read_rows(comments->options.reader, STORE_STATE, wanted, 2, found, &comments->arena);
    if (status == STATUS_OK)
        status = write_highest(comments, found[0]);
    return status == STATUS_OK ? write_kinds(comments, found[1]) : status;
}

static int compare_items(const void *a, const void *b)
{
    const struct item *first = a, *second = b;
    if (first->type != second->type)
        return first->type < second->type ? -1 : 1;
    if (first->id.hi != second->id.hi)
        return first->id.hi < second->id.hi ? -1 : 1;
    return first->id.lo < second->id.lo ? -1 : first->id.lo > second->id.lo;
}

static void finish_parents(struct comments *comments)
{
    size_t kept = 0;
    if (comments->parent_count > 0)
        qsort(comments->parents, comments->parent_count, sizeof *comments->parents, compare_items);
    for (size_t i = 0; i < comments->parent_count; i++)
        if (kept == 0 || !item_equal(comments->parents[kept - 1], comments->parents[i]))
            comments->parents[kept++] = comments->parents[i];
    comments->parent_count = kept;
}

enum status comments_make_rows(struct comments *comments, struct store_changes *changes,
                               char *problem, size_t size)
{
    ASSERT(comments->options.reader != NULL && size > 0);
    forget_rows(comments);
    problem[0] = '\0';
    comments->problem = problem;
    comments->problem_size = size;
    comments_type(comments);
    find_kind(comments->options.names, comments->options.dislike, &comments->dislike);
    find_kind(comments->options.names, comments->options.report, &comments->report);
    enum status status = comments_apply(comments, changes);
    for (size_t i = 0; i < comments->work_count && status == STATUS_OK; i++)
        status = comments_write_work(comments, &comments->works[i]);
    if (status == STATUS_OK)
        status = comments_write_subjects(comments);
    if (status == STATUS_OK)
        status = comments_write_users(comments);
    if (status == STATUS_OK)
        status = write_state(comments);
    if (status == STATUS_OK)
        status = comment_rows_finish(comments);
    if (status != STATUS_OK)
        return status;
    finish_parents(comments);
    changes->rows = comments->rows.at;
    changes->row_count = comments->rows.count;
    return STATUS_OK;
}

const struct item *comments_parents(const struct comments *comments, size_t *count)
{
    *count = comments->parent_count;
    return comments->parents;
}

void comments_clear(struct comments *comments)
{
    forget_rows(comments);
    store_arena_empty(&comments->bodies);
    comments->note_count = 0;
}
