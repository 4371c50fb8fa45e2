/*
 * The RESP face: from parsed words to replies. Operations are gathered into batches for the hot tier.
 * Any other command first runs the batch, so that replies keep their order. A request that needs the
 * store is submitted with the rest of its batch. Commands come from the client or, while EXEC runs,
 * from the queue of the transaction (multi.h).
 */
#include "resp/face.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/log.h"
#include "net/batch.h"
#include "net/permit.h"
#include "op/comment_reply.h"
#include "resp/multi.h"
#include "resp/reply.h"
#include "resp/session.h"
#include "resp/write.h"

static void reply_done(struct running *r, bool written)
{
    r->conn->replies++;
    if (!written)
        r->out_of_memory = true;
}

/* `operation` is the index of the command, or METER_NONE. `ran` says whether it was run. */
static void refuse(struct running *r, uint32_t operation, bool ran, enum status status,
                   const char *sentence)
{
    loop_count(&r->loop->stats.errors, 1);
    meter_failed(&r->loop->watch.meter, operation, status, ran);
    reply_done(r, resp_error(&r->conn->out, status_resp(status), sentence));
}

/* The index of a command, as meters count them. */
static uint32_t index_of(const struct running *r, const struct command *command)
{
    return (uint32_t)(command - r->loop->server->commands.list);
}

/* Why the hot tier refused the request. */
static const char *sentence_of(const struct server *server, const struct hot_request *request,
                               char room[COMMENT_SENTENCE])
{
    return comment_reply_sentence(request, server_sentence(server, request->status), room);
}

static void reply_to(struct running *r, uint32_t index)
{
    const struct loop *loop = r->loop;
    const struct hot_request *request = &loop->requests[index];
    char room[COMMENT_SENTENCE];
    if (request->status != STATUS_OK)
        refuse(r, request->op, true, request->status, sentence_of(loop->server, request, room));
    else
        reply_done(r, reply_write(&r->conn->out, request, &loop->hot_scratch,
                                  loop->server->parts.names, resp_is_3(r->conn)));
}

static void run_batch(struct running *r)
{
    batch_run(r, reply_to);
}

/*
 * Answers the batch before the current command. BLOCKED: requests of the batch were submitted, and the
 * current command will be parsed again when they are done.
 */
static enum status run_before(struct running *r)
{
    run_batch(r);
    return r->conn->job != NULL ? STATUS_BLOCKED : STATUS_OK;
}

static enum status refuse_operation(struct running *r, const struct op_spec *spec,
                                    enum status status)
{
    char limited[64];
    const char *sentence = r->loop->scratch.sentence;
    if (run_before(r) != STATUS_OK)
        return STATUS_BLOCKED;
    batch_refused(r);
    if (status == STATUS_LIMITED) {
        batch_count_limited(r, limited, sizeof limited);
        sentence = limited;
    }
    refuse(r, (uint32_t)(spec - op_get(0)), false, status,
           sentence[0] ? sentence : server_sentence(r->loop->server, status));
    return STATUS_OK;
}

/* OK: the operation is in the batch, or refused. BLOCKED: it has to be parsed and gathered again. */
static enum status gather(struct running *r, const struct op_spec *spec, const struct text *args,
                          uint32_t count)
{
    enum status status = batch_gather(r, spec, args, count);
    if (status == STATUS_OK) {
        if (r->batch == LIMIT_BATCH)
            run_batch(r);
        return STATUS_OK;
    }
    if (status == STATUS_MORE)
        return run_before(r) == STATUS_OK ? gather(r, spec, args, count) : STATUS_BLOCKED;
    if (status != STATUS_BLOCKED)
        return refuse_operation(r, spec, status);
    run_batch(r);
    return STATUS_BLOCKED;
}

static void refuse_unknown(struct running *r, struct text name)
{
    char sentence[192], shown[TEXT_SHOWN];
    snprintf(sentence, sizeof sentence, "unknown command '%s', COMMAND LIST shows all commands",
             text_show(name, shown));
    refuse(r, METER_NONE, false, STATUS_UNKNOWN_COMMAND, sentence);
}

/* `words` begin with the command's name. Words that may be a password are not logged. */
static void watch_session(struct running *r, const struct command *command,
                          const struct text *words, uint32_t count)
{
    struct watch *watch = &r->loop->watch;
    uint64_t took_ns = batch_lap(r);
    bool secret = command->session == session_auth || command->session == session_hello;
    meter_ran(&watch->meter, index_of(r, command), took_ns, 1);
    if (watch_is_slow(watch, took_ns))
        watch_slow_words(watch, words, secret ? 1 : count, conn_client(r->conn), took_ns,
                         r->wall_s);
}

