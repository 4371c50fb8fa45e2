/*
 * INFO of a server with everything behind it: a projector that carries what the server's clients
 * write to a store, and tells the server where it is.
 */
#include "fake.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "journal/file/source_file.h"

static struct fake fake;

/* A store that only counts what it is given. */
static _Atomic uint64_t stored_position, stored_reactions;

static enum status counting_apply(struct store_applier *applier,
                                  const struct store_changes *changes)
{
    (void)applier;
    atomic_fetch_add(&stored_reactions, changes->user.reaction_count);
    atomic_store(&stored_position, changes->position);
    return STATUS_OK;
}

static enum status counting_flush(struct store_applier *applier)
{
    (void)applier;
    return STATUS_OK;
}

static uint64_t counting_position(struct store_applier *applier)
{
    (void)applier;
    return atomic_load(&stored_position);
}

static void counting_stats(struct store_admin *admin, struct store_stats *out)
{
    (void)admin;
    *out = (struct store_stats){.position = atomic_load(&stored_position),
                                .durable = 3,
                                .reactions = atomic_load(&stored_reactions),
                                .disk_bytes = 4,
                                .memory_bytes = 5,
                                .merges = 6,
                                .state = STORE_OK};
}

static const struct store_applier_functions counting_applier = {
    .apply = counting_apply, .flush = counting_flush, .position = counting_position};
static const struct store_admin_functions counting_admin = {.name = "counting",
                                                            .stats = counting_stats};
static struct store store = {.applier = {&counting_applier}, .admin = {&counting_admin}};

/* The section as text; the caller frees it. */
static char *read_section(int client, const char *section)
{
    char line[64];
    snprintf(line, sizeof line, "INFO %s\r\n", section);
    client_send(client, line);
    client_read_line(client, line, sizeof line);
    assert_int_equal(line[0], '$');
    size_t length = strtoul(line + 1, NULL, 10) + 2;
    char *text = calloc(1, length + 1);
    assert_non_null(text);
    assert_int_equal(recv(client, text, length, MSG_WAITALL), length);
    return text;
}

/* The value of a line of the section, or -1. */
static long long read_number(int client, const char *section, const char *name)
{
    char wanted[64];
    char *text = read_section(client, section);
    snprintf(wanted, sizeof wanted, "\n%s:", name);
    const char *at = strstr(text, wanted);
    long long value = at ? strtoll(at + strlen(wanted), NULL, 10) : -1;
    free(text);
    return value;
}

static void expect_section(int client, const char *section, const char *text)
{
    char *got = read_section(client, section);
    if (strstr(got, text) == NULL)
        fail_msg("'%s' is not in:\n%s", text, got);
    free(got);
}

static void what_is_not_there_says_so(void **state)
{
    (void)state;
    fake_init(&fake);
    fake_start(&fake);
    int client = client_open(&fake);
    static const char *const sections[][2] = {
        {"Projector", "projector"}, {"Store", "store"}, {"Filter", "filter"}, {"Trends", "trends"}};
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        char whole[64];
        snprintf(whole, sizeof whole, "# %s\r\n%s_state:none\r\n", sections[i][0], sections[i][1]);
        expect_section(client, sections[i][0], whole);
    }
    assert_int_equal(read_number(client, "Server", "workers"), fake.options.workers);
    expect_section(client, "Journal", "journal_durability:commit\r\n");
    assert_in_range(read_number(client, "Server", "uptime_in_seconds"), 0,
                    (clock_monotonic_ns() - fake.server.started_ns) / 1000000000);
    close(client);
    fake_stop(&fake);
}

static void moved(void *context, uint64_t position)
{
    admission_projected(context, position);
}

static struct source *source;

