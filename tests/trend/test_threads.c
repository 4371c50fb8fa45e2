/*
 * Those who ask beside the one who applies: an answer is always that of one moment. Every window adds
 * as much to one item as it takes from another, so that the two differ by what they began with.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "model.h"

#define READERS 3
#define WINDOWS 20000
#define START_S 1700000000U
#define MIDDLE  1000000

struct course {
    struct trends *trends;
    _Atomic bool done;
    _Atomic uint32_t now_s;
};

struct reader {
    struct course *course;
    uint64_t asked;
    uint64_t changed; /* answers unlike the one before */
    uint64_t wrong;
};

static void *reader_run(void *context)
{
    struct reader *reader = context;
    struct course *course = reader->course;
    struct trend_stats stats;
    int64_t last = 0;
    while (!atomic_load(&course->done) || reader->asked < 1000) {
        struct ranked found[LIMIT_TREND_TOP];
        size_t count;
        uint32_t now_s = atomic_load(&course->now_s);
        enum trend_window window = reader->asked % 8 == 0 ? TREND_HOUR : TREND_WEEK;
        enum status status = trends_top(course->trends, 0, 0, window, now_s, found,
                                        1 + reader->asked % LIMIT_TREND_TOP, &count);
        reader->asked++;
        reader->wrong += status != STATUS_OK;
        for (size_t i = 1; i < count; i++)
            reader->wrong += ranked_order(found[i - 1], found[i]) >= 0;
        if (window == TREND_WEEK && count >= 2) {
            reader->wrong += found[0].value + found[1].value != 2 * MIDDLE;
            reader->changed += found[0].value != last;
            last = found[0].value;
        }
        if (reader->asked % 100 == 0)
            trends_stats(course->trends, &stats);
    }
    return NULL;
}

static void write_windows(struct course *course, const char *path, struct chance *chance)
{
    struct store_count counts[32] = {{.item.id.lo = 1, .value = MIDDLE},
                                     {.item.id.lo = 2, .value = MIDDLE}};
    struct store_changes changes = {.item.counts = counts, .item.count_count = 2, .position = 8};
    uint32_t now_s = START_S;
    trends_apply(course->trends, &changes, now_s, now_s);
    changes.item.count_count = 32;
    for (uint32_t i = 0; i < WINDOWS; i++) {
        int64_t moved = (int64_t)chance_below(chance, 200) - 100;
        counts[0].value = moved;
        counts[1].value = -moved;
        for (uint32_t j = 2; j < 32; j++)
            counts[j] = (struct store_count){
                .item = {{0, 10 + chance_below(chance, 3000)}, (uint16_t)(j % 2)}, .value = 1};
        now_s += chance_below(chance, 40);
        changes.position += 8;
        trends_apply(course->trends, &changes, now_s, now_s);
        atomic_store(&course->now_s, now_s);
        if (i % 2000 == 0)
            assert_int_equal(trends_save(course->trends, path), 0);
    }
    assert_true(now_s - START_S < 6 * 86400);
}

static void run(uint64_t memory, bool expect_right)
{
    struct memory_budget budget = {.limit = GIB(1)};
    const struct trend_options options = {.budget = &budget, .memory = memory, .seed = 7};
    struct course course = {.trends = trends_new(&options), .now_s = START_S};
    struct chance chance = {test_seed()};
    pthread_t threads[READERS];
    struct reader readers[READERS];
    char path[64];
    snprintf(path, sizeof path, "/tmp/laud-test-trends.%d", (int)getpid());
    for (int i = 0; i < READERS; i++) {
        readers[i] = (struct reader){.course = &course};
        assert_int_equal(pthread_create(&threads[i], NULL, reader_run, &readers[i]), 0);
    }
    write_windows(&course, path, &chance);
    atomic_store(&course.done, true);
    for (int i = 0; i < READERS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        print_message("reader %d asked %llu times, %llu answers were new\n", i,
                      (unsigned long long)readers[i].asked, (unsigned long long)readers[i].changed);
        if (expect_right)
            assert_int_equal(readers[i].wrong, 0);
        assert_true(readers[i].changed > 0);
    }
    unlink(path);
    trends_free(course.trends);
    assert_int_equal(memory_used(&budget), 0);
}

static void test_answers_are_of_one_moment(void **state)
{
    (void)state;
    run(MIB(16), true);
}

static void test_with_little_memory(void **state)
{
    (void)state;
    run(KIB(48), false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers_are_of_one_moment),
        cmocka_unit_test(test_with_little_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
