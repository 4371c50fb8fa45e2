/*
 * The file of the windowed boards: what is saved comes back and goes on, what is damaged in any
 * place is refused, and a save that fails in any place leaves a good file behind.
 */
#include "model.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xxhash.h>

#include "base/io.h"
#include "base/little.h"
#include "damage.h"
#include "trend/trends_format.h"

#define START_S 1700000000U

static struct memory_budget budget;
static struct model model;
static uint32_t time_s;
static char directory[64];
static char path[96];
static char problem[256];

static int setup(void **state)
{
    (void)state;
    directory_in_memory(directory, sizeof directory);
    snprintf(path, sizeof path, "%s/trends", directory);
    budget = (struct memory_budget){.limit = GIB(1)};
    model_start(&model, test_seed());
    time_s = START_S;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    model_end(&model);
    assert_int_equal(memory_used(&budget), 0);
    directory_with_file_remove(directory, path);
    return 0;
}

static struct trends *boards(uint64_t memory)
{
    const struct trend_options options = {.budget = &budget, .memory = memory, .seed = 5};
    struct trends *trends = trends_new(&options);
    assert_non_null(trends);
    return trends;
}

static void go_on(struct trends *trends, int windows, uint32_t most, uint32_t step_s)
{
    for (int i = 0; i < windows; i++) {
        trends_apply(trends, model_next(&model, most, time_s), time_s, time_s);
        time_s += chance_below(&model.chance, step_s);
    }
}

static enum status load(struct trends *trends)
{
    problem[0] = '\0';
    return trends_load(trends, path, problem, sizeof problem);
}

static struct trends *loaded(uint64_t memory)
{
    struct trends *trends = boards(memory);
    if (load(trends) != STATUS_OK)
        fail_msg("%s", problem);
    return trends;
}

/* Loading gives this status and a sentence, and the boards are empty. */
static void expect_refusal(enum status expected, const char *sentence)
{
    uint64_t used = memory_used(&budget);
    struct trends *trends = boards(MIB(64));
    uint64_t empty = memory_used(&budget);
    struct trend_stats stats;
    enum status status = load(trends);
    if (status != expected || strstr(problem, sentence) == NULL)
        fail_msg("%s: %s", status_name(status), problem);
    trends_stats(trends, &stats);
    assert_int_equal(stats.boards + stats.refused + stats.position, 0);
    assert_int_equal(memory_used(&budget), empty);
    trends_free(trends);
    assert_int_equal(memory_used(&budget), used);
}

/* Saved again they are the same bytes. */
static void expect_stable(struct trends *trends)
{
    size_t length;
    size_t again_length;
    uint8_t *bytes = file_read(path, &length);
    assert_int_equal(trends_save(trends, path), 0);
    uint8_t *again = file_read(path, &again_length);
    assert_int_equal(length, again_length);
    assert_memory_equal(bytes, again, length);
    free(bytes);
    free(again);
}

static void expect_as_many(const struct trend_stats *a, const struct trend_stats *b)
{
    assert_int_equal(a->boards, b->boards);
    assert_int_equal(a->items, b->items);
    assert_int_equal(a->error_max, b->error_max);
}

static void test_what_is_saved_comes_back(void **state)
{
    (void)state;
    struct trends *trends = boards(MIB(64));
    for (int life = 0; life < 12; life++) {
        struct trend_stats before;
        struct trend_stats after;
        go_on(trends, 150, 100, life % 3 == 0 ? 4000 : 40);
        trends_stats(trends, &before);
        assert_int_equal(trends_save(trends, path), 0);
        trends_free(trends);
        trends = loaded(MIB(64));
        expect_stable(trends);
        trends_stats(trends, &after);
        assert_int_equal(after.position, model.position);
        expect_as_many(&after, &before);
        assert_true(after.exact);
        model_expect(&model, trends, model.now_s);
        model_expect(&model, trends, model.now_s + 5000);
    }
    trends_free(trends);
}

