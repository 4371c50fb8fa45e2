/*
 * Lists against a model too simple to be wrong: when each reaction was set, in an array. Every page
 * is compared with what the model has behind the cursor at that moment, so pages that are joined
 * are the whole list and a cursor holds whatever changes. Shelves are small, the projector may be
 * far behind, all that is clean goes now and then, the clock goes back, and after a crash the store
 * is back at its last flush.
 */
#include "support.h"

enum {
    USERS = 8,
    ITEMS = 240, /* of two types and both widths */
    KINDS = 3,
    FOLLOW = 3,
    USER_TYPE = 1,
};

static const uint8_t kinds[KINDS] = {NAME_INDEX_LIKE, 2, FOLLOW};

struct world {
    struct bed bed;
    struct chance chance;
    uint32_t times[USERS][KINDS][ITEMS]; /* 0: not set */
    uint32_t floor_s;
    uint32_t clock_s;
    uint64_t evicted;
};

static int compare(const void *a, const void *b)
{
    return store_listed_order(*(const struct store_listed *)a, *(const struct store_listed *)b);
}

/* Of those with a time, in order, what comes behind `after`; returns how many. */
static uint32_t model_list(struct store_listed *all, uint32_t count, struct store_listed after)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < count; i++)
        if (all[i].time_s != 0 && (after.time_s == 0 || store_listed_order(all[i], after) > 0))
            all[left++] = all[i];
    qsort(all, left, sizeof(*all), compare);
    return left;
}

static uint32_t model_reactions(const struct world *world, uint32_t user, int kind, uint16_t type,
                                struct store_listed after, struct store_listed *out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < ITEMS; i++)
        if (item_number(i).type == type)
            out[count++] = (struct store_listed){.time_s = world->times[user][kind][i],
                                                 .id = item_number(i).id};
    return model_list(out, count, after);
}

static uint32_t model_reactors(const struct world *world, uint32_t item, int kind,
                               struct store_listed after, struct store_listed *out)
{
    for (uint32_t i = 0; i < USERS; i++)
        out[i] = (struct store_listed){.time_s = world->times[i][kind][item], .id = id_number(i)};
    return model_list(out, USERS, after);
}

/* The number of the item that stands for a user; item_number(2 n + 1) is of type 1. */
static uint32_t item_of_user(uint32_t user)
{
    return 2 * user + 1;
}

static uint32_t model_friends(const struct world *world, uint32_t user, uint32_t item, int kind,
                              struct store_listed *out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < USERS; i++)
        if (world->times[user][2][item_of_user(i)] != 0)
            out[count++] =
                (struct store_listed){.time_s = world->times[i][kind][item], .id = id_number(i)};
    return model_list(out, count, (struct store_listed){0});
}

static void expect_listed(const struct world *world, const struct hot_request *request,
                          const struct store_listed *expected, uint32_t count)
{
    uint32_t shown = count < request->list.limit ? count : request->list.limit;
    assert_int_equal(request->list.count, shown);
    assert_int_equal(request->list.more, request->action != HOT_FRIENDS && count > shown);
    for (uint32_t i = 0; i < shown; i++) {
        const struct store_listed *got = &world->bed.scratch.listed[request->list.first + i];
        assert_int_equal(got->time_s, expected[i].time_s);
        assert_true(id_equal(got->id, expected[i].id));
    }
}

static void change(struct world *world)
{
    struct chance *chance = &world->chance;
    uint32_t user = chance_below(chance, 2) == 0 ? 0 : chance_below(chance, USERS);
    uint32_t most = user == 0 ? ITEMS : chance_below(chance, 3) == 0 ? ITEMS : 24;
    uint32_t number = chance_below(chance, most);
    int kind = (int)chance_below(chance, KINDS);
    bool set = chance_below(chance, 3) != 0;
    world->clock_s += chance_below(chance, 100) == 0; /* many are of one second */
    uint32_t back = chance_below(chance, 4) == 0 ? chance_below(chance, 5) : 0;
    uint32_t now_s = world->clock_s - back;
    uint32_t *time_s = &world->times[user][kind][number];
    bool changes = set == (*time_s == 0);
    assert_int_equal(bed_change(&world->bed, set ? HOT_SET : HOT_CLEAR, id_number(user),
                                kinds[kind], item_number(number), now_s),
                     changes);
    world->floor_s = now_s > world->floor_s ? now_s : world->floor_s;
    if (changes)
        *time_s = set ? world->floor_s : 0;
}

