/*
 * From a request to the words of an operation, as op_decode takes them. They are put behind those
 * already in exchange->words, and point into the exchange.
 */
#ifndef LAUD_HTTP_WORDS_H
#define LAUD_HTTP_WORDS_H

#include "http/exchange.h"
#include "op/command.h"

/* OK: *count words were added. Any other: the reason is in `sentence`. */
enum status words_of_route(struct exchange *exchange, uint32_t *count, char *sentence, size_t size);

/* The same for the operation at this place of a batch; *spec is which it is. */
enum status words_of_batch(struct exchange *exchange, const struct commands *commands,
                           uint32_t index, const struct op_spec **spec, uint32_t *count,
                           char *sentence, size_t size);

/* Parameters and members that the route does not know are refused. */
enum status words_check_known(const struct exchange *exchange, char *sentence, size_t size);

static inline const struct text *words_at(const struct exchange *exchange, uint32_t index)
{
    const struct text *words = (const struct text *)exchange->words.bytes;
    return words == NULL ? NULL : words + index; /* there may be none */
}

static inline uint32_t words_count(const struct exchange *exchange)
{
    return (uint32_t)(exchange->words.length / sizeof(struct text));
}

#endif
