/*
 * The table of spans: what is shown, its inverse, its bound; and its file, of which each flipped bit and
 * each other length is found.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "chance.h"
#include "journal/helper.h"
#include "time/spans.h"

#define NOW   1790000000U
#define AHEAD 4070908800U

static void nothing_is_changed_by_no_spans(void **state)
{
    (void)state;
    struct spans spans = {0};
    assert_int_equal(spans_shown(&spans, 17), 17);
    assert_int_equal(spans_recorded(&spans, 17), 17);
    assert_int_equal(spans_past(&spans, AHEAD, NOW), NOW);
    assert_int_equal(spans_offset(&spans), 0);
}

static void each_span_has_its_offset(void **state)
{
    (void)state;
    struct spans spans = {0};
    spans_add(&spans, AHEAD, AHEAD + 1 - NOW);       /* the clock is right again */
    spans_add(&spans, AHEAD + 100, AHEAD + 1 - NOW); /* nothing new */
    spans_add(&spans, AHEAD + 100, 5);
    assert_int_equal(spans.count, 3);
    assert_int_equal(spans_offset(&spans), 5);
    assert_int_equal(spans_shown(&spans, NOW - 9), NOW - 9);
    assert_int_equal(spans_shown(&spans, AHEAD), AHEAD);
    assert_int_equal(spans_shown(&spans, AHEAD + 1), NOW);
    assert_int_equal(spans_shown(&spans, AHEAD + 100), NOW + 99);
    assert_int_equal(spans_shown(&spans, AHEAD + 101), AHEAD + 96);
    assert_int_equal(spans_past(&spans, NOW - 9, NOW + 500), NOW - 9);
    assert_int_equal(spans_past(&spans, AHEAD, NOW + 500), NOW); /* when it was put right */
    assert_int_equal(spans_past(&spans, AHEAD + 50, NOW + 500), NOW + 49);
    assert_int_equal(spans_past(&spans, AHEAD + 101, NOW + 500), NOW + 500);
}

static void a_span_without_anything_recorded_goes(void **state)
{
    (void)state;
    struct spans spans = {0};
    for (uint32_t i = 0; i < 1000; i++)
        spans_add(&spans, NOW, 1000 + i);
    assert_int_equal(spans.count, 2);
    assert_int_equal(spans_offset(&spans), 1999);
    spans_add(&spans, NOW, 0);
    assert_int_equal(spans.count, 1);
    assert_int_equal(spans_shown(&spans, AHEAD), AHEAD);
}

/* Any clock: what was recorded when it said something is found again by what it said. */
static void times_are_recorded_where_they_belong(void **state)
{
    (void)state;
    struct chance chance = {test_seed()};
    struct spans spans = {0};
    uint32_t newest_s = NOW, wall_s = NOW;
    for (int i = 0; i < 40; i++) {
        uint32_t back_s = chance_below(&chance, 10000);
        wall_s = wall_s + chance_below(&chance, 20000) - back_s;
        spans_add(&spans, newest_s, wall_s > newest_s ? 0 : newest_s + 1 - wall_s);
        newest_s = wall_s + spans_offset(&spans);
    }
    for (uint32_t shown_s = NOW - 100000; shown_s <= wall_s;
         shown_s += 1 + chance_below(&chance, 90)) {
        uint32_t recorded_s = spans_recorded(&spans, shown_s);
        assert_true(recorded_s <= newest_s);
        assert_true(spans_shown(&spans, recorded_s) <= shown_s);
        if (recorded_s < newest_s && spans_shown(&spans, recorded_s) < shown_s) /* in a gap */
            assert_true(spans_shown(&spans, recorded_s + 1) != shown_s);
    }
    assert_int_equal(spans_recorded(&spans, wall_s), newest_s);
    assert_int_equal(spans_recorded(&spans, NOW - 500000), NOW - 500000);
}

static void there_are_never_too_many(void **state)
{
    (void)state;
    struct spans spans = {0};
    for (uint32_t i = 1; i <= 10 * SPANS_MAX; i++) {
        spans_add(&spans, NOW + i, i % 2 * 20);
        assert_true(spans.count <= SPANS_MAX);
    }
    spans_add(&spans, AHEAD, AHEAD - NOW); /* what differs most stays longest */
    for (uint32_t i = 1; i <= 10 * SPANS_MAX; i++)
        spans_add(&spans, AHEAD + i, AHEAD - NOW + i % 2 * 20);
    assert_int_equal(spans_shown(&spans, NOW - 1), NOW - 1);
    assert_in_range(spans_shown(&spans, AHEAD + 1), NOW - 19, NOW + 1);
    assert_in_range(spans_shown(&spans, AHEAD), AHEAD - 20, AHEAD);
    for (uint32_t i = 1; i < spans.count; i++)
        assert_true(spans.list[i].from_s > spans.list[i - 1].from_s);
}

static char directory[64];

static void overwrite(const void *bytes, size_t length)
{
    char path[128];
    snprintf(path, sizeof path, "%s/" SPANS_NAME, directory);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(write(fd, bytes, length), length);
    close(fd);
}

static size_t file_bytes(uint8_t *bytes, size_t size)
{
    char path[128];
    snprintf(path, sizeof path, "%s/" SPANS_NAME, directory);
    int fd = open(path, O_RDONLY);
    ssize_t length = read(fd, bytes, size);
    close(fd);
    assert_true(length > 0);
    return (size_t)length;
}

static void the_file_brings_back_the_same_or_is_refused(void **state)
{
    (void)state;
    uint8_t bytes[1024], wrong[1024];
    struct spans spans = {0}, again;
    directory_make(directory);
    assert_int_equal(spans_read(directory, &again), STATUS_OK);
    assert_int_equal(again.count, 0);
    for (uint32_t i = 0; i < 2 * SPANS_MAX; i++) {
        assert_int_equal(spans_write(directory, &spans), 0);
        assert_int_equal(spans_read(directory, &again), STATUS_OK);
        assert_memory_equal(&spans, &again, sizeof spans.count + spans.count * sizeof *spans.list);
        spans_add(&spans, NOW + i, i % 7);
    }
    size_t length = file_bytes(bytes, sizeof bytes);
    for (size_t bit = 0; bit < 8 * length; bit++) {
        memcpy(wrong, bytes, length);
        wrong[bit / 8] ^= (uint8_t)(1 << bit % 8);
        overwrite(wrong, length);
        assert_int_equal(spans_read(directory, &again), STATUS_DAMAGED);
    }
    for (size_t other = 0; other <= length + 8; other++) {
        memset(wrong, 0, sizeof wrong);
        memcpy(wrong, bytes, length);
        overwrite(wrong, other);
        assert_int_equal(spans_read(directory, &again),
                         other == length ? STATUS_OK : STATUS_DAMAGED);
    }
    directory_remove(directory);
    assert_true(spans_write(directory, &spans) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_changed_by_no_spans),
        cmocka_unit_test(each_span_has_its_offset),
        cmocka_unit_test(a_span_without_anything_recorded_goes),
        cmocka_unit_test(times_are_recorded_where_they_belong),
        cmocka_unit_test(there_are_never_too_many),
        cmocka_unit_test(the_file_brings_back_the_same_or_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
