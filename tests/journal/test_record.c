#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/little.h"
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
        uint8_t bytes[KIB(1)];
        struct event event = sample_event(number);
        struct event back;
        size_t got;
        uint64_t position = number * 8;
        size_t size = encode(&event, position, bytes);
        assert_true(size % 8 == 0 && size <= event_bytes_max(&event) &&
                    size >= LIMIT_EVENT_BYTES_MIN);
        assert_int_equal(record_decode(bytes, size, position, &back, &got), STATUS_OK);
        assert_int_equal(got, size);
        assert_true(event_equal(&event, &back));
        if (!event_is_long(&event))
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
        uint8_t bytes[KIB(1)] = {0};
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

/* A long event; bits 0 and 1 of `wide` make its user and its item wide. */
static struct event long_event(uint32_t length, unsigned wide)
{
    return (struct event){
        .type = EVENT_COMMENT,
        .name = 255,
        .time_s = 0x01020304,
        .user = {wide & 1 ? 3 : 0, 0x1112131415161718},
        .item = {.id = {wide & 2 ? 4 : 0, 0x2122232425262728}, .type = 0x0102},
        .body = sample_body(length, length),
        .body_length = length,
    };
}

static const uint32_t lengths[] = {1, 2, 6, 7, 8, 9, 15, 16, 17, 255, 256, 10000, 16383, 16384};
#define LENGTHS (sizeof lengths / sizeof *lengths)

static void test_round_trip_of_long_events(void **state)
{
    (void)state;
    static uint8_t bytes[LIMIT_EVENT_LONG];
    for (size_t i = 0; i < LENGTHS * 4; i++) {
        struct event event = long_event(lengths[i / 4], i % 4);
        struct event back;
        size_t got;
        memset(bytes, 0xff, sizeof bytes);
        size_t size = encode(&event, 800, bytes);
        assert_int_equal(event_bytes_max(&event) - size, (i & 1 ? 0 : 8) + (i & 2 ? 0 : 8));
        assert_int_equal(record_decode(bytes, sizeof bytes, 800, &back, &got), STATUS_OK);
        assert_int_equal(got, size);
        assert_true(event_equal(&event, &back));
        assert_true(back.body >= bytes && back.body + back.body_length <= bytes + size);
        assert_int_equal(record_decode(bytes, size, 808, &back, &got), STATUS_DAMAGED);
        for (size_t length = 0; length < size; length += 1 + length / 8)
            assert_int_equal(record_decode(bytes, length, 800, &back, &got), STATUS_MORE);
        assert_int_equal(record_decode(bytes, size - 1, 800, &back, &got), STATUS_MORE);
    }
    struct event largest = long_event(LIMIT_EVENT_BODY, 3);
    assert_int_equal(record_size(&largest), LIMIT_EVENT_LONG);
}

static void test_a_long_event_has_the_bytes_described(void **state)
{
    (void)state;
    uint8_t bytes[64];
    struct event event = long_event(3, 0);
    event.body = (const uint8_t *)"abc";
    static const uint8_t expected[36] = {
        5,    0,    5,    0,    4,    3,    2,    1,    2,    1,    255,
        5,    0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11, 0x28, 0x27,
        0x26, 0x25, 0x24, 0x23, 0x22, 0x21, 'a',  'b',  'c',
    };
    assert_int_equal(encode(&event, 64, bytes), 40);
    assert_memory_equal(bytes + 4, expected, sizeof expected);
}

static void test_each_flipped_byte_of_a_long_event_is_refused(void **state)
{
    (void)state;
    static uint8_t bytes[2 * LIMIT_EVENT_LONG];
    for (size_t i = 0; i < LENGTHS * 4; i++) {
        struct event event = long_event(lengths[i / 4], i % 4);
        struct event back;
        size_t got;
        size_t size = encode(&event, 800, bytes);
        size_t step =
            size < 1000 ? 1 : 11; /* bits: each one of a small record, each byte at least */
        for (size_t bit = 0; bit < size * 8; bit += bit < 512 ? 1 : step) {
            bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
            assert_int_not_equal(record_decode(bytes, sizeof bytes, 800, &back, &got), STATUS_OK);
            bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
    }
}

/* Changes one byte of a long record and makes its check good again; expects it refused. */
static void expect_patch_refused(const struct event *event, size_t offset, uint8_t value)
{
    static uint8_t bytes[2 * LIMIT_EVENT_LONG];
    struct event back;
    size_t got;
    memset(bytes, 0, sizeof bytes);
    encode(event, 0, bytes);
    assert_int_not_equal(bytes[offset], value);
    bytes[offset] = value;
    size_t size = (size_t)little_get16(bytes + 4) * 8;
    assert_true(size <= sizeof bytes);
    little_put32(bytes, (uint32_t)XXH3_64bits_withSeed(bytes + 4, size - 4, 0));
    assert_int_equal(record_decode(bytes, sizeof bytes, 0, &back, &got), STATUS_DAMAGED);
}

static void test_nonsense_in_a_long_event_is_refused(void **state)
{
    (void)state;
    struct event event = long_event(3, 0); /* 5 bytes of padding at 35 to 39 */
    struct event wide = long_event(3, 3);
    struct event largest = long_event(LIMIT_EVENT_BODY, 0);
    expect_patch_refused(&event, 14, 0); /* no sub-type */
    expect_patch_refused(&event, 13, 4); /* no such type of items */
    expect_patch_refused(&event, 15, 8); /* padding of 8 bytes */
    expect_patch_refused(&event, 35, 1); /* padding that is not zero */
    expect_patch_refused(&event, 39, 1); /* the same */
    expect_patch_refused(&event, 7, 4);  /* a token */
    expect_patch_refused(&event, 7, 8);  /* no such flag */
    expect_patch_refused(&event, 7, 1);  /* a wide user, and no body */
    expect_patch_refused(&event, 4, 4);  /* no body */
    expect_patch_refused(&event, 6, 6);  /* no such type */
    expect_patch_refused(&event, 6, EVENT_SET);
    expect_patch_refused(&wide, 16, 0);      /* a wide user that is narrow */
    expect_patch_refused(&wide, 32, 0);      /* a wide item that is narrow */
    expect_patch_refused(&largest, 4, 0x05); /* a body of one word too many: 16416 + 8 bytes */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip_of_all_types_and_widths),
        cmocka_unit_test(test_a_narrow_like_takes_32_bytes_as_described),
        cmocka_unit_test(test_every_flipped_bit_is_refused),
        cmocka_unit_test(test_a_record_in_the_wrong_place_is_refused),
        cmocka_unit_test(test_nonsense_with_a_good_check_is_refused),
        cmocka_unit_test(test_round_trip_of_long_events),
        cmocka_unit_test(test_a_long_event_has_the_bytes_described),
        cmocka_unit_test(test_each_flipped_byte_of_a_long_event_is_refused),
        cmocka_unit_test(test_nonsense_in_a_long_event_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
