/*
 * Eight threads that take requests, three that may wait for the store, the projector and the keeper,
 * all at once on one hot tier. Each of the eight owns some users, whose answers it predicts exactly;
 * all share some users and every item. At the end the tier must say what its recorded events make
 * of another one, whether asked in memory or in the store.
 */
#include "support.h"

enum {
    THREADS = 8,
    WORKERS = 3,
    KINDS = 4,
    VIEW = 9,
    PAGE = 24,
    BATCH = 12,
};

/* How large the world is. A user reacts to so many items, one for each slot. */
struct shape {
    uint32_t own_users; /* of each thread */
    uint32_t shared_users;
    uint32_t items;
    uint32_t slots;
    uint64_t limit;
};

struct world {
    struct shape shape;
    struct bed bed;
    pthread_mutex_t lock; /* of the numbers of workers that are free */
    pthread_cond_t freed;
    bool busy[WORKERS];
    _Atomic bool stopping;
    _Atomic uint64_t waited;
};

struct taker {
    pthread_t thread;
    struct world *world;
    struct chance chance;
    uint32_t number;
    uint64_t operations;
    uint64_t mistakes;
    uint64_t refused; /* for want of memory */
    uint8_t (*live)[KINDS];
    struct hot_scratch scratch;
};

struct page {
    uint32_t user; /* index among own users, or more than there are: a shared one */
    uint32_t slots[PAGE];
    struct item items[PAGE];
    struct hot_answer answers[PAGE];
};

static struct item slot_item(const struct shape *shape, uint32_t user, uint32_t slot)
{
    return item_number((user * 7919U + slot * 5003U) % shape->items);
}

static void fill(struct taker *taker, struct hot_request *request, struct page *page)
{
    const struct shape *shape = &taker->world->shape;
    struct chance *chance = &taker->chance;
    static const enum hot_action mix[] = {HOT_SET,   HOT_SET, HOT_SET, HOT_SET,    HOT_CLEAR,
                                          HOT_CLEAR, HOT_ADD, HOT_ASK, HOT_COUNTS, HOT_FEED};
    *request = (struct hot_request){.action = mix[chance_below(chance, 10)],
                                    .status = STATUS_COUNT,
                                    .name = (uint8_t)chance_below(chance, KINDS),
                                    .time_s = 1000,
                                    .item_count = 1,
                                    .items = page->items};
    hot_request_set_answers(request, page->answers);
    page->user =
        chance_below(chance, 4) == 0 ? shape->own_users : chance_below(chance, shape->own_users);
    uint32_t user = page->user == shape->own_users
                        ? THREADS * shape->own_users + chance_below(chance, shape->shared_users)
                        : taker->number * shape->own_users + page->user;
    request->user = id_number(user);
    if (request->action >= HOT_ASK)
        request->item_count = 1 + chance_below(chance, PAGE);
    if (request->action == HOT_ADD) {
        request->name = VIEW;
        request->change.delta = (int64_t)chance_below(chance, 100) - 30;
    }
    for (uint32_t i = 0; i < request->item_count; i++) {
        page->slots[i] = chance_below(chance, shape->slots);
        page->items[i] = slot_item(shape, user, page->slots[i]);
    }
}

static uint8_t *live_of(struct taker *taker, const struct page *page, uint32_t at)
{
    return taker->live[page->user * taker->world->shape.slots + page->slots[at]];
}

static bool predict(uint8_t *live, const struct hot_request *request)
{
    bool was = live[request->name];
    live[request->name] = request->action == HOT_SET;
    if (request->action == HOT_SET && request->name % 2 == 0)
        live[2 - request->name] = 0;
    return request->action == HOT_SET ? !was : was;
}

static bool shows(const struct page *page, uint32_t at, uint32_t kind)
{
    return kind_set_has(&page->answers[at].kinds, (uint8_t)kind);
}

static void judge(struct taker *taker, const struct hot_request *request, const struct page *page)
{
    bool own = page->user != taker->world->shape.own_users;
    if (request->status == STATUS_NO_MEMORY) {
        taker->refused++;
        return;
    }
    taker->mistakes += request->status != STATUS_OK;
    if (own && (request->action == HOT_SET || request->action == HOT_CLEAR))
        taker->mistakes += request->change.value != predict(live_of(taker, page, 0), request);
    if (request->action != HOT_ASK && request->action != HOT_FEED)
        return;
    for (uint32_t i = 0; i < request->item_count; i++) {
        taker->mistakes += shows(page, i, 0) && shows(page, i, 2);
        for (uint32_t kind = 0; own && kind < KINDS; kind++)
            if (request->action == HOT_FEED || kind == request->name)
                taker->mistakes += shows(page, i, kind) != live_of(taker, page, i)[kind];
    }
}

