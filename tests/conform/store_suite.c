/* One behaviour of a store at a time. */
#include "store_suite.h"

#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "spans.h"

void store_suite_empty(void **state)
{
    (void)state;
    struct store *store = store_suite_open();
    assert_non_null(store->admin.functions->name);
    assert_int_equal(store_position(&store->applier), 0);
    assert_int_equal(suite_reactions(store), 0);
    assert_int_equal(suite_time(store, suite_reaction(1, 1, 0, 0)), 0);
    assert_int_equal(suite_value(store, NULL, suite_count(1, 0, 0)), 0);
    assert_int_equal(store_read_reactions(&store->reader, NULL, 0), STATUS_OK);
    assert_int_equal(store_read_items(&store->reader, NULL, NULL, 0, &(struct store_values){0}),
                     STATUS_OK);
    assert_int_equal(store_apply(&store->applier, &(struct store_changes){0}), STATUS_OK);
    assert_int_equal(store_flush(&store->applier), STATUS_OK);
    char *dump = suite_dump(store);
    assert_string_equal(dump, "");
    free(dump);
    suite_verify(store);
    suite_done(store);
}

void store_suite_reactions(void **state)
{
    (void)state;
    struct store *store = store_suite_open();
    struct store_reaction one = suite_reaction(1, 2, 3, 100);
    suite_react(store, one);
    assert_int_equal(suite_time(store, one), 100);
    assert_int_equal(suite_reactions(store), 1);
    one.time_s = 0;
    suite_react(store, one);
    assert_int_equal(suite_time(store, one), 0);
    assert_int_equal(suite_reactions(store), 0);
    suite_react(store, one); /* was not there, is not there */
    assert_int_equal(suite_reactions(store), 0);
    one.time_s = UINT32_MAX;
    suite_react(store, one);
    assert_int_equal(suite_time(store, one), UINT32_MAX);
    suite_done(store);
}

/* A reaction that went and came again within one batch has another time, or even the same. */
void store_suite_replace(void **state)
{
    (void)state;
    struct store *store = store_suite_open();
    struct store_reaction one = suite_reaction(1, 2, 0, 100);
    suite_react(store, one);
    suite_add(store, suite_count(2, 0, 1));
    for (uint32_t time_s = 101; time_s > 98; time_s--) {
        one.time_s = time_s;
        suite_react(store, one);
        suite_react(store, one);
        assert_int_equal(suite_time(store, one), time_s);
        assert_int_equal(suite_reactions(store), 1);
        suite_verify(store);
    }
    char *dump = suite_dump(store);
    assert_string_equal(dump, "count 2:0.2 0 1\nreaction 0.1 0 2:0.2 99\n");
    free(dump);
    suite_done(store);
}

/* A change that says the store has a reaction which it has not applies nothing of its batch. */
void store_suite_claims(void **state)
{
    (void)state;
    struct store *store = store_suite_open();
    suite_react(store, suite_reaction(1, 1, 1, 5));
    struct store_reaction changes[] = {suite_reaction(2, 2, 1, 5), suite_reaction(3, 3, 1, 0)};
    struct store_count count = suite_count(2, 1, 1);
    changes[1].was_live = true;
    assert_int_equal(
        store_apply(&store->applier,
                    &(struct store_changes){BOTH_SPANS(changes, 2), .item.counts = &count,
                                            .item.count_count = 1, .position = 9}),
        STATUS_DAMAGED);
    assert_int_equal(store_position(&store->applier), 1);
    assert_int_equal(suite_time(store, changes[0]), 0);
    assert_int_equal(suite_value(store, NULL, count), 0);
    /* it can be made good: the same position without the claim goes through */
    changes[1].was_live = false;
    assert_int_equal(store_apply(&store->applier,
                                 &(struct store_changes){BOTH_SPANS(changes, 2), .position = 9}),
                     STATUS_OK);
    assert_int_equal(suite_time(store, changes[0]), 5);
    assert_int_equal(suite_reactions(store), 2);
    suite_done(store);
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
    others[6].kind = 249;
    suite_react(store, base);
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(suite_time(store, others[i]), 0);
    for (size_t i = 0; i < 7; i++)
        others[i].time_s = 60 + (uint32_t)i;
    suite_apply(store, (struct store_changes){BOTH_SPANS(others, 7)});
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(suite_time(store, others[i]), 60 + i);
    assert_int_equal(suite_time(store, base), 50);
    assert_int_equal(suite_reactions(store), 8);
    suite_done(store);
}

