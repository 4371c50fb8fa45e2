/*
 * The two tables of names: item types, and kinds together with counters. (A kind has a counter of
 * the same name; therefore both share one table and can never be confused.) A name is
 * [a-z][a-z0-9_-]{0,31}. It gets a small index when a write uses it for the first time; memory and
 * journal contain this index. A name has one role for ever: a kind cannot become a plain counter.
 *
 * Finding a name takes no lock, and any thread may do it. Making a name takes a mutex. The recorder
 * is called under this mutex *before* other threads can see the index, so that the journal has the
 * definition of a name before its first use. Names are never removed; both tables are bounded
 * (limits.h).
 *
 * If several servers share their names, these tables are a copy, and a *back end* has all names. It
 * is asked for each name that the tables do not have. If the back end has no answer yet, it returns
 * BLOCKED, and later it wakes the caller, who then asks again. Without a back end nothing ever
 * blocks.
 *
 * An operator may list the names that writes can use (name_lists.h). Names that exist but are not
 * listed stay in the tables and are found; only writes with them are refused.
 */
#ifndef LAUD_BASE_NAMES_H
#define LAUD_BASE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/status.h"

enum name_role {
    NAME_TYPE = 1,    /* a type of items: video */
    NAME_KIND = 2,    /* a kind of reactions: like */
    NAME_COUNTER = 3, /* a counter that clients add to: view */
    NAME_KEPT = 4,    /* a counter that only the server changes: comment */
};

/* These names exist in every data directory. */
#define NAME_INDEX_LIKE    0
#define NAME_INDEX_COMMENT 1

struct name {
    char text[LIMIT_NAME_LENGTH + 1]; /* with a terminator */
    char bulk[LIMIT_NAME_LENGTH + 8]; /* "$4\r\nlike\r\n", ready for RESP replies */
    uint8_t length;
    uint8_t bulk_length;
    uint8_t role;
    uint8_t group; /* number of its group of exclusive kinds, from 1; 0: none; set at start */
    bool allowed;  /* do the lists allow writes with it? Set at start */
};

struct names;
struct name_lists;

/* Records a new name. A status other than OK refuses the name. */
typedef enum status names_record_fn(void *context, enum name_role role, uint16_t index,
                                    const char *text, size_t length);

struct names *names_new(void); /* has `like` and `comment` already; names_free frees it */
void names_free(struct names *names);
void names_set_recorder(struct names *names, names_record_fn *record, void *context);

/*
 * Sets the one observer, which is called at once for every name that exists, and later for every new
 * name before other threads can see it. Call it at start. The observer may not call names_….
 */
typedef void names_observe_fn(void *context, enum name_role role, uint16_t index, const char *text,
                              size_t length);
void names_observe(struct names *names, names_observe_fn *observer, void *context);

/*
 * The owner of all names. Any thread may call both functions, also several threads at once, and
 * neither function may wait. Before it answers OK, the back end puts the name and all names with
 * lower indices into the tables (names_restore). BLOCKED means that there is no answer yet: the
 * back end calls names_wake later and remembers the answer long enough for those who wait. Any
 * other status refuses the command that has the name.
 */
struct names_backend {
    /*
     * OK: the name is in its table now, or it does not exist. The role is NAME_TYPE or any other
     * role.
     */
    enum status (*find)(void *context, enum name_role role, const char *text, size_t length);
    /* OK: the name is in its table now, perhaps in another role. */
    enum status (*intern)(void *context, enum name_role role, const char *text, size_t length);
};

/*
 * Call it at start, before other threads use the names. The recorder is not called for names that a
 * back end has made.
 */
void names_set_backend(struct names *names, const struct names_backend *backend, void *context);

/*
 * Sets the function that names_wake calls; NULL: none. When names_listen returns, no call of the
 * previous function is running any more. Any thread may call.
 */
typedef void names_listen_fn(void *context);
void names_listen(struct names *names, names_listen_fn *listener, void *context);

/*
 * The back end calls this, from any thread, when a name that was BLOCKED can be asked for again.
 * The listener must not wait.
 */
void names_wake(struct names *names);

/*
 * The number of calls of names_wake. A caller reads it before it asks for a name. If the answer is
 * BLOCKED, it asks again as soon as the number has changed.
 */
uint64_t names_wakes(const struct names *names);

/*
 * Call it at start, before other threads use the names. From then on names_intern accepts only
 * names that the lists allow. The lists must have passed name_lists_check, and their texts must
 * outlive the names. NOT_A_KIND, NOT_A_COUNTER: a listed name exists already in the other role;
 * `sentence` says which one.
 */
enum status names_set_lists(struct names *names, const struct name_lists *lists, char *sentence,
                            size_t size);
const struct name_lists *names_lists(const struct names *names);

/* Call it at start, too: this kind belongs to this group of mutually exclusive kinds. */
void names_set_group(struct names *names, uint8_t index, uint8_t group);

/* Does this text have the form of a name? */
bool name_is_valid(const char *text, size_t length);

/*
 * The index of a type, or of a kind or counter (any role but NAME_TYPE); -1 if there is no such
 * name.
 */
int names_find_type(const struct names *names, const char *text, size_t length);
int names_find(const struct names *names, const char *text, size_t length);

/*
 * The same for a name that was not found: asks the back end, if there is one. OK: *index is as
 * above. BLOCKED, or any other status that says why there is no answer: *index is -1.
 */
enum status names_ask(struct names *names, enum name_role role, const char *text, size_t length,
                      int *index);

/*
 * Finds or makes a name for a write. BAD_ARGUMENT: the text is not a name. NOT_A_KIND,
 * NOT_A_COUNTER: the name exists or is listed in another role. NAME_NOT_LISTED and TABLE_FULL mean
 * what they say. Any other status, which may be BLOCKED, is from the recorder or the back end.
 */
enum status names_intern(struct names *names, enum name_role role, const char *text, size_t length,
                         uint16_t *index);

/*
 * The status that names_intern would return, without the recorder and the back end. It makes no
 * name.
 */
enum status names_test(const struct names *names, enum name_role role, const char *text,
                       size_t length);

/* Writes a sentence about a status of names_intern or names_test other than OK and BAD_ARGUMENT. */
void names_refusal(const struct names *names, enum status status, enum name_role role,
                   const char *text, size_t length, char *sentence, size_t size);

/* "type", "kind", "counter" or "reserved". */
const char *name_role_text(uint8_t role);

/* Remembers that a write used this type and this kind or counter. */
void names_note_use(struct names *names, uint16_t type, uint8_t name);

/* Restores a recorded name. DAMAGED: it contradicts the tables. */
enum status names_restore(struct names *names, enum name_role role, uint16_t index,
                          const char *text, size_t length);

/* The index must exist. */
const struct name *names_type(const struct names *names, uint16_t index);
const struct name *names_get(const struct names *names, uint8_t index);

/* What can be shown about a name. */
struct name_entry {
    const struct name *name;
    bool allowed; /* writes may use it */
    bool used;    /* a write has used it since the server started */
};

/*
 * The entry number `at` of a walk over both tables: first the types, then, from number `types` on,
 * kinds and counters, each table in the order of first use. `types` is the number of types when the
 * walk began; the tables may grow during the walk.
 */
struct name_entry names_entry(const struct names *names, size_t at, size_t types);

size_t names_type_count(const struct names *names);
size_t names_count(const struct names *names);

#endif
