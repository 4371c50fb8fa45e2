/*
 * One request at a time is read, run and answered. Further requests of a pipeline wait in the
 * connection's buffer. The operations of one request go through the hot tier as a batch. The result of
 * each operation is written as JSON at once, by this thread or by a worker, so that nothing of the hot
 * tier's scratch has to be kept. When all results are there, the head of the response is written and
 * then the results.
 */
#include "http/face.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/assert.h"
#include "http/answer.h"
#include "http/asker.h"
#include "http/console.h"
#include "http/exchange.h"
#include "http/page.h"
#include "http/respond.h"
#include "http/stream.h"
#include "http/where.h"
#include "http/words.h"
#include "net/batch.h"
#include "net/permit.h"
#include "op/comment_reply.h"

/* Writes the result of the one operation of a route, or the counter that follows a change. */
static bool write_alone(struct buffer *out, const struct exchange *exchange, uint32_t slot,
                        const struct hot_request *request, const struct hot_scratch *scratch,
                        const struct names *names)
{
    const struct slot *at = &exchange->slots[slot];
    if (request->own)
        return answer_write_count(out, request, scratch, at->name);
    return request->status != STATUS_OK ||
           answer_write(out, request, scratch, names, words_at(exchange, at->items),
                        route_is_single(exchange->route));
}

/*
 * Is there still room for an error of each operation of the batch, besides the results in `out`?
 * `before` is the number of bytes of earlier results, which are in another buffer.
 */
static bool fits(const struct exchange *exchange, size_t before, const struct buffer *out)
{
    return before + out->length + (size_t)exchange->count * LIMIT_HTTP_ERROR <= exchange->room;
}

/* Why the hot tier refused the request. */
static const char *sentence_of(const struct exchange *exchange, const struct hot_request *request,
                               char room[COMMENT_SENTENCE])
{
    return comment_reply_sentence(request, server_sentence(exchange->server, request->status),
                                  room);
}

/* Writes an error with this sentence if it fits. The general sentence of the status always fits. */
static bool write_error(struct buffer *out, const struct exchange *exchange, size_t before,
                        enum status status, const char *sentence)
{
    size_t length = out->length;
    if (!answer_write_error(out, status, sentence))
        return false;
    if (!fits(exchange, before, out)) {
        out->length = length;
        if (!answer_write_error(out, status, status_sentence(status)))
            return false;
    }
    return answer_write_text(out, ",");
}

/* Writes the result of one operation of a batch. If it does not fit, an error says so, although it ran. */
static bool write_result(struct buffer *out, const struct exchange *exchange, uint32_t slot,
                         struct hot_request *request, const struct hot_scratch *scratch,
                         const struct names *names)
{
    size_t before = out == &exchange->reply ? 0 : exchange->reply.length, length = out->length;
    if (request->status == STATUS_OK) {
        if (!answer_write(out, request, scratch, names,
                          words_at(exchange, exchange->slots[slot].items), false))
            return false;
        if (fits(exchange, before, out))
            return answer_write_text(out, ",");
        out->length = length;
        request->status = STATUS_ANSWER_TOO_LARGE;
    }
    char room[COMMENT_SENTENCE];
    return write_error(out, exchange, before, request->status,
                       sentence_of(exchange, request, room));
}

/* Writes the result of one request of the loop's batch. */
static bool write_one(struct buffer *out, const struct exchange *exchange, uint32_t slot,
                      struct hot_request *request, const struct hot_scratch *scratch,
                      const struct names *names)
{
    return exchange->route != NULL ? write_alone(out, exchange, slot, request, scratch, names)
                                   : write_result(out, exchange, slot, request, scratch, names);
}

/*
 * If a request is one operation, the status of the operation is the status of the answer. A new comment is
 * "201 Created"; if its token was used before, nothing was created.
 */
static void note_status(struct exchange *exchange, const struct hot_request *request)
{
    char room[COMMENT_SENTENCE];
    if (exchange->route == NULL || request->own)
        return;
    if (request->status != STATUS_OK)
        exchange_refuse(exchange, request->status, sentence_of(exchange, request, room));
    else if (request->action == HOT_COMMENT && !request->comment.repeated)
        exchange->code = 201;
}

/* Counts an operation that was run and has an error as its answer. */
static void count_failure(struct loop *loop, uint32_t operation, enum status status)
{
    loop_count(&loop->stats.errors, 1);
    meter_failed(&loop->watch.meter, operation, status, true);
}

