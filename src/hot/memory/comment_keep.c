/* What the keeper does for comments: it keeps them within their share of memory, and empties pages. */
#include "hot/memory/keeper_priv.h"

#define GENES_EACH    1024 /* genes whose lists are looked at in one round */
#define FREE_FRACTION 16   /* of their share is kept free, so that new comments find room */
#define EVICT_STEP    64   /* cells that are evicted while the shard is locked once */

/* Removes from the lists of some genes what the store has, also if nobody uses them any more. */
static void expire_changed(struct hot_memory *hot)
{
    uint64_t applied = atomic_load(&hot->loads.applied);
    for (uint32_t i = 0; i < GENES_EACH; i++) {
        uint32_t number = hot->keeper.gene;
        hot->keeper.gene = (number + 1) % GENE_COUNT;
        struct comment_gene *gene = &hot->comments.genes[number];
        if (atomic_load_explicit(&gene->point, memory_order_relaxed) == 0)
            continue; /* it has no comments */
        struct item_shard *shard = &hot->items[gene_shard(number, hot->seed, SHARD_BITS)];
        pthread_mutex_lock(&shard->lock);
        changed_expire(&shard->comments, gene, applied, LIMIT_CHANGED);
        pthread_mutex_unlock(&shard->lock);
    }
}

/* Evicts about so many bytes of a shard. */
static void evict(struct hot_memory *hot, struct item_shard *shard, uint64_t bytes)
{
    struct comment_shard *comments = &shard->comments;
    for (bool more = bytes > 0; more;) {
        pthread_mutex_lock(&shard->lock);
        uint64_t before = comments->bytes, clean = loads_clean_position(&hot->loads);
        for (unsigned i = 0; more && i < EVICT_STEP; i++) {
            uint32_t cell = kept_oldest_clean(comments, clean);
            more = cell != 0 && before - comments->bytes < bytes;
            if (more)
                kept_evict(comments, comment_cell_hash(hot, kept_at(&shard->slab, cell)), cell);
        }
        bytes -= before - comments->bytes < bytes ? before - comments->bytes : bytes;
        more = more && bytes > 0;
        pthread_mutex_unlock(&shard->lock);
    }
}

void keeper_keep_comments(struct hot_memory *hot)
{
    struct kept_budget *budget = &hot->comments.kept;
    expire_changed(hot);
    uint64_t used = atomic_load_explicit(&budget->bytes, memory_order_relaxed);
    uint64_t most = budget->limit - budget->limit / FREE_FRACTION;
    if (used <= most)
        return;
    for (uint32_t i = 0; i < LIMIT_SHARDS; i++) {
        struct item_shard *shard = &hot->items[i];
        pthread_mutex_lock(&shard->lock);
        double part = (double)shard->comments.bytes / (double)used;
        pthread_mutex_unlock(&shard->lock);
        evict(hot, shard, (uint64_t)((double)(used - most) * part));
    }
}

/* Evicts or copies a comment or subject that is in a page that is emptied. */
static void retire_kept(void *context, struct slab *slab, uint32_t cell)
{
    struct walk *walk = context;
    struct comment_shard *comments = &walk->items->comments;
    struct kept_cell *at = kept_at(slab, cell);
    bool used = at->flags & KEPT_USED;
    at->flags &= ~(unsigned)KEPT_USED;
    if (!kept_is_retiring(slab, cell))
        return;
    uint64_t hash = comment_cell_hash(walk->hot, at);
    bool clean = at->position <= walk->clean_position;
    if ((!clean || (used && keeper_may_spare(walk, kept_size(slab, at)))) &&
        kept_relocate(comments, hash, cell))
        keeper_count(&walk->hot->keeper.stats.relocated, 1);
    else if (clean)
        kept_evict(comments, hash, cell);
}

static void retire_changed(void *context, struct slab *slab, uint32_t cell)
{
    struct walk *walk = context;
    struct comment_shard *comments = &walk->items->comments;
    struct comment_gene *genes = walk->hot->comments.genes;
    if (slab_is_retiring(slab, cell) &&
        changed_relocate(comments, &genes[comment_id_gene(changed_id(comments, cell))], cell))
        keeper_count(&walk->hot->keeper.stats.relocated, 1);
}

bool keeper_retire_comments(struct walk *walk, unsigned table)
{
    struct comment_shard *comments = &walk->items->comments;
    struct table *tables[] = {&comments->subjects, &comments->comments, &comments->changed};
    ASSERT(table < sizeof tables / sizeof tables[0]);
    walk->clean_position = loads_clean_position(&walk->hot->loads);
    walk->cursor = table_visit_some(tables[table], walk->cursor, KEEPER_STEP_BUCKETS,
                                    table == 2 ? retire_changed : retire_kept, walk);
    return walk->cursor != 0;
}
