/* Many changes: large batches, random ones against a model, and readers beside a writer. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "spans.h"
#include "store_suite.h"

void store_suite_large_batch(void **state)
{
    (void)state;
    enum { ROWS = 200000 };
    struct store *store = store_suite_open();
    struct store_reaction *reactions = calloc(ROWS, sizeof(*reactions));
    struct store_count *counts = calloc(ROWS, sizeof(*counts));
    for (uint32_t i = 0; i < ROWS; i++) {
        reactions[i] = suite_reaction(i % 1000, i, 0, i + 1);
        counts[i] = suite_count(i, 0, 1);
    }
    suite_apply(store, (struct store_changes){BOTH_SPANS(reactions, ROWS), .item.counts = counts,
                                              .item.count_count = ROWS});
    assert_int_equal(suite_reactions(store), ROWS);
    for (uint32_t i = 0; i < ROWS; i++)
        reactions[i].time_s = 0;
    assert_int_equal(store_read_reactions(&store->reader, reactions, ROWS), STATUS_OK);
    for (uint32_t i = 0; i < ROWS; i++)
        assert_int_equal(reactions[i].time_s, i + 1);
    suite_verify(store);
    /* every third goes, every third gets another time */
    for (uint32_t i = 0; i < ROWS; i++) {
        reactions[i].was_live = true;
        reactions[i].time_s = i % 3 == 0 ? 0 : i % 3 == 1 ? i + 7 : i + 1;
        counts[i].value = i % 3 == 0 ? -1 : 1;
        if (i % 3 != 0)
            counts[i].name = 9;
    }
    suite_apply(store, (struct store_changes){BOTH_SPANS(reactions, ROWS), .item.counts = counts,
                                              .item.count_count = ROWS});
    assert_int_equal(suite_reactions(store), ROWS - (ROWS + 2) / 3);
    suite_verify(store);
    free(reactions);
    free(counts);
    suite_done(store);
}

/* One item that everybody likes at once, with times in any order. */
void store_suite_hot_item(void **state)
{
    (void)state;
    enum { ROWS = 20000 };
    struct store *store = store_suite_open();
    struct store_reaction *reactions = calloc(ROWS, sizeof(*reactions));
    for (uint32_t i = 0; i < ROWS; i++)
        reactions[i] = suite_reaction(i, 5, 0, 1 + (uint32_t)(hash_mix(i, 1) % 100));
    struct store_count count = suite_count(5, 0, ROWS);
    suite_apply(store, (struct store_changes){BOTH_SPANS(reactions, ROWS), .item.counts = &count,
                                              .item.count_count = 1});
    suite_verify(store);
    assert_int_equal(suite_reactions(store), ROWS);
    free(reactions);
    suite_done(store);
}

enum { USERS = 20, ITEMS = 40, KINDS = 3 };

struct model {
    uint32_t times[USERS][ITEMS][KINDS];
    int64_t values[ITEMS][KINDS + 1];
};

/* An event of a random history: sets or clears a reaction, or adds to a counter that is no kind. */
struct happening {
    struct store_reaction reaction; /* time_s 0: cleared */
    int64_t delta;                  /* not 0: added to counter KINDS instead */
    uint32_t user, item;
};

static struct happening happen(struct model *model, uint64_t seed, uint32_t number)
{
    uint64_t dice = hash_3(seed, number, 1);
    struct happening event = {.user = dice % USERS, .item = (dice >> 8) % ITEMS};
    uint8_t kind = (dice >> 20) % KINDS;
    if ((dice >> 32) % 8 == 0) {
        event.delta = (int64_t)(dice >> 40 & 7) - 3;
        event.delta += event.delta == 0;
        event.reaction = suite_reaction(0, event.item, KINDS, 0);
        model->values[event.item][KINDS] += event.delta;
        return event;
    }
    uint32_t *time_s = &model->times[event.user][event.item][kind];
    event.reaction = suite_reaction(event.user, event.item, kind, 0);
    event.reaction.was_live = *time_s != 0;
    *time_s = event.reaction.time_s = *time_s != 0 ? 0 : number / 8 + 1;
    model->values[event.item][kind] += *time_s != 0 ? 1 : -1;
    return event;
}

