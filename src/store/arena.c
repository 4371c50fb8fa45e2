/* Blocks are linked and never change their address; each is twice as large as the one before. */
#include "store/arena.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

enum { BLOCK_FIRST = 4096, BLOCK_LARGEST = 1024 * 1024 };

struct store_arena_block {
    struct store_arena_block *before;
    size_t size;
    uint8_t bytes[];
};

static bool add_block(struct store_arena *arena, size_t length)
{
    size_t size = arena->block == NULL ? BLOCK_FIRST : arena->block->size * 2;
    if (size > BLOCK_LARGEST)
        size = BLOCK_LARGEST;
    if (size < length)
        size = length;
    struct store_arena_block *block = malloc(sizeof(*block) + size);
    if (block == NULL)
        return false;
    block->before = arena->block;
    block->size = size;
    arena->block = block;
    arena->used = 0;
    arena->bytes += sizeof(*block) + size;
    return true;
}

uint8_t *store_arena_take(struct store_arena *arena, size_t length)
{
    if ((arena->block == NULL || arena->block->size - arena->used < length) &&
        !add_block(arena, length))
        return NULL;
    ASSERT(arena->used + length <= arena->block->size);
    uint8_t *bytes = arena->block->bytes + arena->used;
    arena->used += length;
    return bytes;
}

uint8_t *store_arena_copy(struct store_arena *arena, const uint8_t *data, size_t length)
{
    uint8_t *bytes = store_arena_take(arena, length);
    if (bytes != NULL && length > 0)
        memcpy(bytes, data, length);
    return bytes;
}

static void free_before(struct store_arena_block *block)
{
    while (block != NULL) {
        struct store_arena_block *before = block->before;
        free(block);
        block = before;
    }
}

void store_arena_empty(struct store_arena *arena)
{
    if (arena->block == NULL)
        return;
    free_before(arena->block->before);
    arena->block->before = NULL;
    arena->used = 0;
    arena->bytes = sizeof(*arena->block) + arena->block->size;
}

void store_arena_destroy(struct store_arena *arena)
{
    free_before(arena->block);
    *arena = (struct store_arena){0};
}
