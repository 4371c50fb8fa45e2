/* Lists are asked for in words; a cursor is taken back as it was given, by its own list alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "op/cursor.h"
#include "op/op.h"
#include "words.h"

static void decodes_lists(void **state)
{
    (void)state;
    uint16_t video = (uint16_t)names_find_type(names, "video", 5);
    assert_int_equal(decode("LIKES 7 video"), STATUS_OK);
    assert_int_equal(request.action, HOT_LIST_REACTIONS);
    assert_int_equal(request.user.lo, 7);
    assert_int_equal(request.name, NAME_INDEX_LIKE);
    assert_int_equal(request.list.type, video);
    assert_int_equal(request.list.limit, LIMIT_LIST_USUAL);
    assert_int_equal(request.list.after.time_s, 0);
    assert_int_equal(decode("REACTIONS 7 follow user LIMIT 200"), STATUS_OK);
    assert_int_equal(request.name, names_find(names, "follow", 6));
    assert_int_equal(request.list.type, names_find_type(names, "user", 4));
    assert_int_equal(request.list.limit, 200);
    assert_int_equal(decode("REACTORS video:4 follow limit 3"), STATUS_OK);
    assert_int_equal(request.action, HOT_LIST_REACTORS);
    assert_int_equal(request.items[0].id.lo, 4);
    assert_int_equal(request.list.limit, 3);
    assert_int_equal(decode("LIKERS video:4"), STATUS_OK);
    assert_int_equal(request.name, NAME_INDEX_LIKE);
    assert_int_equal(decode("FRIENDS 1 video:4 LIMIT 1"), STATUS_OK);
    assert_int_equal(request.action, HOT_FRIENDS);
    assert_int_equal(request.list.follow, names_find(names, "follow", 6));
    assert_int_equal(request.name, NAME_INDEX_LIKE);
    assert_int_equal(decode("LIKES 7 unheard-of"), STATUS_OK);
    assert_int_equal(request.list.type, TYPE_UNKNOWN);
    assert_int_equal(names_find_type(names, "unheard-of", 10), -1);
}

static void refuses_other_words(void **state)
{
    (void)state;
    static const struct refusal bad[] = {
        {"LIKES 7", STATUS_BAD_ARITY, "LIKES user type [LIMIT n] [CURSOR c]"},
        {"LIKES 7 video LIMIT", STATUS_BAD_ARITY, "wrong number"},
        {"LIKES 7 video LIMIT 1 CURSOR", STATUS_BAD_ARITY, "wrong number"},
        {"LIKES 7 video LIMIT 1 LIMIT 1 LIMIT 1", STATUS_BAD_ARITY, "wrong number"},
        {"LIKES 7 video LIMIT 0", STATUS_BAD_ARGUMENT, "from 1 to 200, got '0'"},
        {"LIKES 7 video LIMIT 201", STATUS_BAD_ARGUMENT, "from 1 to 200"},
        {"LIKES 7 video LIMIT -1", STATUS_BAD_ARGUMENT, "from 1 to 200"},
        {"LIKES 7 video LIMIT 4294967297", STATUS_BAD_ARGUMENT, "from 1 to 200"},
        {"LIKES 7 video LIMIT 1 LIMIT 2", STATUS_BAD_ARGUMENT, "once, got 'LIMIT'"},
        {"LIKES 7 video OFFSET 2", STATUS_BAD_ARGUMENT, "expected LIMIT and a number"},
        {"LIKES 7 Video", STATUS_BAD_ARGUMENT, "a name must be"},
        {"LIKES x video", STATUS_BAD_ARGUMENT, "a user must be"},
        {"LIKERS video", STATUS_BAD_ARGUMENT, "an item must be"},
        {"FRIENDS 1 video:4 CURSOR x", STATUS_BAD_ARGUMENT,
         "expected LIMIT and a number, or DEPTH and 1 or 2, each at most once"},
        {"FRIENDS 1 video:4 DEPTH", STATUS_BAD_ARITY, "wrong number"},
        {"FRIENDS 1 video:4 DEPTH 3", STATUS_BAD_ARGUMENT, "DEPTH must be 1 or 2, got '3'"},
        {"FRIENDS 1 video:4 DEPTH 0", STATUS_BAD_ARGUMENT, "DEPTH must be 1 or 2"},
        {"FRIENDS 1 video:4 DEPTH 2 DEPTH 2", STATUS_BAD_ARGUMENT, "once, got 'DEPTH'"},
        {"FRIENDS 1 video:4 LIMIT 201 DEPTH 2", STATUS_BAD_ARGUMENT, "from 1 to 200"},
        {"LIKERS video:4 DEPTH 2", STATUS_BAD_ARGUMENT, "or CURSOR and a cursor"},
        {"LIKES 7 video CURSOR x", STATUS_BAD_ARGUMENT, "of the same list, got 'x'"},
    };
    expect_refusals(bad, sizeof bad / sizeof bad[0]);
}

/* The line with a cursor of `of` behind it. */
static enum status decode_with(const char *line, const char *cursor)
{
    static char text[512];
    snprintf(text, sizeof text, "%s CURSOR %s", line, cursor);
    return decode(text);
}

