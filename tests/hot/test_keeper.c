/*
 * The keeper, with the time given to it: what expires and when, what goes under pressure, and that
 * what is not clean never does.
 */
#include "support.h"

enum {
    LIKE = NAME_INDEX_LIKE,
    VIEW = 9,
    TTL_S = 1000,
    AGE_S = 1600,
    CUT_S = 30,
    START_S = 1000000
};

static const struct item video = {.id = {.lo = 42}};
static const struct id ann = {.lo = 7};

static void open_timed(struct bed *bed, uint64_t limit)
{
    struct hot_memory_options options = bed_options();
    options.item_ttl_s = TTL_S;
    options.shelf_age_s = AGE_S;
    bed_open_stored(bed, limit, options);
    bed_keep(bed, START_S);
}

static void settle(struct bed *bed)
{
    bed_add(bed, (struct item){.id = {.lo = 999}}, VIEW, 1);
    bed_project_all(bed);
}

static void test_rows_expire_in_time(void **state)
{
    (void)state;
    for (uint32_t used_s = START_S; used_s < START_S + TTL_S; used_s += 130) {
        struct bed bed;
        uint32_t now_s = START_S;
        open_timed(&bed, MIB(64));
        bed_add(&bed, video, VIEW, 5);
        settle(&bed);
        for (; now_s < used_s; now_s += 10)
            bed_keep(&bed, now_s);
        assert_int_equal(bed_count(&bed, video, VIEW), 5); /* the last use */
        for (; now_s < used_s + TTL_S; now_s += 10) {
            bed_keep(&bed, now_s);
            assert_true(bed_has_item(&bed, video));
        }
        for (; now_s <= used_s + TTL_S * 3 / 2 + 10; now_s += 10)
            bed_keep(&bed, now_s);
        assert_false(bed_has_item(&bed, video));
        assert_true(bed_stats(&bed).expired_items >= 1);
        assert_int_equal(bed_count(&bed, video, VIEW), 5);
        bed_close(&bed);
    }
}

/* Also where the time to live is hardly longer than the rounds. */
static void test_rows_with_little_time_have_all_of_it(void **state)
{
    (void)state;
    enum { ROUND_MS = 100 };
    for (uint32_t ttl_s = 1; ttl_s <= 3; ttl_s++)
        for (uint64_t used_ms = ROUND_MS; used_ms <= ttl_s * 1000; used_ms += ROUND_MS) {
            struct bed bed;
            struct hot_memory_options options = bed_options();
            options.item_ttl_s = ttl_s;
            bed_open_stored(&bed, MIB(64), options);
            struct hot_memory *hot = hot_memory_of(bed.hot);
            uint64_t now_ms = 1000ULL * START_S;
            uint64_t used = now_ms + used_ms;
            bed_add(&bed, video, VIEW, 5);
            settle(&bed);
            for (; now_ms < used; now_ms += ROUND_MS)
                keeper_round(hot, now_ms);
            assert_int_equal(bed_count(&bed, video, VIEW), 5); /* the last use */
            for (; now_ms < used + ttl_s * 1000; now_ms += ROUND_MS) {
                keeper_round(hot, now_ms);
                assert_true(bed_has_item(&bed, video));
            }
            for (; now_ms <= used + ttl_s * 1500 + ROUND_MS; now_ms += ROUND_MS)
                keeper_round(hot, now_ms);
            assert_false(bed_has_item(&bed, video));
            bed_close(&bed);
        }
}

static void test_what_is_not_projected_does_not_expire(void **state)
{
    (void)state;
    struct bed bed;
    open_timed(&bed, MIB(64));
    bed_change(&bed, HOT_SET, ann, LIKE, video, START_S);
    for (uint32_t now_s = START_S; now_s < START_S + 10 * AGE_S; now_s += 100)
        bed_keep(&bed, now_s);
    assert_true(bed_has_item(&bed, video) && bed_has_user(&bed, ann));
    bed_project_all(&bed); /* its own unit is not over */
    bed_keep(&bed, START_S + 11 * AGE_S);
    assert_true(bed_has_item(&bed, video) && bed_has_user(&bed, ann));
    settle(&bed);
    for (uint32_t now_s = START_S + 12 * AGE_S; now_s < START_S + 14 * AGE_S; now_s += 100)
        bed_keep(&bed, now_s);
    assert_false(bed_has_item(&bed, video) || bed_has_user(&bed, ann));
    assert_true(bed_ask(&bed, ann, LIKE, video));
    bed_close(&bed);
}

