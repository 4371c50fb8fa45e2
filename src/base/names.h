/*
 * The two tables of names: item types, and kinds together with counters (a kind keeps the counter
 * of its own name, so they share one table and can never be confused). A name is
 * [a-z][a-z0-9_-]{0,31} and gets a small index on its first use in a write; the index is what
 * memory and journal hold. A name has one role for ever: a kind cannot become a plain counter.
 *
 * Finding is lock-free and may be called by any thread; making a name takes a mutex, and the
 * recorder is called under it *before* the index can be seen, so that in the journal a name's
 * definition precedes its use. Nothing is ever removed; both tables are bounded (limits.h).
 *
 * Where several servers share their names, the tables are a copy, and a *back end* has all names. It
 * is asked for a name that the tables do not have, and may have to wait for an answer itself: then it
 * answers BLOCKED, and wakes whoever waits when asking again is worth it. Without a back end nothing ever
 * blocks.
 *
 * An operator may say which names are to be used (name_lists.h). Those that are there all the same
 * stay, and are found; only what would write with them is refused.
 */
#ifndef LAUD_BASE_NAMES_H
#define LAUD_BASE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/status.h"

enum name_role {
    NAME_TYPE = 1,    /* of items: video */
    NAME_KIND = 2,    /* of reactions: like */
    NAME_COUNTER = 3, /* added to freely: view */
    NAME_KEPT = 4,    /* a counter kept by the server itself: comment */
};

/* Always there, in every data directory. */
#define NAME_INDEX_LIKE    0
#define NAME_INDEX_COMMENT 1

struct name {
    char text[LIMIT_NAME_LENGTH + 1]; /* terminated */
    char bulk[LIMIT_NAME_LENGTH + 8]; /* "$4\r\nlike\r\n": every reply carries it */
    uint8_t length;
    uint8_t bulk_length;
    uint8_t role;
    uint8_t group; /* of exclusive kinds: its number, from 1; 0: none. Set at start */
    bool allowed;  /* by the lists, for writes. Likewise */
};

struct names;
struct name_lists;

/* Says that a name was made; a status other than OK refuses it. */
typedef enum status names_record_fn(void *context, enum name_role role, uint16_t index,
                                    const char *text, size_t length);

struct names *names_new(void); /* holds like and comment */
void names_free(struct names *names);
void names_set_recorder(struct names *names, names_record_fn *record, void *context);

/*
 * What has all names. Any thread may call both functions, also several at once, and neither may wait.
 * Before it answers OK, the back end puts what it found or made, and all names with lower indices, into
 * the tables (names_restore). BLOCKED: the answer is not there yet; names_wake is called later, and an
 * answer is remembered for long enough that whoever waited gets it. Any other status refuses the command
 * that has the name.
 */
struct names_backend {
    /* OK: it is in its table now, or there is no such name. The role is NAME_TYPE, or any other. */
    enum status (*find)(void *context, enum name_role role, const char *text, size_t length);
    /* OK: it is in its table now, perhaps in another role. */
    enum status (*intern)(void *context, enum name_role role, const char *text, size_t length);
};

/* At start, before other threads use the names. The recorder is not called for names of a back end. */
void names_set_backend(struct names *names, const struct names_backend *backend, void *context);

/*
 * Whom names_wake calls; NULL: nobody. When this returns, no call of the listener before it is still
 * running. Any thread.
 */
typedef void names_listen_fn(void *context);
void names_listen(struct names *names, names_listen_fn *listener, void *context);

/* By the back end, from any thread: what was BLOCKED may be asked again. The listener must not wait. */
void names_wake(struct names *names);

/* How often names_wake was called. Who was BLOCKED after looking at this asks again when it differs. */
uint64_t names_wakes(const struct names *names);

/*
 * At start, before other threads use the names: from here on only what the lists allow is taken by
 * names_intern. The lists, whose texts outlive the names, are good in themselves (name_lists_check).
 * NOT_A_KIND, NOT_A_COUNTER: a name is there already, in the other role than a list says; `sentence`
 * has which.
 */
enum status names_set_lists(struct names *names, const struct name_lists *lists, char *sentence,
                            size_t size);
const struct name_lists *names_lists(const struct names *names);

/* At start as well: the kind is one of this group of exclusive ones. */
void names_set_group(struct names *names, uint8_t index, uint8_t group);

/* Is this text a name at all? */
bool name_is_valid(const char *text, size_t length);

/*
 * Index of a type, or of a kind or counter (any role but NAME_TYPE); -1 if there is none.
 */
int names_find_type(const struct names *names, const char *text, size_t length);
int names_find(const struct names *names, const char *text, size_t length);

/*
 * The same for a name that was not found just now: asks the back end, if there is one. OK: *index is as
 * above. BLOCKED, or why it cannot be told: *index is -1.
 */
enum status names_ask(struct names *names, enum name_role role, const char *text, size_t length,
                      int *index);

/*
 * Finds or makes, for a write. BAD_ARGUMENT: not a name. NOT_A_KIND, NOT_A_COUNTER: there already, or
 * listed, in another role. NAME_NOT_LISTED, TABLE_FULL, or what the recorder or the back end said, which
 * may be BLOCKED.
 */
enum status names_intern(struct names *names, enum name_role role, const char *text, size_t length,
                         uint16_t *index);

/* What names_intern would say, but for the recorder and the back end; nothing is made. */
enum status names_test(const struct names *names, enum name_role role, const char *text,
                       size_t length);

/* A sentence about what names_intern or names_test said, other than OK and BAD_ARGUMENT. */
void names_refusal(const struct names *names, enum status status, enum name_role role,
                   const char *text, size_t length, char *sentence, size_t size);

/* "type", "kind", "counter" or "reserved". */
const char *name_role_text(uint8_t role);

/* A write names these. */
void names_note_use(struct names *names, uint16_t type, uint8_t name);

/* Puts back a recorded name. DAMAGED if it contradicts what is there. */
enum status names_restore(struct names *names, enum name_role role, uint16_t index,
                          const char *text, size_t length);

/* The index must exist. */
const struct name *names_type(const struct names *names, uint16_t index);
const struct name *names_get(const struct names *names, uint8_t index);

/* All there is to tell of a name. */
struct name_entry {
    const struct name *name;
    bool allowed; /* writes may name it */
    bool used;    /* one has, since the server started */
};

/*
 * Walks over both tables, which were of `types` types when the walk began and may grow meanwhile: the
 * types first, then, from that number on, kinds and counters. Each in the order of their first use.
 */
struct name_entry names_entry(const struct names *names, size_t at, size_t types);

size_t names_type_count(const struct names *names);
size_t names_count(const struct names *names);

#endif