/* The net effect of events, found the slow way. */
struct window {
    struct store_reaction reactions[256];
    struct store_count counts[512];
    size_t reaction_count;
    size_t count_count;
};

static void window_add_count(struct window *window, struct store_count change)
{
    for (size_t i = 0; i < window->count_count; i++)
        if (item_equal(window->counts[i].item, change.item) &&
            window->counts[i].name == change.name) {
            window->counts[i].value += change.value;
            return;
        }
    window->counts[window->count_count++] = change;
}

static void window_add(struct window *window, const struct happening *event)
{
    struct store_count count = {.item = event->reaction.item, .name = event->reaction.kind};
    if (event->delta != 0) {
        count.value = event->delta;
        window_add_count(window, count);
        return;
    }
    count.value = event->reaction.time_s != 0 ? 1 : -1;
    window_add_count(window, count);
    for (size_t i = 0; i < window->reaction_count; i++) {
        struct store_reaction *known = &window->reactions[i];
        if (id_equal(known->user, event->reaction.user) && known->kind == event->reaction.kind &&
            item_equal(known->item, event->reaction.item)) {
            known->time_s = event->reaction.time_s;
            return;
        }
    }
    window->reactions[window->reaction_count++] = event->reaction;
}

static void window_apply(struct window *window, struct store *store, uint64_t position)
{
    size_t kept = 0;
    for (size_t i = 0; i < window->count_count; i++)
        if (window->counts[i].value != 0)
            window->counts[kept++] = window->counts[i];
    struct store_changes changes = {BOTH_SPANS(window->reactions, window->reaction_count),
                                    .item.counts = window->counts, .item.count_count = kept,
                                    .position = position};
    assert_int_equal(store_apply(&store->applier, &changes), STATUS_OK);
}

static void model_check(const struct model *model, struct store *store)
{
    uint64_t live = 0;
    for (uint32_t item = 0; item < ITEMS; item++) {
        for (uint32_t name = 0; name <= KINDS; name++)
            assert_int_equal(suite_value(store, NULL, suite_count(item, (uint8_t)name, 0)),
                             model->values[item][name]);
        for (uint32_t kind = 0; kind < KINDS; kind++)
            for (uint32_t user = 0; user < USERS; user++) {
                uint32_t time_s = model->times[user][item][kind];
                live += time_s != 0;
                assert_int_equal(suite_time(store, suite_reaction(user, item, (uint8_t)kind, 0)),
                                 time_s);
            }
    }
    assert_int_equal(suite_reactions(store), live);
    suite_verify(store);
}

/* Applies events 1..last in windows of random size, each delivered 1 to 5 times, late ones too. */
static void run_history(struct model *model, struct store *store, uint64_t seed, uint64_t batching,
                        uint32_t last)
{
    struct window before = {0};
    uint64_t before_position = 0;
    for (uint32_t number = 1; number <= last;) {
        struct window window = {0};
        uint32_t size = 1 + (uint32_t)(hash_3(batching, number, 2) % 100);
        for (; size > 0 && number <= last; size--, number++) {
            struct happening event = happen(model, seed, number);
            window_add(&window, &event);
        }
        uint32_t times = 1 + (uint32_t)(hash_3(batching, number, 3) % 5);
        for (uint32_t i = 0; i < times; i++) {
            window_apply(&window, store, number - 1);
            if (before_position > 0 && i % 2 == 1)
                window_apply(&before, store, before_position);
        }
        before = window;
        before_position = number - 1;
        if (hash_3(batching, number, 4) % 8 == 0)
            assert_int_equal(store_flush(&store->applier), STATUS_OK);
    }
}

void store_suite_model(void **state)
{
    (void)state;
    static struct model model;
    model = (struct model){0};
    uint64_t seed = suite_seed();
    struct store *store = store_suite_open();
    run_history(&model, store, seed, seed, 20000);
    assert_int_equal(store_position(&store->applier), 20000);
    model_check(&model, store);
    suite_done(store);
}

