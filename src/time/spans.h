/*
 * Recorded times and the clock. What is recorded must never go back in time, because lists, CHANGES and
 * everything that expires rely on that order; clocks do go back. So a recorded time is the clock's plus
 * an offset, which is 0 as long as no clock was ever wrong. A span is a stretch of recorded times with
 * the same offset; the table of them tells what time to show for a recorded one, and is needed for
 * nothing else.
 *
 * Plain values: whoever shares a table sees to the locks.
 */
#ifndef LAUD_TIME_SPANS_H
#define LAUD_TIME_SPANS_H

#include <stdint.h>

#include "base/status.h"

#define SPANS_MAX  64      /* past it two are made one, see spans_add */
#define SPANS_NAME "clock" /* of the file in a data directory */

struct time_span {
    uint32_t from_s;   /* recorded times from here on */
    uint32_t offset_s; /* are so much later than what the clock said */
};

/* In the order of from_s, which is 0 in the first one. None: no offset anywhere, as all zero is. */
struct spans {
    uint32_t count;
    struct time_span list[SPANS_MAX];
};

/* The offset of what is recorded from now on. */
static inline uint32_t spans_offset(const struct spans *spans)
{
    return spans->count == 0 ? 0 : spans->list[spans->count - 1].offset_s;
}

/* What the clock said when this was recorded. */
uint32_t spans_shown(const struct spans *spans, uint32_t recorded_s);

/* What would have been recorded when the clock said this: the latest of such times. */
uint32_t spans_recorded(const struct spans *spans, uint32_t shown_s);

/*
 * The same as shown, but not later than now: what the clock said while it was ahead becomes the time at
 * which it was put right, or now. The order stays.
 */
uint32_t spans_past(const struct spans *spans, uint32_t recorded_s, uint32_t now_s);

/*
 * What comes after last_s, the newest recorded time, has this offset. Spans in which nothing was
 * recorded go. If there are too many, one is left out where that changes the shown times least.
 */
void spans_add(struct spans *spans, uint32_t last_s, uint32_t offset_s);

/*
 * The file of a data directory. Reading: OK, also where there is none; then it has no spans. DAMAGED,
 * IO_FAILED: likewise. Writing: on disk when it returns 0; else -errno.
 */
enum status spans_read(const char *directory, struct spans *spans);
int spans_write(const char *directory, const struct spans *spans);

#endif
