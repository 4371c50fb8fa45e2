/*
 * Heads: what is read of the store, how often, and what happens if rows change while they are read. A reader
 * stands in front of the store that counts scans and can be told to do something before or after one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "chance.h"
#include "comment/rows.h"
#include "hot/memory/comment_heads.h"
#include "query/tier.h"
#include "store/memory/store_memory.h"

enum { LARGE = 64 << 20, THREADS = 4 };

static const struct item video = {.id = {.lo = 42}, .type = 3};
static const struct item song = {.id = {.hi = 1, .lo = 42}, .type = 4};

struct front {
    struct store store; /* only its reader is used */
    struct store *behind;
    void (*after)(struct front *front); /* once, when the next scan has its rows */
    struct heads *heads;
    enum status fails; /* the next scan does, with this status */
    _Atomic unsigned scans;
    pthread_mutex_t gate; /* a scan has to pass it */
};

static enum status front_scan(struct store_reader *reader, const struct store_scan *scan,
                              struct store_row *rows, size_t *count, bool *more,
                              struct store_arena *arena)
{
    struct front *front = (struct front *)store_of_reader(reader);
    atomic_fetch_add(&front->scans, 1);
    pthread_mutex_lock(&front->gate);
    void (*after)(struct front *) = front->after;
    enum status failure = front->fails;
    front->after = NULL;
    front->fails = STATUS_OK;
    pthread_mutex_unlock(&front->gate);
    enum status status = store_scan_rows(&front->behind->reader, scan, rows, count, more, arena);
    if (after != NULL)
        after(front);
    return failure != STATUS_OK ? failure : status;
}

static const struct store_reader_functions front_functions = {.scan_rows = front_scan};

struct desk {
    struct memory_budget budget;
    struct memory_budget store_budget;
    struct front front;
    struct heads *heads;
    uint64_t position;
};

static void desk_open(struct desk *desk, uint64_t bytes)
{
    *desk = (struct desk){.budget = {.limit = LARGE}, .store_budget = {.limit = LARGE}};
    desk->front.behind = store_memory_open(&desk->store_budget);
    desk->front.store.reader.functions = &front_functions;
    pthread_mutex_init(&desk->front.gate, NULL);
    desk->heads = desk->front.heads = heads_new(&desk->budget, bytes, 1);
    assert_non_null(desk->front.behind);
    assert_non_null(desk->heads);
}

static void desk_close(struct desk *desk)
{
    heads_free(desk->heads);
    store_close(desk->front.behind);
    pthread_mutex_destroy(&desk->front.gate);
    assert_int_equal(memory_used(&desk->budget), 0);
}

/* Writes or removes the row of a root in *top*. */
static void set_top(struct desk *desk, struct item parent, uint64_t key, uint32_t floor,
                    bool removed)
{
    uint8_t bytes[ROW_KEY_MAX], value[ROW_COMMENT_MAX];
    struct store_row row = {.table = STORE_ORDER, .removed = removed};
    row.key =
        (struct store_bytes){bytes, (uint32_t)row_key_order(parent, ORDER_TOP, key, floor, bytes)};
    row.value = (struct store_bytes){value, (uint32_t)row_write_number(1000 + floor, value)};
    struct store_changes changes = {.rows = &row, .row_count = 1, .position = ++desk->position};
    assert_int_equal(store_apply(&desk->front.behind->applier, &changes), STATUS_OK);
}

static void set_floor(struct desk *desk, struct item parent, uint32_t floor)
{
    uint8_t bytes[ROW_KEY_MAX], value[ROW_COMMENT_MAX];
    struct store_row row = {.table = STORE_FLOOR};
    row.key = (struct store_bytes){bytes, (uint32_t)row_key_floor(parent, floor, bytes)};
    row.value = (struct store_bytes){value, (uint32_t)row_write_number(1000 + floor, value)};
    struct store_changes changes = {.rows = &row, .row_count = 1, .position = ++desk->position};
    assert_int_equal(store_apply(&desk->front.behind->applier, &changes), STATUS_OK);
}