static const struct store_listed places[] = {
    {.time_s = 1, .id = {.lo = 0}},
    {.time_s = 1700000000, .id = {.lo = 42}},
    {.time_s = UINT32_MAX, .id = {.hi = 0x190163d8694739b, .lo = UINT64_MAX}},
    {.time_s = 5, .id = {.hi = 1, .lo = 42}},
};

static const char *const lists[] = {
    "LIKES 7 video",
    "LIKES 8 video",
    "LIKES 7 user",
    "REACTIONS 7 follow video",
    "LIKES 00000000-0000-0001-0000-000000000007 video",
    "LIKERS video:7",
    "LIKERS user:7",
    "LIKERS video:8",
    "REACTORS video:7 follow",
};

static void a_cursor_is_of_one_list(void **state)
{
    (void)state;
    size_t count = sizeof lists / sizeof lists[0];
    for (size_t of = 0; of < count; of++) {
        for (size_t place = 0; place < sizeof places / sizeof places[0]; place++) {
            char cursor[CURSOR_TEXT + 1] = "";
            assert_int_equal(decode(lists[of]), STATUS_OK);
            size_t length = cursor_write(&request, places[place], cursor);
            assert_true(length <= CURSOR_TEXT);
            cursor[length] = '\0';
            for (size_t other = 0; other < count; other++) {
                enum status status = decode_with(lists[other], cursor);
                assert_int_equal(status, other == of ? STATUS_OK : STATUS_BAD_ARGUMENT);
                if (other != of)
                    assert_non_null(strstr(scratch.sentence, "of the same list"));
                else
                    assert_int_equal(store_listed_order(request.list.after, places[place]), 0);
            }
        }
    }
}

/* Any one byte changed, taken out or put in; and any two swapped. */
static void an_edited_cursor_is_refused(void **state)
{
    (void)state;
    for (size_t place = 0; place < sizeof places / sizeof places[0]; place++) {
        char cursor[CURSOR_TEXT + 2] = "", edited[CURSOR_TEXT + 2];
        assert_int_equal(decode(lists[0]), STATUS_OK);
        size_t length = cursor_write(&request, places[place], cursor);
        struct store_listed after;
        for (size_t i = 0; i < length; i++) {
            for (int byte = 0; byte < 256; byte++) {
                memcpy(edited, cursor, sizeof edited);
                edited[i] = (char)byte;
                assert_int_equal(cursor_read(&request, (struct text){edited, length}, &after),
                                 edited[i] == cursor[i]);
            }
            assert_false(cursor_read(&request, (struct text){cursor, i}, &after));
            assert_false(
                cursor_read(&request, (struct text){cursor + i + 1, length - i - 1}, &after));
            memcpy(edited, cursor, sizeof edited);
            edited[i] = cursor[(i + 1) % length];
            edited[(i + 1) % length] = cursor[i];
            assert_int_equal(cursor_read(&request, (struct text){edited, length}, &after),
                             edited[i] == cursor[i]);
        }
        cursor[length] = '0';
        assert_false(cursor_read(&request, (struct text){cursor, length + 1}, &after));
    }
}

/*
 * Clients keep cursors across upgrades. These were written by version 0.1, and every later version
 * must write the same text and take it back.
 */
static void recorded_cursors_stay_good(void **state)
{
    (void)state;
    static const struct {
        const char *list;
        const char *cursor;
    } recorded[] = {
        {"LIKES 7 video", "aa9b484992f4c027000000010000000000000000"},
        {"REACTIONS 7 follow user", "482a7396f542888e6553f100000000000000002a"},
        {"LIKERS video:4", "0545e8a59b87c140ffffffff0190163d8694739bffffffffffffffff"},
        {"REACTORS video:4 follow", "f31974bf92d4a49a000000050000000000000001000000000000002a"},
    };
    for (size_t i = 0; i < sizeof recorded / sizeof recorded[0]; i++) {
        char text[CURSOR_TEXT];
        assert_int_equal(decode(recorded[i].list), STATUS_OK);
        size_t length = cursor_write(&request, places[i], text);
        assert_int_equal(length, strlen(recorded[i].cursor));
        assert_memory_equal(text, recorded[i].cursor, length);
        assert_int_equal(decode_with(recorded[i].list, recorded[i].cursor), STATUS_OK);
        assert_int_equal(request.list.after.time_s, places[i].time_s);
        assert_true(id_equal(request.list.after.id, places[i].id));
    }
}

static int setup(void **state)
{
    (void)state;
    uint16_t index;
    names = names_new();
    if (names == NULL)
        return -1;
    names_intern(names, NAME_TYPE, "video", 5, &index);
    names_intern(names, NAME_TYPE, "user", 4, &index);
    names_intern(names, NAME_KIND, "follow", 6, &index);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decodes_lists),
        cmocka_unit_test(refuses_other_words),
        cmocka_unit_test(a_cursor_is_of_one_list),
        cmocka_unit_test(an_edited_cursor_is_refused),
        cmocka_unit_test(recorded_cursors_stay_good),
    };
    return cmocka_run_group_tests(tests, setup, free_names);
}
