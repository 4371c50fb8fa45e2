/*
 * Collects the words of an operation from a request, in the form that op_decode takes. They are
 * appended to exchange->words and point into the exchange.
 */
#ifndef LAUD_HTTP_WORDS_H
#define LAUD_HTTP_WORDS_H

#include "http/exchange.h"
#include "op/command.h"

/* OK: *count words were added. Any other status: the reason is in `sentence`. */
enum status words_of_route(struct exchange *exchange, uint32_t *count, char *sentence, size_t size);

/* The same for the operation with this index in a batch. *spec is set to the operation. */
enum status words_of_batch(struct exchange *exchange, const struct commands *commands,
                           uint32_t index, const struct op_spec **spec, uint32_t *count,
                           char *sentence, size_t size);

/* Refuses parameters and members that the route does not have. OK, or the reason is in `sentence`. */
enum status words_check_names(const struct exchange *exchange, char *sentence, size_t size);

static inline const struct text *words_at(const struct exchange *exchange, uint32_t index)
{
    const struct text *words = (const struct text *)exchange->words.bytes;
    return words == NULL ? NULL : words + index; /* it is NULL as long as no word was added */
}

static inline uint32_t words_count(const struct exchange *exchange)
{
    return (uint32_t)(exchange->words.length / sizeof(struct text));
}

#endif