static void disturb(struct world *world)
{
    enum bed_event event = bed_disturb(&world->bed, &world->chance, 40, world->clock_s);
    if (event == BED_EVICTED)
        world->evicted += !bed_has_user(&world->bed, id_number(0));
    if (event == BED_CRASHED)
        world->clock_s = world->floor_s + 5; /* nothing tells it what time it was before */
}

static void some_changes(struct world *world, uint32_t most)
{
    for (uint32_t i = chance_below(&world->chance, most); i > 0; i--)
        change(world);
    disturb(world);
}

/* One page after the other; with `moving`, the world goes on between them. */
static void walk_list(struct world *world, struct hot_request *request, uint32_t owner, int kind,
                      bool moving)
{
    static struct store_listed expected[ITEMS];
    do {
        request->list.limit = 1 + chance_below(&world->chance, 9);
        if (chance_below(&world->chance, 8) == 0)
            request->list.limit = LIMIT_LIST;
        uint32_t count = request->action == HOT_LIST_REACTIONS
                             ? model_reactions(world, owner, kind, request->list.type,
                                               request->list.after, expected)
                             : model_reactors(world, owner, kind, request->list.after, expected);
        assert_int_equal(bed_run(&world->bed, request), STATUS_OK);
        expect_listed(world, request, expected, count);
        if (request->list.count > 0)
            request->list.after =
                world->bed.scratch.listed[request->list.first + request->list.count - 1];
        if (moving)
            some_changes(world, 12);
    } while (request->list.more);
}

static void check_reactions(struct world *world, bool moving)
{
    uint32_t user = chance_below(&world->chance, USERS);
    int kind = (int)chance_below(&world->chance, KINDS);
    struct hot_request request = {.action = HOT_LIST_REACTIONS,
                                  .user = id_number(user),
                                  .name = kinds[kind],
                                  .list.type = chance_below(&world->chance, 2) ? 1 : 700};
    walk_list(world, &request, user, kind, moving);
}

static void check_reactors(struct world *world, bool moving)
{
    uint32_t number = chance_below(&world->chance, 24);
    int kind = (int)chance_below(&world->chance, KINDS);
    struct item item = item_number(number);
    struct hot_request request = {
        .action = HOT_LIST_REACTORS, .items = &item, .item_count = 1, .name = kinds[kind]};
    walk_list(world, &request, number, kind, moving);
}

static void check_friends(struct world *world)
{
    struct store_listed expected[USERS];
    uint32_t user = chance_below(&world->chance, USERS);
    uint32_t number = chance_below(&world->chance, 24);
    struct item item = item_number(number);
    struct hot_request request = {.action = HOT_FRIENDS,
                                  .user = id_number(user),
                                  .list.follow = FOLLOW,
                                  .list.type = USER_TYPE,
                                  .items = &item,
                                  .item_count = 1,
                                  .name = NAME_INDEX_LIKE,
                                  .list.limit = 1 + chance_below(&world->chance, USERS)};
    uint32_t count = model_friends(world, user, number, 0, expected);
    assert_int_equal(bed_run(&world->bed, &request), STATUS_OK);
    expect_listed(world, &request, expected, count);
}

static void run_world(uint32_t shelf_max, uint64_t rounds)
{
    struct world *world = calloc(1, sizeof(*world));
    assert_non_null(world);
    world->chance.state = test_seed();
    world->clock_s = 1000;
    struct hot_memory_options options = bed_options();
    options.shelf_max = shelf_max;
    bed_open_stored(&world->bed, GIB(1), options);
    hot_memory_set_reach(world->bed.hot, bed_reach, &world->bed);
    uint64_t lists = 0;
    for (uint64_t i = 0; i < rounds; i++) {
        some_changes(world, 30);
        bool moving = chance_below(&world->chance, 2) == 0;
        switch (chance_below(&world->chance, 4)) {
        case 0:
            check_reactors(world, moving);
            break;
        case 1:
            check_friends(world);
            break;
        default:
            check_reactions(world, moving);
            lists++;
        }
    }
    assert_true(world->bed.waited > 0 && world->evicted > 0 && lists > 0);
    bed_close(&world->bed);
    free(world);
}