static void reply_to(struct running *r, uint32_t index)
{
    struct loop *loop = r->loop;
    struct exchange *exchange = r->conn->exchange;
    struct hot_request *request = &loop->requests[index];
    if (!write_one(&exchange->reply, exchange, index, request, &loop->hot_scratch,
                   loop->server->parts.names))
        r->out_of_memory = true;
    note_status(exchange, request);
    if (request->own)
        return;
    loop_count(&loop->stats.commands, 1);
    if (request->status != STATUS_OK)
        count_failure(loop, request->op, request->status);
}

/*
 * Adds an operation to the batch; its words begin at index `first`. OK, BLOCKED, MORE (no room), or
 * why it is refused, with the reason in the exchange's sentence.
 */
static enum status gather(struct running *r, const struct op_spec *spec, uint32_t first,
                          uint32_t count)
{
    struct op_scratch *scratch = &r->loop->scratch;
    struct exchange *exchange = r->conn->exchange;
    scratch->wrong = (struct text){NULL, 0};
    enum status status = batch_gather(r, spec, words_at(exchange, first), count);
    if (status == STATUS_OK)
        exchange->slots[r->batch - 1] = (struct slot){.items = first + op_items_at(spec)};
    else if (scratch->sentence[0] != '\0')
        where_explain(exchange, scratch, exchange->sentence, sizeof exchange->sentence);
    else if (status != STATUS_BLOCKED && status != STATUS_MORE)
        snprintf(exchange->sentence, sizeof exchange->sentence, "%s",
                 server_sentence(exchange->server, status));
    return status;
}

/* The answer to a change of a reaction includes the counter, so a COUNTS is added to the batch. */
static void gather_count(struct running *r)
{
    struct loop *loop = r->loop;
    struct exchange *exchange = r->conn->exchange;
    const struct hot_request *change = &loop->requests[0];
    if (op_shape(change) != SHAPE_CHANGE)
        return;
    ASSERT(r->batch == 1);
    exchange->slots[1] = (struct slot){.items = exchange->slots[0].items, .name = change->name};
    op_make_counts(&change->items[0], r->time_s, &loop->scratch, &loop->requests[1]);
    r->batch = 2;
}

/* Counts a refusal. `operation` is the one that was not run, or METER_NONE. */
static void count_refusal(struct loop *loop, uint32_t operation, enum status status)
{
    loop_count(&loop->stats.commands, 1);
    loop_count(&loop->stats.errors, 1);
    meter_failed(&loop->watch.meter, operation, status, false);
}

/* The index of a route's operation, as meters count it. */
static uint32_t operation_of(const struct exchange *exchange)
{
    return exchange->route != NULL ? (uint32_t)exchange->route->op : METER_NONE;
}

/* Sets Retry-After, but only for a request that is one operation: in a batch no single operation has a head. */
static void set_retry(struct exchange *exchange, uint64_t retry_ns)
{
    if (exchange->route != NULL || exchange->page != NULL)
        exchange->retry_s = (retry_ns + 999999999) / 1000000000;
}

/* A limit refused the operation. */
static void say_limited(struct running *r, struct exchange *exchange)
{
    batch_count_limited(r, exchange->sentence, sizeof exchange->sentence);
    set_retry(exchange, r->limited_ns);
}

/* Refuses an operation, now that all earlier ones are answered. */
static void refuse_operation(struct running *r, struct exchange *exchange, uint32_t operation,
                             enum status status)
{
    batch_refused(r);
    count_refusal(r->loop, operation, status);
    if (status == STATUS_LIMITED)
        say_limited(r, exchange);
}

static enum status run_route(struct running *r, struct exchange *exchange)
{
    uint32_t count = 0;
    exchange->words.length = 0;
    enum status status =
        words_of_route(exchange, &count, exchange->sentence, sizeof exchange->sentence);
    if (status == STATUS_OK)
        status = gather(r, op_get(exchange->route->op), 0, count);
    if (status == STATUS_BLOCKED)
        return status;
    ASSERT(status != STATUS_MORE); /* the batch is empty, and any single operation fits */
    if (status != STATUS_OK) {
        refuse_operation(r, exchange, operation_of(exchange), status);
        exchange_refuse(exchange, status, exchange->sentence);
        return STATUS_OK;
    }
    gather_count(r);
    exchange->next = exchange->count;
    batch_run(r, reply_to);
    return STATUS_OK;
}

