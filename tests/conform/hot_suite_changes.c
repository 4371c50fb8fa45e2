/*
 * Clients that keep a copy of what a user has, by nothing but what CHANGES says and, some of them, what
 * they set themselves. Whatever happens between two pages, a reaction that did not change while a
 * round was read is right in the copy when the round ends. So after a round in which nothing
 * changed, the copy is what the server has.
 */
#include "hot_suite.h"

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
    bool eager; /* it enters its own changes into the copy at once */
    struct suite_round round;
};

struct world {
    struct suite suite;
    struct chance chance;
    bool set[USERS][KINDS][ITEMS];
    uint64_t changed_at[USERS][KINDS][ITEMS]; /* number of the last change */
    uint64_t changes;
    uint32_t clock_s;
    uint32_t newest_s; /* no recorded time is later */
    struct client clients[USERS];
    uint64_t cleared;
    uint64_t quiet;
    uint64_t started_over;
    bool calm; /* nothing happens but what the test asks for */
};

static void put(struct world *world, uint32_t user, int kind, uint32_t item, bool set)
{
    world->set[user][kind][item] = set;
    world->changed_at[user][kind][item] = ++world->changes;
    if (world->clients[user].eager && chance_below(&world->chance, 2) == 0)
        world->clients[user].copy[kind][item] = set;
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
    uint32_t now_s = world->clock_s - back;
    bool changes = set != world->set[user][kind][item];
    world->newest_s = now_s > world->newest_s ? now_s : world->newest_s;
    assert_int_equal(suite_change(&world->suite, set ? HOT_SET : HOT_CLEAR, suite_id(user),
                                  kinds[kind], suite_item(item), now_s),
                     changes);
    if (!changes)
        return;
    put(world, user, kind, item, set);
    if (set && kind < 2 && world->set[user][!kind][item])
        put(world, user, !kind, item, false);
}

/* The clock is set forward, and back, and a restart does not know by how much. */
static void disturb(struct world *world)
{
    uint32_t dice = chance_below(&world->chance, 30);
    if (world->calm)
        return;
    if (dice == 0)
        world->clock_s -= chance_below(&world->chance, 40);
    else if (dice == 1)
        world->clock_s += chance_below(&world->chance, 60);
    suite_disturb(&world->suite, &world->chance, 30, world->clock_s);
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

static uint32_t item_number(struct item item)
{
    for (uint32_t i = 0; i < ITEMS; i++)
        if (item_equal(suite_item(i), item))
            return i;
    fail_msg("an item that never was");
    return 0;
}

/* One page; false: the client has to start over, and does. */
static bool read_page(struct world *world, uint32_t user, struct suite_page *page)
{
    struct client *client = &world->clients[user];
    uint32_t since_s = client->round.since_s;
    uint32_t limit =
        chance_below(&world->chance, 4) == 0 ? LIMIT_CHANGES : 1 + chance_below(&world->chance, 12);
    if (since_s == 0 && client->round.until_s == 0)
        memset(client->copy, 0, sizeof client->copy); /* a first round begins with an empty copy */
    enum status status = suite_changes(&world->suite, suite_id(user), &client->round, limit, page);
    if (status == STATUS_START_OVER) {
        assert_true(since_s != 0 && since_s + TTL_S < world->newest_s);
        client->round = (struct suite_round){0};
        world->started_over++;
        return false;
    }
    assert_int_equal(status, STATUS_OK);
    assert_true(page->count <= limit);
    for (uint32_t i = 0; i < page->count; i++) {
        const struct store_listed *row = &page->listed[i];
        struct item item = {.id = row->id, .type = row->type};
        assert_true(row->time_s != 0);
        client->copy[kind_number(row->kind)][item_number(item)] = !row->cleared;
        world->cleared += row->cleared;
    }
    return true;
}

/* What did not change since the round began must be right. */
static void expect_copy(const struct world *world, uint32_t user, uint64_t began)
{
    for (int kind = 0; kind < KINDS; kind++)
        for (uint32_t item = 0; item < ITEMS; item++)
            if (world->changed_at[user][kind][item] <= began)
                assert_int_equal(world->clients[user].copy[kind][item],
                                 world->set[user][kind][item]);
}

static void run_round(struct world *world, uint32_t user, bool changing)
{
    uint64_t began = world->changes;
    struct suite_page page = {.more = true};
    while (page.more) {
        if (!read_page(world, user, &page)) {
            page.more = true;
            began = world->changes;
        }
        if (page.more && changing)
            some_changes(world, 10);
        else if (page.more && chance_below(&world->chance, 4) == 0)
            disturb(world);
    }
    expect_copy(world, user, began);
    world->quiet += world->changes == began;
}

/* Something happens after so long that no cursor is good any more. */
static void all_come_too_late(struct world *world)
{
    uint64_t changes = world->changes, started_over = world->started_over;
    world->clock_s = world->newest_s + TTL_S + 100;
    while (world->changes == changes)
        change(world);
    suite_settle(&world->suite);
    world->calm = true; /* a restart could take the store back to before that change */
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
    struct hot_suite_options options = suite_options();
    options.shelf_max = shelf_max;
    options.changes_ttl_s = TTL_S;
    options.exclusive = &groups;
    world->suite = suite_open(options);
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
    suite_close(&world->suite);
    free(world);
}

void hot_suite_changes(void **state)
{
    (void)state;
    if (!hot_suite_tier->has_store)
        skip(); /* hot_suite_lists_need_a_store shows that it is refused */
    run_world(2, suite_operations(1500));
    run_world(1000, suite_operations(1500));
}

/* Set and cleared before the store had it: a client that saw it set is told, as any other is. */
void hot_suite_changes_tell_what_passed(void **state)
{
    (void)state;
    if (!hot_suite_tier->has_store)
        skip();
    const struct id user = {.lo = 5};
    const struct item item = {{.lo = 6}, 1};
    struct suite suite = suite_open(suite_options());
    struct suite_round round = {0};
    struct suite_page page;
    suite_change(&suite, HOT_SET, user, NAME_INDEX_LIKE, (struct item){{.lo = 7}, 1}, 100);
    assert_int_equal(suite_changes(&suite, user, &round, 10, &page), STATUS_OK);
    assert_int_equal(page.count, 1);
    assert_int_equal(round.since_s, 100);
    suite_change(&suite, HOT_SET, user, NAME_INDEX_LIKE, item, 103);
    suite_change(&suite, HOT_CLEAR, user, NAME_INDEX_LIKE, item, 104);
    round = (struct suite_round){.since_s = 101};
    assert_int_equal(suite_changes(&suite, user, &round, 10, &page), STATUS_OK);
    assert_int_equal(page.count, 1);
    assert_true(page.listed[0].cleared);
    assert_int_equal(page.listed[0].time_s, 104);
    assert_int_equal(round.since_s, 104);
    suite_close(&suite);
}
