/*
 * Clients that keep a copy of what a user has, by nothing but what CHANGES says and, some of them,
 * what they set themselves. Whatever goes on between two pages (changes, also of exclusive kinds,
 * windows, evictions, crashes, a clock that is set back), a reaction that did not change while a
 * round was read is right in the copy when it ends; so after a round in which nothing changed, the
 * copy is what the server has. Cursors go through their text.
 */
#include "op/cursor.h"
#include "support.h"

enum { USERS = 5, ITEMS = 36, KINDS = 4, TTL_S = 60 };

static const uint8_t kinds[KINDS] = {NAME_INDEX_LIKE, 2, 3, 200};

/* The first two exclude each other. */
static const struct exclusive groups = {
    .group_of = {[NAME_INDEX_LIKE] = 1, [2] = 1},
    .group_count = 1,
    .groups = {{.count = 2, .kinds = {NAME_INDEX_LIKE, 2}}},
};

struct client {
    bool copy[KINDS][ITEMS];
    bool eager; /* what it does itself it does not wait to be told */
    char cursor[CURSOR_ROUND_TEXT];
    size_t cursor_length; /* 0: it starts over */
};

struct world {
    struct bed bed;
    struct chance chance;
    bool live[USERS][KINDS][ITEMS];
    uint64_t changed_at[USERS][KINDS][ITEMS]; /* number of the last change */
    uint64_t changes;
    uint32_t clock_s;
    uint32_t latest_s; /* the latest that the clock ever was: no cursor has a later time */
    struct client clients[USERS];
    uint64_t told;
    uint64_t cleared;
    uint64_t quiet;
    uint64_t started_over;
    uint64_t crashes;
    bool calm; /* nothing happens but what the test asks for */
};

static void put(struct world *world, uint32_t user, int kind, uint32_t item, bool live)
{
    world->live[user][kind][item] = live;
    world->changed_at[user][kind][item] = ++world->changes;
    if (world->clients[user].eager && chance_below(&world->chance, 2) == 0)
        world->clients[user].copy[kind][item] = live;
}

static void change(struct world *world)
{
    struct chance *chance = &world->chance;
    uint32_t user = chance_below(chance, USERS);
    uint32_t item = chance_below(chance, chance_below(chance, 2) ? ITEMS : 4);
    int kind = (int)chance_below(chance, KINDS);
    bool set = chance_below(chance, 2) == 0;
    uint32_t back = chance_below(chance, 4) == 0 ? chance_below(chance, 9) : 0;
    world->clock_s += chance_below(chance, 12) == 0;
    bool changes = set != world->live[user][kind][item];
    assert_int_equal(bed_change(&world->bed, set ? HOT_SET : HOT_CLEAR, id_number(user),
                                kinds[kind], item_number(item), world->clock_s - back),
                     changes);
    if (!changes)
        return;
    put(world, user, kind, item, set);
    if (set && kind < 2 && world->live[user][!kind][item])
        put(world, user, !kind, item, false);
}

static void disturb(struct world *world)
{
    struct bed *bed = &world->bed;
    size_t behind = recorder_count(&bed->recorder) - bed->projected;
    if (world->calm)
        return;
    switch (chance_below(&world->chance, 30)) {
    case 0:
        bed_project_all(bed);
        bed_evict(bed);
        break;
    case 1:
        bed_flush(bed);
        break;
    case 2:
        world->clock_s -= chance_below(&world->chance, 40); /* and the server does not know */
        bed_crash(bed, world->clock_s);
        hot_memory_set_reach(bed->hot, bed_reach, bed);
        world->crashes++;
        break;
    case 3:
        bed_keep(bed, world->clock_s);
        break;
    case 4:
        world->clock_s += chance_below(&world->chance, 30);
        break;
    default:
        if (behind > 0 && chance_below(&world->chance, 2) == 0)
            bed_project(bed, bed->projected + 1 + chance_below(&world->chance, (uint32_t)behind));
    }
}

static void some_changes(struct world *world, uint32_t most)
{
    for (uint32_t i = chance_below(&world->chance, most); i > 0; i--)
        change(world);
    disturb(world);
}

