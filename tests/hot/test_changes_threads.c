/*
 * Changes while everything moves: threads set and clear, one projects, and meanwhile a client takes
 * round after round. Times go on as the threads see fit, so a decision may carry an earlier one than
 * what others have recorded by then. Each round tells only what is new to it: what one of them had
 * missed would be wrong in the copy for ever, and that is looked at in the end.
 */
#include <sched.h>

#include "support.h"

enum { CHANGERS = 2, ITEMS = 50, USERS = 2, PAGE = 20, TYPE = 1, A_PAGE = 8 };

static struct bed bed;
static _Atomic bool ended;
static _Atomic uint32_t clock_s = 100;
static _Atomic uint64_t changes;
static _Atomic uint64_t allowed; /* of them, before the next page is read: so rounds end */

struct changer {
    uint64_t seed;
    unsigned worker;
    bool live[USERS][ITEMS]; /* of its own kind */
};

static enum status reach(void *context, uint64_t position, unsigned timeout_ms)
{
    (void)context;
    (void)timeout_ms;
    while (atomic_load(&hot_memory_of(bed.hot)->loads.applied) < position)
        sched_yield();
    return STATUS_OK;
}

static void run(struct hot_request *request, unsigned worker, struct hot_scratch *scratch)
{
    scratch->listed_used = 0;
    if (hot_try(bed.hot, request, 1, scratch) == 0)
        hot_memory_run_blocking(bed.hot, worker, request, 1, scratch);
    if (request->status != STATUS_OK) {
        print_message("%s\n", status_name(request->status));
        abort();
    }
}

static void *changing(void *argument)
{
    struct changer *changer = argument;
    struct chance chance = {changer->seed};
    struct hot_scratch scratch = {0};
    while (!atomic_load(&ended)) {
        if (atomic_load(&changes) >= atomic_load(&allowed)) {
            sched_yield();
            continue;
        }
        uint32_t user = chance_below(&chance, USERS), number = chance_below(&chance, ITEMS);
        bool *live = &changer->live[user][number];
        struct item item = {id_number(number), TYPE};
        if (chance_below(&chance, 3) == 0)
            atomic_fetch_add(&clock_s, 1);
        struct hot_request request = {.action = *live ? HOT_CLEAR : HOT_SET,
                                      .user = id_number(user),
                                      .name = (uint8_t)(2 + changer->worker),
                                      .items = &item,
                                      .item_count = 1,
                                      .time_s = atomic_load(&clock_s)};
        run(&request, changer->worker, &scratch);
        *live = !*live;
        atomic_fetch_add(&changes, 1);
    }
    return NULL;
}

static void *projecting(void *argument)
{
    (void)argument;
    while (!atomic_load(&ended)) {
        bed_project_all(&bed);
        sched_yield();
    }
    return NULL;
}

struct client {
    bool copy[CHANGERS][USERS][ITEMS];
    uint32_t since_s[USERS];
};

static uint32_t number_of(struct id id)
{
    uint32_t number = 0;
    while (!id_equal(id_number(number), id))
        number++;
    return number;
}

static void run_round(struct client *client, uint32_t user, struct hot_scratch *scratch)
{
    struct hot_request request = {.action = HOT_CHANGES,
                                  .user = id_number(user),
                                  .changes.limit = PAGE,
                                  .changes.since_s = client->since_s[user]};
    do {
        run(&request, 0, scratch);
        atomic_store(&allowed, atomic_load(&changes) + A_PAGE);
        for (uint32_t i = 0; i < request.changes.count; i++) {
            const struct store_listed *row = &scratch->listed[request.changes.first + i];
            client->copy[row->kind - 3][user][number_of(row->id)] = !row->cleared;
        }
    } while (request.changes.more);
    client->since_s[user] = request.changes.until_s;
}

static void test_rounds_while_all_moves(void **state)
{
    (void)state;
    static struct client client;
    static struct changer changers[CHANGERS];
    uint64_t seed = test_seed();
    struct hot_memory_options options = bed_options();
    options.shelf_max = 8;
    bed_open_stored(&bed, GIB(1), options);
    hot_memory_set_reach(bed.hot, reach, NULL);
    struct hot_scratch scratch = {0};
    pthread_t threads[CHANGERS + 1];
    for (unsigned i = 0; i < CHANGERS; i++) {
        changers[i].seed = seed + i;
        changers[i].worker = 1 + i;
        assert_int_equal(pthread_create(&threads[i], NULL, changing, &changers[i]), 0);
    }
    assert_int_equal(pthread_create(&threads[CHANGERS], NULL, projecting, NULL), 0);
    uint64_t enough = test_operations(30000);
    for (uint32_t i = 0; atomic_load(&changes) < enough; i++)
        run_round(&client, i % USERS, &scratch);
    atomic_store(&ended, true);
    for (int i = 0; i <= CHANGERS; i++)
        pthread_join(threads[i], NULL);
    bed_project_all(&bed);
    for (uint32_t user = 0; user < USERS; user++)
        run_round(&client, user, &scratch);
    for (unsigned i = 0; i < CHANGERS; i++)
        assert_memory_equal(client.copy[i], changers[i].live, sizeof changers[i].live);
    free(scratch.listed);
    bed_close(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounds_while_all_moves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
