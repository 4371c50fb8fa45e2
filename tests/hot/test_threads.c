/*
 * Eight threads on one hot tier. Each owns some users, whose answers it predicts exactly; all share
 * some users and every item. At the end the tier must be what its recorded events make of a fresh
 * one, and every count the number of live reactions.
 */
#include "support.h"

enum {
    THREADS = 8,
    OWN_USERS = 6,
    SHARED_USERS = 5,
    USERS = THREADS * OWN_USERS + SHARED_USERS,
    ITEMS = 120,
    KINDS = 4,
    VIEW = 9,
    TOKENS = 512,
    PAGE = 40,
};

struct worker {
    pthread_t thread;
    struct bed *bed;
    struct chance chance;
    uint32_t number;
    uint64_t operations;
    uint64_t mistakes;
    int64_t added; /* to the counters VIEW, without tokens */
    uint8_t live[OWN_USERS][ITEMS][KINDS];
    struct hot_scratch scratch;
};

static uint32_t own_user(const struct worker *worker, uint32_t index)
{
    return worker->number * OWN_USERS + index;
}

struct page {
    uint32_t user; /* index among own users, or OWN_USERS: a shared one */
    uint32_t items[PAGE];
    struct item real_items[PAGE];
    struct hot_answer answers[PAGE];
};

static void fill(struct worker *worker, struct hot_request *request, struct page *page)
{
    struct chance *chance = &worker->chance;
    static const enum hot_action mix[] = {HOT_SET,   HOT_SET, HOT_SET, HOT_SET,    HOT_CLEAR,
                                          HOT_CLEAR, HOT_ADD, HOT_ASK, HOT_COUNTS, HOT_FEED};
    *request = (struct hot_request){.action = mix[chance_below(chance, 10)],
                                    .status = STATUS_COUNT,
                                    .name = (uint8_t)chance_below(chance, KINDS),
                                    .time_s = 1000,
                                    .item_count = 1,
                                    .items = page->real_items};
    hot_request_set_answers(request, page->answers);
    page->user = chance_below(chance, 4) == 0 ? OWN_USERS : chance_below(chance, OWN_USERS);
    request->user =
        id_number(page->user == OWN_USERS ? THREADS * OWN_USERS + chance_below(chance, SHARED_USERS)
                                          : own_user(worker, page->user));
    if (request->action >= HOT_ASK)
        request->item_count = 1 + chance_below(chance, PAGE);
    for (uint32_t i = 0; i < request->item_count; i++) {
        page->items[i] = chance_below(chance, ITEMS);
        page->real_items[i] = item_number(page->items[i]);
    }
    if (request->action == HOT_ADD) {
        request->name = VIEW;
        request->change.delta = (int64_t)chance_below(chance, 100) - 30;
        request->change.has_token = chance_below(chance, 2);
        request->change.token[0] = chance_below(chance, TOKENS);
        if (request->change.has_token) { /* the threads race to use each token, once for all */
            request->name = VIEW + 1;
            request->change.delta = 1;
            page->real_items[0] = item_number((uint32_t)request->change.token[0] % ITEMS);
        }
    }
}

static int64_t predict(struct worker *worker, const struct hot_request *request,
                       const struct page *page)
{
    uint8_t *live = worker->live[page->user][page->items[0]];
    bool was = live[request->name];
    live[request->name] = request->action == HOT_SET;
    if (request->action == HOT_SET && request->name % 2 == 0)
        live[2 - request->name] = 0;
    return request->action == HOT_SET ? !was : was;
}

static void judge(struct worker *worker, const struct hot_request *request, const struct page *page)
{
    worker->mistakes += request->status != STATUS_OK;
    if (request->action == HOT_ADD && !request->change.has_token)
        worker->added += request->change.delta;
    if (page->user == OWN_USERS)
        return;
    if (request->action == HOT_SET || request->action == HOT_CLEAR)
        worker->mistakes += request->change.value != predict(worker, request, page);
    if (request->action != HOT_ASK && request->action != HOT_FEED)
        return;
    for (uint32_t i = 0; i < request->item_count; i++)
        for (uint32_t kind = 0; kind < KINDS; kind++) {
            bool live = worker->live[page->user][page->items[i]][kind];
            if (request->action == HOT_ASK && kind != request->name)
                live = false;
            worker->mistakes += kind_set_has(&page->answers[i].kinds, (uint8_t)kind) != live;
        }
}

