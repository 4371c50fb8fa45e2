/*
 * Positions: F of the filter file, T of the file of the windowed boards, D of the store (all as of its
 * last flush), E the journal's end; F, T <= D <= E, and the journal has kept everything from F and T
 * on. Events from F to D concern the filters alone, those from T to D the boards, those from D to E
 * the hot tier, and later the store and the boards.
 */
#include "cli/recover.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "cli/store_names.h"
#include "hot/memory/hot_memory.h"
#include "journal/file/journal_file.h"
#include "move/mark.h"
#include "project/catch_up.h"
#include "store/rocksdb/store_rocksdb.h"

/* Events are handed to the hot tier in runs, so that it can look ahead. */
#define RUN 64

#define PROGRESS_NS 1000000000ULL

/* Tells how far something long is, once a second. */
struct progress {
    struct recovered *r;
    const char *what;
    uint64_t started_ns;
    uint64_t said_ns;
};

static struct progress progress_start(struct recovered *r, const char *what)
{
    uint64_t now = clock_monotonic_ns();
    return (struct progress){.r = r, .what = what, .started_ns = now, .said_ns = now};
}

static double progress_seconds(const struct progress *progress)
{
    return (double)(clock_monotonic_ns() - progress->started_ns) / 1e9;
}

static bool progress_is_due(struct progress *progress)
{
    uint64_t now = clock_monotonic_ns();
    if (now - progress->said_ns < PROGRESS_NS)
        return false;
    progress->said_ns = now;
    return true;
}

static double percent(uint64_t done, uint64_t total)
{
    return total == 0 ? 0.0 : 100.0 * (double)done / (double)total;
}

bool recover_is_stopping(struct recovered *r)
{
    if (!r->stopped && r->is_stopping != NULL)
        r->stopped = r->is_stopping();
    return r->stopped;
}

static bool progress_tell(void *context, uint64_t done, uint64_t total)
{
    struct progress *progress = context;
    if (progress_is_due(progress))
        log_info("%s: %.0f %%, %.0f s", progress->what, percent(done, total),
                 progress_seconds(progress));
    return !recover_is_stopping(progress->r);
}

/* Stopping is no failure, and said by whoever asked for it. */
static void say_failed(const char *what, enum status status, const char *problem)
{
    if (status != STATUS_STOPPING)
        log_error("cannot %s: %s", what, problem[0] ? problem : status_sentence(status));
}

static struct window_options window_options(const struct recovered *r)
{
    return (struct window_options){
        .journal_directory = r->journal_directory,
        .budget = r->budget,
        .events_max = r->sizes->window_events,
        .token_ttl_s = (uint32_t)(r->options->token_ttl_ms / 1000),
        .changes_ttl_s = (uint32_t)(r->options->changes_ttl_ms / 1000),
        .seed = r->seed,
    };
}

