/* The table of watched items against a model, its versions and digests, and that all memory is back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/slow_names.h"
#include "chance.h"
#include "live/watched.h"
#include "op/op.h"

#define ITEMS   500
#define VIEWERS 3000

static struct memory_budget budget;
static struct watched_table table;
static struct names *names;

static int setup(void **state)
{
    (void)state;
    budget = (struct memory_budget){.limit = MIB(64)};
    watched_init(&table, &budget, 7, false);
    names = names_new();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    watched_free(&table);
    names_free(names);
    assert_int_equal(memory_used(&budget), 0);
    return 0;
}

static uint8_t name_of(struct names *in, const char *text)
{
    uint16_t index;
    assert_int_equal(names_intern(in, NAME_COUNTER, text, strlen(text), &index), STATUS_OK);
    return (uint8_t)index;
}

static bool join(struct viewer *viewer, unsigned number)
{
    char text[32];
    int length = snprintf(text, sizeof text, "video:%u", number);
    return watched_add(&table, viewer, (struct text){text, (size_t)length}, (struct id){0, number});
}

/* However they come and go, an item is there once, and only while somebody watches it. */
static void comings_and_goings(void **state)
{
    (void)state;
    struct chance chance = {test_seed()};
    static struct viewer viewers[VIEWERS];
    static unsigned watching[VIEWERS], by_item[ITEMS];
    memset(watching, 0, sizeof watching);
    memset(by_item, 0, sizeof by_item);
    for (unsigned turn = 0; turn < 40000; turn++) {
        unsigned i = chance_below(&chance, VIEWERS), item = chance_below(&chance, ITEMS);
        if (watching[i] > 0) {
            by_item[watching[i] - 1]--;
            watched_remove(&table, &viewers[i]);
            watching[i] = 0;
        } else {
            assert_true(join(&viewers[i], item));
            assert_int_equal(viewers[i].item->item.id.lo, item);
            watching[i] = item + 1;
            by_item[item]++;
        }
        if (turn % 500 != 0)
            continue;
        unsigned distinct = 0;
        for (unsigned k = 0; k < ITEMS; k++)
            distinct += by_item[k] > 0;
        assert_int_equal(table.count, distinct);
    }
    for (unsigned i = 0; i < VIEWERS; i++)
        if (watching[i] > 0)
            watched_remove(&table, &viewers[i]);
    assert_int_equal(table.count, 0);
}

/* A version is new exactly if something differs; every counter is as it was last seen. */
static void versions_follow_values(void **state)
{
    (void)state;
    struct chance chance = {test_seed()};
    int64_t model[40] = {0};
    uint8_t index[40];
    char text[8];
    struct viewer viewer;
    assert_true(join(&viewer, 1));
    struct watched *item = viewer.item;
    for (unsigned i = 0; i < 40; i++) {
        snprintf(text, sizeof text, "c%u", i);
        index[i] = name_of(names, text);
    }
    assert_true(watched_take(&table, item, NULL, 0, names));
    assert_int_equal(item->version, 1);
    for (unsigned turn = 0; turn < 5000; turn++) {
        struct hot_counter seen[40];
        uint32_t count = 0;
        bool differs = false;
        for (unsigned i = 0; i < 40; i++) {
            if (chance_below(&chance, 20) == 0) {
                int64_t value = (int64_t)chance_below(&chance, 3) - 1;
                differs = differs || value != model[i];
                model[i] = value;
            }
            if (model[i] != 0 || chance_below(&chance, 4) == 0)
                seen[count++] = (struct hot_counter){model[i], index[i]};
        }
        uint64_t version = item->version, digest = item->digest;
        assert_int_equal(watched_take(&table, item, seen, count, names), differs);
        assert_int_equal(item->version, version + differs);
        assert_int_equal(item->digest == digest, !differs);
        for (unsigned i = 0; i < item->count; i++) {
            const struct watched_counter *counter = &item->counters[i];
            unsigned which = 0;
            while (index[which] != counter->name)
                which++;
            assert_int_equal(counter->value, model[which]);
            assert_true(counter->changed <= item->version);
        }
    }
    watched_remove(&table, &viewer);
}

