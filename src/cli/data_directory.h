/*
 * Opens a data directory: takes its lock, divides the memory, and recovers everything in it
 * (recover.h). Failures are logged. Only the main thread calls these functions.
 */
#ifndef LAUD_CLI_DATA_DIRECTORY_H
#define LAUD_CLI_DATA_DIRECTORY_H

#include "cli/recover.h"

/*
 * Checks whether this can be a data directory. OK: it is absent, empty, or a data directory.
 * BAD_ARGUMENT: it is a file, or a directory with other things in it. IO_FAILED: it cannot be read.
 * After a failure `problem` is a sentence that names the obstacle. Hidden files and lost+found are
 * ignored. It changes nothing.
 */
enum status data_directory_look(const char *path, char *problem, size_t size);

/* The same for commands that do not create a data directory: BAD_ARGUMENT if it is absent. */
enum status data_directory_find(const char *path, char *problem, size_t size);

/*
 * Checks whether a server can write into the directory or, if it is absent, create it. OK or
 * IO_FAILED, with a sentence as above. It changes nothing, so it does not notice a full disk.
 */
enum status data_directory_look_to_write(const char *path, char *problem, size_t size);

/*
 * Takes the lock and returns its file, which the caller closes at the end; -1: it cannot be taken, and
 * the log says why. `make`: the directory is created if it is absent.
 */
int data_directory_lock(const char *path, bool make);

/* Divides the memory and recovers. False: the log says why, and recover_close must still be called. */
bool data_directory_recover(struct recovered *parts, const struct options *options,
                            struct sizes *sizes, struct memory_budget *budget);

/* A directory that no server uses, with all its events in the store and without a hot tier. */
struct offline {
    struct options options; /* filled by the caller */
    struct sizes sizes;
    struct memory_budget budget;
    struct recovered parts;
    int lock;
};

/*
 * Opens it, after data_directory_look or data_directory_find. False: the log says why, and nothing
 * stays open.
 */
bool offline_open(struct offline *offline, bool make);

/*
 * The same for commands that only read. If the directory cannot be written, as on a read-only mount,
 * nothing is changed; then all events of the journal must be in the store, as after a clean stop.
 */
bool offline_open_to_read(struct offline *offline);

/* Closes everything. If `parts.journal` is NULL, the caller has closed the journal already. */
void offline_close(struct offline *offline);

#endif
