/*
 * Two open-addressed tables of indices, sized once for their bound at a quarter full, so that they
 * never move and a finder needs no lock: a slot goes from empty to its index once, with a release
 * store, after the entry behind it is complete. Everything that changes a table happens under one
 * mutex; names are made a few hundred times in the life of a data directory.
 */
#include "base/names.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/assert.h"

#define TYPE_SLOTS 4096
#define NAME_SLOTS 1024

_Static_assert(TYPE_SLOTS >= LIMIT_TYPES * 4 && (TYPE_SLOTS & (TYPE_SLOTS - 1)) == 0, "types");
_Static_assert(NAME_SLOTS >= LIMIT_NAMES * 4 && (NAME_SLOTS & (NAME_SLOTS - 1)) == 0, "names");
_Static_assert(sizeof((struct name *)0)->bulk >= sizeof "$32\r\n\r\n" + LIMIT_NAME_LENGTH, "bulk");

struct table {
    struct name *entries;
    _Atomic uint16_t *slots; /* 0: empty, else 1 + index */
    size_t mask;
    size_t limit;
    _Atomic size_t count;
};

struct names {
    struct table types;
    struct table others; /* kinds and counters */
    pthread_mutex_t making;
    names_record_fn *record; /* under making */
    void *context;

    struct name type_entries[LIMIT_TYPES];
    struct name other_entries[LIMIT_NAMES];
    _Atomic uint16_t type_slots[TYPE_SLOTS];
    _Atomic uint16_t other_slots[NAME_SLOTS];
};

bool name_is_valid(const char *text, size_t length)
{
    if (length == 0 || length > LIMIT_NAME_LENGTH || text[0] < 'a' || text[0] > 'z')
        return false;
    for (size_t i = 1; i < length; i++) {
        char c = text[i];
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-'))
            return false;
    }
    return true;
}

/* Index of the name, or -1 and *slot is the empty slot where it would go. */
static int table_find(const struct table *table, const char *text, size_t length, size_t *slot)
{
    size_t at = XXH3_64bits(text, length) & table->mask;
    for (;; at = (at + 1) & table->mask) {
        unsigned found = atomic_load_explicit(&table->slots[at], memory_order_acquire);
        if (found == 0)
            break;
        const struct name *name = &table->entries[found - 1];
        if (name->length == length && memcmp(name->text, text, length) == 0)
            return (int)found - 1;
    }
    *slot = at;
    return -1;
}

static void name_fill(struct name *name, enum name_role role, const char *text, size_t length)
{
    memset(name, 0, sizeof *name);
    memcpy(name->text, text, length);
    name->length = (uint8_t)length;
    name->role = (uint8_t)role;
    int bulk = snprintf(name->bulk, sizeof name->bulk, "$%zu\r\n%s\r\n", length, name->text);
    ASSERT(bulk > 0 && (size_t)bulk < sizeof name->bulk);
    name->bulk_length = (uint8_t)bulk;
}

static size_t table_count(const struct table *table)
{
    return atomic_load_explicit(&table->count, memory_order_acquire);
}

/* Makes the entry findable. Under the mutex; the slot is the one table_find gave. */
static void table_publish(struct table *table, size_t slot)
{
    size_t index = table_count(table);
    ASSERT(index < table->limit);
    atomic_store_explicit(&table->count, index + 1, memory_order_release);
    atomic_store_explicit(&table->slots[slot], (uint16_t)(index + 1), memory_order_release);
}

static struct table *table_of(struct names *names, enum name_role role)
{
    return role == NAME_TYPE ? &names->types : &names->others;
}

struct names *names_new(void)
{
    struct names *names = calloc(1, sizeof *names);
    if (names == NULL)
        return NULL;
    names->types.entries = names->type_entries;
    names->types.slots = names->type_slots;
    names->types.mask = TYPE_SLOTS - 1;
    names->types.limit = LIMIT_TYPES;
    names->others.entries = names->other_entries;
    names->others.slots = names->other_slots;
    names->others.mask = NAME_SLOTS - 1;
    names->others.limit = LIMIT_NAMES;
    pthread_mutex_init(&names->making, NULL);
    enum status like = names_restore(names, NAME_KIND, NAME_INDEX_LIKE, "like", 4);
    enum status comment = names_restore(names, NAME_KEPT, NAME_INDEX_COMMENT, "comment", 7);
    ASSERT(like == STATUS_OK && comment == STATUS_OK);
    return names;
}

