/*
 * Posting and editing. A new text passes these checks, in this order: the comment that is answered, the ban of the
 * user, the mode of the subject, and the same text again. A text of a user with a shadow ban, and a reply to a
 * shadow comment, is a shadow comment; a text that is held waits for a moderator.
 */
#include <string.h>

#include "comment/content.h"
#include "hot/memory/hot_memory_priv.h"
#include "hot/memory/queries.h"
#include "query/comment_first.h"

#define ID_TRIES 64 /* ids in use that are skipped before the store is asked */

/* A new text that is being decided on. */
struct writing {
    struct hot_request *request;
    const struct hot_detail *detail;
    bool held; /* it waits for a moderator, unless it is a shadow comment */
    struct repeat_key key;
    struct comment_content content;
    uint32_t length; /* of `bytes` */
    uint8_t bytes[COMMENT_CONTENT_BYTES];
};

static void encode(struct writing *writing, uint32_t time_s)
{
    if (writing->length != 0 && writing->content.time_s == time_s)
        return;
    writing->content.time_s = time_s;
    writing->length = (uint32_t)comment_content_encode(&writing->content, writing->bytes);
}

/* OK, unless the decoding of the request has let pass what it should not. */
static enum status check_bounds(const struct hot_detail *detail)
{
    if (detail->text.length == 0 || detail->mention_count > LIMIT_MENTIONS)
        return STATUS_BAD_ARGUMENT;
    return detail->text.length > LIMIT_COMMENT_TEXT || detail->extra.length > LIMIT_COMMENT_EXTRA
               ? STATUS_TEXT_TOO_LONG
               : STATUS_OK;
}

/* Is the text to be held? BLOCKED: an I/O thread cannot find out. */
static enum status screen(struct hot_memory *hot, struct writing *writing, unsigned worker)
{
    bool was_open = true;
    enum status status = STATUS_OK;
    if (hot->policy->hold == COMMENT_HOLD_FIRST)
        status = hot_memory_was_open(hot, worker, writing->request->user, &was_open);
    writing->held = comment_policy_holds(hot->policy, writing->detail->text, was_open);
    return status;
}

static bool is_own(const struct comment *comment, struct id user)
{
    return !comment->anonymous && id_equal(comment->author, user);
}

/* The author sees an own comment that is pending or shadow. */
static bool is_own_held(const struct comment *comment, struct id user)
{
    return is_own(comment, user) && !comment->deleted &&
           (comment->moderation == COMMENT_PENDING || comment->moderation == COMMENT_SHADOW);
}

bool comment_is_seen(const struct comment *comment, const struct comment *root, struct id user)
{
    bool is_root = comment_is_root(comment);
    if (is_own_held(comment, user))
        return is_root || comment_has_thread(root) || is_own_held(root, user);
    return comment->moderation == COMMENT_VISIBLE && (is_root || comment_has_thread(root));
}

/* May the user reply to the comment that the step has found? *shadow: only with a shadow comment. */
static enum status check_target(const struct comment_step *step, bool *shadow)
{
    const struct comment *target = &step->comment;
    if (!comment_is_seen(target, &step->root, step->user))
        return STATUS_NO_COMMENT;
    if (target->deleted)
        return STATUS_COMMENT_DELETED;
    *shadow = target->moderation == COMMENT_SHADOW;
    return *shadow || comment_is_open(target) ? STATUS_OK : STATUS_COMMENT_NOT_OPEN;
}

/* May the user write a text on this subject now? *moderation: what a visible comment becomes. */
static enum status check_writer(const struct comment_step *step, bool held, uint8_t *moderation)
{
    struct user_ban ban = bans_find(&step->hot->bans, step->user, step->time_s);
    if (ban.until_s != 0 && !ban.shadow)
        return STATUS_BANNED;
    if (step->subject.mode == SUBJECT_READONLY)
        return STATUS_SUBJECT_READONLY;
    if (step->subject.mode == SUBJECT_CLOSED)
        return STATUS_SUBJECT_CLOSED;
    *moderation = ban.until_s != 0                             ? COMMENT_SHADOW
                  : held || step->subject.mode == SUBJECT_HELD ? COMMENT_PENDING
                                                               : COMMENT_VISIBLE;
    return STATUS_OK;
}

/* Is there anything with this id already? BLOCKED: only the store can say. */
static enum status is_taken(struct comment_step *step, uint64_t id, bool ask, bool *taken)
{
    struct hot_memory *hot = step->hot;
    struct item item = comment_item(id, comment_type_of(hot));
    uint64_t hash = item_hash_of(hot, item);
    const struct item_row *row = item_find(step->shard, hash, item);
    *taken = true;
    if (kept_find_comment(&step->shard->comments, hash, id) != 0)
        return STATUS_OK;
    if (row != NULL && !(row->flags & ITEM_PARTIAL)) {
        *taken = row->count > 0;
        return STATUS_OK;
    }
    if (row == NULL && !filters_may_have_item(hot->filters, item)) {
        *taken = false;
        return STATUS_OK;
    }
    if (!ask)
        return STATUS_OK;
    step->needed.items[step->needed.item_count++] = item;
    return STATUS_BLOCKED;
}

