/*
 * Two open-addressed tables of indices. Each has its final size from the beginning and is at most a
 * quarter full, so it is never rebuilt, and a lookup needs no lock: a slot changes only once, from
 * empty to its index, with a release store after the entry is complete. All changes are made under
 * one mutex; names are made only a few hundred times during the life of a data directory.
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
#include "base/name_lists.h"

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
    names_observe_fn *observer; /* set at start, like the following; NULL: there is none */
    void *observer_context;
    struct name_lists lists;
    const struct names_backend *backend; /* NULL: there is none */
    void *backend_context;

    pthread_mutex_t waking; /* protects the next two members; held while the listener is called */
    names_listen_fn *listener;
    void *listener_context;
    _Atomic uint64_t wakes;

    /* Was it used by a write since the start? Once true, it is only read. */
    _Atomic bool type_used[LIMIT_TYPES];
    _Atomic bool other_used[LIMIT_NAMES];
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

static void name_fill(const struct names *names, struct name *name, enum name_role role,
                      const char *text, size_t length)
{
    ASSERT(role >= NAME_TYPE && role <= NAME_KEPT);
    ASSERT(length > 0 && length <= LIMIT_NAME_LENGTH);
    memset(name, 0, sizeof *name);
    memcpy(name->text, text, length);
    name->length = (uint8_t)length;
    name->role = (uint8_t)role;
    name->allowed = name_lists_allow(&names->lists, role, text, length) == STATUS_OK;
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
    ASSERT(slot <= table->mask && atomic_load(&table->slots[slot]) == 0);
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
    pthread_mutex_init(&names->waking, NULL);
    enum status like = names_restore(names, NAME_KIND, NAME_INDEX_LIKE, "like", 4);
    enum status comment = names_restore(names, NAME_KEPT, NAME_INDEX_COMMENT, "comment", 7);
    ASSERT(like == STATUS_OK && comment == STATUS_OK);
    return names;
}

