#include "cli/recover.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "hot/memory/hot_memory.h"
#include "journal/file/journal_file.h"

/* Events are handed to the hot tier in runs, so that it can look ahead. */
#define RUN 64

struct recovery {
    struct names *names;
    struct hot *hot;
    uint32_t now_s;
    uint64_t started_ns;
    uint64_t said_ns; /* when progress was last told */
    size_t count;
    struct event events[RUN];
};

static enum status apply_run(struct recovery *r)
{
    enum status status = hot_memory_apply(r->hot, r->events, r->count, 0, r->now_s);
    r->count = 0;
    if (status == STATUS_NO_MEMORY)
        log_error("the data does not fit in --max-memory");
    return status;
}

static enum status visit(void *context, const struct event *event, uint64_t position, size_t size)
{
    struct recovery *r = context;
    (void)position;
    (void)size;
    if (event->type == EVENT_DEFINE)
        return names_restore(r->names, event->name, event->index, event->text, event->text_length);
    r->events[r->count++] = *event;
    return r->count == RUN ? apply_run(r) : STATUS_OK;
}

static void progress(void *context, const struct journal_report *report)
{
    struct recovery *r = context;
    uint64_t now_ns = clock_monotonic_ns();
    if (now_ns - r->said_ns < 1000000000)
        return;
    r->said_ns = now_ns;
    double seconds = (double)(now_ns - r->started_ns) / 1e9;
    log_info("replaying the journal: %.0f %%, %.1f M events, %.1f M/s",
             report->bytes_total ? 100.0 * (double)report->bytes_read / (double)report->bytes_total
                                 : 0.0,
             (double)report->events / 1e6, (double)report->events / 1e6 / seconds);
}

static void say_result(const struct recovery *r, const struct journal_report *report)
{
    double seconds = (double)(clock_monotonic_ns() - r->started_ns) / 1e9;
    if (report->torn_bytes > 0)
        log_warn("cut off a torn tail of %llu bytes in segment %s at offset %llu: what it held was "
                 "never acknowledged",
                 (unsigned long long)report->torn_bytes, report->torn_segment,
                 (unsigned long long)report->torn_offset);
    if (report->events > 0)
        log_info("replayed %llu events in %.3f s (%.0f/s)", (unsigned long long)report->events,
                 seconds, (double)report->events / seconds);
}

struct journal *recover(const struct options *options, struct names *names, struct hot *hot)
{
    struct recovery *r = calloc(1, sizeof *r);
    char directory[OPTION_TEXT_MAX + 16];
    if (r == NULL)
        return NULL;
    r->names = names;
    r->hot = hot;
    r->now_s = (uint32_t)(clock_wall_ms() / 1000);
    r->started_ns = r->said_ns = clock_monotonic_ns();
    snprintf(directory, sizeof directory, "%s/journal", options->data);
    struct journal_file_options file = {.directory = directory,
                                        .durability = (enum durability)options->durability,
                                        .interval_ms = options->interval_ms,
                                        .segment_bytes = options->segment_bytes};
    struct journal_reading reading = {.visit = visit, .progress = progress, .context = r};
    struct journal_report report = {0};
    struct journal *journal = NULL;
    enum status status = journal_file_open(&file, &reading, &report, &journal);
    if (status == STATUS_OK)
        status = apply_run(r);
    if (status == STATUS_OK) {
        say_result(r, &report);
    } else {
        log_error("cannot open the journal: %s",
                  report.problem[0] ? report.problem : status_sentence(status));
        if (journal != NULL)
            journal_close(journal);
        journal = NULL;
    }
    free(r);
    return journal;
}