/* Whoever has one of the numbers is that worker. */
static unsigned worker_take(struct world *world)
{
    unsigned worker = WORKERS;
    pthread_mutex_lock(&world->lock);
    while (worker == WORKERS) {
        for (unsigned i = 0; i < WORKERS; i++)
            if (!world->busy[i])
                worker = i;
        if (worker == WORKERS)
            pthread_cond_wait(&world->freed, &world->lock);
    }
    world->busy[worker] = true;
    pthread_mutex_unlock(&world->lock);
    return worker;
}

static void worker_give(struct world *world, unsigned worker)
{
    pthread_mutex_lock(&world->lock);
    world->busy[worker] = false;
    pthread_cond_signal(&world->freed);
    pthread_mutex_unlock(&world->lock);
}

static void *take_requests(void *context)
{
    struct taker *taker = context;
    struct world *world = taker->world;
    struct hot_request requests[BATCH];
    struct page *pages = calloc(BATCH, sizeof(*pages));
    for (uint64_t done = 0; done < taker->operations;) {
        uint32_t count = 1 + chance_below(&taker->chance, BATCH);
        for (uint32_t i = 0; i < count; i++)
            fill(taker, &requests[i], &pages[i]);
        taker->scratch.used = 0;
        size_t ran = hot_try(world->bed.hot, requests, count, &taker->scratch);
        if (ran < count) {
            unsigned worker = worker_take(world);
            hot_memory_run_blocking(world->bed.hot, worker, requests + ran, count - ran,
                                    &taker->scratch);
            worker_give(world, worker);
            atomic_fetch_add(&world->waited, 1);
        }
        for (uint32_t i = 0; i < count; i++)
            judge(taker, &requests[i], &pages[i]);
        done += count;
    }
    free(pages);
    return NULL;
}

static void *carry(void *context)
{
    struct world *world = context;
    struct chance chance = {3};
    while (!atomic_load(&world->stopping)) {
        uint32_t left = (uint32_t)(recorder_count(&world->bed.recorder) - world->bed.projected);
        bed_project(&world->bed, world->bed.projected + chance_below(&chance, left + 1));
        sched_yield();
    }
    return NULL;
}

/* The keeper makes one round after the other. */
static void *nag(void *context)
{
    struct world *world = context;
    while (!atomic_load(&world->stopping))
        keeper_wait(hot_memory_of(world->bed.hot), 0);
    return NULL;
}

static void read_counts(struct bed *bed, struct item item, int64_t counts[LIMIT_NAMES])
{
    struct hot_answer answer;
    struct hot_request request = {.action = HOT_COUNTS,
                                  .items = &item,
                                  .item_count = 1,
                                  .time_s = 1000,
                                  .read.answers = &answer};
    memset(counts, 0, LIMIT_NAMES * sizeof(counts[0]));
    assert_int_equal(bed_run(bed, &request), STATUS_OK);
    for (uint32_t i = 0; i < answer.count; i++) {
        const struct hot_counter *counter = &bed->scratch.counters[answer.first + i];
        counts[counter->name] = counter->value;
    }
}

static struct kind_set read_kinds(struct bed *bed, uint32_t user, struct item item)
{
    struct hot_answer answer;
    struct hot_request request = {.action = HOT_FEED,
                                  .user = id_number(user),
                                  .items = &item,
                                  .item_count = 1,
                                  .time_s = 1000,
                                  .read.answers = &answer};
    assert_int_equal(bed_run(bed, &request), STATUS_OK);
    return answer.kinds;
}

static void check_same(struct world *world, struct bed *again)
{
    const struct shape *shape = &world->shape;
    for (uint32_t user = 0; user < THREADS * shape->own_users + shape->shared_users; user++)
        for (uint32_t slot = 0; slot < shape->slots; slot++) {
            struct item item = slot_item(shape, user, slot);
            struct kind_set here = read_kinds(&world->bed, user, item);
            struct kind_set there = read_kinds(again, user, item);
            assert_memory_equal(&here, &there, sizeof(here));
        }
    for (uint32_t number = 0; number < shape->items; number++) {
        int64_t here[LIMIT_NAMES];
        int64_t there[LIMIT_NAMES];
        read_counts(&world->bed, item_number(number), here);
        read_counts(again, item_number(number), there);
        assert_memory_equal(here, there, sizeof(here));
    }
}

