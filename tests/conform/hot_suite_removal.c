/*
 * FORGET and DROP against a model that knows which reactions are set and what the counters are. What a
 * call removed is found by reading everything again: each difference must be a reaction of that user
 * or on that item, or a counter of that item that is 0 now, and there are as many as the call
 * answered. When it says that there is no more, the model has nothing left. Between calls others
 * change what they like.
 */
#include "hot_suite.h"

enum { USERS = 12, ITEMS = 90, KINDS = 3, COUNTERS = 2 };

static const uint8_t kinds[KINDS] = {NAME_INDEX_LIKE, 2, 249};
static const uint8_t counters[COUNTERS] = {5, 200};

struct world {
    struct suite suite;
    struct chance chance;
    bool set[USERS][KINDS][ITEMS];
    int64_t values[ITEMS][COUNTERS];
    uint32_t clock_s;
    uint64_t finished; /* removals that took more than one call */
};

/* What is removed: all of a user, or of an item. */
struct target {
    bool forget;
    uint32_t number;
};

static void change(struct world *world)
{
    struct chance *chance = &world->chance;
    uint32_t user = chance_below(chance, 3) == 0 ? 0 : chance_below(chance, USERS);
    uint32_t item = chance_below(chance, 3) == 0 ? 0 : chance_below(chance, ITEMS);
    world->clock_s += chance_below(chance, 20) == 0;
    if (chance_below(chance, 8) == 0) {
        int counter = (int)chance_below(chance, COUNTERS);
        int64_t delta = (int64_t)chance_below(chance, 9) - 4;
        int64_t value;
        world->values[item][counter] += delta;
        assert_int_equal(suite_add(&world->suite, suite_item(item), counters[counter], delta, 0,
                                   world->clock_s, &value),
                         STATUS_OK);
        assert_true(value == world->values[item][counter]);
        return;
    }
    int kind = (int)chance_below(chance, KINDS);
    bool set = chance_below(chance, 5) != 0;
    bool *is_set = &world->set[user][kind][item];
    assert_int_equal(suite_change(&world->suite, set ? HOT_SET : HOT_CLEAR, suite_id(user),
                                  kinds[kind], suite_item(item), world->clock_s),
                     set != *is_set);
    *is_set = set;
}

/* The counters of an item, as the answer has them. */
static int64_t answered(const struct suite *suite, const struct hot_answer *answer, uint8_t name)
{
    for (uint32_t i = 0; i < answer->count; i++)
        if (suite->scratch.counters[answer->first + i].name == name)
            return suite->scratch.counters[answer->first + i].value;
    return 0;
}

static uint32_t compare_counters(struct world *world, const struct target *target, uint32_t item,
                                 const struct hot_answer *answer)
{
    uint32_t differences = 0;
    for (int counter = 0; counter < COUNTERS; counter++) {
        int64_t value = answered(&world->suite, answer, counters[counter]);
        if (value == world->values[item][counter])
            continue;
        assert_true(target != NULL && !target->forget && item == target->number && value == 0);
        world->values[item][counter] = 0;
        differences++;
    }
    for (int kind = 0; kind < KINDS; kind++) {
        int64_t count = 0;
        for (uint32_t user = 0; user < USERS; user++)
            count += world->set[user][kind][item];
        assert_int_equal(answered(&world->suite, answer, kinds[kind]), count);
    }
    return differences;
}

/* Reads everything; returns how much the target has lost, and the model loses it too. */
static uint32_t compare_all(struct world *world, const struct target *target)
{
    struct item items[ITEMS];
    struct hot_answer answers[ITEMS];
    uint32_t differences = 0;
    for (uint32_t item = 0; item < ITEMS; item++)
        items[item] = suite_item(item);
    for (uint32_t user = 0; user < USERS; user++) {
        suite_feed(&world->suite, suite_id(user), items, ITEMS, answers);
        for (uint32_t at = 0; at < KINDS * ITEMS; at++) {
            bool *set = &world->set[user][at / ITEMS][at % ITEMS];
            bool is_set = kind_set_has(&answers[at % ITEMS].kinds, kinds[at / ITEMS]);
            if (*set == is_set)
                continue;
            assert_true(*set && target != NULL &&
                        (target->forget ? user : at % ITEMS) == target->number);
            *set = false;
            differences++;
        }
    }
    for (uint32_t item = 0; item < ITEMS; item++)
        differences += compare_counters(world, target, item, &answers[item]);
    return differences;
}

static uint32_t left_of(const struct world *world, const struct target *target)
{
    uint32_t left = 0;
    for (int kind = 0; kind < KINDS; kind++)
        for (uint32_t i = 0; i < (target->forget ? ITEMS : USERS); i++)
            left += target->forget ? world->set[target->number][kind][i]
                                   : world->set[i][kind][target->number];
    for (int counter = 0; counter < COUNTERS && !target->forget; counter++)
        left += world->values[target->number][counter] != 0;
    return left;
}

