#include "net/batch.h"

#include <stdio.h>

#include "base/clock.h"
#include "net/face.h"

struct running batch_begin(struct conn *conn)
{
    struct timeline *timeline = conn->loop->server->parts.timeline;
    struct moment now = {.wall_ms = clock_wall_ms(), .monotonic_ns = clock_monotonic_ns()};
    struct running r = {.conn = conn,
                        .loop = conn->loop,
                        .wall_s = now.wall_ms / 1000,
                        .now_ns = now.monotonic_ns,
                        .limits = limits_active(&conn->loop->server->limits)};
    r.time_s = timeline != NULL ? timeline_at(timeline, now) : (uint32_t)r.wall_s;
    r.since_ns = conn->loop->clock_ns = r.now_ns;
    return r;
}

void batch_end(struct running *r)
{
    ASSERT(r->batch == 0);
    limits_return(&r->loop->server->limits, r->leases);
    r->conn->had_turn = batch_is_long(r);
}

void batch_foresee(struct running *r, struct text command, struct text first, struct text following)
{
    struct op_user *next = &r->next;
    size_t before = (size_t)(first.bytes - command.bytes); /* meaningless if the word was quoted */
    r->now = *next;
    next->word = (struct text){NULL, 0};
    if (before > command.length || following.length < before + first.length ||
        memcmp(following.bytes, command.bytes, before) != 0 ||
        !id_parse(following.bytes + before, first.length, &next->id))
        return;
    next->word = (struct text){following.bytes + before, first.length};
    limits_foresee(&r->loop->server->limits, next->id, r->took_write);
}

/* Does it write a text? */
static bool is_text(const struct op_spec *spec)
{
    return spec->action == HOT_COMMENT || spec->action == HOT_EDIT;
}

/* The user who acts is the first word of every operation that has a user. */
static bool find_user(const struct running *r, const struct op_spec *spec, const struct text *args,
                      uint32_t count, struct id *user)
{
    if (!op_has_user(spec) || count == 0)
        return false;
    const struct op_user *now = &r->now;
    if (args[0].bytes != now->word.bytes || args[0].length != now->word.length)
        return id_parse(args[0].bytes, args[0].length, user);
    *user = now->id;
    return true;
}

/* Counts one operation against the limits of everybody that conn->ask names. */
static enum status take(struct running *r, bool writes)
{
    struct conn *conn = r->conn;
    struct limits *limits = &r->loop->server->limits;
    struct loop_stats *stats = &r->loop->stats;
    r->took_write = writes;
    r->limited_ns =
        limits_take(limits, r->limits, &conn->ask, writes, r->now_ns, r->leases, &r->limited_by);
    bool refused = r->limited_ns > 0;
    if (refused && !atomic_load_explicit(&limits->dry_run, memory_order_relaxed))
        return STATUS_LIMITED;
    conn->refusals = 0;
    loop_count(&stats->limits_checked, 1);
    if (refused)
        loop_count(&stats->limited[r->limited_by], 1);
    return STATUS_OK;
}

enum status batch_take(struct running *r, const struct op_spec *spec, const struct text *args,
                       uint32_t count)
{
    struct limit_ask *ask = &r->conn->ask;
    ask->known &= ~(1U << LIMIT_BY_USER | 1U << LIMIT_BY_COMMENT);
    if (find_user(r, spec, args, count, &ask->who[LIMIT_BY_USER])) {
        ask->known |= 1U << LIMIT_BY_USER | (unsigned)is_text(spec) << LIMIT_BY_COMMENT;
        ask->who[LIMIT_BY_COMMENT] = ask->who[LIMIT_BY_USER];
    }
    enum status status = take(r, op_writes(spec));
    r->conn->passed = status == STATUS_OK;
    return status;
}

enum status batch_limit_other(struct running *r)
{
    if (r->limits == 0)
        return STATUS_OK;
    r->conn->ask.known &= ~(1U << LIMIT_BY_USER | 1U << LIMIT_BY_COMMENT);
    return take(r, false);
}

void batch_count_limited(struct running *r, char *sentence, size_t size)
{
    struct loop_stats *stats = &r->loop->stats;
    uint64_t retry_ms = (r->limited_ns + 999999) / 1000000;
    loop_count(&stats->limits_checked, 1);
    loop_count(&stats->limited[r->limited_by], 1);
    snprintf(sentence, size, "retry after %llu ms", (unsigned long long)retry_ms);
    if (r->conn->many || ++r->conn->refusals < LIMIT_REFUSALS)
        return;
    uint64_t rest_ms = retry_ms * REST_OPERATIONS;
    r->conn->refusals = 0;
    r->conn->rest_ms = (uint32_t)(rest_ms < LIMIT_REST_MS ? rest_ms : LIMIT_REST_MS);
}

/* Times in the future have the present offset between the clock and recorded times. */
static enum status complete_ban(struct running *r, struct hot_request *request)
{
    struct timeline *timeline = r->loop->server->parts.timeline;
    uint32_t *until_s = &request->comment.until_s;
    if (*until_s == 0 || *until_s == UINT32_MAX)
        return STATUS_OK;
    if (*until_s <= r->wall_s) {
        snprintf(r->loop->scratch.sentence, sizeof r->loop->scratch.sentence,
                 "an UNTIL must be a time in the future, got %u", *until_s);
        return STATUS_BAD_ARGUMENT;
    }
    if (timeline != NULL)
        *until_s = timeline_recorded(timeline, *until_s);
    return STATUS_OK;
}

enum status batch_complete(struct running *r, struct hot_request *request)
{
    struct op_scratch *scratch = &r->loop->scratch;
    const struct access_token *token = r->conn->token;
    if (token != NULL && token->types[0] != '\0')
        op_limit_types(scratch, request, r->loop->server->parts.names, token->types);
    enum status status = request->action == HOT_BAN ? complete_ban(r, request) : STATUS_OK;
    if (status != STATUS_OK)
        scratch->details_used--; /* nobody will run the request */
    return status;
}

uint64_t batch_lap(struct running *r)
{
    uint64_t now_ns = clock_monotonic_ns(), took_ns = now_ns - r->since_ns;
    r->since_ns = r->loop->clock_ns = now_ns;
    return took_ns;
}

void batch_watch(struct running *r, uint32_t count)
{
    struct loop *loop = r->loop;
    uint64_t took_ns = batch_lap(r);
    count -= loop->requests[count - 1].own;
    watch_ran(&loop->watch, loop->requests, count, took_ns, loop->clock_ns);
    if (watch_is_slow(&loop->watch, took_ns))
        watch_slow_requests(&loop->watch, loop->requests, count, loop->server->parts.names,
                            conn_client(r->conn), took_ns, r->wall_s);
}

bool batch_send_away(struct running *r, uint32_t from)
{
    struct loop *loop = r->loop;
    struct job *job = job_new(r->conn, from, r->batch);
    if (job == NULL)
        return false;
    job->since_ns = r->since_ns;
    if (!loop_submit(loop, &job->submission)) {
        job_free(job);
        return false;
    }
    r->conn->job = job;
    return true;
}
