/*
 * What queries ask the tier about comments (query/tier.h). Everything is looked up in memory first; a worker reads the
 * rest from the store and caches it. If several workers need the same comment, one of them reads it.
 */
#include "base/names.h"
#include "hot/memory/catch_up.h"
#include "hot/memory/hot_memory_priv.h"
#include "hot/memory/queries.h"

/* Comments that are being looked up. */
struct lookup {
    struct memory_tier *memory;
    struct query_comment *comments;
    bool *done; /* of each comment */
    size_t count;
    bool with_content;
    struct store_arena *arena;
};

static void *take(struct store_arena *arena, size_t bytes)
{
    const size_t align = _Alignof(max_align_t);
    uint8_t *memory = store_arena_take(arena, bytes + align);
    return memory == NULL ? NULL : memory + (align - (uintptr_t)memory % align) % align;
}

static uint64_t hash_of_id(const struct hot_memory *hot, uint64_t id)
{
    return item_hash_of(hot, comment_item(id, comment_type_of(hot)));
}

/* Sets the content of a comment from its bytes, which are in the arena. */
static enum status set_content(struct query_comment *out, const uint8_t *bytes, uint32_t length)
{
    out->has_content = true;
    return comment_content_decode(bytes, length, &out->content);
}

/* Answers from memory, under the lock of the shard. MORE: memory has no answer. */
static enum status look_in_memory(struct lookup *lookup, struct item_shard *shard, uint64_t hash,
                                  struct query_comment *out)
{
    uint32_t cell = kept_find_comment(&shard->comments, hash, out->id);
    struct kept kept;
    if (cell == 0)
        return STATUS_MORE;
    kept_read(kept_at(&shard->slab, cell), &kept);
    bool wanted = lookup->with_content && !kept.gone;
    if (wanted && kept.content == KEPT_STORED)
        return STATUS_MORE;
    out->found = !kept.gone;
    out->comment = kept.comment;
    if (!wanted || kept.content != KEPT_HERE)
        return STATUS_OK;
    uint8_t *bytes = store_arena_take(lookup->arena, kept.content_length);
    if (bytes == NULL)
        return STATUS_NO_MEMORY;
    kept_copy_content(&shard->slab, kept_at(&shard->slab, cell), bytes);
    return set_content(out, bytes, kept.content_length);
}

/* Looks up those that are not done; *missing: how many of them are not in memory. */
static enum status look_up(struct lookup *lookup, size_t *missing)
{
    struct hot_memory *hot = lookup->memory->hot;
    struct item_shard *locked = NULL;
    enum status status = STATUS_OK;
    *missing = 0;
    for (size_t i = 0; i < lookup->count && status == STATUS_OK; i++) {
        if (lookup->done[i])
            continue;
        uint64_t hash = hash_of_id(hot, lookup->comments[i].id);
        struct item_shard *shard = item_shard_of(hot, hash);
        if (shard != locked) { /* the comments of a page are in one shard */
            if (locked != NULL)
                pthread_mutex_unlock(&locked->lock);
            pthread_mutex_lock(&shard->lock);
            locked = shard;
        }
        status = look_in_memory(lookup, shard, hash, &lookup->comments[i]);
        lookup->done[i] = status == STATUS_OK;
        if (status == STATUS_MORE) {
            ++*missing;
            status = STATUS_OK;
        }
    }
    if (locked != NULL)
        pthread_mutex_unlock(&locked->lock);
    return status;
}

/* Some of the missing comments, which are read together. */
struct chunk {
    size_t count;
    size_t indices[LOAD_KEYS];
    uint64_t claims[LOAD_KEYS];
    bool mine[LOAD_KEYS];
    struct stored_comment stored[LOAD_KEYS];
};

static void fill_chunk(const struct lookup *lookup, size_t *from, struct chunk *chunk)
{
    struct hot_memory *hot = lookup->memory->hot;
    chunk->count = 0;
    for (; *from < lookup->count && chunk->count < LOAD_KEYS; ++*from) {
        if (lookup->done[*from])
            continue;
        uint64_t id = lookup->comments[*from].id;
        chunk->claims[chunk->count] = comment_claim(hot, comment_item(id, comment_type_of(hot)));
        chunk->mine[chunk->count] = true;
        chunk->indices[chunk->count++] = *from;
    }
}

