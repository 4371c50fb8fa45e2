/* Recording from a thread that waits for room: everything is there, short or long. */
#include "move/record.h"

#include "journal/helper.h"

static void test_short_and_long_events_are_recorded(void **state)
{
    (void)state;
    enum { EVENTS = 2000 };
    static const uint32_t lengths[] = {1, 10000, 9, LIMIT_EVENT_BODY, LIMIT_EVENT_BODY};
    struct journal_file_options options = {.directory = test_directory,
                                           .durability = DURABILITY_COMMIT,
                                           .segment_bytes = LARGE_SEGMENT};
    struct journal_tuning tuning = large_tuning();
    struct journal_report report;
    struct journal *journal;
    struct record record;
    sample_set_bodies(lengths, sizeof lengths / sizeof *lengths);
    assert_int_equal(journal_file_open_tuned(&options, &tuning, NULL, &report, &journal),
                     STATUS_OK);
    record_start(&record, journal);
    for (uint64_t number = 0; number < EVENTS; number++) {
        struct event event = sample_event(number);
        assert_int_equal(record_event(&record, &event), STATUS_OK);
    }
    record_kick(&record);
    record_end(&record);
    assert_int_equal(count_samples(test_directory), EVENTS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_short_and_long_events_are_recorded, directory_setup,
                                        directory_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
