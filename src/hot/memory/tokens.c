/*
 * Tokens are hashes already, so the table uses them directly (mixed once more, because a token may have
 * been made by other code). They expire in the order in which they were added, because recorded times
 * never go backwards.
 */
#include "hot/memory/tokens.h"

#include <string.h>

#include "base/assert.h"
#include "base/hash.h"

#define HAS_VALUE 0x80000000U /* flag of `newer`; no handle of a cell has it */

_Static_assert(SLAB_CELL_LAST < HAS_VALUE, "no cell looks like one with the flag");

struct token_cell {
    uint32_t newer;
    uint32_t time_s; /* the recorded time of the addition */
    uint64_t token[2];
    uint64_t value[]; /* one, if `newer` has the flag */
};

static size_t bytes_of(bool has_value)
{
    return sizeof(struct token_cell) + (has_value ? sizeof(uint64_t) : 0);
}

static uint32_t newer_of(const struct token_cell *cell)
{
    return cell->newer & ~HAS_VALUE;
}

static size_t cell_bytes(const struct token_cell *cell)
{
    return bytes_of(cell->newer & HAS_VALUE);
}

static void set_newer(struct token_cell *cell, uint32_t newer)
{
    cell->newer = (cell->newer & HAS_VALUE) | newer;
}

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
        tokens->oldest = newer_of(cell);
        table_remove(&tokens->table, token_hash(cell->token), at);
        slab_free(tokens->table.slab, at, cell_bytes(cell));
        forgotten++;
    }
    if (tokens->oldest == 0)
        tokens->newest = 0;
    return forgotten;
}

/* The token, if it was added at most ttl_s ago; otherwise NULL. */
static const struct token_cell *find(const struct tokens *tokens, const uint64_t token[2],
                                     uint32_t now_s, uint32_t ttl_s)
{
    struct table_walk walk = table_walk_start(&tokens->table, token_hash(token));
    for (;;) {
        uint32_t at = table_walk_next(&walk);
        if (at == 0)
            return NULL;
        const struct token_cell *cell = slab_at(tokens->table.slab, at);
        if (cell->token[0] == token[0] && cell->token[1] == token[1] &&
            !is_over(cell, now_s, ttl_s))
            return cell;
    }
}

bool tokens_has(const struct tokens *tokens, const uint64_t token[2], uint32_t now_s,
                uint32_t ttl_s)
{
    return find(tokens, token, now_s, ttl_s) != NULL;
}

uint64_t tokens_value(const struct tokens *tokens, const uint64_t token[2], uint32_t now_s,
                      uint32_t ttl_s)
{
    const struct token_cell *cell = find(tokens, token, now_s, ttl_s);
    return cell != NULL && cell->newer & HAS_VALUE ? cell->value[0] : 0;
}

uint32_t tokens_reserve(struct tokens *tokens, const uint64_t token[2], uint64_t value)
{
    if (!table_reserve(&tokens->table, token_hash(token)))
        return 0;
    return slab_alloc(tokens->table.slab, bytes_of(value != 0));
}

void tokens_release(struct tokens *tokens, uint32_t cell, uint64_t value)
{
    slab_free(tokens->table.slab, cell, bytes_of(value != 0));
}

/* Tokens that are added out of order still expire in time; only their cells are freed a little later. */
void tokens_add(struct tokens *tokens, uint32_t at, const uint64_t token[2], uint32_t time_s,
                uint64_t value)
{
    struct slab *slab = tokens->table.slab;
    struct token_cell *cell = slab_at(slab, at);
    *cell = (struct token_cell){
        .newer = value != 0 ? HAS_VALUE : 0, .time_s = time_s, .token = {token[0], token[1]}};
    if (value != 0)
        cell->value[0] = value;
    table_insert(&tokens->table, token_hash(token), at);
    if (tokens->newest == 0)
        tokens->oldest = at;
    else
        set_newer(slab_at(slab, tokens->newest), at);
    tokens->newest = at;
}

bool tokens_relocate(struct tokens *tokens)
{
    struct slab *slab = tokens->table.slab;
    uint32_t before = 0;
    for (uint32_t at = tokens->oldest; at != 0;) {
        struct token_cell *cell = slab_at(slab, at);
        uint32_t next = newer_of(cell);
        if (slab_is_retiring(slab, at)) {
            uint32_t relocated = slab_alloc(slab, cell_bytes(cell));
            if (relocated == 0)
                return false;
            memcpy(slab_at(slab, relocated), cell, cell_bytes(cell));
            table_replace(&tokens->table, token_hash(cell->token), at, relocated);
            if (before == 0)
                tokens->oldest = relocated;
            else
                set_newer(slab_at(slab, before), relocated);
            if (next == 0)
                tokens->newest = relocated;
            slab_free(slab, at, cell_bytes(cell));
            at = relocated;
        }
        before = at;
        at = next;
    }
    return true;
}