void names_free(struct names *names)
{
    if (names == NULL)
        return;
    pthread_mutex_destroy(&names->waking);
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

void names_set_backend(struct names *names, const struct names_backend *backend, void *context)
{
    names->backend = backend;
    names->backend_context = context;
}

void names_listen(struct names *names, names_listen_fn *listener, void *context)
{
    pthread_mutex_lock(&names->waking);
    names->listener = listener;
    names->listener_context = context;
    pthread_mutex_unlock(&names->waking);
}

void names_wake(struct names *names)
{
    pthread_mutex_lock(&names->waking);
    atomic_fetch_add(&names->wakes, 1);
    if (names->listener != NULL)
        names->listener(names->listener_context);
    pthread_mutex_unlock(&names->waking);
}

uint64_t names_wakes(const struct names *names)
{
    return atomic_load(&names->wakes);
}

enum status names_set_lists(struct names *names, const struct name_lists *lists, char *sentence,
                            size_t size)
{
    names->lists = *lists;
    for (size_t i = 0; i < table_count(&names->types); i++) {
        struct name *name = &names->type_entries[i];
        name->allowed = name_lists_allow(lists, NAME_TYPE, name->text, name->length) == STATUS_OK;
    }
    for (size_t i = 0; i < table_count(&names->others); i++) {
        struct name *name = &names->other_entries[i];
        enum status status = name_lists_allow(lists, name->role, name->text, name->length);
        if (status == STATUS_NOT_A_KIND || status == STATUS_NOT_A_COUNTER) {
            snprintf(sentence, size,
                     status == STATUS_NOT_A_KIND ? "--counters: '%s' is a kind in the data"
                                                 : "--kinds: '%s' is a counter in the data",
                     name->text);
            return status;
        }
        name->allowed = status == STATUS_OK;
    }
    return STATUS_OK;
}

const struct name_lists *names_lists(const struct names *names)
{
    return &names->lists;
}

void names_set_group(struct names *names, uint8_t index, uint8_t group)
{
    ASSERT(index < table_count(&names->others));
    names->other_entries[index].group = group;
}

void names_note_use(struct names *names, uint16_t type, uint8_t name)
{
    ASSERT(type < LIMIT_TYPES && name < LIMIT_NAMES);
    if (!atomic_load_explicit(&names->type_used[type], memory_order_relaxed))
        atomic_store_explicit(&names->type_used[type], true, memory_order_relaxed);
    if (!atomic_load_explicit(&names->other_used[name], memory_order_relaxed))
        atomic_store_explicit(&names->other_used[name], true, memory_order_relaxed);
}

struct name_entry names_entry(const struct names *names, size_t at, size_t types)
{
    bool is_type = at < types;
    size_t index = is_type ? at : at - types;
    ASSERT(index < table_count(is_type ? &names->types : &names->others));
    const struct name *name = is_type ? &names->type_entries[index] : &names->other_entries[index];
    const _Atomic bool *used = is_type ? &names->type_used[index] : &names->other_used[index];
    return (struct name_entry){.name = name,
                               .allowed = name->allowed && name->role != NAME_KEPT,
                               .used = atomic_load_explicit(used, memory_order_relaxed)};
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

enum status names_ask(struct names *names, enum name_role role, const char *text, size_t length,
                      int *index)
{
    *index = -1;
    if (names->backend == NULL || !name_is_valid(text, length))
        return STATUS_OK;
    enum status status = names->backend->find(names->backend_context, role, text, length);
    if (status == STATUS_OK)
        *index = find(table_of(names, role), text, length);
    return status;
}

/* The status of a write with an existing name: does it have this role, and is it allowed? */
static enum status accept(const struct table *table, enum name_role role, int found,
                          uint16_t *index)
{
    ASSERT(found >= 0 && (size_t)found < table->limit);
    if (table->entries[found].role != role)
        return role == NAME_KIND ? STATUS_NOT_A_KIND : STATUS_NOT_A_COUNTER;
    *index = (uint16_t)found;
    return table->entries[found].allowed ? STATUS_OK : STATUS_NAME_NOT_LISTED;
}

static void observe(const struct names *names, const struct table *table)
{
    for (size_t i = 0; i < table_count(table); i++) {
        const struct name *name = &table->entries[i];
        names->observer(names->observer_context, name->role, (uint16_t)i, name->text, name->length);
    }
}

void names_observe(struct names *names, names_observe_fn *observer, void *context)
{
    pthread_mutex_lock(&names->making);
    names->observer = observer;
    names->observer_context = context;
    observe(names, &names->types);
    observe(names, &names->others);
    pthread_mutex_unlock(&names->making);
}

/* Lets others see the entry that was made last. */
static void publish(struct names *names, struct table *table, size_t slot)
{
    size_t index = table_count(table);
    const struct name *name = &table->entries[index];
    if (names->observer != NULL)
        names->observer(names->observer_context, name->role, (uint16_t)index, name->text,
                        name->length);
    table_publish(table, slot);
}

static enum status make(struct names *names, struct table *table, enum name_role role,
                        const char *text, size_t length, uint16_t *index)
{
    size_t slot;
    int found = table_find(table, text, length, &slot);
    if (found >= 0)
        return accept(table, role, found, index);
    size_t next = table_count(table);
    ASSERT(next <= table->limit);
    if (next == table->limit)
        return STATUS_TABLE_FULL;
    if (names->record != NULL) {
        enum status status = names->record(names->context, role, (uint16_t)next, text, length);
        if (status != STATUS_OK)
            return status;
    }
    name_fill(names, &table->entries[next], role, text, length);
    publish(names, table, slot);
    *index = (uint16_t)next;
    return STATUS_OK;
}

static enum status make_elsewhere(struct names *names, const struct table *table,
                                  enum name_role role, const char *text, size_t length,
                                  uint16_t *index)
{
    enum status status = names->backend->intern(names->backend_context, role, text, length);
    if (status != STATUS_OK)
        return status;
    int found = find(table, text, length);
    ASSERT(found >= 0); /* the back end has put it there */
    return accept(table, role, found, index);
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
    enum status status = name_lists_allow(&names->lists, role, text, length);
    if (status != STATUS_OK)
        return status;
    if (names->backend != NULL)
        return make_elsewhere(names, table, role, text, length, index);
    pthread_mutex_lock(&names->making);
    status = make(names, table, role, text, length, index);
    pthread_mutex_unlock(&names->making);
    return status;
}

enum status names_test(const struct names *names, enum name_role role, const char *text,
                       size_t length)
{
    const struct table *table = role == NAME_TYPE ? &names->types : &names->others;
    int found = find(table, text, length);
    uint16_t index;
    if (found >= 0)
        return accept(table, role, found, &index);
    if (!name_is_valid(text, length))
        return STATUS_BAD_ARGUMENT;
    enum status status = name_lists_allow(&names->lists, role, text, length);
    return status == STATUS_OK && table_count(table) == table->limit ? STATUS_TABLE_FULL : status;
}

const char *name_role_text(uint8_t role)
{
    static const char *const roles[] = {[NAME_TYPE] = "type",
                                        [NAME_KIND] = "kind",
                                        [NAME_COUNTER] = "counter",
                                        [NAME_KEPT] = "reserved"};
    ASSERT(role >= NAME_TYPE && role <= NAME_KEPT);
    return roles[role];
}

void names_refusal(const struct names *names, enum status status, enum name_role role,
                   const char *text, size_t length, char *sentence, size_t size)
{
    char list[144];
    int shown = (int)(length < LIMIT_NAME_LENGTH ? length : LIMIT_NAME_LENGTH);
    if (status == STATUS_TABLE_FULL) {
        snprintf(sentence, size,
                 "'%.*s' would be a new %s, but there are already %d %s, and there can be no more",
                 shown, text, name_role_text(role), role == NAME_TYPE ? LIMIT_TYPES : LIMIT_NAMES,
                 role == NAME_TYPE ? "types" : "kinds and counters");
    } else if (status == STATUS_NAME_NOT_LISTED) {
        name_lists_show(&names->lists, role, list, sizeof list);
        snprintf(sentence, size, "the %s '%.*s' is not one of %s: %s", name_role_text(role), shown,
                 text, name_lists_option(role), list);
    } else {
        snprintf(sentence, size, "'%.*s': %s", shown, text, status_sentence(status));
    }
}

static enum status restore(struct names *names, struct table *table, enum name_role role,
                           uint16_t index, const char *text, size_t length)
{
    size_t slot;
    int found = table_find(table, text, length, &slot);
    if (found >= 0)
        return found == index && table->entries[found].role == role ? STATUS_OK : STATUS_DAMAGED;
    if (index != table_count(table) || index >= table->limit)
        return STATUS_DAMAGED;
    name_fill(names, &table->entries[index], role, text, length);
    publish(names, table, slot);
    return STATUS_OK;
}

enum status names_restore(struct names *names, enum name_role role, uint16_t index,
                          const char *text, size_t length)
{
    if (role < NAME_TYPE || role > NAME_KEPT || !name_is_valid(text, length))
        return STATUS_DAMAGED;
    pthread_mutex_lock(&names->making);
    enum status status = restore(names, table_of(names, role), role, index, text, length);
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
