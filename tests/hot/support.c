#include "support.h"

#include <string.h>

#include "comment/restore.h"
#include "journal/file/record.h"

static uint64_t recorder_append(struct journal *journal, const struct event *event)
{
    struct recorder *recorder = (struct recorder *)journal;
    pthread_mutex_lock(&recorder->lock);
    if (recorder->count == recorder->capacity) {
        recorder->capacity = recorder->capacity * 2 + 1024;
        recorder->events =
            realloc(recorder->events, recorder->capacity * sizeof(*recorder->events));
        recorder->ends = realloc(recorder->ends, recorder->capacity * sizeof(*recorder->ends));
        if (recorder->events == NULL || recorder->ends == NULL)
            abort();
    }
    size_t at = recorder->count++;
    uint64_t size = recorder->real_sizes ? record_size(event) : 1U << STAMP_SHIFT;
    uint64_t position = (at == 0 ? 0 : recorder->ends[at - 1]) + size;
    recorder->events[at] = *event;
    if (event_is_long(event)) {
        uint8_t *body = malloc(event->body_length);
        if (body == NULL || recorder->reserved < event_bytes_max(event))
            abort();
        memcpy(body, event->body, event->body_length);
        recorder->events[at].body = body;
        recorder->reserved -= event_bytes_max(event);
    }
    recorder->ends[at] = position;
    pthread_mutex_unlock(&recorder->lock);
    return position;
}

static uint64_t recorder_appended(struct journal *journal)
{
    struct recorder *recorder = (struct recorder *)journal;
    return recorder_position(recorder, recorder_count(recorder));
}

static void recorder_kick(struct journal *journal)
{
    (void)journal;
}

static enum status recorder_state(struct journal *journal)
{
    (void)journal;
    return STATUS_OK;
}

static enum status recorder_admit(struct journal *journal, size_t bytes)
{
    struct recorder *recorder = (struct recorder *)journal;
    assert_true(bytes <= LIMIT_ADMIT_BYTES);
    return recorder->admit != NULL ? recorder->admit(recorder->context) : STATUS_OK;
}

static enum status recorder_reserve(struct journal *journal, size_t bytes)
{
    struct recorder *recorder = (struct recorder *)journal;
    assert_true(bytes <= LIMIT_EVENT_LONG);
    enum status status = recorder->admit != NULL ? recorder->admit(recorder->context) : STATUS_OK;
    pthread_mutex_lock(&recorder->lock);
    recorder->reserved += status == STATUS_OK ? bytes : 0;
    pthread_mutex_unlock(&recorder->lock);
    return status;
}

static void recorder_unreserve(struct journal *journal, size_t bytes)
{
    struct recorder *recorder = (struct recorder *)journal;
    pthread_mutex_lock(&recorder->lock);
    assert_true(recorder->reserved >= bytes);
    recorder->reserved -= bytes;
    pthread_mutex_unlock(&recorder->lock);
}

/* What is recorded is as good as on disk. */
static const struct journal_ops recorder_ops = {.name = "recorder",
                                                .admit = recorder_admit,
                                                .reserve = recorder_reserve,
                                                .unreserve = recorder_unreserve,
                                                .append = recorder_append,
                                                .appended = recorder_appended,
                                                .durable = recorder_appended,
                                                .state = recorder_state,
                                                .sync = recorder_kick,
                                                .kick = recorder_kick};

void recorder_open(struct recorder *recorder)
{
    *recorder = (struct recorder){.journal.ops = &recorder_ops};
    pthread_mutex_init(&recorder->lock, NULL);
}

void recorder_close(struct recorder *recorder)
{
    pthread_mutex_destroy(&recorder->lock);
    for (size_t i = 0; i < recorder->count; i++)
        if (recorder->events[i].type == EVENT_COMMENT) /* others have no body, and do not set it */
            free((void *)(uintptr_t)recorder->events[i].body);
    free(recorder->events);
    free(recorder->ends);
}

uint64_t recorder_position(struct recorder *recorder, size_t count)
{
    pthread_mutex_lock(&recorder->lock);
    assert_true(count <= recorder->count);
    uint64_t position = count == 0 ? 0 : recorder->ends[count - 1];
    pthread_mutex_unlock(&recorder->lock);
    return position;
}

size_t recorder_count(struct recorder *recorder)
{
    pthread_mutex_lock(&recorder->lock);
    size_t count = recorder->count;
    pthread_mutex_unlock(&recorder->lock);
    return count;
}

static struct event recorder_event(struct recorder *recorder, size_t at)
{
    pthread_mutex_lock(&recorder->lock);
    struct event event = recorder->events[at];
    pthread_mutex_unlock(&recorder->lock);
    return event;
}