/* Checks the number of words after the name. False: the command is refused. */
static bool check_arity(struct running *r, const struct command *command, uint32_t count)
{
    if (count >= command->args_min && count <= command->args_max)
        return true;
    char sentence[192];
    snprintf(sentence, sizeof sentence, "wrong number of arguments, expected %s%s%s", command->name,
             command->arguments[0] ? " " : "", command->arguments);
    refuse(r, index_of(r, command), false, STATUS_BAD_ARITY, sentence);
    return false;
}

static void run_session(struct running *r, const struct command *command, const struct text *words,
                        uint32_t word_count)
{
    const struct text *args = words + 1;
    uint32_t count = word_count - 1;
    if (!check_arity(r, command, count)) {
        multi_abort(r->conn);
        return;
    }
    struct refusal refusal = {.status = STATUS_OK};
    bool written = command->session(r->conn, args, count, &refusal);
    if (refusal.status == STATUS_OK)
        reply_done(r, written);
    else if (refusal.status != STATUS_MORE)
        refuse(r, index_of(r, command), true, refusal.status, refusal.sentence);
    watch_session(r, command, words, word_count);
}

/*
 * A command between MULTI and EXEC is kept. Whatever can be refused already now is refused now, and
 * then EXEC runs nothing. So a client that sees a refusal can be sure that the other commands are not
 * run.
 */
static void queue(struct running *r, const struct command *command, enum status permitted,
                  const struct resp_command *words, struct text bytes)
{
    enum status status = permitted;
    ASSERT(r->batch == 0); /* MULTI ran what was before it */
    batch_lap(r);
    if (status == STATUS_OK && command == NULL) {
        refuse_unknown(r, words->args[0]);
        multi_abort(r->conn);
        return;
    }
    if (status == STATUS_OK && !check_arity(r, command, words->count - 1)) {
        multi_abort(r->conn);
        return;
    }
    if (status == STATUS_OK)
        status = multi_queue(r->conn, command, bytes);
    if (status != STATUS_OK) {
        refuse(r, command != NULL ? index_of(r, command) : METER_NONE, false, status,
               status_sentence(status));
        multi_abort(r->conn);
        return;
    }
    r->uncounted++;
    reply_done(r, resp_simple(&r->conn->out, "QUEUED"));
}

/* Runs one command, given its words and the bytes that they were parsed from. */
static enum status run_one(struct running *r, const struct resp_command *words, struct text bytes)
{
    if (words->count == 0)
        return STATUS_OK;
    const struct command *command = commands_find(&r->loop->server->commands, words->args[0]);
    bool queues = multi_is_open(r->conn) && !multi_takes_now(command);
    if (!queues && command != NULL && command->op != NULL)
        return gather(r, command->op, words->args + 1, words->count - 1);
    enum status status = permit_command(r->conn, command, words->args + 1, words->count - 1);
    if (queues) {
        queue(r, command, status, words, bytes);
        return STATUS_OK;
    }
    if (run_before(r) != STATUS_OK)
        return STATUS_BLOCKED;
    if (status != STATUS_OK)
        refuse(r, command != NULL ? index_of(r, command) : METER_NONE, false, status,
               status_sentence(status));
    else if (command != NULL)
        run_session(r, command, words->args, words->count);
    else
        refuse_unknown(r, words->args[0]);
    return STATUS_OK;
}

/* The connection is closed. The log says why, because most clients do not show the reason. */
static void refuse_protocol(struct running *r, const char *problem)
{
    char address[IP_TEXT_MAX];
    ip_format(&r->conn->peer, address);
    log_warn("the connection of a %s client at %s is closed: %s", r->conn->face->name, address,
             problem);
    refuse(r, METER_NONE, false, STATUS_BAD_PROTOCOL, problem);
}

/* The length of an unfinished command is limited. */
static enum status refuse_if_too_long(struct running *r, size_t length)
{
    size_t most = permit_is_unknown(r->conn) ? LIMIT_UNKNOWN_QUERY
                                             : r->loop->server->parts.options->query_buffer;
    if (length <= most)
        return STATUS_MORE;
    refuse_protocol(r, "Protocol error: too long command");
    return STATUS_BAD_PROTOCOL;
}

static struct resp_limits full_limits(const struct loop *loop)
{
    const struct options *options = loop->server->parts.options;
    return (struct resp_limits){.args_max = (uint32_t)options->max_args,
                                .bulk_max = (uint32_t)options->max_bulk};
}

static struct resp_limits limits_of(const struct conn *conn)
{
    return permit_is_unknown(conn) ? (struct resp_limits){.args_max = LIMIT_UNKNOWN_ARGS,
                                                          .bulk_max = LIMIT_UNKNOWN_BULK}
                                   : full_limits(conn->loop);
}

