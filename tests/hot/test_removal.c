/*
 * FORGET and DROP against a model that only knows which reactions are live and what the counters
 * are. What a call did is taken from the journal: every event of it must be the clearing of a live
 * reaction of that user or item, or take a counter of that item to 0, and there are as many as it
 * answered. When it says that all is gone, the model has nothing left. Between calls others change
 * what they like, the projector is behind, all that is clean goes, and after a crash the store is
 * back at its last flush.
 */
#include "support.h"

enum {
    USERS = 12,
    ITEMS = 90, /* of two types and both widths */
    KINDS = 3,
    COUNTERS = 2,
};

static const uint8_t kinds[KINDS] = {NAME_INDEX_LIKE, 2, 249};
static const uint8_t counters[COUNTERS] = {5, 200};

struct world {
    struct bed bed;
    struct chance chance;
    bool live[USERS][KINDS][ITEMS];
    int64_t values[ITEMS][COUNTERS];
    uint32_t clock_s;
    uint64_t finished; /* removals that took more than one call */
    uint64_t refused;  /* by the journal, before anything was removed */
};

/*
 * A journal that admits so many pieces and no more, and sees that no more is written than was
 * admitted. BLOCKED as a refusal stands for a removal whose time is over; it always has one piece.
 */
struct gate {
    struct bed *bed;
    uint32_t pieces; /* that it still admits */
    enum status refusal;
    size_t allowed; /* events there may be by now */
};

static enum status admit(void *context)
{
    struct gate *gate = context;
    assert_true(recorder_count(&gate->bed->recorder) <= gate->allowed);
    if (gate->pieces == 0)
        return gate->refusal;
    gate->pieces--;
    gate->allowed = recorder_count(&gate->bed->recorder) + LIMIT_BATCH;
    return STATUS_OK;
}

/* Until gate_close it is asked for every piece. */
static void gate_open(struct gate *gate, struct bed *bed, uint32_t pieces, enum status refusal)
{
    bool timed = refusal == STATUS_BLOCKED && pieces < 1000;
    *gate = (struct gate){.bed = bed,
                          .pieces = timed ? 1 : pieces,
                          .refusal = refusal,
                          .allowed = recorder_count(&bed->recorder)};
    bed->recorder.admit = admit;
    bed->recorder.context = gate;
    if (timed)
        hot_memory_of(bed->hot)->admission.pieces_ns = 0;
}

static void gate_close(struct gate *gate)
{
    gate->bed->recorder.admit = NULL;
    hot_memory_of(gate->bed->hot)->admission.pieces_ns = BED_PIECES_NS;
}

static void world_open(struct world *world, uint32_t shelf_max)
{
    struct hot_memory_options options = bed_options();
    options.shelf_max = shelf_max;
    world->chance.state = test_seed();
    world->clock_s = 1000;
    bed_open_stored(&world->bed, GIB(1), options);
    hot_memory_set_reach(world->bed.hot, bed_reach, &world->bed);
}

static uint32_t left_of_user(const struct world *world, uint32_t user)
{
    uint32_t left = 0;
    for (int kind = 0; kind < KINDS; kind++)
        for (uint32_t item = 0; item < ITEMS; item++)
            left += world->live[user][kind][item];
    return left;
}

static uint32_t count_of(const struct world *world, int kind, uint32_t item)
{
    uint32_t count = 0;
    for (uint32_t user = 0; user < USERS; user++)
        count += world->live[user][kind][item];
    return count;
}

static uint32_t left_of_item(const struct world *world, uint32_t item)
{
    uint32_t left = 0;
    for (int kind = 0; kind < KINDS; kind++)
        left += count_of(world, kind, item);
    for (int counter = 0; counter < COUNTERS; counter++)
        left += world->values[item][counter] != 0;
    return left;
}

static void check_all(struct world *world)
{
    struct bed *bed = &world->bed;
    for (uint32_t item = 0; item < ITEMS; item++) {
        for (int kind = 0; kind < KINDS; kind++)
            assert_int_equal(bed_count(bed, item_number(item), kinds[kind]),
                             count_of(world, kind, item));
        for (int counter = 0; counter < COUNTERS; counter++)
            assert_int_equal(bed_count(bed, item_number(item), counters[counter]),
                             world->values[item][counter]);
    }
    for (uint32_t i = 0; i < 200; i++) {
        uint32_t user = chance_below(&world->chance, USERS);
        uint32_t item = chance_below(&world->chance, ITEMS);
        int kind = (int)chance_below(&world->chance, KINDS);
        assert_int_equal(bed_ask(bed, id_number(user), kinds[kind], item_number(item)),
                         world->live[user][kind][item]);
    }
}

