#include "net/run.h"

#include <stdio.h>

#include "base/assert.h"
#include "base/clock.h"
#include "net/reply.h"
#include "net/resp_write.h"
#include "net/session.h"

/* One call of run_commands. */
struct running {
    struct conn *conn;
    struct loop *loop;
    uint32_t time_s;
    uint64_t now_ns;
    uint64_t since_ns; /* when the batch or command at hand began */
    uint32_t batch;    /* requests gathered */
    bool admitted;     /* the journal takes this batch's events */
    bool out_of_memory;
};

static void reply_done(struct running *r, bool written)
{
    r->conn->replies++;
    if (!written)
        r->out_of_memory = true;
}

/* `operation` is its place among the commands, or METER_NONE; was it run? */
static void refuse(struct running *r, uint32_t operation, bool ran, enum status status,
                   const char *sentence)
{
    loop_count(&r->loop->stats.errors, 1);
    meter_failed(&r->loop->watch.meter, operation, status, ran);
    reply_done(r, resp_error(&r->conn->out, status_resp(status), sentence));
}

static void reply_to(struct running *r, const struct hot_request *request)
{
    const struct loop *loop = r->loop;
    if (request->status != STATUS_OK)
        refuse(r, request->op, true, request->status, status_sentence(request->status));
    else
        reply_done(r, reply_write(&r->conn->out, request, &loop->hot_scratch,
                                  loop->server->parts.names, r->conn->resp3));
}

/* Gives the rest of the batch to a worker; false: there are too many such jobs already. */
static bool send_away(struct running *r, uint32_t from)
{
    struct loop *loop = r->loop;
    struct job *job = job_new(loop->requests + from, r->batch - from, loop->server->parts.budget);
    if (job == NULL)
        return false;
    job->loop = loop;
    job->conn = r->conn;
    job->resp3 = r->conn->resp3;
    job->since_ns = r->since_ns;
    if (!work_submit(&loop->server->work, job)) {
        job_free(job);
        return false;
    }
    r->conn->job = job;
    loop->jobs++;
    loop_count(&loop->stats.jobs, 1);
    return true;
}

/* Looks at the clock: how long it took since the last time. */
static uint64_t lap(struct running *r)
{
    uint64_t now_ns = clock_monotonic_ns(), took_ns = now_ns - r->since_ns;
    r->since_ns = r->loop->clock_ns = now_ns;
    return took_ns;
}

/* The first requests of the batch are answered. */
static void watch_batch(struct running *r, uint32_t count)
{
    struct loop *loop = r->loop;
    uint64_t took_ns = lap(r);
    watch_ran(&loop->watch, loop->requests, count, took_ns, loop->clock_ns);
    if (watch_is_slow(&loop->watch, took_ns))
        watch_slow_requests(&loop->watch, loop->requests, count, loop->server->parts.names,
                            conn_client(r->conn), took_ns, r->time_s);
}

/*
 * Runs what was gathered and writes its replies. A request that needs the store goes to a worker
 * with all behind it; where that cannot be, it alone is refused.
 */
static void run_batch(struct running *r)
{
    struct loop *loop = r->loop;
    uint32_t done = 0, writes = 0;
    while (done < r->batch) {
        size_t ran = hot_run(loop->server->parts.hot, loop->requests + done, r->batch - done,
                             &loop->hot_scratch);
        for (uint32_t end = done + (uint32_t)ran; done < end; done++) {
            writes += job_request_writes(&loop->requests[done]);
            reply_to(r, &loop->requests[done]);
        }
        if (done == r->batch || send_away(r, done))
            break;
        loop_count(&loop->stats.jobs_refused, 1);
        refuse(r, loop->requests[done].op, true, STATUS_TOO_BUSY, status_sentence(STATUS_TOO_BUSY));
        done++;
    }
    if (done > 0)
        watch_batch(r, done);
    if (writes > 0)
        guard_spend(&loop->server->guard, &loop->pacer, writes, r->now_ns);
    r->batch = 0;
    r->admitted = false;
    loop->scratch.used = 0;
    loop->hot_scratch.used = 0;
    loop->hot_scratch.listed_used = 0;
    loop->hot_scratch.ranked_used = 0;
}

/* Writes need the journal's leave, once for a batch. */
static enum status admit(struct running *r, const struct op_spec *spec)
{
    if (!spec->writes || r->admitted)
        return STATUS_OK;
    enum status status = guard_admit_writes(&r->loop->server->guard, &r->loop->pacer, r->now_ns);
    r->admitted = status == STATUS_OK;
    if (r->admitted)
        r->conn->wrote = r->loop->wrote = true;
    return status;
}

/*
 * What was gathered has to be answered before the command at hand. BLOCKED: a worker has to do it,
 * and the command is read again when that is back.
 */
static enum status run_before(struct running *r)
{
    run_batch(r);
    return r->conn->job != NULL ? STATUS_BLOCKED : STATUS_OK;
}

