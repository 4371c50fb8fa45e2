/*
 * The operator's lists of the names that may be used: --types, --kinds and --counters. Where one is
 * given, a write with a name that is not in it is refused; reading, clearing and removing go on. A
 * name in the list of kinds is no counter, also where any counter may be made, and the other way
 * round. `like` is always allowed.
 *
 * Read only, and any thread may ask.
 */
#ifndef LAUD_BASE_NAME_LISTS_H
#define LAUD_BASE_NAME_LISTS_H

#include "base/names.h"
#include "base/text.h"

/* Texts as they were given, names with commas between; they belong to someone else. */
struct name_lists {
    const char *texts[NAME_COUNTER + 1]; /* by enum name_role; NULL or empty: any name */
};

/* Is anything wrong with the texts, alone or together? Then `sentence` says what. */
enum status name_lists_check(const struct name_lists *lists, char *sentence, size_t size);

/* May a name be used in this role? OK, NAME_NOT_LISTED, NOT_A_KIND or NOT_A_COUNTER. */
enum status name_lists_allow(const struct name_lists *lists, enum name_role role, const char *text,
                             size_t length);

/* A name that may be used in this role, for an example: `usual`, or else the first of the list. */
struct text name_lists_example(const struct name_lists *lists, enum name_role role,
                               const char *usual);

/* How the option is called. */
const char *name_lists_option(enum name_role role);

/* The names of a list, for a sentence: as many as there is room for, and how many more there are. */
void name_lists_show(const struct name_lists *lists, enum name_role role, char *out, size_t size);

#endif
