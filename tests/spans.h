/* For tests: the members of a struct store_changes that say the same reactions in both spans. */
#ifndef LAUD_SPANS_H
#define LAUD_SPANS_H

#include "store/store.h"

#define BOTH_SPANS(array, length)                                                                  \
    .user.reactions = (array), .user.reaction_count = (length), .item.reactions = (array),         \
    .item.reaction_count = (length)

#endif
