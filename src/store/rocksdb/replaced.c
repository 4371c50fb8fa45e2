/*
 * The keys are sorted before they are looked up, because RocksDB reads sorted keys faster. A change of new
 * reactions reads nothing.
 */
#include "store/rocksdb/replaced.h"

#include <stdlib.h>

#include "base/log.h"
#include "store/rocksdb/read.h"

struct replaced replaced_of(const struct store_reaction *reactions, size_t count)
{
    struct replaced replaced = {.reactions = reactions, .count = count};
    for (size_t i = 0; i < count; i++)
        replaced.lived += reactions[i].was_live;
    return replaced;
}

/*
 * Collects and orders the relation keys of reactions that the store has. The value of a row is the
 * index.
 */
static bool gather_keys(struct rows *rows, const struct replaced *replaced)
{
    if (!rows_start(rows, replaced->lived))
        return false;
    for (size_t i = 0; i < replaced->count; i++) {
        if (!replaced->reactions[i].was_live)
            continue;
        uint8_t *key = rows_room(rows);
        size_t length = key_write_reaction(key, &replaced->reactions[i]);
        put_u32(key + length, (uint32_t)i);
        rows_add(rows, length, 4);
    }
    ASSERT(rows->count == replaced->lived);
    rows_sort(rows);
    return true;
}

struct finding {
    const struct replaced *replaced;
    uint32_t *times;
    uint32_t index[LOOKUP_MAX]; /* of the reaction, for each key of a lookup */
};

static enum status found_time(void *context, size_t at, const uint8_t *value, size_t length)
{
    struct finding *finding = context;
    uint32_t index = finding->index[at];
    ASSERT(index < finding->replaced->count && finding->replaced->reactions[index].was_live);
    if (value == NULL || length != 4) {
        char user[LIMIT_ID_TEXT], item[LIMIT_ID_TEXT];
        const struct store_reaction *change = &finding->replaced->reactions[index];
        size_t user_length = id_format(change->user, user);
        size_t item_length = id_format(change->item.id, item);
        log_error("store: the reaction of kind %u by user %.*s on %.*s (type %u) is missing",
                  change->kind, (int)user_length, user, (int)item_length, item, change->item.type);
        return STATUS_DAMAGED;
    }
    finding->times[index] = get_u32(value);
    return STATUS_OK;
}

/* The times of this span start at old_times[first]. */
static enum status read_times(struct store_rocksdb *rocks, struct replaced *replaced, size_t first)
{
    ASSERT(first + replaced->count <= rocks->old_times_capacity);
    uint32_t *times = rocks->old_times + first;
    const struct rows *rows = &rocks->rows;
    struct lookup lookup;
    struct finding finding = {.replaced = replaced, .times = times};
    enum status status = STATUS_OK;
    size_t gathered = 0;
    replaced->times = times;
    if (replaced->lived == 0)
        return STATUS_OK;
    if (!gather_keys(&rocks->rows, replaced))
        return STATUS_NO_MEMORY;
    for (size_t i = 0; status == STATUS_OK && i < rows->count; i++) {
        lookup.keys[gathered] = row_key(rows, &rows->row[i]);
        lookup.lengths[gathered] = rows->row[i].key_length;
        finding.index[gathered++] = get_u32(row_value(rows, &rows->row[i]));
        if (gathered == LOOKUP_MAX || i + 1 == rows->count) {
            status = lookup_run(rocks, rocks->read, &lookup, gathered, true, found_time, &finding);
            gathered = 0;
        }
    }
    return status;
}

static bool reserve_times(struct store_rocksdb *rocks, size_t count)
{
    if (rocks->old_times_capacity >= count)
        return true;
    free(rocks->old_times);
    rocks->old_times = malloc(count * sizeof(*rocks->old_times));
    rocks->old_times_capacity = rocks->old_times != NULL ? count : 0;
    return rocks->old_times != NULL;
}

enum status replaced_find(struct store_rocksdb *rocks, struct replaced *user, struct replaced *item)
{
    /* The projector uses one array for both spans, and then the times are read once. */
    bool same = user->reactions == item->reactions && user->count == item->count;
    if (user->lived + item->lived == 0)
        return STATUS_OK;
    if (!reserve_times(rocks, user->count + (same ? 0 : item->count)))
        return STATUS_NO_MEMORY;
    enum status status = read_times(rocks, user, 0);
    if (status == STATUS_OK && !same)
        status = read_times(rocks, item, user->count);
    else
        item->times = user->times;
    return status;
}
