#include "cli/backup_tree.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"

#define DEPTH_MAX 4 /* of the directories that are removed; ours have two levels */

int tree_join(char out[PATH_MAX], const char *directory, const char *name)
{
    return snprintf(out, PATH_MAX, "%s/%s", directory, name) < PATH_MAX ? 0 : -ENAMETOOLONG;
}

struct listing {
    tree_visit_fn *visit;
    void *context;
};

static int visit_name(void *context, const char *name)
{
    const struct listing *listing = context;
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0
               ? 0
               : listing->visit(listing->context, name);
}

int tree_list(const char *directory, tree_visit_fn *visit, void *context)
{
    struct listing listing = {visit, context};
    return io_list("backup.list", directory, visit_name, &listing);
}

bool tree_is_directory(const char *path)
{
    struct stat found;
    return lstat(path, &found) == 0 && S_ISDIR(found.st_mode);
}

struct removing {
    const char *directory;
    int depth;
};

static int remove_at(const char *path, int depth);

static int remove_entry(void *context, const char *name)
{
    const struct removing *removing = context;
    char path[PATH_MAX];
    int result = tree_join(path, removing->directory, name);
    return result == 0 ? remove_at(path, removing->depth + 1) : result;
}

/* The depth is bounded by DEPTH_MAX. */
static int remove_at(const char *path, int depth)
{
    if (!tree_is_directory(path)) {
        int result = io_unlink("backup.unlink", path);
        return result == -ENOENT ? 0 : result;
    }
    if (depth > DEPTH_MAX)
        return -ELOOP;
    struct removing removing = {path, depth};
    int result = tree_list(path, remove_entry, &removing);
    if (result == 0 && rmdir(path) < 0)
        result = -errno;
    return result == -ENOENT ? 0 : result;
}

int tree_remove(const char *path)
{
    return remove_at(path, 0);
}
