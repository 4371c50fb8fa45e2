#include "move/known.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

static uint32_t slots_for(uint32_t capacity)
{
    uint32_t slots = 64;
    while (slots < capacity * 2)
        slots *= 2;
    return slots;
}

size_t known_bytes(uint32_t capacity)
{
    return capacity * sizeof(struct known_entry) + slots_for(capacity) * sizeof(uint64_t);
}

bool known_init(struct known *known, uint32_t capacity, uint64_t seed)
{
    ASSERT(capacity > 0 && capacity <= 1U << 30);
    uint32_t slots = slots_for(capacity);
    *known = (struct known){.capacity = capacity, .mask = slots - 1, .seed = seed};
    known->entries = malloc(capacity * sizeof(*known->entries));
    known->slots = calloc(slots, sizeof(*known->slots));
    return known->entries != NULL && known->slots != NULL;
}

void known_free(struct known *known)
{
    free(known->entries);
    free(known->slots);
    *known = (struct known){0};
}

void known_clear(struct known *known)
{
    if (known->used > 0)
        memset(known->slots, 0, ((size_t)known->mask + 1) * sizeof(*known->slots));
    known->used = 0;
}

static uint32_t key_hash(const struct known *known, const struct known_entry *key)
{
    uint64_t sort = (uint64_t)key->name << 17 | (uint64_t)key->is_counter << 16;
    return (uint32_t)hash_mix(id_hash(key->user, known->seed),
                              item_hash(key->item, known->seed + sort));
}

static bool is_same(const struct known_entry *entry, const struct known_entry *key)
{
    return id_equal(entry->user, key->user) && item_equal(entry->item, key->item) &&
           entry->name == key->name && entry->is_counter == key->is_counter;
}

/* Returns 1 + the index of the entry; 0: there is none, and *slot is the free slot for it. */
static uint32_t find(const struct known *known, const struct known_entry *key, uint32_t hash,
                     uint32_t *slot)
{
    for (*slot = hash & known->mask;; *slot = (*slot + 1) & known->mask) {
        uint64_t value = known->slots[*slot];
        if (value == 0)
            return 0;
        if (value >> 32 == hash && is_same(&known->entries[(uint32_t)value - 1], key))
            return (uint32_t)value;
    }
}

struct known_entry *known_find(const struct known *known, const struct known_entry *key)
{
    uint32_t slot;
    uint32_t found = find(known, key, key_hash(known, key), &slot);
    return found == 0 ? NULL : &known->entries[found - 1];
}

void known_prefetch(const struct known *known, const struct known_entry *key)
{
    __builtin_prefetch(&known->slots[key_hash(known, key) & known->mask]);
}

uint32_t known_take(struct known *known, const struct known_entry *key)
{
    uint32_t slot;
    uint32_t hash = key_hash(known, key);
    uint32_t found = find(known, key, hash, &slot);
    if (found != 0)
        return found - 1;
    ASSERT(known->used < known->capacity);
    struct known_entry *entry = &known->entries[known->used++];
    *entry = *key;
    known->slots[slot] = (uint64_t)hash << 32 | known->used;
    return known->used - 1;
}
