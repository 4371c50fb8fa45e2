/*
 * What the hot tier builds on: the store at D, and the filters and windowed boards, advanced there
 * from F and T.
 */
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/log.h"
#include "cli/recover_private.h"
#include "cli/store_names.h"
#include "comment/restore.h"
#include "journal/file/source_file.h"
#include "store/rocksdb/store_rocksdb.h"

static struct window_options window_options(const struct recovered *r)
{
    return (struct window_options){
        .source = r->source,
        .budget = r->budget,
        .events_max = r->sizes->window_events,
        .token_ttl_s = (uint32_t)(r->options->token_ttl_ms / 1000),
        .changes_ttl_s = (uint32_t)(r->options->changes_ttl_ms / 1000),
        .seed = r->seed,
        .comments = recover_comments(r),
    };
}

/* Events about comments name items of the type `comment`, so names are needed before the first window. */
static bool load_names(struct recovered *r)
{
    enum status status = store_names_restore(&r->store->admin, r->names);
    if (status != STATUS_OK)
        recover_say_failed("read names from the store", status, "");
    return status == STATUS_OK;
}

struct catch_up recover_catch_up(const struct recovered *r, struct recover_progress *progress)
{
    return (struct catch_up){.window = window_options(r),
                             .trends = r->trends,
                             .now_s = r->now_s,
                             .progress = recover_progress_report,
                             .context = progress};
}

static bool open_store(struct recovered *r)
{
    char problem[512] = "";
    struct store_rocksdb_options options = {
        .directory = r->store_directory,
        .memory_budget = r->budget,
        .cache_bytes = r->sizes->block_cache,
        .write_buffer_bytes = r->sizes->write_buffer,
        .batch_max = (uint32_t)r->sizes->window_events,
        .bulk_apart = r->offline,
    };
    r->store = store_rocksdb_open(&options, problem, sizeof problem);
    if (r->store == NULL)
        log_error("cannot open the store: %s", problem);
    return r->store != NULL;
}

/* Keys of comments in the store were computed with these kinds, and would have to be computed again. */
static bool check_kinds(struct recovered *r)
{
    struct comment_kinds kinds;
    struct comments_options options = recover_comments(r);
    bool found;
    enum status status = comment_restore_kinds(&r->store->reader, &kinds, &found);
    if (status != STATUS_OK)
        recover_say_failed("read from the store which kinds comments use", status, "");
    if (status != STATUS_OK || !found)
        return status == STATUS_OK;
    if (strcmp(kinds.dislike, options.dislike) == 0 && strcmp(kinds.report, options.report) == 0)
        return true;
    log_error("the comments in %s were ordered with '%s' as the kind that counts as dislike and "
              "'%s' as report, which cannot be changed to '%s' and '%s'",
              r->options->data, kinds.dislike, kinds.report, options.dislike, options.report);
    return false;
}

static bool new_filters(struct recovered *r)
{
    filters_free(r->filters);
    r->filters = filters_new(&r->filter_share, r->seed);
    r->filter_position = 0;
    if (r->filters == NULL)
        log_error("--max-memory is too small: there is no memory for the filters");
    return r->filters != NULL;
}

static bool rebuild_filters(struct recovered *r)
{
    struct recover_progress progress = recover_progress(r, "building the filters from the store");
    if (!new_filters(r))
        return false;
    enum status status =
        filters_rebuild(r->filters, &r->store->admin, recover_progress_report, &progress);
    if (status != STATUS_OK) {
        recover_say_failed("build the filters from the store", status, "");
        return false;
    }
    log_info("built the filters from the store in %.1f s", recover_progress_seconds(&progress));
    return true;
}

/* May the events for the windowed boards be imported ones? Windowed boards do not count those. */
static bool trends_meet_import(const struct recovered *r)
{
    return r->trends != NULL && trends_position(r->trends) < r->mark.until;
}

