/*
 * The hot tier as a cache, against a model too simple to be wrong: far more data than fits, a
 * projector that may be far behind, a keeper, time that passes, and crashes after which the store is
 * back at its last flush. Every answer is compared. What the events make of the store is what the
 * tier goes by, so a wrong decision also shows as an event that contradicts the store.
 */
#include "support.h"

enum {
    USERS = 50000,
    HEAVY = 40, /* users with very many reactions */
    ITEMS = 80000,
    SLOTS = 16, /* items that a user may react to */
    HEAVY_SLOTS = 400,
    NAMES = 8,
    TOKENS = 30,
    PAGE = 64,
    BATCH = 24,
    TOKEN_TTL_S = 600,
    LOVE = 3,
    SAVE = 4,
    VIEW = 5,
    SHARE = 6,
};

static const uint8_t kinds[] = {NAME_INDEX_LIKE, 2, LOVE, SAVE};

static const struct exclusive groups = {
    .group_of = {[NAME_INDEX_LIKE] = 1, [2] = 1, [LOVE] = 1},
    .group_count = 1,
    .groups = {{.count = 3, .kinds = {NAME_INDEX_LIKE, 2, LOVE}}},
};

struct model {
    struct exclusive exclusive; /* as it is declared by now */
    uint8_t (*live)[NAMES];     /* by slot_of */
    int64_t (*counts)[NAMES];
    uint32_t token_times[TOKENS];
};

static uint32_t slots_of(uint32_t user)
{
    return user < HEAVY ? HEAVY_SLOTS : SLOTS;
}

static uint32_t slot_of(uint32_t user, uint32_t slot)
{
    return user < HEAVY ? user * HEAVY_SLOTS + slot
                        : HEAVY * HEAVY_SLOTS + (user - HEAVY) * SLOTS + slot;
}

/* Which item a user's slot is; no two of one user are the same. */
static uint32_t item_of_slot(uint32_t user, uint32_t slot)
{
    return (user * 7919U + slot * 5003U) % ITEMS;
}

static void model_move(struct model *model, uint32_t place, uint32_t item, uint8_t kind, bool live)
{
    model->live[place][kind] = live;
    model->counts[item][kind] += live ? 1 : -1;
}

static int64_t model_change(struct model *model, uint32_t place, uint32_t item, uint8_t kind,
                            bool live)
{
    const uint8_t *group_of = model->exclusive.group_of;
    for (size_t i = 0; live && group_of[kind] != 0 && i < sizeof(kinds); i++)
        if (kinds[i] != kind && group_of[kinds[i]] == group_of[kind] &&
            model->live[place][kinds[i]])
            model_move(model, place, item, kinds[i], false);
    if (model->live[place][kind] == live)
        return 0;
    model_move(model, place, item, kind, live);
    return 1;
}

/* One random operation: the request, and what is needed to judge its answer. */
struct operation {
    uint32_t user;
    uint32_t token;
    uint32_t places[PAGE];
    uint32_t items[PAGE];
    struct item real_items[PAGE];
    struct hot_answer answers[PAGE];
};

struct run {
    struct bed bed;
    struct model model;
    struct chance chance;
    uint32_t now_s;
    uint32_t lag; /* batches for which nothing is projected */
    uint64_t answers;
    uint64_t refused;        /* for want of memory, before the keeper had a chance */
    uint64_t refused_pinned; /* and after: for nothing was clean */
    uint64_t crashes;
    struct hot_stats total; /* of the tiers that are gone */
    struct hot_request requests[BATCH];
    struct operation operations[BATCH];
};

static uint32_t random_user(struct chance *chance)
{
    switch (chance_below(chance, 8)) {
    case 0:
        return chance_below(chance, HEAVY);
    case 1:
    case 2:
        return chance_below(chance, USERS / 25);
    default:
        return chance_below(chance, USERS);
    }
}

static void operation_items(struct run *run, struct hot_request *request,
                            struct operation *operation)
{
    for (uint32_t i = 0; i < request->item_count; i++) {
        uint32_t slot = chance_below(&run->chance, slots_of(operation->user));
        operation->places[i] = slot_of(operation->user, slot);
        operation->items[i] = item_of_slot(operation->user, slot);
        operation->real_items[i] = item_number(operation->items[i]);
    }
}

