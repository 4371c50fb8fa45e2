/*
 * Chooses what to restore from: which backup has the store, and which one has the journal. Without a time
 * both are the same. docs/architecture.md, section "Backup", explains a point in time.
 */
#ifndef LAUD_CLI_RESTORE_CHOOSE_H
#define LAUD_CLI_RESTORE_CHOOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/backup_list.h"

struct restore_choice {
    const char *path;             /* in: a backup, or a directory of backups */
    bool has_until;               /* in: restore a point in time, */
    uint64_t until;               /* in: by the clock, in seconds since 1970 */
    uint32_t until_s;             /* out: the same as a recorded time */
    struct backup_list list;      /* owns the two that follow */
    struct backup_entry *base;    /* out: has the store; NULL: the store is left out */
    struct backup_entry *journal; /* out: has the journal and everything else */
};

/*
 * OK; NOT_FOUND: there is no backup, or none for that time; DAMAGED; IO_FAILED. After a failure `problem` has a
 * sentence. restore_choose_free must be called in any case.
 */
enum status restore_choose(struct restore_choice *choice, char *problem, size_t size);
void restore_choose_free(struct restore_choice *choice);

/*
 * Reads a time: seconds since 1970, or 2026-11-18T07:02:11Z, also with a space instead of the T, and with
 * an offset such as +02:00 instead of the Z. False: it is none of these.
 */
bool restore_time(const char *text, uint64_t *out);

#endif