static void *work(void *context)
{
    struct worker *worker = context;
    struct hot_request requests[16];
    struct page *pages = calloc(16, sizeof(*pages));
    for (uint64_t done = 0; done < worker->operations;) {
        uint32_t count = 1 + chance_below(&worker->chance, 16);
        for (uint32_t i = 0; i < count; i++)
            fill(worker, &requests[i], &pages[i]);
        worker->scratch.used = 0;
        hot_try(worker->bed->hot, requests, count, &worker->scratch);
        for (uint32_t i = 0; i < count; i++)
            judge(worker, &requests[i], &pages[i]);
        done += count;
    }
    free(pages);
    return NULL;
}

/* Asks both tiers about everything. */
static void check_same(struct bed *bed, struct bed *again)
{
    for (uint32_t number = 0; number < ITEMS; number++) {
        struct item item = item_number(number);
        for (uint32_t index = 0; index < KINDS; index++) {
            uint8_t kind = (uint8_t)index;
            int64_t live = 0;
            for (uint32_t user = 0; user < USERS; user++) {
                bool here = bed_ask(bed, id_number(user), kind, item);
                assert_int_equal(here, bed_ask(again, id_number(user), kind, item));
                live += here;
            }
            assert_int_equal(bed_count(bed, item, kind), live);
        }
        for (uint32_t name = 0; name <= VIEW + 1; name++)
            assert_int_equal(bed_count(bed, item, (uint8_t)name),
                             bed_count(again, item, (uint8_t)name));
    }
}

static void check_additions(struct bed *bed, const struct worker *workers)
{
    int64_t added = 0;
    int64_t there = 0;
    int64_t tokens = 0;
    uint8_t used[TOKENS] = {0};
    for (uint32_t i = 0; i < THREADS; i++)
        added += workers[i].added;
    for (size_t i = 0; i < bed->recorder.count; i++) {
        const struct event *event = &bed->recorder.events[i];
        if (event->type == EVENT_ADD && event->has_token)
            assert_int_equal(used[event->token[0]]++, 0);
    }
    for (uint32_t number = 0; number < ITEMS; number++) {
        there += bed_count(bed, item_number(number), VIEW);
        tokens += bed_count(bed, item_number(number), VIEW + 1);
    }
    assert_int_equal(there, added);
    for (uint32_t i = 0; i < TOKENS; i++)
        tokens -= used[i];
    assert_int_equal(tokens, 0);
}

static void run_threads(uint32_t shelf_max, uint64_t operations)
{
    struct chance chance = {test_seed()};
    struct hot_memory_options options = bed_options();
    options.exclusive = &exclusive_0_and_2;
    options.shelf_max = shelf_max;
    struct bed bed;
    struct bed again;
    bed_open(&bed, MIB(256), options);
    struct worker *workers = calloc(THREADS, sizeof(*workers));
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i].bed = &bed;
        workers[i].number = i;
        workers[i].chance.state = chance_next(&chance);
        workers[i].operations = operations / THREADS;
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    for (uint32_t i = 0; i < THREADS; i++) {
        assert_int_equal(workers[i].mistakes, 0);
        free(workers[i].scratch.counters);
    }
    bed_open_quiet(&again, MIB(256), options);
    assert_int_equal(hot_memory_apply(again.hot, bed.recorder.events, bed.recorder.count, 1, 1000),
                     STATUS_OK);
    check_same(&bed, &again);
    check_additions(&bed, workers);
    free(workers);
    bed_close(&again);
    bed_close(&bed);
}

static void test_tiny_shelves(void **state)
{
    (void)state;
    run_threads(8, test_operations(1000000) / 2);
}

static void test_usual_shelves(void **state)
{
    (void)state;
    run_threads(1000, test_operations(1000000) / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tiny_shelves),
        cmocka_unit_test(test_usual_shelves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
