#include "move/overlay.h"

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/assert.h"

enum { ROWS = 8192, SLOTS = 2 * ROWS };

struct overlay_row {
    uint8_t table;
    uint8_t key_length;
    uint16_t value_length;
    uint8_t key[ROW_KEY_MAX];
    uint8_t value[ROW_COMMENT_MAX];
};

struct overlay {
    struct store_reader *reader;
    struct store_arena arena; /* of the last row that was read from the store */
    uint64_t seed;
    uint32_t used;
    uint16_t slots[SLOTS]; /* 0: empty; otherwise 1 + the index of a row */
    struct overlay_row rows[ROWS];
};

_Static_assert(ROWS < UINT16_MAX, "a slot holds the index of a row");

struct overlay *overlay_new(struct store_reader *reader, uint64_t seed)
{
    struct overlay *overlay = calloc(1, sizeof *overlay);
    if (overlay != NULL) {
        overlay->reader = reader;
        overlay->seed = seed;
    }
    return overlay;
}

void overlay_free(struct overlay *overlay)
{
    if (overlay != NULL)
        store_arena_destroy(&overlay->arena);
    free(overlay);
}

size_t overlay_bytes(void)
{
    return sizeof(struct overlay);
}

bool overlay_has_room(const struct overlay *overlay, uint32_t rows)
{
    return ROWS - overlay->used >= rows;
}

void overlay_clear(struct overlay *overlay)
{
    if (overlay->used > 0)
        memset(overlay->slots, 0, sizeof overlay->slots);
    overlay->used = 0;
}

/* The row; NULL: there is none, and *slot is the free slot for it. */
static struct overlay_row *find(struct overlay *overlay, uint8_t table, const uint8_t *key,
                                size_t key_length, uint32_t *slot)
{
    uint64_t hash = XXH3_64bits_withSeed(key, key_length, overlay->seed + table);
    for (*slot = hash % SLOTS;; *slot = (*slot + 1) % SLOTS) {
        if (overlay->slots[*slot] == 0)
            return NULL;
        struct overlay_row *row = &overlay->rows[overlay->slots[*slot] - 1];
        if (row->table == table && row->key_length == key_length &&
            memcmp(row->key, key, key_length) == 0)
            return row;
    }
}

enum status overlay_read(struct overlay *overlay, enum store_table table, const uint8_t *key,
                         size_t key_length, struct store_bytes *value, bool *here)
{
    uint32_t slot;
    const struct overlay_row *row = find(overlay, (uint8_t)table, key, key_length, &slot);
    if (here != NULL)
        *here = row != NULL;
    if (row != NULL) {
        *value = (struct store_bytes){row->value, row->value_length};
        return STATUS_OK;
    }
    const struct store_bytes wanted = {key, (uint32_t)key_length};
    store_arena_empty(&overlay->arena);
    return store_read_rows(overlay->reader, table, &wanted, 1, value, &overlay->arena);
}

void overlay_set(struct overlay *overlay, enum store_table table, const uint8_t *key,
                 size_t key_length, const uint8_t *value, size_t value_length)
{
    uint32_t slot;
    struct overlay_row *row = find(overlay, (uint8_t)table, key, key_length, &slot);
    ASSERT(key_length <= sizeof row->key && value_length <= sizeof row->value);
    if (row == NULL) {
        ASSERT(overlay->used < ROWS);
        row = &overlay->rows[overlay->used++];
        overlay->slots[slot] = (uint16_t)overlay->used;
        row->table = (uint8_t)table;
        row->key_length = (uint8_t)key_length;
        memcpy(row->key, key, key_length);
    }
    memcpy(row->value, value, value_length);
    row->value_length = (uint16_t)value_length;
}
