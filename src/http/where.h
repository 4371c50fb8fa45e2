/*
 * Where in an HTTP request a word of its operation stands. An operation refuses a word in the terms of
 * RESP ("a LIMIT must be …"); a client of HTTP knows it as a part of the path, a parameter of the query
 * or a member of the body, and is told that instead.
 */
#ifndef LAUD_HTTP_WHERE_H
#define LAUD_HTTP_WHERE_H

#include <stddef.h>

#include "http/exchange.h"
#include "op/op.h"

/* What op_decode said of a word of the exchange's route, in the terms of HTTP. */
void where_explain(const struct exchange *exchange, const struct op_scratch *scratch,
                   char *sentence, size_t size);

#endif
