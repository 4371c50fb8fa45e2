/* Bans: a table that is compared with a plain list, its bounds, and what expires. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>

#include "chance.h"
#include "hot/memory/bans.h"

static struct memory_budget budget_of(uint64_t limit)
{
    return (struct memory_budget){.limit = limit};
}

static enum status ban(struct bans *bans, uint64_t user, uint32_t until_s, bool shadow,
                       uint32_t now_s)
{
    struct ban_change change = bans_begin(bans, (struct id){.lo = user}, now_s);
    enum status status = until_s != 0 ? bans_reserve(&change) : STATUS_OK;
    if (status == STATUS_OK)
        bans_put(&change, (struct user_ban){.until_s = until_s, .shadow = shadow});
    bans_end(&change);
    return status;
}

static uint32_t until(struct bans *bans, uint64_t user, uint32_t now_s)
{
    return bans_find(bans, (struct id){.lo = user}, now_s).until_s;
}

static void test_a_ban_ends_at_its_time(void **state)
{
    (void)state;
    struct bans bans;
    struct memory_budget budget = budget_of(MIB(1));
    bans_init(&bans, &budget, 1, 0);
    assert_int_equal(until(&bans, 1, 0), 0);
    assert_int_equal(ban(&bans, 1, 100, false, 10), STATUS_OK);
    assert_int_equal(ban(&bans, 2, BAN_FOR_EVER, true, 10), STATUS_OK);
    assert_int_equal(until(&bans, 1, 99), 100);
    assert_int_equal(until(&bans, 1, 100), 0);
    assert_int_equal(until(&bans, 3, 50), 0);
    assert_int_equal(until(&bans, 2, UINT32_MAX), BAN_FOR_EVER);
    assert_true(bans_find(&bans, (struct id){.lo = 2}, 50).shadow);
    assert_int_equal(ban(&bans, 2, 0, false, 50), STATUS_OK);
    assert_int_equal(until(&bans, 2, 50), 0);
    assert_int_equal(bans_count(&bans), 1);
    bans_destroy(&bans);
    assert_int_equal(memory_used(&budget), 0);
}

static void test_only_so_many_users_are_banned(void **state)
{
    (void)state;
    enum { MOST = 100 };
    struct bans bans;
    struct memory_budget budget = budget_of(MIB(1));
    bans_init(&bans, &budget, 7, MOST);
    for (uint64_t user = 0; user < MOST; user++)
        assert_int_equal(ban(&bans, user, 1000 + (uint32_t)user % 2 * 1000, false, 1), STATUS_OK);
    assert_int_equal(ban(&bans, MOST, 2000, false, 500), STATUS_BANS_FULL);
    assert_int_equal(ban(&bans, 5, 3000, true, 500), STATUS_OK); /* it has an entry already */
    assert_true(bans_sweep(&bans, 500));
    assert_int_equal(ban(&bans, MOST, 2000, false, 500), STATUS_BANS_FULL);
    assert_false(bans_sweep(&bans, 500)); /* once a second is enough */
    assert_true(bans_sweep(&bans, 1500));
    assert_int_equal(bans_count(&bans), MOST / 2);
    assert_int_equal(ban(&bans, MOST, 2000, false, 1500), STATUS_OK);
    assert_int_equal(until(&bans, 5, 1500), 3000);
    bans_destroy(&bans);
}

static void test_memory_is_bounded(void **state)
{
    (void)state;
    struct bans bans;
    struct memory_budget budget = budget_of(KIB(64));
    enum status status = STATUS_OK;
    uint64_t user = 0;
    bans_init(&bans, &budget, 3, 0);
    while (status == STATUS_OK)
        status = ban(&bans, user++, BAN_FOR_EVER, false, 1);
    assert_int_equal(status, STATUS_NO_MEMORY);
    assert_int_equal(until(&bans, user - 1, 1), 0);
    for (uint64_t i = 0; i + 1 < user; i++)
        assert_int_equal(until(&bans, i, 1), BAN_FOR_EVER);
    assert_int_equal(
        bans_restore(&bans, (struct id){.lo = user - 1}, (struct user_ban){.until_s = 2}, 1),
        STATUS_NO_MEMORY);
    bans_destroy(&bans);
    assert_int_equal(memory_used(&budget), 0);
}