static struct comment_entry got[QUERY_HEAD];
static size_t got_count;
static bool got_complete;

static enum status read_some(struct desk *desk, struct item parent, uint8_t order, size_t wanted,
                             bool may_wait)
{
    got_count = wanted;
    return heads_read(desk->heads, &desk->front.store.reader, parent, order, may_wait, got,
                      &got_count, &got_complete);
}

static void read_top(struct desk *desk, struct item parent, size_t wanted)
{
    assert_int_equal(read_some(desk, parent, ORDER_TOP, wanted, true), STATUS_OK);
}

static void test_a_head_is_read_once(void **state)
{
    (void)state;
    struct desk desk;
    desk_open(&desk, MIB(1));
    assert_int_equal(read_some(&desk, video, ORDER_TOP, 20, false), STATUS_BLOCKED);
    assert_int_equal(desk.front.scans, 0);
    for (uint32_t floor = 1; floor <= 30; floor++)
        set_top(&desk, video, floor % 10, floor, false);
    read_top(&desk, video, 20);
    assert_int_equal(got_count, 20);
    assert_false(got_complete);
    for (size_t i = 0; i < 20; i++) { /* 9, 9, 9, 8, …; of equal keys the lower floor is first */
        assert_int_equal(got[i].key, 9 - i / 3);
        assert_int_equal(got[i].floor, 9 - i / 3 + 10 * (i % 3));
        assert_int_equal(got[i].id, 1000 + got[i].floor);
    }
    assert_int_equal(read_some(&desk, video, ORDER_TOP, 30, false), STATUS_OK);
    assert_int_equal(got_count, 30);
    assert_true(got_complete);
    read_top(&desk, song, 20); /* nothing at all is remembered too */
    read_top(&desk, song, 20);
    assert_int_equal(got_count, 0);
    assert_true(got_complete);
    assert_int_equal(desk.front.scans, 2);
    struct heads_stats stats;
    heads_collect(desk.heads, &stats);
    assert_int_equal(stats.heads, 2);
    assert_int_equal(stats.loads, 2);
    assert_int_equal(stats.hits, 2);
    desk_close(&desk);
}

static void test_orders_by_floor(void **state)
{
    (void)state;
    struct desk desk;
    desk_open(&desk, MIB(1));
    for (uint32_t floor = 1; floor <= QUERY_HEAD + 9; floor++)
        set_floor(&desk, video, floor);
    assert_int_equal(read_some(&desk, video, ORDER_NEW, QUERY_HEAD, true), STATUS_OK);
    assert_int_equal(got_count, QUERY_HEAD);
    assert_false(got_complete);
    assert_int_equal(got[0].floor, QUERY_HEAD + 9);
    assert_int_equal(got[QUERY_HEAD - 1].floor, 10);
    assert_int_equal(read_some(&desk, video, ORDER_OLD, 5, true), STATUS_OK);
    assert_int_equal(got[0].floor, 1);
    assert_int_equal(got[4].id, 1005);
    desk_close(&desk);
}

static void test_held_comments_are_found(void **state)
{
    (void)state;
    struct desk desk;
    uint8_t bytes[ROW_KEY_MAX], value[ROW_COMMENT_MAX];
    desk_open(&desk, MIB(1));
    assert_int_equal(read_some(&desk, video, ROWS_HELD, 1, true), STATUS_OK);
    assert_int_equal(got_count, 0);
    struct store_row row = {.table = STORE_ORDER};
    row.key =
        (struct store_bytes){bytes, (uint32_t)row_key_held(video, (struct id){.lo = 5}, 77, bytes)};
    row.value = (struct store_bytes){value, (uint32_t)row_write_number(77, value)};
    struct store_changes changes = {.rows = &row, .row_count = 1, .position = ++desk.position};
    assert_int_equal(store_apply(&desk.front.behind->applier, &changes), STATUS_OK);
    heads_discard(desk.heads, &video, 1);
    assert_int_equal(read_some(&desk, video, ROWS_HELD, 1, true), STATUS_OK);
    assert_int_equal(got_count, 1);
    assert_int_equal(got[0].id, 77);
    desk_close(&desk);
}