/* Takes a comment that was read: what is in memory is right, and otherwise the store. */
static enum status take_stored(struct lookup *lookup, size_t index,
                               const struct stored_comment *stored)
{
    struct hot_memory *hot = lookup->memory->hot;
    struct query_comment *out = &lookup->comments[index];
    uint64_t hash = hash_of_id(hot, out->id);
    struct item_shard *shard = item_shard_of(hot, hash);
    pthread_mutex_lock(&shard->lock);
    if (stored->found)
        (void)kept_cache_comment(&shard->comments, hash, &stored->comment, stored->content);
    enum status status = look_in_memory(lookup, shard, hash, out);
    if (status == STATUS_MORE && kept_find_comment(&shard->comments, hash, out->id) == 0) {
        out->found = stored->found;
        out->comment = stored->comment;
    } else if (status == STATUS_MORE) {
        struct kept kept; /* there was no memory for the content */
        kept_read(kept_at(&shard->slab, kept_find_comment(&shard->comments, hash, out->id)), &kept);
        out->found = true;
        out->comment = kept.comment;
    }
    comment_trim(hot, &shard->comments);
    pthread_mutex_unlock(&shard->lock);
    lookup->done[index] = true;
    if (status != STATUS_MORE)
        return status;
    return lookup->with_content && out->found && stored->content.where == KEPT_HERE
               ? set_content(out, stored->content.bytes, stored->content.length)
               : STATUS_OK;
}

static enum status read_chunk(struct lookup *lookup, struct chunk *chunk)
{
    size_t count = 0;
    for (size_t i = 0; i < chunk->count; i++)
        if (chunk->mine[i])
            chunk->stored[count++] =
                (struct stored_comment){.id = lookup->comments[chunk->indices[i]].id};
    enum status status =
        comment_read_stored(lookup->memory->hot, chunk->stored, count, lookup->arena);
    for (size_t i = 0, at = 0; i < chunk->count && status == STATUS_OK; i++)
        if (chunk->mine[i])
            status = take_stored(lookup, chunk->indices[i], &chunk->stored[at++]);
    return status;
}

/* Reads what is missing; with `share`, not what another worker is reading: that is waited for. */
static enum status read_missing(struct lookup *lookup, bool share)
{
    struct loads *loads = &lookup->memory->hot->loads;
    unsigned worker = lookup->memory->worker;
    struct chunk chunk;
    enum status status = STATUS_OK;
    for (size_t from = 0; from < lookup->count && status == STATUS_OK;) {
        fill_chunk(lookup, &from, &chunk);
        if (chunk.count == 0)
            break;
        load_begin(loads, worker);
        if (share)
            load_claim(loads, worker, chunk.claims, chunk.count, chunk.mine);
        status = read_chunk(lookup, &chunk);
        load_end(loads, worker);
        if (share)
            load_claim_end(loads, worker, chunk.claims, chunk.count, chunk.mine);
    }
    return status;
}

/* Looks up comments, also those that were dropped. */
static enum status fetch(struct memory_tier *memory, struct query_comment *comments, size_t count,
                         bool with_content, struct store_arena *arena)
{
    struct lookup lookup = {.memory = memory,
                            .comments = comments,
                            .count = count,
                            .with_content = with_content,
                            .arena = arena,
                            .done = take(arena, count)};
    size_t missing = 0;
    if (lookup.done == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        comments[i].found = comments[i].has_content = false;
        lookup.done[i] =
            comments[i].id == COMMENT_NONE || comment_type_of(memory->hot) == POLICY_NO_TYPE;
    }
    enum status status = look_up(&lookup, &missing);
    if (status == STATUS_OK && missing > 0 && memory->worker == LOAD_NOBODY)
        return STATUS_BLOCKED;
    for (unsigned tries = 0; status == STATUS_OK && missing > 0; tries++) {
        status = read_missing(&lookup, tries == 0);
        if (status == STATUS_OK)
            status = look_up(&lookup, &missing);
    }
    return status;
}

/* Is the subject in memory? */
static bool look_for_subject(struct hot_memory *hot, struct item item, struct subject *out)
{
    uint64_t hash = item_hash_of(hot, item);
    struct item_shard *shard = item_shard_of(hot, hash);
    pthread_mutex_lock(&shard->lock);
    uint32_t cell = kept_find_subject(&shard->comments, hash, item);
    if (cell != 0)
        kept_read_subject(kept_at(&shard->slab, cell), out);
    pthread_mutex_unlock(&shard->lock);
    return cell != 0;
}

