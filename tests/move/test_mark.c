/* The mark of an import: what was written is read, and what is not good says "under way". */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "conform/directory.h"
#include "move/mark.h"

static const struct move_mark mark = {
    .until = 1234, .source = {.bytes = 5, .changed_ns = 6, .check = 7}, .offset = 8, .line = 9};

static char directory[] = "/tmp/laud-mark-XXXXXX";
static char path[64];
static uint8_t bytes[128];
static size_t length;

static int set_up(void **state)
{
    (void)state;
    directory_make(directory);
    snprintf(path, sizeof path, "%s/%s", directory, MOVE_MARK_NAME);
    return 0;
}

static int take_down(void **state)
{
    (void)state;
    directory_remove(directory);
    return 0;
}

static void write_bytes(size_t count)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

static void expect_under_way(void)
{
    struct move_mark read;
    assert_int_equal(move_mark_read(directory, &read), STATUS_DAMAGED);
    assert_true(read.until == UINT64_MAX);
    assert_int_equal(read.source.bytes, 0);
    assert_int_equal(read.offset, 0);
}

static void test_absent(void **state)
{
    (void)state;
    struct move_mark read;
    assert_int_equal(move_mark_read(directory, &read), STATUS_OK);
    assert_int_equal(read.until, 0);
    assert_int_equal(move_mark_read("/nowhere/at/all", &read), STATUS_OK);
    assert_true(move_mark_write("/nowhere/at/all", &mark) < 0);
}

static void test_written(void **state)
{
    (void)state;
    struct move_mark read;
    assert_int_equal(move_mark_write(directory, &(struct move_mark){.until = UINT64_MAX}), 0);
    assert_int_equal(move_mark_write(directory, &mark), 0);
    assert_int_equal(move_mark_read(directory, &read), STATUS_OK);
    assert_memory_equal(&read, &mark, sizeof mark);
}

/* Each flipped bit and each other length. */
static void test_damaged(void **state)
{
    (void)state;
    assert_int_equal(move_mark_write(directory, &mark), 0);
    FILE *file = fopen(path, "rb");
    length = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_int_equal(length, 72);
    for (size_t bit = 0; bit < length * 8; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        write_bytes(length);
        expect_under_way();
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    for (size_t other = 0; other < length + 8; other++) {
        write_bytes(other);
        if (other != length)
            expect_under_way();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_absent),
        cmocka_unit_test(test_written),
        cmocka_unit_test(test_damaged),
    };
    return cmocka_run_group_tests(tests, set_up, take_down);
}
