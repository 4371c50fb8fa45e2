/*
 * The hottest items and users of the last seconds. Each I/O thread keeps random samples of what it
 * serves: of the half-window that runs (HOTKEYS_HALF_NS) and of the one before, each of a fixed size
 * however much is served, with how much it stands for. When asked, the samples of all threads are
 * counted, the older half by the part of it that the window still covers, and a min-heap keeps the
 * most frequent.
 *
 * Everything is as likely to be sampled, so a rate is unbiased. While a half has fewer uses than
 * there is room for, it is exact. Past that, with n samples, something with a share p of all uses is
 * found with a standard error of sqrt(p / n): n is at least HOTKEYS_SAMPLES / 2 of a busy half, so 1 %
 * is seen as 1 ± 0.22 %, and 10 % as 10 ± 0.7 %.
 *
 * A thread offers only to its own place, and never waits; any thread may ask. Time and the seed are
 * the caller's.
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
#define HOTKEYS_MAX     100                   /* ranks there are */
#define HOTKEYS_SAMPLES 4096                  /* of one half-window, over all threads */
#define HOTKEYS_LEAST   512                   /* of one thread, however many there are */
#define HOTKEYS_TEXT    (LIMIT_ITEM_TEXT + 1) /* a name, terminated */
#define HOTKEYS_KEEP_NS 100000000ULL          /* an answer is given again for so long */

struct hotkeys_rank {
    struct item item; /* a user's id with type 0 */
    double rate;      /* uses a second */
};

/* Hottest first. */
struct hotkeys_top {
    uint32_t item_count;
    uint32_t user_count;
    struct hotkeys_rank items[HOTKEYS_MAX];
    struct hotkeys_rank users[HOTKEYS_MAX];
};

struct hotkeys;

/* NULL: no memory in the budget. */
struct hotkeys *hotkeys_new(unsigned threads, uint64_t seed, uint64_t now_ns,
                            struct memory_budget *budget);
void hotkeys_free(struct hotkeys *hotkeys); /* NULL: does nothing */

/*
 * By the thread of this number: requests that were run. Bit i of `with_user`: operation i has a
 * user. All in all they have `items` items and `users` users.
 */
void hotkeys_offer(struct hotkeys *hotkeys, unsigned thread, const struct hot_request *requests,
                   uint32_t count, uint64_t with_user, uint64_t items, uint64_t users,
                   uint64_t now_ns);

/* OK or NO_MEMORY. */
enum status hotkeys_top(struct hotkeys *hotkeys, uint64_t now_ns, struct hotkeys_top *out);

/* As it is shown: whole uses a second, at least 1. */
uint64_t hotkeys_rate(const struct hotkeys_rank *rank);

/* "video:42", or for a user (names NULL) "7". */
void hotkeys_name(const struct hotkeys_rank *rank, const struct names *names,
                  char out[HOTKEYS_TEXT]);

#endif