/* Runs the next command of the bytes. If it was run, *used is increased by its length. */
static enum status run_next(struct running *r, struct resp_parser *parser,
                            struct resp_limits limits, const char *bytes, size_t length,
                            size_t *used)
{
    const char *problem = "";
    struct resp_command words = {.args = r->loop->args};
    enum status status = resp_parse(parser, &limits, bytes, length, &words, &problem);
    if (status == STATUS_BAD_PROTOCOL && run_before(r) == STATUS_OK)
        refuse_protocol(r, problem);
    if (status != STATUS_OK)
        return status;
    struct text command = {bytes, words.used};
    if (r->limits != 0 && words.count > 1)
        batch_foresee(r, command, words.args[1],
                      (struct text){bytes + words.used, length - words.used});
    status = run_one(r, &words, command);
    if (status == STATUS_OK)
        *used += words.used;
    return status;
}

/* Runs the next command of EXEC, or finishes EXEC. */
static enum status run_queued(struct running *r)
{
    struct resp_parser parser = {0};
    struct text rest = multi_rest(r->conn);
    size_t used = 0;
    if (rest.length > 0) {
        enum status status =
            run_next(r, &parser, full_limits(r->loop), rest.bytes, rest.length, &used);
        ASSERT(status == STATUS_OK || status == STATUS_BLOCKED); /* it was parsed before */
        multi_ran(r->conn, used);
        return status;
    }
    if (run_before(r) != STATUS_OK)
        return STATUS_BLOCKED;
    loop_count(&r->loop->stats.commands, multi_finish(r->conn));
    return STATUS_OK;
}

/* May another command be run before other connections have their turn? */
static bool may_go_on(const struct running *r)
{
    const struct conn *conn = r->conn;
    return conn_is_open(conn) && conn->job == NULL && conn->rest_ms == 0 && !batch_is_long(r) &&
           (multi_runs(conn) || conn_unsent(conn) < permit_output(conn));
}

static enum status resp_run(struct conn *conn, const char *bytes, size_t length, size_t *used)
{
    struct loop *loop = conn->loop;
    struct running r = batch_begin(conn);
    uint32_t before = conn->replies;
    enum status status = STATUS_OK;
    size_t at = 0;
    multi_begin(conn);
    while (status == STATUS_OK && may_go_on(&r))
        status = multi_runs(conn) ? run_queued(&r)
                                  : run_next(&r, &resp_of(conn)->parser, limits_of(conn),
                                             bytes + at, length - at, &at);
    run_batch(&r);
    batch_end(&r);
    *used = at;
    if (status == STATUS_MORE && conn->job == NULL)
        status = refuse_if_too_long(&r, length - at);
    uint32_t inside = multi_end(conn);
    loop_count(&loop->stats.commands, inside + conn->replies - before - r.uncounted);
    if (r.out_of_memory)
        return STATUS_NO_MEMORY;
    return conn->job != NULL ? STATUS_OK : status;
}

static void resp_add_commands(struct commands *commands)
{
#define SESSION(function, session_name, min, max, who, text, what)                                 \
    commands_add(commands, (struct command){.name = session_name,                                  \
                                            .arguments = text,                                     \
                                            .summary = what,                                       \
                                            .args_min = min,                                       \
                                            .args_max = max,                                       \
                                            .access = COMMAND_FOR_##who,                           \
                                            .session = session_##function});
#include "resp/session.def"
#undef SESSION
}

static bool resp_open(struct conn *conn)
{
    struct memory_budget *budget = conn->out.budget;
    if (!memory_charge_connection(budget, sizeof(struct resp_connection)))
        return false;
    conn->exchange = calloc(1, sizeof(struct resp_connection));
    if (conn->exchange == NULL)
        memory_release_connection(budget, sizeof(struct resp_connection));
    return conn->exchange != NULL;
}

static void resp_close(struct conn *conn)
{
    multi_free(conn);
    free(conn->exchange);
    conn->exchange = NULL;
    memory_release_connection(conn->out.budget, sizeof(struct resp_connection));
}

static bool resp_write_error(const struct conn *conn, struct buffer *out, enum status status,
                             const char *sentence, unsigned flags)
{
    (void)conn;
    (void)flags;
    return resp_error(out, status_resp(status), sentence);
}

static bool resp_write(struct job *job, uint32_t index, const struct hot_scratch *scratch,
                       const struct names *names)
{
    const struct hot_request *request = &job->submission.requests[index];
    const struct resp_connection *session = job->exchange;
    char room[COMMENT_SENTENCE];
    return request->status == STATUS_OK
               ? reply_write(&job->out, request, scratch, names, session->resp3)
               : resp_error(&job->out, status_resp(request->status),
                            sentence_of(job->loop->server, request, room));
}

static bool resp_take_back(struct conn *conn, const struct job *job)
{
    multi_begin(conn);
    bool written = buffer_append(&conn->out, job->out.bytes, job->out.length);
    conn->replies += job->submission.count;
    multi_end(conn);
    return written;
}

const struct face resp_face = {.name = "resp",
                               .add_commands = resp_add_commands,
                               .open = resp_open,
                               .close = resp_close,
                               .shrink = multi_shrink,
                               .run = resp_run,
                               .write_error = resp_write_error,
                               .write = resp_write,
                               .take_back = resp_take_back};