static void operation_add(struct run *run, struct hot_request *request, struct operation *operation)
{
    struct chance *chance = &run->chance;
    request->name = chance_below(chance, 2) ? VIEW : SHARE;
    request->change.delta = chance_below(chance, 10) == 0 ? (int64_t)(chance_next(chance) >> 24)
                                                          : (int64_t)chance_below(chance, 9) - 4;
    request->change.has_token = chance_below(chance, 100) == 0;
    if (!request->change.has_token)
        return;
    /* a token is a hash of item and counter too: each number belongs to one of both */
    operation->token = (run->now_s / 400 * 2 + chance_below(chance, 3)) % TOKENS;
    request->name = VIEW;
    request->change.delta = 3;
    request->change.token[0] = operation->token;
    operation->items[0] = operation->token * 37 % ITEMS;
    operation->real_items[0] = item_number(operation->items[0]);
}

static void random_operation(struct run *run, struct hot_request *request,
                             struct operation *operation)
{
    static const enum hot_action mix[] = {
        HOT_SET,   HOT_SET,   HOT_SET, HOT_SET, HOT_SET, HOT_SET,    HOT_SET,    HOT_CLEAR,
        HOT_CLEAR, HOT_CLEAR, HOT_ADD, HOT_ADD, HOT_ASK, HOT_COUNTS, HOT_COUNTS, HOT_FEED};
    struct chance *chance = &run->chance;
    *request = (struct hot_request){.action = mix[chance_below(chance, 16)],
                                    .status = STATUS_COUNT,
                                    .time_s = run->now_s,
                                    .item_count = 1,
                                    .name = kinds[chance_below(chance, sizeof(kinds))],
                                    .items = operation->real_items};
    hot_request_set_answers(request, operation->answers);
    operation->user = random_user(chance);
    request->user = id_number(operation->user);
    if (request->action >= HOT_ASK)
        request->item_count = 1 + chance_below(chance, chance_below(chance, 8) == 0 ? PAGE : 6);
    if (request->action == HOT_FEED)
        request->read.memory_only = chance_below(chance, 4) == 0;
    operation_items(run, request, operation);
    if (request->action == HOT_ADD)
        operation_add(run, request, operation);
}

static int64_t model_add(struct model *model, const struct hot_request *request,
                         const struct operation *operation)
{
    int64_t *count = &model->counts[operation->items[0]][request->name];
    uint32_t *added_s = request->change.has_token ? &model->token_times[operation->token] : NULL;
    if (added_s != NULL && *added_s != 0 && request->time_s - *added_s <= TOKEN_TTL_S)
        return *count;
    if (added_s != NULL && request->change.delta != 0)
        *added_s = request->time_s;
    return *count += request->change.delta;
}

static void check_counts(struct run *run, uint32_t item, const struct hot_answer *answer)
{
    const int64_t *counts = run->model.counts[item];
    uint32_t shown = 0;
    for (int name = 0; name < NAMES; name++)
        shown += counts[name] != 0;
    assert_int_equal(answer->count, shown);
    for (uint32_t i = 0; i < answer->count; i++) {
        const struct hot_counter *counter = &run->bed.scratch.counters[answer->first + i];
        assert_true(counter->value != 0);
        assert_true(counter->value == counts[counter->name]);
    }
}

static void check_kinds(struct run *run, uint32_t place, const struct hot_request *request,
                        const struct hot_answer *answer)
{
    struct kind_set expected = {0};
    for (size_t i = 0; i < sizeof(kinds); i++)
        if ((request->action == HOT_FEED || request->name == kinds[i]) &&
            run->model.live[place][kinds[i]] &&
            (!request->read.memory_only || kind_set_has(&answer->kinds, kinds[i])))
            kind_set_add(&expected, kinds[i]);
    assert_memory_equal(&expected, &answer->kinds, sizeof(expected));
}

static void check_answer(struct run *run, const struct hot_request *request,
                         const struct operation *operation)
{
    struct model *model = &run->model;
    assert_int_equal(request->status, STATUS_OK);
    run->answers++;
    if (request->action == HOT_SET || request->action == HOT_CLEAR)
        assert_int_equal(request->change.value,
                         model_change(model, operation->places[0], operation->items[0],
                                      request->name, request->action == HOT_SET));
    else if (request->action == HOT_ADD)
        assert_true(request->change.value == model_add(model, request, operation));
    if (request->action < HOT_ASK)
        return;
    for (uint32_t i = 0; i < request->item_count; i++) {
        if (request->action != HOT_COUNTS)
            check_kinds(run, operation->places[i], request, &operation->answers[i]);
        if (request->action != HOT_ASK)
            check_counts(run, operation->items[i], &operation->answers[i]);
    }
}

