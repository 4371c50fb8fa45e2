/*
 * The capacities 4, 12, 28, … are 4 more than a multiple of 8, and so is the 20-byte head: names
 * and head together always end where an 8-byte value may begin, and every cell is a multiple of 8.
 */
#include "hot/memory/items.h"

#include <string.h>

#include "base/assert.h"
#include "base/limits.h"

#define ITEM_STEP_SHIFT 4
#define ITEM_STEPS      6

static const uint8_t item_capacities[ITEM_STEPS] = {4, 12, 28, 60, 124, 252};

_Static_assert(offsetof(struct item_row, names) == 20, "see above");
_Static_assert(LIMIT_NAMES <= 252, "a row can hold every counter there may be");

static uint32_t row_capacity(const struct item_row *row)
{
    return item_capacities[row->flags >> ITEM_STEP_SHIFT];
}

static size_t row_values_at(const struct item_row *row)
{
    return offsetof(struct item_row, names) + row_capacity(row);
}

static int32_t *row_short(const struct item_row *row)
{
    return (int32_t *)((uint8_t *)row + row_values_at(row));
}

static int64_t *row_long(const struct item_row *row)
{
    return (int64_t *)((uint8_t *)row + row_values_at(row));
}

static size_t row_hi_at(const struct item_row *row)
{
    return row_values_at(row) + row_capacity(row) * (row->flags & ITEM_LONG ? 8U : 4U);
}

static uint64_t *row_hi(const struct item_row *row)
{
    return (uint64_t *)((uint8_t *)row + row_hi_at(row));
}

static size_t row_size(const struct item_row *row)
{
    return row_hi_at(row) + (row->flags & ITEM_WIDE ? 8 : 0);
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
        .id = {.hi = row->flags & ITEM_WIDE ? *row_hi(row) : 0, .lo = row->id_lo},
        .type = row->type,
    };
}

static uint64_t item_row_hash(const void *row, uint64_t seed)
{
    return item_hash(item_of(row), seed);
}

bool item_shard_init(struct item_shard *shard, struct slab_pool *pool, uint64_t seed)
{
    memset(shard, 0, sizeof(*shard));
    pthread_mutex_init(&shard->lock, NULL);
    table_init(&shard->table, &shard->slab, item_row_hash, seed);
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
    for (uint32_t cell = table_peek(&shard->table, hash); cell != 0;) {
        const struct item_row *row = slab_at(&shard->slab, cell);
        if (row->id_lo == item.id.lo && row->type == item.type &&
            (row->flags & ITEM_WIDE ? *row_hi(row) : 0) == item.id.hi)
            return cell;
        cell = row->table.link;
    }
    return 0;
}

struct item_row *item_find(const struct item_shard *shard, uint64_t hash, struct item item)
{
    uint32_t cell = item_find_cell(shard, hash, item);
    return cell == 0 ? NULL : slab_at(&shard->slab, cell);
}

/* Index of a counter, or the row's count. */
static uint32_t row_index(const struct item_row *row, uint8_t name)
{
    uint32_t index = 0;
    while (index < row->count && row->names[index] != name)
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
    if (!table_reserve(&shard->table))
        return false;
    slot->cell = slab_alloc(&shard->slab, row_size(&head));
    if (slot->cell == 0)
        return false;
    slot->row = slab_at(&shard->slab, slot->cell);
    memcpy(slot->row, &head, offsetof(struct item_row, names));
    if (head.flags & ITEM_WIDE)
        *row_hi(slot->row) = item.id.hi;
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
    memcpy(&head, old, offsetof(struct item_row, names));
    head.flags = flags;
    uint32_t cell = slab_alloc(&shard->slab, row_size(&head));
    if (cell == 0)
        return false;
    struct item_row *row = slab_at(&shard->slab, cell);
    memcpy(row, &head, offsetof(struct item_row, names));
    memcpy(row->names, old->names, old->count);
    for (uint32_t i = 0; i < old->count; i++)
        row_put(row, i, row_get(old, i));
    if (flags & ITEM_WIDE)
        *row_hi(row) = *row_hi(old);
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
        row->names[row->count++] = name;
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
    for (uint32_t i = 0; i < row->count; i++)
        out[i] = (struct hot_counter){.value = row_get(row, i), .name = row->names[i]};
}