static int kind_number(uint8_t index)
{
    for (int i = 0; i < KINDS; i++)
        if (kinds[i] == index)
            return i;
    fail_msg("a kind that never was");
    return 0;
}

static uint32_t number_of(struct item item)
{
    for (uint32_t i = 0; i < ITEMS; i++)
        if (item_equal(item_number(i), item))
            return i;
    fail_msg("an item that never was");
    return 0;
}

static void apply(struct world *world, struct client *client, const struct hot_request *request)
{
    assert_true(request->changes.count <= request->changes.limit);
    for (uint32_t i = 0; i < request->changes.count; i++) {
        const struct store_listed *row = &world->bed.scratch.listed[request->changes.first + i];
        struct item item = {.id = row->id, .type = row->type};
        client->copy[kind_number(row->kind)][number_of(item)] = !row->cleared;
        assert_true(row->time_s != 0);
        world->told++;
        world->cleared += row->cleared;
    }
}

/* One page; false: it has to start over. */
static bool page(struct world *world, uint32_t user, struct hot_request *request)
{
    struct client *client = &world->clients[user];
    *request = (struct hot_request){.action = HOT_CHANGES,
                                    .user = id_number(user),
                                    .changes.limit = 1 + chance_below(&world->chance, 12),
                                    .time_s = world->clock_s};
    if (world->latest_s < world->clock_s)
        world->latest_s = world->clock_s;
    if (chance_below(&world->chance, 4) == 0)
        request->changes.limit = LIMIT_CHANGES;
    struct text text = {client->cursor, client->cursor_length};
    if (text.length != 0)
        assert_true(cursor_read_round(request, text));
    else
        memset(client->copy, 0, sizeof client->copy); /* a first round begins with an empty copy */
    enum status status = bed_run(&world->bed, request);
    if (status == STATUS_START_OVER) {
        struct store_stats stats;
        store_stats(&world->bed.store->admin, &stats);
        assert_true(request->changes.since_s != 0 &&
                    request->changes.since_s + TTL_S < stats.newest_s);
        client->cursor_length = 0;
        world->started_over++;
        return false;
    }
    assert_int_equal(status, STATUS_OK);
    apply(world, client, request);
    client->cursor_length = cursor_write_round(request, client->cursor);
    return true;
}

/* What did not change since the round began must be right. */
static void expect_copy(const struct world *world, uint32_t user, uint64_t began)
{
    for (int kind = 0; kind < KINDS; kind++)
        for (uint32_t item = 0; item < ITEMS; item++)
            if (world->changed_at[user][kind][item] <= began)
                assert_int_equal(world->clients[user].copy[kind][item],
                                 world->live[user][kind][item]);
}

/* Page after page, until there is no more. */
static void run_round(struct world *world, uint32_t user, bool moving)
{
    struct hot_request request = {.changes.more = true};
    uint64_t began = world->changes;
    while (request.changes.more) {
        if (!page(world, user, &request)) {
            request.changes.more = true;
            began = world->changes;
        }
        if (request.changes.more && moving)
            some_changes(world, 10);
        else if (request.changes.more && chance_below(&world->chance, 4) == 0)
            disturb(world);
    }
    expect_copy(world, user, began);
    world->quiet += world->changes == began;
}

/* Something happens after so long that no cursor is good any more. */
static void all_come_too_late(struct world *world)
{
    uint64_t changes = world->changes, started_over = world->started_over;
    struct store_stats stats;
    bed_project_all(&world->bed);
    store_stats(&world->bed.store->admin, &stats);
    uint32_t latest_s = stats.newest_s > world->latest_s ? stats.newest_s : world->latest_s;
    world->clock_s = latest_s + TTL_S + 100; /* crashes have set it back */
    while (world->changes == changes)
        change(world);
    bed_project_all(&world->bed);
    world->calm = true; /* a crash would take the store back to before that change */
    for (uint32_t user = 0; user < USERS; user++)
        run_round(world, user, false);
    assert_int_equal(world->started_over, started_over + USERS);
}

