/*
 * Writes the by-user rows of a batch, which are made from its relation rows. Only the thread that applies
 * changes calls this.
 */
#ifndef LAUD_STORE_ROCKSDB_BY_USER_H
#define LAUD_STORE_ROCKSDB_BY_USER_H

#include "store/rocksdb/rows.h"
#include "store/rocksdb/sink.h"

/*
 * `relations` has sorted relation keys. The value of each is the new time and the old time of the reaction
 * (u32 each, 0: none). There must be capacity for one row for each of these times. `relations->other` is
 * overwritten.
 */
void by_user_write(struct sink *sink, struct rows *relations);

#endif
