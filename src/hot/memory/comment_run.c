/*
 * Running decisions about comments. An I/O thread decides if everything that the decision needs is in memory. Otherwise
 * a worker reads it, puts it into memory and decides, all while its load is registered (load.h).
 *
 * A worker also waits for room in the journal, which it reserves before it takes the lock.
 */
#include "base/clock.h"
#include "base/names.h"
#include "hot/memory/hot_memory_priv.h"

#define READ_TRIES 64 /* a decision needs a few things one after the other, hardly ever so many */

/* What one try of a decision has to wait for. */
enum wait {
    WAIT_NOTHING, /* it is decided, or refused */
    WAIT_ROWS,    /* comments or a subject have to be read */
    WAIT_ITEMS,   /* counters have to be read */
    WAIT_JOURNAL,
    WAIT_MEMORY,
    WAIT_TOKENS, /* expired tokens of all shards have to be removed */
};

/* A decision that is being run. */
struct run {
    struct hot_memory *hot;
    unsigned worker;
    struct item item;
    uint32_t time_s;
    comment_decide_fn *decide;
    void *context;
    struct comment_step *step;
    struct comment_step first; /* the step as it was given */
    enum status status;
};

static enum wait wait_of(const struct run *run)
{
    const struct comment_step *step = run->step;
    switch (run->status) {
    case STATUS_BLOCKED:
        if (step->wants_journal)
            return WAIT_JOURNAL;
        return step->needed.id_count > 0 || step->needed.subject ? WAIT_ROWS : WAIT_ITEMS;
    case STATUS_NO_MEMORY:
        return WAIT_MEMORY;
    case STATUS_TOKENS_FULL:
        return WAIT_TOKENS;
    default:
        return WAIT_NOTHING;
    }
}

/* Tries once, with what was read, and with room in the journal if `reserved` is not 0. */
static enum wait try(struct run *run, const struct comment_reads *reads, size_t reserved)
{
    struct hot_memory *hot = run->hot;
    struct comment_step *step = run->step;
    uint64_t hash = item_hash_of(hot, run->item);
    *step = run->first;
    step->hot = hot;
    step->shard = item_shard_of(hot, hash);
    step->gene_number = comment_item_gene(run->item, comment_type_of(hot));
    step->gene = &hot->comments.genes[step->gene_number];
    step->reads = reads;
    step->reserved = reserved;
    pthread_mutex_lock(&step->shard->lock);
    step->time_s = hot_memory_time(hot, run->time_s);
    run->status = STATUS_NO_MEMORY;
    if (reads == NULL || comment_cache_reads(hot, &step->shard->comments, reads))
        run->status = run->decide(step, run->context);
    if (run->status == STATUS_OK && step->kind != 0)
        run->status = step_commit(step);
    if (step->appended && step->recorded != NULL)
        step->recorded(step, run->context);
    comment_trim(hot, &step->shard->comments);
    pthread_mutex_unlock(&step->shard->lock);
    if (reserved != 0 && !step->appended)
        admission_unreserve(&hot->admission, reserved);
    return wait_of(run);
}

/*
 * Reads what is needed and tries again. If another worker is reading the same, this waits for it and only then
 * tries, without having read: what it needs is mostly in memory then.
 */
static enum wait try_reading(struct run *run, bool share)
{
    struct loads *loads = &run->hot->loads;
    struct comment_needed needed = run->step->needed;
    struct comment_reads reads = {.count = 0};
    uint64_t claims[NEEDED_COMMENTS + 1];
    bool mine[NEEDED_COMMENTS + 1];
    size_t count = 0;
    enum wait wait = WAIT_ROWS;
    for (uint32_t i = 0; i < needed.id_count; i++)
        claims[count++] =
            comment_claim(run->hot, comment_item(needed.ids[i], comment_type_of(run->hot)));
    if (needed.subject)
        claims[count++] = comment_claim(run->hot, needed.subject_item);
    load_begin(loads, run->worker);
    bool alone = !share || load_claim(loads, run->worker, claims, count, mine) == count;
    if (alone) {
        run->status = comment_read_needed(run->hot, &needed, &reads);
        wait = run->status == STATUS_OK ? try(run, &reads, 0) : WAIT_NOTHING;
    }
    load_end(loads, run->worker);
    if (share)
        load_claim_end(loads, run->worker, claims, count, mine);
    store_arena_destroy(&reads.arena);
    return alone ? wait : try(run, NULL, 0);
}

