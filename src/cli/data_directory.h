/*
 * Taking a data directory: its lock, its share of memory, and all its parts as recover.h has them.
 * What goes wrong is said in the log.
 */
#ifndef LAUD_CLI_DATA_DIRECTORY_H
#define LAUD_CLI_DATA_DIRECTORY_H

#include "cli/recover.h"

/*
 * May it be a data directory? OK: it is absent, empty, or ours. BAD_ARGUMENT: it is a file, or a directory
 * of somebody else's; IO_FAILED: that cannot be seen. Then `problem` is a sentence that names the thing.
 * Hidden files and lost+found are nobody's. Changes nothing.
 */
enum status data_directory_look(const char *path, char *problem, size_t size);

/* The same for who makes none: it must be there, or it is BAD_ARGUMENT. */
enum status data_directory_find(const char *path, char *problem, size_t size);

/*
 * Can a server write there: into it, or, if it is absent, can it be made? `path` may be a data directory.
 * OK or IO_FAILED, with a sentence as above. Changes nothing, so a full disk is not seen.
 */
enum status data_directory_look_to_write(const char *path, char *problem, size_t size);

/* The lock, to be closed at last; -1: it cannot be had. `make`: it may be absent. */
int data_directory_lock(const char *path, bool make);

/* Shares out memory and recovers. False: recover_close is still due. */
bool data_directory_recover(struct recovered *parts, const struct options *options,
                            struct sizes *sizes, struct memory_budget *budget);

/* A directory that no server uses, with everything in its store and no hot tier. */
struct offline {
    struct options options; /* filled by the caller */
    struct sizes sizes;
    struct memory_budget budget;
    struct recovered parts;
    int lock;
};

/* After data_directory_look or _find. False: nothing is left open. */
bool offline_open(struct offline *offline, bool make);
/*
 * The same for who only reads: where the directory cannot be written, as on a read-only mount, nothing is
 * changed; all of the journal must be in the store then, as after a clean stop.
 */
bool offline_open_to_read(struct offline *offline);
/* The journal too, unless parts.journal is NULL: then somebody else has closed it. */
void offline_close(struct offline *offline);

#endif
