/*
 * What the store has of comments does not depend on how the events of a tier were divided into windows: after
 * random operations, during which it was projected at random, the store is made anew several times from the
 * same events, and has the same rows and counters each time (P3).
 */
#include "hot_suite_comments.h"

#include <xxhash.h>

enum { SUBJECTS = 4, ROUNDS = 3 };

/* A digest of each table of rows, and of all counters. */
struct digest {
    uint64_t tables[STORE_TABLES];
    uint64_t counts;
    uint64_t rows;
};

static enum status add_row(void *context, const struct store_row *row)
{
    struct digest *digest = context;
    uint64_t *table = &digest->tables[row->table];
    *table = XXH3_64bits_withSeed(row->key.data, row->key.length, *table);
    *table = XXH3_64bits_withSeed(row->value.data, row->value.length, *table);
    digest->rows++;
    return STATUS_OK;
}

/* Counters are visited in any order. */
static enum status add_count(void *context, const struct store_count *count)
{
    struct digest *digest = context;
    uint64_t words[] = {count->item.id.hi, count->item.id.lo, count->item.type, count->name,
                        (uint64_t)count->value};
    digest->counts += XXH3_64bits(words, sizeof words);
    return STATUS_OK;
}

static struct digest digest_of(struct world *world)
{
    struct digest digest = {0};
    struct store_visitor visitor = {.row = add_row, .count = add_count, .context = &digest};
    assert_int_equal(store_visit(hot_suite_tier->admin(world->suite.tier), &visitor), STATUS_OK);
    return digest;
}

static void run_windows(uint64_t seed, uint64_t operations)
{
    struct world world = world_open(seed);
    for (uint64_t done = 0; done < operations; done++) {
        world_do_anything(&world, SUBJECTS);
        if (chance_below(&world.chance, 6) == 0)
            suite_disturb(&world.suite, &world.chance, 60, world.clock_s);
    }
    suite_settle(&world.suite);
    struct digest first = digest_of(&world);
    assert_true(first.rows > operations / 4);
    for (int round = 0; round < ROUNDS; round++) {
        hot_suite_tier->project_again(world.suite.tier, &world.chance, world.clock_s);
        struct digest again = digest_of(&world);
        for (int table = 0; table < STORE_TABLES; table++)
            if (again.tables[table] != first.tables[table])
                fail_msg("table %d depends on the windows", table);
        assert_true(again.counts == first.counts);
        assert_int_equal(again.rows, first.rows);
    }
    check_everything(&world, SUBJECTS);
    world_close(&world);
}

void hot_suite_comments_windows(void **state)
{
    (void)state;
    struct chance seeds = {test_seed()};
    if (hot_suite_tier->project_again == NULL || !hot_suite_tier->has_store)
        return;
    for (int i = 0; i < 4; i++)
        run_windows(chance_next(&seeds), 1200 / SANITIZED_PART);
}
