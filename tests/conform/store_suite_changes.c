/*
 * What a user changed since a time: its order and pages, what is remembered of the cleared, and for
 * how long. A page may be shorter than asked for, so pages are always joined.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "spans.h"
#include "store_suite.h"

enum { ALL_MAX = 4096 };

struct all {
    struct store_listed rows[ALL_MAX];
    size_t count;
    uint32_t newest_s;
};

static void expect_in_order(const struct all *all)
{
    for (size_t i = 1; i < all->count; i++)
        assert_true(store_changed_order(all->rows[i - 1], all->rows[i]) < 0);
}

/* Pages of `limit`, joined. */
static enum status take_all(struct store *store, struct id user, uint32_t since_s, size_t limit,
                            struct all *all)
{
    struct store_changed changed = {.more = true};
    all->count = 0;
    while (changed.more) {
        struct store_listed *out = malloc((limit + 1) * sizeof(*out));
        memset(out, 0x5a, (limit + 1) * sizeof(*out));
        struct store_listed guard = out[limit], after = changed.last;
        enum status status =
            store_list_changes(&store->reader, user, since_s, after, out, limit, &changed);
        assert_memory_equal(&out[limit], &guard, sizeof(guard));
        if (status == STATUS_OK) {
            assert_true(changed.count <= limit && all->count + changed.count <= ALL_MAX);
            memcpy(all->rows + all->count, out, changed.count * sizeof(*out));
            all->count += changed.count;
            if (changed.more) /* it goes on */
                assert_true(after.time_s == 0 || store_changed_order(after, changed.last) < 0);
        }
        free(out);
        if (status != STATUS_OK)
            return status;
    }
    all->newest_s = changed.newest_s;
    expect_in_order(all);
    return STATUS_OK;
}

static void must_take(struct store *store, struct id user, uint32_t since_s, size_t limit,
                      struct all *all)
{
    assert_int_equal(take_all(store, user, since_s, limit, all), STATUS_OK);
}

/* As the projector does: with the time of the newest event. */
static void change_at(struct store *store, struct store_reaction change, bool set, uint32_t time_s)
{
    change.time_s = set ? time_s : 0;
    change.cleared_s = set ? 0 : time_s;
    change.was_live = suite_time(store, change) != 0;
    struct store_changes changes = {.newest_s = time_s};
    bool passed = !set && !change.was_live;
    *(passed ? &changes.user.transient : &changes.user.reactions) = &change;
    *(passed ? &changes.user.transient_count : &changes.user.reaction_count) = 1;
    suite_apply(store, changes);
}

static void expect_row(const struct all *all, size_t at, struct store_reaction key, bool cleared,
                       uint32_t time_s)
{
    assert_true(at < all->count);
    const struct store_listed *row = &all->rows[at];
    assert_int_equal(row->cleared, cleared);
    assert_int_equal(row->kind, key.kind);
    assert_int_equal(row->type, key.item.type);
    assert_int_equal(row->time_s, time_s);
    assert_true(id_equal(row->id, key.item.id));
}

