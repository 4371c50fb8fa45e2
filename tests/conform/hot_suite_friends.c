/*
 * Friends of a FEED, and FRIENDS at depth 2, against a model: when each reaction was set, in an array. The
 * clock goes back now and then, many times are the same, and ids are numbers and UUIDs.
 */
#include "hot_suite.h"

enum {
    USERS = 24,
    ITEMS = 36,
    FOLLOW = 3,
    USER_TYPE = 1,
    ANSWERS = 40,
    FOLLOW_S = 5000, /* after all likes, because recorded times never go backwards */
};

struct world {
    struct suite suite;
    struct chance chance;
    uint32_t likes[USERS][ITEMS]; /* 0: not set */
    uint32_t follows[USERS][USERS];
    uint32_t newest_s;
    uint32_t clock_s;
};

static int compare(const void *a, const void *b)
{
    return store_listed_order(*(const struct store_listed *)a, *(const struct store_listed *)b);
}

static struct item item_of_user(uint32_t user)
{
    return (struct item){.id = suite_id(user), .type = USER_TYPE};
}

static void change(struct world *world)
{
    struct chance *chance = &world->chance;
    uint32_t user = chance_below(chance, USERS), number = chance_below(chance, ITEMS);
    uint32_t other = chance_below(chance, USERS);
    bool follows = chance_below(chance, 4) == 0, set = chance_below(chance, 3) != 0;
    world->clock_s += chance_below(chance, 30) == 0;
    uint32_t now_s = world->clock_s - (chance_below(chance, 4) == 0 ? chance_below(chance, 5) : 0);
    uint32_t *time_s = follows ? &world->follows[user][other] : &world->likes[user][number];
    bool changes = set == (*time_s == 0);
    assert_int_equal(suite_change(&world->suite, set ? HOT_SET : HOT_CLEAR, suite_id(user),
                                  follows ? FOLLOW : NAME_INDEX_LIKE,
                                  follows ? item_of_user(other) : suite_item(number), now_s),
                     changes);
    world->newest_s = now_s > world->newest_s ? now_s : world->newest_s;
    if (changes)
        *time_s = set ? world->newest_s : 0;
}

static void some_changes(struct world *world)
{
    for (uint32_t i = chance_below(&world->chance, 40); i > 0; i--)
        change(world);
    suite_disturb(&world->suite, &world->chance, 30, world->clock_s);
    if (world->clock_s < world->newest_s + 5)
        world->clock_s = world->newest_s + 5;
}

static struct hot_request feed_of(struct id user, const struct item *items, uint32_t count,
                                  uint8_t friends, struct hot_answer *answers)
{
    return (struct hot_request){
        .action = HOT_FEED,
        .user = user,
        .items = items,
        .item_count = count,
        .time_s = 1,
        .read = {
            .answers = answers, .friends = friends, .follow = FOLLOW, .follow_type = USER_TYPE}};
}

static uint32_t model_feed(const struct world *world, uint32_t user, uint32_t item,
                           struct store_listed *out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < USERS; i++)
        if (world->follows[user][i] != 0 && world->likes[i][item] != 0)
            out[count++] =
                (struct store_listed){.time_s = world->likes[i][item], .id = suite_id(i)};
    qsort(out, count, sizeof(*out), compare);
    return count;
}

static void expect_feed(const struct world *world, const struct hot_request *request, uint32_t user,
                        const uint32_t *numbers)
{
    for (uint32_t i = 0; i < request->item_count; i++) {
        struct store_listed expected[USERS];
        uint32_t count = model_feed(world, user, numbers[i], expected);
        struct hot_feed_friends got = hot_feed_friends(request, &world->suite.scratch, i);
        assert_int_equal(kind_set_has(&request->read.answers[i].kinds, NAME_INDEX_LIKE),
                         world->likes[user][numbers[i]] != 0);
        if (request->read.memory_only) {
            assert_true(got.found <= count);
            continue;
        }
        assert_int_equal(got.found, count);
        assert_int_equal(got.named, count < request->read.friends ? count : request->read.friends);
        for (uint32_t j = 0; j < got.named; j++) {
            assert_int_equal(got.users[j].time_s, expected[j].time_s);
            assert_true(id_equal(got.users[j].id, expected[j].id));
        }
    }
}

/* Two feeds at once share a scratch. An item may be in a feed twice. */
static void check_feeds(struct world *world)
{
    struct hot_request requests[2];
    struct item items[2][ANSWERS];
    uint32_t numbers[2][ANSWERS], users[2];
    struct hot_answer answers[2][ANSWERS];
    for (int i = 0; i < 2; i++) {
        uint32_t count = 1 + chance_below(&world->chance, ANSWERS);
        users[i] = chance_below(&world->chance, USERS);
        for (uint32_t j = 0; j < count; j++) {
            numbers[i][j] = chance_below(&world->chance, ITEMS);
            items[i][j] = suite_item(numbers[i][j]);
        }
        requests[i] = feed_of(suite_id(users[i]), items[i], count,
                              (uint8_t)(1 + chance_below(&world->chance, LIMIT_NAMED)), answers[i]);
    }
    suite_run(&world->suite, requests, 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(requests[i].status, STATUS_OK);
        expect_feed(world, &requests[i], users[i], numbers[i]);
    }
}