static void test_what_was_lost_and_refused_comes_back(void **state)
{
    (void)state;
    struct trends *trends = boards(KIB(120));
    struct store_count count = {.value = 1};
    struct store_changes changes = {.item.counts = &count, .item.count_count = 1};
    for (uint32_t i = 0; i < 20000; i++, time_s += i % 3) {
        count.item = (struct item){{0, i % 5000}, i % 3 == 0 ? (uint16_t)(i / 400) : 0};
        count.name = (uint8_t)(i % 5);
        changes.position += 40;
        trends_apply(trends, &changes, time_s, time_s);
    }
    struct trend_stats before;
    struct trend_stats after;
    trends_stats(trends, &before);
    assert_true(before.refused > 0 && before.error_max > 0 && !before.exact);
    assert_int_equal(trends_save(trends, path), 0);
    trends_free(trends);
    trends = loaded(MIB(1));
    expect_stable(trends);
    trends_stats(trends, &after);
    expect_as_many(&after, &before);
    assert_true(after.refused > 0 && after.refused <= before.refused && !after.exact);
    trends_free(trends);
    trends = loaded(KIB(60)); /* less than they had: what does not fit is let go */
    trends_stats(trends, &after);
    assert_true(after.boards > 0 && after.items < before.items && !after.exact);
    assert_true(memory_used(&budget) <= KIB(60));
    trends_free(trends);
}

static void test_empty_boards_can_be_saved(void **state)
{
    (void)state;
    struct trends *trends = boards(MIB(1));
    struct trend_stats stats;
    trends_begin(trends, 99, START_S);
    assert_int_equal(trends_save(trends, path), 0);
    trends_free(trends);
    trends = loaded(MIB(1));
    trends_stats(trends, &stats);
    assert_int_equal(stats.position, 99);
    assert_int_equal(stats.since_s, START_S);
    trends_free(trends);
}

static void test_there_may_be_no_file(void **state)
{
    (void)state;
    expect_refusal(STATUS_MORE, "is not there");
}

static void save_a_few(void)
{
    struct trends *trends = boards(MIB(1));
    go_on(trends, 12, 4, 2000);
    assert_int_equal(trends_save(trends, path), 0);
    trends_free(trends);
}

static void expect_damage(void)
{
    expect_refusal(STATUS_DAMAGED, path);
}

static void test_every_flipped_bit_is_found(void **state)
{
    (void)state;
    save_a_few();
    file_flip_each_bit(path, expect_damage);
    trends_free(loaded(MIB(1)));
}

static void test_every_other_length_is_found(void **state)
{
    (void)state;
    save_a_few();
    file_cut_each_length(path, expect_damage);
    trends_free(loaded(MIB(1)));
}

/* A file that says something else, with the checksums that go with it. */
static void file_edit(const uint8_t *bytes, size_t length, size_t at, uint32_t value)
{
    uint8_t *edited = malloc(length);
    memcpy(edited, bytes, length);
    little_put32(edited + at, value);
    uint64_t check = XXH3_64bits(edited, HEADER_CHECK);
    little_put64(edited + HEADER_CHECK, check);
    little_put64(
        edited + length - CHECK_BYTES,
        XXH3_64bits_withSeed(edited + HEADER_BYTES, length - HEADER_BYTES - CHECK_BYTES, check));
    file_write(path, edited, length);
    free(edited);
}

static void test_files_that_lie_are_refused(void **state)
{
    (void)state;
    struct trends *trends = boards(MIB(1));
    struct store_count counts[2] = {{.item = {{0, 3}, 1}, .name = 2, .value = 4},
                                    {.item = {{0, 3}, 2}, .name = 0, .value = 4}};
    const struct store_changes changes = {
        .item.counts = counts, .item.count_count = 2, .position = 40};
    size_t length;
    trends_apply(trends, &changes, START_S, START_S);
    assert_int_equal(trends_save(trends, path), 0);
    trends_free(trends);
    uint8_t *bytes = file_read(path, &length);
    const size_t slice = HEADER_BYTES + BOARD_BYTES;
    const size_t second = slice + SLICE_BYTES + ROW_BYTES;
    assert_int_equal(length, second + BOARD_BYTES + SLICE_BYTES + ROW_BYTES + CHECK_BYTES);
    const struct {
        size_t at;
        uint32_t value;
        const char *sentence;
    } lies[] = {
        {8, 2, "version"},
        {12, 3, "invalid"},                                   /* boards */
        {12, 1, "invalid"},                                   /* and something after them */
        {12, UINT32_MAX, "invalid"},                          /* */
        {24, START_S - 300, "invalid"},                       /* a slice of the future */
        {24, START_S + 4000, "invalid"},                      /* one that is over and not closed */
        {32, (uint32_t)length + 24, "length"},                /* */
        {HEADER_BYTES, 0x00020000U + LIMIT_TYPES, "invalid"}, /* type */
        {HEADER_BYTES, 0x00ff0001U, "invalid"},               /* name */
        {HEADER_BYTES, 0x00000002U, "invalid"},               /* the second one again */
        {HEADER_BYTES, 0x01020001U, "invalid"},               /* refused, with a slice */
        {HEADER_BYTES + 8, 2, "invalid"},                     /* slices */
        {HEADER_BYTES + 8, UINT32_MAX, "invalid"},            /* */
        {slice, 3, "invalid"},                                /* level */
        {slice, 1, "invalid"},                                /* */
        {slice, 0x100, "invalid"},                            /* closed */
        {slice + 4, START_S / 300 - 1, "invalid"},            /* number */
        {slice + 4, START_S / 300 + 1, "invalid"},            /* */
        {slice + 8, 2, "invalid"},                            /* rows */
        {slice + 8, UINT32_MAX, "invalid"},                   /* */
        {second, 0x00020001U, "invalid"},                     /* twice the same board */
    };
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        file_edit(bytes, length, lies[i].at, lies[i].value);
        expect_refusal(STATUS_DAMAGED, lies[i].sentence);
    }
    file_edit(bytes, length, HEADER_BYTES + 4, 1234); /* the editing itself is no lie */
    trends_free(loaded(MIB(1)));
    free(bytes);
}

