/*
 * Paths of the journal's files.
 */
#ifndef LAUD_JOURNAL_FILE_PATH_H
#define LAUD_JOURNAL_FILE_PATH_H

#include <stdio.h>

#include "base/assert.h"

#define JOURNAL_DIRECTORY_MAX 1024 /* bytes of the directory's path; checked when it is opened */
#define JOURNAL_PATH_BYTES    (JOURNAL_DIRECTORY_MAX + 64)

static inline void journal_path(char out[JOURNAL_PATH_BYTES], const char *directory,
                                const char *name)
{
    int length = snprintf(out, JOURNAL_PATH_BYTES, "%s/%s", directory, name);
    ASSERT(length > 0 && length < JOURNAL_PATH_BYTES);
}

#endif
