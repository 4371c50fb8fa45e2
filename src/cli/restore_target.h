/*
 * The directory that a restore fills. Everything is first written to its folder `restoring`, and then renamed
 * to its final path, the journal last. A server refuses a directory with that folder, so a restore that was
 * killed never passes for a complete one; the next restore removes what it has left.
 */
#ifndef LAUD_CLI_RESTORE_TARGET_H
#define LAUD_CLI_RESTORE_TARGET_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#define RESTORE_FOLDER "restoring"

struct restore_target {
    const char *data;      /* the data directory */
    char folder[PATH_MAX]; /* DATA/restoring */
    int lock;              /* of the data directory; negative: none */
    bool made;             /* the data directory itself was made */
    bool begun;            /* the folder may exist */
    char problem[512];
};

/*
 * Makes an empty folder. False: `problem` has a sentence, for example that the directory is not empty.
 * *is_bad is then true if the argument is to blame, and not the disk. restore_target_close must be called in
 * any case.
 */
bool restore_target_open(struct restore_target *target, bool *is_bad);

/* Renames everything to its final path. False: `problem` has a sentence, and the folder stays. */
bool restore_target_finish(struct restore_target *target);

/* Removes what was not finished. */
void restore_target_close(struct restore_target *target);

#endif
