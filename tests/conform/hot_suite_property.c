/*
 * SET, CLEAR, ADD, ASK, COUNTS and FEED against a model: arrays of flags and numbers. Requests come in
 * batches of random size. After a restart everything must be as it was, tokens included.
 */
#include "hot_suite.h"

enum { NAMES = 8, TOKENS = 64, PAGE = LIMIT_FEED_ITEMS };

static const uint8_t kinds[] = {NAME_INDEX_LIKE, 2, 3, 4, 249};
static const uint8_t counters[] = {5, 6};
static const uint8_t names[NAMES] = {NAME_INDEX_LIKE, 2, 3, 4, 249, 5, 6, 7};

struct model {
    uint32_t users;
    uint32_t items;
    uint8_t *live;                /* user × item × name */
    int64_t *counts;              /* item × name */
    uint32_t token_times[TOKENS]; /* by token number; 0: never */
    const struct exclusive *exclusive;
    uint32_t ttl_s;
};

static int name_slot(uint8_t name)
{
    for (int i = 0; i < NAMES; i++)
        if (names[i] == name)
            return i;
    fail();
    return -1;
}

static uint8_t *model_live(struct model *model, uint32_t user, uint32_t item, uint8_t kind)
{
    return &model->live[((size_t)user * model->items + item) * NAMES + (size_t)name_slot(kind)];
}

static int64_t *model_count(struct model *model, uint32_t item, uint8_t name)
{
    return &model->counts[item * NAMES + (size_t)name_slot(name)];
}

static void model_move(struct model *model, uint32_t user, uint32_t item, uint8_t kind, bool live)
{
    *model_live(model, user, item, kind) = live;
    *model_count(model, item, kind) += live ? 1 : -1;
}

static int64_t model_set(struct model *model, uint32_t user, uint32_t item, uint8_t kind)
{
    uint8_t group = model->exclusive->group_of[kind];
    for (size_t i = 0; i < sizeof(kinds); i++)
        if (group != 0 && kinds[i] != kind && model->exclusive->group_of[kinds[i]] == group &&
            *model_live(model, user, item, kinds[i]))
            model_move(model, user, item, kinds[i], false);
    if (*model_live(model, user, item, kind))
        return 0;
    model_move(model, user, item, kind, true);
    return 1;
}

static int64_t model_clear(struct model *model, uint32_t user, uint32_t item, uint8_t kind)
{
    if (!*model_live(model, user, item, kind))
        return 0;
    model_move(model, user, item, kind, false);
    return 1;
}

/* One random operation: the request, and what is needed to judge its answer. */
struct operation {
    uint32_t user;
    uint32_t token;
    uint32_t items[PAGE];
    struct item real_items[PAGE];
    struct hot_answer answers[PAGE];
};

static enum status model_add(struct model *model, const struct hot_request *request,
                             const struct operation *operation, int64_t *value)
{
    int64_t *count = model_count(model, operation->items[0], request->name);
    uint32_t *added_s = request->change.has_token ? &model->token_times[operation->token] : NULL;
    *value = *count;
    if (request->change.delta == 0 ||
        (added_s != NULL && *added_s != 0 && request->time_s - *added_s <= model->ttl_s))
        return STATUS_OK;
    if (__builtin_add_overflow(*count, request->change.delta, value))
        return STATUS_COUNTER_OVERFLOW;
    *count = *value;
    if (added_s != NULL)
        *added_s = request->time_s;
    return STATUS_OK;
}

static int64_t random_delta(struct chance *chance)
{
    static const int64_t far[] = {INT64_MAX, INT64_MIN, INT32_MAX, INT32_MIN, INT64_MAX / 2};
    switch (chance_below(chance, 12)) {
    case 0:
        return 0;
    case 1:
        return far[chance_below(chance, 5)];
    default:
        return (int64_t)chance_below(chance, 2000) - 1000;
    }
}

