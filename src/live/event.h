/*
 * What a stream says, as server-sent events: one for the items that changed, and comments. Over
 * HTTP/1.1 each goes in a chunk of its own.
 */
#ifndef LAUD_LIVE_EVENT_H
#define LAUD_LIVE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/names.h"
#include "base/text.h"
#include "live/watched.h"

#define EVENT_ID 16 /* bytes of an event's id */

/* The digest of all that a stream shows, once its client was told. */
uint64_t event_digest(const struct viewer *viewers, uint32_t count);

/* Reads an id as an event has it; false: it is none. */
bool event_read_id(struct text text, uint64_t *digest);

/*
 * An event of the viewers that were not told yet, or of all; the counters that are not 0, and those
 * that became 0 since. False: no memory, as in all here; then `out` is as it was.
 */
bool event_write(struct buffer *out, const struct viewer *viewers, uint32_t count, bool all,
                 const struct names *names, bool chunked);

/* Any text that is not empty. */
bool event_write_text(struct buffer *out, const char *text, bool chunked);

/* The end of the body. */
bool event_write_end(struct buffer *out, bool chunked);

#endif
