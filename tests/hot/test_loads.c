/*
 * Reading the store into memory: how often that happens, and what happens when the world changes
 * while an answer is on its way. A store stands in front of the real one that counts what is read of
 * it and can be told to wait, to fail, or to do something first.
 */
#include "spans.h"
#include "support.h"

enum { LIKE = NAME_INDEX_LIKE, DISLIKE = 2, VIEW = 9, WORKERS = 4 };

static const struct exclusive groups = {
    .group_of = {[LIKE] = 1, [DISLIKE] = 1},
    .group_count = 1,
    .groups = {{.count = 2, .kinds = {LIKE, DISLIKE}}},
};

struct front {
    struct store store;
    struct bed *bed;
    void (*before)(struct front *front); /* once, before the next read */
    bool fails;                          /* the read after it does */
    _Atomic uint64_t reactions;          /* keys read */
    _Atomic uint64_t items;
};

static bool front_passes(struct front *front)
{
    void (*before)(struct front * front) = front->before;
    front->before = NULL;
    if (before != NULL)
        before(front);
    bool fails = before != NULL && front->fails;
    front->fails = front->fails && !fails;
    return !fails;
}

static struct front *front_of(struct store_reader *reader)
{
    return (struct front *)store_of_reader(reader);
}

static enum status front_reactions(struct store_reader *reader, struct store_reaction *keys,
                                   size_t count)
{
    struct front *front = front_of(reader);
    atomic_fetch_add(&front->reactions, count);
    enum status status = store_read_reactions(&front->bed->store->reader, keys, count);
    return front_passes(front) ? status : STATUS_IO_FAILED; /* the answer is that of before */
}

static enum status front_items(struct store_reader *reader, const struct store_snapshot *snapshot,
                               struct store_item *items, size_t count, struct store_values *values)
{
    struct front *front = front_of(reader);
    atomic_fetch_add(&front->items, count);
    enum status status =
        store_read_items(&front->bed->store->reader, snapshot, items, count, values);
    return front_passes(front) ? status : STATUS_IO_FAILED;
}

static enum status front_rows(struct store_reader *reader, enum store_table table,
                              const struct store_bytes *keys, size_t count,
                              struct store_bytes *values, struct store_arena *arena)
{
    return store_read_rows(&front_of(reader)->bed->store->reader, table, keys, count, values,
                           arena);
}

static struct store_snapshot *front_snapshot(struct store_reader *reader)
{
    return store_snapshot(&front_of(reader)->bed->store->reader);
}

static void front_release(struct store_reader *reader, struct store_snapshot *snapshot)
{
    store_release(&front_of(reader)->bed->store->reader, snapshot);
}

static const struct store_reader_functions front_reader = {.read_reactions = front_reactions,
                                                           .read_items = front_items,
                                                           .read_rows = front_rows,
                                                           .snapshot = front_snapshot,
                                                           .release = front_release};

static const struct item video = {.id = {.lo = 42}};
static const struct id ann = {.lo = 7};

static void front_open(struct front *front, struct bed *bed)
{
    struct hot_memory_options options = bed_options();
    options.exclusive = &groups;
    *front = (struct front){.store.reader = {&front_reader}, .bed = bed};
    bed_open_stored(bed, MIB(64), options);
    hot_memory_of(bed->hot)->store = bed->front = &front->store.reader;
}

/* Everything before this is clean once it is projected. */
static void settle(struct bed *bed)
{
    bed_add(bed, (struct item){.id = {.lo = 999}}, VIEW, 1);
    bed_project_all(bed);
}

/* Ann likes the video, and nothing of it is in memory. */
static void open_cold(struct front *front, struct bed *bed)
{
    front_open(front, bed);
    bed_change(bed, HOT_SET, ann, LIKE, video, 5);
    settle(bed);
    bed_evict(bed);
    assert_false(bed_has_item(bed, video) || bed_has_user(bed, ann));
}

static void wait_for_shared(struct front *front, uint64_t count)
{
    while (bed_stats(front->bed).shared_loads < count)
        sched_yield();
}

static void until_all_share(struct front *front)
{
    wait_for_shared(front, WORKERS - 1);
}

struct asker {
    pthread_t thread;
    struct bed *bed;
    unsigned worker;
    struct hot_request request;
    struct hot_answer answer;
    struct hot_scratch scratch;
};

static void *ask(void *context)
{
    struct asker *asker = context;
    hot_memory_run_blocking(asker->bed->hot, asker->worker, &asker->request, 1, &asker->scratch);
    return NULL;
}

