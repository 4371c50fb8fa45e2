#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/random.h"
#include "bench/response_reader.h"

#define SEED    4243
#define SAMPLES (sizeof(samples) / sizeof(samples[0]))

static const struct {
    const char *bytes;
    int responses;
    int errors;
} samples[] = {
    {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 1, 0},
    {"HTTP/1.1 200 OK\r\nServer: x\r\ncontent-length:0\r\nConnection: keep-alive\r\n\r\n", 1, 0},
    {"HTTP/1.0 200\r\nCONTENT-LENGTH: 4\r\n\r\n\r\n\r\n", 1, 0},
    {"HTTP/1.1 204 No Content\r\nDate: now\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", 2,
     0},
    {"HTTP/1.1 304 Not Modified\r\nContent-Length: 77\r\n\r\n", 1, 0},
    {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", 1, 0},
    {"HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\n\r\nnot", 1, 1},
    {"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n", 1, 1},
};

static void feed_whole(const char *bytes, int64_t responses, uint64_t errors)
{
    struct response_reader reader;
    response_reader_init(&reader);
    assert_int_equal(response_reader_feed(&reader, bytes, strlen(bytes)), responses);
    assert_int_equal(reader.errors, errors);
    assert_int_equal(reader.code, 0);
}

static void whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < SAMPLES; i++)
        feed_whole(samples[i].bytes, samples[i].responses, (uint64_t)samples[i].errors);
}

/* The stream in pieces of 1 ... longest bytes, each in memory of its own size. */
static void feed_cut(const char *stream, size_t length, size_t longest, struct random *random,
                     int64_t responses, uint64_t errors)
{
    struct response_reader reader;
    int64_t seen = 0;
    response_reader_init(&reader);
    for (size_t at = 0; at < length;) {
        size_t piece = 1 + random_below(random, longest);
        piece = piece < length - at ? piece : length - at;
        char *copy = malloc(piece);
        memcpy(copy, stream + at, piece);
        int64_t done = response_reader_feed(&reader, copy, piece);
        free(copy);
        assert_true(done >= 0);
        seen += done;
        at += piece;
    }
    assert_int_equal(seen, responses);
    assert_int_equal(reader.errors, errors);
}

static void random_cuts(void **state)
{
    (void)state;
    struct random random = {SEED};
    char stream[65536];
    size_t length = 0;
    int64_t responses = 0;
    uint64_t errors = 0;
    print_message("seed %d\n", SEED);
    for (int i = 0; i < 500; i++) {
        size_t chosen = random_below(&random, SAMPLES);
        memcpy(stream + length, samples[chosen].bytes, strlen(samples[chosen].bytes));
        length += strlen(samples[chosen].bytes);
        responses += samples[chosen].responses;
        errors += (uint64_t)samples[chosen].errors;
    }
    for (size_t round = 0; round < 200; round++)
        feed_cut(stream, length, 1 + round * 4, &random, responses, errors);
}

static void keeps_the_first_error(void **state)
{
    (void)state;
    const char *bytes = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
                        "HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\n\r\nno such x"
                        "HTTP/1.1 500 Oh\r\nContent-Length: 5\r\n\r\nlater";
    struct response_reader reader;
    response_reader_init(&reader);
    for (size_t i = 0; i < strlen(bytes); i++)
        assert_true(response_reader_feed(&reader, bytes + i, 1) >= 0);
    assert_string_equal(reader.first_error, "404 Not Found: no such x");
    assert_int_equal(reader.errors, 2);
}

/* Fields that nobody asked for may be of any length; the first error is cut. */
static void long_lines(void **state)
{
    (void)state;
    char x[1001] = {0}, y[1001] = {0}, bytes[4096];
    memset(x, 'x', sizeof x - 1);
    memset(y, 'y', sizeof y - 1);
    snprintf(bytes, sizeof bytes, "HTTP/1.1 400 %s\r\nX-Long: %s\r\nContent-Length: 3\r\n\r\nabc",
             x, y);
    for (size_t cut = 1; cut < strlen(bytes); cut += 111) {
        struct response_reader reader;
        response_reader_init(&reader);
        assert_int_equal(response_reader_feed(&reader, bytes, cut), 0);
        assert_int_equal(response_reader_feed(&reader, bytes + cut, strlen(bytes) - cut), 1);
        assert_in_range(strlen(reader.first_error), 200, READER_LINE_MAX - 1);
    }
}

static void violations(void **state)
{
    (void)state;
    const char *const bad[] = {
        "+OK\r\n",
        "HTTP/2 200 OK\r\n",
        "HTTP/1.1 20 OK\r\n",
        "HTTP/1.1 999 Odd\r\n",
        "HTTP/1.1 200 OK\n",
        "\r\n",
        "HTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length:\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5 5\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxy\r\n",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct response_reader reader;
        response_reader_init(&reader);
        if (response_reader_feed(&reader, bad[i], strlen(bad[i])) != -1)
            fail_msg("'%s' was accepted", bad[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole),
        cmocka_unit_test(random_cuts),
        cmocka_unit_test(keeps_the_first_error),
        cmocka_unit_test(long_lines),
        cmocka_unit_test(violations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
