/*
 * Reactions that only the store has: found, warmed, changed, and right again after everything has
 * been projected and evicted.
 */
#include "support.h"

enum { LIKE = NAME_INDEX_LIKE, DISLIKE = 2, VIEW = 9 };

static const struct exclusive groups = {
    .group_of = {[LIKE] = 1, [DISLIKE] = 1},
    .group_count = 1,
    .groups = {{.count = 2, .kinds = {LIKE, DISLIKE}}},
};

static const struct item video = {.id = {.lo = 42}};
static const struct id ann = {.lo = 7};

static void cool(struct bed *bed)
{
    bed_add(bed, (struct item){.id = {.lo = 999}}, VIEW, 1); /* all before it becomes clean */
    bed_project_all(bed);
    bed_evict(bed);
    assert_false(bed_has_user(bed, ann));
    assert_int_equal(bed_stats(bed).cleared, 0);
}

/* Ann likes the video, and nothing of it is in memory. */
static void open_cold(struct bed *bed)
{
    struct hot_memory_options options = bed_options();
    options.exclusive = &groups;
    bed_open_stored(bed, MIB(64), options);
    bed_change(bed, HOT_SET, ann, LIKE, video, 5);
    cool(bed);
}

static bool runs_in_memory(struct bed *bed, enum hot_action action)
{
    struct hot_answer answer;
    struct hot_request request = {.action = action,
                                  .user = ann,
                                  .name = LIKE,
                                  .items = &video,
                                  .item_count = 1,
                                  .time_s = 9,
                                  .read.answers = &answer};
    bed->scratch.used = 0;
    return hot_try(bed->hot, &request, 1, &bed->scratch) == 1;
}

static uint32_t store_time(struct bed *bed, uint8_t kind)
{
    struct store_reaction key = {.user = ann, .item = video, .kind = kind};
    assert_int_equal(store_read_reactions(&bed->store->reader, &key, 1), STATUS_OK);
    return key.time_s;
}

static void test_asking_warms(void **state)
{
    (void)state;
    struct bed bed;
    open_cold(&bed);
    assert_false(runs_in_memory(&bed, HOT_ASK));
    assert_true(bed_ask(&bed, ann, LIKE, video));
    uint64_t loads = bed_stats(&bed).reaction_loads;
    assert_true(runs_in_memory(&bed, HOT_ASK));
    assert_true(bed_ask(&bed, ann, LIKE, video));
    assert_int_equal(bed_stats(&bed).reaction_loads, loads);
    assert_int_equal(bed_stats(&bed).reactions, 1);
    bed_close(&bed);
}

static void test_liking_again_warms(void **state)
{
    (void)state;
    struct bed bed;
    open_cold(&bed);
    size_t events = bed.recorder.count;
    assert_int_equal(bed_change(&bed, HOT_SET, ann, LIKE, video, 50), 0);
    assert_int_equal(bed.recorder.count, events);
    assert_true(runs_in_memory(&bed, HOT_SET));
    assert_true(runs_in_memory(&bed, HOT_ASK));
    assert_int_equal(bed_count(&bed, video, LIKE), 1);
    assert_int_equal(store_time(&bed, LIKE), 5);
    bed_close(&bed);
}

static void check_live(struct bed *bed, bool like, bool dislike)
{
    assert_int_equal(bed_ask(bed, ann, LIKE, video), like);
    assert_int_equal(bed_ask(bed, ann, DISLIKE, video), dislike);
    assert_int_equal(bed_count(bed, video, LIKE), like);
    assert_int_equal(bed_count(bed, video, DISLIKE), dislike);
}

static void test_clearing_what_is_warm(void **state)
{
    (void)state;
    struct bed bed;
    open_cold(&bed);
    assert_true(bed_ask(&bed, ann, LIKE, video));
    assert_int_equal(bed_change(&bed, HOT_CLEAR, ann, LIKE, video, 10), 1);
    check_live(&bed, false, false);
    assert_int_equal(bed_change(&bed, HOT_CLEAR, ann, LIKE, video, 11), 0);
    assert_int_equal(store_time(&bed, LIKE), 5); /* not projected yet */
    bed_evict(&bed);
    check_live(&bed, false, false);
    cool(&bed);
    assert_int_equal(store_time(&bed, LIKE), 0);
    check_live(&bed, false, false);
    bed_close(&bed);
}

static void test_set_after_clear_at_every_temperature(void **state)
{
    (void)state;
    for (uint32_t how = 0; how < 16; how++) {
        struct bed bed;
        open_cold(&bed);
        if (how & 1)
            assert_true(bed_ask(&bed, ann, LIKE, video)); /* warm */
        assert_int_equal(bed_change(&bed, HOT_CLEAR, ann, LIKE, video, 10), 1);
        if (how & 2)
            cool(&bed);
        check_live(&bed, false, false);
        assert_int_equal(bed_change(&bed, HOT_SET, ann, LIKE, video, 11), 1);
        if (how & 4)
            cool(&bed);
        else
            bed_evict(&bed); /* nothing of it may go */
        check_live(&bed, true, false);
        if (how & 8)
            assert_int_equal(bed_change(&bed, HOT_CLEAR, ann, LIKE, video, 12), 1);
        cool(&bed);
        check_live(&bed, !(how & 8), false);
        assert_int_equal(store_time(&bed, LIKE), how & 8 ? 0 : 11);
        bed_close(&bed);
    }
}

