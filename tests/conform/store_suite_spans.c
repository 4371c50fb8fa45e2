/* The two spans of a change: what is kept with a user, and what is kept with an item. */
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "spans.h"
#include "store_suite.h"

static void apply_user(struct store *store, struct store_reaction change)
{
    suite_apply(store, (struct store_changes){.user.reactions = &change, .user.reaction_count = 1});
}

static void apply_item(struct store *store, struct store_reaction change, int64_t added)
{
    const struct store_count count = {.item = change.item, .name = change.kind, .value = added};
    suite_apply(store, (struct store_changes){.item.reactions = &change,
                                              .item.reaction_count = 1,
                                              .item.counts = &count,
                                              .item.count_count = added != 0});
}

/* The time that the list of the user has for the reaction; 0: it is not on the list. */
static uint32_t time_by_user(struct store *store, struct store_reaction key)
{
    struct store_listed listed[8];
    size_t count;
    assert_int_equal(store_list_reactions(&store->reader, key.user, key.kind, key.item.type,
                                          (struct store_listed){0}, listed, 8, &count),
                     STATUS_OK);
    assert_true(count <= 1);
    return count == 0 ? 0 : listed[0].time_s;
}

static uint32_t time_by_item(struct store *store, struct store_reaction key)
{
    struct store_listed listed[8];
    size_t count;
    assert_int_equal(store_list_reactors(&store->reader, key.item, key.kind,
                                         (struct store_listed){0}, listed, 8, &count),
                     STATUS_OK);
    assert_true(count <= 1);
    return count == 0 ? 0 : listed[0].time_s;
}

static void expect_times(struct store *store, struct store_reaction key, uint32_t by_user,
                         uint32_t by_item)
{
    assert_int_equal(suite_time(store, key), by_user);
    assert_int_equal(time_by_user(store, key), by_user);
    assert_int_equal(time_by_item(store, key), by_item);
    assert_int_equal(suite_reactions(store), by_user != 0);
}

static void expect_damaged(struct store *store)
{
    struct store_report report;
    assert_int_equal(store_verify(&store->admin, NULL, NULL, &report), STATUS_DAMAGED);
    assert_true(report.problem[0] != '\0');
}

/* A reaction is set, replaced and cleared, its item's span always before its user's. */
void store_suite_spans_one_by_one(void **state)
{
    (void)state;
    struct store *store = store_suite_open();
    struct store_reaction like = suite_reaction(4, 7, NAME_INDEX_LIKE, 100);
    const struct store_count key = suite_count(7, NAME_INDEX_LIKE, 0);
    apply_item(store, like, 1);
    expect_times(store, like, 0, 100);
    assert_int_equal(suite_value(store, NULL, key), 1);
    expect_damaged(store);
    apply_user(store, like);
    expect_times(store, like, 100, 100);
    suite_verify(store);
    like.was_live = true;
    like.time_s = 200;
    apply_item(store, like, 0);
    expect_times(store, like, 100, 200);
    apply_user(store, like);
    expect_times(store, like, 200, 200);
    suite_verify(store);
    like.time_s = 0;
    apply_item(store, like, -1);
    expect_times(store, like, 200, 0);
    apply_user(store, like);
    expect_times(store, like, 0, 0);
    assert_int_equal(suite_value(store, NULL, key), 0);
    suite_verify(store);
    suite_done(store);
}

/* The user's span alone changes nothing that is kept with an item. */
void store_suite_spans_user_only(void **state)
{
    (void)state;
    struct store *store = store_suite_open();
    const struct store_reaction like = suite_reaction(4, 7, NAME_INDEX_LIKE, 100);
    struct store_reaction cleared = suite_reaction(4, 9, NAME_INDEX_LIKE, 0);
    cleared.cleared_s = 101;
    suite_apply(store, (struct store_changes){.user = {.reactions = &like,
                                                       .reaction_count = 1,
                                                       .transient = &cleared,
                                                       .transient_count = 1},
                                              .newest_s = 101});
    expect_times(store, like, 100, 0);
    assert_int_equal(suite_value(store, NULL, suite_count(7, NAME_INDEX_LIKE, 0)), 0);
    expect_damaged(store);
    struct store_listed listed[8];
    struct store_changed changed;
    assert_int_equal(store_list_changes(&store->reader, like.user, 1, (struct store_listed){0},
                                        listed, 8, &changed),
                     STATUS_OK);
    assert_int_equal(changed.count, 2);
    assert_false(listed[0].cleared);
    assert_true(listed[1].cleared);
    assert_int_equal(listed[1].time_s, 101);
    suite_done(store);
}

static enum status seen_token(void *context, const struct store_token *token)
{
    *(struct store_token *)context = *token;
    return STATUS_OK;
}

/* The item's span alone changes nothing that is kept with a user. */
void store_suite_spans_item_only(void **state)
{
    (void)state;
    struct store *store = store_suite_open();
    const struct store_reaction like = suite_reaction(4, 7, NAME_INDEX_LIKE, 100);
    const struct store_count views = suite_count(7, 9, 5);
    const struct store_token token = {.token = {1, 2}, .time_s = 100, .item = views.item};
    struct store_token seen = {.time_s = 0};
    suite_apply(
        store, (struct store_changes){
                   .item = {.counts = &views, .count_count = 1, .tokens = &token, .token_count = 1},
                   .newest_s = 100});
    assert_int_equal(suite_value(store, NULL, views), 5);
    const struct store_visitor visitor = {.token = seen_token, .context = &seen};
    assert_int_equal(store_visit(&store->admin, &visitor), STATUS_OK);
    assert_int_equal(seen.time_s, 100);
    assert_true(item_equal(seen.item, views.item));
    suite_verify(store);
    apply_item(store, like, 1);
    expect_times(store, like, 0, 100);
    struct store_reaction of_user;
    size_t count;
    assert_int_equal(store_list_user(&store->reader, like.user, &(struct store_reaction){0},
                                     &of_user, 1, &count),
                     STATUS_OK);
    assert_int_equal(count, 0);
    suite_done(store);
}

enum { ROWS = 300 };

/* Both spans in one change, as two arrays in opposite orders: the same as one array for both. */
void store_suite_spans_two_orders(void **state)
{
    (void)state;
    struct store *store = store_suite_open();
    struct store_reaction by_user[ROWS], by_item[ROWS];
    struct store_count counts[ROWS];
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < ROWS; i++) {
            /* Set in the first round; a third each is replaced, cleared or set again after it. */
            uint32_t time_s = (i + round) % 3 == 2 && round != 0 ? 0 : 10 * round + i % 7 + 1;
            by_user[i] = suite_reaction(i, i, NAME_INDEX_LIKE, time_s);
            uint32_t before_s = suite_time(store, by_user[i]);
            by_user[i].was_live = before_s != 0;
            counts[i] = suite_count(i, NAME_INDEX_LIKE, (int64_t)(time_s != 0) - (before_s != 0));
            by_item[ROWS - 1 - i] = by_user[i];
        }
        size_t changed = 0;
        for (uint32_t i = 0; i < ROWS; i++)
            if (counts[i].value != 0)
                counts[changed++] = counts[i];
        suite_apply(store,
                    (struct store_changes){.user = {.reactions = by_user, .reaction_count = ROWS},
                                           .item = {.reactions = by_item,
                                                    .reaction_count = ROWS,
                                                    .counts = counts,
                                                    .count_count = changed}});
        suite_verify(store);
        for (uint32_t i = 0; i < ROWS; i++)
            assert_int_equal(time_by_item(store, by_user[i]), by_user[i].time_s);
    }
    suite_done(store);
}
