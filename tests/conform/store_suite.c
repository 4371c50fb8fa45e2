#include "store_suite.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/hash.h"

static struct store_reaction reaction(uint64_t user, uint64_t item, uint8_t kind, uint32_t time_s)
{
    return (struct store_reaction){
        .user = {.hi = user % 3 == 0 ? user : 0, .lo = user},
        .item = {.id = {.hi = item % 5 == 0 ? item : 0, .lo = item}, .type = (uint16_t)(item % 4)},
        .kind = kind,
        .time_s = time_s};
}

static struct store_count counter(uint64_t item, uint8_t name, int64_t value)
{
    return (struct store_count){.item = reaction(0, item, 0, 0).item, .name = name, .value = value};
}

static enum status put(struct store *store, const struct store_reaction *reactions, size_t count)
{
    return store_apply(store,
                       &(struct store_changes){.reactions = reactions, .reaction_count = count});
}

static enum status sum(struct store *store, const struct store_count *counts, size_t count)
{
    return store_apply(store, &(struct store_changes){.counts = counts, .count_count = count});
}

static uint32_t time_of(struct store *store, struct store_reaction key)
{
    key.time_s = 0xdead;
    assert_int_equal(store_read_reactions(store, &key, 1), STATUS_OK);
    return key.time_s;
}

static int64_t value_of(struct store *store, struct store_count key)
{
    key.value = 0xdead;
    assert_int_equal(store_read_counts(store, &key, 1), STATUS_OK);
    return key.value;
}

static void done(struct store *store)
{
    store_close(store);
    store_suite_closed();
}

void store_suite_empty(void **state)
{
    (void)state;
    struct store *store = store_suite_open();
    assert_non_null(store->ops->name);
    assert_int_equal(store_position(store), 0);
    assert_int_equal(store_reaction_count(store), 0);
    assert_int_equal(time_of(store, reaction(1, 1, 0, 0)), 0);
    assert_int_equal(value_of(store, counter(1, 0, 0)), 0);
    assert_int_equal(store_read_reactions(store, NULL, 0), STATUS_OK);
    assert_int_equal(store_apply(store, &(struct store_changes){0}), STATUS_OK);
    done(store);
}

void store_suite_reactions(void **state)
{
    (void)state;
    struct store *store = store_suite_open();
    struct store_reaction one = reaction(1, 2, 3, 100);
    assert_int_equal(put(store, &one, 1), STATUS_OK);
    assert_int_equal(time_of(store, one), 100);
    assert_int_equal(store_reaction_count(store), 1);
    one.time_s = 200;
    assert_int_equal(put(store, &one, 1), STATUS_OK);
    assert_int_equal(time_of(store, one), 200);
    assert_int_equal(store_reaction_count(store), 1);
    one.time_s = 0;
    assert_int_equal(put(store, &one, 1), STATUS_OK);
    assert_int_equal(time_of(store, one), 0);
    assert_int_equal(put(store, &one, 1), STATUS_OK);
    assert_int_equal(store_reaction_count(store), 0);
    done(store);
}

/* Keys that differ in one part only are different keys. */
void store_suite_keys_are_exact(void **state)
{
    (void)state;
    struct store *store = store_suite_open();
    struct store_reaction base = {
        .user = {.lo = 7}, .item = {.id = {.lo = 7}, .type = 1}, .kind = 1, .time_s = 50};
    struct store_reaction others[] = {base, base, base, base, base, base, base};
    others[0].user.lo = 8;
    others[1].user.hi = 7;
    others[2].item.id.lo = 8;
    others[3].item.id.hi = 7;
    others[4].item.type = 2;
    others[5].kind = 2;
    others[6].kind = 255;
    assert_int_equal(put(store, &base, 1), STATUS_OK);
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(time_of(store, others[i]), 0);
    for (size_t i = 0; i < 7; i++)
        others[i].time_s = 60 + (uint32_t)i;
    assert_int_equal(put(store, others, 7), STATUS_OK);
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(time_of(store, others[i]), 60 + i);
    assert_int_equal(time_of(store, base), 50);
    assert_int_equal(store_reaction_count(store), 8);
    done(store);
}

void store_suite_counts(void **state)
{
    (void)state;
    struct store *store = store_suite_open();
    const struct store_count counts[] = {counter(1, 0, 5), counter(1, 1, -5), counter(2, 0, 1),
                                         counter(5, 0, INT64_MAX), counter(6, 0, INT64_MIN)};
    assert_int_equal(sum(store, counts, 5), STATUS_OK);
    for (size_t i = 0; i < 5; i++)
        assert_true(value_of(store, counts[i]) == counts[i].value);
    assert_int_equal(sum(store, (struct store_count[]){counter(1, 0, -5)}, 1), STATUS_OK);
    assert_int_equal(value_of(store, counts[0]), 0);
    assert_int_equal(value_of(store, counts[1]), -5);
    assert_int_equal(store_reaction_count(store), 0);
    done(store);
}