static enum status read_subject(struct memory_tier *memory, struct item item, struct subject *out)
{
    struct hot_memory *hot = memory->hot;
    uint64_t hash = item_hash_of(hot, item);
    struct item_shard *shard = item_shard_of(hot, hash);
    struct subject read;
    bool found;
    enum status status = comment_read_subject(hot, item, &read, &found);
    if (status != STATUS_OK)
        return status;
    pthread_mutex_lock(&shard->lock);
    (void)kept_cache_subject(&shard->comments, hash, &read, !found);
    uint32_t cell = kept_find_subject(&shard->comments, hash, item);
    if (cell != 0)
        kept_read_subject(kept_at(&shard->slab, cell), out);
    else
        *out = read;
    comment_trim(hot, &shard->comments);
    pthread_mutex_unlock(&shard->lock);
    return STATUS_OK;
}

enum status memory_subject(struct query_tier *tier, struct item item, struct subject *out)
{
    struct memory_tier *memory = memory_tier_of(tier);
    struct loads *loads = &memory->hot->loads;
    uint64_t claim = comment_claim(memory->hot, item);
    bool mine = true;
    enum status status = STATUS_OK;
    if (look_for_subject(memory->hot, item, out))
        return STATUS_OK;
    if (memory->worker == LOAD_NOBODY)
        return STATUS_BLOCKED;
    load_begin(loads, memory->worker);
    load_claim(loads, memory->worker, &claim, 1, &mine);
    if (mine)
        status = read_subject(memory, item, out);
    load_end(loads, memory->worker);
    load_claim_end(loads, memory->worker, &claim, 1, &mine);
    if (mine || look_for_subject(memory->hot, item, out))
        return status;
    load_begin(loads, memory->worker); /* another worker has read it, and it is gone again */
    status = read_subject(memory, item, out);
    load_end(loads, memory->worker);
    return status;
}

/* Was the comment dropped with its subject? For a reply, its root says so. */
static enum status find_dropped(struct memory_tier *memory, const struct comment *comment,
                                const struct subject *subject, struct store_arena *arena,
                                bool *dropped)
{
    struct query_comment root = {.id = comment->root, .found = true, .comment = *comment};
    enum status status = STATUS_OK;
    *dropped = false;
    if (subject->dropped_floor == 0)
        return STATUS_OK;
    if (!comment_is_root(comment))
        status = fetch(memory, &root, 1, false, arena);
    *dropped = !root.found || comment_is_dropped(&root.comment, subject);
    return status;
}

/* Takes out what was dropped. Most comments of a request have the same subject. */
static enum status leave_out_dropped(struct memory_tier *memory, struct query_comment *comments,
                                     size_t count, struct store_arena *arena)
{
    struct subject subject = {.next_floor = 0}; /* no subject has this */
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        bool dropped = false;
        if (!comments[i].found)
            continue;
        struct item item = comments[i].comment.subject;
        if (subject.next_floor == 0 || !item_equal(subject.item, item))
            status = memory_subject(&memory->tier, item, &subject);
        if (status == STATUS_OK)
            status = find_dropped(memory, &comments[i].comment, &subject, arena, &dropped);
        if (dropped)
            comments[i].found = comments[i].has_content = false;
    }
    return status;
}

enum status memory_comments(struct query_tier *tier, struct query_comment *comments, size_t count,
                            bool with_content, struct hot_scratch *scratch)
{
    struct memory_tier *memory = memory_tier_of(tier);
    enum status status = fetch(memory, comments, count, with_content, &scratch->arena);
    return status == STATUS_OK ? leave_out_dropped(memory, comments, count, &scratch->arena)
                               : status;
}

enum status memory_head(struct query_tier *tier, struct item parent, uint8_t order,
                        struct comment_entry *out, size_t *count, bool *complete)
{
    struct hot_memory *hot = memory_tier_of(tier)->hot;
    return heads_read(hot->heads, hot->store, parent, order, tier->may_wait, out, count, complete);
}

