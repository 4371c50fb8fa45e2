/*
 * Reads a journal's files while the journal is open and being written, from any position on: the
 * projector's way. Verifies as much as a start does: headers, chain, records.
 *
 * Used by one thread. It keeps one segment open, so removing that is harmless to it.
 */
#ifndef LAUD_JOURNAL_FILE_CURSOR_H
#define LAUD_JOURNAL_FILE_CURSOR_H

#include <stddef.h>
#include <stdint.h>

#include "journal/file/journal_file.h"

struct journal_cursor;

/*
 * A cursor at a position between two events. OK, DAMAGED (also if the journal does not reach back
 * so far), IO_FAILED; `problem` gets a sentence.
 */
enum status journal_cursor_open(const char *directory, uint64_t position,
                                struct journal_cursor **out, char *problem, size_t size);
void journal_cursor_close(struct journal_cursor *cursor);

uint64_t journal_cursor_position(const struct journal_cursor *cursor);

/*
 * Visits events from the cursor's position on, none that ends beyond `limit`, which must be durable
 * by now. If the visitor says MORE, that event was not taken: the cursor stays before it and the
 * answer is OK. Any other status of the visitor ends the reading with it. After DAMAGED or
 * IO_FAILED `problem` has a sentence naming segment and offset.
 */
enum status journal_cursor_read(struct journal_cursor *cursor, uint64_t limit,
                                journal_visit_fn *visit, void *context, char *problem, size_t size);

#endif
