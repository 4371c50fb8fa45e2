/*
 * Each section is a table with open addressing and linear probing. Removing an entry shifts back those after
 * it, so there are no marks of removed entries, and a lookup ends at the first free one. At most 3/4 of a
 * table is used. A section is small, so copying it to a larger one does not keep others waiting for long.
 */
#include "hot/memory/bans.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/hash.h"

#define CAPACITY_FIRST 16

void bans_init(struct bans *bans, struct memory_budget *budget, uint64_t seed, uint64_t most)
{
    memset(bans, 0, sizeof *bans);
    bans->budget = budget;
    bans->seed = seed;
    bans->most = most != 0 ? most : LIMIT_BANS;
    for (unsigned i = 0; i < BAN_SECTIONS; i++)
        pthread_mutex_init(&bans->sections[i].lock, NULL);
}

void bans_destroy(struct bans *bans)
{
    for (unsigned i = 0; i < BAN_SECTIONS; i++) {
        struct ban_section *section = &bans->sections[i];
        if (section->capacity > 0)
            memory_release(bans->budget, section->capacity * sizeof *section->entries);
        free(section->entries);
        pthread_mutex_destroy(&section->lock);
    }
}

static uint64_t hash_of(const struct bans *bans, struct id user)
{
    return id_hash(user, bans->seed);
}

static struct ban_section *section_of(struct bans *bans, struct id user)
{
    return &bans->sections[hash_of(bans, user) >> 58];
}

_Static_assert(BAN_SECTIONS == 1 << 6, "the upper 6 bits of a hash choose the section");

/* The entry of the user, or the free one where it would be. There is always a free one. */
static uint32_t probe(const struct bans *bans, const struct ban_section *section, struct id user)
{
    uint32_t mask = section->capacity - 1;
    uint32_t at = (uint32_t)hash_of(bans, user) & mask;
    while (section->entries[at].until_s != 0 && !id_equal(section->entries[at].user, user))
        at = (at + 1) & mask;
    return at;
}

static bool is_over(const struct ban_entry *entry, uint32_t now_s)
{
    return entry->until_s != BAN_FOR_EVER && entry->until_s <= now_s;
}

/* Expired ones are none. */
static struct user_ban ban_at(const struct bans *bans, const struct ban_section *section,
                              struct id user, uint32_t now_s)
{
    if (section->used == 0)
        return (struct user_ban){0};
    const struct ban_entry *entry = &section->entries[probe(bans, section, user)];
    if (entry->until_s == 0 || is_over(entry, now_s))
        return (struct user_ban){0};
    return (struct user_ban){.until_s = entry->until_s, .shadow = entry->shadow};
}

static void remove_at(struct bans *bans, struct ban_section *section, uint32_t at)
{
    uint32_t mask = section->capacity - 1;
    for (uint32_t next = (at + 1) & mask; section->entries[next].until_s != 0;
         next = (next + 1) & mask) {
        uint32_t home = (uint32_t)hash_of(bans, section->entries[next].user) & mask;
        if (((next - home) & mask) >= ((next - at) & mask)) {
            section->entries[at] = section->entries[next];
            at = next;
        }
    }
    section->entries[at] = (struct ban_entry){0};
    section->used--;
    atomic_fetch_sub_explicit(&bans->count, 1, memory_order_relaxed);
}

static bool grow(struct bans *bans, struct ban_section *section)
{
    uint32_t capacity = section->capacity == 0 ? CAPACITY_FIRST : 2 * section->capacity;
    struct ban_section larger = {.capacity = capacity};
    if (!memory_charge(bans->budget, capacity * sizeof *larger.entries))
        return false;
    larger.entries = calloc(capacity, sizeof *larger.entries);
    if (larger.entries == NULL) {
        memory_release(bans->budget, capacity * sizeof *larger.entries);
        return false;
    }
    for (uint32_t i = 0; i < section->capacity; i++)
        if (section->entries[i].until_s != 0)
            larger.entries[probe(bans, &larger, section->entries[i].user)] = section->entries[i];
    if (section->capacity > 0)
        memory_release(bans->budget, section->capacity * sizeof *section->entries);
    free(section->entries);
    section->entries = larger.entries;
    section->capacity = capacity;
    return true;
}

