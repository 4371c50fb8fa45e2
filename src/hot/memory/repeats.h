/*
 * Repeated texts: has the same user just posted the same text on the same item? A table of fixed size
 * remembers a hash of 128 bits and the id of the first comment for each text of the last `window_s` seconds. It
 * is empty after a start. If more texts are posted in this time than there is room for, the oldest are
 * replaced, and a repetition of those is accepted.
 *
 * Times are recorded times, given by the caller. Any thread may call. Whoever looks for a text and then adds
 * it holds the lock of the item's shard meanwhile, so that of two posts of the same text the second one is refused.
 */
#ifndef LAUD_HOT_MEMORY_REPEATS_H
#define LAUD_HOT_MEMORY_REPEATS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/id.h"
#include "base/memory.h"
#include "base/text.h"

#define REPEAT_LOCKS     64
#define REPEAT_BYTES_MIN KIB(64)
#define REPEAT_BYTES_MAX MIB(4)

struct repeat_set;

struct repeats {
    struct memory_budget *budget;
    uint64_t seed;
    uint32_t window_s;  /* 0: repetitions are accepted, and there is no table */
    uint32_t set_count; /* a power of two */
    struct repeat_set *sets;
    pthread_mutex_t locks[REPEAT_LOCKS];
};

/* What identifies a text: user, item and bytes. */
struct repeat_key {
    uint64_t hash[2];
};

/*
 * The table gets about `bytes`, which are charged to the budget; 0: 1/256 of the budget, within the bounds
 * above. False: no memory. With window_s 0 nothing is allocated.
 */
bool repeats_init(struct repeats *repeats, struct memory_budget *budget, uint64_t seed,
                  uint32_t window_s, uint64_t bytes);
void repeats_destroy(struct repeats *repeats);

/* `item` is what the user has named: the subject, or the comment that is answered. */
struct repeat_key repeats_key(const struct repeats *repeats, struct id user, struct item item,
                              struct text text);

/* The comment with this text that was posted less than window_s ago; COMMENT_NONE: there is none. */
uint64_t repeats_find(struct repeats *repeats, const struct repeat_key *key, uint32_t now_s);

/* The comment was posted with this text. */
void repeats_add(struct repeats *repeats, const struct repeat_key *key, uint64_t comment,
                 uint32_t now_s);

#endif
