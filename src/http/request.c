/*
 * http-parser gets the complete head at once, so each of its callbacks is called once for each field.
 * Some heads that http-parser accepts are refused here: a repeated Content-Length or Host, even if
 * both are equal; a Transfer-Encoding that is not exactly "chunked"; and Content-Length together with
 * Transfer-Encoding.
 */
#include "http/request.h"

#include <http_parser.h>
#include <string.h>

#include "base/assert.h"
#include "base/limits.h"

enum field {
    FIELD_OTHER,
    FIELD_HOST,
    FIELD_LENGTH,
    FIELD_TRANSFER,
    FIELD_TYPE,
    FIELD_ENCODING,
    FIELD_EXPECT,
    FIELD_ORIGIN,
    FIELD_ASK_METHOD,
    FIELD_DEVICE,
    FIELD_FORWARDED,
    FIELD_AUTHORIZATION,
    FIELD_LAST_EVENT,
    FIELD_ACCEPT,
    FIELD_ACCEPT_ENCODING,
    FIELD_NONE_MATCH,
    FIELD_COUNT
};

static const char *const field_names[FIELD_COUNT] = {
    [FIELD_OTHER] = "",
    [FIELD_HOST] = "Host",
    [FIELD_LENGTH] = "Content-Length",
    [FIELD_TRANSFER] = "Transfer-Encoding",
    [FIELD_TYPE] = "Content-Type",
    [FIELD_ENCODING] = "Content-Encoding",
    [FIELD_EXPECT] = "Expect",
    [FIELD_ORIGIN] = "Origin",
    [FIELD_ASK_METHOD] = "Access-Control-Request-Method",
    [FIELD_DEVICE] = "X-Device-Id",
    [FIELD_FORWARDED] = "X-Forwarded-For",
    [FIELD_AUTHORIZATION] = "Authorization",
    [FIELD_LAST_EVENT] = "Last-Event-ID",
    [FIELD_ACCEPT] = "Accept",
    [FIELD_ACCEPT_ENCODING] = "Accept-Encoding",
    [FIELD_NONE_MATCH] = "If-None-Match",
};

/* The state while one head is parsed. */
struct parsing {
    struct request *request;
    const char *bytes;
    enum field field;           /* the field whose value is next */
    uint32_t seen[FIELD_COUNT]; /* how often each field was seen */
    bool complete;
    const char *problem;
};

static struct span span_of(const struct parsing *p, const char *at, size_t length)
{
    return (struct span){(uint32_t)(at - p->bytes), (uint32_t)length};
}

static int on_url(http_parser *parser, const char *at, size_t length)
{
    struct parsing *p = parser->data;
    p->request->target = span_of(p, at, length);
    return 0;
}

static int on_field(http_parser *parser, const char *at, size_t length)
{
    struct parsing *p = parser->data;
    p->field = FIELD_OTHER;
    for (enum field i = FIELD_HOST; i < FIELD_COUNT; i++) {
        if (text_is((struct text){at, length}, field_names[i]))
            p->field = i;
    }
    p->seen[p->field]++;
    return 0;
}

/* Is it application/json, with or without parameters? */
static bool is_json(struct text type)
{
    const char *end = memchr(type.bytes, ';', type.length);
    size_t length = end != NULL ? (size_t)(end - type.bytes) : type.length;
    return text_is(text_trim((struct text){type.bytes, length}), "application/json");
}

static bool is_host(struct text host)
{
    for (size_t i = 0; i < host.length; i++) {
        char c = host.bytes[i];
        if (c <= ' ' || c >= 0x7f || strchr("\"#%,/<>?@\\^`{|}", c) != NULL)
            return false;
    }
    return host.length > 0;
}

/* There may be several such fields, and each is a list. The last entries are the most reliable. */
static void take_forwarded(struct request *request, struct span list)
{
    if (request->forwarded_count == REQUEST_FORWARDED)
        memmove(request->forwarded, request->forwarded + 1,
                --request->forwarded_count * sizeof request->forwarded[0]);
    request->forwarded[request->forwarded_count++] = list;
}

