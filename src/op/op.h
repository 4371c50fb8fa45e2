/*
 * Operations: what clients can ask for, and how its arguments are decoded. One table (op.def) lists
 * them: which words an operation takes, and what its reply looks like. Everything that depends on the
 * words of an operation uses this table. op_decode (decode.c) turns the words of a command into a
 * request for the hot tier, or refuses them with one plain sentence. Any thread may decode; each
 * thread has its own scratch.
 */
#ifndef LAUD_OP_OP_H
#define LAUD_OP_OP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/names.h"
#include "base/status.h"
#include "base/text.h"
#include "hot/hot.h"

/* Indices that no type and no name ever has. They stand for one that no write has used yet. */
#define TYPE_UNKNOWN UINT16_MAX
#define NAME_UNKNOWN UINT8_MAX

/* To follow a user is to react to the item with this type and the user's id. */
#define OP_FOLLOWED_TYPE "user"

enum op_code {
#define OP(code, name, action, shape, words, extra, arguments, items, summary) OP_##code,
#define ROUTE(code, method, path, words)
#include "op/op.def"
#undef ROUTE
#undef OP
};

/* A word that an operation takes. */
enum op_word {
    WORD_END, /* there are no more */
    WORD_USER,
    WORD_KIND,
    WORD_COUNTER,     /* one that ADD may change */
    WORD_ANY_COUNTER, /* also one that counts reactions of a kind */
    WORD_DELTA,       /* a signed number */
    WORD_TYPE,
    WORD_ITEM,
    WORD_ITEMS, /* one item or more, up to items_max; no other word follows */
    WORD_TOTAL,
};

/* What may follow the words: pairs of a keyword and its value, in any order. */
enum op_extra {
    EXTRA_NONE,
    EXTRA_TOKEN,  /* TOKEN and a token */
    EXTRA_COLD,   /* after WORD_ITEMS: COLD and skip or ask */
    EXTRA_LIMIT,  /* LIMIT and a number */
    EXTRA_PIECE,  /* the same; the number says how much to remove */
    EXTRA_PAGE,   /* LIMIT and a number, CURSOR and a cursor */
    EXTRA_SINCE,  /* LIMIT and a number, SINCE and a cursor */
    EXTRA_WINDOW, /* LIMIT and a number, WINDOW and hour, day or week */
    EXTRA_TOTAL,
};

/* What a reply looks like; each face has one function or schema for each of them. */
enum op_shape {
    SHAPE_CHANGE,  /* whether anything was changed */
    SHAPE_VALUE,   /* a counter's value */
    SHAPE_REMOVAL, /* how many were removed, and whether there may be more */
    SHAPE_FLAGS,   /* for each item: yes or no */
    SHAPE_COUNTS,  /* for each item: its counters */
    SHAPE_FEED,    /* for each item: kinds of reactions, and its counters */
    SHAPE_ITEMS,   /* a page of items with times, and a cursor */
    SHAPE_USERS,   /* a page of users with times, and a cursor */
    SHAPE_FRIENDS, /* users with times; there are no pages */
    SHAPE_CHANGES, /* what was set and cleared, and a cursor */
    SHAPE_RANKED,  /* items with values */
    SHAPE_NAMES,   /* all names */
    SHAPE_TOTAL,
};

#define OP_WORDS 3 /* no operation has more words */

struct op_spec {
    const char *name;
    const char *arguments;
    const char *summary;
    enum hot_action action;
    enum op_shape shape;
    enum op_extra extra;
    uint16_t items_max;
    uint16_t args_min;           /* how many words there are without the extra ones */
    uint16_t args_max;           /* the same with the extra ones; UINT16_MAX: there is no bound */
    uint8_t words[OP_WORDS + 1]; /* enum op_word, in the order in which they are given */
};

static inline bool op_writes(const struct op_spec *spec)
{
    return (hot_flags(spec->action) & HOT_WRITES) != 0;
}

/* Can it clear more than one reaction? */
static inline bool op_removes(const struct op_spec *spec)
{
    return (hot_flags(spec->action) & HOT_REMOVES) != 0;
}

/* Does it act for a user? If so, the user is its first word. */
static inline bool op_has_user(const struct op_spec *spec)
{
    return spec->words[0] == WORD_USER;
}

/* The index of its first item among its words; args_min: it takes no items. */
static inline uint32_t op_items_at(const struct op_spec *spec)
{
    uint32_t at = 0;
    while (at < spec->args_min && spec->words[at] != WORD_ITEM && spec->words[at] != WORD_ITEMS)
        at++;
    return at;
}

/* The type that was last found. Most items of a feed, or of a server, have the same type. */
struct op_type {
    const struct names *names; /* the table in which it was found; NULL: none was found yet */
    uint16_t index;
    bool allowed;                     /* writes may use it */
    uint8_t length;                   /* the length of the text, with the colon after the type */
    char text[LIMIT_NAME_LENGTH + 1]; /* no terminator */
};

/* A user that was decoded already, and the word that it was decoded from. */
struct op_user {
    struct text word;
    struct id id;
};

/*
 * Items and answers of the requests of one batch, and the sentence of the last refusal. All zero at
 * first.
 */
struct op_scratch {
    uint32_t
        used; /* how many items and answers are in use; the caller sets it to 0 between batches */
    struct op_type type;
    struct op_user user; /* the user of the next words, if the caller decoded it; else all zero */
    struct item items[LIMIT_BATCH_ITEMS];
    struct hot_answer answers[LIMIT_BATCH_ITEMS];
    char sentence[256];
    struct text wrong; /* the word that was refused last, or its beginning; callers may clear it */
    size_t subject; /* how many bytes of the sentence name it: "a user" of "a user must be …" */
};

extern const struct op_spec op_specs[]; /* the index is an enum op_code */

size_t op_count(void);
const struct op_spec *op_get(size_t index); /* the index is an enum op_code */

/* The highest LIMIT of an operation; 0: it takes no LIMIT. */
uint32_t op_limit_max(const struct op_spec *spec);

/* What the reply to a request of op_decode looks like. */
static inline enum op_shape op_shape(const struct hot_request *request)
{
    return op_specs[request->op].shape;
}

/*
 * Decodes args[0 … count), the words after the name. OK: the request is ready to run. MORE: the
 * scratch has no room for its items; run the batch and decode again. BLOCKED: a name is not in the
 * table, and its back end has no answer yet (names.h); decode again after names_wake. Any other
 * status: the reason is in scratch->sentence, in terms of RESP; with `wrong` and `subject` a caller
 * can say it in its own terms. Only a request that is OK uses room of the scratch.
 *
 * SET and ADD create the names they use (names_intern), after all their words are decoded and all
 * their names may be used. Any other operation with a name that does not exist is a request for
 * nothing. Before a name counts as absent, the back end of the names is asked, if there is one.
 */
enum status op_decode(const struct op_spec *spec, const struct text *args, uint32_t count,
                      struct names *names, uint32_t time_s, struct op_scratch *scratch,
                      struct hot_request *request);

/*
 * Makes a COUNTS that the server itself adds (hot_request.own), for an item that was decoded already.
 * The scratch must have room for one item.
 */
void op_make_counts(const struct item *item, uint32_t time_s, struct op_scratch *scratch,
                    struct hot_request *request);

#endif
