/*
 * Directories of a backup: listing, removing and linking. All functions return 0 or -errno, and any thread
 * may call them.
 */
#ifndef LAUD_CLI_BACKUP_TREE_H
#define LAUD_CLI_BACKUP_TREE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* Writes "a/b", or fails with -ENAMETOOLONG. */
int tree_join(char out[PATH_MAX], const char *directory, const char *name);

/* Calls `visit` for each name in a directory except "." and "..", in the order of the names. */
typedef int tree_visit_fn(void *context, const char *name);
int tree_list(const char *directory, tree_visit_fn *visit, void *context);

/* Removes a file or a directory with everything in it; 0 also if there is none. */
int tree_remove(const char *path);

/* Is it a directory? False also if it cannot be examined. */
bool tree_is_directory(const char *path);

#endif
