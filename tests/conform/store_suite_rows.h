/* What the tests of rows share. */
#ifndef LAUD_CONFORM_STORE_SUITE_ROWS_H
#define LAUD_CONFORM_STORE_SUITE_ROWS_H

#include "store_suite.h"

struct store_bytes suite_text(const char *text);
/* Key and value are texts, which must outlive the row. Without a value the row is removed. */
struct store_row suite_row(enum store_table table, const char *key, const char *value);
void suite_put(struct store *store, enum store_table table, const char *key, const char *value);
/* Keys without their group, separated by spaces, and "…" if there are more. limit_rows 0: 64. */
void suite_expect_scan(struct store *store, struct store_scan scan, const char *expected);

#endif
