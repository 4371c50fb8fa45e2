/*
 * Copies staged files (backup_stage.h) into a new backup, with hard links where possible, and fills the
 * manifest. One thread uses it.
 */
#ifndef LAUD_CLI_BACKUP_COPY_H
#define LAUD_CLI_BACKUP_COPY_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/backup_files.h"
#include "cli/backup_list.h"
#include "cli/backup_manifest.h"

struct backup_copy {
    const char *staged;                  /* where the server has staged the files */
    const char *to;                      /* the folder `data` of the new backup; it is created */
    const struct backup_entry *previous; /* the backup before it; NULL: there is none */
    bool separate; /* true: no file of the backup may be a link to a file of the server */
    struct copier *copier;
    struct manifest *manifest; /* as the server wrote it; its files are added here */

    uint64_t copied; /* bytes that were written */
    uint64_t linked; /* bytes of files that are links to files of the server */
    uint64_t reused; /* bytes of files that are links to files of the previous backup */
};

/* Everything is on disk when this returns OK; otherwise `problem` of the copier has a sentence. */
enum status backup_copy_run(struct backup_copy *copy);

#endif