/* What is answered from memory alone is never wrong, but may be less. */
static void check_memory_only(struct world *world)
{
    struct item item;
    struct hot_answer answer;
    uint32_t user = chance_below(&world->chance, USERS);
    uint32_t number = chance_below(&world->chance, ITEMS);
    item = suite_item(number);
    struct hot_request request = feed_of(suite_id(user), &item, 1, 3, &answer);
    request.read.memory_only = true;
    suite_run(&world->suite, &request, 1);
    assert_int_equal(request.status, STATUS_OK);
    struct store_listed expected[USERS];
    uint32_t count = model_feed(world, user, number, expected);
    struct hot_feed_friends got = hot_feed_friends(&request, &world->suite.scratch, 0);
    assert_true(got.found <= count);
    for (uint32_t i = 0, at = 0; i < got.named; i++, at++) {
        while (at < count && !id_equal(expected[at].id, got.users[i].id))
            at++;
        assert_true(at < count);
        assert_int_equal(got.users[i].time_s, expected[at].time_s);
    }
}

/* The users that one user follows, newest first; returns how many. */
static uint32_t model_followees(const struct world *world, uint32_t user, struct store_listed *out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < USERS; i++)
        if (world->follows[user][i] != 0)
            out[count++] =
                (struct store_listed){.time_s = world->follows[user][i], .id = suite_id(i)};
    qsort(out, count, sizeof(*out), compare);
    return count;
}

static uint32_t user_of(struct id id)
{
    uint32_t user = 0;
    while (!id_equal(suite_id(user), id))
        user++;
    return user;
}

/* Through whom `user` reaches `other`: 0: nobody, 1: directly, 2: through *via. */
static int model_via(const struct world *world, uint32_t user, uint32_t other, struct id *via)
{
    struct store_listed followees[USERS];
    uint32_t count = model_followees(world, user, followees);
    if (world->follows[user][other] != 0)
        return 1;
    for (uint32_t i = 0; i < count && other != user; i++)
        if (world->follows[user_of(followees[i].id)][other] != 0) {
            *via = followees[i].id;
            return 2;
        }
    return 0;
}

static struct hot_request second_of(struct id user, const struct item *item, uint32_t limit)
{
    return (struct hot_request){
        .action = HOT_FRIENDS,
        .user = user,
        .items = item,
        .item_count = 1,
        .name = NAME_INDEX_LIKE,
        .list = {.limit = limit, .follow = FOLLOW, .type = USER_TYPE, .second = true}};
}

static void check_second(struct world *world)
{
    struct store_listed expected[USERS];
    uint32_t user = chance_below(&world->chance, USERS), count = 0;
    uint32_t number = chance_below(&world->chance, ITEMS);
    struct item item = suite_item(number);
    struct id via;
    struct hot_request request =
        second_of(suite_id(user), &item, 1 + chance_below(&world->chance, USERS));
    for (uint32_t i = 0; i < USERS; i++)
        if (world->likes[i][number] != 0 && model_via(world, user, i, &via) != 0)
            expected[count++] =
                (struct store_listed){.time_s = world->likes[i][number], .id = suite_id(i)};
    qsort(expected, count, sizeof(expected[0]), compare);
    suite_run(&world->suite, &request, 1);
    assert_int_equal(request.status, STATUS_OK);
    assert_int_equal(request.list.count, count < request.list.limit ? count : request.list.limit);
    for (uint32_t i = 0; i < request.list.count; i++) {
        const struct store_listed *got =
            &world->suite.scratch.listed[request.list.first + i * hot_list_stride(&request)];
        assert_int_equal(got[0].time_s, expected[i].time_s);
        assert_true(id_equal(got[0].id, expected[i].id));
        int how = model_via(world, user, user_of(got[0].id), &via);
        assert_int_equal(got[1].time_s != 0, how == 2);
        assert_true(how != 2 || id_equal(got[1].id, via));
    }
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
        some_changes(world);
        switch (chance_below(&world->chance, 4)) {
        case 0:
            check_second(world);
            break;
        case 1:
            check_memory_only(world);
            break;
        default:
            check_feeds(world);
        }
    }
    suite_close(&world->suite);
    free(world);
}

void hot_suite_friends(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {2, 9, 1000};
    for (int i = 0; i < 3; i++)
        run_world(sizes[i], suite_operations(1500));
}