/* Reactions of one day after the other; only the end of the shelf is too old. */
static void test_old_ends_of_shelves_go(void **state)
{
    (void)state;
    enum { COUNT = 400, STEP_S = AGE_S / 100 };
    struct bed bed;
    open_timed(&bed, MIB(64));
    for (uint32_t i = 0; i < COUNT; i++)
        bed_change(&bed, HOT_SET, ann, LIKE, (struct item){.id = {.lo = 1 + i}},
                   START_S + i * STEP_S);
    settle(&bed);
    uint32_t now_s = START_S + COUNT * STEP_S;
    bed_keep(&bed, now_s);
    uint64_t left = bed_stats(&bed).reactions;
    assert_in_range(left, 100, 200);        /* those of the last AGE_S, and the rest of a chunk */
    bed_keep(&bed, now_s + AGE_S / 16 - 1); /* not due yet */
    assert_int_equal(bed_stats(&bed).reactions, left);
    for (uint32_t i = 0; i < COUNT; i++)
        assert_true(bed_ask(&bed, ann, LIKE, (struct item){.id = {.lo = 1 + i}}));
    assert_false(bed_ask(&bed, ann, LIKE, (struct item){.id = {.lo = 1 + COUNT}}));
    bed_close(&bed);
}

static void test_long_shelves_are_cut_once_clean(void **state)
{
    (void)state;
    struct bed bed;
    struct hot_memory_options options = bed_options();
    options.shelf_max = 10;
    bed_open_stored(&bed, MIB(64), options);
    bed_keep(&bed, START_S);
    for (uint32_t i = 0; i < 300; i++)
        bed_change(&bed, HOT_SET, ann, LIKE, (struct item){.id = {.lo = 1 + i}}, START_S);
    assert_int_equal(bed_stats(&bed).reactions, 300); /* pinned */
    bed_keep(&bed, START_S + CUT_S);
    assert_int_equal(bed_stats(&bed).reactions, 300);
    settle(&bed);
    bed_keep(&bed, START_S + 2 * CUT_S - 1);
    assert_int_equal(bed_stats(&bed).reactions, 300); /* not due yet */
    bed_keep(&bed, START_S + 2 * CUT_S);
    assert_int_equal(bed_stats(&bed).reactions, 10);
    for (uint32_t i = 0; i < 300; i++)
        assert_int_equal(
            bed_change(&bed, HOT_SET, ann, LIKE, (struct item){.id = {.lo = 1 + i}}, START_S), 0);
    bed_close(&bed);
}

static void test_cleared_are_forgotten_once_clean(void **state)
{
    (void)state;
    struct bed bed;
    open_timed(&bed, MIB(64));
    bed_change(&bed, HOT_SET, ann, LIKE, video, START_S);
    bed_change(&bed, HOT_CLEAR, ann, LIKE, video, START_S);
    bed_keep(&bed, START_S);
    assert_int_equal(bed_stats(&bed).cleared, 1);
    bed_project_all(&bed);
    bed_keep(&bed, START_S);
    assert_int_equal(bed_stats(&bed).cleared, 1);
    settle(&bed);
    bed_keep(&bed, START_S);
    assert_int_equal(bed_stats(&bed).cleared, 0);
    bed_close(&bed);
}

/* While a load is under way, what is projected after it began does not become clean. */
static void test_a_load_keeps_what_came_after(void **state)
{
    (void)state;
    struct bed bed;
    open_timed(&bed, MIB(64));
    struct loads *loads = &hot_memory_of(bed.hot)->loads;
    load_begin(loads, 3);
    uint32_t clean = loads_clean(loads);
    bed_change(&bed, HOT_SET, ann, LIKE, video, START_S);
    settle(&bed);
    assert_int_equal(loads_clean(loads), clean);
    bed_evict(&bed);
    assert_true(bed_has_item(&bed, video) && bed_has_user(&bed, ann));
    load_end(loads, 3);
    assert_true(loads_clean(loads) > clean);
    bed_evict(&bed);
    assert_false(bed_has_item(&bed, video) || bed_has_user(&bed, ann));
    bed_close(&bed);
}