/* *operation is set to the index of the operation, or METER_NONE. */
static enum status gather_one(struct running *r, struct exchange *exchange, uint32_t index,
                              uint32_t *operation)
{
    const struct op_spec *spec = NULL;
    uint32_t first = words_count(exchange), count = 0;
    enum status status = words_of_batch(exchange, &r->loop->server->commands, index, &spec, &count,
                                        exchange->sentence, sizeof exchange->sentence);
    *operation = spec != NULL ? (uint32_t)(spec - op_get(0)) : METER_NONE;
    return status == STATUS_OK ? gather(r, spec, first, count) : status;
}

/*
 * How many bytes of --output-buffer the results of a batch may use, besides what is unsent. With more, the
 * connection would be closed, and the client would not learn what was done.
 */
static size_t room_for_results(const struct running *r)
{
    size_t most = r->loop->server->parts.options->output_buffer;
    size_t taken = conn_unsent(r->conn) + LIMIT_ANSWER_HEAD;
    return most > taken ? most - taken : 0;
}

/* Runs as many operations as fit into a batch. A refused one is answered when it is the first. */
static enum status run_step(struct running *r, struct exchange *exchange)
{
    enum status status = STATUS_OK;
    uint32_t operation = METER_NONE;
    exchange->words.length = 0;
    exchange->room = room_for_results(r);
    while (status == STATUS_OK && exchange->next + r->batch < exchange->count &&
           r->batch < LIMIT_BATCH)
        status = gather_one(r, exchange, exchange->next + r->batch, &operation);
    if (r->batch > 0) {
        exchange->next += r->batch;
        batch_run(r, reply_to);
        return STATUS_OK;
    }
    if (status == STATUS_BLOCKED)
        return status;
    ASSERT(status != STATUS_MORE && status != STATUS_OK);
    refuse_operation(r, exchange, operation, status);
    exchange->next++;
    if (!write_error(&exchange->reply, exchange, 0, status, exchange->sentence))
        r->out_of_memory = true;
    return STATUS_OK;
}

/* Writes the response, now that all results are there. */
static void finish(struct running *r, struct exchange *exchange)
{
    struct conn *conn = r->conn;
    struct server *server = r->loop->server;
    bool last = r->loop->stopping || !exchange->keep_alive;
    if (exchange->status == STATUS_OK &&
        exchange->reply.length > server->parts.options->output_buffer) {
        exchange_refuse(exchange, STATUS_ANSWER_TOO_LARGE,
                        status_sentence(STATUS_ANSWER_TOO_LARGE));
        count_failure(r->loop, operation_of(exchange), STATUS_ANSWER_TOO_LARGE);
    }
    if (stream_is_due(exchange) && !stream_begin(conn, exchange))
        count_failure(r->loop, operation_of(exchange), exchange->status);
    conn->replies++;
    conn->bare = conn->bare || exchange->method == VERB_HEAD;
    last = last || exchange->stream != NULL;
    if (last && exchange->stream == NULL)
        conn_drain(conn, true);
    if (!exchange_finish(exchange, &conn->out, server->parts.budget, last))
        r->out_of_memory = true;
}

/* OK: it is answered, or submitted, or this run was long. BLOCKED: call it again later. */
static enum status answer(struct running *r, struct exchange *exchange)
{
    while (exchange->next < exchange->count) {
        enum status status =
            exchange->route != NULL ? run_route(r, exchange) : run_step(r, exchange);
        bool more = exchange->next < exchange->count;
        if (status != STATUS_OK || r->out_of_memory || r->conn->job != NULL ||
            (more && batch_is_long(r)))
            return status;
    }
    finish(r, exchange);
    return STATUS_OK;
}

/* The request cannot be parsed, so nothing after it can be parsed either. */
static enum status refuse_bytes(struct running *r, struct exchange *exchange, const char *bytes,
                                enum status status, const char *problem)
{
    exchange->method = exchange->reader.request.method;
    exchange->keep_alive = exchange->old = exchange->preflight = exchange->origin_allowed = false;
    exchange->negotiated = false;
    exchange->allow = 0;
    exchange->retry_s = 0;
    if (exchange->reader.parsed)
        exchange_take_origin(exchange, r->loop, bytes);
    exchange_refuse(exchange, status, problem);
    count_refusal(r->loop, METER_NONE, status);
    finish(r, exchange);
    return STATUS_BAD_PROTOCOL;
}

/* The head is complete, and the client waits for "100 Continue" before it sends the body. */
static void send_continue(struct running *r, struct exchange *exchange, size_t length)
{
    const struct request_reader *reader = &exchange->reader;
    bool waits = reader->parsed && reader->request.expects && !reader->request.old &&
                 length == reader->scan.at;
    if (!waits || exchange->continued)
        return;
    exchange->continued = true;
    if (answer_write_text(&r->conn->out, "HTTP/1.1 100 Continue\r\n\r\n"))
        conn_release_interim(r->conn);
    else
        r->out_of_memory = true;
}

