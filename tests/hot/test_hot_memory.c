#include "support.h"

enum { LIKE = NAME_INDEX_LIKE, DISLIKE = 2, LOVE = 3, VIEW = 9 };

static const struct exclusive groups = {
    .group_of = {[LIKE] = 1, [DISLIKE] = 1, [LOVE] = 1},
    .group_count = 1,
    .groups = {{.count = 3, .kinds = {LIKE, DISLIKE, LOVE}}},
};

static void test_only_a_change_is_recorded(void **state)
{
    (void)state;
    struct bed bed;
    struct id user = id_number(1);
    struct item item = item_number(4);
    bed_open(&bed, MIB(64), bed_options());
    assert_int_equal(bed_change(&bed, HOT_CLEAR, user, LIKE, item, 10), 0);
    assert_int_equal(bed_change(&bed, HOT_SET, user, LIKE, item, 11), 1);
    assert_int_equal(bed_change(&bed, HOT_SET, user, LIKE, item, 12), 0);
    assert_int_equal(bed_count(&bed, item, LIKE), 1);
    assert_int_equal(bed_change(&bed, HOT_CLEAR, user, LIKE, item, 13), 1);
    assert_int_equal(bed_change(&bed, HOT_CLEAR, user, LIKE, item, 14), 0);
    assert_int_equal(bed_count(&bed, item, LIKE), 0);
    assert_int_equal(bed.recorder.count, 2);
    const struct event *set = &bed.recorder.events[0];
    assert_int_equal(set->type, EVENT_SET);
    assert_int_equal(set->time_s, 11);
    assert_int_equal(set->name, LIKE);
    assert_true(id_equal(set->user, user) && item_equal(set->item, item));
    assert_int_equal(set->cleared_count, 0);
    assert_int_equal(bed.recorder.events[1].type, EVENT_CLEAR);
    bed_close(&bed);
}

static void test_one_event_clears_and_sets(void **state)
{
    (void)state;
    struct bed bed;
    struct hot_memory_options options = bed_options();
    options.exclusive = &groups;
    struct id user = id_number(2);
    struct item item = item_number(4);
    bed_open(&bed, MIB(64), options);
    assert_int_equal(bed_change(&bed, HOT_SET, user, DISLIKE, item, 10), 1);
    assert_int_equal(bed_change(&bed, HOT_SET, user, LIKE, item, 11), 1);
    assert_int_equal(bed.recorder.count, 2);
    const struct event *event = &bed.recorder.events[1];
    assert_int_equal(event->cleared_count, 1);
    assert_int_equal(event->cleared[0], DISLIKE);
    assert_false(bed_ask(&bed, user, DISLIKE, item));
    assert_true(bed_ask(&bed, user, LIKE, item));
    assert_int_equal(bed_count(&bed, item, DISLIKE), 0);
    assert_int_equal(bed_count(&bed, item, LIKE), 1);
    bed_close(&bed);
}

/* A like that only the store has is still found, still exclusive, and cleared there in time. */
static void test_what_is_in_the_store_counts(void **state)
{
    (void)state;
    struct bed bed;
    struct hot_memory_options options = bed_options();
    options.exclusive = &groups;
    options.shelf_max = 4;
    struct id user = id_number(2);
    bed_open_stored(&bed, MIB(64), options);
    for (uint64_t id = 1; id <= 20; id++) {
        assert_int_equal(
            bed_change(&bed, HOT_SET, user, LIKE, (struct item){.id = {.lo = id}}, (uint32_t)id),
            1);
        bed_project_all(&bed);
    }
    assert_in_range(bed_stats(&bed).reactions, 4, 8);
    struct item first = {.id = {.lo = 1}};
    struct store_reaction key = {.user = user, .item = first, .kind = LIKE};
    assert_int_equal(store_read_reactions(&bed.store->reader, &key, 1), STATUS_OK);
    assert_int_equal(key.time_s, 1);
    assert_true(bed_ask(&bed, user, LIKE, first));
    assert_int_equal(bed_change(&bed, HOT_SET, user, LIKE, first, 20), 0);
    assert_int_equal(bed_change(&bed, HOT_SET, user, DISLIKE, first, 21), 1);
    assert_int_equal(bed.recorder.events[20].cleared[0], LIKE);
    assert_false(bed_ask(&bed, user, LIKE, first));
    struct item second = {.id = {.lo = 2}};
    assert_int_equal(bed_change(&bed, HOT_CLEAR, user, LIKE, second, 22), 1);
    assert_int_equal(bed_change(&bed, HOT_CLEAR, user, LIKE, second, 23), 0);
    assert_int_equal(bed_count(&bed, second, LIKE), 0);
    bed_project_all(&bed);
    assert_int_equal(store_read_reactions(&bed.store->reader, &key, 1), STATUS_OK);
    assert_int_equal(key.time_s, 0);
    assert_int_equal(bed_change(&bed, HOT_CLEAR, user, LIKE, second, 24), 0);
    assert_int_equal(bed_change(&bed, HOT_SET, user, LIKE, second, 25), 1);
    bed_close(&bed);
}