struct count_clean {
    uint32_t clean;
    uint64_t rows;
};

static void count_clean_item(void *context, struct slab *slab, void *row)
{
    struct count_clean *count = context;
    (void)slab;
    count->rows += ((const struct item_row *)row)->stamp < count->clean;
}

static void count_clean_user(void *context, struct slab *slab, void *row)
{
    struct count_clean *count = context;
    const struct shelf *shelf = &((const struct user_row *)row)->first;
    bool clean = true;
    for (; shelf != NULL; shelf = shelf->next == 0 ? NULL : slab_at(slab, shelf->next))
        clean = clean && (!(shelf->flags & SHELF_USED) || shelf_stamp(slab, shelf) < count->clean);
    count->rows += clean;
}

static uint64_t clean_rows(struct bed *bed)
{
    struct hot_memory *hot = hot_memory_of(bed->hot);
    struct count_clean count = {.clean = loads_clean(&hot->loads)};
    for (uint32_t i = 0; i < LIMIT_SHARDS; i++) {
        table_visit(&hot->users[i].table, count_clean_user, &count);
        table_visit(&hot->items[i].table, count_clean_item, &count);
    }
    return count.rows;
}

/* One like of a new user; false: there is no memory, whatever the keeper does. */
static bool write_next(struct bed *bed, uint32_t *next)
{
    struct item item = item_number(*next);
    struct hot_request request = {.action = HOT_SET,
                                  .user = id_number(*next),
                                  .name = LIKE,
                                  .items = &item,
                                  .item_count = 1,
                                  .time_s = START_S};
    for (int i = 0; bed_run(bed, &request) == STATUS_NO_MEMORY && i < 4; i++)
        bed_keep(bed, START_S);
    assert_true(memory_used(&bed->budget) <= bed->budget.limit);
    if (request.status == STATUS_NO_MEMORY)
        return false;
    assert_int_equal(request.status, STATUS_OK);
    assert_int_equal(request.change.value, 1);
    ++*next;
    return true;
}

/* How many there is memory for. */
static uint64_t write_until_full(struct bed *bed, uint32_t *next)
{
    uint64_t count = 0;
    while (write_next(bed, next))
        count++;
    return count;
}

/* A write is refused when all is pinned, not before; and not for longer. */
static void test_refused_only_when_all_is_pinned(void **state)
{
    (void)state;
    struct bed bed;
    open_timed(&bed, MIB(14));
    uint32_t next = 0;
    assert_int_equal(hot_room(bed.hot), STATUS_OK);
    uint64_t first = write_until_full(&bed, &next);
    assert_true(first > 10000);
    for (int round = 0; round < 3; round++) {
        assert_int_equal(hot_room(bed.hot), STATUS_NO_MEMORY);
        bed_project_all(&bed);
        bed_keep(&bed, START_S);
        assert_int_equal(hot_room(bed.hot), STATUS_OK);
        assert_true(clean_rows(&bed) > first / 2);
        uint64_t more = write_until_full(&bed, &next);
        uint64_t rows = bed_stats(&bed).users + bed_stats(&bed).items;
        print_message("%llu, then %llu; %llu of %llu rows clean when refused\n",
                      (unsigned long long)first, (unsigned long long)more,
                      (unsigned long long)clean_rows(&bed), (unsigned long long)rows);
        assert_true(more > first / 2);
        assert_true(clean_rows(&bed) < rows / 20);
    }
    assert_true(bed_stats(&bed).evicted_users > first && bed_stats(&bed).evicted_items > first);
    for (uint32_t number = 0; number < next; number += 7)
        assert_int_equal(bed_change(&bed, HOT_SET, id_number(number), LIKE, item_number(number), 1),
                         0);
    bed_close(&bed);
}

