/*
 * A digest must not depend on what differs between two runs of a server, nor on any order. So names
 * are hashed by their text, and the hashes are added up.
 */
#include "live/watched.h"

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/assert.h"
#include "base/hash.h"
#include "live/news.h"
#include "op/op.h"

#define CAPACITY_FIRST 64
#define COUNTERS_FIRST 4

void watched_init(struct watched_table *table, struct memory_budget *budget, uint64_t seed,
                  bool of_subjects)
{
    *table = (struct watched_table){.budget = budget, .seed = seed, .of_subjects = of_subjects};
    list_init(&table->all);
}

void watched_free(struct watched_table *table)
{
    ASSERT(table->count == 0);
    memory_release_connection(table->budget, table->capacity * sizeof *table->heads);
    free(table->heads);
}

static void *take_memory(struct watched_table *table, size_t bytes)
{
    if (!memory_charge_connection(table->budget, bytes))
        return NULL;
    void *memory = calloc(1, bytes);
    if (memory == NULL)
        memory_release_connection(table->budget, bytes);
    return memory;
}

static void give_memory(struct watched_table *table, void *memory, size_t bytes)
{
    free(memory);
    memory_release_connection(table->budget, bytes);
}

static struct watched **head_of(const struct watched_table *table, uint64_t hash)
{
    return &table->heads[hash & (table->capacity - 1)].first;
}

/* If the table cannot grow, it is only slower. */
static bool make_room(struct watched_table *table)
{
    size_t capacity = table->capacity == 0 ? CAPACITY_FIRST : 2 * table->capacity;
    if (table->count < table->capacity)
        return true;
    struct watched_head *heads = take_memory(table, capacity * sizeof *heads);
    struct watched_head *old = table->heads;
    if (heads == NULL)
        return table->capacity > 0;
    size_t before = table->capacity;
    table->heads = heads;
    table->capacity = capacity;
    for (size_t i = 0; i < before; i++) {
        for (struct watched *item = old[i].first, *next; item != NULL; item = next) {
            next = item->hash_next;
            item->hash_next = *head_of(table, item->hash);
            *head_of(table, item->hash) = item;
        }
    }
    give_memory(table, old, before * sizeof *old);
    return true;
}

static size_t size_of(size_t length)
{
    return sizeof(struct watched) + length;
}

/* The struct news of a subject is in the same allocation, before the subject. */
static struct watched *allocate(struct watched_table *table, size_t length, uint64_t hash)
{
    size_t room = table->of_subjects ? sizeof(struct news) : 0;
    char *memory = make_room(table) ? take_memory(table, room + size_of(length)) : NULL;
    if (memory == NULL)
        return NULL;
    struct watched *item = (struct watched *)(memory + room);
    if (table->of_subjects) {
        item->news = (struct news *)memory;
        news_init(item->news, table->budget, hash_mix(hash, table->seed));
    }
    return item;
}

static struct watched *make(struct watched_table *table, struct text text, struct id id,
                            uint64_t hash)
{
    struct watched *item = allocate(table, text.length, hash);
    if (item == NULL)
        return NULL;
    item->item = (struct item){.id = id, .type = TYPE_UNKNOWN};
    item->hash = hash;
    item->length = (uint32_t)text.length;
    memcpy(item->text, text.bytes, text.length);
    list_init(&item->viewers);
    item->hash_next = *head_of(table, hash);
    *head_of(table, hash) = item;
    list_add_last(&table->all, &item->all);
    table->count++;
    return item;
}

static struct watched *find(const struct watched_table *table, struct text text, uint64_t hash)
{
    struct watched *item = table->capacity == 0 ? NULL : *head_of(table, hash);
    while (item != NULL && (item->hash != hash || item->length != text.length ||
                            memcmp(item->text, text.bytes, text.length) != 0))
        item = item->hash_next;
    return item;
}

bool watched_add(struct watched_table *table, struct viewer *viewer, struct text text, struct id id)
{
    uint64_t hash = XXH3_64bits_withSeed(text.bytes, text.length, table->seed);
    struct watched *item = find(table, text, hash);
    if (item == NULL)
        item = make(table, text, id, hash);
    *viewer = (struct viewer){.item = item};
    if (item == NULL)
        return false;
    viewer->walk = item->walk;
    list_add_last(&item->viewers, &viewer->link);
    return true;
}