static void test_ids_that_differ_in_one_half(void **state)
{
    (void)state;
    struct bed bed;
    bed_open(&bed, MIB(64), bed_options());
    const struct id ids[] = {{0, 5}, {5, 5}, {6, 5}, {5, 0}, {5, 6}};
    for (size_t u = 0; u < 5; u++)
        for (size_t i = 0; i < 5; i++)
            assert_int_equal(bed_change(&bed, HOT_SET, ids[u], LIKE,
                                        (struct item){.id = ids[i], .type = (uint16_t)i}, 1),
                             1);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(bed_count(&bed, (struct item){.id = ids[i], .type = (uint16_t)i}, LIKE),
                         5);
        assert_int_equal(bed_count(&bed, (struct item){.id = ids[i], .type = 40}, LIKE), 0);
        assert_false(bed_ask(&bed, ids[i], LIKE, (struct item){.id = ids[i], .type = 40}));
    }
    bed_close(&bed);
}

static void test_feed_of_a_page_with_repeats(void **state)
{
    (void)state;
    struct bed bed;
    struct id user = id_number(1);
    bed_open(&bed, MIB(64), bed_options());
    for (uint32_t number = 0; number < 60; number += 2)
        assert_int_equal(bed_change(&bed, HOT_SET, user, LIKE, item_number(number), 1), 1);
    for (uint32_t count = 1; count <= LIMIT_FEED_ITEMS; count += 11) {
        struct item items[LIMIT_FEED_ITEMS];
        struct hot_answer answers[LIMIT_FEED_ITEMS];
        struct hot_request request = {.action = HOT_FEED,
                                      .user = user,
                                      .items = items,
                                      .item_count = count,
                                      .time_s = 2,
                                      .read.answers = answers};
        for (uint32_t i = 0; i < count; i++)
            items[i] = item_number(i % 70);
        assert_int_equal(bed_run(&bed, &request), STATUS_OK);
        for (uint32_t i = 0; i < count; i++) {
            bool liked = i % 70 < 60 && i % 70 % 2 == 0;
            assert_int_equal(kind_set_has(&answers[i].kinds, LIKE), liked);
            assert_int_equal(answers[i].count, liked ? 1 : 0);
        }
    }
    bed_close(&bed);
}

/* Emptied shelves are taken back into use for other kinds and types. */
static void test_shelves_come_and_go(void **state)
{
    (void)state;
    struct bed bed;
    struct id user = id_number(5);
    struct hot_stats stats;
    bed_open(&bed, MIB(64), bed_options());
    for (uint32_t round = 0; round < 50; round++) {
        for (uint32_t kind = 0; kind < 20; kind++)
            assert_int_equal(
                bed_change(&bed, HOT_SET, user, (uint8_t)(kind + round), item_number(round), 1), 1);
        hot_collect(bed.hot, &stats);
        assert_int_equal(stats.shelves, 20);
        assert_int_equal(stats.reactions, 20);
        for (uint32_t kind = 0; kind < 20; kind++)
            assert_int_equal(bed_change(&bed, HOT_CLEAR, user, (uint8_t)((kind * 7) % 20 + round),
                                        item_number(round), 1),
                             1);
        hot_collect(bed.hot, &stats);
        assert_int_equal(stats.shelves, 0);
    }
    assert_int_equal(stats.users, 1);
    assert_int_equal(stats.reactions, 0);
    bed_close(&bed);
}

static enum status apply_one(struct bed *bed, struct event event)
{
    return hot_memory_apply(bed->hot, &event, 1, 1, 100);
}