/* Until it is done: first the keeper tries, then everything is made clean. */
static void run_again(struct run *run, struct hot_request *request,
                      const struct operation *operation)
{
    run->refused++;
    for (int tries = 0; tries < 8 && request->status == STATUS_NO_MEMORY; tries++) {
        bed_keep(&run->bed, run->now_s);
        bed_run(&run->bed, request);
    }
    if (request->status == STATUS_NO_MEMORY) {
        run->refused_pinned++;
        /* some megabytes of it: what is left beside the tables of so many shards */
        assert_true(run->bed.recorder.count - run->bed.projected > 1000);
    }
    for (int tries = 0; tries < 8 && request->status == STATUS_NO_MEMORY; tries++) {
        bed_project_all(&run->bed);
        bed_keep(&run->bed, run->now_s);
        bed_run(&run->bed, request);
    }
    check_answer(run, request, operation);
}

static void run_batch(struct run *run)
{
    struct bed *bed = &run->bed;
    uint32_t count = 1 + chance_below(&run->chance, BATCH);
    for (uint32_t i = 0; i < count; i++)
        random_operation(run, &run->requests[i], &run->operations[i]);
    bed->scratch.used = 0;
    size_t done = hot_try(bed->hot, run->requests, count, &bed->scratch);
    if (done < count) {
        bed->waited++;
        hot_memory_run_blocking(bed->hot, chance_below(&run->chance, LIMIT_WORKERS),
                                run->requests + done, count - done, &bed->scratch);
    }
    for (uint32_t i = 0; i < count; i++)
        if (run->requests[i].status != STATUS_NO_MEMORY)
            check_answer(run, &run->requests[i], &run->operations[i]);
    for (uint32_t i = 0; i < count; i++)
        if (run->requests[i].status == STATUS_NO_MEMORY)
            run_again(run, &run->requests[i], &run->operations[i]);
    assert_true(memory_used(&bed->budget) <= bed->budget.limit);
}

static void gather_stats(struct run *run)
{
    struct hot_stats stats = bed_stats(&run->bed);
    run->total.item_loads += stats.item_loads;
    run->total.reaction_loads += stats.reaction_loads;
    run->total.evicted_users += stats.evicted_users;
    run->total.evicted_items += stats.evicted_items;
    run->total.expired_items += stats.expired_items;
    run->total.emptied_pages += stats.emptied_pages;
}

/* What goes on beside the requests. */
static void run_rest(struct run *run, uint64_t crash_every)
{
    struct bed *bed = &run->bed;
    struct chance *chance = &run->chance;
    run->now_s += chance_below(chance, 4);
    if (run->lag > 0)
        run->lag--;
    else if (chance_below(chance, 3000) == 0)
        run->lag = chance_below(chance, 9000);
    if (run->lag == 0 && chance_below(chance, 10) == 0) {
        uint32_t left = (uint32_t)(bed->recorder.count - bed->projected);
        bed_project(bed,
                    bed->projected +
                        (chance_below(chance, 3) == 0 ? left : chance_below(chance, left + 1)));
        if (chance_below(chance, 4) == 0)
            bed_flush(bed);
    }
    if (chance_below(chance, 20) == 0)
        bed_keep(bed, run->now_s);
    if (chance_below(chance, (uint32_t)crash_every) == 0) {
        run->crashes++;
        gather_stats(run);
        bed_crash(bed, run->now_s);
    }
}

/* Every reaction and every counter there can be. */
static void check_all(struct run *run)
{
    struct operation *operation = &run->operations[0];
    struct hot_request request = {.action = HOT_FEED,
                                  .time_s = run->now_s,
                                  .items = operation->real_items,
                                  .read.answers = operation->answers};
    for (uint32_t user = 0; user < USERS; user++) {
        request.user = id_number(user);
        for (uint32_t from = 0; from < slots_of(user); from += SLOTS) {
            request.item_count = SLOTS;
            for (uint32_t i = 0; i < SLOTS; i++) {
                operation->items[i] = item_of_slot(user, from + i);
                operation->real_items[i] = item_number(operation->items[i]);
            }
            assert_int_equal(bed_run(&run->bed, &request), STATUS_OK);
            for (uint32_t i = 0; i < SLOTS; i++) {
                check_kinds(run, slot_of(user, from + i), &request, &operation->answers[i]);
                check_counts(run, operation->items[i], &operation->answers[i]);
            }
            if (user % 64 == 0)
                bed_keep(&run->bed, run->now_s);
        }
    }
}

