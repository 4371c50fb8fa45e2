/* Chunks put together give the body, however they are cut; anything loose is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/limits.h"
#include "http/chunk.h"
#include "steps.h"

#define BODY_MAX 20

static struct memory_budget budget = {.limit = MIB(1)};

struct reading {
    struct chunk_scan scan;
    struct buffer *body;
};

static enum status read_more(void *context, const char *bytes, size_t seen)
{
    struct reading *reading = context;
    return chunk_read(&reading->scan, bytes, seen, BODY_MAX, reading->body);
}

static enum status read_in(const char *bytes, size_t length, size_t step, struct buffer *body,
                           size_t *end)
{
    struct reading reading = {.body = body};
    enum status status = in_steps(bytes, length, step, read_more, &reading);
    *end = reading.scan.at;
    return status;
}

/* `text` is what the body must be, NULL if it is not whole. */
static void expect(const char *bytes, size_t length, enum status wanted, const char *text)
{
    static const size_t steps[] = {1, 2, 7, 100000};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        struct buffer body = {.budget = &budget};
        size_t end;
        enum status got = read_in(bytes, length, steps[i], &body, &end);
        if (got != wanted)
            fail_msg("%s instead of %s for: %s", status_name(got), status_name(wanted), bytes);
        if (text != NULL) {
            assert_int_equal(body.length, strlen(text));
            assert_memory_equal(body.bytes ? body.bytes : "", text, body.length);
            assert_int_equal(end, length);
        }
        buffer_free(&body);
    }
    assert_int_equal(memory_used(&budget), 0);
}

#define EXPECT(bytes, wanted, text) expect(bytes, sizeof(bytes) - 1, wanted, text)

static void good_chunks(void **state)
{
    (void)state;
    EXPECT("0\r\n\r\n", STATUS_OK, "");
    EXPECT("3\r\nabc\r\n0\r\n\r\n", STATUS_OK, "abc");
    EXPECT("3\r\nabc\r\nA\r\n0123456789\r\n00000\r\n\r\n", STATUS_OK, "abc0123456789");
    EXPECT("2;x=\"y z\"\r\n\r\n\r\n0;e\r\nA: b\r\nC: d\r\n\r\n", STATUS_OK, "\r\n");
    EXPECT("14\r\n01234567890123456789\r\n0\r\n\r\n", STATUS_OK, "01234567890123456789");
}

static void unfinished_chunks(void **state)
{
    (void)state;
    EXPECT("3", STATUS_MORE, NULL);
    EXPECT("3\r\nab", STATUS_MORE, NULL);
    EXPECT("3\r\nabc", STATUS_MORE, NULL);
    EXPECT("3\r\nabc\r\n0\r\n", STATUS_MORE, NULL);
}

static void bad_chunks(void **state)
{
    (void)state;
    EXPECT("\r\n", STATUS_BAD_PROTOCOL, NULL);
    EXPECT("x\r\n", STATUS_BAD_PROTOCOL, NULL);
    EXPECT("-1\r\n", STATUS_BAD_PROTOCOL, NULL);
    EXPECT("+1\r\n", STATUS_BAD_PROTOCOL, NULL);
    EXPECT("0x3\r\nabc\r\n", STATUS_BAD_PROTOCOL, NULL);
    EXPECT(" 3\r\nabc\r\n", STATUS_BAD_PROTOCOL, NULL);
    EXPECT("3 \r\nabc\r\n", STATUS_BAD_PROTOCOL, NULL);
    EXPECT("3\nabc\r\n", STATUS_BAD_PROTOCOL, NULL);
    EXPECT("3\r\nabcd\r\n", STATUS_BAD_PROTOCOL, NULL);
    EXPECT("3\r\nabc\n0\r\n\r\n", STATUS_BAD_PROTOCOL, NULL);
    EXPECT("3\r\nabcXX0\r\n\r\n", STATUS_BAD_PROTOCOL, NULL);
    EXPECT("3;a\nb\r\nabc\r\n", STATUS_BAD_PROTOCOL, NULL);
    EXPECT("3;a\rb\r\nabc\r\n", STATUS_BAD_PROTOCOL, NULL);
    EXPECT("3;a\0b\r\nabc\r\n", STATUS_BAD_PROTOCOL, NULL);
    EXPECT("100000003\r\nabc\r\n", STATUS_BAD_PROTOCOL, NULL);
    EXPECT("fffffffffffffffff\r\nabc\r\n", STATUS_BAD_PROTOCOL, NULL);
    EXPECT("0\r\nA : b\r\n\r\n", STATUS_BAD_PROTOCOL, NULL);
    EXPECT("0\r\nGET / HTTP/1.1\r\n\r\n", STATUS_BAD_PROTOCOL, NULL);
    EXPECT("15\r\n", STATUS_BODY_TOO_LARGE, NULL);
    EXPECT("ffffffff\r\n", STATUS_BODY_TOO_LARGE, NULL);
    EXPECT("10\r\n0123456789abcdef\r\n5\r\n", STATUS_BODY_TOO_LARGE, NULL);
}

static void long_lines_are_refused(void **state)
{
    (void)state;
    char bytes[LIMIT_CHUNK_LINE + 1] = "1;";
    memset(bytes + 2, 'a', LIMIT_CHUNK_LINE - 2);
    expect(bytes, LIMIT_CHUNK_LINE, STATUS_BAD_PROTOCOL, NULL);
}

/* Tiny chunks with long extensions must not take more than a few times the body's bound. */
static void overhead_is_bounded(void **state)
{
    (void)state;
    static const char chunk[] = "0000001;aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\nx\r\n";
    struct buffer stream = {.budget = &budget}, body = {.budget = &budget};
    struct chunk_scan scan = {0};
    for (int i = 0; i < 3000; i++)
        assert_true(buffer_append(&stream, chunk, sizeof chunk - 1));
    assert_int_equal(chunk_read(&scan, stream.bytes, stream.length, 10000, &body),
                     STATUS_BODY_TOO_LARGE);
    assert_true(scan.at < 2 * 10000 + KIB(64) + 128);
    buffer_free(&stream);
    buffer_free(&body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_chunks),         cmocka_unit_test(unfinished_chunks),
        cmocka_unit_test(bad_chunks),          cmocka_unit_test(long_lines_are_refused),
        cmocka_unit_test(overhead_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
