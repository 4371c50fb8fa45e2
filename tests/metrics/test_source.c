/* Which sources are called for a section, and what a section without any looks like. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "metrics/source.h"

static struct metrics metrics;

static void collect_connections(void *context, struct metrics *out)
{
    out->numbers[NUMBER_CONNECTIONS] = *(const uint64_t *)context;
}

static void collect_version(void *context, struct metrics *out)
{
    out->texts[TEXT_VERSION] = context;
}

static void collect_shape(void *context, struct metrics *out)
{
    out->texts[TEXT_SHAPE] = context;
}

static void only_sources_of_the_section_are_called(void **state)
{
    (void)state;
    uint64_t connections = 7;
    static char version[] = "1";
    struct metrics_sources sources = {.count = 0};
    metrics_sources_add(&sources, METRICS_CLIENTS, collect_connections, &connections);
    metrics_sources_add(&sources, METRICS_SERVER, collect_version, version);
    metrics_clear(&metrics);
    metrics_collect(&sources, METRICS_CLIENTS, &metrics);
    assert_int_equal(metrics.numbers[NUMBER_CONNECTIONS], 7);
    assert_string_equal(metrics.texts[TEXT_VERSION], "");
    assert_false(metrics.absent[METRICS_CLIENTS]);
    assert_true(metrics.absent[METRICS_SERVER]);
}

static void a_section_may_have_several_sources(void **state)
{
    (void)state;
    static char version[] = "1", shape[] = "round";
    struct metrics_sources sources = {.count = 0};
    metrics_sources_add(&sources, METRICS_SERVER, collect_version, version);
    metrics_sources_add(&sources, METRICS_SERVER, collect_shape, shape);
    metrics_clear(&metrics);
    metrics_collect(&sources, METRICS_SERVER, &metrics);
    assert_string_equal(metrics.texts[TEXT_VERSION], "1");
    assert_string_equal(metrics.texts[TEXT_SHAPE], "round");
}

static void a_section_without_source_is_absent(void **state)
{
    (void)state;
    struct metrics_sources sources = {.count = 0};
    struct memory_budget budget = {.limit = UINT64_MAX};
    struct buffer out = {.budget = &budget};
    metrics_clear(&metrics);
    for (int i = 0; i < METRICS_SECTIONS; i++)
        metrics_collect(&sources, (enum metrics_section)i, &metrics);
    assert_true(metrics_info(&metrics, METRICS_STORE, &out) && buffer_append(&out, "", 1));
    assert_string_equal(out.bytes, "# Store\r\nstore_state:none\r\n");
    out.length = 0;
    assert_true(metrics_write(&metrics, &out)); /* also the texts that are labels are there */
    assert_true(out.length > 0);
    buffer_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_sources_of_the_section_are_called),
        cmocka_unit_test(a_section_may_have_several_sources),
        cmocka_unit_test(a_section_without_source_is_absent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