const struct exclusive exclusive_0_and_2 = {
    .group_of = {[0] = 1, [2] = 1},
    .group_count = 1,
    .groups = {{.count = 2, .kinds = {0, 2}}},
};

void crew_start(pthread_t *threads, crew_fn *const *work, unsigned count, void *argument)
{
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work[i], argument), 0);
}

void crew_join(const pthread_t *threads, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

struct hot_memory_options bed_options(void)
{
    return (struct hot_memory_options){.shelf_max = 1000,
                                       .shelf_age_s = 90 * 86400,
                                       .item_ttl_s = 7 * 86400,
                                       .token_ttl_s = 600,
                                       .token_max = 1000000,
                                       .seed = 7};
}

static void open_hot(struct bed *bed)
{
    bed->options.budget = &bed->budget;
    bed->options.store = bed->store != NULL ? &bed->store->reader : NULL;
    bed->options.admin = bed->store != NULL ? &bed->store->admin : NULL;
    if (bed->front != NULL)
        bed->options.store = bed->front;
    bed->options.filters = bed->filters;
    bed->hot = hot_memory_open(&bed->options);
    assert_non_null(bed->hot);
    hot_memory_of(bed->hot)->admission.pieces_ns = BED_PIECES_NS;
}

static void open_store(struct bed *bed)
{
    bed->store =
        bed->open_store != NULL ? bed->open_store(bed) : store_memory_open(&bed->store_budget);
    bed->filters = filters_new(&bed->budget, bed->options.seed);
    assert_non_null(bed->store);
    assert_non_null(bed->filters);
}

void bed_open_quiet(struct bed *bed, uint64_t limit, struct hot_memory_options options)
{
    memset(bed, 0, sizeof(*bed));
    bed->budget.limit = limit;
    bed->store_budget.limit = GIB(64);
    bed->options = options;
    bed->options.store = NULL;
    open_hot(bed);
    recorder_open(&bed->recorder);
}

void bed_open(struct bed *bed, uint64_t limit, struct hot_memory_options options)
{
    bed_open_quiet(bed, limit, options);
    hot_memory_set_journal(bed->hot, &bed->recorder.journal);
}

void bed_start(struct bed *bed)
{
    struct hot_memory *hot = hot_memory_of(bed->hot);
    hot_memory_set_journal(bed->hot, &bed->recorder.journal);
    atomic_store(&hot->loads.applied, store_position(&bed->store->applier));
    hot->loads.base = store_snapshot(hot->store);
    assert_non_null(hot->loads.base);
}

/* A fold for the present store. */
static void open_fold(struct bed *bed)
{
    fold_free(bed->fold);
    comments_free(bed->comments);
    bed->comments = NULL;
    bed->fold = fold_new(&bed->store_budget, 1 << 20, bed->options.seed);
    assert_non_null(bed->fold);
    if (bed->comment_names == NULL)
        return;
    const struct comments_options options = {.names = bed->comment_names,
                                             .dislike = "dislike",
                                             .report = "report",
                                             .reader = &bed->store->reader};
    bed->comments = comments_new(&options);
    assert_non_null(bed->comments);
    assert_true(fold_set_comments(bed->fold, bed->comments));
}

void bed_use_comments(struct bed *bed, const struct names *names)
{
    bed->comment_names = names;
    open_fold(bed);
}

void bed_open_over(struct bed *bed, uint64_t limit, struct hot_memory_options options,
                   struct store *(*open_store_fn)(struct bed *bed))
{
    memset(bed, 0, sizeof(*bed));
    bed->open_store = open_store_fn;
    bed->budget.limit = limit;
    bed->store_budget.limit = GIB(64);
    bed->options = options;
    open_store(bed);
    open_fold(bed);
    open_hot(bed);
    recorder_open(&bed->recorder);
    bed_start(bed);
}

void bed_open_stored(struct bed *bed, uint64_t limit, struct hot_memory_options options)
{
    bed_open_over(bed, limit, options, NULL);
}

void bed_close(struct bed *bed)
{
    hot_close(bed->hot);
    if (bed->store != NULL) {
        filters_free(bed->filters);
        fold_free(bed->fold);
        comments_free(bed->comments);
        store_close(bed->store);
    }
    recorder_close(&bed->recorder);
    hot_scratch_free(&bed->scratch);
    assert_int_equal(memory_used(&bed->budget), 0);
    assert_int_equal(memory_used(&bed->store_budget), 0);
}

static void make_rows(struct bed *bed, struct store_changes *changes)
{
    char problem[256] = "";
    if (bed->comments != NULL &&
        comments_make_rows(bed->comments, changes, problem, sizeof problem) != STATUS_OK)
        fail_msg("the rows of comments: %s", problem);
}

static void tell_parents(struct bed *bed)
{
    size_t count = 0;
    const struct item *parents =
        bed->comments != NULL ? comments_parents(bed->comments, &count) : NULL;
    if (count > 0 && bed->parents != NULL)
        bed->parents(bed, parents, count);
}

/* One window into a store; the filters are followed, or not if they stand for it already. */
static size_t project(struct bed *bed, size_t from, size_t up_to, bool follow)
{
    struct store_changes changes;
    uint32_t newest_s = 0;
    fold_clear(bed->fold);
    while (from < up_to && !fold_is_full(bed->fold)) {
        struct event event = recorder_event(&bed->recorder, from);
        enum status status = fold_add(bed->fold, &event);
        if (status == STATUS_NO_MEMORY && fold_events(bed->fold) > 0)
            break;
        assert_int_equal(status, STATUS_OK);
        from++;
        newest_s = event.time_s > newest_s ? event.time_s : newest_s;
    }
    fold_take(bed->fold, recorder_position(&bed->recorder, from), &changes);
    changes.newest_s = newest_s;
    if (newest_s > bed->options.token_ttl_s)
        changes.item.token_horizon_s = newest_s - bed->options.token_ttl_s;
    if (bed->changes_ttl_s != 0 && newest_s > bed->changes_ttl_s)
        changes.user.cleared_horizon_s = newest_s - bed->changes_ttl_s;
    if (follow)
        filters_before(bed->filters, &changes);
    make_rows(bed, &changes);
    assert_int_equal(store_apply(&bed->store->applier, &changes), STATUS_OK);
    if (follow)
        filters_after(bed->filters, &changes);
    tell_parents(bed);
    fold_clear(bed->fold);
    return from;
}

void bed_project(struct bed *bed, size_t up_to)
{
    while (bed->projected < up_to) {
        bed->projected = project(bed, bed->projected, up_to, true);
        hot_memory_projected(bed->hot, recorder_position(&bed->recorder, bed->projected));
    }
}

void bed_project_all(struct bed *bed)
{
    bed_project(bed, recorder_count(&bed->recorder));
}

enum status bed_reach(void *context, uint64_t position, unsigned timeout_ms)
{
    struct bed *bed = context;
    (void)timeout_ms;
    bed_project_all(bed);
    return recorder_position(&bed->recorder, bed->projected) >= position ? STATUS_OK
                                                                         : STATUS_LAGGING;
}

void bed_flush(struct bed *bed)
{
    bed->flushed = bed->projected;
}

static enum status restore_token(void *context, const struct store_token *token)
{
    struct bed *bed = context;
    return hot_memory_restore_token(bed->hot, token->item, token->token, token->time_s,
                                    token->value);
}

static enum status replay(struct bed *bed, uint32_t now_s)
{
    enum status status = STATUS_OK;
    size_t at = bed->flushed;
    while (at < bed->recorder.count && status == STATUS_OK) {
        size_t run = bed->recorder.count - at < 64 ? bed->recorder.count - at : 64;
        status = hot_memory_apply(bed->hot, bed->recorder.events + at, run,
                                  bed->recorder.ends[at + run - 1], now_s);
        at += run;
    }
    return status;
}

static void know_kinds(struct bed *bed)
{
    for (size_t i = 0; i < bed->recorder.count; i++)
        if (bed->recorder.events[i].type == EVENT_SET)
            hot_memory_know_kind(bed->hot, bed->recorder.events[i].name);
}

static enum status restore_ban(void *context, struct id user, struct user_ban ban)
{
    struct bed *bed = context;
    return hot_memory_restore_ban(bed->hot, user, ban, 0);
}

static void restore_tokens(struct bed *bed)
{
    struct store_visitor visitor = {.token = restore_token, .context = bed};
    assert_int_equal(store_visit(&bed->store->admin, &visitor), STATUS_OK);
    assert_int_equal(comment_restore_bans(&bed->store->admin, restore_ban, bed), STATUS_OK);
}

void bed_crash(struct bed *bed, uint32_t now_s)
{
    hot_close(bed->hot);
    bed->hot = NULL;
    filters_free(bed->filters);
    store_close(bed->store);
    open_store(bed);
    open_fold(bed);
    for (bed->projected = 0; bed->projected < bed->flushed;) {
        size_t end = bed->flushed;
        if (bed->windows != NULL && end - bed->projected > 1)
            end = bed->projected + 1 + chance_below(bed->windows, 40);
        bed->projected =
            project(bed, bed->projected, end < bed->flushed ? end : bed->flushed, false);
    }
    assert_int_equal(filters_rebuild(bed->filters, &bed->store->admin, NULL, NULL), STATUS_OK);
    open_hot(bed);
    restore_tokens(bed);
    if (bed->load_boards != NULL)
        bed->load_boards(bed);
    enum status status = replay(bed, now_s);
    if (status == STATUS_NO_MEMORY) {
        hot_close(bed->hot);
        bed->hot = NULL;
        while (bed->projected < bed->recorder.count)
            bed->projected = project(bed, bed->projected, bed->recorder.count, true);
        open_hot(bed);
        restore_tokens(bed);
    } else {
        assert_int_equal(status, STATUS_OK);
    }
    know_kinds(bed);
    struct store_stats stats;
    store_stats(&bed->store->admin, &stats);
    hot_memory_raise_time(bed->hot, stats.newest_s);
    bed_start(bed);
}

void bed_replay(struct bed *bed, uint32_t now_s)
{
    assert_null(bed->store);
    hot_close(bed->hot);
    open_hot(bed);
    assert_int_equal(replay(bed, now_s), STATUS_OK);
    hot_memory_set_journal(bed->hot, &bed->recorder.journal);
}

void bed_keep(struct bed *bed, uint32_t now_s)
{
    keeper_round(hot_memory_of(bed->hot), now_s * 1000ULL);
}

enum status bed_run(struct bed *bed, struct hot_request *request)
{
    hot_scratch_clear(&bed->scratch);
    request->status = STATUS_COUNT;
    if (hot_try(bed->hot, request, 1, &bed->scratch) == 0) {
        bed->waited++;
        hot_memory_run_blocking(bed->hot, 0, request, 1, &bed->scratch);
    }
    return request->status;
}

int64_t bed_change(struct bed *bed, enum hot_action action, struct id user, uint8_t kind,
                   struct item item, uint32_t time_s)
{
    struct hot_request request = {.action = action,
                                  .user = user,
                                  .name = kind,
                                  .items = &item,
                                  .item_count = 1,
                                  .time_s = time_s};
    assert_int_equal(bed_run(bed, &request), STATUS_OK);
    return request.change.value;
}

int64_t bed_add(struct bed *bed, struct item item, uint8_t name, int64_t delta)
{
    struct hot_request request = {.action = HOT_ADD,
                                  .name = name,
                                  .items = &item,
                                  .item_count = 1,
                                  .change.delta = delta,
                                  .time_s = 1};
    assert_int_equal(bed_run(bed, &request), STATUS_OK);
    return request.change.value;
}

bool bed_ask(struct bed *bed, struct id user, uint8_t kind, struct item item)
{
    struct hot_answer answer;
    struct hot_request request = {.action = HOT_ASK,
                                  .user = user,
                                  .name = kind,
                                  .items = &item,
                                  .item_count = 1,
                                  .time_s = 1,
                                  .read.answers = &answer};
    assert_int_equal(bed_run(bed, &request), STATUS_OK);
    return kind_set_has(&answer.kinds, kind);
}

int64_t bed_count(struct bed *bed, struct item item, uint8_t name)
{
    struct hot_answer answer = {0};
    struct hot_request request = {.action = HOT_COUNTS,
                                  .items = &item,
                                  .item_count = 1,
                                  .time_s = 1,
                                  .read.answers = &answer};
    assert_int_equal(bed_run(bed, &request), STATUS_OK);
    for (uint32_t i = 0; i < answer.count; i++)
        if (bed->scratch.counters[answer.first + i].name == name)
            return bed->scratch.counters[answer.first + i].value;
    return 0;
}

struct hot_stats bed_stats(struct bed *bed)
{
    struct hot_stats stats;
    hot_collect(bed->hot, &stats);
    return stats;
}

bool bed_has_item(struct bed *bed, struct item item)
{
    struct hot_memory *hot = hot_memory_of(bed->hot);
    uint64_t hash = item_hash_of(hot, item);
    struct item_shard *shard = item_shard_of(hot, hash);
    pthread_mutex_lock(&shard->lock);
    bool there = item_find(shard, hash, item) != NULL;
    pthread_mutex_unlock(&shard->lock);
    return there;
}

bool bed_has_user(struct bed *bed, struct id user)
{
    struct hot_memory *hot = hot_memory_of(bed->hot);
    uint64_t hash = user_hash_of(hot, user);
    struct user_shard *shard = user_shard_of(hot, hash);
    pthread_mutex_lock(&shard->lock);
    bool there = user_find(shard, hash, user) != NULL;
    pthread_mutex_unlock(&shard->lock);
    return there;
}

static void leave(void *context, struct slab *slab, uint32_t cell)
{
    (void)context;
    (void)slab;
    (void)cell;
}

void bed_move_table(struct table *table)
{
    uint32_t cursor = 0;
    do
        cursor = table_visit_some(table, cursor, 64, leave, NULL);
    while (cursor != 0);
}

void bed_evict_item(struct bed *bed, struct item item)
{
    struct hot_memory *hot = hot_memory_of(bed->hot);
    uint64_t hash = item_hash_of(hot, item);
    struct item_shard *shard = item_shard_of(hot, hash);
    pthread_mutex_lock(&shard->lock);
    uint32_t cell = item_cell(shard, hash, item);
    assert_int_not_equal(cell, 0);
    assert_true(item_at(shard, cell)->stamp < loads_clean(&hot->loads));
    item_evict(shard, hash, cell);
    pthread_mutex_unlock(&shard->lock);
}

/* What was taken of a slab so that its newest page, which never retires, is full. */
struct filling {
    struct slab *slab;
    uint32_t count;
    uint32_t capacity;
    struct {
        uint32_t cell;
        uint32_t size;
    } * cells;
};

static void fill_cell(struct filling *filling, uint32_t size)
{
    uint32_t cell = slab_alloc(filling->slab, size);
    assert_int_not_equal(cell, 0);
    if (filling->count == filling->capacity) {
        filling->capacity = filling->capacity * 2 + 64;
        filling->cells = realloc(filling->cells, filling->capacity * sizeof(filling->cells[0]));
        assert_non_null(filling->cells);
    }
    filling->cells[filling->count].size = size;
    filling->cells[filling->count++].cell = cell;
}

static void fill(struct filling *filling, struct slab *slab)
{
    filling->slab = slab;
    filling->count = 0;
    while (slab->fresh != slab->fresh_end) {
        uint32_t left = (slab->fresh_end - slab->fresh) * SLAB_UNIT;
        fill_cell(filling, left < SLAB_CELL_MAX ? left : SLAB_CELL_MAX);
    }
    for (uint32_t units = 1; units < SLAB_CELL_CLASSES; units++)
        while (slab->free[units] != 0)
            fill_cell(filling, units * SLAB_UNIT);
}

static void drain(struct filling *filling)
{
    for (uint32_t i = 0; i < filling->count; i++)
        slab_free(filling->slab, filling->cells[i].cell, filling->cells[i].size);
    free(filling->cells);
}

/* The budget seems spent for a while, so that the keeper wants every page it can get. */
void bed_evict(struct bed *bed)
{
    struct hot_memory *hot = hot_memory_of(bed->hot);
    struct filling *fillings = calloc(2 * LIMIT_SHARDS, sizeof(*fillings));
    assert_non_null(fillings);
    slab_pool_shrink(hot->pool, SIZE_MAX / 2);
    uint64_t left = bed->budget.limit - memory_used(&bed->budget);
    assert_true(memory_charge(&bed->budget, left));
    for (uint32_t i = 0; i < LIMIT_SHARDS; i++) {
        fill(&fillings[2 * i], &hot->users[i].slab);
        fill(&fillings[2 * i + 1], &hot->items[i].slab);
    }
    for (int i = 0; i < 8; i++)
        bed_keep(bed, 1);
    for (uint32_t i = 0; i < 2 * LIMIT_SHARDS; i++)
        drain(&fillings[i]);
    free(fillings);
    memory_release(&bed->budget, left);
}

enum bed_event bed_disturb(struct bed *bed, struct chance *chance, uint32_t odds, uint32_t now_s)
{
    size_t behind = recorder_count(&bed->recorder) - bed->projected;
    uint32_t dice = chance_below(chance, odds);
    enum bed_event event = dice < BED_NOTHING ? (enum bed_event)dice : BED_NOTHING;
    switch (event) {
    case BED_EVICTED:
        bed_project_all(bed);
        bed_evict(bed);
        break;
    case BED_FLUSHED:
        bed_flush(bed);
        break;
    case BED_CRASHED:
        bed_crash(bed, now_s);
        hot_memory_set_reach(bed->hot, bed_reach, bed);
        break;
    case BED_KEPT:
        bed_keep(bed, now_s);
        break;
    case BED_PROJECTED:
        bed_project_all(bed);
        break;
    case BED_NOTHING:
        if (behind > 0 && chance_below(chance, 3) == 0)
            bed_project(bed, bed->projected + 1 + chance_below(chance, (uint32_t)behind));
    }
    return event;
}
