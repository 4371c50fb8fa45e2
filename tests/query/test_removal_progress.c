#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "query/removal_progress.h"

static void test_continues_where_it_was(void **state)
{
    (void)state;
    struct removal_progress progress;
    struct store_reaction saved = {.user.lo = 1, .kind = 3, .time_s = 9}, position = {.user.lo = 1};
    removal_progress_init(&progress, 7);
    removal_progress_load(&progress, HOT_FORGET, &position);
    assert_int_equal(position.time_s, 0);
    removal_progress_save(&progress, HOT_FORGET, &saved);
    removal_progress_load(&progress, HOT_FORGET, &position);
    assert_memory_equal(&position, &saved, sizeof(position));
    position.time_s = 0;
    removal_progress_save(&progress, HOT_FORGET, &position);
    removal_progress_load(&progress, HOT_FORGET, &position);
    assert_int_equal(position.time_s, 0);
    removal_progress_destroy(&progress);
}

/* A user and an item with the same id are two things. */
static void test_users_are_no_items(void **state)
{
    (void)state;
    struct removal_progress progress;
    removal_progress_init(&progress, 7);
    for (uint64_t i = 0; i < 4 * REMOVAL_PROGRESS_SLOTS; i++) {
        struct store_reaction position = {.user.lo = i, .kind = 3, .time_s = 9};
        removal_progress_save(&progress, HOT_FORGET, &position);
        position = (struct store_reaction){.item.id.lo = i};
        removal_progress_load(&progress, HOT_DROP, &position);
        assert_int_equal(position.time_s, 0);
    }
    removal_progress_destroy(&progress);
}

/* There are few slots: two that share one lose their entries to each other, and nothing else. */
static void test_entries_may_be_lost(void **state)
{
    (void)state;
    struct removal_progress progress;
    struct store_reaction first = {.user.lo = 1, .kind = 3, .time_s = 9}, other = {0};
    removal_progress_init(&progress, 7);
    removal_progress_save(&progress, HOT_FORGET, &first);
    uint64_t id = 0;
    struct store_reaction position = first;
    while (position.time_s != 0) { /* until an item takes the slot */
        assert_true(id < 100 * REMOVAL_PROGRESS_SLOTS);
        other = (struct store_reaction){.item.id.lo = ++id, .kind = 4, .time_s = 8};
        removal_progress_save(&progress, HOT_DROP, &other);
        position = (struct store_reaction){.user.lo = 1};
        removal_progress_load(&progress, HOT_FORGET, &position);
    }
    removal_progress_save(&progress, HOT_FORGET, &position); /* it removes no entry but its own */
    position = (struct store_reaction){.item.id.lo = id};
    removal_progress_load(&progress, HOT_DROP, &position);
    assert_memory_equal(&position, &other, sizeof(position));
    removal_progress_destroy(&progress);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_continues_where_it_was),
        cmocka_unit_test(test_users_are_no_items),
        cmocka_unit_test(test_entries_may_be_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
