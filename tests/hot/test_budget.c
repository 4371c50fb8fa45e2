/*
 * A hot tier that runs out of memory: each refused operation has left nothing behind, and what was
 * taken before is all there. The tier that replays the recorded events, with memory enough, is the
 * judge.
 */
#include "support.h"

enum { USERS = 4000, ITEMS = 6000, KINDS = 6, VIEW = 9 };

static const struct exclusive groups = {
    .group_of = {[0] = 1, [1] = 1},
    .group_count = 1,
    .groups = {{.count = 2, .kinds = {0, 1}}},
};

struct reactions {
    uint64_t count;
    uint64_t sum; /* of a hash of each: the order does not matter */
};

static void sum_reaction(void *context, struct id user, uint8_t kind, struct item item,
                         uint32_t time_s)
{
    struct reactions *reactions = context;
    reactions->count++;
    reactions->sum += hash_3(id_hash(user, kind), item_hash(item, 1), time_s);
}

static void sum_counter(void *context, struct item item, uint8_t name, int64_t value)
{
    struct reactions *reactions = context;
    reactions->sum += hash_3(item_hash(item, 2), name, (uint64_t)value);
}

static struct reactions sum_all(struct bed *bed)
{
    struct reactions reactions = {0};
    hot_memory_dump(bed->hot, &(struct hot_memory_visitor){.reaction = sum_reaction,
                                                           .counter = sum_counter,
                                                           .context = &reactions});
    return reactions;
}

static struct hot_request random_change(struct chance *chance, struct item *item)
{
    struct hot_request request = {.user = id_number(chance_below(chance, USERS)),
                                  .name = (uint8_t)chance_below(chance, KINDS),
                                  .items = item,
                                  .item_count = 1,
                                  .time_s = 1 + chance_below(chance, 50)};
    *item = item_number(chance_below(chance, ITEMS));
    uint32_t dice = chance_below(chance, 100);
    request.action = dice < 80 ? HOT_SET : dice < 85 ? HOT_CLEAR : HOT_ADD;
    if (request.action == HOT_ADD) {
        request.name = (uint8_t)(VIEW + chance_below(chance, 30));
        request.change.delta = chance_below(chance, 2) ? 1 : (int64_t)1 << 33;
        request.change.has_token = chance_below(chance, 2);
        request.change.token[0] = chance_next(chance);
    }
    return request;
}

static void check_same(struct bed *bed, struct hot_memory_options options)
{
    struct bed again;
    bed_open_quiet(&again, GIB(1), options);
    assert_int_equal(
        hot_memory_apply(again.hot, bed->recorder.events, bed->recorder.count, 1, 1000), STATUS_OK);
    struct hot_stats stats = bed_stats(bed);
    struct hot_stats expected = bed_stats(&again);
    assert_int_equal(stats.users, expected.users);
    assert_int_equal(stats.shelves, expected.shelves);
    assert_int_equal(stats.reactions, expected.reactions);
    assert_true(stats.items >= expected.items); /* refused additions may leave empty rows */
    assert_int_equal(stats.tokens, expected.tokens);
    struct reactions sum = sum_all(bed);
    struct reactions expected_sum = sum_all(&again);
    assert_int_equal(sum.count, expected_sum.count);
    assert_int_equal(sum.sum, expected_sum.sum);
    bed_close(&again);
}