/*
 * The time that an id is made from. If a clock was in 2099 for a moment, recorded times stay there, and no id can hold
 * them; then the time that the clock says now is used. Ids rise all the same, because each gene knows its newest.
 */
static uint32_t id_time(const struct comment_step *step)
{
    uint32_t time_s = step->time_s;
    struct timeline *timeline = step->hot->timeline;
    bool fits = time_s >= COMMENT_EPOCH_S &&
                (time_s - COMMENT_EPOCH_S) * UINT64_C(1000) >> COMMENT_MS_BITS == 0;
    return fits || timeline == NULL ? time_s : timeline_shown(timeline, time_s);
}

/*
 * Gives the comment an id that is higher than all ids of its gene, and that no item has: clients can react to items
 * of the type `comment` that are no comments. If the filters exclude no id, the store is asked about one.
 */
static enum status give_id(struct comment_step *step, uint64_t *id)
{
    struct comment_clock clock = step->gene->clock;
    uint64_t first =
        step->hot->comments.first_ms << COMMENT_SEQUENCE_BITS | (COMMENT_SEQUENCE_COUNT - 1);
    if (step->hot->comments.first_ms != 0 && clock.newest < first)
        clock.newest = first;
    struct comment_clock begin = clock;
    uint32_t time_s = id_time(step);
    for (unsigned tries = 0; tries < 2 * ID_TRIES; tries++) {
        bool taken;
        if (tries == ID_TRIES)
            clock = begin;
        if (!comment_id_next(&clock, time_s, step->gene_number, id))
            return STATUS_NO_COMMENT_TIME;
        enum status status = is_taken(step, *id, tries >= ID_TRIES, &taken);
        if (status != STATUS_OK || !taken)
            return status;
    }
    return STATUS_TOO_BUSY;
}

/* The token was used before: the answer is about the comment that was posted then. */
static enum status answer_again(struct comment_step *step, struct hot_request *request, uint64_t id)
{
    struct item item = comment_item(id, comment_type_of(step->hot));
    enum status status = step_find_dropped(step, item);
    if (status != STATUS_OK && status != STATUS_NO_COMMENT)
        return status;
    bool found = status == STATUS_OK;
    request->comment.repeated = true;
    request->comment.id = id;
    request->comment.floor = found ? step->comment.floor : 0;
    request->comment.state = found ? step->comment.moderation : COMMENT_HIDDEN;
    request->comment.deleted = !found || step->comment.deleted;
    return STATUS_OK;
}

/* Finds what the user writes about: a subject, or a comment to reply to. */
static enum status find_place(struct comment_step *step, struct item item, bool *shadow)
{
    if (item.type != comment_type_of(step->hot))
        return step_find_subject(step, item);
    enum status status = step_find(step, item);
    return status == STATUS_OK ? check_target(step, shadow) : status;
}

/* Makes the new comment from what it is on; the floor is taken from the parent. */
static enum status make_comment(struct comment_step *step, bool is_reply, uint8_t moderation)
{
    struct comment_body *body = &step->body;
    struct comment target = step->comment;
    struct comment *comment = &body->comment;
    uint64_t id;
    enum status status = give_id(step, &id);
    if (status != STATUS_OK)
        return status;
    *comment = (struct comment){.id = id,
                                .subject = step->subject.item,
                                .author = step->user,
                                .time_s = step->time_s,
                                .moderation = moderation};
    step->comment_cell = 0;
    if (!is_reply) {
        comment->next_floor = 1;
        comment->floor = body->subject.next_floor++;
        return comment->floor == UINT32_MAX ? STATUS_COUNTER_OVERFLOW : STATUS_OK;
    }
    comment->root = comment_is_root(&target) ? target.id : target.root;
    comment->reply_to = target.id;
    comment->reply_to_user = target.author;
    comment->floor = body->root.next_floor++;
    return comment->floor == UINT32_MAX ? STATUS_COUNTER_OVERFLOW : STATUS_OK;
}

/* If a root is answered, it is both the target and the root of the step. */
static void use_target_as_root(struct comment_step *step)
{
    if (!comment_is_root(&step->comment))
        return;
    step->root = step->body.root = step->comment;
    step->root_cell = step->comment_cell;
}

static enum status decide_post(struct comment_step *step, void *context)
{
    struct writing *writing = context;
    struct hot_request *request = writing->request;
    const struct hot_detail *detail = writing->detail;
    bool shadow = false, is_reply = request->items[0].type == comment_type_of(step->hot);
    uint8_t moderation;
    uint64_t before = 0;
    request->comment.repeated = false;
    if (detail->has_token)
        before = hot_memory_token_value(step->hot, step->shard, detail->token, step->time_s);
    if (before != 0)
        return answer_again(step, request, before);
    enum status status = find_place(step, request->items[0], &shadow);
    if (status == STATUS_OK)
        status = check_writer(step, writing->held, &moderation);
    if (status != STATUS_OK)
        return status;
    before = repeats_find(&step->hot->repeats, &writing->key, step->time_s);
    if (before != COMMENT_NONE) {
        request->comment.id = before;
        return STATUS_COMMENT_REPEATED;
    }
    if (is_reply)
        use_target_as_root(step);
    status = make_comment(step, is_reply, shadow ? COMMENT_SHADOW : moderation);
    if (status != STATUS_OK)
        return status;
    encode(writing, step->time_s);
    step->kind = COMMENT_EVENT_ADD;
    step->body.has_content = true;
    step->body.content = writing->bytes;
    step->body.content_length = writing->length;
    step->body.has_token = detail->has_token;
    step->body.token[0] = detail->token[0];
    step->body.token[1] = detail->token[1];
    step_settle(step);
    return STATUS_OK;
}

