/*
 * The tail of a journal: the bytes after the last good batch of its last segment. It is the regular
 * end (only zeros), a torn batch that a crash interrupted and that may be cut off, or damage to
 * something that was on disk.
 */
#ifndef LAUD_JOURNAL_FILE_TAIL_H
#define LAUD_JOURNAL_FILE_TAIL_H

#include <stdint.h>

#include "journal/file/journal_file.h"
#include "journal/file/scan.h"

/*
 * Examines the bytes from the scan's boundary on; `marked` is the position in the file `mark`. OK:
 * the journal ends there, and the report says how many bytes are torn, if any. DAMAGED: the scan's
 * sentence says why. IO_FAILED. `progress` is called repeatedly meanwhile.
 */
enum status tail_judge(struct scan *scan, uint64_t marked, struct journal_report *report,
                       void (*progress)(void *context), void *context);

#endif
