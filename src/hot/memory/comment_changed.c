/*
 * A comment that is changed again goes to the end of its list, so each list is in the order of positions, and what
 * the store has is at its beginning.
 */
#include "hot/memory/comment_changed.h"

#include "base/assert.h"
#include "base/hash.h"

struct changed_cell {
    struct changed_comment comment;
    uint32_t newer;
    uint32_t older;
    uint32_t hash; /* the half that the table uses */
};

#define CELL_BYTES ((sizeof(struct changed_cell) + SLAB_UNIT - 1) / SLAB_UNIT * SLAB_UNIT)

static struct changed_cell *cell_at(const struct comment_shard *shard, uint32_t cell)
{
    return slab_at(shard->changed.slab, cell);
}

uint64_t changed_parent(struct item parent)
{
    uint64_t hash = item_hash(parent, 0);
    return hash > CHANGED_PLAIN ? hash : hash + CHANGED_PLAIN + 1;
}

static uint32_t find(const struct comment_shard *shard, uint64_t hash, uint64_t id)
{
    struct table_walk walk = table_walk_start(&shard->changed, hash);
    uint32_t cell;
    while ((cell = table_walk_next(&walk)) != 0 && cell_at(shard, cell)->comment.id != id)
        continue;
    return cell;
}

static void list_add(struct comment_shard *shard, struct comment_gene *gene, uint32_t cell)
{
    struct changed_cell *at = cell_at(shard, cell);
    at->newer = 0;
    at->older = gene->newest;
    if (gene->newest == 0)
        gene->oldest = cell;
    else
        cell_at(shard, gene->newest)->newer = cell;
    gene->newest = cell;
}

static void list_remove(struct comment_shard *shard, struct comment_gene *gene,
                        const struct changed_cell *at)
{
    if (at->newer == 0)
        gene->newest = at->older;
    else
        cell_at(shard, at->newer)->older = at->older;
    if (at->older == 0)
        gene->oldest = at->newer;
    else
        cell_at(shard, at->older)->newer = at->newer;
}

static uint32_t make(struct comment_shard *shard, struct comment_gene *gene, uint64_t hash,
                     uint64_t id)
{
    if (gene->count == LIMIT_CHANGED || !table_reserve(&shard->changed, hash))
        return 0;
    uint32_t cell = slab_alloc(shard->changed.slab, CELL_BYTES);
    if (cell == 0)
        return 0;
    *cell_at(shard, cell) = (struct changed_cell){.comment.id = id, .hash = (uint32_t)hash};
    table_insert(&shard->changed, hash, cell);
    list_add(shard, gene, cell);
    gene->count++;
    return cell;
}

void changed_note(struct comment_shard *shard, struct comment_gene *gene, uint64_t hash,
                  uint64_t id, uint64_t position, uint64_t parent)
{
    uint32_t cell = find(shard, hash, id);
    if (cell == 0)
        cell = make(shard, gene, hash, id);
    if (cell == 0) {
        gene->incomplete = position;
        return;
    }
    struct changed_cell *at = cell_at(shard, cell);
    at->comment.position = position;
    if (parent != CHANGED_NO_PARENT)
        at->comment.parent = parent;
    if (gene->newest != cell) {
        list_remove(shard, gene, at);
        list_add(shard, gene, cell);
    }
}

void changed_set_parent(struct comment_shard *shard, uint64_t hash, uint64_t id, uint64_t parent)
{
    uint32_t cell = find(shard, hash, id);
    if (cell != 0)
        cell_at(shard, cell)->comment.parent = parent;
}

void changed_expire(struct comment_shard *shard, struct comment_gene *gene, uint64_t applied,
                    uint32_t most)
{
    for (uint32_t i = 0; i < most && gene->oldest != 0; i++) {
        uint32_t cell = gene->oldest;
        const struct changed_cell *at = cell_at(shard, cell);
        if (at->comment.position > applied)
            return;
        list_remove(shard, gene, at);
        table_remove(&shard->changed, at->hash, cell);
        slab_free(shard->changed.slab, cell, CELL_BYTES);
        gene->count--;
    }
}

size_t changed_read(const struct comment_shard *shard, const struct comment_gene *gene,
                    struct changed_comment *out)
{
    size_t count = 0;
    for (uint32_t cell = gene->oldest; cell != 0; cell = cell_at(shard, cell)->newer) {
        ASSERT(count < LIMIT_CHANGED);
        out[count++] = cell_at(shard, cell)->comment;
    }
    return count;
}

uint64_t changed_id(const struct comment_shard *shard, uint32_t cell)
{
    return cell_at(shard, cell)->comment.id;
}

bool changed_relocate(struct comment_shard *shard, struct comment_gene *gene, uint32_t cell)
{
    uint32_t copy = slab_alloc(shard->changed.slab, CELL_BYTES);
    if (copy == 0)
        return false;
    struct changed_cell *old = cell_at(shard, cell), *at = cell_at(shard, copy);
    *at = *old;
    if (at->newer == 0)
        gene->newest = copy;
    else
        cell_at(shard, at->newer)->older = copy;
    if (at->older == 0)
        gene->oldest = copy;
    else
        cell_at(shard, at->older)->newer = copy;
    table_replace(&shard->changed, old->hash, cell, copy);
    slab_free(shard->changed.slab, cell, CELL_BYTES);
    return true;
}
