/* Keys and values of rows: round trips, the order of keys, and no other bytes are taken for one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "comment/rows.h"
#include "sample.h"

enum { ROUNDS = 100 };

static struct store_bytes bytes_of(const uint8_t *data, size_t length)
{
    return (struct store_bytes){data, (uint32_t)length};
}

static struct comment_index sample_index(struct chance *chance, const struct comment *comment)
{
    struct comment_index index = {.listed = sample_bool(chance),
                                  .unlisted = sample_bool(chance),
                                  .held = sample_bool(chance),
                                  .written = (uint8_t)chance_below(chance, 3),
                                  .queued = (uint8_t)chance_below(chance, 3),
                                  .reported = (uint32_t)chance_next(chance)};
    for (unsigned order = 0; order < ORDER_TOTAL; order++)
        if (index.listed && comment_is_root(comment) && comment_order_has_key(order))
            index.keys[order] = chance_next(chance);
    return index;
}

static size_t comment_again(const uint8_t *bytes, size_t length, uint8_t *out)
{
    struct comment comment;
    struct comment_index index;
    if (row_read_comment(bytes_of(bytes, length), 5, &comment, &index) != STATUS_OK)
        return 0;
    return row_write_comment(&comment, &index, out);
}

static void comments(void **state)
{
    (void)state;
    struct chance chance = {test_seed()};
    uint8_t bytes[ROW_COMMENT_MAX];
    uint8_t out[ROW_COMMENT_MAX];
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct comment comment = sample_comment(&chance);
        struct comment_index index = sample_index(&chance, &comment);
        struct comment back;
        struct comment_index index_back;
        size_t length = row_write_comment(&comment, &index, bytes);
        assert_true(length <= sizeof bytes);
        assert_int_equal(row_read_comment(bytes_of(bytes, length), comment.id, &back, &index_back),
                         STATUS_OK);
        expect_comment(&comment, &back);
        assert_int_equal(index.listed, index_back.listed);
        assert_int_equal(index.unlisted, index_back.unlisted);
        assert_int_equal(index.held, index_back.held);
        assert_int_equal(index.written, index_back.written);
        assert_int_equal(index.queued, index_back.queued);
        assert_int_equal(index.reported, index_back.reported);
        assert_memory_equal(index.keys, index_back.keys, sizeof index.keys);
        assert_int_equal(row_read_comment(bytes_of(bytes, length), comment.id, &back, NULL),
                         STATUS_OK);
        expect_one_form(comment_again, bytes, length, out);
    }
}

static size_t subject_again(const uint8_t *bytes, size_t length, uint8_t *out)
{
    struct subject subject;
    if (row_read_subject(bytes_of(bytes, length), (struct item){0}, &subject) != STATUS_OK)
        return 0;
    return row_write_subject(&subject, out);
}

static void subjects(void **state)
{
    (void)state;
    struct chance chance = {test_seed()};
    uint8_t bytes[ROW_COMMENT_MAX];
    uint8_t out[ROW_COMMENT_MAX];
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct subject subject = sample_subject(&chance);
        struct subject back;
        size_t length = row_write_subject(&subject, bytes);
        assert_int_equal(row_read_subject(bytes_of(bytes, length), subject.item, &back), STATUS_OK);
        expect_subject(&subject, &back);
        expect_one_form(subject_again, bytes, length, out);
    }
}

static size_t entry_again(const uint8_t *bytes, size_t length, uint8_t *out)
{
    struct inbox_entry entry;
    if (row_read_inbox_entry(bytes_of(bytes, length), &entry) != STATUS_OK)
        return 0;
    return row_write_inbox(&entry, out);
}

static size_t state_again(const uint8_t *bytes, size_t length, uint8_t *out)
{
    struct inbox_state inbox;
    if (row_read_inbox_state(bytes_of(bytes, length), &inbox) != STATUS_OK)
        return 0;
    return row_write_inbox_state(&inbox, out);
}

static size_t ban_again(const uint8_t *bytes, size_t length, uint8_t *out)
{
    struct user_ban ban;
    if (row_read_ban(bytes_of(bytes, length), &ban) != STATUS_OK)
        return 0;
    return row_write_ban(&ban, out);
}

static size_t number_again(const uint8_t *bytes, size_t length, uint8_t *out)
{
    uint64_t number;
    if (row_read_number(bytes_of(bytes, length), &number) != STATUS_OK)
        return 0;
    return row_write_number(number, out);
}

static size_t kinds_again(const uint8_t *bytes, size_t length, uint8_t *out)
{
    struct comment_kinds kinds;
    if (row_read_kinds(bytes_of(bytes, length), &kinds) != STATUS_OK)
        return 0;
    return row_write_kinds(&kinds, out);
}

static void kinds(void **state)
{
    (void)state;
    static const struct comment_kinds samples[] = {
        {"dislike", "report"},
        {"", "report"},
        {"down", ""},
        {"", ""},
        {"abcdefghijklmnopqrstuvwxyz-12345", "abcdefghijklmnopqrstuvwxyz_67890"}};
    uint8_t bytes[ROW_COMMENT_MAX];
    uint8_t out[ROW_COMMENT_MAX];
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        struct comment_kinds back;
        size_t length = row_write_kinds(&samples[i], bytes);
        assert_int_equal(row_read_kinds(bytes_of(bytes, length), &back), STATUS_OK);
        assert_string_equal(back.dislike, samples[i].dislike);
        assert_string_equal(back.report, samples[i].report);
        expect_one_form(kinds_again, bytes, length, out);
    }
}

static void small_values(void **state)
{
    (void)state;
    struct chance chance = {test_seed()};
    uint8_t bytes[ROW_COMMENT_MAX];
    uint8_t out[ROW_COMMENT_MAX];
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct inbox_entry entry = {.comment = chance_next(&chance),
                                    .by = sample_id(&chance),
                                    .time_s = (uint32_t)chance_next(&chance),
                                    .mention = sample_bool(&chance)};
        struct inbox_entry entry_back;
        size_t length = row_write_inbox(&entry, bytes);
        assert_int_equal(row_read_inbox_entry(bytes_of(bytes, length), &entry_back), STATUS_OK);
        assert_int_equal(entry.comment, entry_back.comment);
        assert_true(id_equal(entry.by, entry_back.by));
        assert_int_equal(entry.time_s, entry_back.time_s);
        assert_int_equal(entry.mention, entry_back.mention);
        expect_one_form(entry_again, bytes, length, out);
        struct inbox_state inbox = {(uint32_t)chance_next(&chance), (uint32_t)chance_next(&chance)};
        struct inbox_state inbox_back;
        length = row_write_inbox_state(&inbox, bytes);
        assert_int_equal(row_read_inbox_state(bytes_of(bytes, length), &inbox_back), STATUS_OK);
        assert_memory_equal(&inbox, &inbox_back, sizeof inbox);
        expect_one_form(state_again, bytes, length, out);
        struct user_ban ban = {(uint32_t)chance_next(&chance), sample_bool(&chance)};
        struct user_ban ban_back;
        length = row_write_ban(&ban, bytes);
        assert_int_equal(row_read_ban(bytes_of(bytes, length), &ban_back), STATUS_OK);
        assert_int_equal(ban.until_s, ban_back.until_s);
        assert_int_equal(ban.shadow, ban_back.shadow);
        expect_one_form(ban_again, bytes, length, out);
        uint64_t number = 0;
        length = row_write_number(entry.comment, bytes);
        assert_int_equal(row_read_number(bytes_of(bytes, length), &number), STATUS_OK);
        assert_int_equal(number, entry.comment);
        expect_one_form(number_again, bytes, length, out);
    }
}

static void keys_of_comments(void **state)
{
    (void)state;
    struct chance chance = {test_seed()};
    uint8_t key[ROW_KEY_MAX];
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct item item = sample_item(&chance);
        struct item item_back;
        struct id user = sample_id(&chance);
        struct id user_back;
        uint64_t id = chance_next(&chance);
        uint64_t id_back;
        uint64_t rank;
        uint32_t floor = (uint32_t)chance_next(&chance);
        uint32_t floor_back;
        uint8_t order;
        assert_true(row_read_item(bytes_of(key, row_key_item(item, key)), &item_back));
        assert_true(item_equal(item, item_back));
        assert_true(row_read_id(bytes_of(key, row_key_id(id, key)), &id_back));
        assert_int_equal(id, id_back);
        size_t length = row_key_history(id, floor, key);
        assert_true(row_read_id(bytes_of(key, length), &id_back) && id == id_back);
        assert_true(row_read_history(bytes_of(key, length), &id_back, &floor_back));
        assert_true(id == id_back && floor == floor_back);
        assert_true(row_read_floor(bytes_of(key, row_key_floor(item, floor, key)), &item_back,
                                   &floor_back));
        assert_true(item_equal(item, item_back) && floor == floor_back);
        length = row_key_order(item, ORDER_BEST, id, floor, key);
        assert_true(row_read_order(bytes_of(key, length), &item_back, &order, &rank, &floor_back));
        assert_true(item_equal(item, item_back) && order == ORDER_BEST && rank == id);
        assert_int_equal(floor, floor_back);
        assert_false(row_read_held(bytes_of(key, length), NULL, NULL, NULL));
        length = row_key_unlisted(item, floor, key);
        assert_true(row_read_order(bytes_of(key, length), &item_back, &order, &rank, &floor_back));
        assert_true(order == ROWS_UNLISTED && rank == 0 && floor == floor_back);
        length = row_key_held(item, user, id, key);
        assert_true(row_read_held(bytes_of(key, length), &item_back, &user_back, &id_back));
        assert_true(item_equal(item, item_back) && id_equal(user, user_back) && id == id_back);
        assert_false(row_read_order(bytes_of(key, length), NULL, NULL, NULL, NULL));
    }
}

static void keys_of_users_and_queues(void **state)
{
    (void)state;
    struct chance chance = {test_seed()};
    uint8_t key[ROW_KEY_MAX];
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct id user = sample_id(&chance);
        struct id user_back;
        uint64_t id = chance_next(&chance);
        uint64_t id_back;
        uint32_t number = (uint32_t)chance_next(&chance);
        uint32_t number_back;
        uint16_t type;
        uint8_t byte;
        enum queue_state queue;
        size_t length = row_key_written(user, 1, id, key);
        assert_true(row_read_written(bytes_of(key, length), &user_back, &byte, &id_back));
        assert_true(id_equal(user, user_back) && byte == 1 && id == id_back);
        length = row_key_inbox(user, number, key);
        assert_true(row_read_inbox(bytes_of(key, length), &user_back, &number_back));
        assert_true(id_equal(user, user_back) && number == number_back);
        length = row_key_queue(513, QUEUE_REPORTED, number, id, key);
        assert_true(row_read_queue(bytes_of(key, length), &type, &queue, &number_back, &id_back));
        assert_true(type == 513 && queue == QUEUE_REPORTED && number == number_back);
        assert_int_equal(id, id_back);
        length = row_key_user(user, 'b', key);
        assert_true(row_read_user(bytes_of(key, length), &user_back, &byte));
        assert_true(id_equal(user, user_back) && byte == 'b');
        assert_int_equal(row_key_state('i', key), 1);
    }
}

/* The groups that the store keeps together are as long as it expects, and the rest is not too long. */
static void the_store_takes_the_keys(void **state)
{
    (void)state;
    uint8_t key[ROW_KEY_MAX];
    const struct item item = {.type = 1};
    const struct id user = {.lo = 1};
    assert_int_equal(row_key_item(item, key), store_group_length(STORE_SUBJECT));
    assert_int_equal(row_key_id(1, key), store_group_length(STORE_COMMENT));
    assert_int_equal(row_key_id(1, key), store_group_length(STORE_CONTENT));
    assert_true(store_key_fits(STORE_HISTORY, row_key_history(1, 1, key)));
    assert_true(store_key_fits(STORE_FLOOR, row_key_floor(item, 1, key)));
    assert_true(store_key_fits(STORE_ORDER, row_key_order(item, ORDER_TOP, 1, 1, key)));
    assert_true(store_key_fits(STORE_ORDER, row_key_unlisted(item, 1, key)));
    assert_true(store_key_fits(STORE_ORDER, row_key_held(item, user, 1, key)));
    assert_int_equal(key[store_group_length(STORE_ORDER) - 1], ROWS_HELD);
    assert_true(store_key_fits(STORE_WRITTEN, row_key_written(user, 0, 1, key)));
    assert_true(store_key_fits(STORE_INBOX, row_key_inbox(user, 1, key)));
    assert_true(store_key_fits(STORE_QUEUE, row_key_queue(1, QUEUE_HIDDEN, 0, 1, key)));
    assert_int_equal(key[store_group_length(STORE_QUEUE) - 1], QUEUE_HIDDEN);
    assert_true(store_key_fits(STORE_USER, row_key_user(user, 'i', key)));
    assert_int_equal(row_key_state('i', key), store_group_length(STORE_STATE));
}

