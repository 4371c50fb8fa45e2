/* CHANGES in words; its cursors are taken back as they were given, for the same user alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "op/cursor.h"
#include "op/op.h"
#include "words.h"

static void decodes(void **state)
{
    (void)state;
    assert_int_equal(decode("CHANGES 7"), STATUS_OK);
    assert_int_equal(request.action, HOT_CHANGES);
    assert_int_equal(request.user.lo, 7);
    assert_int_equal(request.changes.limit, LIMIT_CHANGES_USUAL);
    assert_int_equal(request.changes.since_s, 0);
    assert_int_equal(request.changes.until_s, 0);
    assert_int_equal(request.changes.after.time_s, 0);
    assert_int_equal(decode("changes 7 limit 1000 since "), STATUS_BAD_ARITY);
    assert_int_equal(decode("CHANGES 7 LIMIT 1000"), STATUS_OK);
    assert_int_equal(request.changes.limit, 1000);
    static const struct refusal bad[] = {
        {"CHANGES x", STATUS_BAD_ARGUMENT, "a user must be"},
        {"CHANGES 7 LIMIT 1001", STATUS_BAD_ARGUMENT, "from 1 to 1000, got '1001'"},
        {"CHANGES 7 LIMIT 0", STATUS_BAD_ARGUMENT, "from 1 to 1000"},
        {"CHANGES 7 LIMIT 1 LIMIT 2", STATUS_BAD_ARGUMENT,
         "or SINCE and a cursor, each at most once"},
        {"CHANGES 7 CURSOR x", STATUS_BAD_ARGUMENT, "or SINCE and a cursor, each at most once"},
        {"CHANGES 7 SINCE x", STATUS_BAD_ARGUMENT, "answer for the same user, got 'x'"},
        {"CHANGES 7 SINCE 0", STATUS_BAD_ARGUMENT, "answer for the same user"},
        {"CHANGES 7 SINCE 1700000000", STATUS_BAD_ARGUMENT, "answer for the same user"},
        {"CHANGES 7 SINCE a SINCE b", STATUS_BAD_ARGUMENT, "answer for the same user"},
    };
    expect_refusals(bad, sizeof bad / sizeof bad[0]);
}

static const struct {
    uint32_t since_s;
    uint32_t until_s;
    bool more;
    struct store_listed after;
} rounds[] = {
    {.since_s = 5, .until_s = 1},
    {.since_s = 0, .until_s = UINT32_MAX},
    {.since_s = 0, .until_s = 9, .more = true, .after = {.time_s = 1}},
    {.since_s = 8,
     .until_s = 9,
     .more = true,
     .after = {.time_s = UINT32_MAX, .type = 1023, .kind = 249, .cleared = true, .id.lo = 42}},
    {.since_s = 8,
     .until_s = 9,
     .more = true,
     .after = {.time_s = 7, .type = 256, .kind = 1, .id = {.hi = 1, .lo = UINT64_MAX}}},
};
enum { ROUNDS = sizeof rounds / sizeof rounds[0] };

static size_t write_cursor(size_t at, char out[CURSOR_ROUND_TEXT + 1])
{
    assert_int_equal(decode("CHANGES 7"), STATUS_OK);
    request.changes.since_s = rounds[at].since_s;
    request.changes.until_s = rounds[at].until_s;
    request.changes.more = rounds[at].more;
    request.changes.after = rounds[at].after;
    size_t length = cursor_write_round(&request, out);
    assert_true(length <= CURSOR_ROUND_TEXT);
    out[length] = '\0';
    return length;
}

static enum status decode_with(const char *user, const char *cursor)
{
    char line[256];
    snprintf(line, sizeof line, "CHANGES %s LIMIT 5 SINCE %s", user, cursor);
    return decode(line);
}

static void a_cursor_comes_back_as_it_was(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROUNDS; i++) {
        char cursor[CURSOR_ROUND_TEXT + 1];
        write_cursor(i, cursor);
        assert_int_equal(decode_with("7", cursor), STATUS_OK);
        assert_int_equal(request.changes.limit, 5);
        assert_int_equal(request.changes.since_s,
                         rounds[i].more ? rounds[i].since_s : rounds[i].until_s);
        assert_int_equal(request.changes.until_s, rounds[i].more ? rounds[i].until_s : 0);
        assert_int_equal(store_changed_order(request.changes.after, rounds[i].after), 0);
        assert_int_equal(decode_with("8", cursor), STATUS_BAD_ARGUMENT);
        assert_int_equal(decode_with("00000000-0000-0001-0000-000000000007", cursor),
                         STATUS_BAD_ARGUMENT);
    }
}

/* Neither takes the other's, whatever it is of. */
static void lists_have_others(void **state)
{
    (void)state;
    char cursor[CURSOR_ROUND_TEXT + 1], line[256];
    for (size_t i = 0; i < ROUNDS; i++) {
        write_cursor(i, cursor);
        snprintf(line, sizeof line, "LIKES 7 video CURSOR %s", cursor);
        assert_int_equal(decode(line), STATUS_BAD_ARGUMENT);
        snprintf(line, sizeof line, "LIKERS video:7 CURSOR %s", cursor);
        assert_int_equal(decode(line), STATUS_BAD_ARGUMENT);
    }
    assert_int_equal(decode("LIKES 7 video"), STATUS_OK);
    for (int wide = 0; wide < 2; wide++) {
        struct store_listed listed = {.time_s = 5, .id = {.hi = (uint64_t)wide, .lo = 6}};
        size_t length = cursor_write(&request, listed, cursor);
        cursor[length] = '\0';
        snprintf(line, sizeof line, "CHANGES 7 SINCE %s", cursor);
        assert_int_equal(decode(line), STATUS_BAD_ARGUMENT);
        assert_int_equal(decode("LIKES 7 video"), STATUS_OK);
    }
}

