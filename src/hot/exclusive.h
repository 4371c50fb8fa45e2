/*
 * Mutually exclusive kinds: setting one clears whichever other of its group is live, in the same
 * step. Groups come from the configuration, are made once at start and never change after.
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
    uint8_t group_of[256]; /* 0: none, else 1 + index in groups */
    uint8_t group_count;
    struct exclusive_group groups[LIMIT_EXCLUSIVE_GROUPS];
};

/*
 * Reads "like,dislike; up,down" (groups separated by ';', kinds by ','; spaces do not matter) and
 * makes the kinds in `names`, which know their groups from then on, or none of them if anything is
 * wrong with the text beside the names there are. On failure, one sentence saying what is wrong is written to `sentence`, of `size` bytes.
 */
enum status exclusive_parse(struct exclusive *exclusive, const char *text, struct names *names,
                            char *sentence, size_t size);

/*
 * Is anything wrong with the text itself, beside these lists of names (NULL: there are none) and
 * whatever names there are? Likewise.
 */
enum status exclusive_check(const char *text, const struct name_lists *lists, char *sentence,
                            size_t size);

#endif