/* The id of the n-th of many users: the even ones are UUIDs. */
static struct id many_id(uint32_t number)
{
    return number % 2 == 0 ? (struct id){.hi = 1 + number, .lo = 5} : (struct id){.lo = number};
}

static void follow_many(struct suite *suite, struct id user, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        suite_change(suite, HOT_SET, user, FOLLOW,
                     (struct item){.id = many_id(i), .type = USER_TYPE}, FOLLOW_S + i / 3);
}

/* Is this number of those that `follow_many` followed among the newest LIMIT_FRIENDS of them? */
static bool is_newest(uint32_t number, uint32_t followed)
{
    struct store_listed own = {.time_s = FOLLOW_S + number / 3, .id = many_id(number)};
    uint32_t before = 0;
    for (uint32_t i = 0; i < followed; i++)
        before += store_listed_order(
                      (struct store_listed){.time_s = FOLLOW_S + i / 3, .id = many_id(i)}, own) < 0;
    return before < LIMIT_FRIENDS;
}

/* Only the newest LIMIT_FRIENDS followees are asked; those who share their last second are ordered by id. */
static void check_many(struct suite *suite, struct id user, const struct item *items,
                       uint32_t followed)
{
    struct hot_answer answers[3];
    uint32_t expected = 0, last = 0;
    struct hot_request request = feed_of(user, items, 3, LIMIT_NAMED, answers);
    for (uint32_t i = 0; i < followed; i++)
        if (i % 7 == 3 && is_newest(i, followed)) {
            expected++;
            last = i;
        }
    suite_run(suite, &request, 1);
    assert_int_equal(request.status, STATUS_OK);
    assert_int_equal(hot_feed_friends(&request, &suite->scratch, 0).found, 0);
    assert_int_equal(hot_feed_friends(&request, &suite->scratch, 1).found,
                     followed < LIMIT_FRIENDS ? followed : LIMIT_FRIENDS);
    struct hot_feed_friends got = hot_feed_friends(&request, &suite->scratch, 2);
    assert_int_equal(got.found, expected);
    assert_int_equal(got.named, LIMIT_NAMED);
    for (uint32_t i = 0; i < got.named; i++)
        assert_true(id_equal(got.users[i].id, many_id(last - 7 * i)));
}

static void check_many_second(struct suite *suite, struct id user, const struct item *item,
                              uint32_t followed)
{
    struct hot_request request = second_of(user, item, LIMIT_LIST);
    uint32_t last = (followed - 1 - 3) / 7 * 7 + 3, expected = 0;
    for (uint32_t i = 3; i < followed; i += 7)
        expected += is_newest(i, followed);
    expected = expected < LIMIT_LIST ? expected : LIMIT_LIST;
    suite_run(suite, &request, 1);
    assert_int_equal(request.status, STATUS_OK);
    assert_int_equal(request.list.count, expected);
    for (uint32_t i = 0; i < request.list.count; i++) {
        const struct store_listed *got = &suite->scratch.listed[request.list.first + 2 * i];
        assert_true(id_equal(got[0].id, many_id(last - 7 * i)));
        assert_true(got[1].time_s != 0 && got[1].id.lo == 2000000);
    }
}

void hot_suite_friends_bounds(void **state)
{
    (void)state;
    enum { FOLLOWED = 1300 };
    static const uint32_t sizes[] = {300, 5000};
    const struct id user = {.lo = 2000000}, follower = {.lo = 3000000};
    const struct item items[] = {{{.lo = 1}, 700}, {{.lo = 2}, 700}, {{.lo = 3}, 700}};
    for (int size = 0; size < 2; size++) {
        struct hot_suite_options options = suite_options();
        options.shelf_max = sizes[size];
        struct suite suite = suite_open(options);
        for (uint32_t i = 0; i < FOLLOWED; i++) {
            suite_change(&suite, HOT_SET, many_id(i), NAME_INDEX_LIKE, items[1], 50);
            if (i % 7 == 3)
                suite_change(&suite, HOT_SET, many_id(i), NAME_INDEX_LIKE, items[2], 60 + i);
        }
        suite_change(&suite, HOT_SET, follower, FOLLOW,
                     (struct item){.id = user, .type = USER_TYPE}, FOLLOW_S);
        follow_many(&suite, user, 0, LIMIT_FRIENDS);
        check_many(&suite, user, items, LIMIT_FRIENDS);
        follow_many(&suite, user, LIMIT_FRIENDS, FOLLOWED);
        for (int turn = 0; turn < 2; turn++) {
            check_many(&suite, user, items, FOLLOWED);
            check_many_second(&suite, follower, &items[2], FOLLOWED);
            suite_settle(&suite);
        }
        suite_restart(&suite, 2 * FOLLOW_S);
        check_many(&suite, user, items, FOLLOWED);
        check_many_second(&suite, follower, &items[2], FOLLOWED);
        suite_close(&suite);
    }
}
