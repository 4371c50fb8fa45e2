/*
 * A change is put in order and merged with the array into a new one. Rows themselves are never changed,
 * so a change that fails halfway only frees what it has made.
 */
#include "store/memory/tables.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

struct memory_table_row {
    uint8_t table;
    bool removed; /* only in a change */
    uint16_t partition;
    uint32_t key_length;
    uint32_t value_length;
    uint8_t bytes[]; /* the key, then the value */
};

/* What rows are compared by. */
struct place {
    unsigned table;
    unsigned partition;
    struct store_bytes key;
};

static struct place place_of(const struct memory_table_row *row)
{
    return (struct place){.table = row->table,
                          .partition = row->partition,
                          .key = {.data = row->bytes, .length = row->key_length}};
}

static int compare_places(const struct place *a, const struct place *b)
{
    if (a->table != b->table)
        return a->table < b->table ? -1 : 1;
    if (a->partition != b->partition)
        return a->partition < b->partition ? -1 : 1;
    uint32_t shorter = a->key.length < b->key.length ? a->key.length : b->key.length;
    int order = memcmp(a->key.data, b->key.data, shorter);
    return order != 0 ? order : (a->key.length > b->key.length) - (a->key.length < b->key.length);
}

static int compare_rows(const void *a, const void *b)
{
    struct place first = place_of(*(struct memory_table_row *const *)a);
    struct place second = place_of(*(struct memory_table_row *const *)b);
    return compare_places(&first, &second);
}

static size_t row_bytes(size_t key_length, size_t value_length)
{
    return sizeof(struct memory_table_row) + key_length + value_length +
           2 * sizeof(struct memory_table_row *);
}

static size_t bytes_of(const struct memory_table_row *row)
{
    return row_bytes(row->key_length, row->value_length);
}

static struct memory_table_row *row_make(const struct store_row *from)
{
    ASSERT(store_key_fits(from->table, from->key.length));
    ASSERT(from->removed || from->value.length <= STORE_VALUE_MAX);
    uint32_t value_length = from->removed ? 0 : from->value.length;
    struct memory_table_row *row =
        malloc(sizeof(*row) + (size_t)from->key.length + (size_t)value_length);
    if (row == NULL)
        return NULL;
    *row = (struct memory_table_row){.table = from->table,
                                     .removed = from->removed,
                                     .key_length = from->key.length,
                                     .value_length = value_length};
    memcpy(row->bytes, from->key.data, from->key.length);
    if (value_length > 0)
        memcpy(row->bytes + from->key.length, from->value.data, value_length);
    row->partition = (uint16_t)store_group_partition(row->bytes, store_group_length(from->table));
    return row;
}

static struct store_row row_of(const struct memory_table_row *row)
{
    return (struct store_row){
        .table = row->table,
        .key = {.data = row->bytes, .length = row->key_length},
        .value = {.data = row->bytes + row->key_length, .length = row->value_length}};
}

static void free_rows(struct memory_table_row **rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(rows[i]);
    free(rows);
}

void memory_tables_destroy(struct memory_tables *tables)
{
    free_rows(tables->rows, tables->count);
    *tables = (struct memory_tables){0};
}

size_t memory_tables_most(const struct store_row *rows, size_t count)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += row_bytes(rows[i].key.length, rows[i].removed ? 0 : rows[i].value.length);
    return bytes;
}

/* NULL: there is no memory. */
static struct memory_table_row **make_sorted(const struct store_row *rows, size_t count)
{
    struct memory_table_row **made = calloc(count, sizeof(struct memory_table_row *));
    if (made == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        made[i] = row_make(&rows[i]);
        if (made[i] == NULL) {
            free_rows(made, i);
            return NULL;
        }
    }
    qsort(made, count, sizeof(struct memory_table_row *), compare_rows);
    for (size_t i = 1; i < count; i++)
        ASSERT(compare_rows(&made[i - 1], &made[i]) < 0); /* each key once */
    return made;
}

