#include <string.h>

#include "world.h"

/* One event after the other, each by itself. */
static void count_event(struct trends *trends, const struct event *event, uint64_t position)
{
    struct store_count counts[1 + LIMIT_EXCLUSIVE];
    struct store_changes changes = {.item.counts = counts, .position = position};
    for (uint8_t i = 0; i < event->cleared_count; i++)
        counts[changes.item.count_count++] =
            (struct store_count){.item = event->item, .name = event->cleared[i], .value = -1};
    if (event->type != EVENT_DEFINE)
        counts[changes.item.count_count++] =
            (struct store_count){.item = event->item,
                                 .name = event->name,
                                 .value = event->type == EVENT_ADD   ? event->delta
                                          : event->type == EVENT_SET ? 1
                                                                     : -1};
    trends_apply(trends, &changes, event->time_s, event->time_s);
}

static void expect_same(struct trends *expected, struct trends *found, uint16_t type, uint8_t name,
                        uint32_t now_s)
{
    for (enum trend_window window = TREND_HOUR; window <= TREND_WEEK; window++) {
        struct ranked rows[2][WORLD_ITEMS];
        size_t counts[2];
        assert_int_equal(
            trends_top(expected, type, name, window, now_s, rows[0], WORLD_ITEMS, &counts[0]),
            STATUS_OK);
        assert_int_equal(
            trends_top(found, type, name, window, now_s, rows[1], WORLD_ITEMS, &counts[1]),
            STATUS_OK);
        assert_int_equal(counts[0], counts[1]);
        if (counts[0] > 0)
            assert_memory_equal(rows[0], rows[1], counts[0] * sizeof rows[0][0]);
    }
}

void world_expect_trends(uint64_t seed, uint64_t position, struct trends *trends)
{
    static struct world world;
    struct memory_budget budget = {.limit = MIB(64)};
    const struct trend_options options = {.budget = &budget, .memory = MIB(64)};
    struct trends *expected = trends_new(&options);
    struct trend_stats stats;
    world_start(&world, seed);
    while (world.position < position) {
        struct event event = world_next(&world);
        count_event(expected, &event, world.position);
    }
    trends_stats(trends, &stats);
    assert_int_equal(stats.position, position);
    assert_int_equal(stats.since_s, 0);
    assert_true(stats.exact);
    for (int i = 0; i < WORLD_TYPES * WORLD_NAMES; i++)
        expect_same(expected, trends, (uint16_t)(i / WORLD_NAMES), (uint8_t)(i % WORLD_NAMES),
                    world.now_s);
    trends_free(expected);
}
