/* The parts of the RocksDB store that need no RocksDB: keys, counter lists, sorting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/names.h"
#include "store/rocksdb/keys.h"
#include "store/rocksdb/merge.h"
#include "store/rocksdb/rows.h"

static uint64_t seed;

static struct id random_id(uint64_t number)
{
    uint64_t dice = hash_3(seed, number, 1);
    struct id id = {.lo = hash_3(seed, number, 2)};
    if (dice % 3 == 0)
        id.hi = hash_3(seed, number, 3) | 1;
    if (dice % 5 == 0)
        id.lo %= 100;
    return id;
}

static struct store_reaction random_reaction(uint64_t number)
{
    uint64_t dice = hash_3(seed, number, 4);
    return (struct store_reaction){
        .user = random_id(number * 2),
        .item = {.id = random_id(number * 2 + 1), .type = (uint16_t)(dice % LIMIT_TYPES)},
        .kind = (uint8_t)(dice >> 16),
        .time_s = (uint32_t)(dice >> 24)};
}

static bool same(const struct store_reaction *a, const struct store_reaction *b)
{
    return id_equal(a->user, b->user) && item_equal(a->item, b->item) && a->kind == b->kind;
}

static void test_keys_come_back(void **state)
{
    (void)state;
    for (uint64_t number = 0; number < 5000; number++) {
        struct store_reaction in = random_reaction(number), out = {0};
        uint8_t key[KEY_MAX];
        size_t length = key_write_reaction(key, &in);
        assert_true(length <= KEY_MAX && key_read_reaction(key, length, &out) && same(&in, &out));
        for (size_t cut = 0; cut < length; cut++)
            assert_false(key_read_reaction(key, cut, &out));
        length = key_write_by_item(key, &in, in.time_s);
        assert_true(length <= KEY_MAX && key_read_by_item(key, length, &out) && same(&in, &out));
        assert_int_equal(out.time_s, in.time_s);
        assert_false(key_read_reaction(key, length, &out));
        for (size_t cut = 0; cut < length; cut++)
            assert_false(key_read_by_item(key, cut, &out));
        key[1 + number % 2] ^= 1; /* stands where it does not belong */
        assert_false(key_read_by_item(key, length, &out));
        length = key_write_by_user(key, &in, in.time_s);
        assert_true(length <= KEY_MAX && key_read_by_user(key, length, &out) && same(&in, &out));
        assert_int_equal(out.time_s, in.time_s);
        for (size_t cut = 0; cut < length; cut++)
            assert_false(key_read_by_user(key, cut, &out));
        uint8_t relation[KEY_MAX], made[KEY_MAX];
        size_t relation_length = key_write_reaction(relation, &in);
        assert_int_equal(relation_write_by_user(made, relation, relation_length, in.time_s),
                         length);
        assert_memory_equal(made, key, length);
        key[1 + number % 2] ^= 1;
        assert_false(key_read_by_user(key, length, &out));
        length = key_write_counters(key, in.item);
        assert_true(key_read_counters(key, length, &out.item) && item_equal(in.item, out.item));
        assert_int_equal(key_item_part(key, length), length);
        assert_false(key_read_counters(key, length - 1, &out.item));
    }
}

/* By item, newest first: what a list of likers needs. */
static void test_by_item_order(void **state)
{
    (void)state;
    struct store_reaction like = {.user.lo = 5, .item.id.lo = 7};
    uint8_t newer[KEY_MAX], older[KEY_MAX], counters[KEY_MAX];
    size_t length = key_write_by_item(newer, &like, 0x80000000);
    like.user.lo = 4;
    assert_int_equal(key_write_by_item(older, &like, 0x7fffffff), length);
    assert_true(memcmp(newer, older, length) < 0);
    size_t part = key_write_counters(counters, like.item);
    assert_memory_equal(counters + 1, newer + 1, part - 1);
    assert_int_equal(key_item_part(newer, length), part);
}

static int compare_keys(const uint8_t *a, size_t a_length, const uint8_t *b, size_t b_length)
{
    int order = memcmp(a, b, a_length < b_length ? a_length : b_length);
    return order != 0 ? order : (int)a_length - (int)b_length;
}

