/*
 * The tail of a journal: what follows the last good batch of its last segment. It is the end (only
 * zeros), a torn batch that a crash left half-written and that may be cut off, or damage to something
 * that was on disk.
 */
#ifndef LAUD_JOURNAL_FILE_TAIL_H
#define LAUD_JOURNAL_FILE_TAIL_H

#include <stdint.h>

#include "journal/file/journal_file.h"
#include "journal/file/scan.h"

/*
 * Judges what begins where the scan is; `marked` is the position of the durable-through mark. OK: the
 * journal ends there, and the report says how much is torn, if anything. DAMAGED: the scan's sentence
 * says why. IO_FAILED. `progress` is called again and again meanwhile.
 */
enum status tail_judge(struct scan *scan, uint64_t marked, struct journal_report *report,
                       void (*progress)(void *context), void *context);

#endif
