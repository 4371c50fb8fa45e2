#include "cli/data_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/io.h"
#include "base/lock.h"
#include "base/log.h"
#include "cli/seed.h"
#include "cli/store_names.h"
#include "journal/file/journal_file.h"
#include "store/rocksdb/store_rocksdb.h"

/* What a data directory may hold. Other names may be in a file system or a repository from its start. */
static const char *const own_names[] = {"LOCK",        "journal",    "store",      "filters",
                                        "trends",      "boards",     "importing",  "clock",
                                        "filters.tmp", "trends.tmp", "boards.tmp", "importing.tmp",
                                        "clock.tmp",   "seed",       "seed.tmp",   "backup"};

struct entries {
    bool lock;
    bool journal;
    char foreign[64]; /* the first name that is not ours; "": none */
};

static int entries_take(void *context, const char *name)
{
    struct entries *entries = context;
    entries->lock |= strcmp(name, "LOCK") == 0;
    entries->journal |= strcmp(name, "journal") == 0;
    if (name[0] == '.' || strcmp(name, "lost+found") == 0)
        return 0;
    for (size_t i = 0; i < sizeof own_names / sizeof own_names[0]; i++)
        if (strcmp(name, own_names[i]) == 0)
            return 0;
    if (entries->foreign[0] == '\0')
        snprintf(entries->foreign, sizeof entries->foreign, "%s", name);
    return 0;
}

enum status data_directory_look(const char *path, char *problem, size_t size)
{
    struct stat found;
    struct entries entries = {.lock = false};
    if (stat(path, &found) < 0) {
        if (errno == ENOENT)
            return STATUS_OK;
        snprintf(problem, size, "cannot examine the data directory %s: %s", path, strerror(errno));
        return STATUS_IO_FAILED;
    }
    if (!S_ISDIR(found.st_mode)) {
        snprintf(problem, size, "%s is a file, but the data directory must be a directory", path);
        return STATUS_BAD_ARGUMENT;
    }
    int result = io_list("data.list", path, entries_take, &entries);
    if (result < 0) {
        snprintf(problem, size, "cannot examine the data directory %s: %s", path,
                 strerror(-result));
        return STATUS_IO_FAILED;
    }
    if ((entries.lock && entries.journal) || entries.foreign[0] == '\0')
        return STATUS_OK;
    snprintf(problem, size,
             "the directory %s has no Laud data, but other files, such as '%s'; name a new or an "
             "empty directory",
             path, entries.foreign);
    return STATUS_BAD_ARGUMENT;
}

enum status data_directory_find(const char *path, char *problem, size_t size)
{
    enum status status = data_directory_look(path, problem, size);
    if (status != STATUS_OK || access(path, F_OK) == 0)
        return status;
    snprintf(problem, size, "there is no directory %s", path);
    return STATUS_BAD_ARGUMENT;
}

/* The directory in which a new `path` would be created. */
static void name_parent(const char *path, char *out, size_t size)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    while (length > 0 && path[length - 1] != '/')
        length--;
    snprintf(out, size, "%.*s", length > 0 ? (int)length : 1, length > 0 ? path : ".");
}

/* 0 or an errno. By its mode root may write to /proc, but nobody can create a directory there. */
static int may_write(const char *directory)
{
    struct statfs system;
    if (faccessat(AT_FDCWD, directory, W_OK | X_OK, AT_EACCESS) < 0 ||
        statfs(directory, &system) < 0)
        return errno;
    return system.f_type == PROC_SUPER_MAGIC ? ENOENT : system.f_type == SYSFS_MAGIC ? EPERM : 0;
}

enum status data_directory_look_to_write(const char *path, char *problem, size_t size)
{
    char parent[RECOVER_PATH_BYTES];
    bool there = access(path, F_OK) == 0;
    name_parent(path, parent, sizeof parent);
    int error = may_write(there ? path : parent);
    if (error == 0)
        return STATUS_OK;
    snprintf(problem, size, "cannot %s the data directory %s: %s", there ? "write to" : "create",
             path, strerror(error));
    return STATUS_IO_FAILED;
}

/*
 * Only the owner may read the directory, because it shows who liked what. The parent directory is not
 * ours: if it cannot be synced, for example because it may not be read, that is logged.
 */
static bool make_directory(const char *path)
{
    char parent[RECOVER_PATH_BYTES];
    if (access(path, F_OK) == 0)
        return true;
    int result = io_make_directory("data.make", path, 0700);
    if (result < 0) {
        log_error("cannot create the data directory %s: %s", path, strerror(-result));
        return false;
    }
    snprintf(parent, sizeof parent, "%s/..", path);
    result = io_sync_directory("directory.sync", parent);
    if (result < 0)
        log_warn("%s cannot be synced: %s; a power cut may remove the new data directory", parent,
                 strerror(-result));
    return true;
}

