/*
 * Caches must not store an answer, because it is true only at its moment. A file of the console is
 * different: a cache may store it, but must ask each time whether it has changed, so that the console
 * is always that of the running program. Each thread formats the date once a second.
 */
#include "http/respond.h"

#include <stdint.h>
#include <time.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/decimal.h"
#include "http/answer.h"
#include "http/request.h"

#define DATE_ROOM 32

static const char *reason_of(int code)
{
    switch (code) {
    case 200:
        return "200 OK";
    case 201:
        return "201 Created";
    case 204:
        return "204 No Content";
    case 304:
        return "304 Not Modified";
    case 400:
        return "400 Bad Request";
    case 401:
        return "401 Unauthorized";
    case 403:
        return "403 Forbidden";
    case 404:
        return "404 Not Found";
    case 405:
        return "405 Method Not Allowed";
    case 409:
        return "409 Conflict";
    case 410:
        return "410 Gone";
    case 413:
        return "413 Content Too Large";
    case 414:
        return "414 URI Too Long";
    case 415:
        return "415 Unsupported Media Type";
    case 422:
        return "422 Unprocessable Content";
    case 429:
        return "429 Too Many Requests";
    case 431:
        return "431 Request Header Fields Too Large";
    case 501:
        return "501 Not Implemented";
    case 503:
        return "503 Service Unavailable";
    case 505:
        return "505 HTTP Version Not Supported";
    default:
        return "500 Internal Server Error";
    }
}

static const char *date_text(void)
{
    static _Thread_local time_t made_s;
    static _Thread_local char text[DATE_ROOM];
    time_t now_s = (time_t)(clock_wall_ms() / 1000);
    struct tm parts;
    if (now_s != made_s && gmtime_r(&now_s, &parts) != NULL &&
        strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts) > 0)
        made_s = now_s;
    return text;
}

static bool write_field(struct buffer *out, const char *name, const char *value)
{
    return answer_write_text(out, name) && answer_write_text(out, value) &&
           answer_write_text(out, "\r\n");
}

static bool write_methods(struct buffer *out, const char *name, unsigned methods)
{
    static const char *const names[] = {
        [VERB_GET] = "GET",   [VERB_HEAD] = "HEAD",     [VERB_PUT] = "PUT",
        [VERB_POST] = "POST", [VERB_DELETE] = "DELETE", [VERB_OPTIONS] = "OPTIONS"};
    bool written = answer_write_text(out, name), first = true;
    for (unsigned i = VERB_GET; written && i <= VERB_OPTIONS; i++) {
        if ((methods >> i & 1) == 0)
            continue;
        written = (first || answer_write_text(out, ", ")) && answer_write_text(out, names[i]);
        first = false;
    }
    return written && answer_write_text(out, "\r\n");
}

/* The header fields of CORS. */
static bool write_origin(struct buffer *out, const struct response *response)
{
    return write_field(out, "Access-Control-Allow-Origin: ", response->origin) &&
           (!response->preflight ||
            (write_methods(out, "Access-Control-Allow-Methods: ", response->allow) &&
             write_field(out, "Access-Control-Allow-Headers: ",
                         "Authorization, Content-Type, Last-Event-ID, X-Device-Id") &&
             write_field(out, "Access-Control-Max-Age: ", "600")));
}

static bool write_number(struct buffer *out, const char *name, uint64_t number)
{
    char text[DECIMAL_MAX + 1];
    *decimal_write(text, number) = '\0';
    return write_field(out, name, text);
}

static bool write_retry(struct buffer *out, const struct response *response)
{
    bool passes = response->code == 503 && !response->lasting;
    uint64_t retry_s = response->retry_s == 0 && passes ? 1 : response->retry_s;
    return retry_s == 0 || (write_number(out, "Retry-After: ", retry_s) &&
                            (response->origin == NULL ||
                             write_field(out, "Access-Control-Expose-Headers: ", "Retry-After")));
}

/* The header Vary: on which fields of the request the answer depends. */
static bool write_vary(struct buffer *out, const struct response *response)
{
    const struct {
        bool depends;
        const char *field;
    } all[] = {{response->negotiated, "Accept"},
               {response->etag != NULL, "Accept-Encoding"},
               {response->origin != NULL, "Origin"}};
    bool written = true, first = true;
    for (size_t i = 0; written && i < sizeof all / sizeof all[0]; i++) {
        if (!all[i].depends)
            continue;
        written =
            answer_write_text(out, first ? "Vary: " : ", ") && answer_write_text(out, all[i].field);
        first = false;
    }
    return written && (first || answer_write_text(out, "\r\n"));
}

/* Whether and how caches may keep the answer, and whether it is compressed. */
static bool write_caching(struct buffer *out, const struct response *response)
{
    if (response->etag == NULL)
        return answer_write_text(out, "Cache-Control: no-store\r\n");
    return answer_write_text(out, "Cache-Control: no-cache\r\n") &&
           write_field(out, "ETag: ", response->etag) &&
           (!response->gzip || answer_write_text(out, "Content-Encoding: gzip\r\n"));
}

static bool write_head(struct buffer *out, const struct response *response, size_t length)
{
    bool written = write_field(out, "HTTP/1.1 ", reason_of(response->code)) &&
                   write_field(out, "Date: ", date_text()) && write_caching(out, response);
    if (written && response->type != NULL)
        written = write_field(out, "Content-Type: ", response->type);
    if (written && response->stream)
        written = answer_write_text(out, response->old ? "X-Accel-Buffering: no\r\n"
                                                       : "X-Accel-Buffering: no\r\n"
                                                         "Transfer-Encoding: chunked\r\n");
    else if (written && response->code != 204 &&
             response->code != 304) /* all others have a body, or describe one */
        written = write_number(out, "Content-Length: ", length);
    if (written && response->allow != 0)
        written = write_methods(out, "Allow: ", response->allow);
    if (written && response->code == 401)
        written = write_field(out, "WWW-Authenticate: ", "Bearer");
    written = written && write_retry(out, response);
    written = written && write_vary(out, response) &&
              (response->fields == NULL || answer_write_text(out, response->fields));
    if (written && response->origin != NULL)
        written = write_origin(out, response);
    if (written && (response->last || response->old))
        written = write_field(out, "Connection: ", response->last ? "close" : "keep-alive");
    return written && answer_write_text(out, "\r\n");
}

bool respond_write(struct buffer *out, const struct response *response, const char *body,
                   size_t length)
{
    ASSERT(response->code >= 100 && response->code <= 599);
    return write_head(out, response, length) &&
           (response->bare || buffer_append(out, body, length));
}
