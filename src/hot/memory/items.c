/*
 * One allocation holds the key, all values and all names, so that reading an item's counters is one
 * cache line more often than not. Values come before names to be aligned without padding.
 */
#include "hot/memory/items.h"

#include <string.h>

#include "base/assert.h"
#include "base/limits.h"

#define ITEM_STEP_SHIFT     4
#define ITEM_FIRST_CAPACITY 4U
#define ITEM_HEAD_BYTES     sizeof(struct item_row)

_Static_assert(ITEM_HEAD_BYTES == 16, "four short counters make a row of 40 bytes");
_Static_assert(LIMIT_NAMES <= ITEM_FIRST_CAPACITY << 6, "a row can hold every counter there is");

static uint32_t row_capacity(const struct item_row *row)
{
    return ITEM_FIRST_CAPACITY << (row->flags >> ITEM_STEP_SHIFT);
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
    return slab_init(&shard->slab, pool);
}

void item_shard_destroy(struct item_shard *shard)
{
    tokens_destroy(&shard->tokens);
    table_destroy(&shard->table);
    slab_destroy(&shard->slab);
    pthread_mutex_destroy(&shard->lock);
}

static uint32_t item_find_cell(const struct item_shard *shard, uint64_t hash, struct item item)
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

struct item_row *item_find(const struct item_shard *shard, uint64_t hash, struct item item)
{
    uint32_t cell = item_find_cell(shard, hash, item);
    return cell == 0 ? NULL : slab_at(&shard->slab, cell);
}

/* Index of a counter, or the row's count. */
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

static bool slot_make_row(struct item_shard *shard, uint64_t hash, struct item item,
                          struct item_slot *slot)
{
    struct item_row head = {
        .id_lo = item.id.lo,
        .type = item.type,
        .flags = id_is_wide(item.id) ? ITEM_WIDE : 0,
    };
    if (!table_reserve(&shard->table, hash))
        return false;
    slot->cell = slab_alloc(&shard->slab, row_size(&head));
    if (slot->cell == 0)
        return false;
    slot->row = slab_at(&shard->slab, slot->cell);
    memcpy(slot->row, &head, ITEM_HEAD_BYTES);
    if (head.flags & ITEM_WIDE)
        slot->row->rest[0] = item.id.hi;
    table_insert(&shard->table, hash, slot->cell);
    slot->fresh_row = true;
    return true;
}

/* Moves the row to a cell of another form. */
static bool slot_move_row(struct item_shard *shard, uint64_t hash, struct item_slot *slot,
                          uint8_t flags)
{
    struct item_row *old = slot->row;
    struct item_row head;
    memcpy(&head, old, ITEM_HEAD_BYTES);
    head.flags = flags;
    uint32_t cell = slab_alloc(&shard->slab, row_size(&head));
    if (cell == 0)
        return false;
    struct item_row *row = slab_at(&shard->slab, cell);
    memcpy(row, &head, ITEM_HEAD_BYTES);
    memcpy(row_names(row), row_names(old), old->count);
    for (uint32_t i = 0; i < old->count; i++)
        row_put(row, i, row_get(old, i));
    if (flags & ITEM_WIDE)
        row->rest[0] = old->rest[0];
    table_replace(&shard->table, hash, slot->cell, cell);
    slab_free(&shard->slab, slot->cell, row_size(old));
    slot->row = row;
    slot->cell = cell;
    return true;
}

enum status item_reserve(struct item_shard *shard, uint64_t hash, struct item item, uint8_t name,
                         int64_t delta, struct item_slot *slot)
{
    *slot = (struct item_slot){.cell = item_find_cell(shard, hash, item)};
    if (slot->cell != 0)
        slot->row = slab_at(&shard->slab, slot->cell);
    else if (!slot_make_row(shard, hash, item, slot))
        return STATUS_NO_MEMORY;
    struct item_row *row = slot->row;
    slot->index = row_index(row, name);
    int64_t value = slot->index == row->count ? 0 : row_get(row, slot->index);
    if (__builtin_add_overflow(value, delta, &value))
        return STATUS_COUNTER_OVERFLOW;
    uint8_t flags = row->flags;
    if (slot->index == row_capacity(row))
        flags += 1 << ITEM_STEP_SHIFT;
    if (value != (int32_t)value)
        flags |= ITEM_LONG;
    if (flags == row->flags || slot_move_row(shard, hash, slot, flags))
        return STATUS_OK;
    item_release(shard, hash, slot);
    return STATUS_NO_MEMORY;
}

void item_release(struct item_shard *shard, uint64_t hash, struct item_slot *slot)
{
    if (!slot->fresh_row)
        return;
    ASSERT(slot->row->count == 0);
    table_remove(&shard->table, hash, slot->cell);
    slab_free(&shard->slab, slot->cell, row_size(slot->row));
    *slot = (struct item_slot){0};
}

int64_t item_add(struct item_slot *slot, uint8_t name, int64_t delta, uint32_t time_s)
{
    struct item_row *row = slot->row;
    int64_t value = delta;
    if (slot->index == row->count) {
        ASSERT(row->count < row_capacity(row));
        row_names(row)[row->count++] = name;
    } else {
        value += row_get(row, slot->index);
    }
    row_put(row, slot->index, value);
    row->time_s = time_s;
    return value;
}

void item_take(struct item_row *row, uint8_t name)
{
    uint32_t index = row_index(row, name);
    ASSERT(index < row->count);
    int64_t value = row_get(row, index);
    ASSERT(value > 0);
    row_put(row, index, value - 1);
}

void item_read(const struct item_row *row, struct hot_counter *out)
{
    const uint8_t *names = row_names(row);
    for (uint32_t i = 0; i < row->count; i++)
        out[i] = (struct hot_counter){.value = row_get(row, i), .name = names[i]};
}
