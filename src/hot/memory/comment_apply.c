/*
 * Replay of events about comments. An event has the whole new state, so replay copies it; only counters are added to. What
 * an event does not have, such as the content of a root that got a reply, is in the store or in an earlier event.
 */
#include "base/names.h"
#include "hot/memory/hot_memory_priv.h"

/* One event that is being replayed. */
struct replaying {
    struct hot_memory *hot;
    struct item_shard *shard;
    struct comment_gene *gene;
    const struct event *event;
    struct comment_body body;
};

static struct item item_of_id(const struct replaying *replaying, uint64_t id)
{
    return comment_item(id, comment_type_of(replaying->hot));
}

static enum status put_subject(struct replaying *replaying)
{
    struct comment_shard *shard = &replaying->shard->comments;
    const struct subject *subject = &replaying->body.subject;
    uint64_t hash = item_hash_of(replaying->hot, subject->item);
    if (!kept_cache_subject(shard, hash, subject, false))
        return STATUS_NO_MEMORY;
    struct kept_cell *cell =
        kept_at(&replaying->shard->slab, kept_find_subject(shard, hash, subject->item));
    kept_write_subject(cell, subject);
    cell->position = replaying->hot->replay_position;
    return STATUS_OK;
}

/* The content of a comment: that of the event, or the one that it had before. */
static struct kept_bytes content_of(const struct replaying *replaying,
                                    const struct comment *comment, uint32_t old)
{
    const struct comment_body *body = &replaying->body;
    struct kept kept;
    if (comment->deleted || replaying->event->name == COMMENT_EVENT_ROWS)
        return (struct kept_bytes){.where = KEPT_NONE};
    if (body->has_content && comment == &body->comment)
        return (struct kept_bytes){
            .where = KEPT_HERE, .bytes = body->content, .length = body->content_length};
    if (old == 0)
        return (struct kept_bytes){.where = KEPT_STORED};
    kept_read(kept_at(&replaying->shard->slab, old), &kept);
    return (struct kept_bytes){.where = kept.content, .from = old, .length = kept.content_length};
}

static enum status put_comment(struct replaying *replaying, const struct comment *comment)
{
    struct hot_memory *hot = replaying->hot;
    struct comment_shard *shard = &replaying->shard->comments;
    struct slab *slab = &replaying->shard->slab;
    uint64_t hash = item_hash_of(hot, item_of_id(replaying, comment->id));
    uint32_t old = kept_find_comment(shard, hash, comment->id);
    bool gone = replaying->event->name == COMMENT_EVENT_ROWS && comment == &replaying->body.comment;
    uint32_t cell =
        kept_make_comment(slab, comment, gone ? KEPT_GONE : 0, content_of(replaying, comment, old));
    if (cell == 0)
        return STATUS_NO_MEMORY;
    if (old == 0 && !kept_reserve(shard, hash)) {
        kept_free(slab, cell);
        return STATUS_NO_MEMORY;
    }
    if (old == 0)
        kept_insert(shard, hash, cell, hot->replay_position);
    else
        kept_replace(shard, hash, old, cell, hot->replay_position);
    struct item parent =
        comment_is_root(comment) ? comment->subject : item_of_id(replaying, comment->root);
    changed_note(shard, replaying->gene, hash, comment->id, hot->replay_position,
                 changed_parent(parent));
    comment_id_note(&replaying->gene->clock, comment->id);
    return STATUS_OK;
}

static enum status add_counter(struct replaying *replaying, struct item item, int64_t delta)
{
    struct hot_memory *hot = replaying->hot;
    uint64_t hash = item_hash_of(hot, item);
    uint32_t cell = item_cell(replaying->shard, hash, item);
    uint8_t flags = 0;
    if (delta == 0)
        return STATUS_OK;
    if (cell == 0 && hot->filters != NULL && filters_may_have_item(hot->filters, item))
        flags = ITEM_PARTIAL;
    enum status status =
        item_reserve(replaying->shard, hash, item, NAME_INDEX_COMMENT, delta, flags, &cell);
    if (status == STATUS_OK)
        item_add(replaying->shard, item_at(replaying->shard, cell), NAME_INDEX_COMMENT, delta,
                 hot->replay_stamp);
    return status == STATUS_COUNTER_OVERFLOW ? STATUS_DAMAGED : status;
}

