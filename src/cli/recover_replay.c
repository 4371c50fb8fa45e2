/*
 * Opens the journal and replays the events after D into the hot tier. If these are more than memory
 * should hold, or imported ones, they are written to the store first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/log.h"
#include "cli/recover_private.h"
#include "hot/memory/hot_memory.h"
#include "journal/file/journal_file.h"
#include "journal/file/source_file.h"
#include "move/mark.h"
#include "store/rocksdb/store_rocksdb.h"

/*
 * Events are passed to the hot tier in runs, so that it can prefetch what the next ones need. A run is
 * bounded by events and by bytes of their bodies, which the run copies.
 */
#define RUN        64
#define RUN_BODIES KIB(128)

_Static_assert(RUN_BODIES >= LIMIT_EVENT_BODY, "an empty run takes any event");

struct replay {
    struct recovered *r;
    uint32_t newest_s; /* the newest time of all events */
    struct recover_progress progress;
    uint64_t from;
    bool too_much; /* the events are too many for memory, or imported: only names are used */
    bool stopping; /* stop before the next event */
    bool wrong;    /* an event of the last run contradicts earlier events */
    size_t run;    /* how many events a run has, at most RUN */
    size_t count;
    uint64_t position; /* after the last of events[] */
    struct event events[RUN];
    size_t bodies_used;
    uint8_t bodies[RUN_BODIES];
};

static enum status replay_run(struct replay *replay)
{
    if (replay->count == 0)
        return STATUS_OK;
    enum status status = hot_memory_apply(replay->r->hot, replay->events, replay->count,
                                          replay->position, replay->r->now_s);
    replay->count = 0;
    replay->bodies_used = 0;
    replay->wrong = status == STATUS_DAMAGED;
    if (status != STATUS_NO_MEMORY || replay->r->store == NULL)
        return status;
    replay->too_much = true;
    return STATUS_OK;
}

/* Adds an event to the run. There is room for it, also for its body. */
static void replay_add(struct replay *replay, const struct event *event)
{
    struct event *own = &replay->events[replay->count++];
    *own = *event;
    if (!event_is_long(event))
        return;
    uint8_t *body = replay->bodies + replay->bodies_used;
    memcpy(body, event->body, event->body_length);
    own->body = body;
    replay->bodies_used += event->body_length;
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
    if (event->body_length > RUN_BODIES - replay->bodies_used) {
        enum status status = replay_run(replay);
        if (status != STATUS_OK)
            return status;
    }
    if (replay->too_much)
        return STATUS_OK;
    replay_add(replay, event);
    replay->position = position + size;
    return replay->count == replay->run ? replay_run(replay) : STATUS_OK;
}

static void replay_progress(void *context, const struct journal_report *report)
{
    struct replay *replay = context;
    replay->stopping = recover_is_stopping(replay->r);
    if (!recover_progress_is_due(&replay->progress))
        return;
    double seconds = recover_progress_seconds(&replay->progress);
    log_info("replaying the journal: %.0f %%, %.1f M events, %.1f M/s",
             recover_percent(report->bytes_read, report->bytes_total),
             (double)report->visited / 1e6, (double)report->visited / 1e6 / seconds);
}

static void say_result(const struct replay *replay, const struct journal_report *report)
{
    double seconds = recover_progress_seconds(&replay->progress);
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
 * A run reports that one of its events is wrong, but not which one. Only a bug can cause that, so a
 * slow search is enough: everything is replayed again from the beginning, with one event in each run.
 */
static enum status name_wrong_event(struct replay *replay, struct journal_report *report)
{
    struct recovered *r = replay->r;
    log_info("an event of the journal contradicts those before it: looking for it");
    hot_close(r->hot);
    r->hot = NULL;
    replay->count = 0;
    replay->bodies_used = 0;
    replay->run = 1;
    if (!recover_hot(r) || !recover_words(r))
        return STATUS_DAMAGED;
    struct journal_reading reading = replay_reading(replay);
    enum status status = journal_file_verify(r->journal_directory, &reading, report);
    return status == STATUS_STOPPING ? status : STATUS_DAMAGED;
}

/*
 * A server with a store removes segments whose events the store has, but --store none needs all of
 * them.
 */
static void say_needs_store(const struct recovered *r, struct journal_report *report)
{
    bool has_store = store_rocksdb_exists(r->store_directory) > 0;
    snprintf(report->problem, sizeof report->problem,
             "the first events of the journal are gone, and --store none needs all of them: %s",
             has_store ? "a server that ran here with a store has written them to the store and "
                         "then removed them; start without "
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
        recover_say_failed(status == STATUS_NO_MEMORY ? "start" : "open the journal", status,
                           report->problem);
    return status;
}

/* May the next events of the journal be imported ones? Windowed boards do not count those. */
static bool may_be_imported(const struct recovered *r)
{
    return store_position(&r->store->applier) < r->mark.until;
}

/*
 * The events are too many for memory, or imported: they are written to the store, and the hot tier
 * begins empty.
 */
static bool project_first(struct recovered *r, uint64_t end)
{
    if (end == store_position(&r->store->applier))
        return true;
    char problem[512] = "";
    struct recover_progress progress =
        recover_progress(r, "writing the journal's events to the store");
    struct catch_up how = recover_catch_up(r, &progress);
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
        recover_say_failed("write the journal's events to the store", status, problem);
    if (status == STATUS_OK && imported && r->trends != NULL)
        recover_begin_trends(r, end);
    return status == STATUS_OK && recover_hot(r) && recover_words(r);
}

/*
 * An import was interrupted, and all its events are in the store now. Later events are those of a
 * server.
 */
static void close_mark(struct recovered *r, uint64_t end)
{
    if (r->offline || r->mark.until != UINT64_MAX)
        return;
    r->mark.until = end;
    int result = move_mark_write(r->options->data, &r->mark);
    if (result != 0)
        log_warn("%s/" MOVE_MARK_NAME " was not written: %s", r->options->data, strerror(-result));
}

bool recover_replay(struct recovered *r)
{
    struct journal_report report = {0};
    struct replay *replay = calloc(1, sizeof *replay);
    if (replay == NULL)
        return false;
    ASSERT(r->journal == NULL && r->names != NULL);
    replay->r = r;
    replay->run = RUN;
    replay->progress = recover_progress(r, "replaying the journal");
    replay->from = r->store != NULL ? store_position(&r->store->applier) : 0;
    replay->newest_s = r->mark.newest_s;
    replay->too_much = r->offline || replay->from < r->mark.until;
    bool opened = open_journal(replay, &report) == STATUS_OK;
    if (opened && r->store != NULL)
        opened = recover_take_source(r, source_file_open(r->journal));
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
