/*
 * Lists against a model: when each reaction was set, in an array. Every page is compared with what the
 * model has after the cursor at that moment. So joined pages are the whole list, and a cursor
 * stays good whatever changes. Many times are the same, and the clock goes back now and then.
 */
#include "hot_suite.h"

enum {
    USERS = 8,
    ITEMS = 240,
    KINDS = 3,
    FOLLOW = 3,
    USER_TYPE = 1, /* of items that stand for users */
};

static const uint8_t kinds[KINDS] = {NAME_INDEX_LIKE, 2, FOLLOW};

struct world {
    struct suite suite;
    struct chance chance;
    uint32_t times[USERS][KINDS][ITEMS]; /* 0: not set */
    uint32_t newest_s;                   /* no later decision has an earlier time */
    uint32_t clock_s;
};

static int compare(const void *a, const void *b)
{
    return store_listed_order(*(const struct store_listed *)a, *(const struct store_listed *)b);
}

/* Keeps what is set and after `after`, in order; returns how many. */
static uint32_t model_list(struct store_listed *all, uint32_t count, struct store_listed after)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if (all[i].time_s != 0 && (after.time_s == 0 || store_listed_order(all[i], after) > 0))
            all[kept++] = all[i];
    qsort(all, kept, sizeof(*all), compare);
    return kept;
}

static uint32_t model_reactions(const struct world *world, uint32_t user, int kind, uint16_t type,
                                struct store_listed after, struct store_listed *out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < ITEMS; i++)
        if (suite_item(i).type == type)
            out[count++] = (struct store_listed){.time_s = world->times[user][kind][i],
                                                 .id = suite_item(i).id};
    return model_list(out, count, after);
}

static uint32_t model_reactors(const struct world *world, uint32_t item, int kind,
                               struct store_listed after, struct store_listed *out)
{
    for (uint32_t i = 0; i < USERS; i++)
        out[i] = (struct store_listed){.time_s = world->times[i][kind][item], .id = suite_id(i)};
    return model_list(out, USERS, after);
}

/* suite_item(2 n + 1) has the id of user n. */
static uint32_t model_friends(const struct world *world, uint32_t user, uint32_t item,
                              struct store_listed *out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < USERS; i++)
        if (world->times[user][2][2 * i + 1] != 0)
            out[count++] =
                (struct store_listed){.time_s = world->times[i][0][item], .id = suite_id(i)};
    return model_list(out, count, (struct store_listed){0});
}

static void expect_page(const struct suite_page *page, const struct store_listed *expected,
                        uint32_t count, uint32_t limit)
{
    assert_int_equal(page->count, count < limit ? count : limit);
    for (uint32_t i = 0; i < page->count; i++) {
        assert_int_equal(page->listed[i].time_s, expected[i].time_s);
        assert_true(id_equal(page->listed[i].id, expected[i].id));
    }
}

static void change(struct world *world)
{
    struct chance *chance = &world->chance;
    uint32_t user = chance_below(chance, 2) == 0 ? 0 : chance_below(chance, USERS);
    uint32_t most = user == 0 || chance_below(chance, 3) == 0 ? ITEMS : 24;
    uint32_t number = chance_below(chance, most);
    int kind = (int)chance_below(chance, KINDS);
    bool set = chance_below(chance, 3) != 0;
    world->clock_s += chance_below(chance, 100) == 0;
    uint32_t back = chance_below(chance, 4) == 0 ? chance_below(chance, 5) : 0;
    uint32_t now_s = world->clock_s - back;
    uint32_t *time_s = &world->times[user][kind][number];
    bool changes = set == (*time_s == 0);
    assert_int_equal(suite_change(&world->suite, set ? HOT_SET : HOT_CLEAR, suite_id(user),
                                  kinds[kind], suite_item(number), now_s),
                     changes);
    world->newest_s = now_s > world->newest_s ? now_s : world->newest_s;
    if (changes)
        *time_s = set ? world->newest_s : 0;
}

/* The clock goes on after each: a restart need not know the times of requests that changed nothing. */
static void some_changes(struct world *world, uint32_t most)
{
    for (uint32_t i = chance_below(&world->chance, most); i > 0; i--)
        change(world);
    suite_disturb(&world->suite, &world->chance, 40, world->clock_s);
    if (world->clock_s < world->newest_s + 5)
        world->clock_s = world->newest_s + 5;
}

static void check_reactions(struct world *world, bool changing)
{
    static struct store_listed expected[ITEMS];
    uint32_t user = chance_below(&world->chance, USERS);
    int kind = (int)chance_below(&world->chance, KINDS);
    uint16_t type = chance_below(&world->chance, 2) ? 1 : 700;
    struct store_listed after = {0};
    struct suite_page page;
    do {
        uint32_t limit =
            chance_below(&world->chance, 8) == 0 ? LIMIT_LIST : 1 + chance_below(&world->chance, 9);
        uint32_t count = model_reactions(world, user, kind, type, after, expected);
        assert_int_equal(
            suite_reactions(&world->suite, suite_id(user), kinds[kind], type, after, limit, &page),
            STATUS_OK);
        expect_page(&page, expected, count, limit);
        assert_int_equal(page.more, count > limit);
        if (page.count > 0)
            after = page.listed[page.count - 1];
        if (changing)
            some_changes(world, 12);
    } while (page.more);
}

