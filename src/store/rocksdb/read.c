/*
 * Point reads, many at a time with RocksDB's batched multi-get, which sees one moment of the store
 * for the whole call. "No such row" is answered only if RocksDB said so: any error ends the call
 * with its status.
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/log.h"
#include "store/rocksdb/merge.h"
#include "store/rocksdb/private.h"
#include "store/rocksdb/read.h"

static enum status take_results(struct lookup *lookup, size_t count, void *context,
                                lookup_found_fn *found)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count; i++) {
        if (status != STATUS_OK) {
            free(lookup->problems[i]);
        } else if (lookup->problems[i] != NULL) {
            status = problem_status(lookup->problems[i], "reading");
        } else {
            size_t length = 0;
            const uint8_t *value = NULL;
            if (lookup->values[i] != NULL)
                value = (const uint8_t *)rocksdb_pinnableslice_value(lookup->values[i], &length);
            status = found(context, i, value, length);
        }
        if (lookup->values[i] != NULL)
            rocksdb_pinnableslice_destroy(lookup->values[i]);
    }
    return status;
}

enum status lookup_run(struct store_rocksdb *rocks, rocksdb_readoptions_t *read,
                       struct lookup *lookup, size_t count, bool sorted, lookup_found_fn *found,
                       void *context)
{
    ASSERT(count > 0 && count <= LOOKUP_MAX);
    for (size_t i = 0; i < count; i++) {
        lookup->values[i] = NULL;
        lookup->problems[i] = NULL;
    }
    rocksdb_batched_multi_get_cf(rocks->database, read, rocks->family, count,
                                 (const char *const *)lookup->keys, lookup->lengths, lookup->values,
                                 lookup->problems, sorted);
    return take_results(lookup, count, context, found);
}

static enum status found_reaction(void *context, size_t at, const uint8_t *value, size_t length)
{
    struct store_reaction *keys = context;
    keys[at].time_s = 0;
    if (value == NULL)
        return STATUS_OK;
    if (length != 4) {
        log_error("store: a reaction has a value of %zu bytes", length);
        return STATUS_DAMAGED;
    }
    keys[at].time_s = get_u32(value);
    return STATUS_OK;
}

/* Writes the key of the row with this number and returns its length. */
typedef size_t key_fn(const void *rows, size_t at, uint8_t bytes[KEY_MAX]);

/* What to read; `found` gets numbers from `first` on. */
struct reading {
    const void *rows;
    key_fn *key;
    lookup_found_fn *found;
    void *context;
    size_t first;
};

static enum status found_at(void *context, size_t at, const uint8_t *value, size_t length)
{
    const struct reading *reading = context;
    return reading->found(reading->context, reading->first + at, value, length);
}

/* Several multi-gets also see one moment, because they use one snapshot. */
static enum status read_rows(struct store_reader *reader, const struct store_snapshot *snapshot,
                             struct reading *reading, size_t count)
{
    struct store_rocksdb *rocks = rocksdb_of(store_of_reader(reader));
    struct store_snapshot *moment = NULL;
    if (snapshot == NULL && count > LOOKUP_MAX) {
        snapshot = moment = rocksdb_take_snapshot(reader);
        if (moment == NULL)
            return STATUS_NO_MEMORY;
    }
    rocksdb_readoptions_t *read = snapshot != NULL ? snapshot->read : rocks->read;
    enum status status = STATUS_OK;
    for (; status == STATUS_OK && reading->first < count; reading->first += LOOKUP_MAX) {
        struct lookup lookup;
        uint8_t bytes[LOOKUP_MAX][KEY_MAX];
        size_t part = count - reading->first < LOOKUP_MAX ? count - reading->first : LOOKUP_MAX;
        ASSERT(part == count || snapshot != NULL); /* all reads see one moment */
        for (size_t i = 0; i < part; i++) {
            lookup.keys[i] = bytes[i];
            lookup.lengths[i] = reading->key(reading->rows, reading->first + i, bytes[i]);
            ASSERT(lookup.lengths[i] > 0 && lookup.lengths[i] <= KEY_MAX);
        }
        status = lookup_run(rocks, read, &lookup, part, false, found_at, reading);
    }
    if (moment != NULL)
        rocksdb_drop_snapshot(reader, moment);
    return status;
}

