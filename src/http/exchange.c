#include "http/exchange.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "http/answer.h"
#include "http/origin.h"
#include "http/page.h"
#include "http/respond.h"
#include "http/stream.h"
#include "http/words.h"
#include "live/event.h"

#define BATCH_PATH "/v1/batch"

void exchange_refuse(struct exchange *exchange, enum status status, const char *sentence)
{
    if (sentence != exchange->sentence)
        snprintf(exchange->sentence, sizeof exchange->sentence, "%s", sentence);
    exchange->status = status;
    exchange->allow = 0; /* it may be set from an earlier answer */
    exchange->fields = NULL;
    exchange->etag = NULL;
    exchange->next = exchange->count;
}

void exchange_take_origin(struct exchange *exchange, const struct loop *loop, const char *bytes)
{
    struct text origin = request_text(bytes, exchange->reader.request.origin);
    exchange->origin_allowed = false;
    if (origin.length == 0 || origin.length >= sizeof exchange->origin)
        return;
    memcpy(exchange->origin, origin.bytes, origin.length);
    exchange->origin[origin.length] = '\0';
    exchange->origin_allowed =
        origins_have(loop->server->parts.options->cors_origin, exchange->origin);
}

/* All methods that a route or a page at this path accepts. */
static unsigned methods_at(const struct target *target)
{
    unsigned methods = route_methods(target);
    if (target->asterisk)
        methods = 1U << VERB_GET | 1U << VERB_PUT | 1U << VERB_POST | 1U << VERB_DELETE;
    if (page_find(target) != NULL)
        methods |= 1U << VERB_GET;
    if (route_fits(BATCH_PATH, target))
        methods |= 1U << VERB_POST;
    if (methods & 1U << VERB_GET)
        methods |= 1U << VERB_HEAD;
    return methods != 0 ? methods | 1U << VERB_OPTIONS : 0;
}

/* Counts the operations of a batch. Each operation is checked when it is its turn. */
static void begin_batch(struct exchange *exchange)
{
    const json_t *operations = json_object_get(exchange->json.root, "operations");
    size_t count = json_array_size(operations);
    char sentence[64];
    if (exchange->target.parameter_count > 0) {
        exchange_refuse(exchange, STATUS_BAD_ARGUMENT,
                        "this path takes no parameters in its query");
    } else if (!json_is_array(operations) || json_object_size(exchange->json.root) != 1) {
        exchange_refuse(exchange, STATUS_BAD_JSON,
                        "the body must be {\"operations\":[[\"NAME\",\"word\",...],...]}");
    } else if (count > LIMIT_HTTP_BATCH) {
        snprintf(sentence, sizeof sentence, "a batch takes at most %d operations, got %zu",
                 LIMIT_HTTP_BATCH, count);
        exchange_refuse(exchange, STATUS_TOO_MANY_ITEMS, sentence);
    } else if (!answer_write_text(&exchange->reply, "{\"results\":[")) {
        exchange_refuse(exchange, STATUS_NO_MEMORY, status_sentence(STATUS_NO_MEMORY));
    } else {
        exchange->count = (uint32_t)count;
    }
}

static void begin_route(struct exchange *exchange)
{
    enum status status = words_check_names(exchange, exchange->sentence, sizeof exchange->sentence);
    exchange->count = 1;
    if (status != STATUS_OK)
        exchange_refuse(exchange, status, exchange->sentence);
}

/* The headers say that the body is not JSON, or that it is encoded. */
static void refuse_type(struct exchange *exchange, const char *bytes)
{
    const struct request *request = &exchange->reader.request;
    bool encoded = request->json;
    struct text given = request_text(bytes, encoded ? request->encoding : request->type);
    char shown[TEXT_SHOWN];
    const char *header = encoded ? "Content-Encoding" : "Content-Type";
    const char *expected =
        encoded ? "absent, because compressed bodies are not supported" : "application/json";
    if (given.length == 0)
        snprintf(exchange->sentence, sizeof exchange->sentence,
                 "the header %s is missing, it must be %s", header, expected);
    else
        snprintf(exchange->sentence, sizeof exchange->sentence,
                 "the header %s must be %s, got '%s'", header, expected, text_show(given, shown));
    exchange_refuse(exchange, STATUS_NOT_JSON, exchange->sentence);
}

