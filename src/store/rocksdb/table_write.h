/* Writes the rows of tables of one change. Only a thread that fills a sink calls it. */
#ifndef LAUD_STORE_ROCKSDB_TABLE_WRITE_H
#define LAUD_STORE_ROCKSDB_TABLE_WRITE_H

#include <stdbool.h>

#include "store/store.h"

struct sink;

/* Each table and key once, in any order. False: there is no memory, and nothing was written. */
bool table_write_rows(struct sink *sink, const struct store_row *rows, size_t count);

#endif