static void free_if_unwatched(struct watched_table *table, struct watched *item)
{
    if (!list_is_empty(&item->viewers) || item->away)
        return;
    struct watched **at = head_of(table, item->hash);
    while (*at != item)
        at = &(*at)->hash_next;
    *at = item->hash_next;
    list_remove(&item->all);
    list_remove(&item->changed);
    list_remove(&item->cold);
    table->count--;
    give_memory(table, item->counters, item->capacity * sizeof *item->counters);
    if (item->news == NULL) {
        give_memory(table, item, size_of(item->length));
    } else {
        news_free(item->news);
        give_memory(table, item->news, sizeof(struct news) + size_of(item->length));
    }
}

void watched_remove(struct watched_table *table, struct viewer *viewer)
{
    ASSERT(list_has(&viewer->link));
    list_remove(&viewer->link);
    free_if_unwatched(table, viewer->item);
}

void watched_back(struct watched_table *table, struct watched *item)
{
    ASSERT(item->away);
    item->away = false;
    free_if_unwatched(table, item);
}

bool watched_find_type(struct watched *item, struct names *names)
{
    const char *colon = memchr(item->text, ':', item->length);
    if (item->item.type != TYPE_UNKNOWN)
        return true;
    ASSERT(colon != NULL);
    size_t length = (size_t)(colon - item->text);
    int type = names_find_type(names, item->text, length);
    if (type < 0 && names_ask(names, NAME_TYPE, item->text, length, &type) != STATUS_OK)
        return false; /* the answer is not there yet, and the next round asks again */
    if (type >= 0)
        item->item.type = (uint16_t)type;
    return type >= 0;
}

static bool reserve(struct watched_table *table, struct watched *item, uint32_t count)
{
    if (count <= item->capacity)
        return true;
    uint32_t capacity = item->capacity == 0 ? COUNTERS_FIRST : item->capacity;
    while (capacity < count)
        capacity *= 2;
    struct watched_counter *counters = take_memory(table, capacity * sizeof *counters);
    if (counters == NULL)
        return false;
    if (item->count > 0)
        memcpy(counters, item->counters, item->count * sizeof *counters);
    give_memory(table, item->counters, item->capacity * sizeof *counters);
    ASSERT(capacity <= UINT16_MAX);
    item->counters = counters;
    item->capacity = (uint16_t)capacity;
    return true;
}

static uint64_t digest_of(const struct watched *item, const struct names *names)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < item->count; i++) {
        const struct watched_counter *counter = &item->counters[i];
        const struct name *name = names_get(names, counter->name);
        if (counter->value != 0)
            sum += hash_3(XXH3_64bits(name->text, name->length), (uint64_t)counter->value, 0);
    }
    return hash_mix(XXH3_64bits(item->text, item->length), sum);
}

/* The counters that were read, by name. */
struct found {
    struct kind_set names;
    int64_t values[256];
};

static bool update(struct watched *item, const struct found *found, uint64_t version)
{
    bool changed = false;
    for (uint32_t i = 0; i < item->count; i++) {
        struct watched_counter *counter = &item->counters[i];
        bool there = kind_set_has(&found->names, counter->name);
        int64_t value = there ? found->values[counter->name] : 0;
        if (value == counter->value)
            continue;
        counter->value = value;
        counter->changed = version;
        changed = true;
    }
    return changed;
}

bool watched_take(struct watched_table *table, struct watched *item,
                  const struct hot_counter *counters, uint32_t count, const struct names *names)
{
    struct found found; /* a value is set only if its name is in the set */
    struct kind_set known = {{0}};
    uint64_t version = item->version + 1;
    uint32_t fresh = 0;
    found.names = known;
    for (uint32_t i = 0; i < item->count; i++)
        kind_set_add(&known, item->counters[i].name);
    for (uint32_t i = 0; i < count; i++) {
        if (counters[i].value == 0)
            continue;
        kind_set_add(&found.names, counters[i].name);
        found.values[counters[i].name] = counters[i].value;
        fresh += !kind_set_has(&known, counters[i].name);
    }
    if (!reserve(table, item, item->count + fresh))
        return false;
    bool changed = update(item, &found, version) || fresh > 0 || item->version == 0;
    for (uint32_t i = 0; i < count && fresh > 0; i++) {
        uint8_t name = counters[i].name;
        if (!kind_set_has(&found.names, name) || kind_set_has(&known, name))
            continue;
        kind_set_add(&known, name);
        item->counters[item->count++] =
            (struct watched_counter){.value = found.values[name], .changed = version, .name = name};
    }
    if (changed) {
        item->version = version;
        item->digest = digest_of(item, names);
    }
    return changed;
}