static struct store_listed random_listed(uint64_t number)
{
    return (struct store_listed){.time_s = 1 + (uint32_t)(hash_3(seed, number, 7) % 4),
                                 .id = random_id(number)};
}

/* Keys of both lists sort as places do, and bounds fall between them. */
static void test_listed_order(void **state)
{
    (void)state;
    const struct store_reaction common = random_reaction(1);
    for (uint64_t number = 0; number < 20000; number++) {
        struct store_listed places[2] = {random_listed(number), random_listed(number * 7 + 1)};
        uint8_t keys[2][KEY_MAX], head[KEY_MAX], bound[KEY_BOUND_MAX];
        size_t lengths[2], head_length;
        for (int i = 0; i < 2; i++) {
            struct store_reaction reaction = common;
            *(number % 2 ? &reaction.user : &reaction.item.id) = places[i].id;
            lengths[i] = number % 2 ? key_write_by_item(keys[i], &reaction, places[i].time_s)
                                    : key_write_by_user(keys[i], &reaction, places[i].time_s);
        }
        head_length = number % 2
                          ? list_write_reactors(head, common.item, common.kind)
                          : list_write_reactions(head, common.user, common.kind, common.item.type);
        int wanted = store_listed_order(places[0], places[1]);
        int order = compare_keys(keys[0], lengths[0], keys[1], lengths[1]);
        assert_true((wanted < 0) == (order < 0) && (wanted > 0) == (order > 0));
        struct store_listed back;
        assert_true(list_read(keys[1], lengths[1], head_length, &back));
        assert_int_equal(store_listed_order(back, places[1]), 0);
        size_t length = list_write_after(bound, head, head_length, places[0]);
        assert_true((wanted < 0) == (compare_keys(bound, length, keys[1], lengths[1]) <= 0));
        length = list_write_after(bound, head, head_length, (struct store_listed){0});
        assert_true(compare_keys(bound, length, keys[1], lengths[1]) <= 0);
        length = list_write_end(bound, head, head_length);
        assert_true(compare_keys(bound, length, keys[1], lengths[1]) > 0);
    }
}

static void test_small_rows_come_back(void **state)
{
    (void)state;
    uint8_t key[KEY_MAX], value[TOKEN_VALUE_MAX], bytes[POSITION_BYTES];
    struct store_token token;
    struct store_name name;
    struct store_place place = {.position = UINT64_MAX, .reactions = 7, .token_horizon_s = 1}, back;
    const uint64_t text[] = {1, UINT64_MAX};
    struct item item = {.id = {.hi = 1, .lo = 2}, .type = 1023};
    size_t length = key_write_token(key, 0xfffffffe, text);
    size_t value_length =
        token_write_value(value, &(struct store_token){.item = item, .value = 0x0102030405060708});
    assert_int_equal(value_length, TOKEN_VALUE_MAX);
    assert_true(token_read(key, length, value, value_length, &token));
    assert_true(token.value == 0x0102030405060708);
    memset(value + value_length - 8, 0, 8); /* a value of 0 is not written */
    assert_false(token_read(key, length, value, value_length, &token));
    value_length = token_write_value(value, &(struct store_token){.item = item});
    assert_int_equal(value_length, TOKEN_VALUE_MAX - 8);
    assert_true(token_read(key, length, value, value_length, &token));
    assert_int_equal(token.value, 0);
    assert_int_equal(token.time_s, 0xfffffffe);
    assert_true(token.token[0] == 1 && token.token[1] == UINT64_MAX);
    assert_true(item_equal(token.item, item));
    assert_false(token_read(key, length - 1, value, value_length, &token));
    assert_false(token_read(key, length, value, value_length - 1, &token));
    length = key_write_name(key, NAME_TYPE, 1023);
    assert_true(name_read(key, length, (const uint8_t *)"video", 5, &name));
    assert_true(name.index == 1023 && name.length == 5 && name.role == NAME_TYPE);
    assert_false(name_read(key, length, (const uint8_t *)"", 0, &name));
    length = key_write_name(key, NAME_KIND, 250);
    assert_false(name_read(key, length, (const uint8_t *)"like", 4, &name));
    length = key_write_name(key, 9, 1);
    assert_false(name_read(key, length, (const uint8_t *)"like", 4, &name));
    place_write(bytes, &place);
    assert_true(place_read(bytes, sizeof(bytes), &back));
    assert_memory_equal(&place, &back, sizeof(place));
    assert_false(place_read(bytes, sizeof(bytes) - 1, &back));
}

