/*
 * The conversation of `laud backup` with the server: the command BACKUP. All functions block. False: `problem`
 * has a sentence.
 */
#ifndef LAUD_CLI_BACKUP_CALL_H
#define LAUD_CLI_BACKUP_CALL_H

#include <limits.h>
#include <stdbool.h>

#include "bench/connect.h"

struct backup_call {
    int fd; /* -1: there is no connection */
    char problem[512];
    char reply[CONNECT_REPLY_MAX];
};

/* Connects and authenticates. `address` is HOST:PORT, which connect_split has accepted. */
bool backup_call_open(struct backup_call *call, const char *address);
void backup_call_close(struct backup_call *call);

/* Lets the server stage its files and returns their path. Waits for another backup for some seconds. */
bool backup_call_stage(struct backup_call *call, char path[PATH_MAX]);

/* The staged files are not needed any more. If this fails, the server removes them a little later. */
void backup_call_end(struct backup_call *call);

#endif
