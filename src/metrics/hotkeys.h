/*
 * The hottest items and users of the last seconds. Each I/O thread keeps random samples of the items
 * and users of its requests: one of the current half-window (HOTKEYS_HALF_NS) and one of the
 * half-window before. A sample has a fixed size, and the number of uses that it represents. To answer
 * a question, the samples of all threads are counted, the older half weighted by the fraction of it
 * that the window still covers, and a min-heap keeps the most frequent.
 *
 * Each use has the same chance to be sampled, so a rate is unbiased. While a half has fewer uses than
 * the sample has room for, it is exact. Beyond that, with n samples, something with a share p of all
 * uses is found with a standard error of sqrt(p / n): n is at least HOTKEYS_SAMPLES / 2 of a busy
 * half, so 1 % is seen as 1 ± 0.22 %, and 10 % as 10 ± 0.7 %.
 *
 * A thread offers only to its own samples, and never waits. Any thread may ask. The caller passes in
 * the time and the seed.
 */
#ifndef LAUD_METRICS_HOTKEYS_H
#define LAUD_METRICS_HOTKEYS_H

#include <stdint.h>

#include "base/id.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/names.h"
#include "base/status.h"
#include "hot/hot.h"

#define HOTKEYS_HALF_NS 5000000000ULL
#define HOTKEYS_MAX     100                   /* how many ranks there are */
#define HOTKEYS_SAMPLES 4096                  /* samples of one half-window, over all threads */
#define HOTKEYS_LEAST   512                   /* but at least so many for each thread */
#define HOTKEYS_TEXT    (LIMIT_ITEM_TEXT + 1) /* a name with its terminator */
#define HOTKEYS_KEEP_NS 100000000ULL          /* for so long an answer is given again */

struct hotkeys_rank {
    struct item item; /* for a user: the user's id, with type 0 */
    double rate;      /* uses a second */
};

/* Both lists begin with the hottest. */
struct hotkeys_top {
    uint32_t item_count;
    uint32_t user_count;
    struct hotkeys_rank items[HOTKEYS_MAX];
    struct hotkeys_rank users[HOTKEYS_MAX];
};

struct hotkeys;

/* NULL: there is no memory in the budget. */
struct hotkeys *hotkeys_new(unsigned threads, uint64_t seed, uint64_t now_ns,
                            struct memory_budget *budget);

/* Does nothing if it is NULL. */
void hotkeys_free(struct hotkeys *hotkeys);

/*
 * Offers requests that were run. Only the thread with this number may call it. Bit i of `with_user`:
 * operation i has a user. The requests have `items` items and `users` users in total.
 */
void hotkeys_offer(struct hotkeys *hotkeys, unsigned thread, const struct hot_request *requests,
                   uint32_t count, uint64_t with_user, uint64_t items, uint64_t users,
                   uint64_t now_ns);

/* Writes the hottest items and users to *out. OK or NO_MEMORY. */
enum status hotkeys_top(struct hotkeys *hotkeys, uint64_t now_ns, struct hotkeys_top *out);

/* The rate as it is shown: whole uses a second, at least 1. */
uint64_t hotkeys_rate(const struct hotkeys_rank *rank);

/* Writes the name: "video:42", or for a user (names is NULL) "7". */
void hotkeys_name(const struct hotkeys_rank *rank, const struct names *names,
                  char out[HOTKEYS_TEXT]);

#endif
