/* Paths and methods lead to operations; every route takes the words its operation reads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "http/route.h"

static struct target target;
static char text[256];

static void aim(const char *path)
{
    int length = snprintf(text, sizeof text, "%s", path);
    assert_null(target_read(&target, text, (size_t)length, (struct text){NULL, 0}));
}

/* The operation that is found, or "". */
static const char *find(enum verb verb, const char *path)
{
    aim(path);
    const struct route *route = route_find(&target, verb);
    return route != NULL ? op_get(route->op)->name : "";
}

static void routes_are_found(void **state)
{
    (void)state;
    const char *reaction = "/v1/items/video:1/reactions/like/2";
    assert_string_equal(find(VERB_PUT, reaction), "REACT");
    assert_string_equal(find(VERB_DELETE, reaction), "UNREACT");
    assert_string_equal(find(VERB_GET, reaction), "REACTED");
    assert_string_equal(find(VERB_HEAD, reaction), "REACTED");
    assert_string_equal(find(VERB_POST, reaction), "");
    assert_string_equal(find(VERB_OTHER, reaction), "");
    assert_string_equal(find(VERB_GET, "/v1/items/video:1/reactions/like"), "REACTORS");
    assert_string_equal(find(VERB_GET, "/v1/items/video:1/reactions/like?limit=1"), "REACTORS");
    assert_string_equal(find(VERB_GET, "/v1/items/video:1/reactions/like?among=1"), "FRIENDS");
    assert_string_equal(find(VERB_GET, "/v1/items/video:1/reactions/love?among=1"), "REACTORS");
    assert_string_equal(find(VERB_GET, "/v1/users/1/reactions/like?type=video"), "REACTIONS");
    assert_string_equal(find(VERB_GET, "/v1/users/1/reactions/like"), "REACTIONS");
    assert_string_equal(find(VERB_GET, "/v1/items/video:1/counts"), "COUNTS");
    assert_string_equal(find(VERB_POST, "/v1/counts"), "COUNTS");
    assert_string_equal(find(VERB_POST, "/v1/feed"), "FEED");
    assert_string_equal(find(VERB_POST, "/v1/items/video:1/counters/view"), "ADD");
}

static void other_paths_are_not(void **state)
{
    (void)state;
    static const char *const paths[] = {"/",
                                        "/v1",
                                        "/v1/",
                                        "/v1/feed/",
                                        "/V1/feed",
                                        "//v1/feed",
                                        "/v1/feedx",
                                        "/v1/fee",
                                        "/v1/items//counts",
                                        "/v1/items/video:1/counts/x",

                                        "/v1/items/video:1/x",
                                        "/v1/items/video:1/reactions/like/2/3",
                                        "/a/b/c/d/e/f/g/h/i/j",
                                        "*"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        for (enum verb verb = VERB_GET; verb <= VERB_OPTIONS; verb++)
            assert_string_equal(find(verb, paths[i]), "");
        assert_int_equal(route_methods(&target), 0);
    }
}

static void methods_are_known(void **state)
{
    (void)state;
    aim("/v1/items/video:1/reactions/like/2");
    assert_int_equal(route_methods(&target), 1 << VERB_GET | 1 << VERB_PUT | 1 << VERB_DELETE);
    aim("/v1/feed");
    assert_int_equal(route_methods(&target), 1 << VERB_POST);
}

/* As many words as the operation must have, those that may be left out by words it knows. */
static void words_fit_the_operations(void **state)
{
    (void)state;
    for (size_t i = 0; i < route_count(); i++) {
        const struct route *route = route_get(i);
        const struct op_spec *op = op_get(route->op);
        struct route_word word;
        unsigned needed = 0;
        for (const char *at = route->words; route_next_word(route, &at, &word);) {
            if (word.option.length == 0) {
                needed += !word.aside;
                continue;
            }
            char option[40];
            snprintf(option, sizeof option, "[%.*s%s", (int)word.option.length, word.option.bytes,
                     word.flag ? "]" : " ");
            assert_int_equal(word.segment, -1);
            assert_non_null(strstr(op->arguments, option));
        }
        assert_int_equal(needed, op->args_min);
        for (const char *brace = route->path; (brace = strchr(brace, '{')) != NULL; brace++) {
            char name[40];
            snprintf(name, sizeof name, "%.*s", (int)strcspn(brace + 1, "}"), brace + 1);
            assert_non_null(strstr(route->words, name));
        }
    }
}

static void some_routes_have_a_body(void **state)
{
    (void)state;
    static const struct {
        enum verb verb;
        const char *path;
        bool has, optional;
    } cases[] = {
        {VERB_PUT, "/v1/items/video:1/reactions/like/2", false, true},
        {VERB_POST, "/v1/feed", true, false},
        {VERB_GET, "/v1/items/video:1/comments", false, true},
        {VERB_PUT, "/v1/comments/comment:1/text", true, false},
        {VERB_PUT, "/v1/comments/comment:1/pin", false, true},
        {VERB_PUT, "/v1/users/1/ban", true, true},
        {VERB_DELETE, "/v1/users/1/ban", false, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        aim(cases[i].path);
        const struct route *route = route_find(&target, cases[i].verb);
        assert_non_null(route);
        assert_int_equal(route_has_body(route), cases[i].has);
        assert_int_equal(route_body_is_optional(route), cases[i].optional);
    }
}

static void words_are_read(void **state)
{
    (void)state;
    aim("/v1/feed");
    const struct route *route = route_find(&target, VERB_POST);
    const char *at = route->words;
    struct route_word word;
    assert_true(route_next_word(route, &at, &word));
    assert_true(text_is(word.name, "user") && word.segment == -1 && !word.many);
    assert_true(route_next_word(route, &at, &word));
    assert_true(text_is(word.name, "items") && word.many);
    assert_true(route_next_word(route, &at, &word));
    assert_true(text_is(word.name, "cold") && text_is(word.option, "COLD"));
    assert_true(route_next_word(route, &at, &word));
    assert_true(text_is(word.name, "friends") && text_is(word.option, "FRIENDS"));
    assert_false(route_next_word(route, &at, &word));
    assert_false(route_is_single(route));
    aim("/v1/items/video:1/counts");
    route = route_find(&target, VERB_GET);
    at = route->words;
    assert_true(route_next_word(route, &at, &word));
    assert_int_equal(word.segment, 2);
    assert_true(route_is_single(route));
    aim("/v1/live");
    route = route_find(&target, VERB_GET);
    assert_true(route_is_stream(route) && !route_is_single(route));
    at = route->words;
    assert_true(route_next_word(route, &at, &word));
    assert_true(text_is(word.name, "items") && word.split && !route_word_is_optional(&word));
    assert_true(route_next_word(route, &at, &word));
    assert_true(text_is(word.name, "last") && word.aside && route_word_is_optional(&word));
    assert_false(route_next_word(route, &at, &word));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(routes_are_found),  cmocka_unit_test(other_paths_are_not),
        cmocka_unit_test(methods_are_known), cmocka_unit_test(words_fit_the_operations),
        cmocka_unit_test(words_are_read),    cmocka_unit_test(some_routes_have_a_body),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
