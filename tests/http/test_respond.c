/* The first line of a response: every outcome that can be told over HTTP has its own. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/status.h"
#include "http/respond.h"

static struct memory_budget budget = {.limit = MIB(4)};

static void every_status_has_its_code(void **state)
{
    (void)state;
    for (int i = 0; i < STATUS_COUNT; i++) {
        struct buffer out = {.budget = &budget};
        struct response response = {.code = status_http((enum status)i), .type = RESPOND_JSON};
        if (response.code == 0)
            continue;
        assert_true(respond_write(&out, &response, "", 0));
        assert_true(out.length > 13);
        assert_memory_equal(out.bytes, "HTTP/1.1 ", 9);
        assert_int_equal(strtol(out.bytes + 9, NULL, 10), response.code);
        assert_int_equal(out.bytes[12], ' ');
        buffer_free(&out);
    }
    assert_int_equal(memory_used(&budget), 0);
}

static void no_head_is_larger_than_is_reckoned_with(void **state)
{
    (void)state;
    char origin[256];
    struct buffer out = {.budget = &budget};
    memset(origin, 'a', sizeof origin - 1);
    origin[sizeof origin - 1] = '\0';
    struct response response = {.code = 503,
                                .type = RESPOND_JSON,
                                .allow = UINT_MAX,
                                .retry_s = UINT64_MAX,
                                .origin = origin,
                                .preflight = true,
                                .last = true};
    assert_true(respond_write(&out, &response, "", 0));
    assert_in_range(out.length, sizeof origin, LIMIT_ANSWER_HEAD);
    buffer_free(&out);
}

static void what_lasts_is_not_to_be_tried_again(void **state)
{
    (void)state;
    for (int lasting = 0; lasting <= 1; lasting++) {
        struct buffer out = {.budget = &budget};
        struct response response = {.code = 503, .type = RESPOND_JSON, .lasting = lasting};
        assert_true(respond_write(&out, &response, "", 1) && buffer_append(&out, "", 1));
        assert_int_equal(strstr(out.bytes, "Retry-After: 1\r\n") == NULL, lasting);
        buffer_free(&out);
    }
}

/* An answer is true at its moment only; a file may be kept, but must be asked for each time. */
static void only_files_may_be_kept(void **state)
{
    (void)state;
    struct buffer out = {.budget = &budget};
    struct response response = {.code = 200, .type = RESPOND_HTML, .negotiated = true};
    assert_true(respond_write(&out, &response, "", 1));
    assert_non_null(strstr(out.bytes, "Cache-Control: no-store\r\n"));
    assert_non_null(strstr(out.bytes, "Vary: Accept\r\n"));
    out.length = 0;
    response.etag = "\"1\"";
    response.gzip = true;
    response.origin = "https://a.example";
    assert_true(respond_write(&out, &response, "", 1));
    assert_non_null(strstr(out.bytes, "Cache-Control: no-cache\r\nETag: \"1\"\r\n"));
    assert_non_null(strstr(out.bytes, "Content-Encoding: gzip\r\n"));
    assert_non_null(strstr(out.bytes, "Vary: Accept, Accept-Encoding, Origin\r\n"));
    out.length = 0;
    response = (struct response){.code = 304, .etag = "\"1\""};
    assert_true(respond_write(&out, &response, "", 0) && buffer_append(&out, "", 1));
    assert_memory_equal(out.bytes, "HTTP/1.1 304 Not Modified\r\n", 27);
    assert_null(strstr(out.bytes, "Content-"));
    buffer_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_its_code),
        cmocka_unit_test(no_head_is_larger_than_is_reckoned_with),
        cmocka_unit_test(what_lasts_is_not_to_be_tried_again),
        cmocka_unit_test(only_files_may_be_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