static const char *take_value(struct parsing *p, struct text value)
{
    struct request *request = p->request;
    switch (p->field) {
    case FIELD_HOST:
        request->host = span_of(p, value.bytes, value.length);
        return is_host(value) ? NULL : "the header Host must be one host, with a port or without";
    case FIELD_TRANSFER:
        request->chunked = true;
        return text_is(value, "chunked") ? NULL
                                         : "the header Transfer-Encoding can only be chunked";
    case FIELD_TYPE:
        request->type = span_of(p, value.bytes, value.length);
        request->json = is_json(value);
        return NULL;
    case FIELD_ENCODING:
        request->encoding = span_of(p, value.bytes, value.length);
        request->encoded = !text_is(value, "identity");
        return NULL;
    case FIELD_EXPECT:
        request->expects = true;
        return text_is(value, "100-continue") ? NULL : "the header Expect can only be 100-continue";
    case FIELD_ORIGIN:
        request->origin = span_of(p, value.bytes, value.length);
        return NULL;
    case FIELD_ASK_METHOD:
        request->preflight = true;
        return NULL;
    case FIELD_DEVICE:
        request->device = span_of(p, value.bytes, value.length);
        return NULL;
    case FIELD_AUTHORIZATION:
        request->authorization = span_of(p, value.bytes, value.length);
        return NULL;
    case FIELD_LAST_EVENT:
        request->last_event = span_of(p, value.bytes, value.length);
        return NULL;
    case FIELD_ACCEPT:
        accept_take(&request->accept, value);
        return NULL;
    case FIELD_ACCEPT_ENCODING:
        request->accept_encoding = span_of(p, value.bytes, value.length);
        return NULL;
    case FIELD_NONE_MATCH:
        request->none_match = span_of(p, value.bytes, value.length);
        return NULL;
    case FIELD_FORWARDED:
        take_forwarded(request, span_of(p, value.bytes, value.length));
        return NULL;
    case FIELD_OTHER:
    case FIELD_LENGTH:
    case FIELD_COUNT:
        break;
    }
    return NULL;
}

static int on_value(http_parser *parser, const char *at, size_t length)
{
    struct parsing *p = parser->data;
    p->problem = take_value(p, text_trim((struct text){at, length}));
    return p->problem != NULL;
}

static enum verb method_of(unsigned method)
{
    return method == HTTP_GET       ? VERB_GET
           : method == HTTP_HEAD    ? VERB_HEAD
           : method == HTTP_PUT     ? VERB_PUT
           : method == HTTP_POST    ? VERB_POST
           : method == HTTP_DELETE  ? VERB_DELETE
           : method == HTTP_OPTIONS ? VERB_OPTIONS
                                    : VERB_OTHER;
}

static int on_headers(http_parser *parser)
{
    struct parsing *p = parser->data;
    struct request *request = p->request;
    request->method = method_of(parser->method);
    request->old = parser->http_minor == 0;
    request->keep_alive = http_should_keep_alive(parser);
    request->body_length = p->seen[FIELD_LENGTH] > 0 ? parser->content_length : 0;
    p->complete = true;
    return 0;
}

/* Checks that need more than one field. The problem, or NULL. */
static const char *find_conflict(const struct parsing *p)
{
    const uint32_t *seen = p->seen;
    if (seen[FIELD_LENGTH] > 1 || seen[FIELD_TRANSFER] > 1)
        return "the header Content-Length or Transfer-Encoding is repeated";
    if (seen[FIELD_LENGTH] > 0 && seen[FIELD_TRANSFER] > 0)
        return "the headers Content-Length and Transfer-Encoding cannot both be given";
    if (p->request->old && seen[FIELD_TRANSFER] > 0)
        return "HTTP/1.0 has no header Transfer-Encoding";
    if (seen[FIELD_HOST] > 1 || (seen[FIELD_HOST] == 0 && !p->request->old))
        return "the header Host must be given exactly once";
    if (seen[FIELD_TYPE] > 1 || seen[FIELD_ENCODING] > 1 || seen[FIELD_ORIGIN] > 1)
        return "the header Content-Type, Content-Encoding or Origin is repeated";
    if (seen[FIELD_DEVICE] > 1 || seen[FIELD_AUTHORIZATION] > 1)
        return "the header X-Device-Id or Authorization is repeated";
    return NULL;
}