static void keep(struct memory_tables *next, struct memory_table_row *row)
{
    next->rows[next->count++] = row;
    next->bytes += bytes_of(row);
}

static void merge(const struct memory_tables *tables, struct memory_table_row **made, size_t count,
                  struct memory_tables_change *change)
{
    size_t old = 0, new = 0;
    while (old < tables->count || new < count) {
        int order = old == tables->count ? 1
                    : new == count       ? -1
                                         : compare_rows(&tables->rows[old], &made[new]);
        if (order < 0) {
            keep(&change->next, tables->rows[old++]);
            continue;
        }
        if (order == 0)
            change->dropped[change->dropped_count++] = tables->rows[old++];
        if (made[new]->removed)
            free(made[new]);
        else
            keep(&change->next, made[new]);
        new ++;
    }
}

bool memory_tables_prepare(const struct memory_tables *tables, const struct store_row *rows,
                           size_t count, struct memory_tables_change *change)
{
    *change = (struct memory_tables_change){0};
    if (count == 0)
        return true;
    struct memory_table_row **made = make_sorted(rows, count);
    change->next.rows = calloc(tables->count + count, sizeof(struct memory_table_row *));
    change->dropped = calloc(count, sizeof(struct memory_table_row *));
    if (made == NULL || change->next.rows == NULL || change->dropped == NULL) {
        if (made != NULL)
            free_rows(made, count);
        free(change->next.rows);
        free(change->dropped);
        return false;
    }
    merge(tables, made, count, change);
    free(made);
    return true;
}

void memory_tables_commit(struct memory_tables *tables, struct memory_tables_change *change)
{
    if (change->next.rows == NULL)
        return;
    free(tables->rows);
    *tables = change->next;
    free_rows(change->dropped, change->dropped_count);
}

/* Both arrays have the same order, so rows that are only in the new one are found by walking both. */
void memory_tables_abandon(const struct memory_tables *tables, struct memory_tables_change *change)
{
    size_t old = 0;
    for (size_t i = 0; i < change->next.count; i++) {
        struct memory_table_row *row = change->next.rows[i];
        while (old < tables->count && compare_rows(&tables->rows[old], &row) < 0)
            old++;
        if (old == tables->count || tables->rows[old] != row)
            free(row);
    }
    free(change->next.rows);
    free(change->dropped);
}

bool memory_tables_copy(struct memory_tables *to, const struct memory_tables *from)
{
    *to = (struct memory_tables){.bytes = from->bytes};
    if (from->count == 0)
        return true;
    to->rows = calloc(from->count, sizeof(struct memory_table_row *));
    for (size_t i = 0; to->rows != NULL && i < from->count; i++) {
        struct store_row row = row_of(from->rows[i]);
        to->rows[i] = row_make(&row);
        if (to->rows[i] == NULL) {
            memory_tables_destroy(to);
            return false;
        }
        to->count++;
    }
    return to->rows != NULL;
}

