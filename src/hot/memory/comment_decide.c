/*
 * What all decisions about comments have in common: finding what they are about, computing the counts, and
 * recording. All steps that can fail or have to wait come before the first change, so a refused request has no
 * effect.
 */
#include "hot/memory/hot_memory_priv.h"

static struct comment_shard *shard_of(const struct comment_step *step)
{
    return &step->shard->comments;
}

static struct item item_of_id(const struct comment_step *step, uint64_t id)
{
    return comment_item(id, comment_type_of(step->hot));
}

static uint64_t hash_of_id(const struct comment_step *step, uint64_t id)
{
    return item_hash_of(step->hot, item_of_id(step, id));
}

static enum status need_comment(struct comment_step *step, uint64_t id)
{
    struct comment_needed *needed = &step->needed;
    ASSERT(needed->id_count < NEEDED_COMMENTS);
    needed->ids[needed->id_count++] = id;
    return STATUS_BLOCKED;
}

/* Has a worker just read that the store has no such comment? */
static bool is_absent(const struct comment_step *step, uint64_t id)
{
    for (uint32_t i = 0; step->reads != NULL && i < step->reads->count; i++)
        if (step->reads->comments[i].id == id && !step->reads->comments[i].found)
            return true;
    return false;
}

static enum status find_comment(struct comment_step *step, uint64_t id, struct kept *out,
                                uint32_t *cell)
{
    *cell = kept_find_comment(shard_of(step), hash_of_id(step, id), id);
    if (*cell == 0)
        return is_absent(step, id) ? STATUS_NO_COMMENT : need_comment(step, id);
    kept_read(kept_at(&step->shard->slab, *cell), out);
    return out->gone ? STATUS_NO_COMMENT : STATUS_OK;
}

enum status step_find_subject(struct comment_step *step, struct item item)
{
    uint64_t hash = item_hash_of(step->hot, item);
    step->subject_cell = kept_find_subject(shard_of(step), hash, item);
    if (step->subject_cell == 0) {
        step->needed.subject = true;
        step->needed.subject_item = item;
        return STATUS_BLOCKED;
    }
    const struct kept_cell *cell = kept_at(&step->shard->slab, step->subject_cell);
    kept_read_subject(cell, &step->subject);
    step->fresh = cell->flags & KEPT_FRESH;
    step->body.subject = step->subject;
    return STATUS_OK;
}

static enum status find_root(struct comment_step *step)
{
    struct kept root;
    enum status status = find_comment(step, step->comment.root, &root, &step->root_cell);
    if (status == STATUS_OK)
        step->root = step->body.root = root.comment;
    return status;
}

static enum status find_with(struct comment_step *step, struct item item, bool dropped)
{
    struct kept kept;
    if (item.type != comment_type_of(step->hot) || id_is_wide(item.id) ||
        item.id.lo == COMMENT_NONE)
        return STATUS_NO_COMMENT;
    enum status status = find_comment(step, item.id.lo, &kept, &step->comment_cell);
    if (status != STATUS_OK)
        return status;
    if (!hot_detail_allows(step->detail, kept.comment.subject.type))
        return STATUS_NO_COMMENT;
    step->comment = step->body.comment = kept.comment;
    step->content = kept.content;
    status = step_find_subject(step, kept.comment.subject);
    if (!comment_is_root(&kept.comment) && !dropped) {
        enum status found = find_root(step);
        status = status == STATUS_OK ? found : status;
    }
    if (status != STATUS_OK || dropped)
        return status;
    const struct comment *root = comment_is_root(&kept.comment) ? &step->comment : &step->root;
    return comment_is_dropped(root, &step->subject) ? STATUS_NO_COMMENT : STATUS_OK;
}

enum status step_find(struct comment_step *step, struct item item)
{
    return find_with(step, item, false);
}

enum status step_find_dropped(struct comment_step *step, struct item item)
{
    return find_with(step, item, true);
}

enum status step_content(struct comment_step *step, uint8_t *out, uint32_t *length)
{
    const struct kept_cell *cell = kept_at(&step->shard->slab, step->comment_cell);
    if (step->content == KEPT_STORED)
        return need_comment(step, step->comment.id);
    *length = cell->content_length;
    if (step->content == KEPT_HERE)
        kept_copy_content(&step->shard->slab, cell, out);
    return STATUS_OK;
}

