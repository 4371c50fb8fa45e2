/*
 * Mutually exclusive kinds: setting one kind of a group clears the other kind of the group that is set,
 * in the same step. The groups come from the configuration. They are made once at the start and never
 * change, so any thread may read them.
 */
#ifndef LAUD_HOT_EXCLUSIVE_H
#define LAUD_HOT_EXCLUSIVE_H

#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/names.h"
#include "base/status.h"

struct exclusive_group {
    uint8_t count;
    uint8_t kinds[LIMIT_EXCLUSIVE];
};

struct exclusive {
    uint8_t group_of[256]; /* by kind: 0: it has no group; otherwise 1 + its index in `groups` */
    uint8_t group_count;
    struct exclusive_group groups[LIMIT_EXCLUSIVE_GROUPS];
};

/*
 * Reads a text such as "like,dislike; up,down" (groups are separated by ';', kinds by ','; spaces do not
 * matter), creates the kinds in `names` and enters their groups there. If the text is wrong, or does not
 * fit the names that exist, it creates no kind and writes one sentence about the problem to `sentence`,
 * which has `size` bytes.
 */
enum status exclusive_parse(struct exclusive *exclusive, const char *text, struct names *names,
                            char *sentence, size_t size);

/*
 * Checks the text by itself and against the lists of allowed names (NULL: there are no lists), but not
 * against the names of a server. Returns the same as exclusive_parse.
 */
enum status exclusive_check(const char *text, const struct name_lists *lists, char *sentence,
                            size_t size);

#endif