static void change(struct world *world)
{
    struct chance *chance = &world->chance;
    uint32_t user = chance_below(chance, 3) == 0 ? 0 : chance_below(chance, USERS);
    uint32_t item = chance_below(chance, 3) == 0 ? 0 : chance_below(chance, ITEMS);
    world->clock_s += chance_below(chance, 20) == 0;
    if (chance_below(chance, 8) == 0) {
        int counter = (int)chance_below(chance, COUNTERS);
        int64_t delta = (int64_t)chance_below(chance, 9) - 4;
        world->values[item][counter] += delta;
        bed_add(&world->bed, item_number(item), counters[counter], delta);
        return;
    }
    int kind = (int)chance_below(chance, KINDS);
    bool set = chance_below(chance, 5) != 0;
    bool *live = &world->live[user][kind][item];
    assert_int_equal(bed_change(&world->bed, set ? HOT_SET : HOT_CLEAR, id_number(user),
                                kinds[kind], item_number(item), world->clock_s),
                     set != *live);
    *live = set;
}

static uint32_t number_of(const uint8_t *names, uint32_t count, uint8_t name)
{
    for (uint32_t i = 0; i < count; i++)
        if (names[i] == name)
            return i;
    fail_msg("nobody made the name %u", name);
    return 0;
}

static uint32_t user_number_of(struct id id)
{
    for (uint32_t i = 0; i < USERS; i++)
        if (id_equal(id_number(i), id))
            return i;
    fail_msg("nobody made this user");
    return 0;
}

static uint32_t item_number_of(struct item item)
{
    for (uint32_t i = 0; i < ITEMS; i++)
        if (item_equal(item_number(i), item))
            return i;
    fail_msg("nobody made this item");
    return 0;
}

/* What a call has recorded, taken over into the model. */
static void take_event(struct world *world, const struct hot_request *request,
                       const struct event *event)
{
    uint32_t item = item_number_of(event->item);
    if (request->action == HOT_DROP)
        assert_true(item_equal(event->item, request->items[0]));
    if (event->type == EVENT_ADD) {
        int64_t *value = &world->values[item][number_of(counters, COUNTERS, event->name)];
        assert_int_equal(request->action, HOT_DROP);
        assert_false(event->has_token);
        *value += event->delta;
        assert_int_equal(*value, 0);
        return;
    }
    assert_int_equal(event->type, EVENT_CLEAR);
    uint32_t user = user_number_of(event->user);
    if (request->action == HOT_FORGET)
        assert_true(id_equal(event->user, request->user));
    bool *live = &world->live[user][number_of(kinds, KINDS, event->name)][item];
    assert_true(*live);
    *live = false;
}

/* One call; false: all is gone. */
static bool remove_once(struct world *world, struct hot_request *request, struct gate *gate)
{
    struct recorder *recorder = &world->bed.recorder;
    size_t before = recorder_count(recorder);
    request->time_s = world->clock_s;
    enum status status = bed_run(&world->bed, request);
    gate_close(gate);
    size_t count = recorder_count(recorder) - before;
    if (status != STATUS_OK) {
        assert_int_equal(status, gate->refusal);
        assert_int_equal(count, 0);
        world->refused++;
        return true;
    }
    assert_int_equal(request->remove.removed, count);
    assert_true(request->remove.removed <= request->remove.limit);
    for (size_t i = before; i < before + count; i++)
        take_event(world, request, &recorder->events[i]);
    return request->remove.more;
}

static void open_some_gate(struct world *world, struct gate *gate)
{
    static const enum status refusals[] = {STATUS_LAGGING, STATUS_BLOCKED, STATUS_STOPPING};
    uint32_t pieces = chance_below(&world->chance, 3) == 0 ? chance_below(&world->chance, 3) : 1000;
    gate_open(gate, &world->bed, pieces, refusals[chance_below(&world->chance, 3)]);
}