void names_free(struct names *names)
{
    if (names == NULL)
        return;
    pthread_mutex_destroy(&names->making);
    free(names);
}

void names_set_recorder(struct names *names, names_record_fn *record, void *context)
{
    pthread_mutex_lock(&names->making);
    names->record = record;
    names->context = context;
    pthread_mutex_unlock(&names->making);
}

static int find(const struct table *table, const char *text, size_t length)
{
    size_t slot;
    if (length == 0 || length > LIMIT_NAME_LENGTH)
        return -1;
    return table_find(table, text, length, &slot);
}

int names_find_type(const struct names *names, const char *text, size_t length)
{
    return find(&names->types, text, length);
}

int names_find(const struct names *names, const char *text, size_t length)
{
    return find(&names->others, text, length);
}

/* A name that is there: is it there in this role? */
static enum status accept(const struct table *table, enum name_role role, int found,
                          uint16_t *index)
{
    if (table->entries[found].role != role)
        return role == NAME_KIND ? STATUS_NOT_A_KIND : STATUS_NOT_A_COUNTER;
    *index = (uint16_t)found;
    return STATUS_OK;
}

static enum status make(struct names *names, struct table *table, enum name_role role,
                        const char *text, size_t length, uint16_t *index)
{
    size_t slot;
    int found = table_find(table, text, length, &slot);
    if (found >= 0)
        return accept(table, role, found, index);
    size_t next = table_count(table);
    if (next == table->limit)
        return STATUS_TABLE_FULL;
    if (names->record != NULL) {
        enum status status = names->record(names->context, role, (uint16_t)next, text, length);
        if (status != STATUS_OK)
            return status;
    }
    name_fill(&table->entries[next], role, text, length);
    table_publish(table, slot);
    *index = (uint16_t)next;
    return STATUS_OK;
}

enum status names_intern(struct names *names, enum name_role role, const char *text, size_t length,
                         uint16_t *index)
{
    ASSERT(role >= NAME_TYPE && role <= NAME_KEPT);
    struct table *table = table_of(names, role);
    int found = find(table, text, length);
    if (found >= 0)
        return accept(table, role, found, index);
    if (!name_is_valid(text, length))
        return STATUS_BAD_ARGUMENT;
    pthread_mutex_lock(&names->making);
    enum status status = make(names, table, role, text, length, index);
    pthread_mutex_unlock(&names->making);
    return status;
}

static enum status restore(struct table *table, enum name_role role, uint16_t index,
                           const char *text, size_t length)
{
    size_t slot;
    int found = table_find(table, text, length, &slot);
    if (found >= 0)
        return found == index && table->entries[found].role == role ? STATUS_OK : STATUS_DAMAGED;
    if (index != table_count(table) || index >= table->limit)
        return STATUS_DAMAGED;
    name_fill(&table->entries[index], role, text, length);
    table_publish(table, slot);
    return STATUS_OK;
}

enum status names_restore(struct names *names, enum name_role role, uint16_t index,
                          const char *text, size_t length)
{
    if (role < NAME_TYPE || role > NAME_KEPT || !name_is_valid(text, length))
        return STATUS_DAMAGED;
    pthread_mutex_lock(&names->making);
    enum status status = restore(table_of(names, role), role, index, text, length);
    pthread_mutex_unlock(&names->making);
    return status;
}

const struct name *names_type(const struct names *names, uint16_t index)
{
    ASSERT(index < table_count(&names->types));
    return &names->type_entries[index];
}

const struct name *names_get(const struct names *names, uint8_t index)
{
    ASSERT(index < table_count(&names->others));
    return &names->other_entries[index];
}

size_t names_type_count(const struct names *names)
{
    return table_count(&names->types);
}

size_t names_count(const struct names *names)
{
    return table_count(&names->others);
}