static void run_out(uint64_t limit, uint32_t shelf_max, bool stored)
{
    struct chance chance = {test_seed()};
    struct hot_memory_options options = bed_options();
    options.shelf_max = shelf_max;
    options.exclusive = &groups;
    options.token_ttl_s = 5000;
    struct bed bed;
    if (stored)
        bed_open_stored(&bed, limit, options);
    else
        bed_open(&bed, limit, options);
    uint64_t refused = 0;
    uint64_t accepted_after = 0;
    for (uint32_t i = 0; i < 400000 && refused < 20000; i++) {
        struct item item;
        struct hot_request request = random_change(&chance, &item);
        size_t before = bed.recorder.count;
        enum status status = bed_run(&bed, &request);
        assert_true(status == STATUS_OK || status == STATUS_NO_MEMORY);
        if (status == STATUS_NO_MEMORY) {
            refused++;
            assert_int_equal(bed.recorder.count, before);
            if (request.action == HOT_SET)
                assert_false(bed_ask(&bed, request.user, request.name, item));
        } else if (refused != 0) {
            accepted_after++;
        }
        assert_true(memory_used(&bed.budget) <= limit);
    }
    print_message("refused %llu, accepted after the first %llu\n", (unsigned long long)refused,
                  (unsigned long long)accepted_after);
    assert_true(refused > 1000);
    assert_true(accepted_after > 0);
    check_same(&bed, options);
    bed_close(&bed);
}

static void test_long_shelves(void **state)
{
    (void)state;
    run_out(MIB(10), 1000, false);
}

/* Nothing is projected, so all of it is pinned, however short the shelves should be. */
static void test_a_store_that_lags(void **state)
{
    (void)state;
    run_out(MIB(14), 3, true);
}

static void test_hardly_any_memory(void **state)
{
    (void)state;
    run_out(MIB(2), 1000, false);
}

/* A store that cannot be read while it is told so; everything else is the real one's. */
struct fussy_store {
    struct store store;
    struct store *real;
    enum status status;
};

static enum status fussy_reactions(struct store_reader *reader, struct store_reaction *keys,
                                   size_t count)
{
    struct fussy_store *fussy = (struct fussy_store *)store_of_reader(reader);
    return fussy->status != STATUS_OK ? fussy->status
                                      : store_read_reactions(&fussy->real->reader, keys, count);
}

static enum status fussy_items(struct store_reader *reader, const struct store_snapshot *snapshot,
                               struct store_item *items, size_t count, struct store_values *values)
{
    struct fussy_store *fussy = (struct fussy_store *)store_of_reader(reader);
    return fussy->status != STATUS_OK
               ? fussy->status
               : store_read_items(&fussy->real->reader, snapshot, items, count, values);
}

static const struct store_reader_functions fussy_reader = {.read_reactions = fussy_reactions,
                                                           .read_items = fussy_items};

static struct hot_request numbered_like(enum hot_action action, struct item *item, uint64_t number)
{
    *item = (struct item){.id = {.lo = number}};
    struct hot_request request = {.action = action,
                                  .user = id_number(1),
                                  .name = 3,
                                  .items = item,
                                  .item_count = 1,
                                  .time_s = 5};
    if (action == HOT_ADD)
        request.change.delta = 1;
    return request;
}

/* Refused over and over: the same error each time, nothing changed, no memory lost. */
static void check_refused(struct bed *bed, enum hot_action action, uint64_t number,
                          enum status expected)
{
    struct item item;
    struct hot_answer answer;
    struct hot_request request = numbered_like(action, &item, number);
    hot_request_set_answers(&request, &answer);
    assert_int_equal(bed_run(bed, &request), expected);
    uint64_t used = memory_used(&bed->budget);
    size_t events = bed->recorder.count;
    for (uint32_t i = 0; i < 20000; i++)
        assert_int_equal(bed_run(bed, &request), expected);
    assert_int_equal(memory_used(&bed->budget), used);
    assert_int_equal(bed->recorder.count, events);
}