/* Until all is gone, while others go on. */
static void remove_all(struct world *world, struct hot_request *request, uint32_t number)
{
    bool more;
    for (uint32_t calls = 1;; calls++) {
        request->remove.limit =
            1 + chance_below(&world->chance, chance_below(&world->chance, 2) ? 9 : 99);
        struct gate gate;
        open_some_gate(world, &gate);
        more = remove_once(world, request, &gate);
        if (!more) {
            world->finished += calls > 1;
            break;
        }
        for (uint32_t i = chance_below(&world->chance, 4); i > 0 && calls < 100; i--)
            change(world);
        bed_disturb(&world->bed, &world->chance, 16, world->clock_s);
        assert_true(calls < 1000);
    }
    assert_int_equal(request->action == HOT_FORGET ? left_of_user(world, number)
                                                   : left_of_item(world, number),
                     0);
}

static void remove_some(struct world *world)
{
    bool forget = chance_below(&world->chance, 2) == 0;
    uint32_t number =
        chance_below(&world->chance, 2) ? 0 : chance_below(&world->chance, forget ? USERS : ITEMS);
    struct item item = item_number(number);
    struct hot_request request = {.action = forget ? HOT_FORGET : HOT_DROP,
                                  .user = id_number(number),
                                  .items = forget ? NULL : &item,
                                  .item_count = !forget};
    remove_all(world, &request, number);
}

static void run_world(uint32_t shelf_max, uint64_t rounds)
{
    struct world *world = calloc(1, sizeof(*world));
    assert_non_null(world);
    world_open(world, shelf_max);
    /* With few rounds chance may have left one of the two out: then some more. */
    for (uint64_t i = 0; i < rounds || world->finished == 0 || world->refused == 0; i++) {
        for (uint32_t changes = chance_below(&world->chance, 200); changes > 0; changes--)
            change(world);
        bed_disturb(&world->bed, &world->chance, 16, world->clock_s);
        remove_some(world);
        if (i % 8 == 0)
            check_all(world);
    }
    check_all(world);
    bed_close(&world->bed);
    free(world);
}

static void test_tiny_shelves(void **state)
{
    (void)state;
    run_world(3, test_operations(250));
}

static void test_usual_shelves(void **state)
{
    (void)state;
    run_world(1000, test_operations(250));
}

/* A user with far more than a shelf, half of it known to the store alone: as many calls as it takes. */
static void test_many_in_few_calls(void **state)
{
    (void)state;
    enum { MANY = 5000 };
    struct bed bed;
    struct hot_memory_options options = bed_options();
    options.shelf_max = 50;
    bed_open_stored(&bed, GIB(1), options);
    hot_memory_set_reach(bed.hot, bed_reach, &bed);
    struct id user = {.lo = 5};
    struct item busy = {{.lo = 9}, 3};
    for (uint32_t i = 0; i < MANY; i++) {
        bed_change(&bed, HOT_SET, user, NAME_INDEX_LIKE, (struct item){{.lo = i}, 1}, 10 + i / 7);
        bed_change(&bed, HOT_SET, (struct id){.hi = i % 2, .lo = i}, 2, busy, 10 + i / 7);
        if (i == MANY / 2)
            bed_project_all(&bed);
    }
    struct hot_request requests[] = {
        {.action = HOT_FORGET, .user = user, .remove.limit = 1000},
        {.action = HOT_DROP, .items = &busy, .item_count = 1, .remove.limit = 1000}};
    for (size_t which = 0; which < 2; which++) {
        uint32_t calls = 0, removed = 0;
        do {
            assert_int_equal(bed_run(&bed, &requests[which]), STATUS_OK);
            removed += (uint32_t)requests[which].remove.removed;
            calls++;
        } while (requests[which].remove.more);
        assert_int_equal(removed, MANY);
        assert_in_range(calls, 5, 7);
    }
    assert_int_equal(bed_count(&bed, busy, 2), 0);
    bed_close(&bed);
}

/* What comes behind a walk's back, and is in the store alone by the time it goes on, goes too. */
static void test_what_comes_behind_a_mark(void **state)
{
    (void)state;
    struct bed bed;
    bed_open_stored(&bed, GIB(1), bed_options());
    hot_memory_set_reach(bed.hot, bed_reach, &bed);
    struct id user = {.lo = 5};
    struct item late = {{.lo = 7}, 1}, other = {{.lo = 8}, 1};
    for (uint32_t i = 0; i < 100; i++)
        bed_change(&bed, HOT_SET, user, 9, (struct item){{.lo = i}, 1}, 10 + i);
    bed_add(&bed, other, 5, 1); /* the newest event of all is never clean */
    bed_project_all(&bed);
    bed_evict(&bed);
    assert_false(bed_has_user(&bed, user));
    struct hot_request forget = {.action = HOT_FORGET, .user = user, .remove.limit = 40};
    assert_int_equal(bed_run(&bed, &forget), STATUS_OK);
    assert_int_equal(forget.remove.removed, 40);
    assert_true(forget.remove.more);
    bed_change(&bed, HOT_SET, user, 2, late, 200);
    bed_add(&bed, other, 5, 1);
    bed_project_all(&bed);
    bed_evict(&bed);
    assert_false(bed_has_user(&bed, user));
    forget.remove.limit = 1000;
    assert_int_equal(bed_run(&bed, &forget), STATUS_OK);
    assert_int_equal(forget.remove.removed, 61);
    assert_false(forget.remove.more);
    assert_false(bed_ask(&bed, user, 2, late));
    bed_close(&bed);
}

