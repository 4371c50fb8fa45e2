/*
 * A sequence of events in which each is known by its number, for tests of anything that has events.
 * helper.c has the functions.
 */
#ifndef LAUD_JOURNAL_SAMPLE_H
#define LAUD_JOURNAL_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "journal/event.h"

/* The event of this number: all types and widths come up. Every 16th is long. */
struct event sample_event(uint64_t number);

/*
 * Sets the lengths of the bodies of long events, which come up in turn; the array must stay. At first
 * they are short enough for the small journal of helper.h.
 */
void sample_set_bodies(const uint32_t *lengths, size_t count);

/* A body of this length, which depends on `number`; it stays valid. */
const uint8_t *sample_body(uint64_t number, uint32_t length);
bool event_equal(const struct event *a, const struct event *b);

#endif
