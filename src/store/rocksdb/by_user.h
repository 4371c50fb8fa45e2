/*
 * By-user rows of a batch, made from its relations. The pile holds those sorted, each with its new
 * time and its old one (u32 each, 0: none) as value, and has room for a row for every such time;
 * the rows it sets aside for sorting are used up. Of the thread that applies.
 */
#ifndef LAUD_STORE_ROCKSDB_BY_USER_H
#define LAUD_STORE_ROCKSDB_BY_USER_H

#include "store/rocksdb/rows.h"
#include "store/rocksdb/sink.h"

void by_user_write(struct sink *sink, struct rows *relations);

#endif
