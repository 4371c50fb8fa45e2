/*
 * What every hot tier must do, whatever it is made of, as far as its port shows it. A test program has
 * one struct hot_suite_tier for each tier it can open, sets `hot_suite_tier` and runs HOT_SUITE.
 *
 * The tests compare the tier with models that are too simple to be wrong, and let things happen to it
 * that no client may notice: the store lags, what the store has is evicted, and after a restart the
 * store is back at its last flush.
 */
#ifndef LAUD_CONFORM_HOT_SUITE_H
#define LAUD_CONFORM_HOT_SUITE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "chance.h"
#include "hot/exclusive.h"
#include "hot/hot.h"

/* How a tier is opened. It may ignore the first two, which only say how much it should evict. */
struct hot_suite_options {
    uint32_t shelf_max;     /* reactions of a user, kind and type that it should keep in memory */
    uint32_t board_entries; /* items of a board, likewise; 0: as usual */
    uint32_t token_ttl_s;
    uint32_t changes_ttl_s;
    uint64_t seed;
    const struct exclusive *exclusive; /* may change until the tier is closed */
};

/* A kind of hot tier. The tier it opens belongs to the test. */
struct hot_suite_tier {
    const char *name;
    bool has_store;
    void *(*open)(const struct hot_suite_options *options); /* new and empty */
    struct hot *(*hot)(void *tier);                         /* another one after a restart */
    /* Runs one request that hot_try did not, and waits for it. It is admitted. */
    void (*run)(void *tier, struct hot_request *request, struct hot_scratch *scratch);
    /* When this returns, the store has everything that was decided. */
    void (*settle)(void *tier);
    /* Ends the tier as a crash does, with everything recorded, and opens it again. */
    void (*restart)(void *tier, uint32_t now_s);
    /* One thing, or nothing, that no client may notice; with a chance of 1 in `odds` a restart. */
    void (*disturb)(void *tier, struct chance *chance, uint32_t odds, uint32_t now_s);
    /* The store is made anew from all events, in other windows; NULL: the tier has no such store. */
    void (*project_again)(void *tier, struct chance *chance, uint32_t now_s);
    struct store_admin *(*admin)(void *tier); /* of the store */
    void (*close)(void *tier);
};

extern const struct hot_suite_tier *hot_suite_tier;

/* One tier that is tested, with the helpers below, which assert that the status is OK if they return none. */
struct suite {
    void *tier;
    struct hot_scratch scratch; /* has the answer until the next call */
};

struct hot_suite_options suite_options(void);
struct suite suite_open(struct hot_suite_options options);
void suite_close(struct suite *suite);
void suite_settle(struct suite *suite);
void suite_restart(struct suite *suite, uint32_t now_s);
void suite_disturb(struct suite *suite, struct chance *chance, uint32_t odds, uint32_t now_s);

/* Requests in order: as many as can with hot_try, then one that waits, and so on. */
void suite_run(struct suite *suite, struct hot_request *requests, size_t count);

/* SET or CLEAR: did it change anything? */
bool suite_change(struct suite *suite, enum hot_action action, struct id user, uint8_t kind,
                  struct item item, uint32_t time_s);
/* ADD; *value is the new value. Token 0: none. */
enum status suite_add(struct suite *suite, struct item item, uint8_t name, int64_t delta,
                      uint64_t token, uint32_t time_s, int64_t *value);
/* FEED and COUNTS of up to LIMIT_FEED_ITEMS items. */
void suite_feed(struct suite *suite, struct id user, const struct item *items, uint32_t count,
                struct hot_answer *answers);
int64_t suite_count(struct suite *suite, struct item item, uint8_t name);

/* What a list answered; the entries are in the scratch. */
struct suite_page {
    const struct store_listed *listed;
    uint32_t count;
    bool more;
};
enum status suite_reactions(struct suite *suite, struct id user, uint8_t kind, uint16_t type,
                            struct store_listed after, uint32_t limit, struct suite_page *page);
enum status suite_reactors(struct suite *suite, struct item item, uint8_t kind,
                           struct store_listed after, uint32_t limit, struct suite_page *page);