static void run_world(uint32_t shelf_max, uint64_t rounds)
{
    struct world *world = calloc(1, sizeof(*world));
    assert_non_null(world);
    world->chance.state = test_seed();
    world->clock_s = 1000;
    struct hot_memory_options options = bed_options();
    options.shelf_max = shelf_max;
    options.exclusive = &groups;
    bed_open_stored(&world->bed, GIB(1), options);
    world->bed.changes_ttl_s = TTL_S;
    hot_memory_set_reach(world->bed.hot, bed_reach, &world->bed);
    for (uint32_t user = 0; user < USERS; user++)
        world->clients[user].eager = user % 2;
    for (uint64_t i = 0; i < rounds; i++) {
        some_changes(world, 25);
        /* The last one asks seldom: its cursors grow old. */
        uint32_t user = chance_below(&world->chance, 40) == 0
                            ? USERS - 1
                            : chance_below(&world->chance, USERS - 1);
        run_round(world, user, chance_below(&world->chance, 2) == 0);
    }
    for (uint32_t user = 0; user < USERS; user++)
        run_round(world, user, false);
    all_come_too_late(world);
    assert_true(world->cleared > 0 && world->quiet > 0);
    assert_true(world->crashes > 0 && world->told > world->cleared);
    print_message("%llu told, %llu cleared, %llu started over, %llu crashes\n",
                  (unsigned long long)world->told, (unsigned long long)world->cleared,
                  (unsigned long long)world->started_over, (unsigned long long)world->crashes);
    bed_close(&world->bed);
    free(world);
}

static void test_tiny_and_usual_shelves(void **state)
{
    (void)state;
    run_world(2, test_operations(3000));
    run_world(1000, test_operations(3000));
}

static struct hot_request ask(struct bed *bed, struct id user, uint32_t since_s)
{
    struct hot_request request = {.action = HOT_CHANGES,
                                  .user = user,
                                  .changes.limit = 10,
                                  .changes.since_s = since_s,
                                  .time_s = 1};
    assert_int_equal(bed_run(bed, &request), STATUS_OK);
    assert_false(request.changes.more);
    return request;
}

/* Set and cleared within one window: who saw it set is told, though the store never had it. */
static void test_what_passed_is_told(void **state)
{
    (void)state;
    struct bed bed;
    const struct id user = {.lo = 5};
    const struct item item = {{.lo = 6}, 1};
    bed_open_stored(&bed, GIB(1), bed_options());
    hot_memory_set_reach(bed.hot, bed_reach, &bed);
    bed_change(&bed, HOT_SET, user, NAME_INDEX_LIKE, (struct item){{.lo = 7}, 1}, 100);
    struct hot_request request = ask(&bed, user, 0);
    assert_int_equal(request.changes.count, 1);
    assert_int_equal(request.changes.until_s, 100);
    bed_change(&bed, HOT_SET, user, NAME_INDEX_LIKE, item, 103);
    bed_change(&bed, HOT_CLEAR, user, NAME_INDEX_LIKE, item, 104);
    request = ask(&bed, user, 101);
    assert_int_equal(request.changes.count, 1);
    assert_true(bed.scratch.listed[request.changes.first].cleared);
    assert_int_equal(bed.scratch.listed[request.changes.first].time_s, 104);
    assert_int_equal(request.changes.until_s, 104);
    bed_close(&bed);
}

/* A user who did not change lately is not made to wait for the projector. */
static void test_waits_only_for_its_own(void **state)
{
    (void)state;
    struct bed bed;
    const struct item item = {{.lo = 6}, 1};
    const struct id user = {.lo = 5};
    bed_open_stored(&bed, GIB(1), bed_options());
    hot_memory_set_reach(bed.hot, bed_reach, &bed);
    bed_change(&bed, HOT_SET, user, NAME_INDEX_LIKE, item, 100);
    assert_int_equal(ask(&bed, user, 0).changes.count, 1);
    bed_change(&bed, HOT_SET, (struct id){.lo = 1234567}, NAME_INDEX_LIKE, item, 101);
    bed_change(&bed, HOT_SET, (struct id){.lo = 1234567}, 2, item, 101);
    bed_project(&bed, 2);
    size_t projected = bed.projected;
    assert_int_equal(ask(&bed, user, 0).changes.count, 1);
    assert_int_equal(bed.projected, projected);
    bed_change(&bed, HOT_CLEAR, user, NAME_INDEX_LIKE, item, 102);
    assert_int_equal(ask(&bed, user, 0).changes.count, 0);
    assert_true(bed.projected > projected);
    bed_close(&bed);
}

