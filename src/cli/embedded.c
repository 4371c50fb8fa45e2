/* Starting and stopping. What was started last is stopped first. */
#include "cli/embedded.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/log.h"
#include "cli/name_options.h"
#include "hot/memory/hot_memory.h"
#include "journal/file/journal_file.h"
#ifdef LAUD_FAULTS
#include "hot/delayed/hot_delayed.h"
#endif

/* The definition of a name is appended to the journal before the name can be used. */
static enum status record_name(void *context, enum name_role role, uint16_t index, const char *text,
                               size_t length)
{
    struct recovered *parts = context;
    uint32_t time_s = (uint32_t)(timeline_now_ms(parts->timeline) / 1000);
    struct event event = event_define((uint8_t)role, index, text, length, time_s);
    hot_memory_raise_time(parts->hot, time_s); /* no later event may have an earlier time */
    journal_append(parts->journal, &event);
    return STATUS_OK;
}

/* The same without an operation that was admitted before: at the start the disk may be full already. */
static enum status record_first_name(void *context, enum name_role role, uint16_t index,
                                     const char *text, size_t length)
{
    const struct recovered *parts = context;
    enum status status = journal_admit(parts->journal, LIMIT_EVENT_BYTES);
    return status == STATUS_OK ? record_name(context, role, index, text, length) : status;
}

/* From now on decisions are recorded. */
static bool start_recording(struct embedded *e)
{
    char problem[256];
    struct recovered *parts = &e->parts;
    names_set_recorder(parts->names, record_first_name, parts);
    hot_memory_set_journal(parts->hot, parts->journal);
    if (!name_options_apply(e->options, parts->names, problem, sizeof problem)) {
        log_error("%s", problem);
        return false;
    }
    enum status status = exclusive_parse(&e->exclusive, e->options->exclusive, parts->names,
                                         problem, sizeof problem);
    names_set_recorder(parts->names, record_name, parts);
    if (status != STATUS_OK)
        log_error("exclusive = %s: %s", e->options->exclusive, problem);
    journal_kick(parts->journal); /* for the definitions of kinds that were just recorded */
    return status == STATUS_OK;
}

static void parents_changed(void *context, const struct item *parents, size_t count)
{
    struct embedded *e = context;
    hot_memory_discard_heads(e->parts.hot, parents, count);
}

static void projected(void *context, uint64_t position)
{
    struct embedded *e = context;
    hot_memory_projected(e->parts.hot, position);
}

/* Boards that are being counted at the moment are saved the next time. */
static void save_boards(void *context, uint64_t position)
{
    struct embedded *e = context;
    int result = hot_memory_save_boards(e->parts.hot, e->parts.boards_path, position);
    if (result != 0 && result != -EAGAIN)
        log_warn("%s was not written: %s; the next start may have to count the boards again",
                 e->parts.boards_path, strerror(-result));
}

static void store_failed(void *context, const char *why)
{
    struct embedded *e = context;
    hot_memory_store_failed(e->parts.hot, why);
}

static void staged(void *context, uint64_t position)
{
    struct embedded *e = context;
    backup_stage_run(&e->stage, position);
}

static enum status reach(void *context, uint64_t position, unsigned timeout_ms)
{
    struct embedded *e = context;
    return projector_reach(e->projector, position, timeout_ms) ? STATUS_OK : STATUS_LAGGING;
}

static bool start_projector(struct embedded *e)
{
    char problem[512] = "there is no memory for the keeper of the hot tier";
    const struct recovered *parts = &e->parts;
    if (parts->store == NULL)
        return true;
    struct projector_options options = recover_projector(parts);
    options.moved = projected;
    options.parents = parents_changed;
    options.failed = store_failed;
    if (e->options->boards)
        options.save = save_boards;
    options.staged = staged;
    options.context = e;
    hot_memory_bound_lag(parts->hot, e->sizes.lag_slow_bytes, e->sizes.lag_max_bytes);
    if (hot_memory_start(parts->hot))
        e->projector = projector_start(&options, problem, sizeof problem);
    if (e->projector != NULL)
        hot_memory_set_reach(parts->hot, reach, e);
    else
        log_error("cannot start the projector: %s", problem);
    return e->projector != NULL;
}

static bool start_workers(struct embedded *e)
{
    int error = hot_memory_start_workers(e->parts.hot, (unsigned)e->options->workers);
    if (error != 0)
        log_error("cannot start the workers: %s", strerror(error));
    return error == 0;
}