/* The ends of the range, and a counter that is kept by the server and not to be taken away. */
static void test_counters_of_any_value(void **state)
{
    (void)state;
    struct bed bed;
    bed_open_stored(&bed, GIB(1), bed_options());
    struct item item = {{.lo = 9}, 3};
    bed_add(&bed, item, 5, INT64_MIN);
    bed_add(&bed, item, 6, INT64_MAX);
    bed_add(&bed, item, NAME_INDEX_COMMENT, 4);
    for (uint8_t name = 10; name < 100; name++)
        bed_add(&bed, item, name, -name);
    struct hot_request drop = {
        .action = HOT_DROP, .items = &item, .item_count = 1, .remove.limit = 500};
    assert_int_equal(bed_run(&bed, &drop), STATUS_OK);
    assert_int_equal(drop.remove.removed, 93);
    assert_false(drop.remove.more);
    for (uint8_t name = 5; name < 100; name++)
        assert_int_equal(bed_count(&bed, item, name), 0);
    assert_int_equal(bed_count(&bed, item, NAME_INDEX_COMMENT), 4);
    bed_close(&bed);
}

/* Who reacted cannot be known while the store does not come up; what was removed is told first. */
static void test_a_store_that_is_behind(void **state)
{
    (void)state;
    struct bed bed;
    bed_open_stored(&bed, GIB(1), bed_options());
    struct item item = {{.lo = 9}, 3};
    struct hot_request drop = {
        .action = HOT_DROP, .items = &item, .item_count = 1, .remove.limit = 500};
    bed_change(&bed, HOT_SET, (struct id){.lo = 1}, NAME_INDEX_LIKE, item, 10);
    bed_add(&bed, item, 5, 1); /* the newest event of all is never clean */
    assert_int_equal(bed_run(&bed, &drop), STATUS_LAGGING);
    bed_project_all(&bed);
    bed_change(&bed, HOT_SET, (struct id){.lo = 1}, 2, item, 11);
    hot_memory_set_reach(bed.hot, bed_reach, &bed);
    assert_int_equal(bed_run(&bed, &drop), STATUS_OK);
    assert_int_equal(drop.remove.removed, 3);
    assert_false(drop.remove.more);
    bed_close(&bed);
}

static void test_without_a_store(void **state)
{
    (void)state;
    struct bed bed;
    bed_open(&bed, GIB(1), bed_options());
    struct id user = {.hi = 4, .lo = 5};
    struct item item = {{.lo = 1}, 1};
    for (uint32_t i = 0; i < 300; i++)
        bed_change(&bed, HOT_SET, user, (uint8_t)(i % 2 * 7), item_number(i), 10);
    bed_change(&bed, HOT_SET, (struct id){.lo = 5}, 0, item, 10);
    struct hot_request request = {.action = HOT_FORGET, .user = user, .remove.limit = 200};
    assert_int_equal(bed_run(&bed, &request), STATUS_OK);
    assert_int_equal(request.remove.removed, 200);
    assert_true(request.remove.more);
    assert_int_equal(bed_run(&bed, &request), STATUS_OK);
    assert_int_equal(request.remove.removed, 100);
    assert_false(request.remove.more);
    assert_int_equal(bed_stats(&bed).reactions, 1);
    request.action = HOT_DROP;
    request.items = &item;
    request.item_count = 1;
    assert_int_equal(bed_run(&bed, &request), STATUS_NO_STORE);
    bed_close(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tiny_shelves),
        cmocka_unit_test(test_usual_shelves),
        cmocka_unit_test(test_many_in_few_calls),
        cmocka_unit_test(test_what_comes_behind_a_mark),
        cmocka_unit_test(test_counters_of_any_value),
        cmocka_unit_test(test_a_store_that_is_behind),
        cmocka_unit_test(test_without_a_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
