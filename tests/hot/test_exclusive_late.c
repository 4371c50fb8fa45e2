/*
 * Kinds that were set together, and only then declared exclusive: setting one of them, though it is
 * set already, clears the others wherever they are, with the counters and one event.
 */
#include "spans.h"
#include "support.h"

enum { LIKE = NAME_INDEX_LIKE, DISLIKE = 2, LOVE = 3, VIEW = 9 };

static const struct exclusive groups = {
    .group_of = {[LIKE] = 1, [DISLIKE] = 1, [LOVE] = 1},
    .group_count = 1,
    .groups = {{.count = 3, .kinds = {LIKE, DISLIKE, LOVE}}},
};

static const uint8_t kinds[] = {LIKE, DISLIKE, LOVE};
static const struct item video = {.id = {.lo = 42}};
static const struct id ann = {.lo = 7};

/* Where what was set is when the group is declared. */
enum place { HOT, COLD, CUT, LIKE_HOT, LIKE_COLD, UNSTORED };

static void set(struct bed *bed, uint8_t kind, uint64_t item)
{
    bed_change(bed, HOT_SET, ann, kind, (struct item){.id = {.lo = item}}, 5);
}

/* All so far becomes clean and leaves memory. */
static void cool(struct bed *bed)
{
    bed_add(bed, (struct item){.id = {.lo = 999}}, VIEW, 1);
    bed_project_all(bed);
    bed_evict(bed);
    assert_false(bed_has_user(bed, ann));
}

/* More than the shelves hold, one after the other. */
static void cut(struct bed *bed)
{
    for (uint64_t i = 0; i < 8; i++)
        for (size_t k = 0; k < sizeof kinds; k++) {
            set(bed, kinds[k], 100 + i);
            bed_add(bed, (struct item){.id = {.lo = 999}}, VIEW, 1);
            bed_project_all(bed);
        }
}

static void open_late(struct bed *bed, enum place place, struct exclusive *declared)
{
    struct hot_memory_options options = bed_options();
    *declared = (struct exclusive){0};
    options.exclusive = declared;
    options.shelf_max = place == CUT ? 2 : 1000;
    if (place == UNSTORED)
        bed_open(bed, MIB(64), options);
    else
        bed_open_stored(bed, MIB(64), options);
    bool later = place == LIKE_HOT;
    if (!later)
        set(bed, LIKE, 42);
    if (place == LIKE_COLD)
        cool(bed);
    set(bed, DISLIKE, 42);
    set(bed, LOVE, 42);
    if (place == COLD || place == LIKE_HOT)
        cool(bed);
    if (later)
        set(bed, LIKE, 42);
    if (place == CUT)
        cut(bed);
    *declared = groups;
}

static void expect_only(struct bed *bed, uint8_t kind)
{
    struct hot_answer answer;
    struct hot_request request = {.action = HOT_FEED,
                                  .user = ann,
                                  .items = &video,
                                  .item_count = 1,
                                  .time_s = 9,
                                  .read.answers = &answer};
    assert_int_equal(bed_run(bed, &request), STATUS_OK);
    for (size_t i = 0; i < sizeof kinds; i++) {
        assert_int_equal(kind_set_has(&answer.kinds, kinds[i]), kinds[i] == kind);
        assert_int_equal(bed_ask(bed, ann, kinds[i], video), kinds[i] == kind);
        assert_int_equal(bed_count(bed, video, kinds[i]), kinds[i] == kind);
    }
}

static void expect_event(struct bed *bed, size_t at)
{
    const struct event *event = &bed->recorder.events[at];
    assert_int_equal(event->type, EVENT_CLEAR);
    assert_int_equal(event->name, DISLIKE);
    assert_int_equal(event->cleared_count, 1);
    assert_int_equal(event->cleared[0], LOVE);
    assert_int_equal(event->time_s, 9);
}

static void test_setting_one_clears_the_others(void **state)
{
    (void)state;
    for (enum place place = HOT; place <= UNSTORED; place++) {
        struct bed bed;
        struct exclusive declared;
        open_late(&bed, place, &declared);
        size_t events = recorder_count(&bed.recorder);
        uint64_t waited = bed.waited;
        assert_int_equal(bed_change(&bed, HOT_SET, ann, LIKE, video, 9), 0);
        assert_int_equal(bed.waited > waited, place != HOT && place != UNSTORED);
        assert_int_equal(recorder_count(&bed.recorder), events + 1);
        expect_event(&bed, events);
        expect_only(&bed, LIKE);
        assert_int_equal(bed_change(&bed, HOT_SET, ann, LIKE, video, 9), 0);
        assert_int_equal(recorder_count(&bed.recorder), events + 1);
        if (place != UNSTORED) {
            cool(&bed);
            expect_only(&bed, LIKE);
            struct store_report report = {0};
            assert_int_equal(store_verify(&bed.store->admin, NULL, NULL, &report), STATUS_OK);
        }
        bed_close(&bed);
    }
}

