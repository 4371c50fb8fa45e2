/*
 * A store for the projector's tests: small lists, and strict about what it is given. Each key must
 * come once, a reaction must be as the change says it was, no change may be empty, no sum may leave
 * its range. It also refuses on demand, as a full or failing disk would.
 */
#ifndef LAUD_PROJECT_STRICT_STORE_H
#define LAUD_PROJECT_STRICT_STORE_H

#include "store/store.h"

struct store *strict_store_open(void);

/* The next `times` calls to apply or flush answer this and do nothing. */
void strict_store_refuse_apply(struct store *store, enum status status, uint32_t times);
void strict_store_refuse_flush(struct store *store, enum status status, uint32_t times);

uint64_t strict_store_applied(const struct store *store); /* batches that changed something */
uint64_t strict_store_rows(const struct store *store);    /* in them, but names and tokens */

#endif