/* The row of an item, if its counters are complete in memory; 0 if it has none. */
static enum status find_row(struct comment_step *step, struct item item, uint32_t *cell)
{
    struct hot_memory *hot = step->hot;
    struct item_shard *shard = step->shard;
    *cell = item_cell(shard, item_hash_of(hot, item), item);
    const struct item_row *row = item_at(shard, *cell);
    if (row == NULL ? !filter_said(&shard->denied, filters_may_have_item(hot->filters, item))
                    : !(row->flags & ITEM_PARTIAL))
        return STATUS_OK;
    ASSERT(step->needed.item_count < NEEDED_COMMENTS);
    step->needed.items[step->needed.item_count++] = item;
    return STATUS_BLOCKED;
}

enum status step_counter(struct comment_step *step, struct item item, uint8_t name, int64_t *value)
{
    uint32_t cell;
    enum status status = find_row(step, item, &cell);
    *value = status == STATUS_OK ? item_value(item_at(step->shard, cell), name) : 0;
    return status;
}

bool step_unpin(struct comment_step *step, uint64_t id)
{
    struct subject *subject = &step->body.subject;
    uint8_t kept = 0;
    for (uint8_t i = 0; i < subject->pin_count; i++)
        if (subject->pins[i] != id)
            subject->pins[kept++] = subject->pins[i];
    bool pinned = kept < subject->pin_count;
    for (uint8_t i = kept; i < subject->pin_count; i++)
        subject->pins[i] = COMMENT_NONE;
    subject->pin_count = kept;
    if (pinned) {
        step->pinned = id;
        step->body.has_subject = true;
    }
    return pinned;
}

/* How many comments of a thread are counted, its root included. */
static int64_t counted(const struct comment *root)
{
    return (int64_t)comment_is_open(root) + comment_root_count(root);
}

void step_settle(struct comment_step *step)
{
    static const struct comment nothing = {.moderation = COMMENT_HIDDEN, .deleted = true};
    struct comment_body *body = &step->body;
    struct comment *comment = &body->comment;
    const struct comment *before = step->comment_cell != 0 ? &step->comment : &nothing;
    const struct comment *root_before = before, *root = comment;
    bool is_root = comment_is_root(comment), is_new = step->comment_cell == 0;
    comment->was_open = comment->was_open || comment_is_open(comment);
    body->has_comment = true;
    if (!is_root) {
        bool opens = comment_is_open(comment), was = comment_is_open(before);
        body->root.open_replies += (uint32_t)opens - (uint32_t)was;
        body->has_root = is_new || opens != was;
        root_before = &step->root;
        root = &body->root;
    }
    body->subject_delta = counted(root) - counted(root_before);
    body->root_delta = comment_root_count(root) - comment_root_count(root_before);
    int listed = (int)comment_is_listed(root) - (int)comment_is_listed(root_before);
    body->subject.roots += (uint64_t)(int64_t)listed;
    if (is_new || listed != 0)
        body->has_subject = true;
    if (is_root && !comment_is_open(comment))
        step_unpin(step, comment->id);
}

/* What a decision has allocated and found before its event is recorded. */
struct room {
    uint32_t comment; /* new cells */
    uint32_t root;
    uint32_t token;
    uint32_t subject_row; /* of counters; 0: none changes */
    uint32_t root_row;
};

/* The item whose counter root_delta is added to. */
static struct item root_item(const struct comment_step *step)
{
    const struct comment *comment = &step->body.comment;
    return item_of_id(step, comment_is_root(comment) ? comment->id : comment->root);
}

/*
 * The counter of a subject that has no row should be 0. If somebody has added to it, the first event makes it right.
 */
static enum status correct_fresh(struct comment_step *step)
{
    int64_t value = 0;
    if (!step->fresh)
        return STATUS_OK;
    enum status status = step_counter(step, step->body.subject.item, NAME_INDEX_COMMENT, &value);
    if (status == STATUS_OK)
        step->body.subject_delta -= value;
    return status;
}

