/*
 * Explains which word of an HTTP request is wrong. op_decode refuses a word with a sentence in terms
 * of RESP ("a LIMIT must be …"). A client of HTTP sent that word in the path, in the query or in the
 * body, and gets a sentence that says so.
 */
#ifndef LAUD_HTTP_WHERE_H
#define LAUD_HTTP_WHERE_H

#include <stddef.h>

#include "http/exchange.h"
#include "op/op.h"

/* Translates the sentence of op_decode about a word of the exchange's route into terms of HTTP. */
void where_explain(const struct exchange *exchange, const struct op_scratch *scratch,
                   char *sentence, size_t size);

#endif
