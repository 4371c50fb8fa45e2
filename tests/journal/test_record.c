#include <string.h>

#include "base/names.h"
#include "helper.h"

static size_t encode(const struct event *event, uint64_t position, uint8_t *out)
{
    size_t size = record_size(event);
    uint64_t first = record_encode(event, position, out, size);
    memcpy(out, &first, sizeof first);
    return size;
}

static void test_round_trip_of_all_types_and_widths(void **state)
{
    (void)state;
    bool seen[LIMIT_EVENT_BYTES / 8 + 1][EVENT_ADD + 1] = {{false}};
    for (uint64_t number = 0; number < 20000; number++) {
        uint8_t bytes[LIMIT_EVENT_BYTES];
        struct event event = sample_event(number);
        struct event back;
        size_t got;
        uint64_t position = number * 8;
        size_t size = encode(&event, position, bytes);
        assert_true(size % 8 == 0 && size <= LIMIT_EVENT_BYTES && size >= LIMIT_EVENT_BYTES_MIN);
        assert_int_equal(record_decode(bytes, size, position, &back, &got), STATUS_OK);
        assert_int_equal(got, size);
        assert_true(event_equal(&event, &back));
        seen[size / 8][event.type] = true;
    }
    for (size_t units = 4; units <= 7; units++)
        assert_true(seen[units][EVENT_SET] && seen[units][EVENT_ADD]);
    assert_true(seen[4][EVENT_CLEAR] && seen[6][EVENT_CLEAR] && seen[7][EVENT_CLEAR]);
    assert_true(seen[3][EVENT_DEFINE] && seen[6][EVENT_DEFINE]);
}

static void test_a_narrow_like_takes_32_bytes_as_described(void **state)
{
    (void)state;
    uint8_t bytes[LIMIT_EVENT_BYTES];
    struct event like = {
        .type = EVENT_SET,
        .time_s = 0x01020304,
        .user = {0, 0x1112131415161718},
        .item = {.id = {0, 0x2122232425262728}, .type = 0x0102},
        .name = 5,
    };
    static const uint8_t expected[28] = {
        4,    0,    2,    0,    4,    3,    2,    1,    2,    1,    5,    0,    0x18, 0x17,
        0x16, 0x15, 0x14, 0x13, 0x12, 0x11, 0x28, 0x27, 0x26, 0x25, 0x24, 0x23, 0x22, 0x21,
    };
    assert_int_equal(encode(&like, 64, bytes), 32);
    assert_memory_equal(bytes + 4, expected, sizeof expected);
}

static void test_every_flipped_bit_is_refused(void **state)
{
    (void)state;
    for (uint64_t number = 0; number < 300; number++) {
        uint8_t bytes[2 * LIMIT_EVENT_BYTES] = {0};
        struct event event = sample_event(number);
        struct event back;
        size_t got;
        size_t size = encode(&event, number * 64, bytes);
        for (size_t bit = 0; bit < size * 8; bit++) {
            bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
            assert_int_not_equal(record_decode(bytes, sizeof bytes, number * 64, &back, &got),
                                 STATUS_OK);
            bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
    }
}

static void test_a_record_in_the_wrong_place_is_refused(void **state)
{
    (void)state;
    uint8_t bytes[LIMIT_EVENT_BYTES];
    struct event event = sample_event(7);
    struct event back;
    size_t got;
    size_t size = encode(&event, 1000, bytes);
    assert_int_equal(record_decode(bytes, size, 1000, &back, &got), STATUS_OK);
    assert_int_equal(record_decode(bytes, size, 1008, &back, &got), STATUS_DAMAGED);
    for (size_t length = 0; length < size; length++)
        assert_int_equal(record_decode(bytes, length, 1000, &back, &got), STATUS_MORE);
}

/* Encodes something no writer says, with a good check, and expects it refused. */
static void expect_refused(const struct event *event)
{
    uint8_t bytes[LIMIT_EVENT_BYTES];
    struct event back;
    size_t got;
    size_t size = encode(event, 0, bytes);
    assert_int_equal(record_decode(bytes, size, 0, &back, &got), STATUS_DAMAGED);
}

static void test_nonsense_with_a_good_check_is_refused(void **state)
{
    (void)state;
    struct event like = {.type = EVENT_SET, .user = {0, 1}, .item = {.id = {0, 2}}};
    struct event bad = like;
    bad.name = LIMIT_NAMES;
    expect_refused(&bad);
    bad = like;
    bad.item.type = LIMIT_TYPES;
    expect_refused(&bad);
    bad = like;
    bad.type = EVENT_CLEAR;
    bad.cleared_count = 1;
    bad.cleared[0] = LIMIT_NAMES;
    expect_refused(&bad);
    bad = like;
    bad.cleared_count = 1;
    bad.cleared[0] = LIMIT_NAMES;
    expect_refused(&bad);
    struct event define = {.type = EVENT_DEFINE, .text_length = 1, .text = "a"};
    define.name = 0;
    expect_refused(&define);
    define.name = NAME_KEPT + 1;
    expect_refused(&define);
    define.name = NAME_KIND;
    define.index = LIMIT_NAMES;
    expect_refused(&define);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip_of_all_types_and_widths),
        cmocka_unit_test(test_a_narrow_like_takes_32_bytes_as_described),
        cmocka_unit_test(test_every_flipped_bit_is_refused),
        cmocka_unit_test(test_a_record_in_the_wrong_place_is_refused),
        cmocka_unit_test(test_nonsense_with_a_good_check_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
