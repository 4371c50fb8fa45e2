#include "net/rest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "net/conn.h"

#define CONNS 500

static struct loop *loop;
static struct conn *conns[CONNS];

static int set_up(void **state)
{
    (void)state;
    loop = calloc(1, sizeof *loop);
    assert_non_null(loop);
    assert_int_equal(uv_loop_init(&loop->uv), 0);
    rest_init(loop);
    for (int i = 0; i < CONNS; i++) {
        conns[i] = calloc(1, sizeof *conns[i]);
        assert_non_null(conns[i]);
        conns[i]->loop = loop;
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (int i = 0; i < CONNS; i++) {
        rest_end(conns[i]);
        free(conns[i]);
    }
    for (uint32_t length = 0; length < REST_LENGTHS; length++)
        assert_true(loop->rests.first[length] == NULL && loop->rests.last[length] == NULL);
    uv_close((uv_handle_t *)&loop->rests.timer, NULL);
    uv_close((uv_handle_t *)&loop->rests.check, NULL);
    uv_close((uv_handle_t *)&loop->rests.idle, NULL);
    assert_int_equal(uv_run(&loop->uv, UV_RUN_DEFAULT), 0);
    assert_int_equal(uv_loop_close(&loop->uv), 0);
    free(loop);
    return 0;
}

/* How many come back at each step. */
static void rest_all(uint64_t ms, uint32_t *ends)
{
    uint64_t now_ms = uv_now(&loop->uv);
    for (int i = 0; i < CONNS; i++)
        rest_begin(conns[i], ms);
    for (int i = 0; i < CONNS; i++) {
        uint64_t length_ms = conns[i]->rest.until_ms - now_ms;
        assert_true(conns[i]->rest.resting && length_ms % REST_STEP_MS == 0);
        assert_in_range(length_ms / REST_STEP_MS, 0, REST_LENGTHS - 1);
        ends[length_ms / REST_STEP_MS]++;
    }
}

static void those_that_come_to_rest_together_come_back_one_by_one(void **state)
{
    (void)state;
    uint32_t ends[REST_LENGTHS] = {0}, half = REST_LENGTHS / 2;
    rest_all(LIMIT_REST_MS, ends);
    for (uint32_t i = 0; i < REST_LENGTHS; i++)
        assert_in_range(ends[i], i < half ? 0 : CONNS / (half + 1),
                        i < half ? 0 : CONNS / (half + 1) + 1);
}

static void short_rests_are_not_cut_to_nothing(void **state)
{
    (void)state;
    uint32_t ends[REST_LENGTHS] = {0};
    rest_all(1, ends);
    assert_int_equal(ends[1], CONNS);
}

static void a_turn_is_a_turn(void **state)
{
    (void)state;
    uint32_t ends[REST_LENGTHS] = {0};
    rest_all(0, ends);
    assert_int_equal(ends[0], CONNS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(those_that_come_to_rest_together_come_back_one_by_one,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(short_rests_are_not_cut_to_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_turn_is_a_turn, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("net/rest", tests, NULL, NULL);
}