static void flip(struct id *id, unsigned bit)
{
    *(bit < 64 ? &id->lo : &id->hi) ^= 1ULL << (bit & 63);
}

/* Ids that differ in any one bit of 128, narrow and wide, are different users and items. */
void store_suite_one_bit(void **state)
{
    (void)state;
    struct store *store = store_suite_open();
    const struct id bases[] = {{.lo = 0x5555555555555555}, {.hi = 0x8000000000000001, .lo = 0}};
    struct store_reaction all[4 * 128];
    struct store_count counts[2 * 128];
    size_t used = 0, counted = 0;
    for (size_t base = 0; base < 2; base++)
        for (unsigned bit = 0; bit < 128; bit++) {
            struct store_reaction key = {.user = bases[base], .item.id = bases[base]};
            flip(&key.user, bit);
            all[used] = key;
            all[used].time_s = (uint32_t)used + 1;
            used++;
            key.user = bases[base];
            flip(&key.item.id, bit);
            all[used] = key;
            all[used].time_s = (uint32_t)used + 1;
            used++;
            counts[counted] = (struct store_count){.item = key.item, .value = (int64_t)counted + 1};
            counted++;
        }
    suite_apply(store, (struct store_changes){BOTH_SPANS(all, used), .item.counts = counts,
                                              .item.count_count = counted});
    assert_int_equal(suite_reactions(store), used);
    for (size_t i = 0; i < used; i++)
        assert_int_equal(suite_time(store, all[i]), i + 1);
    for (size_t i = 0; i < counted; i++)
        assert_int_equal(suite_value(store, NULL, counts[i]), i + 1);
    suite_done(store);
}

void store_suite_counts(void **state)
{
    (void)state;
    struct store *store = store_suite_open();
    const struct store_count counts[] = {suite_count(1, 3, 5), suite_count(1, 1, -5),
                                         suite_count(2, 0, 1), suite_count(5, 0, INT64_MAX),
                                         suite_count(6, 0, INT64_MIN)};
    suite_apply(store, (struct store_changes){.item.counts = counts, .item.count_count = 5});
    for (size_t i = 0; i < 5; i++)
        assert_true(suite_value(store, NULL, counts[i]) == counts[i].value);
    suite_add(store, suite_count(1, 3, -7));
    suite_add(store, suite_count(1, 2, 64));
    assert_int_equal(suite_value(store, NULL, counts[0]), -2);
    assert_int_equal(suite_value(store, NULL, counts[1]), -5);
    assert_int_equal(suite_value(store, NULL, suite_count(1, 2, 0)), 64);
    assert_int_equal(suite_reactions(store), 0);
    suite_done(store);
}

void store_suite_zero_counts_vanish(void **state)
{
    (void)state;
    struct store *store = store_suite_open();
    for (int flushed = 0; flushed < 2; flushed++) {
        suite_add(store, suite_count(1, 0, 5));
        suite_add(store, suite_count(1, 1, 1));
        if (flushed)
            assert_int_equal(store_flush(&store->applier), STATUS_OK);
        suite_add(store, suite_count(1, 0, -5));
        if (flushed)
            assert_int_equal(store_flush(&store->applier), STATUS_OK);
        char *dump = suite_dump(store);
        assert_string_equal(dump, "count 1:0.1 1 1\n");
        free(dump);
        suite_add(store, suite_count(1, 1, -1));
        dump = suite_dump(store);
        assert_string_equal(dump, "");
        free(dump);
        struct store_item item = {.item = suite_count(1, 0, 0).item, .count = 9};
        struct store_values values = {0};
        assert_int_equal(store_read_items(&store->reader, NULL, &item, 1, &values), STATUS_OK);
        assert_int_equal(item.count, 0);
        free(values.values);
    }
    suite_done(store);
}

/* Sums are two's complement on the way: what ends in range is right whatever came between. */
void store_suite_sums_wrap(void **state)
{
    (void)state;
    struct store *store = store_suite_open();
    struct store_count count = suite_count(1, 7, INT64_MAX);
    suite_add(store, count);
    suite_add(store, suite_count(1, 7, 5));
    suite_add(store, suite_count(1, 7, -6));
    assert_true(suite_value(store, NULL, count) == INT64_MAX - 1);
    suite_add(store, suite_count(1, 7, INT64_MIN));
    assert_int_equal(suite_value(store, NULL, count), -2);
    suite_done(store);
}