static void start_projector(const char *filter_path, const char *trend_path)
{
    char problem[256];
    source = source_file_open(fake.journal);
    assert_non_null(source);
    struct projector_options options = {.filter_path = filter_path,
                                        .source = source,
                                        .applier = &store.applier,
                                        .admin = &store.admin,
                                        .filters = fake.metrics.filters,
                                        .trend_path = trend_path,
                                        .trends = fake.metrics.trends,
                                        .budget = &fake.budget,
                                        .window_ms = 1,
                                        .window_events = 1000,
                                        .checkpoint_bytes = MIB(1),
                                        .token_ttl_s = 60,
                                        .moved = moved,
                                        .context = &fake.admission};
    fake.metrics.projector = projector_start(&options, problem, sizeof problem);
    if (fake.metrics.projector == NULL)
        fail_msg("%s", problem);
}

static void everything_there_is_shown(void **state)
{
    (void)state;
    fake_init(&fake);
    char filter_path[128];
    char trend_path[128];
    snprintf(filter_path, sizeof filter_path, "%s.filter", fake.directory);
    snprintf(trend_path, sizeof trend_path, "%s.trends", fake.directory);
    uint64_t used = memory_used(&fake.budget);
    fake.metrics.store = &store.admin;
    fake.metrics.filters = filters_new(&fake.budget, 1);
    const struct trend_options trends = {.budget = &fake.budget, .memory = MIB(1)};
    fake.metrics.trends = trends_new(&trends);
    assert_true(fake.metrics.filters != NULL && fake.metrics.trends != NULL);
    fake.admission.lag_slow = KIB(64);
    fake.admission.lag_max = KIB(128);
    start_projector(filter_path, trend_path);
    fake_start(&fake);
    int client = client_open(&fake);
    for (int i = 0; i < 100; i++) {
        char line[64];
        snprintf(line, sizeof line, "LIKE %d video:7\r\n", i + 1);
        client_send(client, line);
        client_expect(client, ":1\r\n");
    }
    long long end = read_number(client, "Journal", "journal_appended_position");
    assert_true(end > 0);
    while (read_number(client, "Projector", "projector_position") < end) /* each asking is a turn */
        continue;
    expect_section(client, "Projector", "projector_state:ok\r\n");
    expect_section(client, "Projector", "projector_lag_bytes:0\r\n");
    expect_section(client, "Projector", "projector_lag_max_bytes:131072\r\n");
    expect_section(client, "Store", "store_name:counting\r\nstore_state:ok\r\n");
    expect_section(client, "Store", "store_durable_position:3\r\n");
    expect_section(client, "Store",
                   "store_disk_bytes:4\r\nstore_memory_bytes:5\r\nstore_merges:6\r\n");
    assert_int_equal(read_number(client, "Store", "store_position"), end);
    assert_int_equal(read_number(client, "Store", "store_reactions"), 100);
    assert_int_equal(read_number(client, "Filter", "filter_live_keys"), 100);
    assert_int_equal(read_number(client, "Filter", "filter_live_open"), 0);
    assert_true(read_number(client, "Filter", "filter_known_bytes") > 0);
    assert_int_equal(read_number(client, "Trends", "trends_position"), end);
    assert_int_equal(read_number(client, "Trends", "trends_items"), 1);
    assert_int_equal(read_number(client, "Trends", "trends_bytes_max"), MIB(1));
    expect_section(client, "Trends",
                   "trends_since:0\r\ntrends_boards:1\r\ntrends_refused_boards:0\r\n");
    expect_section(client, "Trends",
                   "trends_pruned:0\r\ntrends_error_max:0\r\ntrends_exact:yes\r\n");
    close(client);
    server_stop(&fake.server);
    assert_int_equal(admission_lag(&fake.admission), 0);
    projector_stop(fake.metrics.projector);
    source_close(source);
    trends_free(fake.metrics.trends);
    filters_free(fake.metrics.filters);
    fake.used = used;
    unlink(filter_path);
    unlink(trend_path);
    fake_stop(&fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_there_says_so),
        cmocka_unit_test(everything_there_is_shown),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