static enum status find_rows(struct comment_step *step, struct room *room)
{
    enum status status = correct_fresh(step);
    if (status == STATUS_OK && step->body.subject_delta != 0)
        status = find_row(step, step->subject.item, &room->subject_row);
    if (step->body.root_delta != 0) {
        enum status found = find_row(step, root_item(step), &room->root_row);
        status = status == STATUS_OK ? found : status;
    }
    return status;
}

static enum status reserve_counters(struct comment_step *step, struct room *room)
{
    const struct comment_body *body = &step->body;
    enum status status = STATUS_OK;
    if (body->subject_delta != 0)
        status = item_reserve(step->shard, item_hash_of(step->hot, step->subject.item),
                              step->subject.item, NAME_INDEX_COMMENT, body->subject_delta, 0,
                              &room->subject_row);
    if (status == STATUS_OK && body->root_delta != 0) {
        struct item item = root_item(step);
        status = item_reserve(step->shard, item_hash_of(step->hot, item), item, NAME_INDEX_COMMENT,
                              body->root_delta, 0, &room->root_row);
    }
    return status;
}

/* The content of the new cell of a comment. */
static struct kept_bytes new_content(const struct comment_step *step)
{
    const struct comment_body *body = &step->body;
    if (step->removes_content || step->removes_rows)
        return (struct kept_bytes){.where = KEPT_NONE};
    if (body->has_content)
        return (struct kept_bytes){
            .where = KEPT_HERE, .bytes = body->content, .length = body->content_length};
    return (struct kept_bytes){.where = step->content,
                               .from = step->comment_cell,
                               .length =
                                   kept_at(&step->shard->slab, step->comment_cell)->content_length};
}

static struct kept_bytes same_content(const struct comment_step *step, uint32_t cell)
{
    struct kept kept;
    kept_read(kept_at(&step->shard->slab, cell), &kept);
    return (struct kept_bytes){.where = kept.content, .from = cell, .length = kept.content_length};
}

static enum status reserve_cells(struct comment_step *step, struct room *room)
{
    struct slab *slab = &step->shard->slab;
    const struct comment_body *body = &step->body;
    if (body->has_comment) {
        room->comment = kept_make_comment(slab, &body->comment, step->removes_rows ? KEPT_GONE : 0,
                                          new_content(step));
        if (room->comment == 0)
            return STATUS_NO_MEMORY;
    }
    if (body->has_root) {
        room->root = kept_make_comment(slab, &body->root, 0, same_content(step, step->root_cell));
        if (room->root == 0)
            return STATUS_NO_MEMORY;
    }
    if (body->has_comment && step->comment_cell == 0 &&
        !kept_reserve(shard_of(step), hash_of_id(step, body->comment.id)))
        return STATUS_NO_MEMORY;
    if (body->has_token)
        return hot_memory_token_reserve(step->hot, step->shard, body->token, body->comment.id,
                                        &room->token);
    return STATUS_OK;
}

static void release(struct comment_step *step, const struct room *room)
{
    struct slab *slab = &step->shard->slab;
    if (room->comment != 0)
        kept_free(slab, room->comment);
    if (room->root != 0)
        kept_free(slab, room->root);
    if (room->token != 0)
        hot_memory_token_release(step->hot, step->shard, step->body.comment.id, room->token);
}

/* Makes room in the journal, unless a worker has done it already. */
static enum status reserve_journal(struct comment_step *step, size_t bytes)
{
    if (step->reserved != 0) {
        ASSERT(bytes <= step->reserved);
        return STATUS_OK;
    }
    enum status status = admission_reserve(&step->hot->admission, bytes);
    step->wants_journal = status == STATUS_BLOCKED;
    return status;
}