static void random_operation(struct chance *chance, const struct model *model, uint32_t time_s,
                             struct hot_request *request, struct operation *operation)
{
    static const enum hot_action mix[] = {
        HOT_SET,   HOT_SET,   HOT_SET,   HOT_SET, HOT_SET, HOT_SET,    HOT_SET, HOT_SET,
        HOT_CLEAR, HOT_CLEAR, HOT_CLEAR, HOT_ADD, HOT_ADD, HOT_COUNTS, HOT_ASK, HOT_FEED};
    *request = (struct hot_request){.action = mix[chance_below(chance, 16)],
                                    .status = STATUS_COUNT,
                                    .time_s = time_s,
                                    .item_count = 1,
                                    .items = operation->real_items};
    hot_request_set_answers(request, operation->answers);
    operation->user = chance_below(chance, model->users);
    request->user = suite_id(operation->user);
    request->name = kinds[chance_below(chance, sizeof(kinds))];
    if (request->action == HOT_ADD) {
        request->name = counters[chance_below(chance, sizeof(counters))];
        request->change.delta = random_delta(chance);
    } else if (request->action >= HOT_ASK) {
        uint32_t most = chance_below(chance, 8) == 0 ? PAGE : 16;
        request->item_count = 1 + chance_below(chance, most);
    }
    for (uint32_t i = 0; i < request->item_count; i++) {
        operation->items[i] = chance_below(chance, model->items);
        operation->real_items[i] = suite_item(operation->items[i]);
    }
    if (request->action == HOT_ADD && chance_below(chance, 2) == 0) {
        /* a token is a hash of item and counter too: each number belongs to one of both */
        operation->token = chance_below(chance, TOKENS);
        operation->items[0] = operation->token % model->items;
        operation->real_items[0] = suite_item(operation->items[0]);
        request->name = counters[operation->token % sizeof(counters)];
        request->change.has_token = true;
        request->change.token[0] = 1 + operation->token;
        request->change.token[1] = 99;
    }
}

static void check_counts(struct model *model, uint32_t item, const struct hot_answer *answer,
                         const struct hot_scratch *scratch)
{
    uint32_t shown = 0; /* those that are not 0 */
    for (int slot = 0; slot < NAMES; slot++)
        shown += model->counts[item * NAMES + (size_t)slot] != 0;
    assert_int_equal(answer->count, shown);
    for (uint32_t i = 0; i < answer->count; i++) {
        const struct hot_counter *counter = &scratch->counters[answer->first + i];
        assert_true(counter->value != 0);
        assert_true(counter->value == *model_count(model, item, counter->name));
    }
}

static void check_kinds(struct model *model, uint32_t user, uint32_t item, int only,
                        const struct hot_answer *answer)
{
    struct kind_set expected = {0};
    for (size_t i = 0; i < sizeof(kinds); i++)
        if ((only < 0 || only == kinds[i]) && *model_live(model, user, item, kinds[i]))
            kind_set_add(&expected, kinds[i]);
    assert_memory_equal(&expected, &answer->kinds, sizeof(expected));
}

static void check_answer(struct model *model, const struct hot_request *request,
                         const struct operation *operation, const struct hot_scratch *scratch)
{
    int64_t value = request->change.value;
    enum status status = STATUS_OK;
    if (request->action == HOT_SET)
        value = model_set(model, operation->user, operation->items[0], request->name);
    else if (request->action == HOT_CLEAR)
        value = model_clear(model, operation->user, operation->items[0], request->name);
    else if (request->action == HOT_ADD)
        status = model_add(model, request, operation, &value);
    assert_int_equal(request->status, status);
    if (status == STATUS_OK)
        assert_true(request->change.value == value);
    if (request->action < HOT_ASK)
        return;
    for (uint32_t i = 0; i < request->item_count; i++) {
        if (request->action != HOT_COUNTS)
            check_kinds(model, operation->user, operation->items[i],
                        request->action == HOT_ASK ? request->name : -1, &operation->answers[i]);
        if (request->action != HOT_ASK)
            check_counts(model, operation->items[i], &operation->answers[i], scratch);
    }
}