/* Copies the list of the parent's gene. LAGGING: it is not complete. */
static enum status read_list(struct hot_memory *hot, struct item parent,
                             struct changed_comment *list, size_t *count)
{
    uint64_t hash = item_hash_of(hot, parent);
    struct item_shard *shard = item_shard_of(hot, hash);
    struct comment_gene *gene =
        &hot->comments.genes[comment_item_gene(parent, comment_type_of(hot))];
    uint64_t applied = atomic_load(&hot->loads.applied);
    pthread_mutex_lock(&shard->lock);
    changed_expire(&shard->comments, gene, applied, LIMIT_CHANGED);
    bool complete = gene->incomplete <= applied;
    *count = complete ? changed_read(&shard->comments, gene, list) : 0;
    pthread_mutex_unlock(&shard->lock);
    return complete ? STATUS_OK : STATUS_LAGGING;
}

static struct item parent_of(const struct hot_memory *hot, const struct comment *comment)
{
    return comment_is_root(comment) ? comment->subject
                                    : comment_item(comment->root, comment_type_of(hot));
}

/* Remembers which parents the comments have, so that the next page does not have to look them up. */
static void note_parents(struct hot_memory *hot, struct item parent,
                         const struct query_comment *comments, size_t count)
{
    struct item_shard *shard = item_shard_of(hot, item_hash_of(hot, parent));
    pthread_mutex_lock(&shard->lock);
    for (size_t i = 0; i < count; i++)
        changed_set_parent(&shard->comments, hash_of_id(hot, comments[i].id), comments[i].id,
                           comments[i].found ? changed_parent(parent_of(hot, &comments[i].comment))
                                             : CHANGED_PLAIN);
    pthread_mutex_unlock(&shard->lock);
}

enum status memory_changed(struct query_tier *tier, struct item parent, struct store_arena *arena,
                           struct comment **out, size_t *count)
{
    struct memory_tier *memory = memory_tier_of(tier);
    struct hot_memory *hot = memory->hot;
    struct changed_comment list[LIMIT_CHANGED];
    uint64_t wanted = changed_parent(parent);
    size_t listed = 0, found = 0;
    bool unknown = false;
    *count = 0;
    *out = NULL;
    enum status status = read_list(hot, parent, list, &listed);
    if (status != STATUS_OK || listed == 0)
        return status;
    struct query_comment *comments = take(arena, listed * sizeof *comments);
    *out = take(arena, listed * sizeof **out);
    if (comments == NULL || *out == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < listed; i++) {
        if (list[i].parent != wanted && list[i].parent != CHANGED_NO_PARENT)
            continue;
        unknown = unknown || list[i].parent == CHANGED_NO_PARENT;
        comments[found++].id = list[i].id;
    }
    status = fetch(memory, comments, found, false, arena);
    if (status == STATUS_OK && unknown)
        note_parents(hot, parent, comments, found);
    if (status == STATUS_OK)
        status = leave_out_dropped(memory, comments, found, arena);
    for (size_t i = 0; i < found && status == STATUS_OK; i++)
        if (comments[i].found && item_equal(parent_of(hot, &comments[i].comment), parent))
            (*out)[(*count)++] = comments[i].comment;
    return status;
}

uint64_t memory_comments_point(struct query_tier *tier, struct item parent)
{
    struct hot_memory *hot = memory_tier_of(tier)->hot;
    uint32_t gene = comment_item_gene(parent, comment_type_of(hot));
    return atomic_load(&hot->comments.genes[gene].point);
}

uint64_t memory_any_comment_point(struct query_tier *tier)
{
    return atomic_load(&memory_tier_of(tier)->hot->comments_end);
}

void comment_voted(struct hot_memory *hot, struct item_shard *shard, uint64_t hash,
                   struct item item, uint64_t position)
{
    if (hot->comments.genes == NULL || id_is_wide(item.id))
        return;
    struct comment_gene *gene = &hot->comments.genes[comment_id_gene(item.id.lo)];
    uint64_t applied = atomic_load_explicit(&hot->loads.applied, memory_order_relaxed);
    changed_expire(&shard->comments, gene, applied, COMMENT_EXPIRE_MOST);
    changed_note(&shard->comments, gene, hash, item.id.lo, position, CHANGED_NO_PARENT);
    atomic_store_explicit(&gene->point, position, memory_order_relaxed);
    hot_memory_note_comment(hot, position);
}
