/* Repeated texts: what counts as the same, for how long, and what happens when the table is full. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "comment/comment.h"
#include "hot/memory/repeats.h"

enum { WINDOW_S = 60, NOW_S = 1000 };

static const struct item video = {.id = {.lo = 42}, .type = 3};
static const struct id ana = {.lo = 7};

static struct repeat_key key_of(const struct repeats *repeats, struct id user, struct item item,
                                const char *text)
{
    return repeats_key(repeats, user, item, text_from(text));
}

static uint64_t find(struct repeats *repeats, struct id user, struct item item, const char *text,
                     uint32_t now_s)
{
    struct repeat_key key = key_of(repeats, user, item, text);
    return repeats_find(repeats, &key, now_s);
}

static void add(struct repeats *repeats, const char *text, uint64_t comment, uint32_t now_s)
{
    struct repeat_key key = key_of(repeats, ana, video, text);
    repeats_add(repeats, &key, comment, now_s);
}

static void test_the_same_text_is_found_for_a_while(void **state)
{
    (void)state;
    struct repeats repeats;
    struct memory_budget budget = {.limit = MIB(16)};
    assert_true(repeats_init(&repeats, &budget, 1, WINDOW_S, 0));
    assert_int_equal(find(&repeats, ana, video, "first", NOW_S), COMMENT_NONE);
    add(&repeats, "first", 11, NOW_S);
    assert_int_equal(find(&repeats, ana, video, "first", NOW_S), 11);
    assert_int_equal(find(&repeats, ana, video, "first", NOW_S + WINDOW_S - 1), 11);
    assert_int_equal(find(&repeats, ana, video, "first", NOW_S + WINDOW_S), COMMENT_NONE);
    add(&repeats, "first", 12, NOW_S + WINDOW_S);
    assert_int_equal(find(&repeats, ana, video, "first", NOW_S + WINDOW_S), 12);
    repeats_destroy(&repeats);
    assert_int_equal(memory_used(&budget), 0);
}

static void test_another_user_item_or_text_is_not_the_same(void **state)
{
    (void)state;
    struct repeats repeats;
    struct memory_budget budget = {.limit = MIB(16)};
    struct item post = video, other = video;
    post.type++;
    other.id.hi = 1;
    assert_true(repeats_init(&repeats, &budget, 1, WINDOW_S, 0));
    add(&repeats, "first", 11, NOW_S);
    assert_int_equal(find(&repeats, (struct id){.lo = 8}, video, "first", NOW_S), COMMENT_NONE);
    assert_int_equal(find(&repeats, ana, post, "first", NOW_S), COMMENT_NONE);
    assert_int_equal(find(&repeats, ana, other, "first", NOW_S), COMMENT_NONE);
    assert_int_equal(find(&repeats, ana, video, "first!", NOW_S), COMMENT_NONE);
    assert_int_equal(find(&repeats, ana, video, "", NOW_S), COMMENT_NONE);
    assert_int_equal(find(&repeats, ana, video, "first", NOW_S), 11);
    repeats_destroy(&repeats);
}

static void test_a_full_table_forgets_the_oldest(void **state)
{
    (void)state;
    enum { TEXTS = 40 };
    struct repeats repeats;
    struct memory_budget budget = {.limit = MIB(1)};
    char text[2] = "a";
    assert_true(repeats_init(&repeats, &budget, 1, WINDOW_S, 1)); /* one set */
    uint64_t used = memory_used(&budget);
    for (uint32_t i = 0; i < TEXTS; i++) {
        text[0] = (char)('0' + i);
        add(&repeats, text, i + 1, NOW_S + i);
    }
    uint32_t found = 0;
    for (uint32_t i = 0; i < TEXTS; i++) {
        text[0] = (char)('0' + i);
        bool here = find(&repeats, ana, video, text, NOW_S + TEXTS) == i + 1;
        assert_true(here || found == 0); /* those that are left are the newest */
        found += here;
    }
    assert_in_range(found, 1, TEXTS - 1);
    assert_int_equal(memory_used(&budget), used);
    repeats_destroy(&repeats);
}

static void test_it_can_be_off(void **state)
{
    (void)state;
    struct repeats repeats;
    struct memory_budget budget = {.limit = KIB(1)};
    assert_true(repeats_init(&repeats, &budget, 1, 0, 0));
    add(&repeats, "first", 11, NOW_S);
    assert_int_equal(find(&repeats, ana, video, "first", NOW_S), COMMENT_NONE);
    assert_int_equal(memory_used(&budget), 0);
    repeats_destroy(&repeats);
    assert_false(repeats_init(&repeats, &budget, 1, WINDOW_S, 0)); /* no memory for a table */
    repeats_destroy(&repeats);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_same_text_is_found_for_a_while),
        cmocka_unit_test(test_another_user_item_or_text_is_not_the_same),
        cmocka_unit_test(test_a_full_table_forgets_the_oldest),
        cmocka_unit_test(test_it_can_be_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
