#include "net/run.h"

#include <stdio.h>

#include "base/assert.h"
#include "base/clock.h"
#include "net/reply.h"
#include "net/resp_write.h"

/* One call of run_commands. */
struct running {
    struct conn *conn;
    struct loop *loop;
    uint32_t time_s;
    uint32_t batch; /* requests gathered */
    bool admitted;  /* the journal takes this batch's events */
    bool out_of_memory;
};

static void reply_done(struct running *r, bool written)
{
    r->conn->replies++;
    loop_count(&r->loop->stats.commands, 1);
    if (!written)
        r->out_of_memory = true;
}

static void refuse(struct running *r, enum status status, const char *sentence)
{
    loop_count(&r->loop->stats.errors, 1);
    reply_done(r, resp_error(&r->conn->out, status_resp(status), sentence));
}

/* Runs what was gathered and writes its replies. */
static void run_batch(struct running *r)
{
    struct loop *loop = r->loop;
    if (r->batch > 0) {
        hot_run(loop->server->parts.hot, loop->requests, r->batch, &loop->hot_scratch);
        for (uint32_t i = 0; i < r->batch; i++) {
            const struct hot_request *request = &loop->requests[i];
            if (request->status != STATUS_OK)
                refuse(r, request->status, status_sentence(request->status));
            else
                reply_done(r, reply_write(&r->conn->out, request, &loop->hot_scratch,
                                          loop->server->parts.names, r->conn->resp3));
        }
    }
    r->batch = 0;
    r->admitted = false;
    loop->scratch.used = 0;
    loop->hot_scratch.used = 0;
}

/* Writes need the journal's leave, once for a batch. */
static enum status admit(struct running *r, const struct op_spec *spec)
{
    if (!spec->writes || r->admitted)
        return STATUS_OK;
    enum status status = guard_admit_writes(&r->loop->server->guard);
    r->admitted = status == STATUS_OK;
    if (r->admitted)
        r->conn->wrote = r->loop->wrote = true;
    return status;
}

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
    if (status == STATUS_MORE) {
        run_batch(r);
        return gather(r, spec, args, count);
    }
    if (status != STATUS_OK) {
        char sentence[sizeof loop->scratch.sentence];
        memcpy(sentence, loop->scratch.sentence, sizeof sentence);
        run_batch(r);
        refuse(r, status, sentence[0] ? sentence : status_sentence(status));
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
    refuse(r, STATUS_UNKNOWN_COMMAND, sentence);
}

static void run_session(struct running *r, const struct command *command, const struct text *args,
                        uint32_t count)
{
    if (count < command->args_min || count > command->args_max) {
        char sentence[160];
        snprintf(sentence, sizeof sentence, "wrong number of arguments, expected %s %s",
                 command->name, command->arguments);
        refuse(r, STATUS_BAD_ARITY, sentence);
        return;
    }
    reply_done(r, command->session(r->conn, args, count));
}

static enum status run_one(struct running *r, const struct resp_command *words)
{
    if (words->count == 0)
        return STATUS_OK;
    const struct command *command = commands_find(&r->loop->server->commands, words->args[0]);
    if (command != NULL && command->op != NULL)
        return gather(r, command->op, words->args + 1, words->count - 1);
    run_batch(r);
    if (command != NULL)
        run_session(r, command, words->args + 1, words->count - 1);
    else
        refuse_unknown(r, words->args[0]);
    return STATUS_OK;
}

enum status run_commands(struct conn *conn, const char *bytes, size_t length, size_t *used)
{
    struct loop *loop = conn->loop;
    struct running r = {.conn = conn, .loop = loop, .time_s = (uint32_t)(clock_wall_ms() / 1000)};
    struct resp_command words = {.args = loop->args};
    enum status status = STATUS_OK;
    size_t at = 0;
    while (status == STATUS_OK && !conn->close_when_sent && conn_unsent(conn) < LIMIT_OUTPUT_SOFT) {
        const char *problem = "";
        status = resp_parse(&conn->parser, &loop->resp_limits, bytes + at, length - at, &words,
                            &problem);
        if (status == STATUS_BAD_PROTOCOL) {
            run_batch(&r);
            refuse(&r, status, problem);
        }
        if (status != STATUS_OK)
            break;
        status = run_one(&r, &words);
        if (status == STATUS_OK)
            at += words.used;
    }
    run_batch(&r);
    *used = at;
    return r.out_of_memory ? STATUS_NO_MEMORY : status;
}
