/*
 * Writes what a stream sends, as server-sent events: events with the items that changed, and comments.
 * With HTTP/1.1 each of them is a chunk of its own. Only the thread of the stream may call these
 * functions.
 */
#ifndef LAUD_LIVE_EVENT_H
#define LAUD_LIVE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/names.h"
#include "base/text.h"
#include "live/watched.h"

#define EVENT_ID 16 /* the length of an event's id in bytes */

/* The digest of all items of a stream at their newest versions. It becomes the id of the event. */
uint64_t event_digest(const struct viewer *viewers, uint32_t count);

/* Reads the id of an event. False: the text is not such an id. */
bool event_read_id(struct text text, uint64_t *digest);

/*
 * Begin and end a chunk, in which the caller writes events. `start` is the length of `out` before the
 * beginning. If not everything could be written, the end removes what there is, and returns false.
 */
bool event_begin(struct buffer *out, bool chunked);
bool event_end(struct buffer *out, size_t start, bool chunked, bool written);

/* Writes the line with the id of an event. */
bool event_put_id(struct buffer *out, uint64_t id);

/*
 * Writes an event with the viewers that have a new version, or with all of them. It has the counters
 * that are not 0, and those that became 0 since the client's version. False: there is no memory, as
 * for all functions here; then `out` is unchanged.
 */
bool event_write(struct buffer *out, const struct viewer *viewers, uint32_t count, bool all,
                 const struct names *names, bool chunked);

/* Writes this text, which must not be empty. */
bool event_write_text(struct buffer *out, const char *text, bool chunked);

/* Writes the end of the body. */
bool event_write_end(struct buffer *out, bool chunked);

#endif