/* Tests of the whole server may want its hot tier to be slow, see hot_delayed.h. */
static bool choose_hot(struct embedded *e)
{
    e->hot = e->parts.hot;
#ifdef LAUD_FAULTS
    const char *seed = getenv("LAUD_HOT_DELAYED");
    if (seed != NULL) {
        e->hot = hot_delayed_open(e->parts.hot, strtoull(seed, NULL, 10));
        log_info("for a test, the hot tier is delayed with the seed %s", seed);
    }
#endif
    return e->hot != NULL;
}

static bool start_stage(struct embedded *e)
{
    const struct recovered *parts = &e->parts;
    e->stage = (struct backup_stage){.data = e->options->data,
                                     .journal = parts->journal,
                                     .store = parts->store != NULL ? &parts->store->admin : NULL,
                                     .timeline = parts->timeline};
    int error = backup_stage_init(&e->stage);
    if (error != 0)
        log_error("cannot prepare for backups: %s", strerror(error));
    return error == 0;
}

bool embedded_open(struct embedded *e, const struct options *options, bool (*is_stopping)(void))
{
    *e = (struct embedded){.options = options};
    e->lock = data_directory_lock(options->data, true);
    if (e->lock < 0)
        return false;
    e->parts.exclusive = &e->exclusive;
    e->parts.is_stopping = is_stopping;
    if (!data_directory_recover(&e->parts, options, &e->sizes, &e->budget)) {
        e->stopped = e->parts.stopped;
        return false;
    }
    return start_stage(e) && start_recording(e) && start_projector(e) && start_workers(e) &&
           choose_hot(e);
}

void embedded_parts(struct embedded *e, struct server_parts *parts)
{
    ASSERT(e->parts.hot != NULL && e->parts.journal != NULL);
    parts->names = e->parts.names;
    parts->hot = e->hot;
    parts->timeline = e->parts.timeline;
    e->stage.projector = e->projector;
    parts->backup = &backup_stage_ops;
    parts->backup_context = &e->stage;
    parts->budget = &e->budget;
    parts->seed = e->parts.seed;
    e->metrics =
        (struct embedded_metrics){.options = e->options,
                                  .names = e->parts.names,
                                  .hot = e->hot,
                                  .journal = e->parts.journal,
                                  .timeline = e->parts.timeline,
                                  .projector = e->projector,
                                  .store = e->parts.store != NULL ? &e->parts.store->admin : NULL,
                                  .filters = e->parts.filters,
                                  .trends = e->parts.trends};
    embedded_metrics_add(&e->metrics, &parts->sources);
}

/* A journal that is kept keeps its texts, too. */
static void erase_texts(struct embedded *e)
{
    struct journal_stats stats;
    if (e->projector == NULL || e->options->keep_journal || e->options->journal_history > 0)
        return;
    bool was_late = e->erasure.is_late;
    e->erasure.within_ms = e->options->comment_erase_ms;
    journal_stats(e->parts.journal, &stats);
    if (erasure_turn(&e->erasure, clock_monotonic_ns() / 1000000, hot_memory_erased(e->parts.hot),
                     stats.first)) {
        journal_file_roll(e->parts.journal);
        projector_request_checkpoint(e->projector);
    }
    if (e->erasure.is_late && !was_late)
        log_warn("removed texts of comments are still in the journal after --comment-erase: "
                 "checkpoints fail");
}

void embedded_turn(struct embedded *e)
{
    ASSERT(e->parts.timeline != NULL);
    timeline_turn(e->parts.timeline);
    backup_stage_turn(&e->stage);
    erase_texts(e);
}

int embedded_stop(struct embedded *e, int code)
{
    if (e->projector != NULL)
        projector_stop(e->projector);
    if (e->parts.hot != NULL)
        hot_stop(e->hot != NULL ? e->hot : e->parts.hot);
    if (e->parts.journal == NULL)
        return code;
    journal_close(e->parts.journal);
    if (code == 0 && hot_memory_logged_state(e->parts.hot) == STATUS_READONLY) {
        log_error("stopped after the journal had failed");
        code = 1;
    } else if (code == 0) {
        log_info("stopped; everything acknowledged is on disk");
    }
    return code;
}

void embedded_close(struct embedded *e)
{
    if (e->lock < 0)
        return;
    if (e->hot != NULL && e->hot != e->parts.hot)
        hot_close(e->hot);
    recover_close(&e->parts);
    backup_stage_free(&e->stage);
    close(e->lock);
}