static void test_shelves_of_any_size(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {3, 16, 1000};
    for (int i = 0; i < 3; i++)
        run_world(sizes[i], test_operations(3000));
}

/* A user whose reactions are all in memory is never a matter for a worker, projected or not. */
static void test_hot_lists_need_no_worker(void **state)
{
    (void)state;
    struct bed bed;
    bed_open_stored(&bed, GIB(1), bed_options());
    struct id user = {.lo = 5};
    for (uint32_t i = 0; i < 300; i++)
        bed_change(&bed, HOT_SET, user, NAME_INDEX_LIKE, (struct item){{.lo = 1 + i}, 1}, 10 + i);
    bed_project_all(&bed);
    bed.waited = 0;
    struct hot_request request = {.action = HOT_LIST_REACTIONS, .user = user, .list.type = 1};
    uint32_t seen = 0;
    do {
        request.list.limit = 20;
        assert_int_equal(bed_run(&bed, &request), STATUS_OK);
        for (uint32_t i = 0; i < request.list.count; i++)
            assert_int_equal(bed.scratch.listed[request.list.first + i].id.lo, 300 - seen++);
        request.list.after = bed.scratch.listed[request.list.first + request.list.count - 1];
    } while (request.list.more);
    assert_int_equal(seen, 300);
    assert_int_equal(bed.waited, 0);

    /* Nor are those of another width, as long as it is known that memory has them all. */
    struct item wide = {{.hi = 9, .lo = 9}, 1};
    bed_change(&bed, HOT_SET, user, NAME_INDEX_LIKE, wide, 2000);
    request = (struct hot_request){
        .action = HOT_LIST_REACTIONS, .user = user, .list.type = 1, .list.limit = LIMIT_LIST};
    assert_int_equal(bed_run(&bed, &request), STATUS_OK);
    assert_true(id_equal(bed.scratch.listed[request.list.first].id, wide.id));
    assert_int_equal(bed.waited, 0);
    bed_change(&bed, HOT_CLEAR, user, NAME_INDEX_LIKE, wide, 2001);
    assert_int_equal(bed_run(&bed, &request), STATUS_OK);
    assert_int_equal(bed.scratch.listed[request.list.first].id.lo, 300);
    bed_change(&bed, HOT_SET, user, NAME_INDEX_LIKE, wide, 2002);
    bed_add(&bed, wide, 5, 1); /* the newest event of all is never clean */
    bed_project_all(&bed);
    bed_evict(&bed);
    assert_false(bed_has_user(&bed, user));
    assert_int_equal(bed_run(&bed, &request), STATUS_OK);
    assert_true(id_equal(bed.scratch.listed[request.list.first].id, wide.id));
    assert_int_equal(bed.waited, 2);
    bed_close(&bed);
}

static void follow(struct bed *bed, struct id user, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        bed_change(bed, HOT_SET, user, FOLLOW, (struct item){{.lo = 1 + i}, USER_TYPE}, 10);
}