/* As many counters on one item as there can be names, and one of them changed. */
void store_suite_many_names(void **state)
{
    (void)state;
    struct store *store = store_suite_open();
    struct store_count counts[LIMIT_NAMES];
    for (size_t i = 0; i < LIMIT_NAMES; i++)
        counts[i] = suite_count(1, (uint8_t)(LIMIT_NAMES - 1 - i), INT64_MIN + (int64_t)i);
    suite_apply(store,
                (struct store_changes){.item.counts = counts, .item.count_count = LIMIT_NAMES});
    suite_add(store, suite_count(1, 100, -1));
    counts[LIMIT_NAMES - 1 - 100].value--;
    struct store_item item = {.item = counts[0].item};
    struct store_values values = {0};
    assert_int_equal(store_read_items(&store->reader, NULL, &item, 1, &values), STATUS_OK);
    assert_int_equal(item.count, LIMIT_NAMES);
    free(values.values);
    for (size_t i = 0; i < LIMIT_NAMES; i++)
        assert_true(suite_value(store, NULL, counts[i]) == counts[i].value);
    suite_done(store);
}

void store_suite_read_items_appends(void **state)
{
    (void)state;
    struct store *store = store_suite_open();
    enum { ITEMS = 1000 };
    struct store_item *items = calloc(ITEMS, sizeof(*items));
    for (uint64_t i = 0; i < ITEMS; i++) {
        items[i].item = suite_count(i / 2, 0, 0).item; /* each asked for twice */
        if (i % 6 == 0)
            suite_apply(store, (struct store_changes){
                                   .item.counts = (struct store_count[]){suite_count(i / 2, 1, 1),
                                                                         suite_count(i / 2, 9, -2)},
                                   .item.count_count = 2});
    }
    struct store_values values = {0};
    for (uint32_t round = 0; round < 2; round++) {
        uint32_t expected = (uint32_t)values.used;
        assert_int_equal(store_read_items(&store->reader, NULL, items, ITEMS, &values), STATUS_OK);
        for (uint64_t i = 0; i < ITEMS; i++) {
            assert_int_equal(items[i].first, expected);
            assert_int_equal(items[i].count, i / 2 % 3 == 0 ? 2 : 0);
            expected += items[i].count;
        }
        assert_int_equal(values.used, expected);
    }
    free(values.values);
    free(items);
    suite_done(store);
}

void store_suite_position(void **state)
{
    (void)state;
    struct store *store = store_suite_open();
    struct store_reaction one = suite_reaction(1, 2, 3, 100);
    struct store_count plus = suite_count(2, 3, 1);
    struct store_changes changes = {BOTH_SPANS(&one, 1), .item.counts = &plus,
                                    .item.count_count = 1, .position = 64};
    for (int i = 0; i < 3; i++)
        assert_int_equal(store_apply(&store->applier, &changes), STATUS_OK);
    assert_int_equal(store_position(&store->applier), 64);
    assert_int_equal(suite_value(store, NULL, plus), 1);
    one.time_s = 0;
    one.was_live = true;
    changes.position = 32;
    assert_int_equal(store_apply(&store->applier, &changes), STATUS_OK);
    assert_int_equal(suite_time(store, one), 100);
    changes.position = 65;
    assert_int_equal(store_apply(&store->applier, &changes), STATUS_OK);
    assert_int_equal(suite_time(store, one), 0);
    assert_int_equal(suite_value(store, NULL, plus), 2);
    assert_int_equal(store_position(&store->applier), 65);
    suite_done(store);
}

void store_suite_flush(void **state)
{
    (void)state;
    struct store *store = store_suite_open();
    struct store_stats stats;
    suite_react(store, suite_reaction(1, 1, 1, 1));
    assert_int_equal(store_flush(&store->applier), STATUS_OK);
    suite_react(store, suite_reaction(2, 1, 1, 1));
    store_stats(&store->admin, &stats);
    assert_int_equal(stats.position, 2);
    assert_int_equal(stats.durable, 1);
    for (int i = 0; i < 3; i++)
        assert_int_equal(store_flush(&store->applier), STATUS_OK);
    store_stats(&store->admin, &stats);
    assert_int_equal(stats.durable, 2);
    assert_int_equal(suite_reactions(store), 2);
    suite_done(store);
}