static enum status add_counters(struct replaying *replaying)
{
    const struct comment_body *body = &replaying->body;
    uint64_t root = comment_is_root(&body->comment) ? body->comment.id : body->comment.root;
    enum status status = add_counter(replaying, replaying->event->item, body->subject_delta);
    if (status == STATUS_OK && body->has_comment)
        status = add_counter(replaying, item_of_id(replaying, root), body->root_delta);
    return status;
}

/* Without a store no comment can be asked for, so only the counters are kept. */
static enum status put_state(struct replaying *replaying, uint32_t now_s)
{
    const struct comment_body *body = &replaying->body;
    const struct event *event = replaying->event;
    enum status status = STATUS_OK;
    if (replaying->hot->store == NULL)
        return STATUS_OK;
    if (body->has_subject)
        status = put_subject(replaying);
    if (status == STATUS_OK && body->has_root)
        status = put_comment(replaying, &body->root);
    if (status == STATUS_OK && body->has_comment)
        status = put_comment(replaying, &body->comment);
    if (status == STATUS_OK && body->has_token &&
        (uint64_t)event->time_s + replaying->hot->token_ttl_s >= now_s)
        status = hot_memory_token_replay(replaying->hot, replaying->shard, body->token,
                                         event->time_s, body->comment.id);
    return status;
}

/* Everything in the event must belong to one subject, because it is under one lock. */
static bool fits(const struct comment_body *body, const struct event *event, uint32_t gene)
{
    return (!body->has_subject || item_equal(body->subject.item, event->item)) &&
           (!body->has_comment || (item_equal(body->comment.subject, event->item) &&
                                   comment_id_gene(body->comment.id) == gene)) &&
           (!body->has_root || body->root.id == body->comment.root);
}

static enum status apply(struct replaying *replaying, uint64_t hash, uint32_t now_s)
{
    struct hot_memory *hot = replaying->hot;
    const struct event *event = replaying->event;
    uint32_t gene = comment_item_gene(event->item, comment_type_of(hot));
    if (comment_type_of(hot) == POLICY_NO_TYPE || !fits(&replaying->body, event, gene))
        return STATUS_DAMAGED;
    replaying->shard = item_shard_of(hot, hash);
    if (hot->comments.genes != NULL)
        replaying->gene = &hot->comments.genes[gene];
    pthread_mutex_lock(&replaying->shard->lock);
    enum status status = put_state(replaying, now_s);
    if (status == STATUS_OK)
        status = add_counters(replaying);
    if (replaying->gene != NULL)
        atomic_store_explicit(&replaying->gene->point, hot->replay_position, memory_order_relaxed);
    pthread_mutex_unlock(&replaying->shard->lock);
    return status;
}

enum status hot_memory_apply_comment(struct hot_memory *hot, const struct event *event,
                                     struct hot_trail trail, uint32_t now_s)
{
    enum comment_event kind = (enum comment_event)event->name;
    hot_memory_time(hot, event->time_s);
    hot_memory_note_comment(hot, hot->replay_position);
    if (kind == COMMENT_EVENT_BAN || kind == COMMENT_EVENT_SEEN || kind == COMMENT_EVENT_INBOX)
        return hot_memory_apply_user(hot, event, now_s);
    struct replaying replaying = {.hot = hot, .event = event};
    enum status status =
        comment_body_decode(kind, event->body, event->body_length, &replaying.body);
    return status == STATUS_OK ? apply(&replaying, trail.item, now_s) : status;
}