static void friends_of_many(struct bed *bed, uint32_t shelf_max)
{
    struct id user = {.lo = 1000000};
    struct item item = {{.lo = 77}, 700};
    follow(bed, user, 0, LIMIT_FOLLOWEES);
    for (uint32_t i = 0; i < LIMIT_FOLLOWEES; i += 7)
        bed_change(bed, HOT_SET, (struct id){.lo = 1 + i}, NAME_INDEX_LIKE, item, 20 + i);
    if (bed->store != NULL) {
        bed_project_all(bed);
        if (shelf_max == 1)
            bed_evict(bed);
    }
    struct hot_request request = {.action = HOT_FRIENDS,
                                  .user = user,
                                  .list.follow = FOLLOW,
                                  .list.type = USER_TYPE,
                                  .items = &item,
                                  .item_count = 1,
                                  .list.limit = LIMIT_LIST};
    for (int again = 0; again < 2; again++) {
        assert_int_equal(bed_run(bed, &request), STATUS_OK);
        assert_int_equal(request.list.count, LIMIT_LIST);
        uint32_t last = (LIMIT_FOLLOWEES - 1) / 7 * 7;
        for (uint32_t i = 0; i < request.list.count; i++)
            assert_int_equal(bed->scratch.listed[request.list.first + i].id.lo, 1 + last - 7 * i);
    }
    follow(bed, user, LIMIT_FOLLOWEES, LIMIT_FOLLOWEES + 1);
    assert_int_equal(bed_run(bed, &request), STATUS_TOO_MANY_FOLLOWEES);
}

static void test_friends_of_many(void **state)
{
    (void)state;
    const uint32_t shelf_max[] = {1, 300, 65535};
    for (size_t i = 0; i < 3; i++) {
        struct bed bed;
        struct hot_memory_options options = bed_options();
        options.shelf_max = shelf_max[i];
        bed_open_stored(&bed, GIB(1), options);
        friends_of_many(&bed, shelf_max[i]);
        bed_close(&bed);
    }
}

static void test_without_a_store(void **state)
{
    (void)state;
    struct bed bed;
    bed_open(&bed, GIB(1), bed_options());
    friends_of_many(&bed, 1000);
    struct item item = {{.lo = 77}, 700};
    struct hot_request request = {
        .action = HOT_LIST_REACTORS, .items = &item, .item_count = 1, .list.limit = 5};
    assert_int_equal(bed_run(&bed, &request), STATUS_NO_STORE);
    request = (struct hot_request){.action = HOT_LIST_REACTIONS,
                                   .user = {.lo = 1000000},
                                   .name = FOLLOW,
                                   .list.type = USER_TYPE,
                                   .list.limit = LIMIT_LIST};
    assert_int_equal(bed_run(&bed, &request), STATUS_OK);
    assert_int_equal(request.list.count, LIMIT_LIST);
    assert_int_equal(bed.waited, 0);
    bed_close(&bed);
}

static enum status reach_a_failed_store(void *context, uint64_t position, unsigned timeout_ms)
{
    (void)context;
    (void)position;
    (void)timeout_ms;
    return STATUS_STORE_FAILED;
}

/* Who reacted is not told before the store has all of it, and refused if it does not get there. */
static void test_reactors_wait_for_the_store(void **state)
{
    (void)state;
    struct bed bed;
    bed_open_stored(&bed, GIB(1), bed_options());
    struct item item = {{.lo = 77}, 700}, other = {{.lo = 78}, 700};
    struct hot_request request = {
        .action = HOT_LIST_REACTORS, .items = &item, .item_count = 1, .list.limit = 5};
    bed_change(&bed, HOT_SET, (struct id){.lo = 1}, NAME_INDEX_LIKE, item, 10);
    assert_int_equal(bed_run(&bed, &request), STATUS_LAGGING);
    hot_memory_set_reach(bed.hot, bed_reach, &bed);
    assert_int_equal(bed_run(&bed, &request), STATUS_OK);
    assert_int_equal(request.list.count, 1);
    assert_int_equal(bed.scratch.listed[request.list.first].time_s, 10);
    hot_memory_set_reach(bed.hot, NULL, NULL);
    bed_change(&bed, HOT_SET, (struct id){.lo = 1}, NAME_INDEX_LIKE, other, 11);
    request.items = &other;
    assert_int_equal(bed_run(&bed, &request), STATUS_LAGGING);
    hot_memory_set_reach(bed.hot, reach_a_failed_store, NULL);
    assert_int_equal(bed_run(&bed, &request), STATUS_STORE_FAILED);
    bed_close(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shelves_of_any_size),
        cmocka_unit_test(test_hot_lists_need_no_worker),
        cmocka_unit_test(test_friends_of_many),
        cmocka_unit_test(test_without_a_store),
        cmocka_unit_test(test_reactors_wait_for_the_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
