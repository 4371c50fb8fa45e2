/* A sample is within its bounds, exact as long as all fits, and takes each with the same chance. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>

#include <cmocka.h>

#include "chance.h"
#include "metrics/sample.h"

#define SIZE 256
#define HALF 1000

static struct item room[2 * SIZE];

static void offer(struct sample_stream *stream, uint64_t id)
{
    if (sample_wants(stream, 1))
        sample_take(stream, (struct item){.id = {.lo = id}});
    else
        sample_pass(stream, 1);
}

static void all_is_kept_while_it_fits(void **state)
{
    (void)state;
    struct sample_stream stream;
    sample_init(&stream, room, SIZE, HALF, 1, 0);
    for (uint64_t i = 0; i < SIZE - 1; i++)
        offer(&stream, i);
    const struct sample *sample = sample_half(&stream, 0);
    assert_int_equal(sample->count, SIZE - 1);
    assert_int_equal(sample->offered, SIZE - 1);
    for (uint32_t i = 0; i < sample->count; i++)
        assert_int_equal(sample->kept[i].id.lo, i);
    assert_true(sample_weight(&stream, 0, 0, 500) == 1);
}

/* The mean place of what is kept is the middle, and each tenth has its share: within 7 sigma. */
static void each_has_the_same_chance(void **state)
{
    (void)state;
    struct chance chance = {test_seed()};
    enum { RUNS = 400, OFFERED = 20000, PARTS = 10 };
    uint64_t kept = 0, parts[PARTS] = {0};
    for (int run = 0; run < RUNS; run++) {
        struct sample_stream stream;
        sample_init(&stream, room, SIZE, HALF, chance_next(&chance), 0);
        for (uint64_t i = 0; i < OFFERED; i++)
            offer(&stream, i);
        const struct sample *sample = sample_half(&stream, 0);
        assert_true(sample->count < SIZE && sample->count > SIZE / 4);
        assert_int_equal(sample->offered, OFFERED);
        for (uint32_t i = 0; i < sample->count; i++)
            parts[sample->kept[i].id.lo * PARTS / OFFERED]++;
        kept += sample->count;
    }
    double wanted = (double)kept / PARTS, sigma = sqrt(wanted);
    for (int i = 0; i < PARTS; i++)
        if (fabs((double)parts[i] - wanted) > 7 * sigma)
            fail_msg("part %d has %llu of %.0f", i, (unsigned long long)parts[i], wanted);
}

static void halves_take_turns(void **state)
{
    (void)state;
    struct sample_stream stream;
    sample_init(&stream, room, SIZE, HALF, 1, 0);
    offer(&stream, 7);
    offer(&stream, 7);
    assert_false(sample_is_over(&stream, HALF - 1));
    assert_true(sample_is_over(&stream, HALF));
    sample_turn(&stream, HALF + 100);
    assert_int_equal(stream.began_ns, HALF); /* no gap between halves */
    offer(&stream, 8);
    assert_int_equal(sample_half(&stream, 0)->kept[0].id.lo, 8);
    assert_int_equal(sample_half(&stream, 1)->count, 2);
    assert_true(sample_weight(&stream, 0, 0, HALF + 100) == 1);
    assert_true(fabs(sample_weight(&stream, 1, 0, HALF + 100) - 0.9) < 1e-9);
    assert_true(fabs(sample_weight(&stream, 1, 0, HALF + 750) - 0.25) < 1e-9);
    /* Nobody turned: the current half grows old as well. */
    assert_true(fabs(sample_weight(&stream, 0, 0, 2 * HALF + 250) - 0.75) < 1e-9);
    assert_true(sample_weight(&stream, 1, 0, 2 * HALF + 250) == 0);
    assert_true(sample_weight(&stream, 0, 0, 3 * HALF) == 0);
    sample_turn(&stream, 5 * HALF); /* after a pause nothing is left */
    assert_int_equal(sample_half(&stream, 1)->count, 0);
    assert_int_equal(stream.began_ns, 5 * HALF);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_is_kept_while_it_fits),
        cmocka_unit_test(each_has_the_same_chance),
        cmocka_unit_test(halves_take_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