/* The same events, whatever the batching and however often delivered, leave the same state. */
void store_suite_any_batching(void **state)
{
    (void)state;
    uint64_t seed = suite_seed();
    char *first = NULL;
    for (uint32_t batching = 1; batching <= 3; batching++) {
        static struct model model;
        model = (struct model){0};
        struct store *store = store_suite_open();
        run_history(&model, store, seed, batching, 3000);
        char *dump = suite_dump(store);
        assert_true(strlen(dump) > 1000);
        if (first != NULL)
            assert_string_equal(dump, first);
        free(first);
        first = dump;
        suite_done(store);
    }
    free(first);
}

struct reader {
    pthread_t thread;
    struct store *store;
    atomic_bool *stop;
    uint64_t torn;
    uint64_t reads;
};

static uint64_t torn_list(struct store *store)
{
    struct store_listed page[8];
    size_t count, seen[4] = {0};
    uint32_t times[4] = {0};
    uint64_t torn = store_list_reactors(&store->reader, suite_count(1, 0, 0).item, 0,
                                        (struct store_listed){0}, page, 8, &count) != STATUS_OK;
    for (size_t i = 0; i < count; i++) {
        uint64_t of = page[i].id.lo % 100;
        if (of >= 4)
            return torn + 1;
        torn += seen[of]++ > 0 && times[of] != page[i].time_s;
        times[of] = page[i].time_s;
    }
    for (size_t of = 0; of < 4; of++)
        torn += seen[of] == 1;
    return torn;
}

/* Pairs are set and cleared together: nobody may see the one without the other. */
static void *reader_work(void *context)
{
    struct reader *reader = context;
    while (!atomic_load(reader->stop) || reader->reads < 50) {
        struct store_reaction pair[8];
        struct store_item items[] = {{.item = suite_count(1, 0, 0).item},
                                     {.item = suite_count(2, 0, 0).item}};
        struct store_values values = {0};
        for (uint64_t i = 0; i < 8; i++)
            pair[i] = suite_reaction(i / 2 + i % 2 * 100, 1, 0, 0);
        reader->torn += store_read_reactions(&reader->store->reader, pair, 8) != STATUS_OK;
        for (uint32_t i = 0; i < 8; i += 2)
            reader->torn += pair[i].time_s != pair[i + 1].time_s;
        reader->torn +=
            store_read_items(&reader->store->reader, NULL, items, 2, &values) != STATUS_OK;
        reader->torn += items[0].count != items[1].count;
        if (items[0].count == 1 && items[1].count == 1)
            reader->torn += values.values[0].value != values.values[1].value;
        free(values.values);
        reader->torn += torn_list(reader->store);
        reader->reads++;
    }
    return NULL;
}

void store_suite_threads(void **state)
{
    (void)state;
    enum { READERS = 3, ROUNDS = 2000 };
    struct store *store = store_suite_open();
    atomic_bool stop = false;
    struct reader readers[READERS];
    for (uint32_t i = 0; i < READERS; i++) {
        readers[i] = (struct reader){.store = store, .stop = &stop};
        assert_int_equal(pthread_create(&readers[i].thread, NULL, reader_work, &readers[i]), 0);
    }
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        uint32_t time_s = i % 8 < 4 ? i : 0;
        bool was_live = i > 4 && (i - 4) % 8 < 4;
        struct store_reaction pair[] = {suite_reaction(i % 4, 1, 0, time_s),
                                        suite_reaction(i % 4 + 100, 1, 0, time_s)};
        pair[0].was_live = pair[1].was_live = was_live;
        const struct store_count plus[] = {suite_count(1, 0, 1), suite_count(2, 0, 1)};
        suite_apply(store, (struct store_changes){BOTH_SPANS(pair, 2), .item.counts = plus,
                                                  .item.count_count = 2});
        if (i % 500 == 0)
            assert_int_equal(store_flush(&store->applier), STATUS_OK);
    }
    atomic_store(&stop, true);
    for (uint32_t i = 0; i < READERS; i++) {
        pthread_join(readers[i].thread, NULL);
        assert_int_equal(readers[i].torn, 0);
        assert_true(readers[i].reads >= 50);
    }
    assert_int_equal(suite_value(store, NULL, suite_count(1, 0, 0)), ROUNDS);
    suite_done(store);
}
