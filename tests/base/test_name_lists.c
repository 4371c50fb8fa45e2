/* Lists of names: what is wrong with them, and what they allow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/name_lists.h"

static struct name_lists lists(const char *types, const char *kinds, const char *counters)
{
    return (struct name_lists){
        .texts = {[NAME_TYPE] = types, [NAME_KIND] = kinds, [NAME_COUNTER] = counters}};
}

static void test_mistakes_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *texts[3];
        const char *says; /* NULL: nothing is wrong */
    } cases[] = {
        {{"", "", ""}, NULL},
        {{NULL, NULL, NULL}, NULL},
        {{" \t", "", ""}, NULL},
        {{" video , post", "like,love", "view"}, NULL},
        {{"comment,like", "", ""}, NULL},
        {{"Video", "", ""}, "--types: 'Video' is not a name"},
        {{"video,", "", ""}, "--types: '' is not a name"},
        {{",video", "", ""}, "--types: '' is not a name"},
        {{"video post", "", ""}, "--types: 'video post' is not"},
        {{"", "a\x1b[2J", ""}, "--kinds: 'a?[2J' is not a name"},
        {{"", "love,comment", ""}, "--kinds: 'comment' is reserved"},
        {{"", "", "comment"}, "--counters: 'comment' is reserved"},
        {{"", "", "view,like"}, "--counters: 'like' is always a kind"},
        {{"", "love,hate", "view,hate"}, "--counters: 'hate' is in --kinds too"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char sentence[256] = "";
        struct name_lists given = lists(cases[i].texts[0], cases[i].texts[1], cases[i].texts[2]);
        enum status status = name_lists_check(&given, sentence, sizeof sentence);
        assert_int_equal(status, cases[i].says == NULL ? STATUS_OK : STATUS_BAD_ARGUMENT);
        if (cases[i].says != NULL && strstr(sentence, cases[i].says) == NULL)
            fail_msg("expected '%s' in: %s", cases[i].says, sentence);
    }
}

static enum status allow(const struct name_lists *given, enum name_role role, const char *text)
{
    return name_lists_allow(given, role, text, strlen(text));
}

static void test_what_is_allowed(void **state)
{
    (void)state;
    struct name_lists given = lists("video, post", "love", "");
    assert_int_equal(allow(&given, NAME_TYPE, "video"), STATUS_OK);
    assert_int_equal(allow(&given, NAME_TYPE, "post"), STATUS_OK);
    assert_int_equal(allow(&given, NAME_TYPE, "pos"), STATUS_NAME_NOT_LISTED);
    assert_int_equal(allow(&given, NAME_TYPE, "posts"), STATUS_NAME_NOT_LISTED);
    assert_int_equal(allow(&given, NAME_KIND, "love"), STATUS_OK);
    assert_int_equal(allow(&given, NAME_KIND, "like"), STATUS_OK); /* always there */
    assert_int_equal(allow(&given, NAME_KIND, "likes"), STATUS_NAME_NOT_LISTED);
    assert_int_equal(allow(&given, NAME_COUNTER, "view"), STATUS_OK);
    assert_int_equal(allow(&given, NAME_COUNTER, "love"), STATUS_NOT_A_COUNTER);
    assert_int_equal(allow(&given, NAME_KEPT, "comment"), STATUS_OK);
    given = lists("", "", "view");
    assert_int_equal(allow(&given, NAME_TYPE, "any"), STATUS_OK);
    assert_int_equal(allow(&given, NAME_KIND, "any"), STATUS_OK);
    assert_int_equal(allow(&given, NAME_KIND, "view"), STATUS_NOT_A_KIND);
    assert_int_equal(allow(&given, NAME_COUNTER, "share"), STATUS_NAME_NOT_LISTED);
}

/* Whatever the list and the room: whole names, and how many more there are. */
static void test_lists_are_shown(void **state)
{
    (void)state;
    char text[600] = "", out[64];
    struct name_lists given = lists("video , post", "love", "");
    name_lists_show(&given, NAME_TYPE, out, sizeof out);
    assert_string_equal(out, "video, post");
    name_lists_show(&given, NAME_KIND, out, sizeof out);
    assert_string_equal(out, "like, love");
    for (int i = 10; i < 60; i++)
        sprintf(text + strlen(text), "%sname%d", i == 10 ? "" : ",", i);
    given = lists(text, "", "");
    name_lists_show(&given, NAME_TYPE, out, sizeof out);
    assert_string_equal(out, "name10, name11, name12, name13, name14 and 45 more");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mistakes_are_named),
        cmocka_unit_test(test_what_is_allowed),
        cmocka_unit_test(test_lists_are_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