/* A sum that leaves the range refuses its whole batch. */
void store_suite_count_overflow(void **state)
{
    (void)state;
    struct store *store = store_suite_open();
    struct store_count full = counter(1, 0, INT64_MAX - 1);
    assert_int_equal(sum(store, &full, 1), STATUS_OK);
    const struct store_count counts[] = {counter(2, 0, 4), counter(1, 0, 1), counter(1, 0, 1)};
    struct store_reaction one = reaction(1, 2, 3, 100);
    assert_int_equal(store_apply(store, &(struct store_changes){.reactions = &one,
                                                                .reaction_count = 1,
                                                                .counts = counts,
                                                                .count_count = 3,
                                                                .position = 9}),
                     STATUS_COUNTER_OVERFLOW);
    assert_true(value_of(store, full) == INT64_MAX - 1);
    assert_int_equal(value_of(store, counts[0]), 0);
    assert_int_equal(time_of(store, one), 0);
    assert_int_equal(store_position(store), 0);
    done(store);
}

void store_suite_position(void **state)
{
    (void)state;
    struct store *store = store_suite_open();
    struct store_reaction one = reaction(1, 2, 3, 100);
    struct store_count plus = counter(2, 3, 1);
    struct store_changes changes = {
        .reactions = &one, .reaction_count = 1, .counts = &plus, .count_count = 1, .position = 64};
    for (int i = 0; i < 3; i++)
        assert_int_equal(store_apply(store, &changes), STATUS_OK);
    assert_int_equal(store_position(store), 64);
    assert_int_equal(value_of(store, plus), 1);
    one.time_s = 0;
    changes.position = 32;
    assert_int_equal(store_apply(store, &changes), STATUS_OK);
    assert_int_equal(time_of(store, one), 100);
    changes.position = 65;
    assert_int_equal(store_apply(store, &changes), STATUS_OK);
    assert_int_equal(time_of(store, one), 0);
    assert_int_equal(value_of(store, plus), 2);
    assert_int_equal(store_position(store), 65);
    /* a change tied to no position leaves it alone */
    assert_int_equal(sum(store, &plus, 1), STATUS_OK);
    assert_int_equal(value_of(store, plus), 3);
    assert_int_equal(store_position(store), 65);
    done(store);
}

void store_suite_large_batch(void **state)
{
    (void)state;
    enum { ROWS = 5000 };
    struct store *store = store_suite_open();
    struct store_reaction *reactions = calloc(ROWS, sizeof(*reactions));
    struct store_count *counts = calloc(ROWS, sizeof(*counts));
    for (uint32_t i = 0; i < ROWS; i++) {
        reactions[i] = reaction(i % 100, i, 1, i + 1);
        counts[i] = counter(i, 1, i);
    }
    assert_int_equal(store_apply(store, &(struct store_changes){.reactions = reactions,
                                                                .reaction_count = ROWS,
                                                                .counts = counts,
                                                                .count_count = ROWS,
                                                                .position = 8}),
                     STATUS_OK);
    assert_int_equal(store_reaction_count(store), ROWS);
    memset(&counts[0].value, 0xff, sizeof(counts[0].value));
    assert_int_equal(store_read_reactions(store, reactions, ROWS), STATUS_OK);
    assert_int_equal(store_read_counts(store, counts, ROWS), STATUS_OK);
    for (uint32_t i = 0; i < ROWS; i++) {
        assert_int_equal(reactions[i].time_s, i + 1);
        assert_int_equal(counts[i].value, i);
    }
    free(reactions);
    free(counts);
    done(store);
}

/* Changes of one batch are applied in order, also to the same key. */
void store_suite_same_key_twice(void **state)
{
    (void)state;
    struct store *store = store_suite_open();
    const struct store_reaction changes[] = {reaction(1, 1, 1, 5), reaction(1, 1, 1, 0),
                                             reaction(1, 1, 1, 6), reaction(2, 1, 1, 7),
                                             reaction(2, 1, 1, 0)};
    const struct store_count counts[] = {counter(1, 1, 5), counter(1, 1, -2), counter(1, 1, 1)};
    assert_int_equal(put(store, changes, 5), STATUS_OK);
    assert_int_equal(sum(store, counts, 3), STATUS_OK);
    assert_int_equal(time_of(store, changes[0]), 6);
    assert_int_equal(time_of(store, changes[3]), 0);
    assert_int_equal(store_reaction_count(store), 1);
    assert_int_equal(value_of(store, counts[0]), 4);
    done(store);
}

enum { MODEL_USERS = 20, MODEL_ITEMS = 40, MODEL_KINDS = 3, MODEL_BATCH = 20 };

