#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "metrics/slowlog.h"

static struct slowlog slowlog;

static void add(uint64_t time_s, uint64_t took_ns, const struct text *words, uint32_t count,
                uint32_t total)
{
    slowlog_add(&slowlog, &(struct slowlog_event){.time_s = time_s,
                                                  .took_ns = took_ns,
                                                  .words = words,
                                                  .count = count,
                                                  .total = total,
                                                  .client = "127.0.0.1:9",
                                                  .name = "me"});
}

static void newest_first_and_bounded(void **state)
{
    (void)state;
    struct slowlog_entry entry = {.id = UINT64_MAX};
    struct text word = {"PING", 4};
    slowlog_init(&slowlog);
    assert_false(slowlog_get(&slowlog, UINT64_MAX, &entry));
    for (uint64_t i = 0; i < SLOWLOG_ENTRIES + 5; i++)
        add(1000 + i, 1000 * i + 999, &word, 1, 1);
    assert_int_equal(slowlog_length(&slowlog), SLOWLOG_ENTRIES);
    assert_int_equal(slowlog_total(&slowlog), SLOWLOG_ENTRIES + 5);
    entry.id = UINT64_MAX;
    for (uint64_t i = SLOWLOG_ENTRIES + 5; i-- > 5;) {
        assert_true(slowlog_get(&slowlog, entry.id, &entry));
        assert_int_equal(entry.id, i);
        assert_int_equal(entry.time_s, 1000 + i);
        assert_int_equal(entry.took_us, i);
    }
    assert_false(slowlog_get(&slowlog, entry.id, &entry));
    assert_string_equal(entry.client, "127.0.0.1:9");
    assert_string_equal(entry.name, "me");
    slowlog_reset(&slowlog);
    assert_int_equal(slowlog_length(&slowlog), 0);
    assert_false(slowlog_get(&slowlog, UINT64_MAX, &entry));
    add(1, 1, &word, 1, 1);
    assert_true(slowlog_get(&slowlog, UINT64_MAX, &entry));
    assert_int_equal(entry.id, SLOWLOG_ENTRIES + 5); /* ids go on */
    slowlog_destroy(&slowlog);
}

static void expect_word(const char *bytes, size_t length, const char *wanted)
{
    struct slowlog_entry entry;
    add(1, 1, &(struct text){bytes, length}, 1, 1);
    assert_true(slowlog_get(&slowlog, UINT64_MAX, &entry));
    assert_int_equal(entry.count, 1);
    assert_string_equal(entry.words[0], wanted);
}

static void words_are_printable_and_short(void **state)
{
    (void)state;
    slowlog_init(&slowlog);
    expect_word("", 0, "");
    expect_word("a\r\n\0\x1b\xff\\", 7, "a\\x0d\\x0a\\x00\\x1b\\xff\\x5c");
    char raw[1000], wanted[SLOWLOG_WORD];
    memset(raw, 'x', sizeof raw);
    snprintf(wanted, sizeof wanted, "%.64s... (936 more bytes)", raw);
    expect_word(raw, sizeof raw, wanted);
    memset(raw, 0, sizeof raw);
    struct slowlog_entry entry;
    for (size_t length = 0; length < sizeof raw; length++) {
        add(1, 1, &(struct text){raw, length}, 1, 1);
        assert_true(slowlog_get(&slowlog, UINT64_MAX, &entry));
        assert_non_null(memchr(entry.words[0], '\0', SLOWLOG_WORD));
    }
    slowlog_destroy(&slowlog);
}

static void many_words_are_counted(void **state)
{
    (void)state;
    struct text words[SLOWLOG_WORDS + 10];
    struct slowlog_entry entry;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        words[i] = (struct text){"w", 1};
    slowlog_init(&slowlog);
    add(1, 1, words, SLOWLOG_WORDS, SLOWLOG_WORDS);
    assert_true(slowlog_get(&slowlog, UINT64_MAX, &entry));
    assert_int_equal(entry.count, SLOWLOG_WORDS);
    assert_string_equal(entry.words[SLOWLOG_WORDS - 1], "w");
    add(1, 1, words, SLOWLOG_WORDS + 10, SLOWLOG_WORDS + 10);
    assert_true(slowlog_get(&slowlog, UINT64_MAX, &entry));
    assert_int_equal(entry.count, SLOWLOG_WORDS);
    assert_string_equal(entry.words[SLOWLOG_WORDS - 1], "... (11 more arguments)");
    add(1, 1, words, 3, 200);
    assert_true(slowlog_get(&slowlog, UINT64_MAX, &entry));
    assert_int_equal(entry.count, 4);
    assert_string_equal(entry.words[3], "... (197 more arguments)");
    slowlog_destroy(&slowlog);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(newest_first_and_bounded),
        cmocka_unit_test(words_are_printable_and_short),
        cmocka_unit_test(many_words_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
