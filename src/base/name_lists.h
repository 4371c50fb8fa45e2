/*
 * The lists of names that the operator allows: --types, --kinds and --counters. If a list is given,
 * a write with a name that is not in the list is refused; reading, clearing and removing are still
 * possible. A name in the list of kinds cannot become a counter, even if all counters are allowed,
 * and a name in the list of counters cannot become a kind. `like` is always allowed.
 *
 * The lists never change while the server runs, so any thread may call.
 */
#ifndef LAUD_BASE_NAME_LISTS_H
#define LAUD_BASE_NAME_LISTS_H

#include "base/names.h"
#include "base/text.h"

/* The texts as the operator gave them, with commas between the names. They belong to the caller. */
struct name_lists {
    const char *texts[NAME_COUNTER + 1]; /* by enum name_role; NULL or "": all names are allowed */
};

/*
 * Checks each text, and that they do not contradict each other. If the result is not OK, `sentence`
 * says why.
 */
enum status name_lists_check(const struct name_lists *lists, char *sentence, size_t size);

/* May a name be used in this role? OK, NAME_NOT_LISTED, NOT_A_KIND or NOT_A_COUNTER. */
enum status name_lists_allow(const struct name_lists *lists, enum name_role role, const char *text,
                             size_t length);

/*
 * A name that may be used in this role, for an example in a message: `usual` if it is allowed,
 * otherwise the first name of the list.
 */
struct text name_lists_example(const struct name_lists *lists, enum name_role role,
                               const char *usual);

/* The name of the option that has this list. */
const char *name_lists_option(enum name_role role);

/* Writes the names of a list for a sentence: as many as fit, and then how many more there are. */
void name_lists_show(const struct name_lists *lists, enum name_role role, char *out, size_t size);

#endif
