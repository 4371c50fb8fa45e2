/*
 * Decisions about comments that exist, and about subjects: everything but texts. Each function decides under the lock
 * on what comment_step has found; step_settle computes what follows for counts, lists and pins.
 */
#include "base/names.h"
#include "comment/content.h"
#include "hot/memory/hot_memory_priv.h"

/* A request, or a part of DROP or FORGET, that is being decided on. */
struct change {
    struct item item;
    struct id user;
    const struct hot_detail *detail;
    uint8_t state;
    uint8_t mode;
    bool set_owner;
    bool set_mode;
    uint8_t content[COMMENT_CONTENT_BYTES];
};

/* The text of the comment is gone for good; its replies stay. */
static enum status erase(struct comment_step *step, enum comment_event kind)
{
    if (step->body.comment.deleted)
        return STATUS_OK;
    step->body.comment.deleted = true;
    step->removes_content = true;
    step->kind = kind;
    step_settle(step);
    return STATUS_OK;
}

static enum status decide_uncomment(struct comment_step *step, void *context)
{
    struct change *change = context;
    enum status status = step_find(step, change->item);
    if (status != STATUS_OK)
        return status;
    const struct comment *comment = &step->comment;
    if (comment->anonymous || !id_equal(comment->author, change->user))
        return comment_is_seen(comment, &step->root, change->user) ? STATUS_NOT_AUTHOR
                                                                   : STATUS_NO_COMMENT;
    return erase(step, COMMENT_EVENT_STATE);
}

static enum status decide_purge(struct comment_step *step, void *context)
{
    const struct change *change = context;
    enum status status = step_find(step, change->item);
    return status == STATUS_OK ? erase(step, COMMENT_EVENT_PURGE) : status;
}

/* A moderator who says that a comment is fine has seen all of its reports. */
static enum status review(struct comment_step *step, uint8_t moderation)
{
    uint8_t report = atomic_load_explicit(&step->hot->policy->report, memory_order_relaxed);
    int64_t reports = 0;
    struct item item = comment_item(step->comment.id, comment_type_of(step->hot));
    if (moderation != COMMENT_VISIBLE || report == POLICY_NO_NAME)
        return STATUS_OK;
    enum status status = step_counter(step, item, report, &reports);
    if (status == STATUS_OK)
        step->body.comment.reviewed = reports < 0            ? 0
                                      : reports > UINT32_MAX ? UINT32_MAX
                                                             : (uint32_t)reports;
    return status;
}

/* The event of a comment that becomes open for the first time has its content, for the notices. */
static enum status add_content(struct comment_step *step, uint8_t *room)
{
    struct comment_body *body = &step->body;
    if (step->comment.was_open || !comment_is_open(&body->comment))
        return STATUS_OK;
    enum status status = step_content(step, room, &body->content_length);
    body->content = room;
    body->has_content = status == STATUS_OK;
    return status;
}

static enum status decide_moderate(struct comment_step *step, void *context)
{
    struct change *change = context;
    enum status status = step_find(step, change->item);
    if (status == STATUS_OK)
        status = review(step, change->state);
    if (status != STATUS_OK)
        return status;
    struct comment *comment = &step->body.comment;
    if (comment->moderation == change->state && comment->reviewed == step->comment.reviewed)
        return STATUS_OK;
    comment->moderation = change->state;
    status = add_content(step, change->content);
    if (status != STATUS_OK)
        return status;
    step->body.reason = change->detail->reason;
    step->kind = COMMENT_EVENT_STATE;
    step_settle(step);
    return STATUS_OK;
}

static enum status decide_pin(struct comment_step *step, void *context)
{
    const struct change *change = context;
    enum status status = step_find(step, change->item);
    if (status != STATUS_OK)
        return status;
    struct subject *subject = &step->body.subject;
    uint64_t id = step->comment.id;
    if (!comment_is_root(&step->comment) || !comment_is_open(&step->comment))
        return STATUS_COMMENT_NOT_OPEN;
    if (subject_has_pin(subject, id))
        return STATUS_OK;
    if (subject->pin_count == SUBJECT_PINS)
        return STATUS_PINS_FULL;
    subject->pins[subject->pin_count++] = id;
    step->pinned = id;
    step->body.has_subject = true;
    step->kind = COMMENT_EVENT_PIN;
    return STATUS_OK;
}

static enum status decide_unpin(struct comment_step *step, void *context)
{
    const struct change *change = context;
    enum status status = step_find(step, change->item);
    if (status == STATUS_OK && step_unpin(step, step->comment.id))
        step->kind = COMMENT_EVENT_PIN;
    return status;
}

static enum status decide_subject(struct comment_step *step, void *context)
{
    const struct change *change = context;
    if (change->item.type == comment_type_of(step->hot))
        return STATUS_NOT_A_SUBJECT;
    enum status status = step_find_subject(step, change->item);
    if (status != STATUS_OK)
        return status;
    struct subject *subject = &step->body.subject;
    bool owner =
        change->set_owner && !(subject->has_owner && id_equal(subject->owner, change->user));
    bool mode = change->set_mode && subject->mode != change->mode;
    if (!owner && !mode)
        return STATUS_OK;
    if (owner) {
        subject->has_owner = true;
        subject->owner = change->user;
    }
    if (mode)
        subject->mode = change->mode;
    step->body.has_subject = true;
    step->kind = COMMENT_EVENT_SUBJECT;
    return STATUS_OK;
}

static comment_decide_fn *function_of(enum hot_action action)
{
    switch (action) {
    case HOT_UNCOMMENT:
        return decide_uncomment;
    case HOT_MODERATE:
        return decide_moderate;
    case HOT_PIN:
        return decide_pin;
    case HOT_UNPIN:
        return decide_unpin;
    case HOT_PURGE:
        return decide_purge;
    default:
        ASSERT(action == HOT_SUBJECT_SET);
        return decide_subject;
    }
}

