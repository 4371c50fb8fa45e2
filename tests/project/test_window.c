/* Windows over a journal with long events: bounded by bytes, and complete. */
#include "journal/file/source_file.h"
#include "journal/helper.h"
#include "move/record.h"
#include "project/window.h"

#define EVENTS 10000

/* Likes, and every 16th event is long. */
static struct event event_of(uint64_t number)
{
    static const uint32_t lengths[] = {1, 10000, 9, LIMIT_EVENT_BODY, LIMIT_EVENT_BODY};
    struct event event = {
        .type = EVENT_SET, .user = {0, number}, .item = {.id = {0, number % 7}}, .time_s = 1000};
    if (number % 16 == 7) {
        event.type = EVENT_COMMENT;
        event.name = 1;
        event.body_length = lengths[number / 16 % 5];
        event.body = sample_body(number, event.body_length);
    }
    return event;
}

/* Returns the position after the last event; `ends` gets those after each. */
static uint64_t append_events(uint64_t ends[EVENTS])
{
    struct journal_file_options options = {.directory = test_directory,
                                           .durability = DURABILITY_COMMIT,
                                           .segment_bytes = LARGE_SEGMENT};
    struct journal_tuning tuning = large_tuning();
    struct journal_report report;
    struct journal *journal;
    struct record record;
    assert_int_equal(journal_file_open_tuned(&options, &tuning, NULL, &report, &journal),
                     STATUS_OK);
    record_start(&record, journal);
    for (uint64_t number = 0; number < EVENTS; number++) {
        struct event event = event_of(number);
        assert_int_equal(record_event(&record, &event), STATUS_OK);
        ends[number] = journal_appended(journal);
    }
    record_kick(&record);
    record_end(&record);
    return ends[EVENTS - 1];
}

/* Reads all windows with this budget; how many there are. */
static uint64_t read_windows(const uint64_t ends[EVENTS], uint64_t budget_bytes, size_t bodies_max)
{
    uint64_t end = ends[EVENTS - 1];
    struct memory_budget budget = {.limit = budget_bytes};
    struct source *source = source_file_open_directory(test_directory, end);
    assert_non_null(source);
    const struct window_options options = {
        .source = source, .budget = &budget, .events_max = EVENTS, .seed = 1};
    struct window window;
    char problem[256] = "";
    uint64_t number = 0, windows = 0, most = 0;
    assert_int_equal(window_open(&window, &options, 0, problem, sizeof problem), STATUS_OK);
    while (window.position < end) {
        size_t bodies = 0;
        if (window_read(&window, end, problem, sizeof problem) != STATUS_OK)
            fail_msg("%s", problem);
        for (uint64_t until = number + window_events(&window); number < until; number++)
            bodies += event_of(number).body_length;
        assert_true(window_events(&window) > 0);
        assert_int_equal(fold_bodies(window.fold), bodies);
        assert_true(bodies <= bodies_max);
        assert_int_equal(window.changes.position, ends[number - 1]);
        most = bodies > most ? bodies : most;
        windows++;
        window_clear(&window);
    }
    assert_int_equal(number, EVENTS);
    assert_true(most + LIMIT_EVENT_BODY > bodies_max || windows == 1);
    window_close(&window);
    source_close(source);
    assert_int_equal(memory_used(&budget), 0);
    return windows;
}

static void test_a_window_is_full_by_bytes(void **state)
{
    (void)state;
    static uint64_t ends[EVENTS];
    uint64_t end = append_events(ends);
    uint64_t few = read_windows(ends, GIB(1), FOLD_BODIES_MAX);
    uint64_t more = read_windows(ends, MIB(4), KIB(64));
    uint64_t most = read_windows(ends, KIB(512), LIMIT_EVENT_BODY);
    print_message("%llu, %llu and %llu windows\n", (unsigned long long)few,
                  (unsigned long long)more, (unsigned long long)most);
    assert_int_equal(few, 1 + end / FOLD_BODIES_MAX);
    assert_true(more >= end / KIB(64) && most >= end / LIMIT_EVENT_BODY / 2 && most > more);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_window_is_full_by_bytes, directory_setup,
                                        directory_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
