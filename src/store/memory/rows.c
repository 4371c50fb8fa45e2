/*
 * A hash table with chains. The array of heads doubles when there are as many rows as heads. All
 * counters of an item are in one chain, whatever their names, so one walk finds all of them.
 */
#include "store/memory/rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/hash.h"

enum { HEADS_FIRST = 64 };

static uint64_t key_hash(const struct memory_key *key)
{
    uint64_t rest = (uint64_t)key->row_type << 32 | (uint64_t)key->type << 16;
    if (key->row_type != ROW_COUNT)
        rest |= key->name;
    return hash_mix(id_hash(key->user, rest), id_hash(key->item, rest + key->time_s));
}

static bool key_equal(const struct memory_key *a, const struct memory_key *b)
{
    return id_equal(a->user, b->user) && id_equal(a->item, b->item) && a->row_type == b->row_type &&
           a->type == b->type && a->name == b->name && a->time_s == b->time_s;
}

void memory_rows_destroy(struct memory_rows *rows)
{
    for (size_t i = 0; i < rows->head_count; i++)
        for (struct memory_row *row = rows->heads[i], *next; row != NULL; row = next) {
            next = row->next;
            free(row);
        }
    free(rows->heads);
    *rows = (struct memory_rows){0};
}

static bool resize(struct memory_rows *rows, size_t head_count)
{
    ASSERT(head_count > rows->head_count && (head_count & (head_count - 1)) == 0);
    struct memory_row **heads = calloc(head_count, sizeof(struct memory_row *));
    if (heads == NULL)
        return false;
    for (size_t i = 0; i < rows->head_count; i++)
        for (struct memory_row *row = rows->heads[i], *next; row != NULL; row = next) {
            next = row->next;
            row->next = heads[row->hash & (head_count - 1)];
            heads[row->hash & (head_count - 1)] = row;
        }
    free(rows->heads);
    rows->heads = heads;
    rows->head_count = head_count;
    return true;
}

struct memory_row *memory_rows_find(const struct memory_rows *rows, const struct memory_key *key)
{
    if (rows->count == 0)
        return NULL;
    uint64_t hash = key_hash(key);
    struct memory_row *row = rows->heads[hash & (rows->head_count - 1)];
    while (row != NULL && !(row->hash == hash && key_equal(&row->key, key)))
        row = row->next;
    return row;
}

void memory_rows_counters(const struct memory_rows *rows, struct item item,
                          const struct memory_row *by_name[LIMIT_NAMES])
{
    for (int name = 0; name < LIMIT_NAMES; name++)
        by_name[name] = NULL;
    if (rows->count == 0)
        return;
    struct memory_key key = memory_key_item(ROW_COUNT, item, 0);
    uint64_t hash = key_hash(&key);
    const struct memory_row *row = rows->heads[hash & (rows->head_count - 1)];
    for (; row != NULL; row = row->next) {
        key.name = row->key.name;
        if (row->hash == hash && key_equal(&row->key, &key))
            by_name[key.name] = row;
    }
}

static void aging_add(struct memory_rows *rows, struct memory_row *row)
{
    row->aging = (struct list){0};
    if (row->key.row_type != ROW_TOKEN && row->key.row_type != ROW_CLEARED)
        return;
    if (!list_has(&rows->aging))
        list_init(&rows->aging);
    list_add_last(&rows->aging, &row->aging);
}

struct memory_row *memory_rows_make(struct memory_rows *rows, const struct memory_key *key)
{
    struct memory_row *row = memory_rows_find(rows, key);
    if (row != NULL)
        return row;
    if (rows->count == rows->head_count &&
        !resize(rows, rows->count == 0 ? HEADS_FIRST : rows->count * 2))
        return NULL;
    row = calloc(1, sizeof(*row));
    if (row == NULL)
        return NULL;
    row->key = *key;
    row->hash = key_hash(key);
    ASSERT(rows->count < rows->head_count); /* chains stay short */
    struct memory_row **head = &rows->heads[row->hash & (rows->head_count - 1)];
    row->next = *head;
    *head = row;
    rows->count++;
    aging_add(rows, row);
    return row;
}

void memory_rows_remove(struct memory_rows *rows, struct memory_row *row)
{
    ASSERT(rows->count > 0);
    struct memory_row **link = &rows->heads[row->hash & (rows->head_count - 1)];
    while (*link != row)
        link = &(*link)->next;
    *link = row->next;
    list_remove(&row->aging);
    free(row);
    rows->count--;
}

bool memory_rows_copy(struct memory_rows *to, const struct memory_rows *from)
{
    *to = (struct memory_rows){0};
    if (from->head_count > 0 && !resize(to, from->head_count))
        return false;
    for (size_t i = 0; i < from->head_count; i++)
        for (const struct memory_row *row = from->heads[i]; row != NULL; row = row->next) {
            struct memory_row *made = malloc(sizeof(*made));
            if (made == NULL) {
                memory_rows_destroy(to);
                return false;
            }
            *made = *row;
            made->next = to->heads[i];
            to->heads[i] = made;
            to->count++;
            aging_add(to, made);
        }
    ASSERT(to->count == from->count);
    return true;
}
