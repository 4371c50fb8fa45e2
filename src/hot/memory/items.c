/*
 * One allocation has the key, all values and all names, so that reading an item's counters mostly touches
 * one cache line. Values come before names, so that they are aligned without padding.
 */
#include "hot/memory/items.h"

#include <string.h>

#include "base/assert.h"
#include "base/limits.h"

#define STEP_ONE            0x10
#define STEP_SHIFT          4
#define ITEM_FIRST_CAPACITY 3U
#define ITEM_NEXT_CAPACITY  4U
#define ITEM_HEAD_BYTES     sizeof(struct item_row)

_Static_assert(ITEM_HEAD_BYTES + ITEM_FIRST_CAPACITY * 5 <= ITEM_ROW_SHORT, "four and a name each");
_Static_assert(ITEM_HEAD_BYTES + ITEM_NEXT_CAPACITY * 5 <= ITEM_ROW_USUAL, "likewise");
_Static_assert(LIMIT_NAMES <= ITEM_NEXT_CAPACITY << 6, "a row can hold every counter there is");

static uint32_t row_capacity(const struct item_row *row)
{
    uint32_t step = (row->flags & ITEM_STEP) >> STEP_SHIFT;
    return step == 0 ? ITEM_FIRST_CAPACITY : ITEM_NEXT_CAPACITY << (step - 1);
}

static uint8_t *row_values(const struct item_row *row)
{
    return (uint8_t *)(row->rest + (row->flags & ITEM_WIDE));
}

static int32_t *row_short(const struct item_row *row)
{
    return (int32_t *)row_values(row);
}

static int64_t *row_long(const struct item_row *row)
{
    return (int64_t *)row_values(row);
}

static uint8_t *row_names(const struct item_row *row)
{
    return row_values(row) + row_capacity(row) * (row->flags & ITEM_LONG ? 8U : 4U);
}

static uint64_t row_hi(const struct item_row *row)
{
    return row->flags & ITEM_WIDE ? row->rest[0] : 0;
}

static size_t row_size(const struct item_row *row)
{
    size_t end = (size_t)(row_names(row) - (const uint8_t *)row) + row_capacity(row);
    return (end + SLAB_UNIT - 1) / SLAB_UNIT * SLAB_UNIT;
}

static int64_t row_get(const struct item_row *row, uint32_t index)
{
    return row->flags & ITEM_LONG ? row_long(row)[index] : row_short(row)[index];
}

static void row_put(struct item_row *row, uint32_t index, int64_t value)
{
    if (row->flags & ITEM_LONG) {
        row_long(row)[index] = value;
    } else {
        ASSERT(value == (int32_t)value);
        row_short(row)[index] = (int32_t)value;
    }
}

struct item item_of(const struct item_row *row)
{
    return (struct item){
        .id = {.hi = row_hi(row), .lo = row->id_lo},
        .type = row->type,
    };
}

bool item_shard_init(struct item_shard *shard, struct slab_pool *pool)
{
    memset(shard, 0, sizeof(*shard));
    pthread_mutex_init(&shard->lock, NULL);
    table_init(&shard->table, &shard->slab);
    tokens_init(&shard->tokens, &shard->slab);
    comment_shard_init(&shard->comments, &shard->slab, NULL);
    return slab_init(&shard->slab, pool);
}

void item_shard_destroy(struct item_shard *shard)
{
    board_shard_destroy(&shard->boards);
    comment_shard_destroy(&shard->comments);
    tokens_destroy(&shard->tokens);
    table_destroy(&shard->table);
    slab_destroy(&shard->slab);
    pthread_mutex_destroy(&shard->lock);
}

uint32_t item_cell(const struct item_shard *shard, uint64_t hash, struct item item)
{
    struct table_walk walk = table_walk_start(&shard->table, hash);
    for (;;) {
        uint32_t cell = table_walk_next(&walk);
        if (cell == 0)
            return 0;
        const struct item_row *row = slab_at(&shard->slab, cell);
        if (row->id_lo == item.id.lo && row->type == item.type && row_hi(row) == item.id.hi)
            return cell;
    }
}

/* The index of a counter; the row's count if there is no such counter. */
static uint32_t row_index(const struct item_row *row, uint8_t name)
{
    const uint8_t *names = row_names(row);
    uint32_t index = 0;
    while (index < row->count && names[index] != name)
        index++;
    return index;
}

int64_t item_value(const struct item_row *row, uint8_t name)
{
    if (row == NULL)
        return 0;
    uint32_t index = row_index(row, name);
    return index == row->count ? 0 : row_get(row, index);
}

static uint32_t row_make(struct item_shard *shard, uint64_t hash, struct item item, uint8_t flags)
{
    struct item_row head = {
        .id_lo = item.id.lo,
        .type = item.type,
        .flags = flags | (id_is_wide(item.id) ? ITEM_WIDE : 0),
    };
    if (!table_reserve(&shard->table, hash))
        return 0;
    uint32_t cell = slab_alloc(&shard->slab, row_size(&head));
    if (cell == 0)
        return 0;
    struct item_row *row = slab_at(&shard->slab, cell);
    memcpy(row, &head, ITEM_HEAD_BYTES);
    if (head.flags & ITEM_WIDE)
        row->rest[0] = item.id.hi;
    table_insert(&shard->table, hash, cell);
    return cell;
}

