/*
 * Memory for the bytes that a store returns. It grows as needed, and what it holds keeps its address
 * until the arena is emptied or destroyed, so results of several calls can be used together. The caller
 * owns it; one thread at a time uses it. An arena that is all zeros is empty.
 */
#ifndef LAUD_STORE_ARENA_H
#define LAUD_STORE_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct store_arena_block;

struct store_arena {
    struct store_arena_block *block; /* the newest one */
    size_t used;                     /* bytes of the newest block */
    size_t bytes;                    /* memory of all blocks together */
};

/* NULL: there is no memory. With a length of 0 the result is not NULL, either. */
uint8_t *store_arena_take(struct store_arena *arena, size_t length);
/* A copy of these bytes, or NULL. `data` may be NULL if the length is 0. */
uint8_t *store_arena_copy(struct store_arena *arena, const uint8_t *data, size_t length);
/* Everything in the arena ends. The newest block is kept for what follows. */
void store_arena_empty(struct store_arena *arena);
void store_arena_destroy(struct store_arena *arena);

#endif
