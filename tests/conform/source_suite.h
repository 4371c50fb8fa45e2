/*
 * What every source of events must do, whatever its journal is made of. A test program has one journal
 * at a time, which it opens, appends to, restarts and tears in its own way, and runs SOURCE_SUITE.
 *
 * The events are sample events (journal/sample.h), numbered from 0 as they are appended. Some are long,
 * with bodies of 1 byte up to the largest; the test program sets these lengths (sample_set_bodies). The
 * suite takes positions as they come: it only knows that they grow.
 */
#ifndef LAUD_CONFORM_SOURCE_SUITE_H
#define LAUD_CONFORM_SOURCE_SUITE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "journal/source.h"

/* Makes a new journal without events, and later closes and removes it. The suite closes sources. */
int source_suite_setup(void **state);
int source_suite_teardown(void **state);

struct source *source_suite_open(void); /* a source of it; there may be several */

/* Appends the next so many sample events; they need not be available yet. By one thread at a time. */
void source_suite_append(uint64_t count);
void source_suite_settle(void); /* until all that was appended is available */

/* Closes the journal and opens it again, with all its events. No source is open. */
void source_suite_restart(void);

/*
 * The same after a crash that left half an event behind the last one. False: this journal cannot have
 * such an end, and nothing was done.
 */
bool source_suite_tear(void);

/* Are events really removed soon after they were acknowledged, if there are thousands of them? */
bool source_suite_removes(void);

#define SOURCE_SUITE_TESTS(TEST)                                                                   \
    TEST(source_suite_empty)                                                                       \
    TEST(source_suite_order)                                                                       \
    TEST(source_suite_any_batching)                                                                \
    TEST(source_suite_bodies)                                                                      \
    TEST(source_suite_seek)                                                                        \
    TEST(source_suite_nowhere)                                                                     \
    TEST(source_suite_follow)                                                                      \
    TEST(source_suite_two_sources)                                                                 \
    TEST(source_suite_lives)                                                                       \
    TEST(source_suite_torn_tail)                                                                   \
    TEST(source_suite_acknowledge)                                                                 \
    TEST(source_suite_removal_while_appending)                                                     \
    TEST(source_suite_wait_ends_in_time)                                                           \
    TEST(source_suite_wait_ends_with_events)                                                       \
    TEST(source_suite_wait_ends_on_wake)

#define SOURCE_SUITE_DECLARE(name) void name(void **state);
SOURCE_SUITE_TESTS(SOURCE_SUITE_DECLARE)
#undef SOURCE_SUITE_DECLARE

#define SOURCE_SUITE_ENTRY(name)                                                                   \
    cmocka_unit_test_setup_teardown(name, source_suite_setup, source_suite_teardown),
#define SOURCE_SUITE SOURCE_SUITE_TESTS(SOURCE_SUITE_ENTRY)

#endif
