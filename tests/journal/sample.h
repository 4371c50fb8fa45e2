/*
 * A sequence of events in which each is known by its number, for tests of anything that has events.
 * helper.c has the functions.
 */
#ifndef LAUD_JOURNAL_SAMPLE_H
#define LAUD_JOURNAL_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "journal/event.h"

/* The event of this number: all types and widths come up. */
struct event sample_event(uint64_t number);
bool event_equal(const struct event *a, const struct event *b);

#endif
