/*
 * Subjects and comments are in one list, from the one that was used last to the one that was not used for the
 * longest time. A share of each table is counted with each cell.
 */
#include "hot/memory/comment_shard.h"

#include "base/assert.h"

#define TABLE_BYTES 13 /* of a table for each of its rows, about */
#define LOOKS_MOST  16 /* cells at the end of the list that are looked at */

void comment_shard_init(struct comment_shard *shard, struct slab *slab, struct kept_budget *budget)
{
    *shard = (struct comment_shard){.budget = budget};
    table_init(&shard->subjects, slab);
    table_init(&shard->comments, slab);
    table_init(&shard->changed, slab);
}

void comment_shard_destroy(struct comment_shard *shard)
{
    table_destroy(&shard->subjects);
    table_destroy(&shard->comments);
    table_destroy(&shard->changed);
}

static struct slab *slab_of(const struct comment_shard *shard)
{
    return shard->comments.slab;
}

static struct table *table_of(struct comment_shard *shard, const struct kept_cell *cell)
{
    return cell->flags & KEPT_SUBJECT ? &shard->subjects : &shard->comments;
}

static void list_add(struct comment_shard *shard, uint32_t cell)
{
    struct kept_cell *at = kept_at(slab_of(shard), cell);
    at->newer = 0;
    at->older = shard->newest;
    if (shard->newest == 0)
        shard->oldest = cell;
    else
        kept_at(slab_of(shard), shard->newest)->newer = cell;
    shard->newest = cell;
}

static void list_remove(struct comment_shard *shard, const struct kept_cell *at)
{
    if (at->newer == 0)
        shard->newest = at->older;
    else
        kept_at(slab_of(shard), at->newer)->older = at->older;
    if (at->older == 0)
        shard->oldest = at->newer;
    else
        kept_at(slab_of(shard), at->older)->newer = at->newer;
}

/* Puts a copy of a cell into its place in the list. */
static void list_replace(struct comment_shard *shard, const struct kept_cell *old, uint32_t cell)
{
    struct kept_cell *at = kept_at(slab_of(shard), cell);
    at->newer = old->newer;
    at->older = old->older;
    if (at->newer == 0)
        shard->newest = cell;
    else
        kept_at(slab_of(shard), at->newer)->older = cell;
    if (at->older == 0)
        shard->oldest = cell;
    else
        kept_at(slab_of(shard), at->older)->newer = cell;
}

static void use(struct comment_shard *shard, uint32_t cell)
{
    struct kept_cell *at = kept_at(slab_of(shard), cell);
    at->flags |= KEPT_USED;
    if (shard->newest == cell)
        return;
    list_remove(shard, at);
    list_add(shard, cell);
}

static void count(struct comment_shard *shard, const struct kept_cell *cell, bool added)
{
    uint64_t bytes = kept_size(slab_of(shard), cell) + TABLE_BYTES;
    uint64_t change = added ? bytes : -bytes;
    shard->bytes += change;
    atomic_fetch_add_explicit(&shard->budget->bytes, change, memory_order_relaxed);
}

uint32_t kept_find_comment(struct comment_shard *shard, uint64_t hash, uint64_t id)
{
    struct table_walk walk = table_walk_start(&shard->comments, hash);
    for (uint32_t cell; (cell = table_walk_next(&walk)) != 0;) {
        if (kept_id(kept_at(slab_of(shard), cell)) != id)
            continue;
        use(shard, cell);
        return cell;
    }
    return 0;
}

uint32_t kept_find_subject(struct comment_shard *shard, uint64_t hash, struct item item)
{
    struct table_walk walk = table_walk_start(&shard->subjects, hash);
    for (uint32_t cell; (cell = table_walk_next(&walk)) != 0;) {
        if (!item_equal(kept_item(kept_at(slab_of(shard), cell)), item))
            continue;
        use(shard, cell);
        return cell;
    }
    return 0;
}