/* OK, unless the decoding of the request has let pass what it should not. */
static enum status check_bounds(const struct hot_request *request)
{
    if (request->comment.detail->reason.length > LIMIT_REASON)
        return STATUS_TEXT_TOO_LONG;
    return (request->action == HOT_MODERATE && request->comment.state > COMMENT_SHADOW) ||
                   (request->action == HOT_SUBJECT_SET && request->comment.mode > SUBJECT_CLOSED)
               ? STATUS_BAD_ARGUMENT
               : STATUS_OK;
}

bool comment_run_state(struct hot_memory *hot, struct hot_request *request, unsigned worker)
{
    struct change change;
    struct comment_step step = {.detail = request->comment.detail};
    request->status = check_bounds(request);
    if (request->status != STATUS_OK)
        return true;
    change.item = request->items[0];
    change.user = request->user;
    change.detail = request->comment.detail;
    change.state = request->comment.state;
    change.mode = request->comment.mode;
    change.set_owner = request->comment.set_owner;
    change.set_mode = request->comment.set_mode;
    if (request->action == HOT_UNCOMMENT)
        step.user = request->user;
    if (!comment_run(hot, worker, change.item, request->time_s, &step, function_of(request->action),
                     &change, &request->status))
        return false;
    request->comment.value = request->status == STATUS_OK && step.kind != 0;
    return true;
}

/* The counter of the subject becomes 0, whatever it is, and so does the number of its listed roots. */
static enum status decide_drop(struct comment_step *step, void *context)
{
    const struct change *change = context;
    enum status status = step_find_subject(step, change->item);
    if (status != STATUS_OK)
        return status;
    struct subject *subject = &step->body.subject;
    int64_t value;
    if (subject->dropped_floor + 1 == subject->next_floor)
        return STATUS_OK;
    status = step_counter(step, change->item, NAME_INDEX_COMMENT, &value);
    if (status != STATUS_OK)
        return status;
    subject->dropped_floor = subject->next_floor - 1;
    subject->roots = 0;
    subject->pin_count = 0;
    for (unsigned i = 0; i < SUBJECT_PINS; i++)
        subject->pins[i] = COMMENT_NONE;
    step->body.has_subject = true;
    step->body.subject_delta = -value;
    step->kind = COMMENT_EVENT_DROP;
    return STATUS_OK;
}

/* Was the comment that the step has found dropped? Its root may be gone already: then it was. */
static enum status find_dropped(struct comment_step *step, struct item item, bool *dropped)
{
    enum status status = step_find(step, item);
    *dropped = status == STATUS_NO_COMMENT;
    if (!*dropped)
        return status;
    step->needed = (struct comment_needed){0};
    return step_find_dropped(step, item);
}

static enum status remove_rows(struct comment_step *step)
{
    struct item item = comment_item(step->comment.id, comment_type_of(step->hot));
    int64_t value = 0;
    enum status status = STATUS_OK;
    if (comment_is_root(&step->comment))
        status = step_counter(step, item, NAME_INDEX_COMMENT, &value);
    step->body.root_delta = -value;
    step->body.has_comment = true;
    step->removes_rows = true;
    step->kind = COMMENT_EVENT_ROWS;
    return status;
}

static enum status decide_rows(struct comment_step *step, void *context)
{
    const struct change *change = context;
    bool dropped;
    enum status status = find_dropped(step, change->item, &dropped);
    return status == STATUS_OK && dropped ? remove_rows(step) : status;
}

/* A comment that was dropped has no author that anybody could see; what is left of it is removed. */
static enum status decide_forget(struct comment_step *step, void *context)
{
    const struct change *change = context;
    bool dropped;
    enum status status = find_dropped(step, change->item, &dropped);
    if (status != STATUS_OK)
        return status;
    struct comment *comment = &step->body.comment;
    if (comment->anonymous || !id_equal(comment->author, change->user))
        return STATUS_NOT_AUTHOR;
    if (dropped)
        return remove_rows(step);
    comment->anonymous = true;
    comment->author = (struct id){0};
    comment->deleted = true;
    step->removes_content = true;
    step->kind = COMMENT_EVENT_FORGET;
    step_settle(step);
    return STATUS_OK;
}

/* Runs a part of DROP or FORGET as a worker. */
static enum status run_part(struct hot_memory *hot, unsigned worker, struct item item,
                            struct id user, uint32_t time_s, comment_decide_fn *decide,
                            int64_t *value)
{
    struct change change = {.item = item, .user = user};
    struct comment_step step = {.user = user};
    enum status status;
    bool ran = comment_run(hot, worker, item, time_s, &step, decide, &change, &status);
    ASSERT(ran && worker != LOAD_NOBODY);
    *value = status == STATUS_OK && step.kind != 0;
    return status;
}

enum status comment_drop(struct hot_memory *hot, unsigned worker, struct item subject,
                         uint32_t time_s, int64_t *value)
{
    return run_part(hot, worker, subject, (struct id){0}, time_s, decide_drop, value);
}

enum status comment_remove_rows(struct hot_memory *hot, unsigned worker, uint64_t id,
                                uint32_t time_s, int64_t *value)
{
    struct item item = comment_item(id, comment_type_of(hot));
    return run_part(hot, worker, item, (struct id){0}, time_s, decide_rows, value);
}

enum status comment_forget(struct hot_memory *hot, unsigned worker, struct id user, uint64_t id,
                           uint32_t time_s, int64_t *value)
{
    struct item item = comment_item(id, comment_type_of(hot));
    return run_part(hot, worker, item, user, time_s, decide_forget, value);
}
