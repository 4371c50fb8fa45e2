/*
 * The two tables of names: item types, and kinds together with counters (a kind keeps the counter
 * of its own name, so they share one table and can never be confused). A name is
 * [a-z][a-z0-9_-]{0,31} and gets a small index on its first use in a write; the index is what
 * memory and journal hold. A name has one role for ever: a kind cannot become a plain counter.
 *
 * Finding is lock-free and may be called by any thread; making a name takes a mutex, and the
 * recorder is called under it *before* the index can be seen, so that in the journal a name's
 * definition precedes its use. Nothing is ever removed; both tables are bounded (limits.h).
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
};

struct names;

/* Says that a name was made; a status other than OK refuses it. */
typedef enum status names_record_fn(void *context, enum name_role role, uint16_t index,
                                    const char *text, size_t length);

struct names *names_new(void); /* holds like and comment */
void names_free(struct names *names);
void names_set_recorder(struct names *names, names_record_fn *record, void *context);

/* Is this text a name at all? */
bool name_is_valid(const char *text, size_t length);

/*
 * Index of a type, or of a kind or counter (any role but NAME_TYPE); -1 if there is none.
 */
int names_find_type(const struct names *names, const char *text, size_t length);
int names_find(const struct names *names, const char *text, size_t length);

/*
 * Finds or makes. BAD_ARGUMENT: not a name. NOT_A_KIND, NOT_A_COUNTER: there already, in another
 * role. TABLE_FULL, or what the recorder said.
 */
enum status names_intern(struct names *names, enum name_role role, const char *text, size_t length,
                         uint16_t *index);

/* Puts back a recorded name. DAMAGED if it contradicts what is there. */
enum status names_restore(struct names *names, enum name_role role, uint16_t index,
                          const char *text, size_t length);

/* The index must exist. */
const struct name *names_type(const struct names *names, uint16_t index);
const struct name *names_get(const struct names *names, uint8_t index);

size_t names_type_count(const struct names *names);
size_t names_count(const struct names *names);

#endif