static void test_a_discarded_parent_is_read_again(void **state)
{
    (void)state;
    struct desk desk;
    desk_open(&desk, MIB(1));
    set_top(&desk, video, 1, 1, false);
    set_floor(&desk, video, 1);
    read_top(&desk, video, 20);
    assert_int_equal(read_some(&desk, video, ORDER_NEW, 20, true), STATUS_OK);
    read_top(&desk, song, 20);
    set_top(&desk, video, 5, 2, false);
    set_floor(&desk, video, 2);
    read_top(&desk, video, 20);
    assert_int_equal(got_count, 1); /* until the projector says so, the head is the old one */
    heads_discard(desk.heads, &video, 1);
    read_top(&desk, video, 20);
    assert_int_equal(got_count, 2);
    assert_int_equal(got[0].floor, 2);
    assert_int_equal(read_some(&desk, video, ORDER_NEW, 20, true), STATUS_OK);
    assert_int_equal(got_count, 2);
    assert_int_equal(read_some(&desk, song, ORDER_TOP, 20, false), STATUS_OK); /* it stayed */
    desk_close(&desk);
}

static void discard_video(struct front *front)
{
    heads_discard(front->heads, &video, 1);
}

static void test_a_head_that_is_discarded_while_it_is_read_is_not_kept(void **state)
{
    (void)state;
    struct desk desk;
    desk_open(&desk, MIB(1));
    set_top(&desk, video, 1, 1, false);
    desk.front.after = discard_video;
    read_top(&desk, video, 20);
    assert_int_equal(got_count, 1);
    assert_int_equal(read_some(&desk, video, ORDER_TOP, 20, false), STATUS_BLOCKED);
    read_top(&desk, video, 20);
    assert_int_equal(desk.front.scans, 2);
    assert_int_equal(read_some(&desk, video, ORDER_TOP, 20, false), STATUS_OK);
    desk_close(&desk);
}

static void test_a_failure_is_not_kept(void **state)
{
    (void)state;
    struct desk desk;
    desk_open(&desk, MIB(1));
    set_top(&desk, video, 1, 1, false);
    desk.front.fails = STATUS_IO_FAILED;
    assert_int_equal(read_some(&desk, video, ORDER_TOP, 20, true), STATUS_IO_FAILED);
    read_top(&desk, video, 20);
    assert_int_equal(got_count, 1);
    desk_close(&desk);
}

struct asker {
    struct desk *desk;
    _Atomic unsigned *answered;
};

static void *ask_top(void *argument)
{
    struct asker *asker = argument;
    struct comment_entry entries[QUERY_HEAD];
    size_t count = QUERY_HEAD;
    bool complete;
    enum status status = heads_read(asker->desk->heads, &asker->desk->front.store.reader, video,
                                    ORDER_TOP, true, entries, &count, &complete);
    if (status == STATUS_OK && count == 1)
        atomic_fetch_add(asker->answered, 1);
    return NULL;
}

static unsigned waiting(struct desk *desk)
{
    struct heads_stats stats;
    heads_collect(desk->heads, &stats);
    return (unsigned)stats.shared;
}