/* All free room of a slab becomes cells of the smallest size, as after many moves with no memory left. */
static void crumble(struct slab *slab)
{
    uint32_t *cells = NULL;
    size_t count = 0;
    size_t capacity = 0;
    for (uint32_t cell; (cell = slab_alloc(slab, SLAB_UNIT)) != 0; cells[count++] = cell) {
        if (count < capacity)
            continue;
        capacity = capacity == 0 ? 1024 : 2 * capacity;
        cells = realloc(cells, capacity * sizeof(*cells));
        assert_non_null(cells);
    }
    while (count > 0)
        slab_free(slab, cells[--count], SLAB_UNIT);
    free(cells);
}

/* A like of one of few items by the next user; false: there is no memory, whatever the keeper does. */
static bool like_next(struct bed *bed, uint64_t *next)
{
    struct item item = {.id = {.lo = 100 + *next % 100}};
    struct hot_request request = {.action = HOT_SET,
                                  .user = {.lo = ++*next},
                                  .name = LIKE,
                                  .items = &item,
                                  .item_count = 1,
                                  .time_s = START_S};
    for (int i = 0; bed_run(bed, &request) == STATUS_NO_MEMORY && i < 4; i++)
        bed_keep(bed, START_S);
    return request.status == STATUS_OK;
}

/*
 * Connections have all that was left, and keep it; no free cell is large enough to move anything to, and
 * a few users here and there are not clean. Those that are can go all the same, and their room serves
 * whoever comes next.
 */
static void test_nothing_left_to_move_to(void **state)
{
    (void)state;
    struct bed bed;
    open_timed(&bed, MIB(14));
    struct hot_memory *hot = hot_memory_of(bed.hot);
    uint64_t next = 0;
    bed.budget.reserve = MIB(1);
    while (like_next(&bed, &next))
        continue;
    while (memory_charge_connection(&bed.budget, KIB(16)))
        continue;
    for (uint32_t i = 0; i < LIMIT_SHARDS; i++)
        crumble(&hot->users[i].slab);
    bed_project_all(&bed);
    for (uint64_t user = 1; user < next; user += 50) {
        struct item other = {.id = {.lo = 100 + (user + 50) % 100}};
        assert_int_equal(bed_change(&bed, HOT_SET, (struct id){.lo = user}, LIKE, other, START_S),
                         1);
    }
    uint64_t refused = 0;
    for (int i = 0; i < 5000; i++)
        refused += !like_next(&bed, &next);
    assert_int_equal(refused, 0);
    memory_release_connection(&bed.budget, atomic_load(&bed.budget.connections));
    bed_close(&bed);
}

/* Filters that are as large as they may be; the rest is the least that there may be. */
static void open_least(struct bed *bed, struct memory_budget *share)
{
    open_timed(bed, GIB(1));
    filters_free(bed->filters);
    *share = (struct memory_budget){.limit = GIB(1), .within = &bed->budget};
    bed->filters = filters_new(share, 1);
    hot_memory_of(bed->hot)->filters = bed->filters;
    share->limit = memory_used(share);
    bed->budget.limit = hot_memory_least(0) + share->limit;
}

/* With the least that a start insists on, every shard goes on; nothing is kept free for filters. */
static void test_the_least_is_enough(void **state)
{
    (void)state;
    struct bed bed;
    struct memory_budget share;
    uint32_t next = 0;
    open_least(&bed, &share);
    assert_int_equal(filters_room(bed.filters), 0);
    for (int round = 0; round < 40; round++) {
        for (uint32_t i = 0; i < 2000; i++)
            assert_true(write_next(&bed, &next));
        bed_project_all(&bed);
    }
    assert_true(bed_stats(&bed).evicted_users > 0);
    assert_true(bed_stats(&bed).users > 10000);
    bed_close(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_expire_in_time),
        cmocka_unit_test(test_rows_with_little_time_have_all_of_it),
        cmocka_unit_test(test_what_is_not_projected_does_not_expire),
        cmocka_unit_test(test_old_ends_of_shelves_go),
        cmocka_unit_test(test_long_shelves_are_cut_once_clean),
        cmocka_unit_test(test_cleared_are_forgotten_once_clean),
        cmocka_unit_test(test_a_load_keeps_what_came_after),
        cmocka_unit_test(test_refused_only_when_all_is_pinned),
        cmocka_unit_test(test_nothing_left_to_move_to),
        cmocka_unit_test(test_the_least_is_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
