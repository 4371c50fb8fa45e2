/*
 * The hot tier against a model too simple to be wrong: arrays of flags and numbers. Then everything
 * that was recorded is applied to a fresh tier, which must end up the same.
 */
#include "support.h"

enum { NAMES = 8, TOKENS = 64, PAGE = LIMIT_FEED_ITEMS };

static const uint8_t kinds[] = {NAME_INDEX_LIKE, 2, 3, 4, 255};
static const uint8_t counters[] = {5, 6};
static const uint8_t names[NAMES] = {NAME_INDEX_LIKE, 2, 3, 4, 255, 5, 6, 7};

struct model {
    uint32_t users;
    uint32_t items;
    uint8_t *live;   /* user × item × name */
    int64_t *counts; /* item × name */
    uint64_t live_count;
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
    model->live_count += live ? 1 : -1ULL;
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
    uint32_t *added_s = request->has_token ? &model->token_times[operation->token] : NULL;
    *value = *count;
    if (request->delta == 0 ||
        (added_s != NULL && *added_s != 0 && request->time_s - *added_s <= model->ttl_s))
        return STATUS_OK;
    if (__builtin_add_overflow(*count, request->delta, value))
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
                                    .items = operation->real_items,
                                    .answers = operation->answers};
    operation->user = chance_below(chance, model->users);
    request->user = id_number(operation->user);
    request->name = kinds[chance_below(chance, sizeof(kinds))];
    if (request->action == HOT_ADD) {
        request->name = counters[chance_below(chance, sizeof(counters))];
        request->delta = random_delta(chance);
    } else if (request->action >= HOT_ASK) {
        uint32_t most = chance_below(chance, 8) == 0 ? PAGE : 16;
        request->item_count = 1 + chance_below(chance, most);
    }
    for (uint32_t i = 0; i < request->item_count; i++) {
        operation->items[i] = chance_below(chance, model->items);
        operation->real_items[i] = item_number(operation->items[i]);
    }
    if (request->action == HOT_ADD && chance_below(chance, 2) == 0) {
        /* a token is a hash of item and counter too: each number belongs to one of both */
        operation->token = chance_below(chance, TOKENS);
        operation->items[0] = operation->token % model->items;
        operation->real_items[0] = item_number(operation->items[0]);
        request->name = counters[operation->token % sizeof(counters)];
        request->has_token = true;
        request->token[0] = operation->token;
        request->token[1] = 99;
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
    int64_t value = request->value;
    enum status status = STATUS_OK;
    if (request->action == HOT_SET)
        value = model_set(model, operation->user, operation->items[0], request->name);
    else if (request->action == HOT_CLEAR)
        value = model_clear(model, operation->user, operation->items[0], request->name);
    else if (request->action == HOT_ADD)
        status = model_add(model, request, operation, &value);
    assert_int_equal(request->status, status);
    if (status == STATUS_OK)
        assert_true(request->value == value);
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
static void check_all(struct model *model, struct bed *bed)
{
    static struct operation page;
    struct hot_request request = {
        .action = HOT_FEED, .time_s = 1, .items = page.real_items, .answers = page.answers};
    for (uint32_t user = 0; user < model->users; user++) {
        for (uint32_t from = 0; from < model->items; from += PAGE) {
            request.item_count = model->items - from < PAGE ? model->items - from : PAGE;
            request.user = id_number(user);
            for (uint32_t i = 0; i < request.item_count; i++)
                page.real_items[i] = item_number(from + i);
            assert_int_equal(bed_run(bed, &request), STATUS_OK);
            for (uint32_t i = 0; i < request.item_count; i++) {
                check_kinds(model, user, from + i, -1, &page.answers[i]);
                check_counts(model, from + i, &page.answers[i], &bed->scratch);
            }
        }
    }
    assert_int_equal(bed_stats(bed).reactions, model->live_count);
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

static void check_replay(struct model *model, const struct bed *bed,
                         struct hot_memory_options options, uint32_t now_s)
{
    struct bed again;
    bed_open_quiet(&again, GIB(1), options);
    assert_int_equal(
        hot_memory_apply(again.hot, bed->recorder.events, bed->recorder.count, 1, now_s),
        STATUS_OK);
    check_all(model, &again);
    hot_memory_set_journal(again.hot, &again.recorder.journal);
    for (uint32_t token = 0; token < TOKENS; token++) {
        uint32_t number = token % model->items;
        struct item item = item_number(number);
        uint8_t name = counters[token % sizeof(counters)];
        bool remembered =
            model->token_times[token] != 0 && now_s - model->token_times[token] <= model->ttl_s;
        int64_t before = bed_count(&again, item, name);
        struct hot_request request = {.action = HOT_ADD,
                                      .name = name,
                                      .items = &item,
                                      .item_count = 1,
                                      .time_s = now_s,
                                      .has_token = true,
                                      .token = {token, 99},
                                      .delta = before > 0 ? -1 : 1};
        assert_int_equal(bed_run(&again, &request), STATUS_OK);
        assert_true(request.value == before + (remembered ? 0 : request.delta));
    }
    bed_close(&again);
}

/* The group is declared after so many operations: what is set together by then is set together. */
static void run_property(uint32_t users, uint32_t items, uint32_t shelf_max, uint64_t operations,
                         uint64_t declared_after)
{
    struct exclusive declared = {0};
    struct chance chance = {test_seed()};
    struct hot_memory_options options = bed_options();
    options.shelf_max = shelf_max;
    options.token_ttl_s = 20;
    options.exclusive = &declared;
    options.seed = chance_next(&chance);
    struct bed bed;
    struct model model;
    bed_open(&bed, GIB(1), options);
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
        bed.scratch.used = 0;
        hot_run(bed.hot, requests, count, &bed.scratch);
        for (uint32_t i = 0; i < count; i++)
            check_answer(&model, &requests[i], &parts[i], &bed.scratch);
        done += count;
    }
    check_all(&model, &bed);
    check_replay(&model, &bed, options, time_s);
    model_close(&model);
    bed_close(&bed);
}

static void test_tiny_shelves(void **state)
{
    (void)state;
    run_property(30, 150, 8, test_operations(1000000) / 2, 0);
}

static void test_one_entry_shelves(void **state)
{
    (void)state;
    run_property(6, 40, 1, test_operations(1000000) / 10, 0);
}

static void test_usual_shelves(void **state)
{
    (void)state;
    run_property(4, 6000, 1000, test_operations(1000000) / 2, 0);
}

static void test_a_group_declared_late(void **state)
{
    (void)state;
    uint64_t operations = test_operations(1000000) / 4;
    run_property(30, 150, 8, operations, operations / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tiny_shelves),
        cmocka_unit_test(test_one_entry_shelves),
        cmocka_unit_test(test_usual_shelves),
        cmocka_unit_test(test_a_group_declared_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
