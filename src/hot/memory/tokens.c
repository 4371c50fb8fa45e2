/*
 * Tokens are hashes already, so the table uses them directly (mixed once more, because a token may have
 * been made by other code). They expire in the order in which they were added, because recorded times
 * never go backwards.
 */
#include "hot/memory/tokens.h"

#include "base/assert.h"
#include "base/hash.h"

struct token_cell {
    uint32_t newer;
    uint32_t time_s; /* the recorded time of the addition */
    uint64_t token[2];
};

static uint64_t token_hash(const uint64_t token[2])
{
    return hash_mix(token[0], token[1]);
}

void tokens_init(struct tokens *tokens, struct slab *slab)
{
    *tokens = (struct tokens){0};
    table_init(&tokens->table, slab);
}

void tokens_destroy(struct tokens *tokens)
{
    table_destroy(&tokens->table);
}

static bool is_over(const struct token_cell *cell, uint32_t now_s, uint32_t ttl_s)
{
    return now_s > cell->time_s && now_s - cell->time_s > ttl_s;
}

uint64_t tokens_expire(struct tokens *tokens, uint32_t now_s, uint32_t ttl_s, uint64_t most)
{
    uint64_t forgotten = 0;
    while (tokens->oldest != 0 && forgotten < most) {
        uint32_t at = tokens->oldest;
        struct token_cell *cell = slab_at(tokens->table.slab, at);
        if (!is_over(cell, now_s, ttl_s))
            break;
        tokens->oldest = cell->newer;
        table_remove(&tokens->table, token_hash(cell->token), at);
        slab_free(tokens->table.slab, at, sizeof(*cell));
        forgotten++;
    }
    if (tokens->oldest == 0)
        tokens->newest = 0;
    return forgotten;
}

bool tokens_has(const struct tokens *tokens, const uint64_t token[2], uint32_t now_s,
                uint32_t ttl_s)
{
    struct table_walk walk = table_walk_start(&tokens->table, token_hash(token));
    for (;;) {
        uint32_t at = table_walk_next(&walk);
        if (at == 0)
            return false;
        const struct token_cell *cell = slab_at(tokens->table.slab, at);
        if (cell->token[0] == token[0] && cell->token[1] == token[1] &&
            !is_over(cell, now_s, ttl_s))
            return true;
    }
}

uint32_t tokens_reserve(struct tokens *tokens, const uint64_t token[2])
{
    if (!table_reserve(&tokens->table, token_hash(token)))
        return 0;
    return slab_alloc(tokens->table.slab, sizeof(struct token_cell));
}

void tokens_release(struct tokens *tokens, uint32_t cell)
{
    slab_free(tokens->table.slab, cell, sizeof(struct token_cell));
}

/* Tokens that are added out of order still expire in time; only their cells are freed a little later. */
void tokens_add(struct tokens *tokens, uint32_t at, const uint64_t token[2], uint32_t time_s)
{
    struct slab *slab = tokens->table.slab;
    struct token_cell *cell = slab_at(slab, at);
    *cell = (struct token_cell){.time_s = time_s, .token = {token[0], token[1]}};
    table_insert(&tokens->table, token_hash(token), at);
    if (tokens->newest == 0)
        tokens->oldest = at;
    else
        ((struct token_cell *)slab_at(slab, tokens->newest))->newer = at;
    tokens->newest = at;
}

bool tokens_relocate(struct tokens *tokens)
{
    struct slab *slab = tokens->table.slab;
    uint32_t before = 0;
    for (uint32_t at = tokens->oldest; at != 0;) {
        struct token_cell *cell = slab_at(slab, at);
        uint32_t next = cell->newer;
        if (slab_is_retiring(slab, at)) {
            uint32_t relocated = slab_alloc(slab, sizeof(*cell));
            if (relocated == 0)
                return false;
            *(struct token_cell *)slab_at(slab, relocated) = *cell;
            table_replace(&tokens->table, token_hash(cell->token), at, relocated);
            if (before == 0)
                tokens->oldest = relocated;
            else
                ((struct token_cell *)slab_at(slab, before))->newer = relocated;
            if (next == 0)
                tokens->newest = relocated;
            slab_free(slab, at, sizeof(*cell));
            at = relocated;
        }
        before = at;
        at = next;
    }
    return true;
}