/* Under the lock, after the comment was recorded: its id and its text are taken. */
static void note_posted(const struct comment_step *step, void *context)
{
    const struct writing *writing = context;
    comment_id_note(&step->gene->clock, step->body.comment.id);
    repeats_add(&step->hot->repeats, &writing->key, step->body.comment.id, step->time_s);
}

static void answer_post(struct hot_request *request, const struct comment_step *step)
{
    const struct comment *comment = &step->body.comment;
    if (request->status == STATUS_OK && !request->comment.repeated) {
        request->comment.value = 1;
        request->comment.id = comment->id;
        request->comment.floor = comment->floor;
        request->comment.state = comment->moderation;
    }
    if (request->comment.state == COMMENT_SHADOW)
        request->comment.state = COMMENT_VISIBLE; /* the author cannot tell */
}

bool comment_run_post(struct hot_memory *hot, struct hot_request *request, unsigned worker)
{
    struct writing writing;
    const struct hot_detail *detail = writing.detail = request->comment.detail;
    struct comment_step step = {.user = request->user, .detail = detail, .recorded = note_posted};
    writing.request = request;
    writing.length = 0;
    request->status = check_bounds(detail);
    if (request->status == STATUS_OK)
        request->status = screen(hot, &writing, worker);
    if (request->status != STATUS_OK)
        return request->status != STATUS_BLOCKED;
    writing.content = (struct comment_content){
        .text = detail->text, .extra = detail->extra, .mention_count = detail->mention_count};
    for (uint32_t i = 0; i < detail->mention_count; i++)
        writing.content.mentions[i] = detail->mentions[i];
    encode(&writing, request->time_s);
    writing.key = repeats_key(&hot->repeats, request->user, request->items[0], detail->text);
    if (!comment_run(hot, worker, request->items[0], request->time_s, &step, decide_post, &writing,
                     &request->status))
        return false;
    answer_post(request, &step);
    return true;
}

/* The new text with the extra and the mentions of the old content; *same: the text is the same. */
static enum status replace_text(struct comment_step *step, struct writing *writing, bool *same)
{
    uint8_t old[COMMENT_CONTENT_BYTES];
    uint32_t length = 0;
    enum status status = step_content(step, old, &length);
    if (status == STATUS_OK)
        status = comment_content_decode(old, length, &writing->content);
    if (status != STATUS_OK)
        return status;
    struct text text = writing->detail->text;
    *same = text.length == writing->content.text.length &&
            memcmp(text.bytes, writing->content.text.bytes, text.length) == 0;
    writing->content.text = text;
    writing->length = 0;
    encode(writing, step->time_s); /* before `old`, to which the content points, is gone */
    return STATUS_OK;
}

static enum status decide_edit(struct comment_step *step, void *context)
{
    struct writing *writing = context;
    uint8_t moderation;
    bool same = false;
    enum status status = step_find(step, writing->request->items[0]);
    if (status != STATUS_OK)
        return status;
    struct comment *comment = &step->body.comment;
    if (!is_own(comment, step->user))
        return comment_is_seen(comment, &step->root, step->user) ? STATUS_NOT_AUTHOR
                                                                 : STATUS_NO_COMMENT;
    if (comment->deleted)
        return STATUS_COMMENT_DELETED;
    status = check_writer(step, writing->held, &moderation);
    if (status == STATUS_OK)
        status = replace_text(step, writing, &same);
    if (status != STATUS_OK || same)
        return status;
    if (comment->moderation == COMMENT_VISIBLE)
        comment->moderation = moderation;
    comment->edited_s = step->time_s;
    comment->versions++;
    step->kind = COMMENT_EVENT_EDIT;
    step->body.has_content = true;
    step->body.content = writing->bytes;
    step->body.content_length = writing->length;
    step_settle(step);
    return STATUS_OK;
}

bool comment_run_edit(struct hot_memory *hot, struct hot_request *request, unsigned worker)
{
    struct writing writing;
    struct comment_step step = {.user = request->user, .detail = request->comment.detail};
    writing.detail = request->comment.detail;
    writing.request = request;
    request->status = check_bounds(writing.detail);
    if (request->status == STATUS_OK)
        request->status = screen(hot, &writing, worker);
    if (request->status != STATUS_OK)
        return request->status != STATUS_BLOCKED;
    if (!comment_run(hot, worker, request->items[0], request->time_s, &step, decide_edit, &writing,
                     &request->status))
        return false;
    request->comment.value = request->status == STATUS_OK && step.kind != 0;
    return true;
}