static int order_of(const uint8_t *a, size_t a_length, const uint8_t *b, size_t b_length)
{
    int order = memcmp(a, b, a_length < b_length ? a_length : b_length);
    return order != 0 ? order : (int)a_length - (int)b_length;
}

/* The order of bytes is the order in which rows are shown. */
static void keys_have_the_order_of_pages(void **state)
{
    (void)state;
    struct chance chance = {test_seed()};
    const struct item item = {.id = {.lo = 7}, .type = 1};
    const struct id user = {.lo = 9};
    for (unsigned i = 0; i < 10 * ROUNDS; i++) {
        struct comment_entry a = {chance_next(&chance) >> chance_below(&chance, 64), 0,
                                  1 + chance_below(&chance, 3)};
        struct comment_entry b = {sample_bool(&chance) ? a.key : chance_next(&chance), 0,
                                  1 + (uint32_t)chance_below(&chance, 3)};
        uint8_t one[ROW_KEY_MAX];
        uint8_t two[ROW_KEY_MAX];
        size_t length = row_key_order(item, ORDER_HOT, a.key, a.floor, one);
        row_key_order(item, ORDER_HOT, b.key, b.floor, two);
        int wanted = comment_entry_order(ORDER_HOT, &a, &b);
        int found = order_of(one, length, two, length);
        assert_true((wanted < 0) == (found < 0) && (wanted > 0) == (found > 0));
        length = row_key_floor(item, a.floor, one);
        row_key_floor(item, b.floor, two);
        found = order_of(one, length, two, length);
        assert_true((a.floor < b.floor) == (found < 0));
        length = row_key_written(user, 0, a.key, one);
        row_key_written(user, 0, b.key, two);
        assert_true((a.key > b.key) == (order_of(one, length, two, length) < 0));
        length = row_key_inbox(user, a.floor, one);
        row_key_inbox(user, b.floor, two);
        assert_true((a.floor > b.floor) == (order_of(one, length, two, length) < 0));
        length = row_key_queue(1, QUEUE_REPORTED, a.floor, a.key, one);
        row_key_queue(1, QUEUE_REPORTED, b.floor, b.key, two);
        bool first = a.floor != b.floor ? a.floor > b.floor : a.key > b.key;
        assert_true(first == (order_of(one, length, two, length) < 0));
    }
}

