/* Whole requests, cut anywhere: what they say is found, and what is ambiguous is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/limits.h"
#include "http/request.h"

static struct memory_budget budget = {.limit = MIB(1)};
static const struct request_limits limits = {.head_max = KIB(1), .body_max = 100};

/* What a request came to, as one line of text. */
static void transcribe(const char *bytes, size_t length, size_t step, char *out, size_t size)
{
    struct request_reader reader = {.body.budget = &budget};
    struct text body = {NULL, 0};
    const char *problem = "";
    size_t used = 0;
    enum status status = STATUS_MORE;
    char *piece = NULL;
    for (size_t seen = 0; status == STATUS_MORE && seen < length;) {
        seen = seen + step < length ? seen + step : length;
        free(piece);
        piece = malloc(seen);
        assert_non_null(piece);
        memcpy(piece, bytes, seen);
        status = request_read(&reader, &limits, piece, seen, &body, &used, &problem);
    }
    const struct request *r = &reader.request;
    if (status == STATUS_OK)
        snprintf(out, size, "%d %.*s host=%.*s%s%s%s%s%s%s body=%.*s used=%zu", r->method,
                 (int)r->target.length, piece + r->target.at, (int)r->host.length,
                 piece + r->host.at, r->old ? " old" : "", r->keep_alive ? " keep" : "",
                 r->chunked ? " chunked" : "", r->json ? " json" : "", r->encoded ? " encoded" : "",
                 r->preflight ? " preflight" : "", (int)body.length, body.bytes, used);
    else
        snprintf(out, size, "%s", status_name(status));
    free(piece);
    request_reset(&reader);
    assert_false(reader.parsed);
    buffer_free(&reader.body);
}

static void expect(const char *bytes, size_t length, const char *wanted)
{
    char got[512];
    for (size_t step = 1; step <= length + 1; step += step < 8 ? 1 : length) {
        transcribe(bytes, length, step, got, sizeof got);
        if (strcmp(got, wanted) != 0)
            fail_msg("'%s' instead of '%s' for: %s", got, wanted, bytes);
    }
    assert_int_equal(memory_used(&budget), 0);
}

#define EXPECT(bytes, wanted) expect(bytes, sizeof(bytes) - 1, wanted)