static enum wait try_items(struct run *run)
{
    struct comment_needed needed = run->step->needed;
    run->status = load_items(run->hot, run->worker, needed.items, needed.item_count);
    if (run->status == STATUS_NO_MEMORY)
        return WAIT_MEMORY;
    return run->status == STATUS_OK ? try(run, NULL, 0) : WAIT_NOTHING;
}

/* Waits for room for the largest event. */
static enum wait try_reserving(struct run *run)
{
    struct hot_memory *hot = run->hot;
    uint64_t until_ns = clock_monotonic_ns() + LIMIT_REACH_MS * 1000000ULL;
    run->status = admission_reserve_await(&hot->admission, &hot->pacers[run->worker],
                                          LIMIT_EVENT_LONG, until_ns);
    if (run->status == STATUS_BLOCKED)
        run->status = STATUS_TOO_BUSY;
    return run->status == STATUS_OK ? try(run, NULL, LIMIT_EVENT_LONG) : WAIT_NOTHING;
}

static void run_blocking(struct run *run, enum wait wait)
{
    bool share = true;
    unsigned memory_tries = 0, reads = 0;
    while (wait != WAIT_NOTHING) {
        switch (wait) {
        case WAIT_ROWS:
            wait = try_reading(run, share);
            share = false; /* do not wait for other workers twice */
            if (wait == WAIT_ROWS && ++reads == READ_TRIES) {
                run->status = STATUS_TOO_BUSY;
                return;
            }
            break;
        case WAIT_ITEMS:
            wait = try_items(run);
            break;
        case WAIT_JOURNAL:
            wait = try_reserving(run);
            break;
        case WAIT_TOKENS:
            if (!hot_memory_expire_all(run->hot, run->time_s))
                return;
            wait = try(run, NULL, 0);
            break;
        default:
            if (!keeper_wait(run->hot, memory_tries++))
                return;
            wait = try(run, NULL, 0);
        }
    }
}

bool comment_run(struct hot_memory *hot, unsigned worker, struct item item, uint32_t time_s,
                 struct comment_step *step, comment_decide_fn *decide, void *context,
                 enum status *status)
{
    struct run run = {.hot = hot,
                      .worker = worker,
                      .item = item,
                      .time_s = time_s,
                      .decide = decide,
                      .context = context,
                      .step = step,
                      .first = *step};
    enum wait wait = try(&run, NULL, 0);
    if (wait != WAIT_NOTHING && worker == LOAD_NOBODY)
        return false;
    run_blocking(&run, wait);
    *status = run.status;
    hot_note_room(hot, run.status, run.status == STATUS_OK);
    return true;
}

/* The type `comment` is made when the first comment is posted. */
static enum status know_type(struct hot_memory *hot)
{
    uint16_t index;
    if (comment_type_of(hot) != POLICY_NO_TYPE)
        return STATUS_OK;
    if (hot->comments.names == NULL)
        return STATUS_NO_COMMENT;
    enum status status = names_intern(hot->comments.names, NAME_TYPE, COMMENT_TYPE_NAME,
                                      sizeof COMMENT_TYPE_NAME - 1, &index);
    return status == STATUS_OK && comment_type_of(hot) != index ? STATUS_NO_COMMENT : status;
}

bool hot_memory_comment(struct hot_memory *hot, struct hot_request *request, struct hot_trail trail,
                        struct hot_scratch *scratch, unsigned worker)
{
    static const struct hot_detail no_detail;
    (void)trail, (void)scratch;
    if (request->comment.detail == NULL)
        request->comment.detail = &no_detail;
    if (request->action == HOT_COMMENT) {
        request->status = know_type(hot);
        if (request->status != STATUS_OK)
            return request->status != STATUS_BLOCKED || worker != LOAD_NOBODY;
        return comment_run_post(hot, request, worker);
    }
    if (request->action == HOT_EDIT)
        return comment_run_edit(hot, request, worker);
    return comment_run_state(hot, request, worker);
}