/* What all of it would take in memory, had it no store. */
static uint64_t whole_bytes(struct run *run)
{
    struct bed whole;
    struct recorder *recorder = &run->bed.recorder;
    bed_open_quiet(&whole, GIB(4), run->bed.options);
    assert_int_equal(hot_memory_apply(whole.hot, recorder->events, recorder->count, 1, run->now_s),
                     STATUS_OK);
    uint64_t bytes = memory_used(&whole.budget);
    bed_close(&whole);
    return bytes;
}

/* With everything projected the tier shrinks to what it may have, and the store is sound. */
static void check_end(struct run *run)
{
    struct bed *bed = &run->bed;
    bed_project_all(bed);
    for (int i = 0; i < 4; i++)
        bed_keep(bed, run->now_s);
    size_t pages = slab_pool_free_pages(hot_memory_of(bed->hot)->pool);
    uint64_t used = memory_used(&bed->budget) - pages * SLAB_PAGE_BYTES;
    print_message("%llu KiB of %llu in use at the end; all of it would take %llu\n",
                  (unsigned long long)(used / 1024), (unsigned long long)(bed->budget.limit / 1024),
                  (unsigned long long)(whole_bytes(run) / 1024));
    assert_true(used <= bed->budget.limit - MIB(1)); /* so much is kept free for what comes */
    struct store_report report = {0};
    assert_int_equal(store_verify(&bed->store->admin, NULL, NULL, &report), STATUS_OK);
    check_all(run);
    gather_stats(run);
    print_message(
        "%llu answers, %llu events, %llu crashes; loads %llu items, %llu reactions; evicted %llu "
        "users, %llu items, expired %llu; %llu pages; refused %llu, pinned %llu\n",
        (unsigned long long)run->answers, (unsigned long long)bed->recorder.count,
        (unsigned long long)run->crashes, (unsigned long long)run->total.item_loads,
        (unsigned long long)run->total.reaction_loads, (unsigned long long)run->total.evicted_users,
        (unsigned long long)run->total.evicted_items, (unsigned long long)run->total.expired_items,
        (unsigned long long)run->total.emptied_pages, (unsigned long long)run->refused,
        (unsigned long long)run->refused_pinned);
}

static void run_cache(uint64_t limit, uint64_t operations, bool real_sizes, bool must_evict)
{
    struct run *run = calloc(1, sizeof(*run));
    assert_non_null(run);
    run->chance.state = test_seed();
    run->now_s = 1000000;
    run->model.live = calloc(HEAVY * HEAVY_SLOTS + (USERS - HEAVY) * SLOTS, NAMES);
    run->model.counts = calloc(ITEMS, sizeof(run->model.counts[0]));
    struct hot_memory_options options = bed_options();
    options.exclusive = &run->model.exclusive;
    options.shelf_max = 12;
    options.shelf_age_s = 8000;
    options.item_ttl_s = 4000;
    options.token_ttl_s = TOKEN_TTL_S;
    options.seed = chance_next(&run->chance);
    bed_open_stored(&run->bed, limit, options);
    run->bed.recorder.real_sizes = real_sizes;
    while (run->answers < operations) {
        if (run->answers >= operations / 4) /* what is set together by then is set together */
            run->model.exclusive = groups;
        run_batch(run);
        run_rest(run, 5000);
    }
    check_end(run);
    if (must_evict) {
        assert_true(run->total.evicted_users > USERS && run->total.evicted_items > ITEMS);
        assert_true(run->total.emptied_pages > 300); /* 900 to 1300, depending on the seed */
    }
    bed_close(&run->bed);
    free(run->model.live);
    free(run->model.counts);
    free(run);
}

static void test_ten_times_more_than_fits(void **state)
{
    (void)state;
    uint64_t operations = test_operations(1000000);
    run_cache(MIB(12), operations, false, operations >= 1000000);
}

static void test_with_stamps_as_in_a_server(void **state)
{
    (void)state;
    run_cache(MIB(12), test_operations(500000), true, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ten_times_more_than_fits),
        cmocka_unit_test(test_with_stamps_as_in_a_server),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