struct store_model {
    uint32_t times[MODEL_USERS][MODEL_ITEMS][MODEL_KINDS];
    int64_t values[MODEL_ITEMS][MODEL_KINDS];
};

/* Every seventh batch claims the position of the one before: it must change nothing. */
static void model_round(struct store_model *model, struct store *store, uint64_t seed,
                        uint32_t round)
{
    struct store_reaction reactions[MODEL_BATCH];
    struct store_count counts[MODEL_BATCH];
    bool again = round % 7 == 0;
    for (uint32_t i = 0; i < MODEL_BATCH; i++) {
        uint64_t dice = hash_3(seed, round, i);
        uint32_t user = dice % MODEL_USERS;
        uint32_t item = (dice >> 8) % MODEL_ITEMS;
        uint8_t kind = (dice >> 20) % MODEL_KINDS;
        uint32_t time_s = dice >> 32 & 1 ? round : 0;
        int64_t delta = (int64_t)(dice >> 40 & 0xff) - 100;
        reactions[i] = reaction(user, item, kind, time_s);
        counts[i] = counter(item, kind, delta);
        if (!again) {
            model->times[user][item][kind] = time_s;
            model->values[item][kind] += delta;
        }
    }
    assert_int_equal(store_apply(store, &(struct store_changes){.reactions = reactions,
                                                                .reaction_count = MODEL_BATCH,
                                                                .counts = counts,
                                                                .count_count = MODEL_BATCH,
                                                                .position = round - again}),
                     STATUS_OK);
}

void store_suite_model(void **state)
{
    (void)state;
    static struct store_model model;
    model = (struct store_model){0};
    const char *text = getenv("LAUD_SEED");
    uint64_t seed = text != NULL ? strtoull(text, NULL, 10) : (uint64_t)time(NULL);
    print_message("LAUD_SEED=%llu\n", (unsigned long long)seed);
    struct store *store = store_suite_open();
    for (uint32_t round = 1; round <= 3000; round++)
        model_round(&model, store, seed, round);
    uint64_t live = 0;
    for (uint32_t item = 0; item < MODEL_ITEMS; item++)
        for (uint32_t kind = 0; kind < MODEL_KINDS; kind++) {
            struct store_count count = counter(item, (uint8_t)kind, 0);
            assert_int_equal(value_of(store, count), model.values[item][kind]);
            for (uint32_t user = 0; user < MODEL_USERS; user++) {
                uint32_t time_s = model.times[user][item][kind];
                live += time_s != 0;
                assert_int_equal(time_of(store, reaction(user, item, (uint8_t)kind, 0)), time_s);
            }
        }
    assert_int_equal(store_reaction_count(store), live);
    done(store);
}

struct crowd {
    pthread_t thread;
    struct store *store;
    uint32_t number;
    uint64_t torn;
};

/* Both users of a pair are set and cleared together: nobody may see the one without the other. */
static void *crowd_work(void *context)
{
    struct crowd *crowd = context;
    for (uint32_t i = 1; i <= 2000; i++) {
        struct store_reaction pair[] = {reaction(crowd->number, 1, 0, i % 2 ? i : 0),
                                        reaction(crowd->number + 100, 1, 0, i % 2 ? i : 0)};
        struct store_count plus = counter(i % 10, 0, 1);
        crowd->torn +=
            store_apply(crowd->store, &(struct store_changes){.reactions = pair,
                                                              .reaction_count = 2,
                                                              .counts = &plus,
                                                              .count_count = 1}) != STATUS_OK;
        crowd->torn += store_read_reactions(crowd->store, pair, 2) != STATUS_OK;
        crowd->torn += pair[0].time_s != (i % 2 ? i : 0) || pair[1].time_s != pair[0].time_s;
        struct store_reaction other[] = {reaction((crowd->number + 1) % 8, 1, 0, 0),
                                         reaction((crowd->number + 1) % 8 + 100, 1, 0, 0)};
        crowd->torn += store_read_reactions(crowd->store, other, 2) != STATUS_OK;
        crowd->torn += other[0].time_s != other[1].time_s;
    }
    return NULL;
}

void store_suite_threads(void **state)
{
    (void)state;
    struct store *store = store_suite_open();
    struct crowd crowd[8];
    for (uint32_t i = 0; i < 8; i++) {
        crowd[i] = (struct crowd){.store = store, .number = i};
        assert_int_equal(pthread_create(&crowd[i].thread, NULL, crowd_work, &crowd[i]), 0);
    }
    for (uint32_t i = 0; i < 8; i++) {
        pthread_join(crowd[i].thread, NULL);
        assert_int_equal(crowd[i].torn, 0);
    }
    int64_t total = 0;
    for (uint64_t item = 0; item < 10; item++)
        total += value_of(store, counter(item, 0, 0));
    assert_int_equal(total, 8 * 2000);
    assert_int_equal(store_reaction_count(store), 0);
    done(store);
}
