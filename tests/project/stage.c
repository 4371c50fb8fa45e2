#include "stage.h"

#include <stdio.h>
#include <string.h>

#include "journal/file/private.h"
#include "journal/file/source_file.h"

static void stage_heard(void *context)
{
    struct stage *stage = context;
    pthread_mutex_lock(&stage->lock);
    stage->journal_calls++;
    pthread_cond_broadcast(&stage->heard);
    pthread_mutex_unlock(&stage->lock);
}

static void stage_moved(void *context, uint64_t position)
{
    struct stage *stage = context;
    pthread_mutex_lock(&stage->lock);
    stage->moved = position;
    stage->moved_calls++;
    pthread_cond_broadcast(&stage->heard);
    pthread_mutex_unlock(&stage->lock);
}

void stage_open(struct stage *stage, const char *directory, uint64_t seed,
                enum durability durability, struct store *store)
{
    *stage = (struct stage){.budget.limit = MIB(256), .store = store, .seed = seed};
    snprintf(stage->directory, sizeof stage->directory, "%s", directory);
    snprintf(stage->journal_directory, sizeof stage->journal_directory, "%s/journal", directory);
    snprintf(stage->filter_path, sizeof stage->filter_path, "%s/filters", directory);
    snprintf(stage->trend_path, sizeof stage->trend_path, "%s/trends", directory);
    world_start(&stage->world, seed);
    pthread_mutex_init(&stage->lock, NULL);
    pthread_cond_init(&stage->heard, NULL);
    const struct journal_file_options options = {.directory = stage->journal_directory,
                                                 .durability = durability,
                                                 .interval_ms = 3600000,
                                                 .segment_bytes = KIB(64)};
    const struct journal_tuning tuning = {.ring_bytes = KIB(8),
                                          .others_bytes = KIB(2),
                                          .long_bytes = 640,
                                          .long_max = 152,
                                          .reserve_bytes = KIB(4),
                                          .retry_ms = 5};
    enum status status =
        journal_file_open_tuned(&options, &tuning, NULL, &stage->report, &stage->journal);
    if (status != STATUS_OK)
        fail_msg("%s: %s", status_name(status), stage->report.problem);
    journal_listen(stage->journal, stage_heard, stage);
    stage->source = source_file_open(stage->journal);
    assert_non_null(stage->source);
    stage->filters = filters_new(&stage->budget, 99);
    assert_non_null(stage->filters);
    const struct trend_options trends = {.budget = &stage->budget, .memory = MIB(4), .seed = 98};
    stage->trends = trends_new(&trends);
    assert_non_null(stage->trends);
}

void stage_close(struct stage *stage)
{
    trends_free(stage->trends);
    filters_free(stage->filters);
    source_close(stage->source);
    journal_close(stage->journal);
    store_close(stage->store);
    pthread_cond_destroy(&stage->heard);
    pthread_mutex_destroy(&stage->lock);
}

static uint64_t calls_so_far(struct stage *stage)
{
    pthread_mutex_lock(&stage->lock);
    uint64_t calls = stage->journal_calls;
    pthread_mutex_unlock(&stage->lock);
    return calls;
}

static void wait_for_call(struct stage *stage, uint64_t before)
{
    pthread_mutex_lock(&stage->lock);
    while (stage->journal_calls == before)
        pthread_cond_wait(&stage->heard, &stage->lock);
    pthread_mutex_unlock(&stage->lock);
}

static void stage_admit(struct stage *stage)
{
    for (;;) {
        uint64_t before = calls_so_far(stage);
        enum status status = journal_admit(stage->journal, LIMIT_BATCH * LIMIT_EVENT_BYTES);
        if (status == STATUS_OK)
            return;
        assert_int_equal(status, STATUS_BLOCKED);
        wait_for_call(stage, before);
    }
}

void stage_append_event(struct stage *stage, const struct event *event)
{
    stage_admit(stage);
    journal_append(stage->journal, event);
    journal_kick(stage->journal);
}

void stage_append(struct stage *stage, uint64_t events)
{
    while (events > 0) {
        stage_admit(stage);
        for (int i = 0; i < LIMIT_BATCH && events > 0; i++, events--) {
            struct event event = world_next(&stage->world);
            uint64_t position = journal_append(stage->journal, &event);
            assert_int_equal(position, stage->world.position);
        }
        journal_kick(stage->journal);
    }
}

void stage_wait_durable(struct stage *stage)
{
    for (;;) {
        uint64_t before = calls_so_far(stage);
        if (journal_durable(stage->journal) == journal_appended(stage->journal))
            return;
        wait_for_call(stage, before);
    }
}

void stage_wait_moved(struct stage *stage, uint64_t position)
{
    pthread_mutex_lock(&stage->lock);
    while (stage->moved < position)
        pthread_cond_wait(&stage->heard, &stage->lock);
    pthread_mutex_unlock(&stage->lock);
}

struct projector_options stage_options(struct stage *stage)
{
    return (struct projector_options){
        .filter_path = stage->filter_path,
        .source = stage->source,
        .applier = &stage->store->applier,
        .admin = &stage->store->admin,
        .filters = stage->filters,
        .trend_path = stage->trend_path,
        .trends = stage->trends,
        .budget = &stage->budget,
        .window_ms = 1,
        .window_events = 100,
        .checkpoint_bytes = GIB(1),
        .token_ttl_s = 60,
        .changes_ttl_s = WORLD_CHANGES_TTL_S,
        .moved = stage_moved,
        .context = stage,
    };
}

struct projector *stage_projector(const struct projector_options *options)
{
    char problem[256] = "";
    struct projector *projector = projector_new(options, problem, sizeof problem);
    if (projector == NULL)
        fail_msg("%s", problem);
    return projector;
}

struct projector *stage_start(const struct projector_options *options)
{
    char problem[256] = "";
    struct projector *projector = projector_start(options, problem, sizeof problem);
    if (projector == NULL)
        fail_msg("%s", problem);
    return projector;
}

void stage_run(struct projector *projector)
{
    enum projector_step step;
    do
        step = projector_step(projector);
    while (step == STEP_MOVED);
    assert_int_equal(step, STEP_IDLE);
}