static void test_contradictions_are_damage(void **state)
{
    (void)state;
    struct bed bed;
    struct event set = {
        .type = EVENT_SET, .name = LIKE, .time_s = 5, .user = id_number(1), .item = item_number(1)};
    struct event clear = set;
    clear.type = EVENT_CLEAR;
    bed_open_quiet(&bed, MIB(64), bed_options());
    assert_int_equal(apply_one(&bed, clear), STATUS_DAMAGED);
    assert_int_equal(apply_one(&bed, set), STATUS_OK);
    assert_int_equal(apply_one(&bed, clear), STATUS_OK);
    assert_int_equal(apply_one(&bed, clear), STATUS_DAMAGED);
    struct event both = set;
    both.cleared_count = 1;
    both.cleared[0] = DISLIKE;
    assert_int_equal(apply_one(&bed, both), STATUS_DAMAGED);
    both.cleared[0] = LIKE;
    assert_int_equal(apply_one(&bed, both), STATUS_DAMAGED);
    both.cleared_count = LIMIT_EXCLUSIVE + 1;
    assert_int_equal(apply_one(&bed, both), STATUS_DAMAGED);
    struct event add = {
        .type = EVENT_ADD, .name = VIEW, .item = item_number(1), .delta = INT64_MAX};
    assert_int_equal(apply_one(&bed, add), STATUS_OK);
    assert_int_equal(apply_one(&bed, add), STATUS_DAMAGED);
    assert_int_equal(apply_one(&bed, (struct event){.type = EVENT_DEFINE}), STATUS_DAMAGED);
    assert_true(bed_count(&bed, item_number(1), VIEW) == INT64_MAX);
    assert_int_equal(bed_count(&bed, item_number(1), LIKE), 0);
    bed_close(&bed);
}

/* Law 6: what an item or user has gathered takes no more memory on the item's side. */
static void test_popularity_costs_nothing(void **state)
{
    (void)state;
    struct bed bed;
    struct item item = item_number(0);
    bed_open(&bed, MIB(256), bed_options());
    for (uint64_t user = 1; user <= 50000; user++)
        assert_int_equal(bed_change(&bed, HOT_SET, (struct id){.lo = user}, LIKE, item, 1), 1);
    struct hot_stats stats;
    hot_collect(bed.hot, &stats);
    assert_int_equal(stats.items, 1);
    assert_int_equal(stats.users, 50000);
    assert_int_equal(bed_count(&bed, item, LIKE), 50000);
    assert_true(memory_used(&bed.budget) < 50000 * 160 + MIB(8));
    bed_close(&bed);
}

struct tally {
    uint64_t reactions;
    uint64_t counters;
};

static void tally_reaction(void *context, struct id user, uint8_t kind, struct item item,
                           uint32_t time_s)
{
    struct tally *tally = context;
    tally->reactions++;
    assert_int_equal(kind, LIKE);
    assert_int_equal(time_s, 100 * user.lo + item.id.lo);
}

static void tally_counter(void *context, struct item item, uint8_t name, int64_t value)
{
    struct tally *tally = context;
    (void)item;
    assert_int_equal(name, LIKE);
    assert_int_equal(value, 30);
    tally->counters++;
}

static void test_dump_shows_everything(void **state)
{
    (void)state;
    struct bed bed;
    bed_open(&bed, MIB(64), bed_options());
    for (uint64_t user = 1; user <= 30; user++)
        for (uint64_t item = 1; item <= 40; item++)
            bed_change(&bed, HOT_SET, (struct id){.lo = user}, LIKE,
                       (struct item){.id = {.lo = item}}, (uint32_t)(100 * user + item));
    struct tally tally = {0};
    hot_memory_dump(bed.hot, &(struct hot_memory_visitor){.reaction = tally_reaction,
                                                          .counter = tally_counter,
                                                          .context = &tally});
    assert_int_equal(tally.reactions, 1200);
    assert_int_equal(tally.counters, 40);
    bed_close(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_a_change_is_recorded),
        cmocka_unit_test(test_one_event_clears_and_sets),
        cmocka_unit_test(test_what_is_in_the_store_counts),
        cmocka_unit_test(test_ids_that_differ_in_one_half),
        cmocka_unit_test(test_feed_of_a_page_with_repeats),
        cmocka_unit_test(test_shelves_come_and_go),
        cmocka_unit_test(test_contradictions_are_damage),
        cmocka_unit_test(test_popularity_costs_nothing),
        cmocka_unit_test(test_dump_shows_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