/* The number of rows before this place. */
static size_t rows_before(const struct memory_tables *tables, const struct place *place)
{
    size_t low = 0, high = tables->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        struct place other = place_of(tables->rows[middle]);
        if (compare_places(&other, place) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

enum status memory_tables_read(const struct memory_tables *tables, enum store_table table,
                               const struct store_bytes *keys, size_t count,
                               struct store_bytes *values, struct store_arena *arena)
{
    for (size_t i = 0; i < count; i++) {
        ASSERT(store_key_fits(table, keys[i].length));
        const struct place place = {
            .table = table,
            .partition = store_group_partition(keys[i].data, store_group_length(table)),
            .key = keys[i]};
        values[i] = (struct store_bytes){0};
        size_t at = rows_before(tables, &place);
        if (at == tables->count)
            continue;
        struct place found = place_of(tables->rows[at]);
        if (compare_places(&found, &place) != 0)
            continue;
        struct store_bytes value = row_of(tables->rows[at]).value;
        values[i].length = value.length;
        values[i].data = store_arena_copy(arena, value.data, value.length);
        if (values[i].data == NULL)
            return STATUS_NO_MEMORY;
    }
    return STATUS_OK;
}

/* Writes group and rest to `bytes`. */
static struct place place_in_group(const struct store_scan *scan, struct store_bytes rest,
                                   uint8_t bytes[STORE_KEY_MAX])
{
    ASSERT(scan->group.length == store_group_length(scan->table) && rest.length <= STORE_REST_MAX);
    memcpy(bytes, scan->group.data, scan->group.length);
    if (rest.length > 0)
        memcpy(bytes + scan->group.length, rest.data, rest.length);
    return (struct place){.table = scan->table,
                          .partition = store_group_partition(scan->group.data, scan->group.length),
                          .key = {.data = bytes, .length = scan->group.length + rest.length}};
}

static bool is_in_group(const struct memory_table_row *row, const struct store_scan *scan)
{
    return row->table == scan->table &&
           memcmp(row->bytes, scan->group.data, scan->group.length) == 0;
}

/* Is the row in the range of the scan? */
static bool is_wanted(const struct memory_table_row *row, const struct store_scan *scan)
{
    uint8_t bytes[STORE_KEY_MAX];
    int direction = scan->reverse ? -1 : 1;
    struct place here = place_of(row);
    if (!is_in_group(row, scan))
        return false;
    if (scan->from.length > 0) {
        struct place from = place_in_group(scan, scan->from, bytes);
        if (compare_places(&here, &from) * direction <= 0)
            return false;
    }
    if (scan->until.length > 0) {
        struct place until = place_in_group(scan, scan->until, bytes);
        if (compare_places(&here, &until) * direction >= 0)
            return false;
    }
    return true;
}

static enum status copy_row(const struct memory_table_row *from, struct store_row *to,
                            struct store_arena *arena)
{
    *to = row_of(from);
    to->key.data = store_arena_copy(arena, to->key.data, to->key.length);
    to->value.data = store_arena_copy(arena, to->value.data, to->value.length);
    return to->key.data == NULL || to->value.data == NULL ? STATUS_NO_MEMORY : STATUS_OK;
}

/* It looks at each row of the group, which is slow, but simple. */
enum status memory_tables_scan(const struct memory_tables *tables, const struct store_scan *scan,
                               struct store_row *rows, size_t *count, bool *more,
                               struct store_arena *arena)
{
    uint8_t bytes[STORE_KEY_MAX];
    struct place group = place_in_group(scan, (struct store_bytes){0}, bytes);
    size_t first = rows_before(tables, &group), end = first, returned = 0;
    while (end < tables->count && is_in_group(tables->rows[end], scan))
        end++;
    *count = 0;
    *more = false;
    for (size_t i = 0; i < end - first; i++) {
        const struct memory_table_row *row = tables->rows[scan->reverse ? end - 1 - i : first + i];
        if (!is_wanted(row, scan))
            continue;
        returned += row->key_length + row->value_length;
        *more = *count == scan->limit_rows ||
                (*count > 0 && scan->limit_bytes != 0 && returned > scan->limit_bytes);
        if (*more)
            return STATUS_OK;
        enum status status = copy_row(row, &rows[*count], arena);
        if (status != STATUS_OK)
            return status;
        ++*count;
    }
    return STATUS_OK;
}

enum status memory_tables_visit(const struct memory_tables *tables,
                                const struct store_visitor *visitor)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < tables->count; i++) {
        struct store_row row = row_of(tables->rows[i]);
        if (store_visits_table(visitor, row.table) &&
            store_visits_partition(visitor, tables->rows[i]->partition))
            status = visitor->row(visitor->context, &row);
    }
    return status;
}