enum status suite_friends(struct suite *suite, struct id user, uint8_t follow, uint16_t type,
                          struct item item, uint8_t kind, uint32_t limit, struct suite_page *page);

/* What a client's cursor of CHANGES has; all 0: it starts. */
struct suite_round {
    uint32_t since_s;
    uint32_t until_s;
    struct store_listed after;
};
enum status suite_changes(struct suite *suite, struct id user, struct suite_round *round,
                          uint32_t limit, struct suite_page *page);

/* FORGET of a user, or DROP of an item. */
enum status suite_forget(struct suite *suite, struct id user, uint32_t limit, uint32_t time_s,
                         uint32_t *removed, bool *more);
enum status suite_drop(struct suite *suite, struct item item, uint32_t limit, uint32_t time_s,
                       uint32_t *removed, bool *more);

/* TOP of all time; the answer is scratch.ranked[0 … *count). */
enum status suite_top(struct suite *suite, uint16_t type, uint8_t name, uint32_t limit,
                      uint32_t *count);

uint64_t suite_operations(uint64_t usual); /* fewer under sanitizers, or LAUD_OPS */

/* Every third is a UUID. Wide ids share lower halves with narrow ones and with each other. */
static inline struct id suite_id(uint32_t number)
{
    if (number % 3 != 2)
        return (struct id){.lo = 1000 + number};
    return (struct id){.hi = 0x5000 + number, .lo = 1000 + number / 6};
}

/* Of two types and both widths; odd ones are of type 1. */
static inline struct item suite_item(uint32_t number)
{
    return (struct item){.id = suite_id(number / 2), .type = number % 2 ? 1 : 700};
}

/* The type of comments, the kinds that count as dislike and report, and a time at which ids can be made. */
enum {
    SUITE_COMMENT_TYPE = 3,
    SUITE_DISLIKE = 2,
    SUITE_REPORT = 3,
    SUITE_COMMENT_TIME = 1790000000
};

#define HOT_SUITE_TESTS(TEST)                                                                      \
    TEST(hot_suite_property_tiny)                                                                  \
    TEST(hot_suite_property_usual)                                                                 \
    TEST(hot_suite_property_late_group)                                                            \
    TEST(hot_suite_lists)                                                                          \
    TEST(hot_suite_friends_of_many)                                                                \
    TEST(hot_suite_friends)                                                                        \
    TEST(hot_suite_friends_bounds)                                                                 \
    TEST(hot_suite_lists_need_a_store)                                                             \
    TEST(hot_suite_changes)                                                                        \
    TEST(hot_suite_changes_tell_what_passed)                                                       \
    TEST(hot_suite_removal)                                                                        \
    TEST(hot_suite_removal_of_many)                                                                \
    TEST(hot_suite_removal_of_any_value)                                                           \
    TEST(hot_suite_boards)                                                                         \
    TEST(hot_suite_boards_extremes)                                                                \
    TEST(hot_suite_comments_states)                                                                \
    TEST(hot_suite_comments_property)                                                              \
    TEST(hot_suite_comments_windows)                                                               \
    TEST(hot_suite_comments_pages)                                                                 \
    TEST(hot_suite_comments_at)                                                                    \
    TEST(hot_suite_comments_refusals)                                                              \
    TEST(hot_suite_comments_many)                                                                  \
    TEST(hot_suite_comments_thread)                                                                \
    TEST(hot_suite_comments_own)                                                                   \
    TEST(hot_suite_comments_versions)                                                              \
    TEST(hot_suite_comments_inbox)                                                                 \
    TEST(hot_suite_comments_bans)                                                                  \
    TEST(hot_suite_comments_pins)

#define HOT_SUITE_DECLARE(name) void name(void **state);
HOT_SUITE_TESTS(HOT_SUITE_DECLARE)
#undef HOT_SUITE_DECLARE

#define HOT_SUITE_ENTRY(name) cmocka_unit_test(name),
#define HOT_SUITE             HOT_SUITE_TESTS(HOT_SUITE_ENTRY)

#endif
