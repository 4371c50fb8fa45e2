/* Names that are somewhere else: a command that has to wait for one takes nothing, and comes again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/slow_names.h"
#include "words.h"

static struct slow_names slow;

static int begin(void **state)
{
    (void)state;
    uint16_t index;
    names = names_new();
    assert_int_equal(names_intern(names, NAME_TYPE, "video", 5, &index), STATUS_OK);
    slow_begin(&slow, names, "far");
    return 0;
}

static int end(void **state)
{
    slow_end(&slow);
    return free_names(state);
}

static void what_is_here_is_not_asked_for(void **state)
{
    (void)state;
    assert_int_equal(decode("LIKE 1 video:42"), STATUS_OK);
    assert_int_equal(decode("FEED 1 video:42 video:43"), STATUS_OK);
    assert_int_equal(slow.finds + slow.interns, 0);
}

static void a_reader_asks_before_it_finds_nothing(void **state)
{
    (void)state;
    assert_int_equal(decode("COUNTS video:1 far:2 nowhere:3"), STATUS_BLOCKED);
    assert_int_equal(scratch.used, 0);
    assert_int_equal(slow.finds, 2);
    slow_answer(&slow, STATUS_OK, STATUS_BLOCKED);
    assert_int_equal(decode("COUNTS video:1 far:2 nowhere:3"), STATUS_OK);
    assert_int_equal(request.items[1].type, names_find_type(names, "far", 3));
    assert_int_equal(request.items[2].type, TYPE_UNKNOWN);
    assert_int_equal(slow.interns, 0);
    assert_int_equal(names_find_type(names, "nowhere", 7), -1);
}

static void every_reader_asks(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "COUNTS other:1",         "LIKED 1 other:1",          "REACTED 1 love video:1",
        "UNREACT 1 love video:1", "UNLIKE 1 other:1",         "DROP other:1",
        "LIKES 1 other",          "REACTIONS 1 love video",   "REACTORS video:1 love",
        "FRIENDS 1 video:1",      "FEED 1 video:1 FRIENDS 1", "TOP video view",
        "TOP other like",         "ADD video:1 view 0"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        slow.find = STATUS_BLOCKED;
        assert_int_equal(decode(lines[i]), STATUS_BLOCKED);
        slow.find = STATUS_OK;
        assert_int_equal(decode(lines[i]), STATUS_OK);
        slow.find = STATUS_TOO_BUSY;
        assert_int_equal(decode(lines[i]), STATUS_TOO_BUSY);
        assert_true(scratch.sentence[0] != '\0');
    }
    assert_int_equal(slow.interns, 0);
}

/* Bad words are refused at once, and what has no name in it never asks. */
static void bad_words_do_not_wait(void **state)
{
    (void)state;
    assert_int_equal(decode("REACT 1 love far:x"), STATUS_BAD_ARGUMENT);
    assert_int_equal(decode("COUNTS Far:1"), STATUS_BAD_ARGUMENT);
    assert_int_equal(decode("COUNTS"), STATUS_BAD_ARITY);
    assert_int_equal(decode("FORGET 1"), STATUS_OK);
    assert_int_equal(decode("NAMES"), STATUS_OK);
}

/* Whether it is good depends on the kind, which is not here yet. */
static void a_cursor_waits_for_its_name(void **state)
{
    (void)state;
    assert_int_equal(decode("REACTIONS 1 love video CURSOR 0123"), STATUS_BLOCKED);
    slow_answer(&slow, STATUS_OK, STATUS_OK);
    assert_int_equal(decode("REACTIONS 1 love video CURSOR 0123"), STATUS_BAD_ARGUMENT);
}

static void a_writer_waits_until_its_names_are_made(void **state)
{
    (void)state;
    assert_int_equal(decode("REACT 1 love near:1"), STATUS_BLOCKED);
    assert_int_equal(slow.finds, 2);
    slow_answer(&slow, STATUS_OK, STATUS_BLOCKED);
    assert_int_equal(decode("REACT 1 love near:1"), STATUS_BLOCKED);
    assert_int_equal(slow.interns, 2);
    assert_int_equal(scratch.used, 0);
    assert_int_equal(names_find(names, "love", 4), -1);
    slow_answer(&slow, STATUS_OK, STATUS_OK);
    assert_int_equal(decode("REACT 1 love near:1"), STATUS_OK);
    assert_int_equal(request.name, names_find(names, "love", 4));
    assert_int_equal(request.items[0].type, names_find_type(names, "near", 4));
    slow_answer(&slow, STATUS_OK, STATUS_READONLY);
    assert_int_equal(decode("REACT 1 hate near:1"), STATUS_READONLY);
    assert_int_equal(decode("ADD near:1 love 1"), STATUS_NOT_A_COUNTER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_here_is_not_asked_for, begin, end),
        cmocka_unit_test_setup_teardown(a_reader_asks_before_it_finds_nothing, begin, end),
        cmocka_unit_test_setup_teardown(every_reader_asks, begin, end),
        cmocka_unit_test_setup_teardown(bad_words_do_not_wait, begin, end),
        cmocka_unit_test_setup_teardown(a_cursor_waits_for_its_name, begin, end),
        cmocka_unit_test_setup_teardown(a_writer_waits_until_its_names_are_made, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