/* Removing an entry may shift another one to its position, which is then looked at again. */
static void remove_expired(struct bans *bans, struct ban_section *section, uint32_t now_s)
{
    for (uint32_t at = 0; at < section->capacity;) {
        const struct ban_entry *entry = &section->entries[at];
        if (entry->until_s != 0 && is_over(entry, now_s))
            remove_at(bans, section, at);
        else
            at++;
    }
}

static bool has_room(const struct ban_section *section)
{
    return (section->used + 1) * 4 <= section->capacity * 3;
}

/* Makes sure that one more entry fits. A table grows only if expired entries leave no room. */
static bool make_room(struct bans *bans, struct ban_section *section, uint32_t now_s)
{
    if (has_room(section))
        return true;
    remove_expired(bans, section, now_s);
    return has_room(section) || grow(bans, section);
}

struct user_ban bans_find(struct bans *bans, struct id user, uint32_t now_s)
{
    if (atomic_load_explicit(&bans->count, memory_order_acquire) == 0)
        return (struct user_ban){0};
    struct ban_section *section = section_of(bans, user);
    pthread_mutex_lock(&section->lock);
    struct user_ban ban = ban_at(bans, section, user, now_s);
    pthread_mutex_unlock(&section->lock);
    return ban;
}

uint64_t bans_count(struct bans *bans)
{
    return atomic_load_explicit(&bans->count, memory_order_relaxed);
}

struct ban_change bans_begin(struct bans *bans, struct id user, uint32_t now_s)
{
    struct ban_change change = {
        .bans = bans, .section = section_of(bans, user), .user = user, .now_s = now_s};
    pthread_mutex_lock(&change.section->lock);
    change.before = ban_at(bans, change.section, user, now_s);
    return change;
}

void bans_end(struct ban_change *change)
{
    pthread_mutex_unlock(&change->section->lock);
}

/* The user may have an entry that has expired; it is used again and needs no room. */
static bool has_entry(const struct ban_change *change)
{
    const struct ban_section *section = change->section;
    return section->used > 0 &&
           section->entries[probe(change->bans, section, change->user)].until_s != 0;
}

enum status bans_reserve(struct ban_change *change)
{
    if (has_entry(change))
        return STATUS_OK;
    if (atomic_load_explicit(&change->bans->count, memory_order_relaxed) >= change->bans->most)
        return STATUS_BANS_FULL;
    return make_room(change->bans, change->section, change->now_s) ? STATUS_OK : STATUS_NO_MEMORY;
}

void bans_put(struct ban_change *change, struct user_ban ban)
{
    struct bans *bans = change->bans;
    struct ban_section *section = change->section;
    if (section->capacity == 0) {
        ASSERT(ban.until_s == 0);
        return;
    }
    uint32_t at = probe(bans, section, change->user);
    bool is_new = section->entries[at].until_s == 0;
    if (ban.until_s == 0) {
        if (!is_new)
            remove_at(bans, section, at);
        return;
    }
    if (is_new) {
        ASSERT(section->used + 1 < section->capacity);
        section->used++;
        atomic_fetch_add_explicit(&bans->count, 1, memory_order_release);
    }
    section->entries[at] =
        (struct ban_entry){.user = change->user, .until_s = ban.until_s, .shadow = ban.shadow};
}

bool bans_sweep(struct bans *bans, uint32_t now_s)
{
    if (atomic_exchange_explicit(&bans->swept_s, now_s, memory_order_relaxed) == now_s)
        return false;
    for (unsigned i = 0; i < BAN_SECTIONS; i++) {
        pthread_mutex_lock(&bans->sections[i].lock);
        remove_expired(bans, &bans->sections[i], now_s);
        pthread_mutex_unlock(&bans->sections[i].lock);
    }
    return true;
}

enum status bans_restore(struct bans *bans, struct id user, struct user_ban ban, uint32_t now_s)
{
    struct ban_change change = bans_begin(bans, user, now_s);
    bool is_kept = ban.until_s > now_s;
    enum status status = STATUS_OK;
    if (is_kept && !has_entry(&change) && !make_room(bans, change.section, now_s))
        status = STATUS_NO_MEMORY;
    if (status == STATUS_OK)
        bans_put(&change, is_kept ? ban : (struct user_ban){0});
    bans_end(&change);
    return status;
}