static void asker_start_kind(struct asker *asker, struct bed *bed, unsigned worker,
                             enum hot_action action, uint8_t kind)
{
    *asker = (struct asker){.bed = bed,
                            .worker = worker,
                            .request = {.action = action,
                                        .user = ann,
                                        .name = kind,
                                        .items = &video,
                                        .item_count = 1,
                                        .time_s = 9}};
    hot_request_set_answers(&asker->request, &asker->answer);
    assert_int_equal(pthread_create(&asker->thread, NULL, ask, asker), 0);
}

static void asker_start(struct asker *asker, struct bed *bed, unsigned worker,
                        enum hot_action action)
{
    asker_start_kind(asker, bed, worker, action, LIKE);
}

static void asker_end(struct asker *asker)
{
    pthread_join(asker->thread, NULL);
    free(asker->scratch.counters);
}

static void ask_all_at_once(struct front *front, struct asker *askers, enum hot_action action)
{
    front->before = until_all_share;
    for (unsigned i = 0; i < WORKERS; i++)
        asker_start(&askers[i], front->bed, i, action);
    for (unsigned i = 0; i < WORKERS; i++) {
        pthread_join(askers[i].thread, NULL);
        assert_int_equal(askers[i].request.status, STATUS_OK);
    }
}

static void test_many_ask_for_one_item(void **state)
{
    (void)state;
    struct front front;
    struct bed bed;
    struct asker askers[WORKERS];
    open_cold(&front, &bed);
    ask_all_at_once(&front, askers, HOT_COUNTS);
    assert_int_equal(front.items, 1);
    for (unsigned i = 0; i < WORKERS; i++) {
        assert_int_equal(askers[i].answer.count, 1);
        assert_int_equal(askers[i].scratch.counters[0].value, 1);
        free(askers[i].scratch.counters);
    }
    bed_close(&bed);
}

static void test_many_ask_for_one_reaction(void **state)
{
    (void)state;
    struct front front;
    struct bed bed;
    struct asker askers[WORKERS];
    open_cold(&front, &bed);
    ask_all_at_once(&front, askers, HOT_ASK);
    assert_int_equal(front.reactions, 1);
    for (unsigned i = 0; i < WORKERS; i++)
        assert_true(kind_set_has(&askers[i].answer.kinds, LIKE));
    bed_close(&bed);
}

/* Likewise who wants to change it, also if that takes the item's counters first. */
static void test_many_change_one_reaction(void **state)
{
    (void)state;
    for (int clear = 0; clear < 2; clear++) {
        struct front front;
        struct bed bed;
        struct asker askers[WORKERS];
        int64_t changed = 0;
        open_cold(&front, &bed);
        ask_all_at_once(&front, askers, clear ? HOT_CLEAR : HOT_SET);
        assert_int_equal(front.reactions, clear ? 1 : 2); /* to set it, also what it excludes */
        for (unsigned i = 0; i < WORKERS; i++)
            changed += askers[i].request.change.value;
        assert_int_equal(changed, clear);
        assert_int_equal(bed_count(&bed, video, LIKE), !clear);
        bed_close(&bed);
    }
}

/* Two who exclude each other want each other's keys: neither waits for ever, and one of them wins. */
static void test_many_change_a_group(void **state)
{
    (void)state;
    struct front front;
    struct bed bed;
    struct asker askers[WORKERS];
    open_cold(&front, &bed);
    front.before = until_all_share;
    for (unsigned i = 0; i < WORKERS; i++)
        asker_start_kind(&askers[i], &bed, i, HOT_SET, i % 2 == 0 ? LIKE : DISLIKE);
    for (unsigned i = 0; i < WORKERS; i++) {
        asker_end(&askers[i]);
        assert_int_equal(askers[i].request.status, STATUS_OK);
    }
    bool likes = bed_ask(&bed, ann, LIKE, video);
    assert_int_equal(bed_ask(&bed, ann, DISLIKE, video), !likes);
    assert_int_equal(bed_count(&bed, video, LIKE), likes);
    assert_int_equal(bed_count(&bed, video, DISLIKE), !likes);
    bed_close(&bed);
}

/* To clear what is not there takes one read too, before anybody else asked. */
static void test_what_is_absent_is_cleared_from_memory(void **state)
{
    (void)state;
    struct front front;
    struct bed bed;
    struct store_reaction made = {.user = ann, .item = video, .kind = LIKE, .time_s = 1};
    front_open(&front, &bed);
    filters_before(bed.filters, &(struct store_changes){BOTH_SPANS(&made, 1)});
    for (int i = 0; i < 5; i++)
        assert_int_equal(bed_change(&bed, HOT_CLEAR, ann, LIKE, video, 4), 0);
    assert_int_equal(front.reactions, 1);
    assert_false(bed_ask(&bed, ann, LIKE, video));
    assert_int_equal(bed_change(&bed, HOT_SET, ann, LIKE, video, 5), 1);
    assert_true(bed_ask(&bed, ann, LIKE, video));
    assert_int_equal(front.reactions, 1);
    bed_close(&bed);
}

