/*
 * What the files of the source suite share: pulls that expect sample events.
 */
#ifndef LAUD_CONFORM_SOURCE_CHECK_H
#define LAUD_CONFORM_SOURCE_CHECK_H

#include <stdlib.h>

#include "journal/sample.h"
#include "source_suite.h"

#define EVENTS 4000

static inline void check_seek(struct source *source, uint64_t position)
{
    char problem[256] = "";
    if (source_seek(source, position, problem, sizeof problem) != STATUS_OK)
        fail_msg("position %llu: %s", (unsigned long long)position, problem);
    assert_int_equal(source_position(source), position);
}

/*
 * Pulls once and expects sample events from this number on; how many. With `ends`, the positions too
 * are as they were.
 */
static inline uint64_t check_pull(struct source *source, size_t most, const uint64_t *ends,
                                  uint64_t number)
{
    char problem[256] = "";
    struct source_run run;
    uint64_t before = source_position(source);
    if (source_pull(source, most, &run, problem, sizeof problem) != STATUS_OK)
        fail_msg("%s", problem);
    assert_true(run.count <= most);
    for (size_t i = 0; i < run.count; i++) {
        struct event expected = sample_event(number + i);
        assert_true(event_equal(&run.events[i], &expected));
        assert_true(run.ends[i] > before);
        before = run.ends[i];
        if (ends != NULL)
            assert_int_equal(run.ends[i], ends[number + i]);
    }
    assert_int_equal(source_position(source), before);
    return run.count;
}

/* The position after each of the first events; the caller frees them. */
static inline uint64_t *check_learn(struct source *source, uint64_t count)
{
    char problem[256] = "";
    uint64_t *ends = calloc(count, sizeof *ends);
    assert_non_null(ends);
    check_seek(source, 0);
    for (uint64_t number = 0; number < count;) {
        struct source_run run;
        uint64_t most = count - number;
        if (source_pull(source, most, &run, problem, sizeof problem) != STATUS_OK)
            fail_msg("%s", problem);
        assert_true(run.count > 0 && run.count <= most);
        for (size_t i = 0; i < run.count; i++, number++) {
            struct event expected = sample_event(number);
            assert_true(event_equal(&run.events[i], &expected));
            ends[number] = run.ends[i];
            assert_true(number == 0 || ends[number] > ends[number - 1]);
        }
    }
    return ends;
}

#endif
