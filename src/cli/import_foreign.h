/*
 * `laud import --format artrans|disqus|wxr`: its arguments, its progress and its report. The import itself is in
 * move/threads.h. Only the main thread calls these functions.
 */
#ifndef LAUD_CLI_IMPORT_FOREIGN_H
#define LAUD_CLI_IMPORT_FOREIGN_H

#include <stdint.h>
#include <stdio.h>

#include "base/options.h"
#include "cli/progress_bar.h"
#include "move/threads.h"

struct import_foreign {
    bool given; /* the format is one of these */
    enum foreign_format format;
    const char *type; /* of the items that pages become; NULL: the usual one */
    const char *site; /* of Artrans; NULL: the only one */

    /* Set by import_foreign_read. */
    struct threads *threads;
    struct progress_bar progress;
    uint64_t bytes; /* of the file; 0: it is a pipe */
};

void import_foreign_help(FILE *out);

/* Checks the arguments. Returns the exit status; a failure is printed. */
int import_foreign_check(struct import_foreign *foreign);

/* Reads the file, before a data directory is opened or created. Returns the exit status. */
int import_foreign_read(struct import_foreign *foreign, int fd, const char *name,
                        const struct options *options);

/* Imports what was read, or only reports if `import` is NULL. Returns the exit status. */
int import_foreign_run(struct import_foreign *foreign, struct import *import);

void import_foreign_free(struct import_foreign *foreign);

#endif