/* What the filters take to be there and the store does not have is read once. */
static void test_what_is_absent_is_read_once(void **state)
{
    (void)state;
    struct front front;
    struct bed bed;
    struct store_reaction made = {.user = ann, .item = video, .kind = LIKE, .time_s = 1};
    struct store_reaction gone = {.user = ann, .item = video, .kind = LIKE, .was_live = true};
    front_open(&front, &bed);
    filters_before(bed.filters, &(struct store_changes){BOTH_SPANS(&made, 1)});
    for (int i = 0; i < 5; i++) {
        assert_false(bed_ask(&bed, ann, LIKE, video));
        assert_int_equal(bed_change(&bed, HOT_CLEAR, ann, LIKE, video, 4), 0);
        assert_int_equal(bed_count(&bed, video, LIKE), 0);
    }
    assert_int_equal(front.reactions, 1);
    assert_int_equal(front.items, 1);
    filters_after(bed.filters, &(struct store_changes){BOTH_SPANS(&gone, 1)});
    assert_int_equal(bed_change(&bed, HOT_SET, ann, LIKE, video, 5), 1);
    assert_true(bed_ask(&bed, ann, LIKE, video));
    assert_int_equal(front.reactions, 1);
    settle(&bed);
    bed_evict(&bed);
    assert_true(bed_ask(&bed, ann, LIKE, video)); /* it is not absent any more */
    assert_int_equal(front.reactions, 2);
    assert_int_equal(bed_change(&bed, HOT_CLEAR, ann, LIKE, video, 6), 1);
    assert_false(bed_ask(&bed, ann, LIKE, video));
    assert_int_equal(front.reactions, 2);
    bed_close(&bed);
}

static void test_cold_feeds_read_no_reactions(void **state)
{
    (void)state;
    struct front front;
    struct bed bed;
    struct hot_answer answer;
    open_cold(&front, &bed);
    struct hot_request request = {.action = HOT_FEED,
                                  .user = ann,
                                  .items = &video,
                                  .item_count = 1,
                                  .time_s = 9,
                                  .read.memory_only = true,
                                  .read.answers = &answer};
    assert_int_equal(bed_run(&bed, &request), STATUS_OK);
    assert_false(kind_set_has(&answer.kinds, LIKE));
    assert_int_equal(answer.count, 1);
    assert_int_equal(front.reactions, 0);
    request.read.memory_only = false;
    assert_int_equal(bed_run(&bed, &request), STATUS_OK);
    assert_true(kind_set_has(&answer.kinds, LIKE));
    request.read.memory_only = true; /* it is warm now */
    assert_int_equal(bed_run(&bed, &request), STATUS_OK);
    assert_true(kind_set_has(&answer.kinds, LIKE));
    bed_close(&bed);
}

/* Changes while an answer is under way, made as an I/O thread or another worker would. */

/* A worker that has waited for another once reads what it needs itself: this one is as far. */
static void change_meanwhile(struct front *front, enum hot_action action, uint8_t kind)
{
    struct loads *loads = &hot_memory_of(front->bed->hot)->loads;
    uint32_t claimed = loads->claims[0].count;
    loads->claims[0].count = 0;
    struct item item = video;
    struct hot_request request = {
        .action = action, .user = ann, .name = kind, .items = &item, .item_count = 1, .time_s = 8};
    if (hot_try(front->bed->hot, &request, 1, &front->bed->scratch) == 0)
        hot_memory_run_blocking(front->bed->hot, 5, &request, 1, &front->bed->scratch);
    assert_int_equal(request.status, STATUS_OK);
    assert_int_equal(request.change.value, 1);
    loads->claims[0].count = claimed;
}

static void project_meanwhile(struct front *front)
{
    struct item other = {.id = {.lo = 998}};
    struct hot_request request = {.action = HOT_ADD,
                                  .name = VIEW,
                                  .items = &other,
                                  .item_count = 1,
                                  .change.delta = 1,
                                  .time_s = 8};
    assert_int_equal(hot_try(front->bed->hot, &request, 1, &front->bed->scratch), 1);
    bed_project_all(front->bed);
}

