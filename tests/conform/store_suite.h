/*
 * What every store must do, whatever it is made of. A test program opens its own kind of store,
 * names it in `store_suite_open`, and runs STORE_SUITE.
 */
#ifndef LAUD_CONFORM_STORE_SUITE_H
#define LAUD_CONFORM_STORE_SUITE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "store/store.h"

/* A new, empty store; it is closed with store_close, then store_suite_closed is called. */
struct store *store_suite_open(void);
void store_suite_closed(void);
/* Closes a flushed store and opens it again. A store that keeps nothing is returned as it is. */
struct store *store_suite_reopen(struct store *store);

/* store_support.c: one change at a time. Each moves the position by one and must succeed. */
struct store_reaction suite_reaction(uint64_t user, uint64_t item, uint8_t kind, uint32_t time_s);
struct store_count suite_count(uint64_t item, uint8_t name, int64_t value);
struct store_name suite_name(uint8_t role, uint16_t index, const char *text);
void suite_apply(struct store *store, struct store_changes changes);
void suite_react(struct store *store, struct store_reaction change);
void suite_add(struct store *store, struct store_count change);
uint32_t suite_time(struct store *store, struct store_reaction key);
int64_t suite_value(struct store *store, const struct store_snapshot *snapshot,
                    struct store_count key);
uint64_t suite_reactions(struct store *store);
uint64_t suite_seed(void); /* of LAUD_SEED or the time; printed */
void suite_done(struct store *store);

/* All that a store holds, as sorted lines of text; the caller frees it. */
char *suite_dump(struct store *store);
void suite_verify(struct store *store);

#define STORE_SUITE_TESTS(TEST)                                                                    \
    TEST(store_suite_empty)                                                                        \
    TEST(store_suite_reactions)                                                                    \
    TEST(store_suite_replace)                                                                      \
    TEST(store_suite_claims)                                                                       \
    TEST(store_suite_keys_are_exact)                                                               \
    TEST(store_suite_one_bit)                                                                      \
    TEST(store_suite_counts)                                                                       \
    TEST(store_suite_zero_counts_vanish)                                                           \
    TEST(store_suite_sums_wrap)                                                                    \
    TEST(store_suite_many_names)                                                                   \
    TEST(store_suite_read_items_appends)                                                           \
    TEST(store_suite_position)                                                                     \
    TEST(store_suite_flush)                                                                        \
    TEST(store_suite_names)                                                                        \
    TEST(store_suite_tokens)                                                                       \
    TEST(store_suite_snapshot)                                                                     \
    TEST(store_suite_visit_stops)                                                                  \
    TEST(store_suite_visit_parts)                                                                  \
    TEST(store_suite_verify_counts)                                                                \
    TEST(store_suite_verify_finds)                                                                 \
    TEST(store_suite_large_batch)                                                                  \
    TEST(store_suite_hot_item)                                                                     \
    TEST(store_suite_lists_order)                                                                  \
    TEST(store_suite_lists_ends)                                                                   \
    TEST(store_suite_lists_gone)                                                                   \
    TEST(store_suite_lists_user)                                                                   \
    TEST(store_suite_lists_pages)                                                                  \
    TEST(store_suite_changes_few)                                                                  \
    TEST(store_suite_changes_horizon)                                                              \
    TEST(store_suite_changes_model)                                                                \
    TEST(store_suite_changes_many_lists)                                                           \
    TEST(store_suite_spans_one_by_one)                                                             \
    TEST(store_suite_spans_user_only)                                                              \
    TEST(store_suite_spans_item_only)                                                              \
    TEST(store_suite_spans_two_orders)                                                             \
    TEST(store_suite_model)                                                                        \
    TEST(store_suite_any_batching)                                                                 \
    TEST(store_suite_threads)                                                                      \
    TEST(store_suite_rows_few)                                                                     \
    TEST(store_suite_rows_lengths)                                                                 \
    TEST(store_suite_rows_scan)                                                                    \
    TEST(store_suite_rows_scan_reverse)                                                            \
    TEST(store_suite_rows_scan_bytes)                                                              \
    TEST(store_suite_rows_position)                                                                \
    TEST(store_suite_rows_visit)                                                                   \
    TEST(store_suite_rows_tokens)                                                                  \
    TEST(store_suite_rows_model)                                                                   \
    TEST(store_suite_rows_large_batch)                                                             \
    TEST(store_suite_rows_crowded)                                                                 \
    TEST(store_suite_rows_threads)

#define STORE_SUITE_DECLARE(name) void name(void **state);
STORE_SUITE_TESTS(STORE_SUITE_DECLARE)
#undef STORE_SUITE_DECLARE

#define STORE_SUITE_ENTRY(name) cmocka_unit_test(name),
#define STORE_SUITE             STORE_SUITE_TESTS(STORE_SUITE_ENTRY)

#endif
