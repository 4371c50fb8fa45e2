/*
 * The rows of all tables (store/rows.h) in one ordered array. It has no lock. The caller charges the bytes
 * that the functions report to its budget.
 */
#ifndef LAUD_STORE_MEMORY_TABLES_H
#define LAUD_STORE_MEMORY_TABLES_H

#include <stdbool.h>
#include <stddef.h>

#include "store/store.h"

struct memory_table_row;

struct memory_tables {
    struct memory_table_row **rows; /* by table, then by partition of the group, then by key */
    size_t count;
    size_t bytes; /* memory of all rows */
};

/* A change that can no longer fail. */
struct memory_tables_change {
    struct memory_tables next;
    struct memory_table_row **dropped; /* rows that are removed or replaced */
    size_t dropped_count;
};

void memory_tables_destroy(struct memory_tables *tables);
/* The most bytes that this change can add. */
size_t memory_tables_most(const struct store_row *rows, size_t count);
/* False: there is no memory. Otherwise one of the two functions below must follow. */
bool memory_tables_prepare(const struct memory_tables *tables, const struct store_row *rows,
                           size_t count, struct memory_tables_change *change);
void memory_tables_commit(struct memory_tables *tables, struct memory_tables_change *change);
void memory_tables_abandon(const struct memory_tables *tables, struct memory_tables_change *change);
/* False: there is no memory, and nothing was copied. */
bool memory_tables_copy(struct memory_tables *to, const struct memory_tables *from);

/* As in store.h. */
enum status memory_tables_read(const struct memory_tables *tables, enum store_table table,
                               const struct store_bytes *keys, size_t count,
                               struct store_bytes *values, struct store_arena *arena);
enum status memory_tables_scan(const struct memory_tables *tables, const struct store_scan *scan,
                               struct store_row *rows, size_t *count, bool *more,
                               struct store_arena *arena);
enum status memory_tables_visit(const struct memory_tables *tables,
                                const struct store_visitor *visitor);

#endif