/* OK: the command is taken. BLOCKED: it has to come again. */
static enum status gather(struct running *r, const struct op_spec *spec, const struct text *args,
                          uint32_t count)
{
    struct loop *loop = r->loop;
    enum status status = admit(r, spec);
    if (status == STATUS_BLOCKED) {
        run_batch(r);
        return status;
    }
    loop->scratch.sentence[0] = '\0';
    if (status == STATUS_OK)
        status = op_decode(spec, args, count, loop->server->parts.names, r->time_s, &loop->scratch,
                           &loop->requests[r->batch]);
    if (status == STATUS_MORE)
        return run_before(r) == STATUS_OK ? gather(r, spec, args, count) : STATUS_BLOCKED;
    if (status != STATUS_OK) {
        char sentence[sizeof loop->scratch.sentence];
        memcpy(sentence, loop->scratch.sentence, sizeof sentence);
        if (run_before(r) != STATUS_OK)
            return STATUS_BLOCKED;
        refuse(r, (uint32_t)(spec - op_get(0)), false, status,
               sentence[0] ? sentence : status_sentence(status));
        return STATUS_OK;
    }
    if (++r->batch == LIMIT_BATCH)
        run_batch(r);
    return STATUS_OK;
}

static void refuse_unknown(struct running *r, struct text name)
{
    char sentence[128];
    snprintf(sentence, sizeof sentence, "unknown command '%.*s', COMMAND LIST shows what there is",
             (int)(name.length < 32 ? name.length : 32), name.bytes);
    refuse(r, METER_NONE, false, STATUS_UNKNOWN_COMMAND, sentence);
}

/* `words` begin with the command's name; what may hold a password is not written down. */
static void watch_session(struct running *r, const struct command *command,
                          const struct text *words, uint32_t count)
{
    struct watch *watch = &r->loop->watch;
    uint64_t took_ns = lap(r);
    bool secret = command->session == session_auth || command->session == session_hello;
    meter_ran(&watch->meter, (uint32_t)(command - r->loop->server->commands.list), took_ns, 1);
    if (watch_is_slow(watch, took_ns))
        watch_slow_words(watch, words, secret ? 1 : count, conn_client(r->conn), took_ns,
                         r->time_s);
}

static void run_session(struct running *r, const struct command *command, const struct text *words,
                        uint32_t word_count)
{
    const struct text *args = words + 1;
    uint32_t count = word_count - 1;
    if (count < command->args_min || count > command->args_max) {
        char sentence[160];
        snprintf(sentence, sizeof sentence, "wrong number of arguments, expected %s %s",
                 command->name, command->arguments);
        refuse(r, (uint32_t)(command - r->loop->server->commands.list), false, STATUS_BAD_ARITY,
               sentence);
        return;
    }
    reply_done(r, command->session(r->conn, args, count));
    watch_session(r, command, words, word_count);
}

static enum status run_one(struct running *r, const struct resp_command *words)
{
    if (words->count == 0)
        return STATUS_OK;
    const struct command *command = commands_find(&r->loop->server->commands, words->args[0]);
    if (command != NULL && command->op != NULL)
        return gather(r, command->op, words->args + 1, words->count - 1);
    if (run_before(r) != STATUS_OK)
        return STATUS_BLOCKED;
    if (command != NULL)
        run_session(r, command, words->args, words->count);
    else
        refuse_unknown(r, words->args[0]);
    return STATUS_OK;
}

enum status run_commands(struct conn *conn, const char *bytes, size_t length, size_t *used)
{
    struct loop *loop = conn->loop;
    struct running r = {.conn = conn,
                        .loop = loop,
                        .time_s = (uint32_t)(clock_wall_ms() / 1000),
                        .now_ns = clock_monotonic_ns()};
    r.since_ns = loop->clock_ns = r.now_ns;
    uint32_t before = conn->replies;
    struct resp_command words = {.args = loop->args};
    enum status status = STATUS_OK;
    size_t at = 0;
    while (status == STATUS_OK && !conn->close_when_sent && conn->job == NULL &&
           conn_unsent(conn) < LIMIT_OUTPUT_SOFT) {
        const char *problem = "";
        status = resp_parse(&conn->parser, &loop->resp_limits, bytes + at, length - at, &words,
                            &problem);
        if (status == STATUS_BAD_PROTOCOL && run_before(&r) == STATUS_OK)
            refuse(&r, METER_NONE, false, status, problem);
        if (status != STATUS_OK)
            break;
        status = run_one(&r, &words);
        if (status == STATUS_OK)
            at += words.used;
    }
    run_batch(&r);
    loop_count(&loop->stats.commands, conn->replies - before);
    *used = at;
    if (r.out_of_memory)
        return STATUS_NO_MEMORY;
    return conn->job != NULL ? STATUS_OK : status;
}
