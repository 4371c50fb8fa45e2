/*
 * The backups in a directory. Each is a directory NNNNNN-YYYYMMDDTHHMMSSZ with a manifest and the folder
 * `data`; names that end in ".partial" are incomplete. NNNNNN counts the backups, so that the order of
 * names is the order in which they were made, whatever the clock says. Other names are ignored.
 */
#ifndef LAUD_CLI_BACKUP_LIST_H
#define LAUD_CLI_BACKUP_LIST_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "cli/backup_manifest.h"

#define BACKUP_NAME_BYTES 32
#define BACKUP_PARTIAL    ".partial"
#define BACKUP_DATA       "data"

struct backup_entry {
    char name[BACKUP_NAME_BYTES];
    uint64_t number;
    char path[PATH_MAX];
    struct manifest manifest; /* read by backup_list_read; without files until then */
};

/* In the order of their numbers. The caller frees it with backup_list_free. */
struct backup_list {
    struct backup_entry *entries;
    size_t count;
    size_t capacity;
};

/* Lists the names. 0 or -errno. */
int backup_list_make(struct backup_list *list, const char *directory);
void backup_list_free(struct backup_list *list);

/* Reads the manifest of an entry; as manifest_read. */
enum status backup_list_read(struct backup_entry *entry, char *problem, size_t size);

/* The name of a new backup that is made at this time of the clock. */
void backup_list_name(uint64_t number, uint64_t wall_s, char out[BACKUP_NAME_BYTES]);

/* A time for people, as in 2026-11-18T07:02:11Z. */
#define BACKUP_TIME_BYTES 32
const char *backup_list_time(uint64_t wall_s, char out[BACKUP_TIME_BYTES]);

#endif