static const http_parser_settings settings = {.on_url = on_url,
                                              .on_header_field = on_field,
                                              .on_header_value = on_value,
                                              .on_headers_complete = on_headers};

/* Our own words for the few errors that only http-parser finds. */
static const char *reason_of(enum http_errno error)
{
    switch ((int)error) {
    case HPE_INVALID_CONTENT_LENGTH:
    case HPE_UNEXPECTED_CONTENT_LENGTH:
        return "the header Content-Length must be a number of bytes, once";
    case HPE_INVALID_URL:
    case HPE_INVALID_HOST:
    case HPE_INVALID_PORT:
    case HPE_INVALID_PATH:
        return "the target in the request line must be a path, with or without a query";
    case HPE_INVALID_CONSTANT:
    case HPE_INVALID_VERSION:
        return "the request line must be a method, a path and HTTP/1.1";
    default:
        return "the request line or a header is not valid HTTP/1.1";
    }
}

static enum status parse_head(struct request_reader *reader, const char *bytes,
                              const char **problem)
{
    struct parsing p = {.request = &reader->request, .bytes = bytes};
    http_parser parser;
    http_parser_init(&parser, HTTP_REQUEST);
    parser.data = &p;
    http_parser_execute(&parser, &settings, bytes, reader->scan.at);
    enum http_errno error = HTTP_PARSER_ERRNO(&parser);
    *problem = p.problem;
    if (error == HPE_INVALID_METHOD) {
        *problem = status_sentence(STATUS_UNKNOWN_METHOD);
        return STATUS_UNKNOWN_METHOD;
    }
    if (*problem == NULL && (error != HPE_OK || !p.complete))
        *problem = reason_of(error);
    if (*problem == NULL)
        *problem = find_conflict(&p);
    return *problem == NULL ? STATUS_OK : STATUS_BAD_PROTOCOL;
}

static enum status read_body(struct request_reader *reader, const struct request_limits *limits,
                             const char *bytes, size_t length, struct text *body, size_t *used)
{
    const struct request *request = &reader->request;
    size_t head = reader->scan.at;
    if (request->chunked) {
        enum status status = chunk_read(&reader->chunks, bytes + head, length - head,
                                        limits->body_max, &reader->body);
        *body = (struct text){reader->body.bytes, reader->body.length};
        *used = head + reader->chunks.at;
        return status;
    }
    if (request->body_length > limits->body_max)
        return STATUS_BODY_TOO_LARGE;
    *body = (struct text){bytes + head, (size_t)request->body_length};
    *used = head + (size_t)request->body_length;
    return length >= *used ? STATUS_OK : STATUS_MORE;
}

enum status request_read(struct request_reader *reader, const struct request_limits *limits,
                         const char *bytes, size_t length, struct text *body, size_t *used,
                         const char **problem)
{
    enum status status = STATUS_OK;
    ASSERT(reader->scan.at <= length); /* the caller passes the same bytes again, and more */
    if (!reader->parsed) {
        status = head_check(&reader->scan, bytes, length, limits->head_max, problem);
        if (status == STATUS_OK)
            status = parse_head(reader, bytes, problem);
        if (status != STATUS_OK)
            return status;
        reader->parsed = true;
    }
    *problem = "the chunked body is malformed: a chunk must be its size in hexadecimal, CR LF, "
               "that many bytes, CR LF";
    status = read_body(reader, limits, bytes, length, body, used);
    if (status == STATUS_BODY_TOO_LARGE)
        *problem = status_sentence(status);
    return status;
}

void request_reset(struct request_reader *reader)
{
    reader->body.length = 0;
    *reader = (struct request_reader){.body = reader->body};
}