static void test_one_thread_reads_for_all(void **state)
{
    (void)state;
    struct desk desk;
    pthread_t threads[THREADS];
    _Atomic unsigned answered = 0;
    struct asker asker = {&desk, &answered};
    desk_open(&desk, MIB(1));
    set_top(&desk, video, 1, 1, false);
    pthread_mutex_lock(&desk.front.gate);
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask_top, &asker), 0);
    while (waiting(&desk) < THREADS - 1)
        sched_yield();
    heads_discard(desk.heads, &video, 1); /* they asked before this, and get what they wait for */
    pthread_mutex_unlock(&desk.front.gate);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(answered, THREADS);
    assert_int_equal(desk.front.scans, 1);
    assert_int_equal(read_some(&desk, video, ORDER_TOP, 20, false), STATUS_BLOCKED);
    desk_close(&desk);
}

static void test_memory_is_bounded(void **state)
{
    (void)state;
    struct desk desk;
    struct heads_stats stats;
    desk_open(&desk, KIB(64));
    uint64_t empty = memory_used(&desk.budget);
    for (uint32_t i = 0; i < 5000; i++) {
        read_top(&desk, (struct item){.id = {.lo = i}, .type = 1}, 20);
        assert_true(memory_used(&desk.budget) <= empty + KIB(64));
    }
    heads_collect(desk.heads, &stats);
    assert_in_range(stats.heads, 100, 2000);
    assert_int_equal(stats.heads + stats.evicted, 5000);
    assert_true(heads_shrink(desk.heads, KIB(8)) >= KIB(8));
    assert_true(heads_shrink(desk.heads, UINT64_MAX) > 0);
    assert_int_equal(heads_shrink(desk.heads, 1), 0);
    assert_int_equal(memory_used(&desk.budget), empty);
    desk_close(&desk);
}

static void test_no_share_is_no_cache(void **state)
{
    (void)state;
    struct desk desk;
    desk_open(&desk, 0);
    set_top(&desk, video, 1, 1, false);
    for (unsigned i = 0; i < 3; i++) {
        read_top(&desk, video, 20);
        assert_int_equal(got_count, 1);
    }
    assert_int_equal(desk.front.scans, 3);
    desk_close(&desk);
}

/*
 * A projector adds rows, discards and then publishes how many there are. Whoever reads the number first and then
 * the head finds at least as many.
 */
struct race {
    struct desk desk;
    _Atomic uint32_t published;
    _Atomic bool ended;
};

static void *read_all_the_time(void *argument)
{
    struct race *race = argument;
    while (!atomic_load(&race->ended)) {
        struct comment_entry entries[QUERY_HEAD];
        size_t count = QUERY_HEAD;
        bool complete;
        uint32_t least = atomic_load(&race->published);
        assert_int_equal(heads_read(race->desk.heads, &race->desk.front.store.reader, video,
                                    ORDER_NEW, true, entries, &count, &complete),
                         STATUS_OK);
        assert_true(count >= least);
    }
    return NULL;
}

static void test_no_published_row_is_missing(void **state)
{
    (void)state;
    static struct race race;
    pthread_t threads[THREADS];
    desk_open(&race.desk, MIB(1));
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_all_the_time, &race), 0);
    for (uint32_t floor = 1; floor <= QUERY_HEAD; floor++) {
        set_floor(&race.desk, video, floor);
        heads_discard(race.desk.heads, &video, 1);
        atomic_store(&race.published, floor);
        for (unsigned i = 0; i < 20; i++)
            sched_yield();
    }
    atomic_store(&race.ended, true);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    desk_close(&race.desk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_head_is_read_once),
        cmocka_unit_test(test_orders_by_floor),
        cmocka_unit_test(test_held_comments_are_found),
        cmocka_unit_test(test_a_discarded_parent_is_read_again),
        cmocka_unit_test(test_a_head_that_is_discarded_while_it_is_read_is_not_kept),
        cmocka_unit_test(test_a_failure_is_not_kept),
        cmocka_unit_test(test_one_thread_reads_for_all),
        cmocka_unit_test(test_memory_is_bounded),
        cmocka_unit_test(test_no_share_is_no_cache),
        cmocka_unit_test(test_no_published_row_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
