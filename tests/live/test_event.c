/* Events as they go to a client, byte by byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/limits.h"
#include "live/event.h"

static struct memory_budget budget;
static struct watched_table table;
static struct names *names;
static struct viewer viewers[2];
static struct buffer out;
static uint8_t view;

static int setup(void **state)
{
    (void)state;
    uint16_t index;
    budget = (struct memory_budget){.limit = MIB(1)};
    out = (struct buffer){.budget = &budget};
    watched_init(&table, &budget, 7, false);
    names = names_new();
    assert_int_equal(names_intern(names, NAME_COUNTER, "view", 4, &index), STATUS_OK);
    view = (uint8_t)index;
    assert_true(watched_add(&table, &viewers[0], (struct text){"video:1", 7}, (struct id){0, 1}));
    assert_true(watched_add(&table, &viewers[1], (struct text){"song:2", 6}, (struct id){0, 2}));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    watched_remove(&table, &viewers[0]);
    watched_remove(&table, &viewers[1]);
    watched_free(&table);
    buffer_free(&out);
    names_free(names);
    assert_int_equal(memory_used(&budget), 0);
    return 0;
}

static void see(unsigned which, int64_t likes, int64_t views)
{
    struct hot_counter counters[] = {{likes, NAME_INDEX_LIKE}, {views, view}};
    watched_take(&table, viewers[which].item, counters, 2, names);
}

/* The event, without its id, and what is told counts as told. */
static void expect_event(bool all, const char *items)
{
    char wanted[512];
    out.length = 0;
    assert_true(event_write(&out, viewers, 2, all, names, false));
    int length =
        snprintf(wanted, sizeof wanted, "id: %016llx\nevent: counts\ndata: {\"items\":{%s}}\n\n",
                 (unsigned long long)event_digest(viewers, 2), items);
    assert_int_equal(out.length, length);
    assert_memory_equal(out.bytes, wanted, out.length);
    for (unsigned i = 0; i < 2; i++)
        viewers[i].sent = viewers[i].item->version;
}

static void all_and_then_what_changed(void **state)
{
    (void)state;
    see(0, 12, INT64_MIN);
    see(1, 0, 0);
    expect_event(true, "\"video:1\":{\"like\":12,\"view\":-9223372036854775808},\"song:2\":{}");
    see(1, INT64_MAX, 0);
    expect_event(false, "\"song:2\":{\"like\":9223372036854775807}");
    see(0, 0, 3);
    expect_event(false, "\"video:1\":{\"like\":0,\"view\":3}");
    see(0, 0, 4);
    see(0, 0, 5);
    expect_event(false, "\"video:1\":{\"view\":5}");
    see(0, 1, 5);
    see(0, 0, 5); /* it was 0 when the client was last told, and is: harmless to say */
    expect_event(false, "\"video:1\":{\"like\":0,\"view\":5}");
    expect_event(true, "\"video:1\":{\"view\":5},\"song:2\":{\"like\":9223372036854775807}");
}

static void chunks_say_how_long_they_are(void **state)
{
    (void)state;
    see(0, 1, 0);
    see(1, 1, 0);
    assert_true(event_write(&out, viewers, 2, true, names, true));
    assert_memory_equal(out.bytes + 8, "\r\nid: ", 6);
    assert_int_equal(strtoul(out.bytes, NULL, 16), out.length - 12);
    assert_memory_equal(out.bytes + out.length - 2, "\r\n", 2);
    out.length = 0;
    assert_true(event_write_text(&out, ":\n\n", true) && event_write_end(&out, true));
    assert_int_equal(out.length, 20);
    assert_memory_equal(out.bytes, "00000003\r\n:\n\n\r\n0\r\n\r\n", 20);
    out.length = 0;
    assert_true(event_write_text(&out, ":\n\n", false) && event_write_end(&out, false));
    assert_int_equal(out.length, 3);
}

static void ids_are_read(void **state)
{
    (void)state;
    uint64_t digest;
    assert_true(event_read_id((struct text){"0123456789abcDEF", 16}, &digest));
    assert_int_equal(digest, 0x0123456789abcdefULL);
    assert_false(event_read_id((struct text){"0123456789abcdeg", 16}, &digest));
    assert_false(event_read_id((struct text){"0123456789abcdef", 15}, &digest));
    assert_false(event_read_id((struct text){NULL, 0}, &digest));
}

/* Which item is asked for first does not matter. */
static void digests_have_no_order(void **state)
{
    (void)state;
    see(0, 1, 2);
    see(1, 3, 4);
    struct viewer turned[2] = {viewers[1], viewers[0]};
    uint64_t digest = event_digest(viewers, 2);
    assert_int_equal(event_digest(turned, 2), digest);
    see(0, 3, 4);
    see(1, 1, 2);
    assert_int_not_equal(event_digest(viewers, 2), digest);
}

static void no_memory_leaves_nothing_half(void **state)
{
    (void)state;
    see(0, 1, 2);
    see(1, 3, 4);
    assert_true(event_write_text(&out, "x", false));
    out.length = 0;
    while (out.length < out.capacity - 60)
        assert_true(buffer_append(&out, "y", 1));
    size_t before = out.length;
    budget.limit = memory_used(&budget);
    assert_false(event_write(&out, viewers, 2, true, names, true));
    assert_int_equal(out.length, before);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(all_and_then_what_changed), TEST(chunks_say_how_long_they_are),  TEST(ids_are_read),
        TEST(digests_have_no_order),     TEST(no_memory_leaves_nothing_half),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
