/* The policy for comments: which values of options are valid, and what they mean. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "comment/policy.h"
#include "damage.h"

static struct comment_policy_options usual(void)
{
    return (struct comment_policy_options){.repeat_ms = 60000,
                                           .words = "",
                                           .links = COMMENT_ANY_LINKS,
                                           .hold = COMMENT_HOLD_NO,
                                           .dislike = "dislike",
                                           .report = "report",
                                           .report_at = 3,
                                           .orders = ""};
}

static struct comment_policy *policy_of(struct comment_policy_options options)
{
    char problem[512] = "";
    struct comment_policy *policy = comment_policy_new(&options, problem, sizeof problem);
    assert_string_equal(problem, "");
    assert_non_null(policy);
    return policy;
}

static void assert_refused(struct comment_policy_options options, const char *begin)
{
    char problem[512] = "";
    assert_null(comment_policy_new(&options, problem, sizeof problem));
    assert_memory_equal(problem, begin, strlen(begin));
}

static void learn(struct comment_policy *policy, enum name_role role, uint16_t index,
                  const char *text)
{
    comment_policy_learn(policy, role, index, text, strlen(text));
}

static void test_names_get_their_index_later(void **state)
{
    (void)state;
    struct comment_policy *policy = policy_of(usual());
    assert_int_equal(atomic_load(&policy->dislike), POLICY_NO_NAME);
    assert_int_equal(atomic_load(&policy->report), POLICY_NO_NAME);
    assert_int_equal(atomic_load(&policy->type), POLICY_NO_TYPE);
    learn(policy, NAME_COUNTER, 9, "dislike"); /* in use as a counter, so it is no kind */
    learn(policy, NAME_KIND, 10, "dislikes");
    learn(policy, NAME_TYPE, 11, "report");
    assert_int_equal(atomic_load(&policy->dislike), POLICY_NO_NAME);
    assert_int_equal(atomic_load(&policy->report), POLICY_NO_NAME);
    learn(policy, NAME_KIND, 12, "dislike");
    learn(policy, NAME_KIND, 13, "report");
    learn(policy, NAME_TYPE, 14, "comment");
    assert_int_equal(atomic_load(&policy->dislike), 12);
    assert_int_equal(atomic_load(&policy->report), 13);
    assert_int_equal(atomic_load(&policy->type), 14);
    comment_policy_free(policy);
}

static unsigned orders_of(const char *text, const char *type)
{
    unsigned orders = 0;
    struct comment_policy_options options = usual();
    options.orders = text;
    struct comment_policy *policy = policy_of(options);
    learn(policy, NAME_TYPE, 5, type);
    for (unsigned order = 0; order < ORDER_TOTAL; order++)
        orders |= (unsigned)comment_policy_has_order(policy, 5, (enum comment_order)order) << order;
    comment_policy_free(policy);
    return orders;
}

static void test_orders_are_for_types(void **state)
{
    (void)state;
    const unsigned always = 1 << ORDER_TOP | 1 << ORDER_NEW | 1 << ORDER_OLD;
    const unsigned best = 1 << ORDER_BEST, hot = 1 << ORDER_HOT;
    const unsigned controversial = 1 << ORDER_CONTROVERSIAL;
    assert_int_equal(orders_of("", "video"), always);
    assert_int_equal(orders_of("*", "video"), always | best | hot | controversial);
    assert_int_equal(orders_of("*:hot", "video"), always | hot);
    assert_int_equal(orders_of("video:best+hot,post:controversial", "video"), always | best | hot);
    assert_int_equal(orders_of("video:best+hot, post:controversial", "post"),
                     always | controversial);
    assert_int_equal(orders_of("video:best+hot,post:controversial", "vide"), always);
    assert_int_equal(orders_of("*:best,video:hot", "video"), always | best | hot);
}

static void test_bad_values_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"best",        "video",      "video:",         "video:top",
                                      "video:best+", ":best",      "video:best,,*",  ",",
                                      "Video:best",  "video:Best", "video:best hot", "**"};
    struct comment_policy_options options = usual();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        options.orders = bad[i];
        assert_refused(options, "comment-orders: '");
    }
    options = usual();
    options.dislike = "Dislike";
    assert_refused(options, "comment-dislike: 'Dislike' is not a name");
    options.dislike = "like";
    assert_refused(options, "comment-dislike: 'like' has a meaning of its own");
    options = usual();
    options.report = "comment";
    assert_refused(options, "comment-report: ");
    options.report = options.dislike;
    assert_refused(options, "comment-dislike and comment-report are both 'dislike'");
    options = usual();
    options.words = "/nowhere/words";
    assert_refused(options, "comment-words: /nowhere/words: ");
}

static void test_what_is_held(void **state)
{
    (void)state;
    char path[64] = "/tmp/laud-policy-XXXXXX", problem[256];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    file_write(path, (const uint8_t *)"spam\n", 5);
    struct comment_policy_options options = usual();
    struct comment_policy *policy = policy_of(options);
    assert_null(policy->screen);
    assert_false(comment_policy_holds(policy, text_from("spam"), false));
    assert_true(comment_policy_reload(policy, problem, sizeof problem));
    comment_policy_free(policy);

    options.words = path;
    options.links = 0;
    policy = policy_of(options);
    assert_true(comment_policy_holds(policy, text_from("some spam"), true));
    assert_true(comment_policy_holds(policy, text_from("http://a.example"), true));
    assert_false(comment_policy_holds(policy, text_from("fine"), false));
    file_write(path, (const uint8_t *)"ham\n", 4);
    assert_true(comment_policy_reload(policy, problem, sizeof problem));
    assert_false(comment_policy_holds(policy, text_from("some spam"), true));
    assert_int_equal(unlink(path), 0);
    assert_false(comment_policy_reload(policy, problem, sizeof problem));
    assert_true(comment_policy_holds(policy, text_from("ham"), true)); /* the old list stays */
    comment_policy_free(policy);

    options = usual();
    options.hold = COMMENT_HOLD_FIRST;
    policy = policy_of(options);
    assert_true(comment_policy_holds(policy, text_from("fine"), false));
    assert_false(comment_policy_holds(policy, text_from("fine"), true));
    comment_policy_free(policy);
    options.hold = COMMENT_HOLD_ALL;
    policy = policy_of(options);
    assert_true(comment_policy_holds(policy, text_from("fine"), true));
    comment_policy_free(policy);
}

static void test_times_are_rounded_up(void **state)
{
    (void)state;
    struct comment_policy_options options = usual();
    const uint64_t given[] = {0, 1, 1000, 1001, 60000};
    const uint32_t used[] = {0, 1, 1, 2, 60};
    for (size_t i = 0; i < sizeof used / sizeof *used; i++) {
        options.repeat_ms = given[i];
        struct comment_policy *policy = policy_of(options);
        assert_int_equal(policy->repeat_s, used[i]);
        assert_int_equal(policy->report_at, 3);
        comment_policy_free(policy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_get_their_index_later),
        cmocka_unit_test(test_orders_are_for_types),
        cmocka_unit_test(test_bad_values_are_refused),
        cmocka_unit_test(test_what_is_held),
        cmocka_unit_test(test_times_are_rounded_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
