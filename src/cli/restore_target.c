#include "cli/restore_target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "cli/backup_tree.h"
#include "cli/seed.h"
#include "move/mark.h"
#include "time/spans.h"

__attribute__((format(printf, 2, 3))) static bool say(struct restore_target *target,
                                                      const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(target->problem, sizeof target->problem, format, arguments);
    va_end(arguments);
    return false;
}

/* What a restore makes. Nothing else is ever removed. */
static const char *const own_names[] = {"journal", "store",        "filters",  "trends",
                                        "boards",  MOVE_MARK_NAME, SPANS_NAME, SEED_NAME};

static bool is_own(const char *name)
{
    for (size_t i = 0; i < sizeof own_names / sizeof own_names[0]; i++)
        if (strcmp(name, own_names[i]) == 0)
            return true;
    return false;
}

struct contents {
    bool restoring;   /* there is a folder of an unfinished restore */
    char own[64];     /* the first name that a restore could have made; "": none */
    char foreign[64]; /* the first other name; "": none */
};

static int look_at(void *context, const char *name)
{
    struct contents *contents = context;
    if (name[0] == '.' || strcmp(name, "lost+found") == 0)
        return 0;
    char *first = is_own(name) ? contents->own : contents->foreign;
    if (strcmp(name, RESTORE_FOLDER) == 0)
        contents->restoring = true;
    else if (first[0] == '\0')
        snprintf(first, sizeof contents->own, "%s", name);
    return 0;
}

static int remove_own(const char *directory)
{
    int result = 0;
    for (size_t i = 0; result == 0 && i < sizeof own_names / sizeof own_names[0]; i++) {
        char path[PATH_MAX];
        result = tree_join(path, directory, own_names[i]);
        if (result == 0)
            result = tree_remove(path);
    }
    return result;
}

static bool take_folder(struct restore_target *target)
{
    int result = io_make_directory("restore.folder", target->folder, 0700);
    if (result == 0)
        result = remove_own(target->folder);
    if (result == 0)
        result = remove_own(target->data);
    return result == 0 || say(target, "cannot write to %s: %s", target->data, strerror(-result));
}

/* The lock is on the directory itself, because `laud check` locks the folder. */
static bool take_lock(struct restore_target *target)
{
    target->lock = io_open("restore.lock", target->data, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (target->lock < 0)
        return say(target, "cannot open %s: %s", target->data, strerror(-target->lock));
    if (flock(target->lock, LOCK_EX | LOCK_NB) == 0)
        return true;
    close(target->lock);
    target->lock = -1;
    return say(target, "another restore to %s is running", target->data);
}

bool restore_target_open(struct restore_target *target, bool *is_bad)
{
    struct contents contents = {.restoring = false};
    target->lock = -1;
    *is_bad = false;
    if (tree_join(target->folder, target->data, RESTORE_FOLDER) != 0)
        return say(target, "the path of the data directory is too long");
    target->made = mkdir(target->data, 0700) == 0;
    if (!target->made && errno != EEXIST)
        return say(target, "cannot make %s: %s", target->data, strerror(errno));
    if (!take_lock(target)) {
        *is_bad = target->lock == -ENOTDIR;
        return false;
    }
    int result = tree_list(target->data, look_at, &contents);
    if (result == 0 && contents.restoring)
        result = tree_list(target->folder, look_at, &contents);
    if (result != 0)
        return say(target, "cannot read %s: %s", target->data, strerror(-result));
    const char *other = contents.foreign[0] != '\0' ? contents.foreign
                        : contents.restoring        ? ""
                                                    : contents.own;
    *is_bad = other[0] != '\0';
    if (*is_bad)
        return say(target,
                   "%s is not empty: it has '%s'. A backup is restored to a new or an empty "
                   "directory",
                   target->data, other);
    target->begun = true;
    return take_folder(target);
}

static int finish_entry(void *context, const char *name)
{
    const struct restore_target *target = context;
    char from[PATH_MAX], to[PATH_MAX];
    if (strcmp(name, "journal") == 0)
        return 0;
    int result = tree_join(from, target->folder, name);
    if (result == 0)
        result = tree_join(to, target->data, name);
    return result == 0 ? io_rename("restore.rename", from, to) : result;
}

bool restore_target_finish(struct restore_target *target)
{
    char from[PATH_MAX], to[PATH_MAX];
    int result = tree_list(target->folder, finish_entry, target);
    if (result == 0)
        result = tree_join(from, target->folder, "journal");
    if (result == 0)
        result = tree_join(to, target->data, "journal");
    if (result == 0)
        result = io_sync_directory("restore.directory", target->data);
    if (result == 0)
        result = io_rename("restore.rename", from, to);
    if (result == 0 && rmdir(target->folder) < 0)
        result = -errno;
    if (result == 0)
        result = io_sync_directory("restore.directory", target->data);
    if (result != 0)
        return say(target, "cannot complete %s: %s", target->data, strerror(-result));
    target->made = target->begun = false;
    return true;
}

void restore_target_close(struct restore_target *target)
{
    if (target->begun && remove_own(target->data) == 0 && remove_own(target->folder) == 0)
        (void)rmdir(target->folder); /* if this fails, the next restore tries it again */
    if (target->lock >= 0)
        close(target->lock);
    if (target->made)
        (void)rmdir(target->data); /* fails if something is in it */
    target->lock = -1;
}
