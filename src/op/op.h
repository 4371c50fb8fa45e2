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
#include "hot/comments.h"
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
    WORD_ITEMS,    /* one item or more, up to items_max; no other word follows */
    WORD_COMMENT,  /* comment:ID */
    WORD_COMMENTS, /* the same, one or more, as WORD_ITEMS */
    WORD_TEXT,     /* of a comment: any UTF-8 */
    WORD_STATE,    /* visible, pending, hidden or shadow */
    WORD_QUEUE,    /* pending, hidden or reported */
    WORD_CURSOR,   /* of an inbox */
    WORD_TOTAL,
};

/* What may follow the words: keywords, most of them with a value, in any order. */
enum op_extra {
    EXTRA_NONE,
    EXTRA_TOKEN,  /* TOKEN and a token */
    EXTRA_FEED,   /* after WORD_ITEMS: COLD and skip or ask, FRIENDS and a number */
    EXTRA_READER, /* after WORD_COMMENTS: FOR and a user */
    EXTRA_DEPTH,  /* LIMIT and a number, DEPTH and 1 or 2; these and the rest are always decoded */
    EXTRA_PIECE,  /* LIMIT and a number, which says how much to remove */
    EXTRA_PAGE,   /* LIMIT and a number, CURSOR and a cursor */
    EXTRA_SINCE,  /* LIMIT and a number, SINCE and a cursor */
    EXTRA_WINDOW, /* LIMIT and a number, WINDOW and hour, day or week */
    EXTRA_CARDS,  /* as EXTRA_PAGE, for lists of comments */
    EXTRA_POST,   /* TOKEN and a token, MENTION and users, EXTRA and a JSON value */
    EXTRA_COMMENTS, /* BY, FOR, REPLIES, LIMIT, CURSOR and AT, each with a value; ALL */
    EXTRA_ALL,      /* ALL */
    EXTRA_REASON,   /* REASON and a text */
    EXTRA_SUBJECT,  /* OWNER and a user, MODE and open, held, readonly or closed */
    EXTRA_BAN,      /* UNTIL and a time; SHADOW */
    EXTRA_TOTAL,
};

/* What a reply looks like; each face has one function or schema for each of them. */
enum op_shape {
    SHAPE_CHANGE,  /* whether anything was changed */
    SHAPE_VALUE,   /* a counter's value */
    SHAPE_REMOVAL, /* how many were removed, and whether there may be more */
    SHAPE_FLAGS,   /* for each item: yes or no */
    SHAPE_COUNTS,  /* for each item: its counters */
    SHAPE_FEED,    /* for each item: kinds of reactions, its counters, and friends if asked for */
    SHAPE_ITEMS,   /* a page of items with times, and a cursor */
    SHAPE_USERS,   /* a page of users with times, and a cursor */
    SHAPE_FRIENDS, /* users with times, and with DEPTH 2 through whom; there are no pages */
    SHAPE_CHANGES, /* what was set and cleared, and a cursor */
    SHAPE_RANKED,  /* items with values */
    SHAPE_NAMES,   /* all names */
    SHAPE_DONE,    /* whether anything was changed, without a counter */
    /* Comments: op/comment_reply.h writes these for all faces. */
    SHAPE_POSTED,    /* a comment, its floor and its state */
    SHAPE_COMMENTS,  /* a page of comments, two cursors, and their subject */
    SHAPE_CARDS,     /* cards */
    SHAPE_CARD_LIST, /* a page of cards, and a cursor */
    SHAPE_INBOX,     /* a page of an inbox, a cursor, and how many entries are unread */
    SHAPE_VERSIONS,  /* texts with times */
    SHAPE_SUBJECT,   /* a subject */
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

/* May only moderators use it? */
static inline bool op_moderates(const struct op_spec *spec)
{
    switch (spec->action) {
    case HOT_MODERATE:
    case HOT_PIN:
    case HOT_UNPIN:
    case HOT_SUBJECT_SET:
    case HOT_QUEUE:
    case HOT_BAN:
    case HOT_PURGE:
        return true;
    default:
        return false;
    }
}

/* Is this word an item or items? */
static inline bool op_word_is_item(enum op_word word)
{
    return word == WORD_ITEM || word == WORD_ITEMS || word == WORD_COMMENT || word == WORD_COMMENTS;
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
    while (at < spec->args_min && !op_word_is_item((enum op_word)spec->words[at]))
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
    uint64_t first;                   /* the first 8 bytes of the text, with 0 after its end */
    uint64_t first_mask;              /* which bits of them belong to the text */
};

/* A user that was decoded already, and the word that it was decoded from. */
struct op_user {
    struct text word;
    struct id id;
};

/*
 * Items, answers and details of the requests of one batch, and the sentence of the last refusal. All zero
 * at first. Between batches the caller calls op_scratch_clear.
 */
struct op_scratch {
    uint32_t used; /* how many items and answers are in use */
    uint32_t details_used;
    struct op_type type;
    struct op_user user; /* the user of the next words, if the caller decoded it; else all zero */
    struct item items[LIMIT_BATCH_ITEMS];
    struct hot_answer answers[LIMIT_BATCH_ITEMS];
    struct hot_detail details[LIMIT_BATCH];
    char sentence[256];
    struct text wrong; /* the word that was refused last, or its beginning; callers may clear it */
    size_t subject; /* how many bytes of the sentence name it: "a user" of "a user must be …" */
};

static inline void op_scratch_clear(struct op_scratch *scratch)
{
    scratch->used = scratch->details_used = 0;
}

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
 * SET, ADD, COMMENT and SUBJECT_SET create the names they use (names_intern), after all their words are
 * decoded and all their names may be used. Any other operation with a name that does not exist is a request for
 * nothing. Before a name counts as absent, the back end of the names is asked, if there is one.
 */
enum status op_decode(const struct op_spec *spec, const struct text *args, uint32_t count,
                      struct names *names, uint32_t time_s, struct op_scratch *scratch,
                      struct hot_request *request);

/*
 * Limits a request about comments to subjects of these types (hot_detail_allows). The request was decoded
 * last with this scratch. Any other request is left as it is.
 */
void op_limit_types(struct op_scratch *scratch, const struct hot_request *request,
                    const struct names *names, const char *types);

/*
 * Makes a COUNTS that the server itself adds (hot_request.own), for an item that was decoded already.
 * The scratch must have room for one item.
 */
void op_make_counts(const struct item *item, uint32_t time_s, struct op_scratch *scratch,
                    struct hot_request *request);

#endif