/* Requests that need no token: health, descriptions, and CORS preflights. */
static bool is_for_all(const struct exchange *exchange)
{
    const struct page *page = page_find(&exchange->target);
    return exchange->method == VERB_OPTIONS || (page != NULL && page->open);
}

static enum status write_file(struct exchange *exchange, const char *bytes)
{
    const struct target *target = &exchange->target;
    const struct console_file *file = console_find(target->segments[target->segment_count - 1]);
    return file != NULL ? console_answer(exchange, file, bytes) : STATUS_NOT_FOUND;
}

/* Writes a page in the form that the client prefers. HTML is the console, if there is one. */
static enum status write_form(struct loop *loop, struct exchange *exchange, const char *bytes)
{
    const struct page *page = exchange->page;
    const struct request *request = &exchange->reader.request;
    exchange->negotiated = page->write_html != NULL;
    exchange->type = page->type;
    if (page->files)
        return write_file(exchange, bytes);
    if (!exchange->negotiated || !accept_prefers_html(&request->accept))
        return page->write(loop, &exchange->reply);
    if (console_index() != NULL)
        return console_answer(exchange, console_index(), bytes);
    exchange->type = RESPOND_HTML;
    exchange->fields = page->html_fields;
    return page->write_html(loop, request_text(bytes, request->host), &exchange->reply);
}

static void write_page(struct running *r, struct exchange *exchange, const char *bytes)
{
    const struct page *page = exchange->page;
    enum status status = page->admins && !permit_shows_all(r->conn) ? STATUS_NO_PERMISSION
                         : page->limited                            ? batch_limit_other(r)
                                                                    : STATUS_OK;
    if (status == STATUS_LIMITED) {
        say_limited(r, exchange);
        exchange_refuse(exchange, status, exchange->sentence);
        return;
    }
    if (status == STATUS_OK)
        status = write_form(r->loop, exchange, bytes);
    if (status != STATUS_OK)
        exchange_refuse(exchange, status, server_sentence(exchange->server, status));
    batch_lap(r);
}

/* Begins to answer a complete request. Without a valid token, the body is not parsed. */
static enum status begin(struct running *r, struct exchange *exchange, const char *bytes,
                         struct text body)
{
    asker_take_token(r->conn, &exchange->reader.request, bytes);
    bool unknown = permit_is_unknown(r->conn);
    r->conn->passed = false;
    if (!exchange_begin(exchange, r->loop, bytes, unknown ? (struct text){NULL, 0} : body))
        return STATUS_NO_MEMORY;
    if (unknown && exchange->status != STATUS_BAD_PROTOCOL && !is_for_all(exchange))
        exchange_refuse(exchange, STATUS_NO_AUTH, asker_refusal(&exchange->reader.request));
    else if (r->limits != 0 && !asker_take_client(r->conn, &exchange->reader.request, bytes))
        exchange_refuse(exchange, STATUS_BAD_ARGUMENT,
                        "the header X-Device-Id must be up to 128 printable characters without "
                        "spaces");
    else if (exchange->status == STATUS_OK && exchange->page != NULL)
        write_page(r, exchange, bytes);
    if (exchange->status != STATUS_OK)
        count_refusal(r->loop, operation_of(exchange), exchange->status);
    request_reset(&exchange->reader);
    exchange->continued = false;
    return STATUS_OK;
}

/* The head is complete and shows no valid token, and a body follows: refuse without waiting for it. */
static bool waits_for_nobody(struct conn *conn, const struct exchange *exchange, const char *bytes)
{
    const struct request_reader *reader = &exchange->reader;
    if (!reader->parsed || !access_is_on(&conn->loop->server->access))
        return false;
    asker_take_token(conn, &reader->request, bytes);
    return conn->token == NULL;
}

/* Reads a request. OK: it is complete and can be answered, and *used is its length. */
static enum status take_request(struct running *r, struct exchange *exchange, const char *bytes,
                                size_t length, size_t *used)
{
    const struct options *options = r->loop->server->parts.options;
    struct request_limits limits = {.head_max = options->http_head, .body_max = options->http_body};
    struct text body = {NULL, 0};
    const char *problem = "";
    size_t taken = 0;
    enum status status =
        request_read(&exchange->reader, &limits, bytes, length, &body, &taken, &problem);
    if (status == STATUS_MORE && waits_for_nobody(r->conn, exchange, bytes))
        return refuse_bytes(r, exchange, bytes, STATUS_NO_AUTH,
                            asker_refusal(&exchange->reader.request));
    if (status == STATUS_MORE)
        send_continue(r, exchange, length);
    if (status == STATUS_MORE || status == STATUS_NO_MEMORY)
        return status;
    if (status != STATUS_OK)
        return refuse_bytes(r, exchange, bytes, status, problem);
    *used = taken;
    return begin(r, exchange, bytes, body);
}