bool kept_reserve(struct comment_shard *shard, uint64_t hash)
{
    return table_reserve(&shard->comments, hash);
}

void kept_insert(struct comment_shard *shard, uint64_t hash, uint32_t cell, uint64_t position)
{
    struct kept_cell *at = kept_at(slab_of(shard), cell);
    at->position = position;
    at->flags |= KEPT_USED;
    table_insert(table_of(shard, at), hash, cell);
    list_add(shard, cell);
    count(shard, at, true);
}

void kept_replace(struct comment_shard *shard, uint64_t hash, uint32_t old_cell, uint32_t cell,
                  uint64_t position)
{
    struct kept_cell *old = kept_at(slab_of(shard), old_cell);
    struct kept_cell *at = kept_at(slab_of(shard), cell);
    at->position = position;
    at->flags |= KEPT_USED;
    table_replace(table_of(shard, at), hash, old_cell, cell);
    list_remove(shard, old);
    list_add(shard, cell);
    count(shard, old, false);
    count(shard, at, true);
    kept_free(slab_of(shard), old_cell);
}

void kept_evict(struct comment_shard *shard, uint64_t hash, uint32_t cell)
{
    struct kept_cell *at = kept_at(slab_of(shard), cell);
    table_remove(table_of(shard, at), hash, cell);
    list_remove(shard, at);
    count(shard, at, false);
    kept_free(slab_of(shard), cell);
}

bool kept_relocate(struct comment_shard *shard, uint64_t hash, uint32_t cell)
{
    uint32_t copy = kept_copy(slab_of(shard), cell);
    if (copy == 0)
        return false;
    struct kept_cell *old = kept_at(slab_of(shard), cell);
    table_replace(table_of(shard, old), hash, cell, copy);
    list_replace(shard, old, copy);
    kept_free(slab_of(shard), cell);
    return true;
}

/* Adds the content to a comment whose content was only in the store. */
static bool fill_content(struct comment_shard *shard, uint64_t hash, uint32_t old_cell,
                         struct kept_bytes content)
{
    struct kept kept;
    kept_read(kept_at(slab_of(shard), old_cell), &kept);
    if (kept.content != KEPT_STORED)
        return true;
    uint32_t cell = kept_make_comment(slab_of(shard), &kept.comment, 0, content);
    if (cell == 0)
        return false;
    kept_replace(shard, hash, old_cell, cell, kept.position);
    return true;
}

bool kept_cache_comment(struct comment_shard *shard, uint64_t hash, const struct comment *comment,
                        struct kept_bytes content)
{
    uint32_t found = kept_find_comment(shard, hash, comment->id);
    if (found != 0)
        return fill_content(shard, hash, found, content);
    uint32_t cell = kept_make_comment(slab_of(shard), comment, 0, content);
    if (cell == 0)
        return false;
    if (!kept_reserve(shard, hash)) {
        kept_free(slab_of(shard), cell);
        return false;
    }
    kept_insert(shard, hash, cell, 0);
    return true;
}

bool kept_cache_subject(struct comment_shard *shard, uint64_t hash, const struct subject *subject,
                        bool fresh)
{
    if (kept_find_subject(shard, hash, subject->item) != 0)
        return true;
    uint32_t cell = kept_make_subject(slab_of(shard), subject, fresh ? KEPT_FRESH : 0);
    if (cell == 0)
        return false;
    if (!table_reserve(&shard->subjects, hash)) {
        kept_free(slab_of(shard), cell);
        return false;
    }
    kept_insert(shard, hash, cell, 0);
    return true;
}

uint32_t kept_oldest_clean(const struct comment_shard *shard, uint64_t clean)
{
    uint32_t cell = shard->oldest;
    for (unsigned looks = 0; cell != 0 && looks < LOOKS_MOST; looks++) {
        const struct kept_cell *at = kept_at(slab_of(shard), cell);
        if (at->position <= clean)
            return cell;
        cell = at->newer;
    }
    return 0;
}