void store_suite_changes_few(void **state)
{
    (void)state;
    static struct all all;
    struct store *store = store_suite_open();
    const struct id user = {.lo = 7};
    struct store_reaction a = {.user = user, .item = {.id.lo = 1, .type = 2}};
    struct store_reaction b = {.user = user, .item = {.id = {.hi = 9, .lo = 1}, .type = 2}};
    struct store_reaction c = {.user = user, .item = {.id.lo = 1, .type = 1}, .kind = 5};
    struct store_reaction other = {.user.lo = 8, .item = {.id.lo = 1, .type = 2}};
    must_take(store, user, 0, 10, &all);
    assert_int_equal(all.count, 0);
    assert_int_equal(all.newest_s, 0);
    change_at(store, a, true, 100);
    change_at(store, b, true, 101);
    change_at(store, c, true, 102);
    change_at(store, other, true, 103);
    for (size_t limit = 1; limit < 5; limit++) {
        must_take(store, user, 0, limit, &all);
        assert_int_equal(all.count, 3);
        expect_row(&all, 0, b, false, 101);
        expect_row(&all, 1, a, false, 100);
        expect_row(&all, 2, c, false, 102);
        assert_int_equal(all.newest_s, 103);
        must_take(store, user, 101, limit, &all); /* inclusive */
        assert_int_equal(all.count, 2);
        expect_row(&all, 0, b, false, 101);
    }
    change_at(store, b, false, 104);
    change_at(store, other, false, 104);
    must_take(store, user, 0, 1, &all); /* nothing cleared */
    assert_int_equal(all.count, 2);
    must_take(store, user, 102, 1, &all);
    assert_int_equal(all.count, 2);
    expect_row(&all, 0, c, false, 102);
    expect_row(&all, 1, b, true, 104);
    must_take(store, user, 104, 1, &all);
    assert_int_equal(all.count, 1);

    change_at(store, b, true, 105); /* live again: its clearing says nothing */
    must_take(store, user, 104, 1, &all);
    assert_int_equal(all.count, 1);
    expect_row(&all, 0, b, false, 105);
    change_at(store, b, false, 106); /* the newest clearing comes first */
    must_take(store, user, 104, 10, &all);
    assert_true(all.count >= 1);
    expect_row(&all, 0, b, true, 106);

    struct store_reaction passed = {.user = user, .item = {.id.lo = 3}, .kind = 1};
    change_at(store, passed, false, 107); /* set and cleared between two batches */
    must_take(store, user, 107, 1, &all);
    assert_int_equal(all.count, 1);
    expect_row(&all, 0, passed, true, 107);
    assert_int_equal(suite_reactions(store), 2);
    suite_done(store);
}

void store_suite_changes_horizon(void **state)
{
    (void)state;
    static struct all all;
    struct store *store = store_suite_open();
    struct store_reaction a = suite_reaction(1, 1, 0, 0), b = suite_reaction(1, 2, 0, 0);
    const struct id user = a.user;
    must_take(store, user, 1, 5, &all); /* of an empty store */
    assert_int_equal(take_all(store, user, 2, 5, &all), STATUS_START_OVER);
    change_at(store, a, true, 50);
    change_at(store, a, false, 60);
    change_at(store, b, true, 61);
    assert_int_equal(take_all(store, user, 62, 5, &all), STATUS_START_OVER); /* of a later time */
    must_take(store, user, 60, 5, &all);
    assert_int_equal(all.count, 2);
    suite_apply(store, (struct store_changes){.newest_s = 70, .user.cleared_horizon_s = 60});
    must_take(store, user, 60, 5, &all);
    assert_int_equal(all.count, 2);
    assert_int_equal(take_all(store, user, 59, 5, &all), STATUS_START_OVER);
    suite_apply(store, (struct store_changes){.newest_s = 71, .user.cleared_horizon_s = 61});
    assert_int_equal(take_all(store, user, 60, 5, &all), STATUS_START_OVER);
    must_take(store, user, 61, 5, &all);
    assert_int_equal(all.count, 1);
    expect_row(&all, 0, b, false, 61);
    must_take(store, user, 0, 5, &all); /* what is live is there whatever its age */
    assert_int_equal(all.count, 1);
    /* Neither falls, also if a window says less. */
    suite_apply(store, (struct store_changes){.newest_s = 1, .user.cleared_horizon_s = 1});
    assert_int_equal(take_all(store, user, 60, 5, &all), STATUS_START_OVER);
    must_take(store, user, 71, 5, &all);
    assert_int_equal(all.newest_s, 71);
    assert_int_equal(store_flush(&store->applier), STATUS_OK);
    assert_int_equal(take_all(store, user, 60, 5, &all), STATUS_START_OVER);
    suite_done(store);
}

enum { USERS = 4, ITEMS = 40, KINDS = 6, STEPS = 1200, SPAN = 120 };

struct model {
    uint32_t set_s[USERS][KINDS][ITEMS];     /* 0: not live */
    uint32_t cleared_s[USERS][KINDS][ITEMS]; /* 0: never */
    uint32_t now_s;
    uint32_t horizon_s;
};

static struct store_reaction model_key(uint64_t user, uint64_t kind, uint64_t item)
{
    return suite_reaction(user, item, (uint8_t)(kind * 40), 0);
}

static void change_model(struct store *store, struct model *model, uint64_t dice)
{
    uint32_t user = dice % USERS, kind = (dice >> 8) % KINDS, item = (dice >> 16) % ITEMS;
    uint32_t *set_s = &model->set_s[user][kind][item];
    model->now_s += (dice >> 24) % 4 == 0;
    bool set = *set_s == 0;
    change_at(store, model_key(user, kind, item), set, model->now_s);
    *set_s = set ? model->now_s : 0;
    if (!set)
        model->cleared_s[user][kind][item] = model->now_s;
}