/* Keeps the text of a member that may be any JSON value: it is stored exactly as it was sent. */
static enum status keep_raw(struct exchange *exchange, struct text body)
{
    struct route_word word;
    if (exchange->route == NULL)
        return STATUS_OK;
    for (const char *at = exchange->route->words; route_next_word(exchange->route, &at, &word);) {
        struct text raw = {NULL, 0};
        if (word.json && json_in_member(body, word.name, &raw) &&
            !buffer_append(&exchange->raw, raw.bytes, raw.length)) {
            snprintf(exchange->sentence, sizeof exchange->sentence, "%s",
                     status_sentence(STATUS_NO_MEMORY));
            return STATUS_NO_MEMORY;
        }
    }
    return STATUS_OK;
}

/* Parses the body if the request may have one, and refuses it if not. */
static bool take_body(struct exchange *exchange, struct loop *loop, const char *bytes,
                      struct text body)
{
    const struct request *request = &exchange->reader.request;
    const struct route *route = exchange->route;
    enum status status = STATUS_OK;
    if (route != NULL ? !route_has_body(route) : exchange->method != VERB_POST) {
        if (body.length > 0)
            exchange_refuse(exchange, STATUS_BAD_ARGUMENT, "this path and method take no body");
        return body.length == 0;
    }
    if (route != NULL && body.length == 0 && route_body_is_optional(route)) {
        body = text_from("{}");
    } else if (!request->json || request->encoded) {
        refuse_type(exchange, bytes);
        return false;
    }
    status = json_in_read(&exchange->json, body, loop->server->parts.budget, exchange->sentence,
                          sizeof exchange->sentence);
    if (status == STATUS_OK)
        status = keep_raw(exchange, body);
    if (status != STATUS_OK)
        exchange_refuse(exchange, status, exchange->sentence);
    return status == STATUS_OK;
}

/* The method is wrong: says which methods this path accepts. */
static void list_methods(struct exchange *exchange)
{
    unsigned methods = methods_at(&exchange->target);
    if (methods == 0) {
        exchange_refuse(exchange, STATUS_NOT_FOUND, status_sentence(STATUS_NOT_FOUND));
        return;
    }
    exchange->code = 204;
    exchange->type = NULL;
    if (exchange->method != VERB_OPTIONS)
        exchange_refuse(exchange, STATUS_BAD_METHOD, status_sentence(STATUS_BAD_METHOD));
    exchange->allow = methods;
}

static void find_out(struct exchange *exchange, struct loop *loop, const char *bytes,
                     struct text body)
{
    const struct target *target = &exchange->target;
    enum verb method = exchange->method;
    const struct page *page = page_find(target);
    bool batch = page == NULL && route_fits(BATCH_PATH, target);
    const struct route *route = page == NULL && !batch ? route_find(target, method) : NULL;
    bool taken = page != NULL ? method == VERB_GET || method == VERB_HEAD
                 : batch      ? method == VERB_POST
                              : route != NULL;
    if (!taken || target->asterisk) {
        list_methods(exchange);
        return;
    }
    exchange->route = route;
    if (!take_body(exchange, loop, bytes, body))
        return;
    exchange->page = page;
    if (batch)
        begin_batch(exchange);
    else if (route != NULL)
        begin_route(exchange);
}

/*
 * DNS rebinding: the owner of a domain can let its name resolve to this server. A browser that has
 * loaded a page from that domain then takes this server for the page's own origin, so that the page
 * may send changes that no foreign page may send. But the browser sends that name in Host and, with
 * every change, the header Origin. If the server requires tokens, the attack fails, because the page
 * has no token.
 */
static bool is_rebound(const struct exchange *exchange, const struct loop *loop, struct text host)
{
    const struct options *options = loop->server->parts.options;
    struct text name = ip_without_port(host);
    bool page_asks = exchange->reader.request.origin.length > 0 && !exchange->origin_allowed;
    struct ip ip;
    return page_asks && host.length > 0 && !access_is_on(&loop->server->access) &&
           !options->insecure && !text_is(name, "localhost") &&
           !text_is(name, options->http.host) && !ip_parse_host(host, &ip);
}