static enum status http_run(struct conn *conn, const char *bytes, size_t length, size_t *used)
{
    struct exchange *exchange = conn->exchange;
    struct running r = batch_begin(conn);
    enum status status = STATUS_OK;
    *used = 0;
    while (status == STATUS_OK && !r.out_of_memory && conn_is_open(conn) && conn->job == NULL &&
           exchange->stream == NULL && conn->rest_ms == 0 && !batch_is_long(&r) &&
           conn_unsent(conn) < permit_output(conn)) {
        size_t taken = 0;
        if (!exchange->answering)
            status = take_request(&r, exchange, bytes + *used, length - *used, &taken);
        *used += taken;
        if (status == STATUS_OK)
            status = answer(&r, exchange);
    }
    if (exchange->stream != NULL && !r.out_of_memory) {
        status = stream_pass_over(conn, length - *used);
        *used = length;
    }
    batch_end(&r);
    return r.out_of_memory ? STATUS_NO_MEMORY : status;
}

static bool http_open(struct conn *conn)
{
    struct memory_budget *budget = conn->loop->server->parts.budget;
    if (!memory_charge_connection(budget, sizeof(struct exchange)))
        return false;
    struct exchange *exchange = calloc(1, sizeof *exchange);
    if (exchange == NULL) {
        memory_release_connection(budget, sizeof *exchange);
        return false;
    }
    exchange->text.budget = exchange->words.budget = exchange->reply.budget = exchange->raw.budget =
        exchange->reader.body.budget = budget;
    exchange->server = conn->loop->server;
    conn->exchange = exchange;
    return true;
}

static void http_close(struct conn *conn)
{
    struct memory_budget *budget = conn->loop->server->parts.budget;
    struct exchange *exchange = conn->exchange;
    if (exchange->stream != NULL)
        live_close(exchange->stream);
    exchange_free(conn->exchange, budget);
    free(conn->exchange);
    memory_release_connection(budget, sizeof(struct exchange));
}

static void http_shrink(struct conn *conn)
{
    exchange_shrink(conn->exchange);
}

/* The exchange still describes the last request that was answered, such as its HTTP version. */
static bool http_write_error(const struct conn *conn, struct buffer *out, enum status status,
                             const char *sentence, unsigned flags)
{
    const struct exchange *exchange = conn != NULL ? conn->exchange : NULL;
    struct buffer body = {.budget = out->budget};
    struct response response = {.code = status_http(status),
                                .type = RESPOND_JSON,
                                .lasting = status_lasts(status),
                                .last = (flags & FACE_LAST) != 0};
    if (exchange != NULL) {
        response.origin = exchange->origin_allowed ? exchange->origin : NULL;
        response.old = exchange->old;
    }
    bool written = (flags & FACE_BARE) || answer_write_error(&body, status, sentence);
    written = written && respond_write(out, &response, body.bytes, body.length);
    buffer_free(&body);
    return written;
}

static bool http_write(struct job *job, uint32_t index, const struct hot_scratch *scratch,
                       const struct names *names)
{
    ASSERT(index < job->submission.count && job->from + index < LIMIT_BATCH);
    return write_one(&job->out, job->exchange, job->from + index, &job->submission.requests[index],
                     scratch, names);
}

static bool http_take_back(struct conn *conn, const struct job *job)
{
    struct exchange *exchange = conn->exchange;
    for (uint32_t i = 0; i < job->submission.count; i++)
        note_status(exchange, &job->submission.requests[i]);
    if (job->submission.retry_ns > 0 && exchange->status != STATUS_OK)
        set_retry(exchange, job->submission.retry_ns);
    return buffer_append(&exchange->reply, job->out.bytes, job->out.length);
}

const struct face http_face = {.name = "http",
                               .shared = true,
                               .ends_when_failed = true,
                               .open = http_open,
                               .close = http_close,
                               .shrink = http_shrink,
                               .run = http_run,
                               .write_error = http_write_error,
                               .write = http_write,
                               .take_back = http_take_back};
