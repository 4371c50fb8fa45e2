/* Checks the rows of the memory store against each other, for a caller that owns the rows. */
#ifndef LAUD_STORE_MEMORY_VERIFY_H
#define LAUD_STORE_MEMORY_VERIFY_H

#include "store/memory/rows.h"

/* As store_verify says; report->problem says what is wrong. */
enum status memory_verify(const struct memory_rows *rows, struct store_report *report);

#endif