int data_directory_lock(const char *path, bool make)
{
    char problem[512];
    if (make && !make_directory(path))
        return -1;
    int lock = lock_take(path, false, problem, sizeof problem);
    if (lock < 0)
        log_error("%s", problem);
    return lock;
}

/*
 * What was served must fit again at the next start. Without a store nothing can be evicted to make
 * room, so replay may also use half of the memory that is reserved for connections, which do not exist
 * yet. It needs this for the little that is stored in another order than while threads served it.
 */
bool data_directory_recover(struct recovered *parts, const struct options *options,
                            struct sizes *sizes, struct memory_budget *budget)
{
    char problem[192];
    *sizes = sizes_of(options);
    if (!sizes_suffice(options, !parts->offline, problem, sizeof problem)) {
        log_error("%s", problem);
        return false;
    }
    bool alone = options->store == OPTION_STORE_NONE;
    ASSERT(sizes->budget <= sizes->memory && 4 * sizes->connections <= sizes->budget);
    budget->limit = sizes->budget;
    budget->reserve = alone ? sizes->connections / 2 : sizes->connections;
    budget->connections_max = 4 * sizes->connections;
    parts->options = options;
    parts->sizes = sizes;
    parts->budget = budget;
    parts->seed = alone ? seed_keep(options->data) : seed_new();
    bool recovered = recover(parts);
    budget->reserve = sizes->connections + sizes->replay;
    return recovered;
}

/* Without this check a mistyped --data would become a new data directory. */
static bool has_data(const char *path)
{
    char journal[RECOVER_PATH_BYTES];
    snprintf(journal, sizeof journal, "%s/journal", path);
    if (access(journal, F_OK) == 0)
        return true;
    log_error("there is no data in %s", path);
    return false;
}

/* Are all events of the journal in the store? Then nothing has to be written. */
static bool is_applied(const struct offline *offline, const char *journal)
{
    struct journal_report report = {0};
    struct journal_reading reading = {.from = store_position(&offline->parts.store->applier)};
    enum status status = journal_file_verify(journal, &reading, &report);
    if (status == STATUS_OK && report.end == reading.from)
        return true;
    if (status != STATUS_OK)
        log_error("cannot read the journal: %s", report.problem);
    else
        log_error(
            "%s cannot be written, and the last events of its journal are not in its store: "
            "start and stop a server on it once, or copy it to a file system that can be written",
            offline->options.data);
    return false;
}

static bool open_read_only(struct offline *offline)
{
    char problem[512] = "", journal[RECOVER_PATH_BYTES], store[RECOVER_PATH_BYTES];
    struct recovered *parts = &offline->parts;
    snprintf(journal, sizeof journal, "%s/journal", offline->options.data);
    snprintf(store, sizeof store, "%s/store", offline->options.data);
    struct store_rocksdb_options options = {.directory = store, .read_only = true};
    parts->names = names_new();
    parts->store = store_rocksdb_open(&options, problem, sizeof problem);
    if (parts->names == NULL || parts->store == NULL) {
        log_error("cannot open the store: %s", parts->names == NULL ? "no memory" : problem);
        return false;
    }
    enum status status = store_names_restore(&parts->store->admin, parts->names);
    if (status != STATUS_OK)
        log_error("cannot read names from the store: %s", status_sentence(status));
    parts->options = &offline->options;
    return status == STATUS_OK && recover_load_times(parts) && is_applied(offline, journal);
}

static bool uses_store(const struct offline *offline)
{
    if (offline->options.store != OPTION_STORE_NONE)
        return true;
    log_error("this command needs the store, but --store is none");
    return false;
}

bool offline_open_to_read(struct offline *offline)
{
    char problem[512];
    const char *data = offline->options.data;
    if (access(data, W_OK) == 0 || (errno != EROFS && errno != EACCES))
        return offline_open(offline, false);
    if (!uses_store(offline) || !has_data(data))
        return false;
    offline->lock = lock_take(data, true, problem, sizeof problem);
    if (offline->lock < 0) {
        log_error("%s", problem);
        return false;
    }
    if (open_read_only(offline))
        return true;
    offline_close(offline);
    return false;
}

bool offline_open(struct offline *offline, bool make)
{
    const char *data = offline->options.data;
    if (!uses_store(offline))
        return false;
    if (!make && !has_data(data))
        return false;
    offline->lock = data_directory_lock(data, make);
    if (offline->lock < 0)
        return false;
    offline->parts.offline = true;
    if (data_directory_recover(&offline->parts, &offline->options, &offline->sizes,
                               &offline->budget))
        return true;
    offline_close(offline);
    return false;
}

void offline_close(struct offline *offline)
{
    ASSERT(offline->lock >= 0);
    if (offline->parts.journal != NULL)
        journal_close(offline->parts.journal);
    recover_close(&offline->parts);
    close(offline->lock);
}