static void requests_are_read(void **state)
{
    (void)state;
    EXPECT("GET /a HTTP/1.1\r\nHost: x:1\r\n\r\n", "1 /a host=x:1 keep body= used=30");
    EXPECT("GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "1 /a host=x body= used=47");
    EXPECT("GET /a HTTP/1.0\r\n\r\n", "1 /a host= old body= used=19");
    EXPECT("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
           "1 /a host= old keep body= used=43");
    EXPECT("POST /p HTTP/1.1\r\nhOST: x\r\ncontent-length: 3\r\n"
           "Content-Type: application/JSON; charset=utf-8\r\n\r\nabcGET /",
           "4 /p host=x keep json body=abc used=98");
    EXPECT("POST /p HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked \r\n"
           "Content-Encoding: gzip\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\nmore",
           "4 /p host=x keep chunked encoded body=abc used=100");
    EXPECT("OPTIONS * HTTP/1.1\r\nHost: x\r\nAccess-Control-Request-Method: PUT\r\n\r\n",
           "6 * host=x keep preflight body= used=67");
    EXPECT("PATCH /a HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
           "0 /a host=x keep body= used=49");
    EXPECT("GET /a HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n",
           "1 /a host=x keep body= used=63");
    EXPECT("HEAD /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab",
           "2 /a host=x keep body=ab used=50");
}

static void ambiguous_requests_are_refused(void **state)
{
    (void)state;
    static const char *const fields[] = {
        "Content-Length: 1\r\nContent-Length: 1\r\n",
        "Content-Length: 1\r\nContent-Length: 2\r\n",
        "Content-Length: 1, 1\r\n",
        "Content-Length: +1\r\n",
        "Content-Length: -1\r\n",
        "Content-Length: 0x1\r\n",
        "Content-Length: 1a\r\n",
        "Content-Length: 1 1\r\n",
        "Content-Length:\r\n",
        "Content-Length: 99999999999999999999999\r\n",
        "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked, chunked\r\n",
        "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: identity\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "Transfer-Encoding: \vchunked\r\n",
        "Transfer-Encoding: \"chunked\"\r\n",
        "Transfer-Encoding:\r\n",
        "Transfer-Encoding : chunked\r\n",
        "Transfer-Encoding\r\n : chunked\r\n",
        "Host: y\r\n",
        "Expect: 200-ok\r\n",
        "Content-Type: application/json\r\nContent-Type: text/plain\r\n",
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        char bytes[512];
        snprintf(bytes, sizeof bytes, "POST / HTTP/1.1\r\nHost: x\r\n%s\r\n1\r\na\r\n0\r\n\r\n",
                 fields[i]);
        expect(bytes, strlen(bytes), "BAD_PROTOCOL");
    }
    EXPECT("GET / HTTP/1.1\r\n\r\n", "BAD_PROTOCOL");
    EXPECT("GET / HTTP/1.1\r\nHost:\r\n\r\n", "BAD_PROTOCOL");
    EXPECT("GET / HTTP/1.1\r\nHost: a b\r\n\r\n", "BAD_PROTOCOL");
    EXPECT("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", "BAD_PROTOCOL");
    EXPECT("GET / HTTP/1.1\r\nHost: a@b\r\n\r\n", "BAD_PROTOCOL");
    EXPECT("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "BAD_PROTOCOL");
    EXPECT("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nz\r\n", "BAD_PROTOCOL");
    EXPECT("FROB / HTTP/1.1\r\nHost: x\r\n\r\n", "UNKNOWN_METHOD");
}

static void bounds(void **state)
{
    (void)state;
    EXPECT("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 101\r\n\r\n", "BODY_TOO_LARGE");
    EXPECT("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000000000000\r\n\r\n",
           "BODY_TOO_LARGE");
    EXPECT("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n65\r\n",
           "BODY_TOO_LARGE");
    EXPECT("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc", "MORE");
}

/* The last lists that proxies have added, and who asks. */
static void who_asks_is_found(void **state)
{
    (void)state;
    static const char bytes[] = "GET /a HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 1\r\n"
                                "x-forwarded-for: 2, 3 \r\nX-Device-Id: phone\r\n"
                                "X-Forwarded-For: 4\r\nX-Forwarded-For: 5\r\n"
                                "Authorization: Bearer abc\r\nX-Forwarded-For:\r\n\r\n";
    static const char *const lists[] = {"2, 3", "4", "5", ""};
    struct request_reader reader = {.body.budget = &budget};
    struct text body;
    const char *problem;
    size_t used;
    assert_int_equal(
        request_read(&reader, &limits, bytes, sizeof bytes - 1, &body, &used, &problem), STATUS_OK);
    const struct request *r = &reader.request;
    assert_true(text_is(request_text(bytes, r->device), "phone"));
    assert_true(text_is(request_text(bytes, r->authorization), "Bearer abc"));
    assert_int_equal(r->forwarded_count, REQUEST_FORWARDED);
    for (size_t i = 0; i < REQUEST_FORWARDED; i++)
        assert_true(text_is(request_text(bytes, r->forwarded[i]), lists[i]));
    EXPECT("GET / HTTP/1.1\r\nHost: x\r\nX-Device-Id: a\r\nX-Device-Id: a\r\n\r\n", "BAD_PROTOCOL");
    EXPECT("GET / HTTP/1.1\r\nHost: x\r\nAuthorization: a\r\nAuthorization: b\r\n\r\n",
           "BAD_PROTOCOL");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_read),
        cmocka_unit_test(ambiguous_requests_are_refused),
        cmocka_unit_test(who_asks_is_found),
        cmocka_unit_test(bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