static size_t reaction_key(const void *rows, size_t at, uint8_t bytes[KEY_MAX])
{
    return key_write_reaction(bytes, (const struct store_reaction *)rows + at);
}

enum status rocksdb_read_reactions(struct store_reader *reader, struct store_reaction *keys,
                                   size_t count)
{
    struct reading reading = {
        .rows = keys, .key = reaction_key, .found = found_reaction, .context = keys};
    return read_rows(reader, NULL, &reading, count);
}

struct items_found {
    struct store_item *items;
    struct store_values *values;
};

static bool values_reserve(struct store_values *values, size_t more)
{
    ASSERT(values->used <= values->capacity);
    if (values->used + more <= values->capacity)
        return true;
    struct store_value *grown = array_grow(values->values, &values->capacity, values->used + more,
                                           STORE_VALUES_MIN, sizeof(*grown));
    if (grown != NULL)
        values->values = grown;
    return grown != NULL;
}

static enum status found_item(void *context, size_t at, const uint8_t *value, size_t length)
{
    struct items_found *found = context;
    struct store_item *item = &found->items[at];
    ASSERT(found->values->used <= UINT32_MAX);
    item->first = (uint32_t)found->values->used;
    item->count = 0;
    if (value == NULL)
        return STATUS_OK;
    if (!values_reserve(found->values, length / 2))
        return STATUS_NO_MEMORY;
    const uint8_t *end = value + length;
    while (value != end) {
        struct store_value *out = &found->values->values[found->values->used];
        if (!counter_read(&value, end, &out->name, &out->value) || out->value == 0) {
            log_error("store: the counters of an item cannot be decoded");
            return STATUS_DAMAGED;
        }
        ASSERT(found->values->used < found->values->capacity);
        found->values->used++;
        item->count++;
    }
    return STATUS_OK;
}

static size_t item_key(const void *rows, size_t at, uint8_t bytes[KEY_MAX])
{
    return key_write_counters(bytes, ((const struct store_item *)rows)[at].item);
}

enum status rocksdb_read_items(struct store_reader *reader, const struct store_snapshot *snapshot,
                               struct store_item *items, size_t count, struct store_values *values)
{
    struct items_found found = {.items = items, .values = values};
    struct reading reading = {
        .rows = items, .key = item_key, .found = found_item, .context = &found};
    return read_rows(reader, snapshot, &reading, count);
}

struct store_snapshot *rocksdb_take_snapshot(struct store_reader *reader)
{
    struct store_rocksdb *rocks = rocksdb_of(store_of_reader(reader));
    struct store_snapshot *snapshot = malloc(sizeof(*snapshot));
    if (snapshot == NULL)
        return NULL;
    snapshot->moment = rocksdb_create_snapshot(rocks->database);
    snapshot->read = tune_read(snapshot->moment, 0);
    return snapshot;
}

void rocksdb_drop_snapshot(struct store_reader *reader, struct store_snapshot *snapshot)
{
    ASSERT(snapshot != NULL && snapshot->moment != NULL);
    rocksdb_readoptions_destroy(snapshot->read);
    rocksdb_release_snapshot(rocksdb_of(store_of_reader(reader))->database, snapshot->moment);
    free(snapshot);
}

enum status rocksdb_read_row(struct store_rocksdb *rocks, rocksdb_readoptions_t *read,
                             const uint8_t *key, size_t key_length, uint8_t *value, size_t size,
                             size_t *length, bool *found)
{
    char *problem = NULL;
    char *bytes =
        rocksdb_get(rocks->database, read, (const char *)key, key_length, length, &problem);
    if (problem != NULL)
        return problem_status(problem, "reading");
    *found = bytes != NULL;
    if (bytes != NULL && size > 0)
        memcpy(value, bytes, *length < size ? *length : size);
    free(bytes);
    return STATUS_OK;
}

enum status rocksdb_read_place(struct store_rocksdb *rocks, rocksdb_readoptions_t *read,
                               struct store_place *place, bool *found)
{
    uint8_t key = TAG_POSITION, bytes[POSITION_BYTES];
    size_t length = 0;
    *place = (struct store_place){0};
    enum status status =
        rocksdb_read_row(rocks, read, &key, 1, bytes, sizeof(bytes), &length, found);
    if (status == STATUS_OK && *found && !place_read(bytes, length, place)) {
        log_error("store: the position row has %zu bytes", length);
        return STATUS_DAMAGED;
    }
    return status;
}