/* The other kind of a group is cold, or warm, or cleared lately: one event does both. */
static void test_a_cold_like_gives_way(void **state)
{
    (void)state;
    for (int warm = 0; warm < 2; warm++) {
        struct bed bed;
        open_cold(&bed);
        if (warm)
            assert_true(bed_ask(&bed, ann, LIKE, video));
        assert_int_equal(bed_change(&bed, HOT_SET, ann, DISLIKE, video, 20), 1);
        const struct event *event = &bed.recorder.events[bed.recorder.count - 1];
        assert_int_equal(event->cleared_count, 1);
        assert_int_equal(event->cleared[0], LIKE);
        check_live(&bed, false, true);
        cool(&bed);
        check_live(&bed, false, true);
        assert_int_equal(bed_change(&bed, HOT_SET, ann, LIKE, video, 21), 1);
        check_live(&bed, true, false);
        cool(&bed);
        check_live(&bed, true, false);
        bed_close(&bed);
    }
}

/* More than a warm shelf holds: the first ones are asked of the store again, and right. */
static void test_warm_shelves_are_bounded(void **state)
{
    (void)state;
    enum { MANY = 3 * WARM_MAX };
    struct bed bed;
    open_cold(&bed);
    for (uint64_t id = 1; id <= MANY; id++)
        bed_change(&bed, HOT_SET, ann, LIKE, (struct item){.id = {.lo = 5000 + id}}, 6);
    cool(&bed);
    for (int round = 0; round < 2; round++)
        for (uint64_t id = 1; id <= MANY; id++)
            assert_true(bed_ask(&bed, ann, LIKE, (struct item){.id = {.lo = 5000 + id}}));
    assert_int_equal(bed_stats(&bed).reactions, WARM_MAX);
    assert_int_equal(bed_stats(&bed).shelves, 1);
    bed_close(&bed);
}

/* Kinds that were made exclusive when both were set: a cold answer and a warm one are the same. */
static void test_exclusive_too_late(void **state)
{
    (void)state;
    struct bed bed;
    struct exclusive later = {0};
    struct hot_memory_options options = bed_options();
    options.exclusive = &later;
    bed_open_stored(&bed, MIB(64), options);
    bed_change(&bed, HOT_SET, ann, LIKE, video, 5);
    bed_change(&bed, HOT_SET, ann, DISLIKE, video, 6);
    cool(&bed);
    later = groups;
    for (int round = 0; round < 2; round++) {
        struct hot_answer answer;
        struct hot_request request = {.action = HOT_FEED,
                                      .user = ann,
                                      .items = &video,
                                      .item_count = 1,
                                      .time_s = 9,
                                      .read.answers = &answer};
        assert_int_equal(bed_run(&bed, &request), STATUS_OK);
        assert_true(kind_set_has(&answer.kinds, LIKE) && kind_set_has(&answer.kinds, DISLIKE));
    }
    bed_close(&bed);
}

/* One request for more than a warm shelf holds reads each of them once. */
static void test_a_page_is_read_once(void **state)
{
    (void)state;
    enum { MANY = 3 * WARM_MAX };
    struct bed bed;
    struct item items[MANY];
    struct hot_answer answers[MANY];
    open_cold(&bed);
    for (uint64_t i = 0; i < MANY; i++) {
        items[i] = (struct item){.id = {.lo = 5000 + i}};
        bed_change(&bed, HOT_SET, ann, LIKE, items[i], 6);
    }
    cool(&bed);
    uint64_t loads = bed_stats(&bed).reaction_loads;
    struct hot_request request = {.action = HOT_ASK,
                                  .user = ann,
                                  .name = LIKE,
                                  .items = items,
                                  .item_count = MANY,
                                  .time_s = 9,
                                  .read.answers = answers};
    assert_int_equal(bed_run(&bed, &request), STATUS_OK);
    for (uint32_t i = 0; i < MANY; i++)
        assert_true(kind_set_has(&answers[i].kinds, LIKE));
    assert_int_equal(bed_stats(&bed).reaction_loads, loads + MANY);
    bed_close(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_asking_warms),
        cmocka_unit_test(test_liking_again_warms),
        cmocka_unit_test(test_clearing_what_is_warm),
        cmocka_unit_test(test_set_after_clear_at_every_temperature),
        cmocka_unit_test(test_a_cold_like_gives_way),
        cmocka_unit_test(test_warm_shelves_are_bounded),
        cmocka_unit_test(test_exclusive_too_late),
        cmocka_unit_test(test_a_page_is_read_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