/* On another server, where names were made in another order, it is the same; for another item not. */
static void digests_are_of_the_state_alone(void **state)
{
    (void)state;
    struct names *others = names_new();
    uint8_t a = name_of(names, "aa"), b = name_of(names, "bb");
    uint8_t other_b = name_of(others, "bb"), other_a = name_of(others, "aa");
    struct viewer viewers[3];
    for (unsigned i = 0; i < 3; i++)
        assert_true(join(&viewers[i], i == 2));
    struct hot_counter one[] = {{5, a}, {-7, b}}, two[] = {{-7, other_b}, {5, other_a}};
    watched_take(&table, viewers[0].item, one, 2, names);
    uint64_t digest = viewers[0].item->digest;
    watched_take(&table, viewers[2].item, one, 2, names);
    assert_int_not_equal(viewers[2].item->digest, digest);
    watched_remove(&table, &viewers[0]);
    watched_remove(&table, &viewers[1]);
    assert_true(join(&viewers[0], 0));
    watched_take(&table, viewers[0].item, NULL, 0, others);
    assert_int_not_equal(viewers[0].item->digest, digest);
    assert_true(watched_take(&table, viewers[0].item, two, 2, others));
    assert_int_equal(viewers[0].item->digest, digest);
    struct hot_counter swapped[] = {{5, other_b}, {-7, other_a}};
    assert_true(watched_take(&table, viewers[0].item, swapped, 2, others));
    assert_int_not_equal(viewers[0].item->digest, digest);
    watched_remove(&table, &viewers[0]);
    watched_remove(&table, &viewers[2]);
    names_free(others);
}

static void types_are_found_later(void **state)
{
    (void)state;
    struct viewer viewer;
    uint16_t type;
    assert_true(join(&viewer, 3));
    assert_false(watched_find_type(viewer.item, names));
    assert_int_equal(viewer.item->item.type, TYPE_UNKNOWN);
    assert_int_equal(names_intern(names, NAME_TYPE, "video", 5, &type), STATUS_OK);
    assert_true(watched_find_type(viewer.item, names));
    assert_int_equal(viewer.item->item.type, type);
    watched_remove(&table, &viewer);
}

/* Where servers share their names, each round asks until there is an answer. */
static void types_elsewhere_are_asked_for(void **state)
{
    (void)state;
    struct viewer viewer;
    struct slow_names slow;
    struct names *others = names_new();
    slow_begin(&slow, others, "video");
    assert_true(join(&viewer, 3));
    assert_false(watched_find_type(viewer.item, others));
    assert_int_equal(viewer.item->item.type, TYPE_UNKNOWN);
    slow_answer(&slow, STATUS_OK, STATUS_BLOCKED);
    assert_true(watched_find_type(viewer.item, others));
    assert_int_equal(viewer.item->item.type, names_find_type(others, "video", 5));
    assert_int_equal(slow.finds, 2);
    watched_remove(&table, &viewer);
    slow_end(&slow);
    names_free(others);
}

/* What a worker has stays until it is back. */
static void items_away_are_kept(void **state)
{
    (void)state;
    struct viewer viewer, again;
    assert_true(join(&viewer, 3));
    struct watched *item = viewer.item;
    item->away = true;
    watched_remove(&table, &viewer);
    assert_int_equal(table.count, 1);
    assert_true(join(&again, 3));
    assert_ptr_equal(again.item, item);
    watched_remove(&table, &again);
    watched_back(&table, item);
    assert_int_equal(table.count, 0);
}

static void no_memory(void **state)
{
    (void)state;
    struct viewer viewers[200];
    unsigned joined = 0;
    struct hot_counter counter = {1, NAME_INDEX_LIKE};
    assert_true(join(&viewers[joined++], 0));
    budget.limit = memory_used(&budget) + 20 * (sizeof(struct watched) + 8);
    while (joined < 200 && join(&viewers[joined], joined))
        joined++;
    assert_in_range(joined, 10, 100);
    budget.limit = memory_used(&budget);
    assert_false(watched_take(&table, viewers[0].item, &counter, 1, names));
    assert_int_equal(viewers[0].item->version, 0);
    budget.limit = MIB(64);
    assert_true(watched_take(&table, viewers[0].item, &counter, 1, names));
    for (unsigned i = 0; i < joined; i++)
        watched_remove(&table, &viewers[i]);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(comings_and_goings),
        TEST(versions_follow_values),
        TEST(digests_are_of_the_state_alone),
        TEST(types_are_found_later),
        TEST(types_elsewhere_are_asked_for),
        TEST(items_away_are_kept),
        TEST(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
