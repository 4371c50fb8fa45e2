/*
 * Random operations on comments against the model. Between them the store lags, what is clean is evicted,
 * and the tier is restarted with its store at the last flush. Every answer is compared, and from time to
 * time everything that anybody can read. LAUD_OPS says how many operations.
 */
#include "hot_suite_comments.h"

enum { SUBJECTS = 5, ROUND = 2500, CHECK_EVERY = 800 };

/* One tier and one model. There are many short rounds, because the model searches everything each time. */
static void run_round(uint64_t seed, uint64_t operations)
{
    struct world world = world_open(seed);
    for (uint64_t done = 1; done <= operations; done++) {
        world_do_anything(&world, SUBJECTS);
        if (chance_below(&world.chance, 10) == 0)
            suite_disturb(&world.suite, &world.chance, 100, world.clock_s);
        if (done % CHECK_EVERY == 0)
            check_everything(&world, SUBJECTS);
    }
    check_everything(&world, SUBJECTS);
    suite_restart(&world.suite, world.clock_s);
    check_everything(&world, SUBJECTS);
    world_close(&world);
}

void hot_suite_comments_property(void **state)
{
    (void)state;
    uint64_t operations = suite_operations(40000);
    struct chance seeds = {test_seed()};
    if (!hot_suite_tier->has_store)
        return;
    for (uint64_t done = 0; done < operations; done += ROUND)
        run_round(chance_next(&seeds), operations - done < ROUND ? operations - done : ROUND);
}