#ifdef LAUD_FAULTS

/* Saves the newer over the older, every call failing in turn: one of the two is there after it. */
static void fail_each_call(const char *what, bool harmless)
{
    struct trends *trends = boards(MIB(64));
    uint64_t calls;
    uint64_t nth = 0;
    do {
        char plan[64];
        trends_begin(trends, model.position, 0);
        go_on(trends, 10, 100, 200);
        assert_int_equal(trends_save(trends, path), 0);
        uint64_t older = model.position;
        go_on(trends, 80, 100, 400);
        snprintf(plan, sizeof plan, "*:%llu:%s", (unsigned long long)++nth, what);
        assert_int_equal(io_faults_plan(plan), 0);
        int result = trends_save(trends, path);
        calls = io_faults_calls();
        assert_int_equal(io_faults_plan(plan), 0);
        struct trends *found = boards(MIB(64));
        enum status status = load(found);
        assert_int_equal(io_faults_plan(NULL), 0);
        if ((result != 0) != (!harmless && nth <= calls))
            fail_msg("%s: %d", plan, result);
        assert_true(status == STATUS_OK || (status == STATUS_IO_FAILED && !harmless));
        if (status != STATUS_OK)
            assert_int_equal(load(found), STATUS_OK);
        assert_true(trends_position(found) == model.position ||
                    (trends_position(found) == older && result != 0));
        trends_free(found);
    } while (calls >= nth);
    print_message("%s: %llu calls\n", what, (unsigned long long)calls);
    assert_true(calls > 6);
    trends_free(trends);
}

static void test_every_failing_call(void **state)
{
    (void)state;
    fail_each_call("EIO", false);
    fail_each_call("ENOSPC", false);
    fail_each_call("SHORT", true);
    fail_each_call("EINTR", true);
}

static struct trends *saved;

static void save_them(void)
{
    assert_int_equal(trends_save(saved, path), 0);
}

/* The checksums tell. */
static void test_a_write_that_was_left_out(void **state)
{
    (void)state;
    saved = boards(MIB(64));
    go_on(saved, 200, 100, 400);
    file_skip_each_write("trends.write", save_them, expect_damage);
    trends_free(saved);
}

#endif

static void test_a_directory_that_is_not_there(void **state)
{
    (void)state;
    struct trends *trends = boards(MIB(1));
    char elsewhere[128];
    snprintf(elsewhere, sizeof elsewhere, "%s/no/trends", directory);
    assert_int_equal(trends_save(trends, elsewhere), -ENOENT);
    trends_free(trends);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_what_is_saved_comes_back),
        CASE(test_what_was_lost_and_refused_comes_back),
        CASE(test_empty_boards_can_be_saved),
        CASE(test_there_may_be_no_file),
        CASE(test_every_flipped_bit_is_found),
        CASE(test_every_other_length_is_found),
        CASE(test_files_that_lie_are_refused),
#ifdef LAUD_FAULTS
        CASE(test_every_failing_call),
        CASE(test_a_write_that_was_left_out),
#endif
        CASE(test_a_directory_that_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
