/*
 * Copies the files of the chosen backups into a new data directory, compares their checksums, and cuts the
 * journal. One thread uses it.
 */
#ifndef LAUD_CLI_RESTORE_COPY_H
#define LAUD_CLI_RESTORE_COPY_H

#include "cli/backup_files.h"
#include "cli/restore_choose.h"

struct restore_copy {
    const struct restore_choice *choice;
    const char *to; /* an empty directory */
    struct copier *copier;
    uint64_t end; /* out: the position at which the journal was cut */
};

/*
 * Everything is on disk when this returns OK. DAMAGED: a file is not the one that the manifest lists. After
 * a failure `problem` of the copier has a sentence.
 */
enum status restore_copy_run(struct restore_copy *copy);

#endif