static enum status record(struct comment_step *step)
{
    uint8_t bytes[COMMENT_BODY_BYTES];
    struct event event = {.type = EVENT_COMMENT,
                          .name = (uint8_t)step->kind,
                          .time_s = step->time_s,
                          .user = step->user,
                          .item = step->subject.item,
                          .body = bytes};
    event.body_length = (uint32_t)comment_body_encode(step->kind, &step->body, bytes);
    size_t size = event_bytes_max(&event);
    enum status status = reserve_journal(step, size);
    if (status != STATUS_OK)
        return status;
    step->position = journal_append(step->hot->journal, &event);
    if (step->reserved > size)
        admission_unreserve(&step->hot->admission, step->reserved - size);
    step->appended = true;
    return STATUS_OK;
}

static struct item parent_of(const struct comment_step *step, const struct comment *comment)
{
    return comment_is_root(comment) ? comment->subject : item_of_id(step, comment->root);
}

/* Puts a new cell into its place, and the comment on the list of changed ones. */
static void put_comment(struct comment_step *step, const struct comment *comment, uint32_t old,
                        uint32_t cell)
{
    uint64_t hash = hash_of_id(step, comment->id);
    if (old == 0)
        kept_insert(shard_of(step), hash, cell, step->position);
    else
        kept_replace(shard_of(step), hash, old, cell, step->position);
    changed_note(shard_of(step), step->gene, hash, comment->id, step->position,
                 changed_parent(parent_of(step, comment)));
}

static void put_counters(struct comment_step *step, const struct room *room)
{
    struct item_shard *shard = step->shard;
    uint32_t stamp = stamp_of(step->position);
    if (step->body.subject_delta != 0)
        item_add(shard, item_at(shard, room->subject_row), NAME_INDEX_COMMENT,
                 step->body.subject_delta, stamp);
    if (step->body.root_delta != 0)
        item_add(shard, item_at(shard, room->root_row), NAME_INDEX_COMMENT, step->body.root_delta,
                 stamp);
}

static void commit(struct comment_step *step, const struct room *room)
{
    const struct comment_body *body = &step->body;
    struct hot_memory *hot = step->hot;
    uint64_t applied = atomic_load_explicit(&hot->loads.applied, memory_order_relaxed);
    changed_expire(shard_of(step), step->gene, applied, COMMENT_EXPIRE_MOST);
    if (body->has_subject) {
        struct kept_cell *cell = kept_at(&step->shard->slab, step->subject_cell);
        kept_write_subject(cell, &body->subject);
        cell->position = step->position;
        cell->flags &= ~(unsigned)KEPT_FRESH;
    }
    if (body->has_root)
        put_comment(step, &body->root, step->root_cell, room->root);
    if (body->has_comment)
        put_comment(step, &body->comment, step->comment_cell, room->comment);
    if (body->has_token)
        tokens_add(&step->shard->tokens, room->token, body->token, step->time_s, body->comment.id);
    put_counters(step, room);
    atomic_store_explicit(&step->gene->point, step->position, memory_order_relaxed);
    hot_memory_note_comment(hot, step->position);
}

enum status step_commit(struct comment_step *step)
{
    struct room room = {0};
    ASSERT(step->kind != 0 && step->subject_cell != 0);
    enum status status = find_rows(step, &room);
    if (status == STATUS_OK)
        status = reserve_counters(step, &room);
    if (status == STATUS_OK)
        status = reserve_cells(step, &room);
    if (status == STATUS_OK)
        status = record(step);
    if (status != STATUS_OK) {
        release(step, &room);
        return status;
    }
    commit(step, &room);
    comment_decided(step);
    return STATUS_OK;
}

/* Has the event removed a text, which is still in the journal? */
static bool is_erased(const struct comment_step *step)
{
    bool deleted = step->body.has_comment && step->body.comment.deleted && !step->comment.deleted;
    return deleted || step->kind == COMMENT_EVENT_PURGE || step->kind == COMMENT_EVENT_FORGET ||
           step->kind == COMMENT_EVENT_DROP || step->kind == COMMENT_EVENT_ROWS;
}

void comment_decided(const struct comment_step *step)
{
    struct hot_memory *hot = step->hot;
    if (is_erased(step))
        hot_memory_note_erased(hot, step->position);
    uint64_t hash = item_hash_of(hot, step->subject.item);
    comment_feeds_note(comment_feeds_of(hot, hash), hot->budget, step->kind, &step->body,
                       step->pinned, hash, step->position, step->time_s);
}