/* Copies the row to another cell, with these flags, and frees the old cell; 0: no memory. */
static uint32_t row_copy(struct item_shard *shard, uint64_t hash, uint32_t old_cell, uint8_t flags)
{
    struct item_row *old = slab_at(&shard->slab, old_cell);
    struct item_row head;
    memcpy(&head, old, ITEM_HEAD_BYTES);
    head.flags = flags;
    uint32_t cell = slab_alloc(&shard->slab, row_size(&head));
    if (cell == 0)
        return 0;
    struct item_row *row = slab_at(&shard->slab, cell);
    memcpy(row, &head, ITEM_HEAD_BYTES);
    memcpy(row_names(row), row_names(old), old->count);
    for (uint32_t i = 0; i < old->count; i++)
        row_put(row, i, row_get(old, i));
    if (flags & ITEM_WIDE)
        row->rest[0] = old->rest[0];
    table_replace(&shard->table, hash, old_cell, cell);
    slab_free(&shard->slab, old_cell, row_size(old));
    return cell;
}

/* Makes room for a counter, new or not, with this value. Returns the row's cell; 0: no memory. */
static uint32_t row_widen(struct item_shard *shard, uint64_t hash, uint32_t cell, uint32_t index,
                          int64_t value)
{
    struct item_row *row = slab_at(&shard->slab, cell);
    uint8_t flags = row->flags;
    if (index == row_capacity(row))
        flags += STEP_ONE;
    if (value != (int32_t)value)
        flags |= ITEM_LONG;
    return flags == row->flags ? cell : row_copy(shard, hash, cell, flags);
}

enum status item_reserve(struct item_shard *shard, uint64_t hash, struct item item, uint8_t name,
                         int64_t delta, uint8_t flags, uint32_t *cell)
{
    if (*cell == 0)
        *cell = row_make(shard, hash, item, flags);
    if (*cell == 0)
        return STATUS_NO_MEMORY;
    struct item_row *row = slab_at(&shard->slab, *cell);
    uint32_t index = row_index(row, name);
    int64_t value = index == row->count ? 0 : row_get(row, index);
    if (__builtin_add_overflow(value, delta, &value) && !(row->flags & ITEM_PARTIAL))
        return STATUS_COUNTER_OVERFLOW; /* a partial value may wrap: completing it makes it right again */
    uint32_t widened = row_widen(shard, hash, *cell, index, value);
    if (widened == 0)
        return STATUS_NO_MEMORY;
    *cell = widened;
    row = slab_at(&shard->slab, widened);
    if (index == row->count) {
        row_names(row)[index] = name;
        row->count++;
        row_put(row, index, 0);
    }
    return STATUS_OK;
}

int64_t item_add(struct item_shard *shard, struct item_row *row, uint8_t name, int64_t delta,
                 uint32_t stamp)
{
    uint32_t index = row_index(row, name);
    ASSERT(index < row->count);
    int64_t old = row_get(row, index);
    int64_t value = (int64_t)((uint64_t)old + (uint64_t)delta);
    row_put(row, index, value);
    row->stamp = stamp;
    item_touch(row);
    if (!(row->flags & ITEM_PARTIAL))
        board_note(&shard->boards, board_key(row->type, name), item_of(row).id, old, value);
    return value;
}

/* Puts the values of the row on their boards, whatever the boards had before. */
static void row_update_boards(struct item_shard *shard, const struct item_row *row)
{
    const uint8_t *names = row_names(row);
    for (uint32_t i = 0; i < row->count; i++)
        board_put(&shard->boards, board_key(row->type, names[i]), item_of(row).id, row_get(row, i));
}

bool item_fill(struct item_shard *shard, uint64_t hash, struct item item,
               const struct store_value *values, uint32_t count)
{
    uint32_t cell = item_cell(shard, hash, item);
    bool fresh = cell == 0;
    if (fresh)
        cell = row_make(shard, hash, item, ITEM_PARTIAL);
    if (cell == 0)
        return false;
    if (!(item_at(shard, cell)->flags & ITEM_PARTIAL))
        return true;
    for (uint32_t i = 0; i < count; i++) {
        enum status status =
            item_reserve(shard, hash, item, values[i].name, values[i].value, 0, &cell);
        if (status == STATUS_NO_MEMORY) {
            if (fresh)
                item_evict(shard, hash, cell);
            return false;
        }
        ASSERT(status == STATUS_OK);
    }
    struct item_row *row = item_at(shard, cell);
    for (uint32_t i = 0; i < count; i++)
        item_add(shard, row, values[i].name, values[i].value, row->stamp);
    row->flags &= (uint8_t)~ITEM_PARTIAL;
    if (!fresh)
        row_update_boards(shard, row);
    return true;
}

void item_evict(struct item_shard *shard, uint64_t hash, uint32_t cell)
{
    struct item_row *row = slab_at(&shard->slab, cell);
    table_remove(&shard->table, hash, cell);
    slab_free(&shard->slab, cell, row_size(row));
}

bool item_relocate(struct item_shard *shard, uint64_t hash, uint32_t cell)
{
    const struct item_row *row = slab_at(&shard->slab, cell);
    return row_copy(shard, hash, cell, row->flags) != 0;
}

uint32_t item_read(const struct item_row *row, struct hot_counter *out)
{
    const uint8_t *names = row_names(row);
    const int64_t *longs = row->flags & ITEM_LONG ? row_long(row) : NULL;
    const int32_t *shorts = row_short(row);
    uint32_t count = 0;
    for (uint32_t i = 0, all = row->count; i < all; i++) {
        int64_t value = longs != NULL ? longs[i] : shorts[i];
        if (value == 0)
            continue;
        uint32_t at = count++;
        for (; at > 0 && out[at - 1].name > names[i]; at--)
            out[at] = out[at - 1];
        out[at] = (struct hot_counter){.value = value, .name = names[i]};
    }
    return count;
}
