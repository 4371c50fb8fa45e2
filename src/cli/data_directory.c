#include "cli/data_directory.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/lock.h"
#include "base/log.h"
#include "cli/seed.h"

/* The directory above is not ours: if it cannot be synced, as when it may not be read, that is told. */
static bool make_directory(const char *path)
{
    char parent[RECOVER_PATH_BYTES];
    int result = io_make_directory("data.make", path);
    if (result < 0) {
        log_error("cannot make the data directory %s: %s", path, strerror(-result));
        return false;
    }
    snprintf(parent, sizeof parent, "%s/..", path);
    result = io_sync_directory("directory.sync", parent);
    if (result < 0)
        log_warn("%s cannot be synced: %s; if the data directory is new, a power cut may take it",
                 parent, strerror(-result));
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
 * What was served has to fit at the next start. Without a store nothing can be let go for it, so replay
 * may have half of what is kept for connections, of which there are none yet: for the little that goes
 * into memory in another order than it did while threads served it.
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
    budget->limit = sizes->budget;
    budget->reserve = alone ? sizes->connections / 2 : sizes->connections;
    budget->connections_max = 4 * sizes->connections;
    parts->options = options;
    parts->sizes = sizes;
    parts->budget = budget;
    parts->seed = alone ? seed_keep(options->data) : seed_new();
    bool recovered = recover(parts);
    budget->reserve = sizes->connections;
    return recovered;
}

/* Without this a mistyped --data would become a data directory. */
static bool has_data(const char *path)
{
    char journal[RECOVER_PATH_BYTES];
    snprintf(journal, sizeof journal, "%s/journal", path);
    if (access(journal, F_OK) == 0)
        return true;
    log_error("there is no data in %s", path);
    return false;
}

bool offline_open(struct offline *offline, bool make)
{
    const char *data = offline->options.data;
    if (offline->options.store == OPTION_STORE_NONE) {
        log_error("this needs the store, and --store is none");
        return false;
    }
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
    if (offline->parts.journal != NULL)
        journal_close(offline->parts.journal);
    recover_close(&offline->parts);
    close(offline->lock);
}
