/*
 * FORGET and DROP while everything moves: users set and clear, the projector carries it on, one
 * thread forgets a user of its own again and again, and one drops the items that all of them react
 * to. In the journal each reaction is set and cleared in turn, so nothing was removed twice; and what
 * is live in the end is what the journal says.
 */
#include <sched.h>

#include "support.h"

enum { USERS = 5, ITEMS = 24, OWN = USERS, OWN_EACH = 70 };

static struct bed bed;
static _Atomic bool ended;
static _Atomic uint64_t drops;

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            print_error("not so: %s, line %d\n", #condition, __LINE__);                            \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

static enum status reach(void *context, uint64_t position, unsigned timeout_ms)
{
    struct hot_memory *hot = hot_memory_of(bed.hot);
    (void)context;
    (void)timeout_ms;
    while (atomic_load(&hot->loads.applied) < position && !atomic_load(&ended))
        sched_yield();
    return atomic_load(&hot->loads.applied) >= position ? STATUS_OK : STATUS_LAGGING;
}

static struct item shared_item(uint32_t number)
{
    return (struct item){id_number(number), (uint16_t)(number % 2)};
}

static void run(unsigned worker, struct hot_request *request, struct hot_scratch *scratch)
{
    scratch->used = 0;
    if (hot_try(bed.hot, request, 1, scratch) == 0)
        hot_memory_run_blocking(bed.hot, worker, request, 1, scratch);
}

static int64_t change(unsigned worker, enum hot_action action, uint32_t user, uint8_t kind,
                      struct item item, struct hot_scratch *scratch)
{
    struct hot_request request = {.action = action,
                                  .user = id_number(user),
                                  .name = kind,
                                  .items = &item,
                                  .item_count = 1,
                                  .time_s = 100};
    run(worker, &request, scratch);
    MUST(request.status == STATUS_OK);
    return request.change.value;
}

static bool ask(unsigned worker, uint32_t user, uint8_t kind, struct item item,
                struct hot_scratch *scratch)
{
    struct hot_answer answer;
    struct hot_request request = {.action = HOT_ASK,
                                  .user = id_number(user),
                                  .name = kind,
                                  .items = &item,
                                  .item_count = 1,
                                  .time_s = 100,
                                  .read.answers = &answer};
    run(worker, &request, scratch);
    MUST(request.status == STATUS_OK);
    return kind_set_has(&answer.kinds, kind);
}

static void *changer(void *argument)
{
    struct chance chance = {*(const uint64_t *)argument};
    struct hot_scratch scratch = {0};
    while (!atomic_load(&ended))
        change(2, chance_below(&chance, 4) ? HOT_SET : HOT_CLEAR, chance_below(&chance, USERS),
               (uint8_t)(2 * chance_below(&chance, 2)), shared_item(chance_below(&chance, ITEMS)),
               &scratch);
    free(scratch.counters);
    return NULL;
}

static void *dropper(void *argument)
{
    struct chance chance = {*(const uint64_t *)argument ^ 1};
    struct hot_scratch scratch = {0};
    while (!atomic_load(&ended)) {
        struct item item = shared_item(chance_below(&chance, ITEMS));
        struct hot_request request = {.action = HOT_DROP,
                                      .items = &item,
                                      .item_count = 1,
                                      .remove.limit = 1 + chance_below(&chance, 9),
                                      .time_s = 100};
        run(1, &request, &scratch);
        MUST(request.status == STATUS_OK || request.status == STATUS_LAGGING);
        atomic_fetch_add(&drops, request.status == STATUS_OK && request.remove.removed > 0);
    }
    free(scratch.counters);
    return NULL;
}

static void *projecting(void *argument)
{
    (void)argument;
    while (!atomic_load(&ended))
        bed_project_all(&bed);
    return NULL;
}

static void forget_own(struct chance *chance, struct hot_scratch *scratch)
{
    uint32_t left = OWN_EACH;
    for (uint32_t i = 0; i < OWN_EACH; i++)
        change(0, HOT_SET, OWN, (uint8_t)(i % 3), shared_item(i % ITEMS), scratch);
    struct hot_request request = {.action = HOT_FORGET,
                                  .user = id_number(OWN),
                                  .remove.limit = 1 + chance_below(chance, OWN_EACH + 1),
                                  .time_s = 100};
    do {
        run(0, &request, scratch);
        MUST(request.status == STATUS_OK && (uint64_t)request.remove.removed <= left);
        left -= (uint32_t)request.remove.removed;
    } while (request.remove.more);
    for (uint32_t i = 0; i < OWN_EACH; i++)
        MUST(!ask(0, OWN, (uint8_t)(i % 3), shared_item(i % ITEMS), scratch));
}

/* What the journal says is live; each is set and cleared in turn. */
static bool live[USERS + 1][3][ITEMS];

static uint32_t number_of(struct id id, uint32_t end)
{
    for (uint32_t i = 0; i < end; i++)
        if (id_equal(id_number(i), id))
            return i;
    fail_msg("nobody has this id");
    return 0;
}

static void read_journal(void)
{
    for (size_t i = 0; i < bed.recorder.count; i++) {
        const struct event *event = &bed.recorder.events[i];
        bool *one =
            &live[number_of(event->user, USERS + 1)][event->name][number_of(event->item.id, ITEMS)];
        assert_int_equal(event->type, *one ? EVENT_CLEAR : EVENT_SET);
        *one = !*one;
    }
}

static void check_end(struct hot_scratch *scratch)
{
    for (uint32_t item = 0; item < ITEMS; item++)
        for (uint8_t kind = 0; kind < 3; kind++) {
            int64_t count = 0;
            for (uint32_t user = 0; user <= USERS; user++) {
                assert_int_equal(ask(0, user, kind, shared_item(item), scratch),
                                 live[user][kind][item]);
                count += live[user][kind][item];
            }
            assert_int_equal(bed_count(&bed, shared_item(item), kind), count);
        }
}

static void test_while_all_moves(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    struct chance chance = {seed ^ 2};
    struct hot_memory_options options = bed_options();
    options.shelf_max = 5;
    bed_open_stored(&bed, GIB(1), options);
    hot_memory_set_reach(bed.hot, reach, NULL);
    struct hot_scratch scratch = {0};
    pthread_t threads[3];
    crew_start(threads, (crew_fn *const[]){changer, dropper, projecting}, 3, &seed);
    for (uint64_t i = test_operations(1000); i > 0 || atomic_load(&drops) < 20; i -= i > 0)
        forget_own(&chance, &scratch);
    atomic_store(&ended, true);
    crew_join(threads, 3);
    read_journal();
    check_end(&scratch);
    free(scratch.counters);
    bed_close(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_while_all_moves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
