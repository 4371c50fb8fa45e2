/*
 * What decode.c, extra.c, comment_words.c, comment_extra.c and refuse.c share. Nobody else includes it. A struct decoding is on the stack of
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
    struct hot_detail *detail; /* of a request about comments, otherwise NULL */
    bool making;               /* names that do not exist are created */
    bool unknown;              /* a name did not exist */
    bool blocked;              /* the back end of the names has no answer yet about one of them */
    struct {
        enum status status; /* OK: no name was refused */
        enum name_role role;
        struct text word;
    } refused;          /* the first name that may not be used in a write */
    bool has_order;     /* COMMENTS: BY was given */
    struct text cursor; /* COMMENTS: it is read when everything else is */
};

/*
 * Writes the sentence of a refusal. `expected` names the word and says what it must be: "a user must
 * be …". Returns `status`.
 */
enum status op_refuse(struct decoding *d, enum status status, const char *expected,
                      struct text word);

/* The same without the word: `sentence` is the whole sentence. */
enum status op_refuse_saying(struct decoding *d, enum status status, const char *sentence,
                             struct text word);
enum status op_refuse_arity(const struct op_spec *spec, struct op_scratch *scratch);

/* Refuses because there are too many items. */
enum status op_refuse_many(struct decoding *d, uint32_t count);

/* Writes a sentence about what names_intern answered. Returns `status`. */
enum status op_refuse_name(struct decoding *d, enum status status, enum name_role role,
                           struct text word);

/*
 * Decodes what follows the words (enum op_extra), except EXTRA_FEED and EXTRA_READER. All words must be
 * decoded before.
 */
enum status op_decode_extra(struct decoding *d, const struct text *words, uint32_t count);

/* The same for the extra words of comments (comment_extra.c). */
enum status op_decode_comment_extra(struct decoding *d, const struct text *words, uint32_t count);

/* Decodes FOR and a user at the end of the items, as op_decode_feed does. */
enum status op_decode_reader(struct decoding *d, const struct text *words, uint32_t *items);

/* Decodes a word that only operations about comments take (comment_words.c). */
enum status op_decode_comment_word(struct decoding *d, enum op_word word, struct text text);

/* Is the word an item of the type `comment`? */
static inline bool op_is_comment(struct text word)
{
    static const char before[] = COMMENT_TYPE_NAME ":";
    return word.length >= sizeof before - 1 && memcmp(word.bytes, before, sizeof before - 1) == 0;
}

/* Is the item of a request about comments what its operation takes? All words are decoded. */
enum status op_check_comment(struct decoding *d, struct text word);

/* Reads a user, with the sentence that a user gets who is none. */
enum status op_decode_id(struct decoding *d, struct text word, struct id *id);

/* Reads a number from `least` to `most` after a keyword. */
bool op_read_number(struct text word, uint32_t least, uint32_t most, uint32_t *number);

/* LIMIT, as all lists have it. */
enum status op_decode_limit(struct decoding *d, struct text word);

/*
 * Decodes COLD and FRIENDS with their values at the end of the items, if they are there, and subtracts
 * them from *items, the number of words. Neither can be an item, because an item has a colon.
 */
enum status op_decode_feed(struct decoding *d, const struct text *words, uint32_t *items);

/*
 * Finds the type and the kind by which users follow users. If they do not exist, they stay unknown, and
 * nobody follows anybody.
 */
enum status op_find_follow(struct decoding *d, uint16_t *type, uint8_t *kind);

#endif
