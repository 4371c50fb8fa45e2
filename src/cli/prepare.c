#include "cli/prepare.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>

#include "base/log.h"
#include "cli/commands.h"
#include "cli/comment_options.h"
#include "cli/data_directory.h"
#include "cli/name_options.h"
#include "cli/sizes.h"
#include "http/origin.h"

static unsigned usable_cores(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return (unsigned)(count < 1 ? 1 : count > LIMIT_THREADS ? LIMIT_THREADS : count);
}

unsigned prepare_threads(const struct options *options)
{
    return options->threads ? (unsigned)options->threads : usable_cores();
}

/* Checks of the options that depend neither on the machine nor on the data. */
static bool check_options(const struct options *options, char *problem, size_t size)
{
    char reason[320];
    if (!sizes_suffice(options, true, problem, size) ||
        !name_options_check(options, problem, size) ||
        !comment_options_check(options, problem, size))
        return false;
    if (origins_check(options->cors_origin, reason, sizeof reason))
        return true;
    snprintf(problem, size, "cors-origin: %s", reason);
    return false;
}

static void choose(struct options *options, size_t index, uint64_t *field, uint64_t value)
{
    if (*field == value)
        return;
    *field = value;
    options->origin[index] = OPTION_FROM_CHOICE;
}

/* Were the numbers given by somebody, or does not even the number of connections fit? */
static bool is_worth_a_warning(const struct options *options, uint64_t places)
{
    return places < options->max_connections ||
           options->origin[OPTIONS_INDEX_max_connections] != OPTION_FROM_DEFAULT ||
           options->origin[OPTIONS_INDEX_live_streams] != OPTION_FROM_DEFAULT;
}

/*
 * A connection is an open file, and the usual limit of open files is far below --max-connections.
 * Connections that do not fit are refused by the server with an error, because at the limit of the
 * system it could open no other file either.
 */
static bool share_files(struct options *options, struct files *files, char *problem, size_t size)
{
    unsigned threads = prepare_threads(options);
    uint64_t connections = options->max_connections, streams = options->live_streams;
    uint64_t wanted = files_wanted(threads, connections, streams), allowed = files_raise(wanted);
    if (!files_share(files, allowed, threads)) {
        snprintf(problem, size,
                 "this process may have %" PRIu64 " files open (ulimit -n), and needs %" PRIu64
                 " for itself and some for connections: raise that limit",
                 allowed, files->own);
        return false;
    }
    if (files->places < connections + streams && is_worth_a_warning(options, files->places))
        log_warn("only %" PRIu64
                 " connections and live streams can be open at a time, because this "
                 "process may have %" PRIu64 " files open (ulimit -n); --max-connections %" PRIu64
                 " and --live-streams %" PRIu64 " need %" PRIu64,
                 files->places, allowed, connections, streams, wanted);
    if (connections > files->places)
        choose(options, OPTIONS_INDEX_max_connections, &options->max_connections, files->places);
    if (streams > files->places)
        choose(options, OPTIONS_INDEX_live_streams, &options->live_streams, files->places);
    return true;
}

int prepare(struct server *server, struct options *options, struct files *files, char *problem,
            size_t size)
{
    if (!check_options(options, problem, size))
        return EXIT_NOT_UNDERSTOOD;
    enum status status = data_directory_look(options->data, problem, size);
    if (status == STATUS_OK)
        status = data_directory_look_to_write(options->data, problem, size);
    if (status != STATUS_OK)
        return exit_of(status);
    if (!share_files(options, files, problem, size))
        return EXIT_FAILED;
    return exit_of(server_prepare(server, options, prepare_threads(options), problem, size));
}

void prepare_effective(struct options *options)
{
    struct sizes sizes = sizes_of(options);
    choose(options, OPTIONS_INDEX_threads, &options->threads, prepare_threads(options));
    choose(options, OPTIONS_INDEX_max_memory, &options->max_memory, sizes.memory);
    choose(options, OPTIONS_INDEX_ready_memory, &options->ready_memory, sizes.ready);
    if (options->store == OPTION_STORE_NONE)
        return;
    choose(options, OPTIONS_INDEX_window_events, &options->window_events, sizes.window_events);
    choose(options, OPTIONS_INDEX_checkpoint_bytes, &options->checkpoint_bytes,
           sizes.checkpoint_bytes);
    choose(options, OPTIONS_INDEX_lag_max_bytes, &options->lag_max_bytes, sizes.lag_max_bytes);
    choose(options, OPTIONS_INDEX_block_cache_bytes, &options->block_cache_bytes,
           sizes.block_cache);
}