/* Keys of every length, with any bytes: readers accept only what they would have written. */
static void malformed_keys(void **state)
{
    (void)state;
    struct chance chance = {test_seed()};
    for (size_t length = 0; length <= ROW_KEY_MAX; length++)
        for (unsigned i = 0; i < ROUNDS; i++) {
            uint8_t key[ROW_KEY_MAX];
            uint8_t again[ROW_KEY_MAX];
            struct item item;
            struct id user;
            uint64_t id;
            uint32_t number;
            uint16_t type;
            uint8_t byte;
            enum queue_state queue;
            for (size_t k = 0; k < length; k++)
                key[k] = (uint8_t)chance_next(&chance);
            if (length > 18)
                key[18] = (uint8_t[]){ROWS_HELD, ROWS_UNLISTED, ORDER_TOP, ORDER_NEW}[i % 4];
            uint8_t *block = sample_block(key, length);
            struct store_bytes bytes = bytes_of(block, length);
            if (row_read_order(bytes, &item, &byte, &id, &number)) {
                size_t made = byte == ROWS_UNLISTED ? row_key_unlisted(item, number, again)
                                                    : row_key_order(item, byte, id, number, again);
                assert_int_equal(made, length);
                assert_memory_equal(again, key, length);
            }
            if (row_read_held(bytes, &item, &user, &id)) {
                assert_int_equal(row_key_held(item, user, id, again), length);
                assert_memory_equal(again, key, length);
            }
            if (row_read_written(bytes, &user, &byte, &id)) {
                assert_int_equal(row_key_written(user, byte, id, again), length);
                assert_memory_equal(again, key, length);
            }
            if (row_read_queue(bytes, &type, &queue, &number, &id)) {
                assert_int_equal(row_key_queue(type, queue, number, id, again), length);
                assert_memory_equal(again, key, length);
            }
            assert_int_equal(row_read_item(bytes, NULL), length == 18);
            assert_int_equal(row_read_id(bytes, NULL), length == 8 || length == 12);
            assert_int_equal(row_read_history(bytes, NULL, NULL), length == 12);
            assert_int_equal(row_read_floor(bytes, NULL, NULL), length == 22);
            assert_int_equal(row_read_inbox(bytes, NULL, NULL), length == 20);
            if (row_read_user(bytes, NULL, &byte))
                assert_true(length == 17 && (byte == 'b' || byte == 'i'));
            free(block);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comments),
        cmocka_unit_test(subjects),
        cmocka_unit_test(small_values),
        cmocka_unit_test(kinds),
        cmocka_unit_test(keys_of_comments),
        cmocka_unit_test(keys_of_users_and_queues),
        cmocka_unit_test(the_store_takes_the_keys),
        cmocka_unit_test(keys_have_the_order_of_pages),
        cmocka_unit_test(malformed_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