static struct catch_up catch_up_of(const struct recovered *r, struct progress *progress)
{
    return (struct catch_up){.window = window_options(r),
                             .trends = r->trends,
                             .now_s = r->now_s,
                             .progress = progress_tell,
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

static bool new_filters(struct recovered *r)
{
    filters_free(r->filters);
    r->filters = filters_new(&r->filter_share, r->seed);
    r->filter_position = 0;
    if (r->filters == NULL)
        log_error("--max-memory leaves no memory for the filters");
    return r->filters != NULL;
}

static bool rebuild_filters(struct recovered *r)
{
    struct progress progress = progress_start(r, "building the filters from the store");
    if (!new_filters(r))
        return false;
    enum status status = filters_rebuild(r->filters, &r->store->admin, progress_tell, &progress);
    if (status != STATUS_OK) {
        say_failed("build the filters from the store", status, "");
        return false;
    }
    log_info("built the filters from the store in %.1f s", progress_seconds(&progress));
    return true;
}

/* Is what the windowed boards would be taken along to imported, perhaps? No window has that. */
static bool trends_meet_import(const struct recovered *r)
{
    return r->trends != NULL && trends_position(r->trends) < r->mark.until;
}

/* From the file, and from the journal what came after it. */
static enum status load_filters(struct recovered *r, char *problem, size_t size)
{
    struct progress progress = progress_start(r, "loading the filters");
    uint64_t reached = store_position(&r->store->applier);
    enum status status = filters_load(r->filters, r->filter_path, &r->filter_position,
                                      progress_tell, &progress, problem, size);
    if (status != STATUS_OK)
        return status;
    if (r->filter_position > reached) {
        snprintf(problem, size, "the filter file is newer than the store");
        return STATUS_DAMAGED;
    }
    if (r->filter_position == reached)
        return STATUS_OK;
    struct progress following =
        progress_start(r, "advancing the filters to the position of the store");
    struct catch_up how = catch_up_of(r, &following);
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

/* Is what comes next in the journal taken over, perhaps? No window has that. */
static bool may_be_imported(const struct recovered *r)
{
    return store_position(&r->store->applier) < r->mark.until;
}

static void begin_trends(struct recovered *r, uint64_t position)
{
    trends_begin(r->trends, position, r->now_s);
    r->trend_position = 0;
}

/* Without a good file they stand for the beginning. */
static bool load_trends(struct recovered *r)
{
    char problem[512] = "";
    const struct trend_options options = {
        .budget = r->budget, .memory = r->sizes->trends, .seed = r->seed};
    if (!r->options->trends)
        return true;
    r->trends = trends_new(&options);
    if (r->trends == NULL) {
        log_error("--max-memory leaves no memory for windowed boards");
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

/* What the filters, on their way, did not take them along to. They cannot be made from the store. */
static void follow_trends(struct recovered *r)
{
    char problem[512] = "";
    struct progress progress =
        progress_start(r, "advancing the windowed boards to the position of the store");
    struct catch_up how = catch_up_of(r, &progress);
    uint64_t position = store_position(&r->store->applier);
    if (r->trends == NULL || trends_position(r->trends) == position)
        return;
    if (trends_meet_import(r))
        snprintf(problem, sizeof problem, "an import was interrupted");
    else if (catch_up_trends(&how, position, problem, sizeof problem) == STATUS_OK || r->stopped)
        return;
    log_warn("%s; the windowed boards start empty and are complete again after a week", problem);
    begin_trends(r, position);
}

static bool open_full_base(struct recovered *r)
{
    if (!open_store(r))
        return false;
    recover_reach_time(r, 0);
    if (!load_trends(r) || !open_filters(r))
        return false;
    follow_trends(r);
    return !r->stopped;
}

static enum status top_of_window(void *context, uint16_t type, uint8_t name,
                                 enum trend_window window, uint32_t now_s, struct ranked *out,
                                 size_t limit, size_t *count)
{
    return trends_top(context, type, name, window, now_s, out, limit, count);
}

static bool open_hot(struct recovered *r)
{
    if (r->offline)
        return true;
    struct hot_memory_options options = {
        .budget = r->budget,
        .store = r->store != NULL ? &r->store->reader : NULL,
        .admin = r->store != NULL ? &r->store->admin : NULL,
        .filters = r->filters,
        .exclusive = r->exclusive,
        .shelf_max = (uint32_t)r->options->shelf_max,
        .shelf_age_s = (uint32_t)(r->options->shelf_age_ms / 1000),
        .ready_bytes = r->sizes->ready,
        .keep_least = true,
        .item_ttl_s = (uint32_t)(r->options->item_ttl_ms / 1000),
        .token_ttl_s = (uint32_t)(r->options->token_ttl_ms / 1000),
        .token_max = r->options->token_max,
        .token_bytes = r->sizes->tokens,
        .without_boards = !r->options->boards,
        .trend = r->trends != NULL ? top_of_window : NULL,
        .trend_context = r->trends,
        .timeline = r->timeline,
        .seed = r->seed,
    };
    r->hot = hot_memory_open(&options);
    if (r->hot == NULL)
        log_error("--max-memory is too little even for an empty server");
    return r->hot != NULL;
}

static enum status restore_token(void *context, const struct store_token *token)
{
    struct recovered *r = context;
    if (token->time_s + r->options->token_ttl_ms / 1000 < r->now_s)
        return STATUS_OK;
    return hot_memory_restore_token(r->hot, token->item, token->token, token->time_s);
}

/*
 * They do not fit. Versions that had their times stand still while the clock was behind remembered all
 * of them as of the same second, for ever: those go at once, as if their time were over.
 */
static enum status forget_tokens(struct recovered *r)
{
    uint64_t past_s = timeline_newest(r->timeline) + r->options->token_ttl_ms / 1000 + 1;
    if (!timeline_is_behind(r->timeline) || past_s > TIMELINE_END)
        return STATUS_NO_MEMORY;
    log_warn("the clock was set back, and since then more tokens of ADD were stored than fit in "
             "memory: they are dropped");
    hot_close(r->hot);
    r->hot = NULL;
    recover_reach_time(r, (uint32_t)past_s);
    return open_hot(r) ? STATUS_OK : STATUS_NO_MEMORY;
}

static enum status restore_tokens(struct recovered *r)
{
    struct store_visitor visitor = {.token = restore_token, .context = r};
    enum status status = store_visit(&r->store->admin, &visitor);
    if (status == STATUS_NO_MEMORY)
        status = forget_tokens(r);
    if (status == STATUS_NO_MEMORY)
        log_error("the store has more tokens of ADD than fit into their share of --max-memory, "
                  "%llu KiB: start with a larger --max-memory, or with a shorter --token-ttl, "
                  "which drops older tokens; a smaller --token-max prevents this",
                  (unsigned long long)(r->sizes->tokens >> 10));
    else if (status != STATUS_OK)
        say_failed("read tokens from the store", status, "");
    return status;
}

/* Names and tokens that the journal may not have any more. */
static bool restore_words(struct recovered *r)
{
    if (r->store == NULL)
        return true;
    enum status status = store_names_restore(&r->store->admin, r->names);
    if (status != STATUS_OK)
        say_failed("read names from the store", status, "");
    if (status != STATUS_OK || r->offline)
        return status == STATUS_OK;
    return restore_tokens(r) == STATUS_OK;
}

/* The kinds there are, once all names are known. */
static void restore_kinds(struct recovered *r)
{
    for (size_t i = 0; i < names_count(r->names); i++)
        if (names_get(r->names, (uint8_t)i)->role == NAME_KIND)
            hot_memory_know_kind(r->hot, (uint8_t)i);
}

struct replay {
    struct recovered *r;
    uint32_t newest_s; /* time of any event */
    struct progress progress;
    uint64_t from;
    bool too_much; /* for memory, or not for it: only names are taken from here on */
    bool stopping; /* before the next event */
    bool wrong;    /* an event of the last run contradicts those before it */
    size_t run;    /* events of one, at most RUN */
    size_t count;
    uint64_t position; /* after the last of events[] */
    struct event events[RUN];
};

static enum status replay_run(struct replay *replay)
{
    if (replay->count == 0)
        return STATUS_OK;
    enum status status = hot_memory_apply(replay->r->hot, replay->events, replay->count,
                                          replay->position, replay->r->now_s);
    replay->count = 0;
    replay->wrong = status == STATUS_DAMAGED;
    if (status != STATUS_NO_MEMORY || replay->r->store == NULL)
        return status;
    replay->too_much = true;
    return STATUS_OK;
}

static enum status replay_visit(void *context, const struct event *event, uint64_t position,
                                size_t size)
{
    struct replay *replay = context;
    struct recovered *r = replay->r;
    if (replay->stopping)
        return STATUS_STOPPING;
    if (event->time_s > replay->newest_s)
        replay->newest_s = event->time_s;
    if (event->type == EVENT_DEFINE)
        return names_restore(r->names, event->name, event->index, event->text, event->text_length);
    if (r->store != NULL && position - replay->from > r->sizes->lag_max_bytes)
        replay->too_much = true;
    if (replay->too_much)
        return STATUS_OK;
    replay->events[replay->count++] = *event;
    replay->position = position + size;
    return replay->count == replay->run ? replay_run(replay) : STATUS_OK;
}

static void replay_progress(void *context, const struct journal_report *report)
{
    struct replay *replay = context;
    replay->stopping = recover_is_stopping(replay->r);
    if (!progress_is_due(&replay->progress))
        return;
    double seconds = progress_seconds(&replay->progress);
    log_info("replaying the journal: %.0f %%, %.1f M events, %.1f M/s",
             percent(report->bytes_read, report->bytes_total), (double)report->visited / 1e6,
             (double)report->visited / 1e6 / seconds);
}

static void say_result(const struct replay *replay, const struct journal_report *report)
{
    double seconds = progress_seconds(&replay->progress);
    if (report->torn_bytes > 0)
        log_warn("cut off a torn tail of %llu bytes in segment %s at offset %llu: %s",
                 (unsigned long long)report->torn_bytes, report->torn_segment,
                 (unsigned long long)report->torn_offset,
                 journal_torn_meaning(report->torn_promise));
    if (report->visited > 0)
        log_info("replayed %llu events in %.3f s (%.0f/s)", (unsigned long long)report->visited,
                 seconds, (double)report->visited / seconds);
}

static struct journal_reading replay_reading(struct replay *replay)
{
    return (struct journal_reading){.visit = replay_visit,
                                    .progress = replay_progress,
                                    .context = replay,
                                    .from = replay->from};
}

/*
 * A run tells that one of its events is wrong, not which. This is as rare as a bug, so it is found
 * the slow way: once more from the beginning, each event alone.
 */
static enum status name_wrong_event(struct replay *replay, struct journal_report *report)
{
    struct recovered *r = replay->r;
    log_info("an event of the journal contradicts those before it: looking for it");
    hot_close(r->hot);
    r->hot = NULL;
    replay->count = 0;
    replay->run = 1;
    if (!open_hot(r) || !restore_words(r))
        return STATUS_DAMAGED;
    struct journal_reading reading = replay_reading(replay);
    enum status status = journal_file_verify(r->journal_directory, &reading, report);
    return status == STATUS_STOPPING ? status : STATUS_DAMAGED;
}

/* A server with a store lets go of segments that the store holds: --store none cannot do without them. */
static void say_needs_store(const struct recovered *r, struct journal_report *report)
{
    bool has_store = store_rocksdb_exists(r->store_directory) > 0;
    snprintf(report->problem, sizeof report->problem,
             "the first events of the journal are gone, and --store none needs all of them: %s",
             has_store ? "a server that ran here with a store has moved them there; start without "
                         "--store none"
                       : "there is no store that has them; restore this directory from a backup");
}

static enum status open_journal(struct replay *replay, struct journal_report *report)
{
    struct recovered *r = replay->r;
    struct journal_file_options file = {.directory = r->journal_directory,
                                        .durability = (enum durability)r->options->durability,
                                        .interval_ms = r->options->interval_ms,
                                        .segment_bytes = r->options->segment_bytes};
    struct journal_reading reading = replay_reading(replay);
    enum status status = journal_file_open(&file, &reading, report, &r->journal);
    if (status == STATUS_OK)
        status = replay_run(replay);
    if (replay->wrong)
        status = name_wrong_event(replay, report);
    if (status == STATUS_NO_MEMORY)
        snprintf(report->problem, sizeof report->problem,
                 "the data does not fit in memory: raise --max-memory, which is %llu MiB",
                 (unsigned long long)(r->sizes->memory >> 20));
    if (status == STATUS_DAMAGED && r->store == NULL && report->first > 0)
        say_needs_store(r, report);
    if (status == STATUS_OK)
        say_result(replay, report);
    else
        say_failed(status == STATUS_NO_MEMORY ? "start" : "open the journal", status,
                   report->problem);
    return status;
}

/* Memory is not for so much, or not for this: it goes to the store first, and memory begins empty. */
static bool project_first(struct recovered *r, uint64_t end)
{
    if (end == store_position(&r->store->applier))
        return true;
    char problem[512] = "";
    struct progress progress = progress_start(r, "writing the journal's events to the store");
    struct catch_up how = catch_up_of(r, &progress);
    bool imported = may_be_imported(r);
    if (imported)
        how.trends = NULL;
    log_info("the journal has events that %s: writing them to the store first",
             r->offline ? "the store does not have yet" : "memory should not hold");
    if (r->hot != NULL)
        hot_close(r->hot);
    r->hot = NULL;
    enum status status =
        catch_up_store(&how, &r->store->applier, r->filters, end, problem, sizeof problem);
    if (status != STATUS_OK)
        say_failed("write the journal's events to the store", status, problem);
    if (status == STATUS_OK && imported && r->trends != NULL)
        begin_trends(r, end);
    return status == STATUS_OK && open_hot(r) && restore_words(r);
}

/* How far the journal may have events that were taken over. */
static bool read_mark(struct recovered *r)
{
    enum status status = move_mark_read(r->options->data, &r->mark);
    if (status != STATUS_OK)
        log_warn("%s/" MOVE_MARK_NAME " cannot be read: %s", r->options->data,
                 status_sentence(status));
    if (r->options->store != OPTION_STORE_NONE || r->mark.until == 0)
        return true;
    log_error(
        "data was imported into %s, and imported data needs the store: start without --store none",
        r->options->data);
    return false;
}

/* An import was left, and all it did is in the store now: what follows is a server's own. */
static void close_mark(struct recovered *r, uint64_t end)
{
    if (r->offline || r->mark.until != UINT64_MAX)
        return;
    r->mark.until = end;
    int result = move_mark_write(r->options->data, &r->mark);
    if (result != 0)
        log_warn("%s/" MOVE_MARK_NAME " was not written: %s", r->options->data, strerror(-result));
}

static bool replay_journal(struct recovered *r)
{
    struct journal_report report = {0};
    struct replay *replay = calloc(1, sizeof *replay);
    if (replay == NULL)
        return false;
    replay->r = r;
    replay->run = RUN;
    replay->progress = progress_start(r, "replaying the journal");
    replay->from = r->store != NULL ? store_position(&r->store->applier) : 0;
    replay->newest_s = r->mark.newest_s;
    replay->too_much = r->offline || replay->from < r->mark.until;
    bool opened = open_journal(replay, &report) == STATUS_OK;
    if (opened)
        recover_reach_time(r, replay->newest_s);
    if (opened && replay->too_much)
        opened = project_first(r, report.end);
    if (opened)
        close_mark(r, report.end);
    if (opened && r->hot != NULL)
        recover_begin_time(r);
    free(replay);
    return opened;
}

bool recover(struct recovered *r)
{
    const char *data = r->options->data;
    snprintf(r->journal_directory, sizeof r->journal_directory, "%s/journal", data);
    snprintf(r->store_directory, sizeof r->store_directory, "%s/store", data);
    snprintf(r->filter_path, sizeof r->filter_path, "%s/filters", data);
    snprintf(r->trend_path, sizeof r->trend_path, "%s/trends", data);
    snprintf(r->boards_path, sizeof r->boards_path, "%s/boards", data);
    r->filter_share = (struct memory_budget){.limit = r->sizes->filters, .within = r->budget};
    r->names = names_new();
    if (r->names == NULL || !read_mark(r) || !recover_load_times(r))
        return false;
    if (r->options->store == OPTION_STORE_ROCKSDB && !open_full_base(r))
        return false;
    if (!open_hot(r) || !restore_words(r))
        return false;
    recover_boards(r);
    if (recover_is_stopping(r) || !replay_journal(r))
        return false;
    if (r->hot != NULL)
        restore_kinds(r);
    return true;
}

struct projector_options recover_projector(const struct recovered *r)
{
    return (struct projector_options){
        .journal_directory = r->journal_directory,
        .filter_path = r->filter_path,
        .journal = r->journal,
        .applier = &r->store->applier,
        .admin = &r->store->admin,
        .filters = r->filters,
        .trend_path = r->trend_path,
        .trends = r->trends,
        .trend_position = r->trend_position,
        .budget = r->budget,
        .filter_position = r->filter_position,
        .window_ms = r->options->window_ms,
        .window_events = r->sizes->window_events,
        .checkpoint_bytes = r->sizes->checkpoint_bytes,
        .token_ttl_s = (uint32_t)(r->options->token_ttl_ms / 1000),
        .changes_ttl_s = (uint32_t)(r->options->changes_ttl_ms / 1000),
        .timeline = r->timeline,
        .seed = r->seed,
        .keep_journal = r->options->keep_journal,
    };
}

void recover_close(struct recovered *r)
{
    if (r->hot != NULL)
        hot_close(r->hot);
    trends_free(r->trends);
    filters_free(r->filters);
    if (r->store != NULL)
        store_close(r->store);
    names_free(r->names);
    timeline_free(r->timeline);
}