static void test_a_store_that_refuses(void **state)
{
    (void)state;
    struct bed bed;
    struct fussy_store fussy = {.store.reader = {&fussy_reader}};
    struct item item;
    bed_open_stored(&bed, MIB(64), bed_options());
    for (uint64_t number = 1; number <= 8; number++) {
        struct hot_request request = numbered_like(HOT_SET, &item, number);
        assert_int_equal(bed_run(&bed, &request), STATUS_OK);
    }
    struct item other = {.id = {.lo = 100}};
    bed_add(&bed, other, 9, 1); /* so that all before it are clean */
    bed_project_all(&bed);
    bed_evict(&bed);
    assert_false(bed_has_user(&bed, id_number(1)));
    assert_false(bed_has_item(&bed, (struct item){.id = {.lo = 1}}));
    fussy.real = bed.store;
    fussy.status = STATUS_IO_FAILED;
    hot_memory_of(bed.hot)->store = &fussy.store.reader;
    const enum hot_action actions[] = {HOT_SET, HOT_CLEAR, HOT_ADD, HOT_ASK, HOT_COUNTS, HOT_FEED};
    for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
        check_refused(&bed, actions[i], 1, STATUS_IO_FAILED);
    assert_int_equal(bed_stats(&bed).reactions, 0);
    fussy.status = STATUS_OK;
    assert_int_equal(bed_count(&bed, (struct item){.id = {.lo = 1}}, 3), 1);
    struct hot_request request = numbered_like(HOT_SET, &item, 1);
    assert_int_equal(bed_run(&bed, &request), STATUS_OK);
    assert_int_equal(request.change.value, 0);
    request = numbered_like(HOT_CLEAR, &item, 1);
    assert_int_equal(bed_run(&bed, &request), STATUS_OK);
    assert_int_equal(request.change.value, 1);
    hot_memory_of(bed.hot)->store = &bed.store->reader;
    bed_close(&bed);
}

/* The reaction is known, its item's counters cannot be had: asking for them leaves nothing. */
static void test_waiting_for_an_item_takes_no_memory(void **state)
{
    (void)state;
    struct bed bed;
    struct fussy_store fussy = {.store.reader = {&fussy_reader}};
    struct item item;
    bed_open_stored(&bed, MIB(64), bed_options());
    struct hot_request request = numbered_like(HOT_SET, &item, 1);
    assert_int_equal(bed_run(&bed, &request), STATUS_OK);
    bed_add(&bed, (struct item){.id = {.lo = 100}}, 9, 1);
    bed_project_all(&bed);
    struct hot_memory *hot = hot_memory_of(bed.hot);
    bed_evict_item(&bed, item);
    assert_false(bed_has_item(&bed, item));
    assert_true(bed_has_user(&bed, id_number(1)));
    fussy.real = bed.store;
    fussy.status = STATUS_IO_FAILED;
    hot->store = &fussy.store.reader;
    /* what was cleared and is not clean yet keeps what came after it from expiring */
    bed_change(&bed, HOT_SET, id_number(1), 3, (struct item){.id = {.lo = 2}}, 6);
    bed_change(&bed, HOT_CLEAR, id_number(1), 3, (struct item){.id = {.lo = 2}}, 7);
    check_refused(&bed, HOT_CLEAR, 1, STATUS_IO_FAILED);
    fussy.status = STATUS_OK;
    request = numbered_like(HOT_CLEAR, &item, 1);
    assert_int_equal(bed_run(&bed, &request), STATUS_OK);
    assert_int_equal(request.change.value, 1);
    assert_int_equal(bed_count(&bed, item, 3), 0);
    hot->store = &bed.store->reader;
    bed_close(&bed);
}

static void test_too_little_to_open(void **state)
{
    (void)state;
    struct memory_budget budget = {.limit = 1000};
    struct hot_memory_options options = bed_options();
    options.budget = &budget;
    assert_null(hot_memory_open(&options));
    assert_int_equal(memory_used(&budget), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_long_shelves),
        cmocka_unit_test(test_a_store_that_lags),
        cmocka_unit_test(test_hardly_any_memory),
        cmocka_unit_test(test_a_store_that_refuses),
        cmocka_unit_test(test_waiting_for_an_item_takes_no_memory),
        cmocka_unit_test(test_too_little_to_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