static void test_counters_come_back(void **state)
{
    (void)state;
    const int64_t values[] = {0,  1,   -1,   63,        -64,       64,        -65,
                              99, 1e9, -1e9, INT64_MAX, INT64_MIN, -INT64_MAX};
    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
        uint8_t bytes[COUNTER_BYTES_MAX], name;
        int64_t value;
        size_t length = counter_write(bytes, (uint8_t)i, values[i]);
        assert_true(length <= sizeof(bytes));
        const uint8_t *at = bytes;
        assert_true(counter_read(&at, bytes + length, &name, &value));
        assert_true(at == bytes + length && name == i && value == values[i]);
        for (size_t cut = 0; cut < length; cut++) {
            at = bytes;
            assert_false(counter_read(&at, bytes + cut, &name, &value));
            assert_ptr_equal(at, bytes);
        }
    }
    const uint8_t endless[] = {1, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1};
    const uint8_t *at = endless;
    assert_false(counter_read(&at, endless + sizeof(endless), &(uint8_t){0}, &(int64_t){0}));
}

static void expect_sorted(const struct rows *rows, size_t count)
{
    assert_int_equal(rows->count, count);
    for (size_t i = 1; i < rows->count; i++) {
        const struct row *a = &rows->row[i - 1], *b = &rows->row[i];
        size_t shorter = a->key_length < b->key_length ? a->key_length : b->key_length;
        int order = memcmp(row_key(rows, a), row_key(rows, b), shorter);
        assert_true(order < 0 || (order == 0 && a->key_length <= b->key_length));
    }
}

/* Few and many, spread and piled up on one item; every row is there once, with its value. */
static void test_sorting(void **state)
{
    (void)state;
    const size_t sizes[] = {0, 1, 2, 17, 300, 4095, 4096, 60000};
    struct rows rows = {0};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes) * 2; i++) {
        size_t count = sizes[i / 2];
        uint64_t sum = 0;
        assert_true(rows_start(&rows, count));
        for (uint64_t number = 0; number < count; number++) {
            struct store_reaction reaction = random_reaction(number);
            uint8_t *key = rows_room(&rows);
            if (i % 2)
                reaction.item = (struct item){.id.lo = number % 3};
            size_t length = key_write_by_item(key, &reaction, reaction.time_s);
            put_u64(key + length, number);
            rows_add(&rows, length, 8);
        }
        rows_sort(&rows);
        expect_sorted(&rows, count);
        for (size_t at = 0; at < count; at++)
            sum += hash_mix(get_u64(row_value(&rows, &rows.row[at])), 1);
        for (uint64_t number = 0; number < count; number++)
            sum -= hash_mix(number, 1);
        assert_int_equal(sum, 0);
    }
    rows_destroy(&rows);
}

/* Short keys too, and keys that are the beginning of others. */
static void test_sorting_short(void **state)
{
    (void)state;
    struct rows rows = {0};
    assert_true(rows_start(&rows, 200));
    for (uint64_t number = 0; number < 200; number++) {
        size_t length = 4 + hash_3(seed, number, 5) % 4;
        uint8_t *key = rows_room(&rows);
        memset(key, 'N', length);
        key[length - 1] = (uint8_t)(hash_3(seed, number, 6) % 3);
        rows_add(&rows, length, 0);
    }
    rows_sort(&rows);
    expect_sorted(&rows, 200);
    rows_destroy(&rows);
}

int main(void)
{
    const char *text = getenv("LAUD_SEED");
    seed = text != NULL ? strtoull(text, NULL, 10) : (uint64_t)time(NULL);
    printf("LAUD_SEED=%llu\n", (unsigned long long)seed);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys_come_back),     cmocka_unit_test(test_by_item_order),
        cmocka_unit_test(test_listed_order),       cmocka_unit_test(test_small_rows_come_back),
        cmocka_unit_test(test_counters_come_back), cmocka_unit_test(test_sorting),
        cmocka_unit_test(test_sorting_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
