/*
 * The manifest of a backup: what the backup is of, and size and checksum of each of its files. The
 * server uses the same format, without files, for what it says about staged files (backup_stage.h).
 *
 * A manifest owns its list of files. One thread at a time may use it.
 */
#ifndef LAUD_CLI_BACKUP_MANIFEST_H
#define LAUD_CLI_BACKUP_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define MANIFEST_NAME       "manifest"
#define MANIFEST_PATH_BYTES 128

struct manifest_file {
    char path[MANIFEST_PATH_BYTES]; /* relative to the folder `data` of the backup */
    uint64_t bytes;
    uint64_t check; /* XXH3-64 of its content */
    /*
     * The file of the data directory that it was copied from; inode 0: no single file. If a later
     * backup finds a file with the same values, it is the same file, and has not changed.
     */
    uint64_t inode;
    uint64_t changed_ns;
};

/* Times are recorded times (time/spans.h), except made_s. Positions are those of the journal. */
struct manifest {
    uint64_t has_store;    /* 0: --store none */
    uint64_t position;     /* the store has everything before it */
    uint64_t first;        /* where its journal begins */
    uint64_t end;          /* where its journal ends */
    uint64_t chain;        /* chain value of the journal at its end */
    uint64_t checkpoint_s; /* nothing in the store is later; 0: the store has no events */
    uint64_t end_s;  /* nothing in the journal is later, everything after the end is not earlier */
    uint64_t made_s; /* when it was begun, by the clock */
    struct manifest_file *files;
    size_t count;
    size_t capacity;
};

/* Adds a file; NULL: there is no memory. The pointer is valid until the next call. */
struct manifest_file *manifest_add(struct manifest *manifest, const char *path);

/* The file with this path, or NULL. */
const struct manifest_file *manifest_find(const struct manifest *manifest, const char *path);

uint64_t manifest_bytes(const struct manifest *manifest); /* the sizes of all files together */

/* Writes a new file and syncs it. 0 or -errno. */
int manifest_write(const struct manifest *manifest, const char *path);

/*
 * Reads a file into an empty manifest. OK; NOT_FOUND: there is no such file; DAMAGED; IO_FAILED. After a
 * failure `problem` has a sentence, and manifest_free must still be called.
 */
enum status manifest_read(struct manifest *manifest, const char *path, char *problem, size_t size);

/* The same for the text of such a file. `path` is for the sentence. */
enum status manifest_parse(struct manifest *manifest, const char *text, size_t length,
                           const char *path, char *problem, size_t size);

void manifest_free(struct manifest *manifest);

#endif
