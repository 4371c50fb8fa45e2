/*
 * What decode.c, extra.c and refuse.c share. Nobody else includes it. A struct decoding is on the stack of
 * op_decode and owns nothing.
 */
#ifndef LAUD_OP_DECODE_H
#define LAUD_OP_DECODE_H

#include "op/op.h"

/* The state while one command is decoded. */
struct decoding {
    const struct op_spec *spec;
    struct names *names;
    struct op_scratch *scratch;
    struct hot_request *request;
    bool making;  /* names that do not exist are created */
    bool unknown; /* a name did not exist */
    bool blocked; /* the back end of the names has no answer yet about one of them */
    struct {
        enum status status; /* OK: no name was refused */
        enum name_role role;
        struct text word;
    } refused; /* the first name that may not be used in a write */
};

/*
 * Writes the sentence of a refusal. `expected` names the word and says what it must be: "a user must
 * be …". Returns `status`.
 */
enum status op_refuse(struct decoding *d, enum status status, const char *expected,
                      struct text word);
enum status op_refuse_arity(const struct op_spec *spec, struct op_scratch *scratch);

/* Refuses because there are too many items. */
enum status op_refuse_many(struct decoding *d, uint32_t count);

/* Writes a sentence about what names_intern answered. Returns `status`. */
enum status op_refuse_name(struct decoding *d, enum status status, enum name_role role,
                           struct text word);

/* Decodes what follows the words (enum op_extra), except COLD. All words must be decoded before. */
enum status op_decode_extra(struct decoding *d, const struct text *words, uint32_t count);

/*
 * Decodes COLD and its value at the end of the items, if they are there, and subtracts them from
 * *items, the number of words. COLD cannot be an item, because an item has a colon.
 */
enum status op_decode_cold(struct decoding *d, const struct text *words, uint32_t *items);

#endif