static void remove_all(struct world *world, const struct target *target)
{
    struct suite *suite = &world->suite;
    bool more = true;
    for (uint32_t calls = 1; more; calls++) {
        uint32_t most = chance_below(&world->chance, 2) ? 9 : 99;
        uint32_t limit = 1 + chance_below(&world->chance, most), removed;
        enum status status = target->forget ? suite_forget(suite, suite_id(target->number), limit,
                                                           world->clock_s, &removed, &more)
                                            : suite_drop(suite, suite_item(target->number), limit,
                                                         world->clock_s, &removed, &more);
        assert_int_equal(status, STATUS_OK);
        assert_true(removed <= limit);
        assert_int_equal(compare_all(world, target), removed);
        world->finished += !more && calls > 1;
        for (uint32_t i = chance_below(&world->chance, 4); more && i > 0 && calls < 100; i--)
            change(world);
        if (more)
            suite_disturb(suite, &world->chance, 16, world->clock_s);
        assert_true(calls < 1000);
    }
    assert_int_equal(left_of(world, target), 0);
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
    /* With few rounds chance may have left it out: then some more. */
    for (uint64_t i = 0; i < rounds || world->finished == 0; i++) {
        for (uint32_t changes = chance_below(&world->chance, 200); changes > 0; changes--)
            change(world);
        suite_disturb(&world->suite, &world->chance, 16, world->clock_s);
        struct target target = {.forget = !hot_suite_tier->has_store ||
                                          chance_below(&world->chance, 2) == 0};
        if (chance_below(&world->chance, 2))
            target.number = chance_below(&world->chance, target.forget ? USERS : ITEMS);
        remove_all(world, &target);
    }
    assert_int_equal(compare_all(world, NULL), 0);
    suite_close(&world->suite);
    free(world);
}

void hot_suite_removal(void **state)
{
    (void)state;
    run_world(3, suite_operations(120));
    run_world(1000, suite_operations(120));
}

/* A user with far more than a tier keeps, half of it in the store alone: no more calls than needed. */
void hot_suite_removal_of_many(void **state)
{
    (void)state;
    enum { MANY = 5000 };
    const struct id user = {.lo = 5};
    const struct item busy = {{.lo = 9}, 3};
    struct hot_suite_options options = suite_options();
    options.shelf_max = hot_suite_tier->has_store ? 50 : 65535;
    struct suite suite = suite_open(options);
    for (uint32_t i = 0; i < MANY; i++) {
        suite_change(&suite, HOT_SET, user, 0, (struct item){{.lo = i}, 1}, 10 + i / 7);
        suite_change(&suite, HOT_SET, (struct id){.hi = i % 2, .lo = i}, 2, busy, 10 + i / 7);
        if (i == MANY / 2)
            suite_settle(&suite);
    }
    for (int drop = 0; drop < (hot_suite_tier->has_store ? 2 : 1); drop++) {
        uint32_t calls = 0, total = 0, removed;
        bool more = true;
        for (; more; calls++, total += removed)
            assert_int_equal(drop ? suite_drop(&suite, busy, 1000, 2000, &removed, &more)
                                  : suite_forget(&suite, user, 1000, 2000, &removed, &more),
                             STATUS_OK);
        assert_int_equal(total, MANY);
        assert_in_range(calls, 5, 7);
    }
    assert_int_equal(suite_count(&suite, busy, 2), hot_suite_tier->has_store ? 0 : MANY);
    suite_close(&suite);
}

/* The ends of the range, and a counter that the server keeps and that stays. */
void hot_suite_removal_of_any_value(void **state)
{
    (void)state;
    const struct item item = {{.lo = 9}, 3};
    struct suite suite = suite_open(suite_options());
    int64_t value;
    uint32_t removed;
    bool more;
    suite_add(&suite, item, 5, INT64_MIN, 0, 1, &value);
    suite_add(&suite, item, 6, INT64_MAX, 0, 1, &value);
    suite_add(&suite, item, NAME_INDEX_COMMENT, 4, 0, 1, &value);
    for (uint8_t name = 10; name < 100; name++)
        suite_add(&suite, item, name, -name, 0, 1, &value);
    enum status status = suite_drop(&suite, item, 500, 1, &removed, &more);
    assert_int_equal(status, hot_suite_tier->has_store ? STATUS_OK : STATUS_NO_STORE);
    if (status == STATUS_OK) {
        assert_int_equal(removed, 93); /* INT64_MIN takes two steps */
        assert_false(more);
        for (uint8_t name = 5; name < 100; name++)
            assert_int_equal(suite_count(&suite, item, name), 0);
    }
    assert_int_equal(suite_count(&suite, item, NAME_INDEX_COMMENT), 4);
    suite_close(&suite);
}
