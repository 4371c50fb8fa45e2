/*
 * What the command BACKUP needs: whoever starts the server provides it, because net/ sees no journal and
 * no store. Any thread may call the functions; they do not wait.
 */
#ifndef LAUD_NET_BACKUP_H
#define LAUD_NET_BACKUP_H

#include "base/status.h"

#define BACKUP_TEXT_BYTES 4352 /* a path, or a sentence */

struct backup_status {
    const char *state; /* idle, working, ready or failed */
    /* ready: the absolute path of the staged files; failed: one sentence; otherwise empty. */
    char text[BACKUP_TEXT_BYTES];
};

struct backup_ops {
    /* Begins to stage files. OK, or TOO_BUSY: another backup is being made. */
    enum status (*begin)(void *context);
    void (*status)(void *context, struct backup_status *out);
    /* The staged files are not needed any more. */
    void (*end)(void *context);
};

#endif