void store_suite_names(void **state)
{
    (void)state;
    struct store *store = store_suite_open();
    const struct store_name names[] = {
        suite_name(NAME_TYPE, 0, "video"), suite_name(NAME_KIND, 2, "favorite"),
        suite_name(NAME_COUNTER, 3, "v"),
        suite_name(NAME_TYPE, LIMIT_TYPES - 1, "a123456789012345678901234567890z")};
    suite_apply(store, (struct store_changes){.names = names, .name_count = 4});
    suite_apply(store, (struct store_changes){.names = names + 1, .name_count = 2});
    char *dump = suite_dump(store);
    assert_string_equal(dump, "name 1 0 video\nname 1 1023 a123456789012345678901234567890z\n"
                              "name 2 2 favorite\nname 3 3 v\n");
    free(dump);
    suite_done(store);
}

static void add_token(struct store *store, uint64_t token, uint32_t time_s, uint32_t horizon_s)
{
    struct store_token row = {
        .token = {token, ~token}, .time_s = time_s, .item = suite_count(token, 0, 0).item};
    suite_apply(store, (struct store_changes){.item.tokens = &row,
                                              .item.token_count = 1,
                                              .item.token_horizon_s = horizon_s});
}

/* Tokens before the horizon are not there any more, however far apart the steps are. */
void store_suite_tokens(void **state)
{
    (void)state;
    struct store *store = store_suite_open();
    for (uint32_t i = 1; i <= 9; i++)
        add_token(store, i, i * 100, 0);
    const uint32_t horizons_s[] = {100, 101, 130, 500, 499, 0};
    const char *firsts[] = {"token 1.", "token 2.", "token 2.", "token 5.", "token 5.", "token 5."};
    for (size_t i = 0; i < 6; i++) {
        suite_apply(store, (struct store_changes){.item.token_horizon_s = horizons_s[i]});
        char *dump = suite_dump(store);
        assert_memory_equal(dump, firsts[i], strlen(firsts[i]));
        free(dump);
    }
    add_token(store, 2, 499, 0);   /* before the horizon that was: does not count */
    add_token(store, 3, 900, 700); /* again, and the horizon moves */
    char *dump = suite_dump(store);
    assert_string_equal(dump, "token 3.fffffffffffffffc 900 3:0.3\n"
                              "token 7.fffffffffffffff8 700 3:0.7\n"
                              "token 8.fffffffffffffff7 800 0:0.8\n"
                              "token 9.fffffffffffffff6 900 1:0.9\n");
    free(dump);
    suite_done(store);
}

/* What is read from a snapshot is of its moment, whatever happens after. */
void store_suite_snapshot(void **state)
{
    (void)state;
    struct store *store = store_suite_open();
    struct store_count count = suite_count(1, 1, 5);
    struct store_snapshot *before = store_snapshot(&store->reader);
    assert_non_null(before);
    suite_add(store, count);
    struct store_snapshot *between = store_snapshot(&store->reader);
    assert_non_null(between);
    suite_add(store, suite_count(1, 1, -5));
    assert_int_equal(store_flush(&store->applier), STATUS_OK);
    suite_add(store, suite_count(1, 1, 7));
    assert_int_equal(store_flush(&store->applier), STATUS_OK);
    assert_int_equal(suite_value(store, before, count), 0);
    assert_int_equal(suite_value(store, between, count), 5);
    assert_int_equal(suite_value(store, NULL, count), 7);
    store_release(&store->reader, before);
    assert_int_equal(suite_value(store, between, count), 5);
    store_release(&store->reader, between);
    suite_done(store);
}

static enum status stop_third(void *context, const struct store_reaction *reaction)
{
    (void)reaction;
    uint32_t *seen = context;
    return ++*seen == 3 ? STATUS_NO_MEMORY : STATUS_OK;
}

void store_suite_visit_stops(void **state)
{
    (void)state;
    struct store *store = store_suite_open();
    uint32_t seen = 0;
    const struct store_visitor visitor = {.reaction = stop_third, .context = &seen};
    for (uint32_t i = 0; i < 9; i++)
        suite_react(store, suite_reaction(i, i, 0, 1));
    assert_int_equal(store_visit(&store->admin, &visitor), STATUS_NO_MEMORY);
    assert_int_equal(seen, 3);
    assert_int_equal(store_visit(&store->admin, &(struct store_visitor){0}), STATUS_OK);
    suite_done(store);
}

