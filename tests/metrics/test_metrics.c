/* The whole text for known values: every family once and in one piece, INFO from the same numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "metrics/metrics.h"

static struct memory_budget budget = {.limit = MIB(4)};

static void fill(struct metrics *metrics, struct names *names)
{
    *metrics = (struct metrics){.operation_count = 2, .operations = {"LIKE", "PING"}};
    for (int i = 0; i < METRICS_TEXTS; i++)
        metrics->texts[i] = "ok";
    metrics->texts[TEXT_VERSION] = "1 \"x\"";
    for (int i = 0; i < METRICS_NUMBERS; i++)
        metrics->numbers[i] = (uint64_t)i + 1000;
    metrics->numbers[NUMBER_SYNC_TIME] = 1234567;
    metrics->numbers[NUMBER_LAG_TIME] = 1234;
    metrics->meter.operations[0].times.counts[3] = 7;
    metrics->meter.operations[0].times.sum = 49000;
    metrics->meter.operations[0].refused = 2;
    metrics->meter.operations[0].failed = 1;
    metrics->meter.statuses[STATUS_LAGGING] = 2;
    metrics->top.item_count = 1;
    metrics->top.items[0] = (struct hotkeys_rank){.item = {.id = {.lo = 42}}, .rate = 17.6};
    metrics->top.user_count = 1;
    metrics->top.users[0] = (struct hotkeys_rank){.item = {.id = {.lo = 9}}, .rate = 0.2};
    metrics->names = names;
}

static void expect_in(const struct buffer *out, const char *wanted)
{
    if (strstr(out->bytes, wanted) == NULL)
        fail_msg("'%s' is not in:\n%s", wanted, out->bytes);
}

/* Each sample belongs to the family last named, and no family is named twice. */
static void expect_whole_families(const char *text)
{
    char seen[256][64];
    size_t count = 0;
    for (const char *at = text; *at != '\0'; at = strchr(at, '\n') + 1) {
        char name[64];
        if (sscanf(at, "# HELP %63s", name) == 1) {
            for (size_t i = 0; i < count; i++)
                assert_string_not_equal(seen[i], name);
            assert_true(count < 256);
            memcpy(seen[count++], name, sizeof name);
            const char *help = at + strlen("# HELP ") + strlen(name) + 1;
            assert_true(*help >= 'A' || (*help >= '0' && *help <= '9'));
        } else if (sscanf(at, "# TYPE %63s", name) == 1) {
            assert_string_equal(seen[count - 1], name);
        } else {
            assert_true(count > 0);
            assert_memory_equal(at, seen[count - 1], strlen(seen[count - 1]));
        }
    }
}

/* The caller frees the names. */
static struct names *filled_with_names(struct metrics *metrics)
{
    struct names *names = names_new();
    uint16_t type;
    assert_int_equal(names_intern(names, NAME_TYPE, "video", 5, &type), STATUS_OK);
    fill(metrics, names);
    return names;
}