static const struct store_listed *find_row(const struct all *all, struct store_reaction key)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->rows[i].kind == key.kind && all->rows[i].type == key.item.type &&
            id_equal(all->rows[i].id, key.item.id))
            return &all->rows[i];
    return NULL;
}

/* Each as it is, the newest clearing of it first; and nothing besides. */
static void expect_model(struct store *store, const struct model *model, uint32_t user,
                         uint32_t since_s, size_t limit)
{
    static struct all all;
    size_t live = 0;
    must_take(store, model_key(user, 0, 0).user, since_s, limit, &all);
    for (uint32_t i = 0; i < KINDS * ITEMS; i++) {
        uint32_t kind = i / ITEMS, item = i % ITEMS;
        uint32_t set_s = model->set_s[user][kind][item];
        uint32_t cleared_s = model->cleared_s[user][kind][item];
        const struct store_listed *row = find_row(&all, model_key(user, kind, item));
        bool told =
            set_s != 0 ? set_s >= since_s : since_s != 0 && cleared_s != 0 && cleared_s >= since_s;
        assert_int_equal(row != NULL, told);
        if (row == NULL)
            continue;
        assert_int_equal(row->cleared, set_s == 0);
        assert_int_equal(row->time_s, set_s != 0 ? set_s : cleared_s);
        live += !row->cleared;
    }
    for (size_t i = 0; i < all.count; i++)
        live -= !all.rows[i].cleared;
    assert_int_equal(live, 0);
}

void store_suite_changes_model(void **state)
{
    (void)state;
    struct model *model = calloc(1, sizeof(*model));
    struct store *store = store_suite_open();
    uint64_t seed = suite_seed();
    model->now_s = 1000;
    for (uint64_t step = 0; step < STEPS; step++) {
        uint64_t dice = hash_3(seed, step, 1);
        change_model(store, model, dice);
        if (step % 100 == 99) {
            model->horizon_s = model->now_s - SPAN;
            suite_apply(store, (struct store_changes){.user.cleared_horizon_s = model->horizon_s});
        }
        if (step % 40 == 0)
            assert_int_equal(store_flush(&store->applier), STATUS_OK);
        if (step % 10 != 0)
            continue;
        uint32_t since_s = model->now_s - (uint32_t)(dice >> 32) % SPAN;
        if (since_s < model->horizon_s || (dice >> 40) % 5 == 0)
            since_s = 0;
        expect_model(store, model, (dice >> 48) % USERS, since_s, 1 + (dice >> 56) % 9);
    }
    for (uint32_t user = 0; user < USERS; user++)
        expect_model(store, model, user, model->now_s - SPAN / 2, LIMIT_CHANGES);
    free(model);
    suite_done(store);
}

/* More lists than one page may look at, all of them old: pages are short, and come to an end. */
void store_suite_changes_many_lists(void **state)
{
    (void)state;
    enum { TYPES = LIMIT_TYPES, MANY_KINDS = 10 };
    static struct all all;
    struct store *store = store_suite_open();
    struct store_reaction *old = calloc(TYPES * MANY_KINDS, sizeof(*old));
    for (uint32_t i = 0; i < TYPES * MANY_KINDS; i++)
        old[i] = (struct store_reaction){.user.lo = 3,
                                         .item = {.id.lo = 1, .type = (uint16_t)(i / MANY_KINDS)},
                                         .kind = (uint8_t)(i % MANY_KINDS),
                                         .time_s = 5};
    suite_apply(store, (struct store_changes){BOTH_SPANS(old, TYPES * MANY_KINDS), .newest_s = 5});
    free(old);
    struct store_reaction last = {
        .user.lo = 3, .item = {.id.lo = 2, .type = TYPES - 1}, .kind = MANY_KINDS - 1};
    change_at(store, last, true, 9);
    must_take(store, last.user, 6, 3, &all);
    assert_int_equal(all.count, 1);
    expect_row(&all, 0, last, false, 9);
    change_at(store, last, false, 10);
    must_take(store, last.user, 6, 3, &all);
    assert_int_equal(all.count, 1);
    expect_row(&all, 0, last, true, 10);
    suite_done(store);
}