static void test_recorded_bans_are_restored(void **state)
{
    (void)state;
    struct bans bans;
    struct memory_budget budget = budget_of(MIB(1));
    bans_init(&bans, &budget, 3, 1);
    for (uint64_t user = 0; user < 50; user++) /* more than may be added */
        assert_int_equal(bans_restore(&bans, (struct id){.lo = user},
                                      (struct user_ban){.until_s = 100 + (uint32_t)user}, 120),
                         STATUS_OK);
    for (uint64_t user = 0; user < 50; user++)
        assert_int_equal(until(&bans, user, 120), user > 20 ? 100 + user : 0);
    assert_int_equal(bans_count(&bans), 29);
    assert_int_equal(bans_restore(&bans, (struct id){.lo = 40}, (struct user_ban){0}, 120),
                     STATUS_OK);
    assert_int_equal(until(&bans, 40, 120), 0);
    bans_destroy(&bans);
}

/* Few users, so that entries are removed, shifted and used again all the time. */
static void test_the_table_is_like_a_list(void **state)
{
    (void)state;
    enum { USERS = 3000, STEPS = 200000 / SANITIZED_PART };
    static uint32_t model[USERS];
    struct chance chance = {test_seed()};
    struct bans bans;
    struct memory_budget budget = budget_of(MIB(16));
    uint32_t now_s = 1;
    bans_init(&bans, &budget, chance_next(&chance), 0);
    for (uint32_t step = 0; step < STEPS; step++) {
        uint32_t user = chance_below(&chance, USERS);
        now_s += chance_below(&chance, 20) == 0;
        uint32_t dice = chance_below(&chance, 10);
        if (dice < 4) {
            uint32_t until_s = now_s + 1 + chance_below(&chance, 400);
            assert_int_equal(ban(&bans, user, until_s, false, now_s), STATUS_OK);
            model[user] = until_s;
        } else if (dice < 6) {
            assert_int_equal(ban(&bans, user, 0, false, now_s), STATUS_OK);
            model[user] = 0;
        } else if (dice < 7 && chance_below(&chance, 100) == 0) {
            bans_sweep(&bans, now_s);
        }
        uint32_t other = chance_below(&chance, USERS);
        assert_int_equal(until(&bans, other, now_s), model[other] > now_s ? model[other] : 0);
    }
    for (uint32_t user = 0; user < USERS; user++)
        assert_int_equal(until(&bans, user, now_s), model[user] > now_s ? model[user] : 0);
    bans_destroy(&bans);
    assert_int_equal(memory_used(&budget), 0);
}

struct shared {
    struct bans bans;
    _Atomic uint32_t next;
};

/* Bans and lifts users of its own, and looks for all of them. */
static void *change_own(void *argument)
{
    struct shared *shared = argument;
    uint64_t first = 1000 * (uint64_t)atomic_fetch_add(&shared->next, 1);
    for (uint32_t round = 0; round < 20; round++) {
        for (uint64_t user = first; user < first + 200; user++)
            assert_int_equal(ban(&shared->bans, user, 100, false, 1), STATUS_OK);
        for (uint64_t user = first; user < first + 200; user++) {
            assert_int_equal(until(&shared->bans, user, 1), 100);
            until(&shared->bans, user + 1000, 1);
            assert_int_equal(ban(&shared->bans, user, 0, false, 1), STATUS_OK);
        }
    }
    return NULL;
}

static void test_threads_share_the_table(void **state)
{
    (void)state;
    static struct shared shared;
    struct memory_budget budget = budget_of(MIB(16));
    pthread_t threads[4];
    bans_init(&shared.bans, &budget, 5, 0);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, change_own, &shared), 0);
    for (unsigned i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(bans_count(&shared.bans), 0);
    bans_destroy(&shared.bans);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_ban_ends_at_its_time),
        cmocka_unit_test(test_only_so_many_users_are_banned),
        cmocka_unit_test(test_memory_is_bounded),
        cmocka_unit_test(test_recorded_bans_are_restored),
        cmocka_unit_test(test_the_table_is_like_a_list),
        cmocka_unit_test(test_threads_share_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