/* Decides what the request asks for, if it is allowed. */
static void look(struct exchange *exchange, struct loop *loop, const char *bytes, struct text body)
{
    struct text host = request_text(bytes, exchange->reader.request.host);
    const struct page *page = page_find(&exchange->target);
    if ((page == NULL || !page->open) && is_rebound(exchange, loop, host))
        exchange_refuse(exchange, STATUS_FOREIGN_HOST, status_sentence(STATUS_FOREIGN_HOST));
    else
        find_out(exchange, loop, bytes, body);
}

bool exchange_begin(struct exchange *exchange, struct loop *loop, const char *bytes,
                    struct text body)
{
    const struct request *request = &exchange->reader.request;
    struct text target = request_text(bytes, request->target);
    struct text host = request_text(bytes, request->host);
    ASSERT(exchange->reader.parsed && !exchange->answering && exchange->words.length == 0);
    exchange->answering = true;
    exchange->method = request->method;
    exchange->old = request->old;
    exchange->keep_alive = request->keep_alive;
    exchange->preflight = request->preflight && request->method == VERB_OPTIONS;
    exchange->page = NULL;
    exchange->route = NULL;
    exchange->count = exchange->next = 0;
    exchange->status = STATUS_OK;
    exchange->code = 200;
    exchange->type = RESPOND_JSON;
    exchange->fields = NULL;
    exchange->negotiated = false;
    exchange->etag = NULL;
    exchange->allow = 0;
    exchange->retry_s = 0;
    exchange->text.length = exchange->reply.length = exchange->raw.length = 0;
    exchange->resumes = event_read_id(request_text(bytes, request->last_event), &exchange->last);
    exchange_take_origin(exchange, loop, bytes);
    if (!buffer_append(&exchange->text, target.bytes, target.length))
        return false;
    const char *problem =
        target_read(&exchange->target, exchange->text.bytes, exchange->text.length, host);
    if (problem == NULL) {
        look(exchange, loop, bytes, body);
    } else {
        exchange->keep_alive = false;
        exchange_refuse(exchange, STATUS_BAD_PROTOCOL, problem);
    }
    return true;
}

/* Completes the body of the answer. */
static bool complete(struct exchange *exchange)
{
    struct buffer *reply = &exchange->reply;
    if (exchange->status != STATUS_OK) {
        reply->length = 0;
        exchange->code = status_http(exchange->status);
        exchange->type = RESPOND_JSON;
        return answer_write_error(reply, exchange->status, exchange->sentence);
    }
    bool batch = exchange->json.root != NULL && exchange->route == NULL;
    if (!batch)
        return true;
    ASSERT(reply->length > 0); /* it begins with the head of the results */
    reply->length -= reply->bytes[reply->length - 1] == ',';
    return answer_write_text(reply, "]}");
}

bool exchange_finish(struct exchange *exchange, struct buffer *out, struct memory_budget *budget,
                     bool last)
{
    bool written = complete(exchange);
    struct response response = {.code = exchange->code,
                                .type = exchange->type,
                                .fields = exchange->fields,
                                .negotiated = exchange->negotiated,
                                .etag = exchange->etag,
                                .gzip = exchange->gzip,
                                .allow = exchange->allow,
                                .retry_s = exchange->retry_s,
                                .lasting = status_lasts(exchange->status),
                                .origin = exchange->origin_allowed ? exchange->origin : NULL,
                                .preflight = exchange->preflight,
                                .stream = stream_is_due(exchange),
                                .bare = exchange->method == VERB_HEAD,
                                .last = last || !exchange->keep_alive,
                                .old = exchange->old};
    written =
        written && respond_write(out, &response, exchange->reply.bytes, exchange->reply.length);
    json_in_free(&exchange->json, budget);
    exchange->words.length = 0;
    exchange->answering = false;
    return written;
}

void exchange_shrink(struct exchange *exchange)
{
    if (exchange->answering || exchange->reader.parsed)
        return;
    buffer_free(&exchange->text);
    buffer_free(&exchange->raw);
    buffer_free(&exchange->words);
    buffer_free(&exchange->reply);
    buffer_free(&exchange->reader.body);
}

void exchange_free(struct exchange *exchange, struct memory_budget *budget)
{
    json_in_free(&exchange->json, budget);
    exchange->answering = exchange->reader.parsed = false;
    exchange_shrink(exchange);
}
