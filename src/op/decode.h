/*
 * Decoding from the inside: what decode.c, extra.c and refuse.c share. Nobody else includes it. A
 * decoding lives on the stack of op_decode and owns nothing.
 */
#ifndef LAUD_OP_DECODE_H
#define LAUD_OP_DECODE_H

#include "op/op.h"

/* What the decoding of one command carries from word to word. */
struct decoding {
    const struct op_spec *spec;
    struct names *names;
    struct op_scratch *scratch;
    struct hot_request *request;
    bool making;  /* names that are not known are made */
    bool unknown; /* there was one */
    bool blocked; /* for one of them the answer is not there yet */
    struct {
        enum status status; /* OK: none was */
        enum name_role role;
        struct text word;
    } refused; /* the first name that may not be used in a write */
};

/* `expected` names the word and says what it must be: "a user must be …". Returns `status`. */
enum status op_refuse(struct decoding *d, enum status status, const char *expected,
                      struct text word);
enum status op_refuse_arity(const struct op_spec *spec, struct op_scratch *scratch);

enum status op_refuse_many(struct decoding *d, uint32_t count); /* too many items */

/* Says as a sentence what names_intern answered. Returns `status`. */
enum status op_refuse_name(struct decoding *d, enum status status, enum name_role role,
                           struct text word);

/* Decodes what follows the words (enum op_extra), but for COLD. All words are decoded by now. */
enum status op_decode_extra(struct decoding *d, const struct text *words, uint32_t count);

/*
 * Decodes COLD and its value at the end of the items, if they are there, and takes them off *items, the
 * number of words. No item is called COLD: an item has a colon.
 */
enum status op_decode_cold(struct decoding *d, const struct text *words, uint32_t *items);

#endif
