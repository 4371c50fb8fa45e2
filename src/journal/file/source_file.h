/*
 * The reading port (journal/source.h) on the files of a journal. A source reads the files itself,
 * while the journal writes them, up to what is on disk. It verifies as much as a start does.
 */
#ifndef LAUD_JOURNAL_FILE_SOURCE_FILE_H
#define LAUD_JOURNAL_FILE_SOURCE_FILE_H

#include "journal/log.h"
#include "journal/source.h"

/*
 * Makes a source of an open journal of journal/file. Acknowledging removes segments; only one
 * source of a journal may acknowledge, and only one thread at a time. The source may be closed
 * after the journal, but must not be used then. NULL: there is no memory.
 */
struct source *source_file_open(struct journal *journal);

/*
 * Makes a source of a directory whose journal nobody writes. All events before `end` must be on
 * disk, and the source does not read further. Acknowledging removes nothing. NULL: there is no
 * memory, or the path is too long.
 */
struct source *source_file_open_directory(const char *directory, uint64_t end);

#endif
