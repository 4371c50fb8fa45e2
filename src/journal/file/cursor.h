/*
 * Reads the files of a journal from any position on, while the journal is open and being written.
 * It verifies as much as a start does: headers, chain and records.
 *
 * Only one thread may use a cursor. A cursor keeps one segment open, so the removal of that segment
 * does not disturb it.
 */
#ifndef LAUD_JOURNAL_FILE_CURSOR_H
#define LAUD_JOURNAL_FILE_CURSOR_H

#include <stddef.h>
#include <stdint.h>

#include "journal/file/journal_file.h"

struct journal_cursor;

/*
 * Opens a cursor at a position between two events. OK, DAMAGED (also if the journal has no events
 * from so early) or IO_FAILED; `problem` gets a sentence.
 */
enum status journal_cursor_open(const char *directory, uint64_t position,
                                struct journal_cursor **out, char *problem, size_t size);
void journal_cursor_close(struct journal_cursor *cursor);

uint64_t journal_cursor_position(const struct journal_cursor *cursor);

/*
 * Visits events from the cursor's position on, but none that ends after `limit`, which must be
 * durable already. If the visitor returns MORE, it has not accepted that event: the cursor stays
 * before it and the result is OK. Any other status of the visitor except OK ends the reading and is
 * returned. After DAMAGED or IO_FAILED `problem` has a sentence that names segment and offset.
 */
enum status journal_cursor_read(struct journal_cursor *cursor, uint64_t limit,
                                journal_visit_fn *visit, void *context, char *problem, size_t size);

#endif