/* Where the store has nothing yet, there is a time to go on from all the same. */
static void test_before_the_first_window(void **state)
{
    (void)state;
    struct bed bed;
    const struct id user = {.lo = 5}, other = {.lo = 1234567};
    bed_open_stored(&bed, GIB(1), bed_options());
    hot_memory_set_reach(bed.hot, bed_reach, &bed);
    assert_int_equal(ask(&bed, user, 0).changes.until_s, 1);
    bed_change(&bed, HOT_SET, other, NAME_INDEX_LIKE, (struct item){{.lo = 6}, 1}, 100);
    assert_int_equal(bed.projected, 0);
    assert_int_equal(ask(&bed, user, 0).changes.until_s, 100);
    bed_close(&bed);
}

/* After a crash the store is behind what a cursor has seen, and comes there again. */
static void test_a_crash_is_no_start_over(void **state)
{
    (void)state;
    struct bed bed;
    const struct item item = {{.lo = 6}, 1};
    const struct id user = {.lo = 5}, other = {.lo = 1234567};
    bed_open_stored(&bed, GIB(1), bed_options());
    hot_memory_set_reach(bed.hot, bed_reach, &bed);
    bed_change(&bed, HOT_SET, user, NAME_INDEX_LIKE, item, 100);
    bed_project_all(&bed);
    bed_flush(&bed);
    bed_change(&bed, HOT_SET, other, NAME_INDEX_LIKE, item, 200);
    bed_project_all(&bed);
    assert_int_equal(ask(&bed, user, 0).changes.until_s, 200);
    bed_crash(&bed, 50);
    hot_memory_set_reach(bed.hot, bed_reach, &bed);
    struct hot_request request = ask(&bed, user, 200);
    assert_int_equal(request.changes.count, 0);
    bed_change(&bed, HOT_CLEAR, user, NAME_INDEX_LIKE, item, 50);
    request = ask(&bed, user, 200);
    assert_int_equal(request.changes.count, 1);
    assert_int_equal(bed.scratch.listed[request.changes.first].time_s, 200);
    bed_close(&bed);
}

static enum status reach_never(void *context, uint64_t position, unsigned timeout_ms)
{
    (void)context;
    (void)position;
    assert_int_equal(timeout_ms, LIMIT_REACH_MS);
    return STATUS_LAGGING;
}

static void test_refusals(void **state)
{
    (void)state;
    struct bed bed;
    struct hot_request request = {.action = HOT_CHANGES, .user = {.lo = 1}, .changes.limit = 5};
    bed_open(&bed, GIB(1), bed_options());
    assert_int_equal(bed_run(&bed, &request), STATUS_NO_STORE);
    bed_close(&bed);
    bed_open_stored(&bed, GIB(1), bed_options());
    assert_int_equal(bed_run(&bed, &request), STATUS_OK);
    assert_int_equal(request.changes.until_s, 1); /* nothing ever happened */
    request.changes.until_s = 0;
    bed_change(&bed, HOT_SET, request.user, NAME_INDEX_LIKE, (struct item){{.lo = 7}, 1}, 100);
    assert_int_equal(bed_run(&bed, &request), STATUS_LAGGING);
    hot_memory_set_reach(bed.hot, reach_never, &bed);
    request.changes.until_s = 0;
    assert_int_equal(bed_run(&bed, &request), STATUS_LAGGING);
    hot_memory_set_reach(bed.hot, bed_reach, &bed);
    request = (struct hot_request){
        .action = HOT_CHANGES, .user = {.lo = 1}, .changes.limit = 5, .changes.since_s = 101};
    assert_int_equal(bed_run(&bed, &request), STATUS_START_OVER); /* of a later time */
    bed_close(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tiny_and_usual_shelves),
        cmocka_unit_test(test_what_passed_is_told),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_waits_only_for_its_own),
        cmocka_unit_test(test_before_the_first_window),
        cmocka_unit_test(test_a_crash_is_no_start_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