/* As it is, after a crash half-way, and with everything in the store alone. */
static void check_end(struct world *world, struct hot_memory_options options)
{
    struct bed *bed = &world->bed;
    struct bed again;
    bed_open_quiet(&again, GIB(2), options);
    assert_int_equal(
        hot_memory_apply(again.hot, bed->recorder.events, bed->recorder.count, 1, 1000), STATUS_OK);
    check_same(world, &again);
    bed_project_all(bed);
    struct store_report report;
    assert_int_equal(store_verify(&bed->store->admin, NULL, NULL, &report), STATUS_OK);
    bed->flushed = bed->projected / 2;
    bed_crash(bed, 1000);
    check_same(world, &again);
    bed_project_all(bed);
    bed_flush(bed);
    bed_crash(bed, 1000);
    check_same(world, &again);
    assert_true(bed_stats(bed).reaction_loads > 0 && bed_stats(bed).item_loads > 0);
    bed_close(&again);
}

static void run_takers(struct world *world, struct chance *chance, uint64_t operations)
{
    const struct shape *shape = &world->shape;
    struct taker *takers = calloc(THREADS, sizeof(*takers));
    for (uint32_t i = 0; i < THREADS; i++) {
        takers[i] = (struct taker){.world = world,
                                   .number = i,
                                   .chance.state = chance_next(chance),
                                   .operations = operations / THREADS,
                                   .live = calloc(shape->own_users * shape->slots, KINDS)};
        assert_int_equal(pthread_create(&takers[i].thread, NULL, take_requests, &takers[i]), 0);
    }
    uint64_t refused = 0;
    for (uint32_t i = 0; i < THREADS; i++) {
        pthread_join(takers[i].thread, NULL);
        assert_int_equal(takers[i].mistakes, 0);
        refused += takers[i].refused;
        free(takers[i].scratch.counters);
        free(takers[i].live);
    }
    free(takers);
    struct hot_stats stats = bed_stats(&world->bed);
    print_message(
        "%llu waited, %llu refused; loads %llu items, %llu reactions, shared %llu; evicted "
        "%llu users, %llu items, expired %llu\n",
        (unsigned long long)world->waited, (unsigned long long)refused,
        (unsigned long long)stats.item_loads, (unsigned long long)stats.reaction_loads,
        (unsigned long long)stats.shared_loads, (unsigned long long)stats.evicted_users,
        (unsigned long long)stats.evicted_items, (unsigned long long)stats.expired_items);
    assert_true(memory_used(&world->bed.budget) <= world->bed.budget.limit);
}

static void run_threads(struct shape shape, uint64_t operations, bool expire)
{
    struct chance chance = {test_seed()};
    struct hot_memory_options options = bed_options();
    options.exclusive = &exclusive_0_and_2;
    options.shelf_max = 8;
    if (expire) {
        options.item_ttl_s = 1;  /* as soon as the keeper has come by three times, */
        options.shelf_age_s = 1; /* and at once */
    }
    struct world *world = calloc(1, sizeof(*world));
    world->shape = shape;
    pthread_mutex_init(&world->lock, NULL);
    pthread_cond_init(&world->freed, NULL);
    bed_open_stored(&world->bed, shape.limit, options);
    assert_true(keeper_start(hot_memory_of(world->bed.hot)));
    pthread_t projector;
    pthread_t nagger;
    assert_int_equal(pthread_create(&projector, NULL, carry, world), 0);
    assert_int_equal(pthread_create(&nagger, NULL, nag, world), 0);
    run_takers(world, &chance, operations);
    atomic_store(&world->stopping, true);
    pthread_join(projector, NULL);
    pthread_join(nagger, NULL);
    keeper_stop(hot_memory_of(world->bed.hot));
    check_end(world, options);
    bed_close(&world->bed);
    pthread_cond_destroy(&world->freed);
    pthread_mutex_destroy(&world->lock);
    free(world);
}

static void test_few_users_and_items(void **state)
{
    (void)state;
    run_threads(
        (struct shape){
            .own_users = 4, .shared_users = 4, .items = 60, .slots = 60, .limit = MIB(64)},
        test_operations(400000), true);
}

static void test_more_than_fits(void **state)
{
    (void)state;
    run_threads(
        (struct shape){
            .own_users = 3000, .shared_users = 50, .items = 60000, .slots = 16, .limit = MIB(12)},
        test_operations(400000), false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few_users_and_items),
        cmocka_unit_test(test_more_than_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