static void check_reactors(struct world *world, bool changing)
{
    struct store_listed expected[USERS];
    uint32_t number = chance_below(&world->chance, 24);
    int kind = (int)chance_below(&world->chance, KINDS);
    struct store_listed after = {0};
    struct suite_page page;
    do {
        uint32_t limit = 1 + chance_below(&world->chance, 9);
        uint32_t count = model_reactors(world, number, kind, after, expected);
        assert_int_equal(
            suite_reactors(&world->suite, suite_item(number), kinds[kind], after, limit, &page),
            STATUS_OK);
        expect_page(&page, expected, count, limit);
        assert_int_equal(page.more, count > limit);
        if (page.count > 0)
            after = page.listed[page.count - 1];
        if (changing)
            some_changes(world, 12);
    } while (page.more);
}

static void check_friends(struct world *world)
{
    struct store_listed expected[USERS];
    uint32_t user = chance_below(&world->chance, USERS);
    uint32_t number = chance_below(&world->chance, 24);
    uint32_t limit = 1 + chance_below(&world->chance, USERS);
    struct suite_page page;
    uint32_t count = model_friends(world, user, number, expected);
    assert_int_equal(suite_friends(&world->suite, suite_id(user), FOLLOW, USER_TYPE,
                                   suite_item(number), NAME_INDEX_LIKE, limit, &page),
                     STATUS_OK);
    expect_page(&page, expected, count, limit);
    assert_false(page.more);
}

static void run_world(uint32_t shelf_max, uint64_t rounds)
{
    struct world *world = calloc(1, sizeof(*world));
    assert_non_null(world);
    world->chance.state = test_seed();
    world->clock_s = 1000;
    struct hot_suite_options options = suite_options();
    options.shelf_max = shelf_max;
    world->suite = suite_open(options);
    for (uint64_t i = 0; i < rounds; i++) {
        some_changes(world, 30);
        bool changing = chance_below(&world->chance, 2) == 0;
        uint32_t which = chance_below(&world->chance, 4);
        if (which == 0 && hot_suite_tier->has_store)
            check_reactors(world, changing);
        else if (which == 1)
            check_friends(world);
        else
            check_reactions(world, changing);
    }
    suite_close(&world->suite);
    free(world);
}

void hot_suite_lists(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {3, 16, 1000};
    for (int i = 0; i < 3; i++)
        run_world(sizes[i], suite_operations(1500));
}

static void follow(struct suite *suite, struct id user, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        suite_change(suite, HOT_SET, user, FOLLOW, (struct item){{.lo = 1 + i}, USER_TYPE}, 10);
}

void hot_suite_friends_of_many(void **state)
{
    (void)state;
    const struct id user = {.lo = 1000000};
    const struct item item = {{.lo = 77}, 700};
    const uint32_t last = (LIMIT_FOLLOWEES - 1) / 7 * 7;
    struct hot_suite_options options = suite_options();
    options.shelf_max = 300;
    struct suite suite = suite_open(options);
    struct suite_page page;
    follow(&suite, user, 0, LIMIT_FOLLOWEES);
    for (uint32_t i = 0; i < LIMIT_FOLLOWEES; i += 7)
        suite_change(&suite, HOT_SET, (struct id){.lo = 1 + i}, NAME_INDEX_LIKE, item, 20 + i);
    for (int turn = 0; turn < 3; turn++) {
        assert_int_equal(suite_friends(&suite, user, FOLLOW, USER_TYPE, item, NAME_INDEX_LIKE,
                                       LIMIT_LIST, &page),
                         STATUS_OK);
        assert_int_equal(page.count, LIMIT_LIST);
        for (uint32_t i = 0; i < page.count; i++)
            assert_int_equal(page.listed[i].id.lo, 1 + last - 7 * i);
        suite_settle(&suite);
    }
    follow(&suite, user, LIMIT_FOLLOWEES, LIMIT_FOLLOWEES + 1);
    assert_int_equal(
        suite_friends(&suite, user, FOLLOW, USER_TYPE, item, NAME_INDEX_LIKE, 1, &page),
        STATUS_TOO_MANY_FOLLOWEES);
    suite_close(&suite);
}

/* Without a store the lists that only a store has are refused, and those of a user are not. */
void hot_suite_lists_need_a_store(void **state)
{
    (void)state;
    const struct id user = {.lo = 5};
    const struct item item = {{.lo = 77}, 700};
    enum status expected = hot_suite_tier->has_store ? STATUS_OK : STATUS_NO_STORE;
    struct suite suite = suite_open(suite_options());
    struct suite_page page;
    struct suite_round round = {0};
    suite_change(&suite, HOT_SET, user, NAME_INDEX_LIKE, item, 10);
    for (int turn = 0; turn < 2; turn++) {
        assert_int_equal(
            suite_reactors(&suite, item, NAME_INDEX_LIKE, (struct store_listed){0}, 5, &page),
            expected);
        round = (struct suite_round){0};
        assert_int_equal(suite_changes(&suite, user, &round, 5, &page), expected);
        assert_int_equal(
            suite_reactions(&suite, user, NAME_INDEX_LIKE, 700, (struct store_listed){0}, 5, &page),
            STATUS_OK);
        assert_int_equal(page.count, 1);
        assert_int_equal(page.listed[0].time_s, 10);
        suite_restart(&suite, 20);
    }
    suite_close(&suite);
}