/* The other way about: what is not set, with two others that are. */
static void test_setting_another_clears_both(void **state)
{
    (void)state;
    for (enum place place = HOT; place <= UNSTORED; place++) {
        struct bed bed;
        struct exclusive declared;
        open_late(&bed, place, &declared);
        assert_int_equal(bed_change(&bed, HOT_CLEAR, ann, LIKE, video, 8), 1);
        assert_int_equal(bed_change(&bed, HOT_SET, ann, LIKE, video, 9), 1);
        expect_only(&bed, LIKE);
        bed_close(&bed);
    }
}

/* The filters say maybe of what is not there: the store is read once, and nothing is recorded. */
static void test_a_filter_that_says_maybe(void **state)
{
    (void)state;
    struct bed bed;
    struct exclusive declared = {0};
    struct hot_memory_options options = bed_options();
    options.exclusive = &declared;
    bed_open_stored(&bed, MIB(64), options);
    set(&bed, LIKE, 42);
    struct store_reaction there[] = {{.user = ann, .item = video, .kind = DISLIKE, .time_s = 5}};
    struct store_changes changes = {BOTH_SPANS(there, 1)};
    filters_before(bed.filters, &changes); /* a projector that the store then failed */
    declared = groups;
    size_t events = recorder_count(&bed.recorder);
    uint64_t loads = bed_stats(&bed).reaction_loads;
    for (int round = 0; round < 3; round++)
        assert_int_equal(bed_change(&bed, HOT_SET, ann, LIKE, video, 9), 0);
    assert_true(bed_stats(&bed).reaction_loads > loads);
    loads = bed_stats(&bed).reaction_loads;
    assert_int_equal(bed_change(&bed, HOT_SET, ann, LIKE, video, 9), 0);
    assert_int_equal(bed_stats(&bed).reaction_loads, loads);
    assert_int_equal(recorder_count(&bed.recorder), events);
    expect_only(&bed, LIKE);
    bed_close(&bed);
}

/* After a crash the same state comes of the events, whatever of them the store has already. */
static void test_it_is_replayed(void **state)
{
    (void)state;
    for (size_t flushed = 0; flushed <= 4; flushed++) {
        struct bed bed;
        struct exclusive declared;
        open_late(&bed, HOT, &declared);
        bed_change(&bed, HOT_SET, ann, LIKE, video, 9);
        assert_int_equal(recorder_count(&bed.recorder), 4);
        bed_project(&bed, flushed);
        bed_flush(&bed);
        bed_crash(&bed, 9);
        expect_only(&bed, LIKE);
        cool(&bed);
        expect_only(&bed, LIKE);
        bed_close(&bed);
    }
}

/* A record that no decision makes: a kind twice, or more than there can be. */
static void test_nonsense_is_not_replayed(void **state)
{
    (void)state;
    struct event clear = {.type = EVENT_CLEAR,
                          .name = LIKE,
                          .time_s = 5,
                          .user = ann,
                          .item = video,
                          .cleared_count = 1,
                          .cleared = {LIKE}};
    struct event set_like = {
        .type = EVENT_SET, .name = LIKE, .time_s = 5, .user = ann, .item = video};
    struct bed bed;
    bed_open_quiet(&bed, MIB(64), bed_options());
    assert_int_equal(hot_memory_apply(bed.hot, &set_like, 1, 1, 5), STATUS_OK);
    assert_int_equal(hot_memory_apply(bed.hot, &clear, 1, 1, 5), STATUS_DAMAGED);
    clear.cleared[0] = DISLIKE;
    assert_int_equal(hot_memory_apply(bed.hot, &clear, 1, 1, 5), STATUS_DAMAGED);
    clear.cleared_count = LIMIT_EXCLUSIVE;
    assert_int_equal(hot_memory_apply(bed.hot, &clear, 1, 1, 5), STATUS_DAMAGED);
    clear.cleared_count = 0;
    assert_int_equal(hot_memory_apply(bed.hot, &clear, 1, 1, 5), STATUS_OK);
    bed_close(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_setting_one_clears_the_others),
        cmocka_unit_test(test_setting_another_clears_both),
        cmocka_unit_test(test_a_filter_that_says_maybe),
        cmocka_unit_test(test_it_is_replayed),
        cmocka_unit_test(test_nonsense_is_not_replayed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
