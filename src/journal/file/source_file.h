/*
 * The reading port on a journal's files (journal/source.h). A source reads the files itself, while
 * the journal writes them, up to what is on disk; it verifies as much as a start does.
 */
#ifndef LAUD_JOURNAL_FILE_SOURCE_FILE_H
#define LAUD_JOURNAL_FILE_SOURCE_FILE_H

#include "journal/log.h"
#include "journal/source.h"

/*
 * A source of an open journal of journal/file. Acknowledging removes segments; only one source of a
 * journal may do that, and only one thread at a time. It may be closed after the journal, but not
 * used. NULL: no memory.
 */
struct source *source_file_open(struct journal *journal);

/*
 * A source of a directory whose journal nobody writes. Events before `end` are on disk, and the
 * source goes no further. Acknowledging removes nothing. NULL: no memory, or the path is too long.
 */
struct source *source_file_open_directory(const char *directory, uint64_t end);

#endif