/* The projector and the keeper do all they can. */
static void forget_meanwhile(struct front *front)
{
    project_meanwhile(front);
    bed_evict(front->bed);
}

static void clear_and_forget(struct front *front)
{
    change_meanwhile(front, HOT_CLEAR, LIKE);
    forget_meanwhile(front);
}

static void set_and_forget(struct front *front)
{
    change_meanwhile(front, HOT_SET, LIKE);
    forget_meanwhile(front);
}

/* The answer says "live" of what was cleared meanwhile, even if that was projected and all. */
static void test_cleared_while_asking(void **state)
{
    (void)state;
    for (int set = 0; set < 2; set++) {
        struct front front;
        struct bed bed;
        open_cold(&front, &bed);
        front.before = clear_and_forget;
        if (set)
            assert_int_equal(bed_change(&bed, HOT_SET, ann, LIKE, video, 9), 1);
        else
            bed_ask(&bed, ann, LIKE, video); /* either answer is right, but not for later */
        assert_int_equal(bed_ask(&bed, ann, LIKE, video), set);
        assert_int_equal(bed_count(&bed, video, LIKE), set);
        assert_int_equal(bed_change(&bed, HOT_CLEAR, ann, LIKE, video, 10), set);
        settle(&bed);
        bed_close(&bed);
    }
}

/* The answer says "absent" of what was set meanwhile. */
static void test_set_while_asking(void **state)
{
    (void)state;
    for (int clear = 0; clear < 2; clear++) {
        struct front front;
        struct bed bed;
        open_cold(&front, &bed);
        bed_change(&bed, HOT_CLEAR, ann, LIKE, video, 6);
        settle(&bed);
        bed_evict(&bed);
        struct store_reaction made = {.user = ann, .item = video, .kind = LIKE, .time_s = 1};
        struct store_changes changes = {BOTH_SPANS(&made, 1)};
        filters_before(bed.filters, &changes); /* as if something else looked the same */
        front.before = set_and_forget;
        if (clear)
            assert_int_equal(bed_change(&bed, HOT_CLEAR, ann, LIKE, video, 9), 1);
        else
            bed_ask(&bed, ann, LIKE, video);
        assert_int_equal(bed_ask(&bed, ann, LIKE, video), !clear);
        assert_int_equal(bed_count(&bed, video, LIKE), !clear);
        settle(&bed);
        bed_evict(&bed);
        assert_int_equal(bed_ask(&bed, ann, LIKE, video), !clear);
        bed_close(&bed);
    }
}

static void add_and_forget(struct front *front)
{
    struct item item = video;
    struct hot_request request = {.action = HOT_ADD,
                                  .name = VIEW,
                                  .items = &item,
                                  .item_count = 1,
                                  .change.delta = 10,
                                  .time_s = 8};
    struct hot_memory *hot = hot_memory_of(front->bed->hot);
    /* as if another worker had loaded it just before this one claimed it */
    struct store_value value = {.value = 1, .name = LIKE};
    uint64_t hash = item_hash_of(hot, video);
    struct item_shard *shard = item_shard_of(hot, hash);
    pthread_mutex_lock(&shard->lock);
    assert_true(item_fill(shard, hash, video, &value, 1));
    pthread_mutex_unlock(&shard->lock);
    assert_int_equal(hot_try(front->bed->hot, &request, 1, &front->bed->scratch), 1);
    forget_meanwhile(front);
}

static void test_item_changed_while_asking(void **state)
{
    (void)state;
    struct front front;
    struct bed bed;
    open_cold(&front, &bed);
    front.before = add_and_forget;
    bed_count(&bed, video, LIKE);
    assert_int_equal(bed_count(&bed, video, LIKE), 1);
    assert_int_equal(bed_count(&bed, video, VIEW), 10);
    settle(&bed);
    bed_evict(&bed);
    assert_int_equal(bed_count(&bed, video, VIEW), 10);
    bed_close(&bed);
}

static void set_dislike(struct front *front)
{
    change_meanwhile(front, HOT_SET, DISLIKE);
}

