/*
 * Boards against a model: an array of every counter, sorted when it is asked. With small boards items
 * fall off and have to be found again all the time. Counting them again waits for the store, so
 * before a board is asked for, the store has everything.
 */
#include "hot_suite.h"

#include "base/ranked.h"

enum { TYPES = 3, NAMES = 3, ITEMS = 1500, SMALL = 8 };

static const uint16_t types[TYPES] = {0, 5, 1023};
static const uint8_t names[NAMES] = {0, 2, 249};

struct model {
    int64_t values[TYPES][NAMES][ITEMS];
};

static struct item item_of(uint32_t type, uint32_t number)
{
    return (struct item){.id = suite_id(number), .type = types[type]};
}

static int compare(const void *a, const void *b)
{
    return ranked_order(*(const struct ranked *)a, *(const struct ranked *)b);
}

static uint32_t model_top(const struct model *model, uint32_t type, uint32_t name,
                          struct ranked out[ITEMS])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < ITEMS; i++)
        if (model->values[type][name][i] != 0)
            out[count++] = (struct ranked){suite_id(i), model->values[type][name][i]};
    qsort(out, count, sizeof(*out), compare);
    return count;
}

static void expect_top(struct suite *suite, const struct model *model, uint32_t type, uint32_t name,
                       uint32_t limit)
{
    static struct ranked expected[ITEMS];
    uint32_t got;
    suite_settle(suite);
    assert_int_equal(suite_top(suite, types[type], names[name], limit, &got), STATUS_OK);
    uint32_t count = model_top(model, type, name, expected);
    assert_int_equal(got, count < limit ? count : limit);
    for (uint32_t i = 0; i < got; i++) {
        assert_true(suite->scratch.ranked[i].value == expected[i].value);
        assert_true(id_equal(suite->scratch.ranked[i].id, expected[i].id));
    }
}

static void add(struct suite *suite, struct model *model, uint32_t type, uint32_t name,
                uint32_t number, int64_t delta)
{
    int64_t *value = &model->values[type][name][number], got;
    *value += delta;
    assert_int_equal(suite_add(suite, item_of(type, number), names[name], delta, 0, 1, &got),
                     STATUS_OK);
    assert_true(got == *value);
}

/* Values that are often the same, and that fall to 0 and below. */
static void change(struct suite *suite, struct model *model, struct chance *chance, bool rising)
{
    uint32_t type = chance_below(chance, TYPES), name = chance_below(chance, NAMES);
    uint32_t number = chance_below(chance, ITEMS >> chance_below(chance, 4));
    int64_t value = model->values[type][name][number];
    int64_t by = (int64_t)chance_below(chance, 5) + 1;
    uint32_t dice = chance_below(chance, 100);
    if (dice < 4 && value != 0)
        by = -value;
    else if (dice < 8)
        by = -2 * value - 1;
    else if (chance_below(chance, 10) >= (rising ? 7U : 3U))
        by = -by;
    add(suite, model, type, name, number, by);
}

/* All that are high fall below the others, which nobody changes. */
static void fall(struct suite *suite, struct model *model, struct chance *chance)
{
    static struct ranked sorted[ITEMS];
    uint32_t type = chance_below(chance, TYPES), name = chance_below(chance, NAMES);
    uint32_t count = model_top(model, type, name, sorted);
    int64_t high = count == 0 ? 0 : sorted[count / 3].value;
    for (uint32_t i = 0; i < ITEMS; i++) {
        int64_t value = model->values[type][name][i];
        if (value > high)
            add(suite, model, type, name, i, high - 1 - chance_below(chance, 200) - value);
    }
    expect_top(suite, model, type, name, SMALL);
}

static void run_boards(uint32_t entries, uint32_t limit, uint64_t operations)
{
    struct chance chance = {test_seed()};
    struct model *model = calloc(1, sizeof(*model));
    struct hot_suite_options options = suite_options();
    options.board_entries = entries;
    assert_non_null(model);
    struct suite suite = suite_open(options);
    for (uint64_t i = 0; i < operations; i++) {
        change(&suite, model, &chance, i / 10000 % 2 == 0);
        if (chance_below(&chance, 5000) == 0)
            fall(&suite, model, &chance);
        if (chance_below(&chance, 1000) == 0)
            suite_disturb(&suite, &chance, 20, 1);
        if (chance_below(&chance, 1000) == 0)
            expect_top(&suite, model, chance_below(&chance, TYPES), chance_below(&chance, NAMES),
                       1 + chance_below(&chance, limit));
    }
    for (uint32_t i = 0; i < TYPES * NAMES; i++)
        expect_top(&suite, model, i / NAMES, i % NAMES, limit);
    suite_close(&suite);
    free(model);
}

void hot_suite_boards(void **state)
{
    (void)state;
    run_boards(SMALL, SMALL, suite_operations(60000));
    run_boards(0, LIMIT_TOP, suite_operations(60000));
}

void hot_suite_boards_extremes(void **state)
{
    (void)state;
    static const int64_t values[] = {INT64_MAX, 1, -1, INT64_MIN};
    struct suite suite = suite_open(suite_options());
    uint32_t count;
    int64_t value;
    assert_int_equal(suite_top(&suite, types[0], names[0], 10, &count), STATUS_OK);
    assert_int_equal(count, 0);
    for (uint32_t i = 0; i < 4; i++)
        suite_add(&suite, item_of(0, i), names[0], values[(i + 2) % 4], 0, 1, &value);
    assert_int_equal(suite_top(&suite, types[0], names[0], 10, &count), STATUS_OK);
    assert_int_equal(count, 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_true(suite.scratch.ranked[i].value == values[i]);
    suite_close(&suite);
}