/* Loads the filters from their file, and adds the events of the journal after it. */
static enum status load_filters(struct recovered *r, char *problem, size_t size)
{
    struct recover_progress progress = recover_progress(r, "loading the filters");
    uint64_t reached = store_position(&r->store->applier);
    enum status status = filters_load(r->filters, r->filter_path, &r->filter_position,
                                      recover_progress_report, &progress, problem, size);
    if (status != STATUS_OK)
        return status;
    if (r->filter_position > reached) {
        snprintf(problem, size, "the filter file is newer than the store");
        return STATUS_DAMAGED;
    }
    if (r->filter_position == reached)
        return STATUS_OK;
    struct recover_progress following =
        recover_progress(r, "advancing the filters to the position of the store");
    struct catch_up how = recover_catch_up(r, &following);
    if (trends_meet_import(r))
        how.trends = NULL;
    return catch_up_filters(&how, r->filters, r->filter_position, reached, problem, size);
}

static bool open_filters(struct recovered *r)
{
    char problem[512] = "";
    if (!new_filters(r))
        return false;
    enum status status = load_filters(r, problem, sizeof problem);
    if (status == STATUS_OK)
        return true;
    if (status == STATUS_MORE && store_position(&r->store->applier) == 0)
        return true;
    if (status == STATUS_STOPPING)
        return false;
    log_warn("%s; building the filters again from the store", problem);
    return rebuild_filters(r);
}

void recover_begin_trends(struct recovered *r, uint64_t position)
{
    trends_begin(r->trends, position, r->now_s);
    r->trend_position = 0;
}

/* Loads the windowed boards. Without a valid file they begin at position 0. */
static bool load_trends(struct recovered *r)
{
    char problem[512] = "";
    const struct trend_options options = {
        .budget = r->budget, .memory = r->sizes->trends, .seed = r->seed};
    if (!r->options->trends)
        return true;
    r->trends = trends_new(&options);
    if (r->trends == NULL) {
        log_error("--max-memory is too small: there is no memory for windowed boards");
        return false;
    }
    enum status status = trends_load(r->trends, r->trend_path, problem, sizeof problem);
    if (status == STATUS_OK && trends_position(r->trends) > store_position(&r->store->applier)) {
        snprintf(problem, sizeof problem,
                 "the file of the windowed boards is newer than the store");
        trends_begin(r->trends, 0, 0);
        status = STATUS_DAMAGED;
    }
    if (status != STATUS_OK && store_position(&r->store->applier) > 0)
        log_warn("%s; building the windowed boards from the journal", problem);
    r->trend_position = trends_position(r->trends);
    return true;
}

/* Advances the windowed boards, unless this was done with the filters. The store cannot rebuild them. */
static void follow_trends(struct recovered *r)
{
    char problem[512] = "";
    struct recover_progress progress =
        recover_progress(r, "advancing the windowed boards to the position of the store");
    struct catch_up how = recover_catch_up(r, &progress);
    uint64_t position = store_position(&r->store->applier);
    if (r->trends == NULL || trends_position(r->trends) == position)
        return;
    if (trends_meet_import(r))
        snprintf(problem, sizeof problem, "an import was interrupted");
    else if (catch_up_trends(&how, position, problem, sizeof problem) == STATUS_OK || r->stopped)
        return;
    log_warn("%s; the windowed boards start empty and are complete again after a week", problem);
    recover_begin_trends(r, position);
}

bool recover_take_source(struct recovered *r, struct source *source)
{
    if (r->source != NULL)
        source_close(r->source);
    r->source = source;
    if (source == NULL)
        log_error("there is no memory to read the journal");
    return source != NULL;
}

/* Nobody writes the journal yet, and the store's events are durable in it. */
bool recover_base(struct recovered *r)
{
    if (!open_store(r) || !load_names(r) || !check_kinds(r) ||
        !recover_take_source(r, source_file_open_directory(r->journal_directory,
                                                           store_position(&r->store->applier))))
        return false;
    recover_reach_time(r, 0);
    if (!load_trends(r) || !open_filters(r))
        return false;
    follow_trends(r);
    ASSERT(r->stopped || r->filter_position <= store_position(&r->store->applier));
    ASSERT(r->stopped || r->trends == NULL ||
           trends_position(r->trends) == store_position(&r->store->applier));
    return !r->stopped;
}