/* Of kinds that exclude each other a feed shows one, whatever happens while it waits. */
static void test_a_feed_never_shows_both(void **state)
{
    (void)state;
    struct front front;
    struct bed bed;
    struct hot_answer answers[2];
    struct item other = {.id = {.lo = 43}};
    front_open(&front, &bed);
    bed_change(&bed, HOT_SET, ann, DISLIKE, video, 4); /* so that the store knows the shelf */
    bed_change(&bed, HOT_SET, ann, LIKE, other, 5);
    settle(&bed);
    bed_evict(&bed);
    assert_int_equal(bed_change(&bed, HOT_SET, ann, LIKE, video, 6), 1); /* hot, and known */
    const struct item items[] = {video, other};
    struct hot_request request = {.action = HOT_FEED,
                                  .user = ann,
                                  .items = items,
                                  .item_count = 2,
                                  .time_s = 9,
                                  .read.answers = answers};
    front.before = set_dislike;
    assert_int_equal(bed_run(&bed, &request), STATUS_OK);
    assert_null(front.before); /* it did ask */
    assert_true(kind_set_has(&answers[0].kinds, LIKE) != kind_set_has(&answers[0].kinds, DISLIKE));
    assert_true(kind_set_has(&answers[1].kinds, LIKE));
    bed_close(&bed);
}

/* After a crash the video's row is partial: it has the view, not the like. */
static void open_partial(struct front *front, struct bed *bed)
{
    open_cold(front, bed);
    bed_flush(bed);
    bed_add(bed, video, VIEW, 10);
    settle(bed);
    bed_crash(bed, 100);
}

/* What was added since the last flush may be more than a counter holds. */
static void test_partial_value_out_of_range(void **state)
{
    (void)state;
    struct front front;
    struct bed bed;
    front_open(&front, &bed);
    bed_add(&bed, video, VIEW, INT64_MIN);
    settle(&bed);
    bed_flush(&bed);
    bed_add(&bed, video, VIEW, INT64_MAX);
    bed_add(&bed, video, VIEW, INT64_MAX);
    bed_crash(&bed, 100);
    assert_true(bed_count(&bed, video, VIEW) == INT64_MAX - 1);
    bed_add(&bed, video, VIEW, 1);
    struct item item = video;
    struct hot_request request = {.action = HOT_ADD,
                                  .name = VIEW,
                                  .items = &item,
                                  .item_count = 1,
                                  .change.delta = 1,
                                  .time_s = 8};
    assert_int_equal(bed_run(&bed, &request), STATUS_COUNTER_OVERFLOW);
    bed_close(&bed);
}

static void evict_partial(struct front *front)
{
    project_meanwhile(front);
    bed_evict_item(front->bed, video);
}

/* What the store had at start is added to a partial row or to nothing. */
static void test_partial_row_goes_while_asking(void **state)
{
    (void)state;
    struct front front;
    struct bed bed;
    open_partial(&front, &bed);
    front.before = evict_partial;
    bed_count(&bed, video, VIEW);
    assert_int_equal(bed_count(&bed, video, LIKE), 1);
    assert_int_equal(bed_count(&bed, video, VIEW), 10);
    bed_close(&bed);
}

static void *keep(void *context)
{
    bed_keep(context, 100);
    return NULL;
}

static pthread_t keeping;

static void keep_meanwhile(struct front *front)
{
    assert_int_equal(pthread_create(&keeping, NULL, keep, front->bed), 0);
    wait_for_shared(front, 1);
}

/* The keeper waits for a worker to complete a row, and the worker fails. */
static void test_partial_row_that_another_did_not_complete(void **state)
{
    (void)state;
    struct front front;
    struct bed bed;
    struct asker asker;
    open_partial(&front, &bed);
    front.before = keep_meanwhile;
    front.fails = true;
    asker_start(&asker, &bed, 3, HOT_COUNTS);
    asker_end(&asker);
    assert_int_equal(asker.request.status, STATUS_IO_FAILED);
    pthread_join(keeping, NULL);
    assert_int_equal(bed_count(&bed, video, LIKE), 1);
    assert_int_equal(bed_count(&bed, video, VIEW), 10);
    bed_keep(&bed, 101);
    bed_keep(&bed, 102);
    assert_null(hot_memory_of(bed.hot)->loads.base);
    bed_close(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_ask_for_one_item),
        cmocka_unit_test(test_many_ask_for_one_reaction),
        cmocka_unit_test(test_many_change_one_reaction),
        cmocka_unit_test(test_many_change_a_group),
        cmocka_unit_test(test_what_is_absent_is_cleared_from_memory),
        cmocka_unit_test(test_what_is_absent_is_read_once),
        cmocka_unit_test(test_cold_feeds_read_no_reactions),
        cmocka_unit_test(test_cleared_while_asking),
        cmocka_unit_test(test_set_while_asking),
        cmocka_unit_test(test_item_changed_while_asking),
        cmocka_unit_test(test_a_feed_never_shows_both),
        cmocka_unit_test(test_partial_value_out_of_range),
        cmocka_unit_test(test_partial_row_goes_while_asking),
        cmocka_unit_test(test_partial_row_that_another_did_not_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
