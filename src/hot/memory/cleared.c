/*
 * Notes are added and removed in the same order, so a chain and an index are enough. The note of a
 * reaction that is set again is removed from the index at once, and from the chain when it is the oldest.
 */
#include "hot/memory/cleared.h"

#include <string.h>

#include "base/assert.h"
#include "base/hash.h"

struct cleared_cell {
    uint32_t newer;
    uint32_t stamp;
    struct cleared_key key;
    bool indexed;
    uint32_t older; /* valid while this is the newest */
};

#define CELL_BYTES ((sizeof(struct cleared_cell) + SLAB_UNIT - 1) / SLAB_UNIT * SLAB_UNIT)

static uint64_t key_hash(const struct cleared *cleared, const struct cleared_key *key)
{
    return hash_mix(id_hash(key->user, cleared->seed),
                    item_hash(key->item, cleared->seed + ((uint64_t)key->kind << 16)));
}

static bool key_equal(const struct cleared_key *a, const struct cleared_key *b)
{
    return a->kind == b->kind && id_equal(a->user, b->user) && item_equal(a->item, b->item);
}

void cleared_init(struct cleared *cleared, struct slab *slab, uint64_t seed)
{
    *cleared = (struct cleared){.seed = seed};
    table_init(&cleared->table, slab);
}

void cleared_destroy(struct cleared *cleared)
{
    table_destroy(&cleared->table);
}

static uint32_t cleared_find(const struct cleared *cleared, const struct cleared_key *key,
                             uint64_t hash)
{
    struct table_walk walk = table_walk_start(&cleared->table, hash);
    for (;;) {
        uint32_t at = table_walk_next(&walk);
        if (at == 0)
            return 0;
        const struct cleared_cell *cell = slab_at(cleared->table.slab, at);
        if (key_equal(&cell->key, key))
            return at;
    }
}

bool cleared_has(const struct cleared *cleared, const struct cleared_key *key)
{
    return cleared->table.rows != 0 && cleared_find(cleared, key, key_hash(cleared, key)) != 0;
}

uint32_t cleared_add(struct cleared *cleared, const struct cleared_key *key)
{
    struct slab *slab = cleared->table.slab;
    uint64_t hash = key_hash(cleared, key);
    ASSERT(cleared_find(cleared, key, hash) == 0);
    if (!table_reserve(&cleared->table, hash))
        return 0;
    uint32_t at = slab_alloc(slab, CELL_BYTES);
    if (at == 0)
        return 0;
    *(struct cleared_cell *)slab_at(slab, at) = (struct cleared_cell){
        .stamp = UINT32_MAX, .key = *key, .indexed = true, .older = cleared->newest};
    table_insert(&cleared->table, hash, at);
    if (cleared->newest == 0)
        cleared->oldest = at;
    else
        ((struct cleared_cell *)slab_at(slab, cleared->newest))->newer = at;
    cleared->newest = at;
    return at;
}

void cleared_stamp(struct cleared *cleared, uint32_t cell, uint32_t stamp)
{
    ((struct cleared_cell *)slab_at(cleared->table.slab, cell))->stamp = stamp;
}

void cleared_give_up(struct cleared *cleared, uint32_t at)
{
    struct slab *slab = cleared->table.slab;
    const struct cleared_cell *cell = slab_at(slab, at);
    ASSERT(at == cleared->newest);
    table_remove(&cleared->table, key_hash(cleared, &cell->key), at);
    cleared->newest = cell->older;
    if (cleared->newest == 0)
        cleared->oldest = 0;
    else
        ((struct cleared_cell *)slab_at(slab, cleared->newest))->newer = 0;
    slab_free(slab, at, CELL_BYTES);
}

void cleared_remove(struct cleared *cleared, const struct cleared_key *key)
{
    if (cleared->table.rows == 0)
        return;
    uint64_t hash = key_hash(cleared, key);
    uint32_t at = cleared_find(cleared, key, hash);
    if (at == 0)
        return;
    ((struct cleared_cell *)slab_at(cleared->table.slab, at))->indexed = false;
    table_remove(&cleared->table, hash, at);
}

void cleared_expire(struct cleared *cleared, uint32_t clean, uint32_t most)
{
    struct slab *slab = cleared->table.slab;
    for (; cleared->oldest != 0 && most > 0; most--) {
        uint32_t at = cleared->oldest;
        struct cleared_cell *cell = slab_at(slab, at);
        if (cell->stamp >= clean)
            break;
        cleared->oldest = cell->newer;
        if (cell->indexed)
            table_remove(&cleared->table, key_hash(cleared, &cell->key), at);
        slab_free(slab, at, CELL_BYTES);
    }
    if (cleared->oldest == 0)
        cleared->newest = 0;
}

bool cleared_relocate(struct cleared *cleared)
{
    struct slab *slab = cleared->table.slab;
    uint32_t before = 0;
    for (uint32_t at = cleared->oldest; at != 0;) {
        struct cleared_cell *cell = slab_at(slab, at);
        uint32_t next = cell->newer;
        if (slab_is_retiring(slab, at)) {
            uint32_t relocated = slab_alloc(slab, CELL_BYTES);
            if (relocated == 0)
                return false;
            memcpy(slab_at(slab, relocated), cell, sizeof(*cell));
            if (cell->indexed)
                table_replace(&cleared->table, key_hash(cleared, &cell->key), at, relocated);
            if (before == 0)
                cleared->oldest = relocated;
            else
                ((struct cleared_cell *)slab_at(slab, before))->newer = relocated;
            if (next == 0)
                cleared->newest = relocated;
            slab_free(slab, at, CELL_BYTES);
            at = relocated;
        }
        before = at;
        at = next;
    }
    return true;
}