static void everything_is_written_once(void **state)
{
    (void)state;
    static struct metrics metrics;
    struct names *names = filled_with_names(&metrics);
    struct buffer out = {.budget = &budget};
    assert_true(metrics_write(&metrics, &out) && buffer_append(&out, "", 1));
    expect_whole_families(out.bytes);
    expect_in(&out, "laud_info{version=\"1 \\\"x\\\"\",shape=\"ok\",durability=\"ok\"} 1\n");
    expect_in(&out, "laud_projector_lag_seconds 1.234\n");
    expect_in(&out, "laud_operations_total{operation=\"LIKE\"} 9\n"
                    "laud_operations_total{operation=\"PING\"} 0\n");
    expect_in(&out, "laud_operation_errors_total{operation=\"LIKE\"} 3\n");
    expect_in(&out, "laud_operation_seconds_bucket{operation=\"LIKE\",le=\"0.000004096\"} 0\n"
                    "laud_operation_seconds_bucket{operation=\"LIKE\",le=\"0.000008192\"} 7\n");
    expect_in(&out, "laud_operation_seconds_sum{operation=\"LIKE\"} 0.000049\n"
                    "laud_operation_seconds_count{operation=\"LIKE\"} 7\n");
    assert_null(strstr(out.bytes, "laud_operation_seconds_count{operation=\"PING\"}"));
    expect_in(&out, "laud_errors_total{code=\"BUSY\",reason=\"LAGGING\"} 2\n");
    expect_in(&out, "laud_hot_item_rate{rank=\"1\"} 18\nlaud_hot_item_rate{rank=\"2\"} 0\n");
    expect_in(&out, "laud_hot_user_rate{rank=\"1\"} 1\n");
    assert_null(strstr(out.bytes, "video"));
    char family[160];
    snprintf(family, sizeof family,
             "laud_filter_keys{filter=\"live\"} %d\nlaud_filter_keys{filter=\"known\"} %d\n",
             1000 + NUMBER_LIVE_KEYS, 1000 + NUMBER_KNOWN_KEYS);
    expect_in(&out, family);
    buffer_free(&out);
    names_free(names);
}

static void what_is_absent_is_not_written(void **state)
{
    (void)state;
    static struct metrics metrics;
    fill(&metrics, NULL);
    metrics.absent[METRICS_STORE] = true;
    struct buffer out = {.budget = &budget};
    assert_true(metrics_write(&metrics, &out) && buffer_append(&out, "", 1));
    assert_null(strstr(out.bytes, "laud_store_"));
    expect_in(&out, "laud_projector_ok ");
    buffer_free(&out);
    assert_true(metrics_info(&metrics, METRICS_STORE, &out) && buffer_append(&out, "", 1));
    assert_string_equal(out.bytes, "# Store\r\nstore_state:none\r\n");
    buffer_free(&out);
}

static void info_shows_the_same_numbers(void **state)
{
    (void)state;
    static struct metrics metrics;
    struct names *names = filled_with_names(&metrics);
    struct buffer out = {.budget = &budget};
    assert_true(metrics_info(&metrics, METRICS_JOURNAL, &out));
    assert_true(metrics_info(&metrics, METRICS_HOTKEYS, &out) && buffer_append(&out, "", 1));
    expect_in(&out, "# Journal\r\njournal_durability:ok\r\n");
    expect_in(&out, "\r\njournal_sync_microseconds:1234\r\n");
    expect_in(&out, "\r\njournal_state:ok\r\n");
    expect_in(&out, "# Hotkeys\r\nhotkeys_item_1:item=video:42,per_second=18\r\n"
                    "hotkeys_user_1:user=9,per_second=1\r\n");
    buffer_free(&out);
    names_free(names);
}

/* Clients put the names of all sections into one table: none may take the place of another. */
static void no_name_of_info_is_there_twice(void **state)
{
    (void)state;
    static struct metrics metrics;
    static char seen[512][64];
    struct names *names = filled_with_names(&metrics);
    struct buffer out = {.budget = &budget};
    size_t count = 0;
    for (int section = 0; section < METRICS_SECTIONS; section++)
        assert_true(metrics_info(&metrics, (enum metrics_section)section, &out));
    assert_true(buffer_append(&out, "", 1));
    for (const char *at = out.bytes; *at != '\0'; at = strchr(at, '\n') + 1) {
        if (*at == '#')
            continue;
        assert_true(count < 512 && sscanf(at, "%63[a-z0-9_]:", seen[count]) == 1);
        for (size_t i = 0; i < count; i++)
            assert_string_not_equal(seen[i], seen[count]);
        count++;
    }
    assert_true(count > METRICS_TEXTS);
    buffer_free(&out);
    names_free(names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_written_once),
        cmocka_unit_test(what_is_absent_is_not_written),
        cmocka_unit_test(info_shows_the_same_numbers),
        cmocka_unit_test(no_name_of_info_is_there_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
