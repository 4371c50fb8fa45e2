/*
 * Operations: what can be asked for, and how its arguments are read. One table (op.def) says what
 * there is; op_decode turns the words of a command into a request for the hot tier, refusing with
 * one plain sentence what it cannot take. Any thread may decode; a thread has its own scratch.
 */
#ifndef LAUD_OP_OP_H
#define LAUD_OP_OP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/names.h"
#include "base/status.h"
#include "base/text.h"
#include "hot/hot.h"

/* Indices that are never given out: a type or name nobody has used in a write yet. */
#define TYPE_UNKNOWN UINT16_MAX
#define NAME_UNKNOWN UINT8_MAX

/* Who follows a user reacts to the item of this type that has the user's id. */
#define OP_FOLLOWED_TYPE "user"

enum op_code {
#define OP(code, name, action, pattern, arguments, items, summary) OP_##code,
#define ROUTE(code, method, path, words)
#include "op/op.def"
#undef ROUTE
#undef OP
};

struct op_spec {
    const char *name;
    const char *pattern;
    const char *arguments;
    const char *summary;
    enum hot_action action;
    uint16_t items_max;
    uint16_t args_min; /* words after the name */
    uint16_t args_max; /* UINT16_MAX: as many as there are */
};

static inline bool op_writes(const struct op_spec *spec)
{
    return (hot_flags(spec->action) & HOT_WRITES) != 0;
}

/* Can it undo more than one reaction? */
static inline bool op_removes(const struct op_spec *spec)
{
    return (hot_flags(spec->action) & HOT_REMOVES) != 0;
}

/* The type that was last found: most items of a feed, or of a server, are of one. */
struct op_type {
    const struct names *names; /* where it was found; NULL: nowhere yet */
    uint16_t index;
    bool allowed;                     /* in a write */
    uint8_t length;                   /* of the text, with the colon behind the type */
    char text[LIMIT_NAME_LENGTH + 1]; /* no terminator */
};

/* A user that has been read already, and the word it was read from. */
struct op_user {
    struct text word;
    struct id id;
};

/*
 * Items and answers of the requests of one batch, and the sentence of the last refusal. All zero at
 * first.
 */
struct op_scratch {
    uint32_t used; /* of items and answers; the caller sets it to 0 between batches */
    struct op_type type;
    struct op_user user; /* of the words to be decoded, if the caller knows it; else all zero */
    struct item items[LIMIT_BATCH_ITEMS];
    struct hot_answer answers[LIMIT_BATCH_ITEMS];
    char sentence[256];
    struct text
        wrong;      /* the word that was refused last, or the start of it; callers may clear it */
    size_t subject; /* bytes of the sentence that name it: "a user" of "a user must be …" */
};

size_t op_count(void);
const struct op_spec *op_get(size_t index); /* by enum op_code */

uint32_t op_limit_max(const struct op_spec *spec); /* of its LIMIT; 0: it takes none */

/*
 * Decodes args[0 … count), the words after the name. OK: the request is ready to run. MORE: the
 * batch's scratch has no room left for its items; run the batch and decode again. Any other: the
 * reason is in scratch->sentence, in the words of RESP; `wrong` and `subject` let a caller say in its
 * own which word is meant. Only what is OK takes room of the scratch.
 *
 * SET and ADD make the names they use (names_intern), once all their words are found good and all
 * their names may be used; any other operation that names an unknown one asks for nothing.
 */
enum status op_decode(const struct op_spec *spec, const struct text *args, uint32_t count,
                      struct names *names, uint32_t time_s, struct op_scratch *scratch,
                      struct hot_request *request);

#endif