/* Every reaction and every counter there can be. */
static void check_all(struct model *model, struct suite *suite)
{
    static struct item items[PAGE];
    static struct hot_answer answers[PAGE];
    for (uint32_t user = 0; user < model->users; user++) {
        for (uint32_t from = 0; from < model->items; from += PAGE) {
            uint32_t count = model->items - from < PAGE ? model->items - from : PAGE;
            for (uint32_t i = 0; i < count; i++)
                items[i] = suite_item(from + i);
            suite_feed(suite, suite_id(user), items, count, answers);
            for (uint32_t i = 0; i < count; i++) {
                check_kinds(model, user, from + i, -1, &answers[i]);
                check_counts(model, from + i, &answers[i], &suite->scratch);
            }
        }
    }
}

static void model_open(struct model *model, uint32_t users, uint32_t items, uint32_t ttl_s,
                       const struct exclusive *exclusive)
{
    *model = (struct model){.users = users, .items = items, .ttl_s = ttl_s, .exclusive = exclusive};
    model->live = calloc((size_t)users * items, NAMES);
    model->counts = calloc(items, NAMES * sizeof(int64_t));
}

static void model_close(struct model *model)
{
    free(model->live);
    free(model->counts);
}

static const struct exclusive groups = {
    .group_of = {[NAME_INDEX_LIKE] = 1, [2] = 1, [3] = 1},
    .group_count = 1,
    .groups = {{.count = 3, .kinds = {NAME_INDEX_LIKE, 2, 3}}},
};

static void check_restart(struct model *model, struct suite *suite, uint32_t now_s)
{
    suite_restart(suite, now_s);
    check_all(model, suite);
    for (uint32_t token = 0; token < TOKENS; token++) {
        struct item item = suite_item(token % model->items);
        uint8_t name = counters[token % sizeof(counters)];
        bool remembered =
            model->token_times[token] != 0 && now_s - model->token_times[token] <= model->ttl_s;
        int64_t before = suite_count(suite, item, name), after;
        int64_t delta = before > 0 ? -1 : 1;
        assert_int_equal(suite_add(suite, item, name, delta, 1 + token, now_s, &after), STATUS_OK);
        assert_true(after == before + (remembered ? 0 : delta));
    }
}

/* The group is declared after so many operations: what is set together by then is set together. */
static void run_property(uint32_t users, uint32_t items, uint32_t shelf_max, uint64_t operations,
                         uint64_t declared_after)
{
    struct exclusive declared = {0};
    struct chance chance = {test_seed()};
    struct hot_suite_options options = suite_options();
    options.shelf_max = shelf_max;
    options.token_ttl_s = 20;
    options.exclusive = &declared;
    options.seed = chance_next(&chance);
    struct model model;
    struct suite suite = suite_open(options);
    model_open(&model, users, items, options.token_ttl_s, &declared);
    static struct hot_request requests[LIMIT_BATCH];
    static struct operation parts[LIMIT_BATCH];
    uint32_t time_s = 1000;
    for (uint64_t done = 0; done < operations;) {
        uint32_t count = 1 + chance_below(&chance, LIMIT_BATCH);
        if (done >= declared_after)
            declared = groups;
        for (uint32_t i = 0; i < count; i++) {
            time_s += chance_below(&chance, 20) == 0;
            random_operation(&chance, &model, time_s, &requests[i], &parts[i]);
        }
        suite_run(&suite, requests, count);
        for (uint32_t i = 0; i < count; i++)
            check_answer(&model, &requests[i], &parts[i], &suite.scratch);
        done += count;
        if (chance_below(&chance, 10) == 0)
            suite_disturb(&suite, &chance, 100, time_s);
    }
    check_all(&model, &suite);
    check_restart(&model, &suite, time_s);
    model_close(&model);
    suite_close(&suite);
}

void hot_suite_property_tiny(void **state)
{
    (void)state;
    run_property(30, 150, 8, suite_operations(100000), 0);
    run_property(6, 40, 1, suite_operations(40000), 0);
}

void hot_suite_property_usual(void **state)
{
    (void)state;
    run_property(4, 6000, 1000, suite_operations(100000), 0);
}

void hot_suite_property_late_group(void **state)
{
    (void)state;
    uint64_t operations = suite_operations(60000);
    run_property(30, 150, 8, operations, operations / 4);
}