/*
 * Clients keep these for weeks, across upgrades. They were written by version 0.1, and every later
 * version must write the same text and take it back.
 */
static void recorded_cursors_stay_good(void **state)
{
    (void)state;
    static const char *const recorded[ROUNDS] = {
        "3d3bc0b6b23c05a100000001",
        "9c328625ad11392dffffffff",
        "2b321264fd86d077000000000000000900000000000000010000000000000000",
        "27168b0c7c0515a00000000800000009f903ff01ffffffff000000000000002a",
        "50f3f46ad84c3b1e000000080000000901010000000000070000000000000001ffffffffffffffff",
    };
    for (size_t i = 0; i < ROUNDS; i++) {
        char cursor[CURSOR_ROUND_TEXT + 1];
        write_cursor(i, cursor);
        assert_string_equal(cursor, recorded[i]);
        assert_int_equal(decode_with("7", recorded[i]), STATUS_OK);
    }
}

static bool reads(const char *bytes, size_t length)
{
    return cursor_read_round(&request, (struct text){bytes, length});
}

/* Any one byte changed, taken out or put in; and any two swapped. */
static void an_edited_cursor_is_refused(void **state)
{
    (void)state;
    for (size_t at = 0; at < ROUNDS; at++) {
        char cursor[CURSOR_ROUND_TEXT + 2] = "", edited[CURSOR_ROUND_TEXT + 2];
        size_t length = write_cursor(at, cursor);
        for (size_t i = 0; i < length; i++) {
            memcpy(edited, cursor, sizeof edited);
            for (int byte = 0; byte < 256; byte++) {
                edited[i] = (char)byte;
                assert_int_equal(reads(edited, length), edited[i] == cursor[i]);
            }
            assert_false(reads(cursor, i));
            assert_false(reads(cursor + i + 1, length - i - 1));
            edited[i] = cursor[(i + 1) % length];
            edited[(i + 1) % length] = cursor[i];
            assert_int_equal(reads(edited, length), edited[i] == cursor[i]);
        }
        cursor[length] = '0';
        assert_false(reads(cursor, length + 1));
    }
}

static int setup(void **state)
{
    (void)state;
    uint16_t index;
    names = names_new();
    return names != NULL && names_intern(names, NAME_TYPE, "video", 5, &index) == STATUS_OK ? 0
                                                                                            : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decodes),
        cmocka_unit_test(a_cursor_comes_back_as_it_was),
        cmocka_unit_test(lists_have_others),
        cmocka_unit_test(recorded_cursors_stay_good),
        cmocka_unit_test(an_edited_cursor_is_refused),
    };
    return cmocka_run_group_tests(tests, setup, free_names);
}