struct parts_seen {
    uint32_t first;
    uint32_t end;
    uint32_t reactions;
    uint32_t counts;
};

static enum status seen_reaction(void *context, const struct store_reaction *reaction)
{
    struct parts_seen *seen = context;
    uint32_t part = store_user_partition(reaction->user);
    assert_true(part >= seen->first && part < seen->end);
    seen->reactions++;
    return STATUS_OK;
}

static enum status seen_count(void *context, const struct store_count *count)
{
    struct parts_seen *seen = context;
    uint32_t part = store_item_partition(count->item);
    assert_true(part >= seen->first && part < seen->end);
    seen->counts++;
    return STATUS_OK;
}

/* In slices of any size, each row is seen once, in the slice that its part is in. */
void store_suite_visit_parts(void **state)
{
    (void)state;
    struct store *store = store_suite_open();
    for (uint32_t i = 0; i < 300; i++) {
        suite_react(store, suite_reaction(i, i, 0, 1));
        suite_add(store, suite_count(i, 0, 1));
    }
    static const uint32_t steps[] = {1000, 8192, STORE_PARTITIONS - 1, STORE_PARTITIONS};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct parts_seen seen = {0};
        for (; seen.first < STORE_PARTITIONS; seen.first = seen.end) {
            seen.end =
                seen.first + steps[i] < STORE_PARTITIONS ? seen.first + steps[i] : STORE_PARTITIONS;
            const struct store_visitor visitor = {.reaction = seen_reaction,
                                                  .count = seen_count,
                                                  .context = &seen,
                                                  .partition_first = seen.first,
                                                  .partition_end = seen.end};
            assert_int_equal(store_visit(&store->admin, &visitor), STATUS_OK);
        }
        assert_int_equal(seen.reactions, 300);
        assert_int_equal(seen.counts, 300);
    }
    suite_done(store);
}

static void progress_seen(void *context, const struct store_report *report)
{
    assert_true(report->rows <= report->rows_total);
    ++*(uint32_t *)context;
}

void store_suite_verify_counts(void **state)
{
    (void)state;
    struct store *store = store_suite_open();
    const struct store_name kind = suite_name(NAME_KIND, 5, "wow");
    suite_apply(store, (struct store_changes){.names = &kind, .name_count = 1});
    for (uint32_t i = 0; i < 60; i++) {
        uint8_t of_kind = i % 2 ? 5 : 0;
        suite_react(store, suite_reaction(i, i % 7, of_kind, i + 1));
        suite_add(store, suite_count(i % 7, of_kind, 1));
        suite_add(store, suite_count(i, 9, 10)); /* a counter that is no kind */
    }
    uint32_t calls = 0;
    struct store_report report;
    assert_int_equal(store_verify(&store->admin, progress_seen, &calls, &report), STATUS_OK);
    assert_true(calls >= 1);
    assert_int_equal(report.reactions, 60);
    assert_int_equal(report.counts, 60 + 7 * 2);
    suite_done(store);
}

/* A counter that is not the number of its reactions is found and its item named. */
void store_suite_verify_finds(void **state)
{
    (void)state;
    struct store *store = store_suite_open();
    const struct store_name kind = suite_name(NAME_KIND, 5, "wow");
    struct store_report report;
    suite_apply(store, (struct store_changes){.names = &kind, .name_count = 1});
    suite_react(store, suite_reaction(1, 42, 5, 9));
    assert_int_equal(store_verify(&store->admin, NULL, NULL, &report), STATUS_DAMAGED);
    assert_non_null(strstr(report.problem, ":42: "));
    suite_add(store, suite_count(42, 5, 1));
    suite_verify(store);
    suite_add(store, suite_count(41, 5, 1));
    assert_int_equal(store_verify(&store->admin, NULL, NULL, &report), STATUS_DAMAGED);
    assert_non_null(strstr(report.problem, ":41: "));
    suite_add(store, suite_count(41, 5, -1));
    suite_add(store, suite_count(42, 5, 1));
    assert_int_equal(store_verify(&store->admin, NULL, NULL, &report), STATUS_DAMAGED);
    assert_non_null(strstr(report.problem, ":42: "));
    suite_done(store);
}
