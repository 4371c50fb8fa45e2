#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/random.h"
#include "bench/reply_reader.h"

#define SEED 4242

static const struct {
    const char *bytes;
    int replies;
    int errors;
} samples[] = {
    {"+OK\r\n", 1, 0},
    {":1\r\n:-17\r\n:0\r\n", 3, 0},
    {"-ERR no\r\n", 1, 1},
    {"$-1\r\n*-1\r\n_\r\n", 3, 0},
    {"$0\r\n\r\n$5\r\nhello\r\n", 2, 0},
    {"$4\r\n\r\n\r\n\r\n", 1, 0},
    {"*0\r\n*2\r\n:1\r\n$1\r\na\r\n", 2, 0},
    {"*2\r\n*2\r\n*0\r\n:1\r\n*1\r\n+x\r\n:2\r\n", 2, 0},
    {"*3\r\n:1\r\n-ERR inner\r\n-ERR twice\r\n", 1, 1},
    {"#t\r\n,3.25\r\n(12345678901234567890123\r\n=7\r\ntxt:abc\r\n", 4, 0},
    {"%2\r\n+a\r\n:1\r\n+b\r\n*1\r\n:2\r\n~2\r\n:1\r\n:2\r\n", 2, 0},
    {"!9\r\nERR\r\nlong\r\n:1\r\n", 2, 1},
    {"|1\r\n+ttl\r\n:3600\r\n:5\r\n", 1, 0},
    {"*2\r\n|1\r\n+k\r\n+v\r\n:1\r\n:2\r\n", 1, 0},
    {">2\r\n+message\r\n+hi\r\n:5\r\n", 1, 0},
    {":1\r\n>1\r\n+hi\r\n", 1, 0},
};

static void whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
        struct reply_reader reader;
        reply_reader_init(&reader);
        assert_int_equal(reply_reader_feed(&reader, samples[i].bytes, strlen(samples[i].bytes)),
                         samples[i].replies);
        assert_int_equal(reader.errors, samples[i].errors);
        assert_int_equal(reader.open, 0);
    }
}

static void byte_by_byte(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
        struct reply_reader reader;
        int64_t replies = 0;
        reply_reader_init(&reader);
        for (const char *at = samples[i].bytes; *at != '\0'; at++) {
            int64_t done = reply_reader_feed(&reader, at, 1);
            assert_true(done >= 0);
            replies += done;
        }
        assert_int_equal(replies, samples[i].replies);
        assert_int_equal(reader.errors, samples[i].errors);
        assert_int_equal(reader.open, 0);
    }
}

/* All samples many times over in one stream, cut at random: the counts are the same. */
static void random_cuts(void **state)
{
    (void)state;
    enum { ROUNDS = 200 };
    struct random random = {SEED};
    char stream[65536];
    size_t length = 0;
    int64_t replies = 0;
    uint64_t errors = 0;
    print_message("seed %d\n", SEED);
    for (int i = 0; i < 800; i++) {
        size_t chosen = random_below(&random, sizeof(samples) / sizeof(samples[0]));
        size_t size = strlen(samples[chosen].bytes);
        memcpy(stream + length, samples[chosen].bytes, size);
        length += size;
        replies += samples[chosen].replies;
        errors += (uint64_t)samples[chosen].errors;
    }
    for (int round = 0; round < ROUNDS; round++) {
        struct reply_reader reader;
        int64_t seen = 0;
        reply_reader_init(&reader);
        for (size_t at = 0; at < length;) {
            size_t piece = 1 + random_below(&random, 1 + (uint64_t)round * 4);
            piece = piece < length - at ? piece : length - at;
            char *copy = malloc(piece);
            memcpy(copy, stream + at, piece);
            int64_t done = reply_reader_feed(&reader, copy, piece);
            free(copy);
            assert_true(done >= 0);
            seen += done;
            at += piece;
        }
        assert_int_equal(seen, replies);
        assert_int_equal(reader.errors, errors);
    }
}

static void keeps_the_first_error(void **state)
{
    (void)state;
    struct reply_reader reader;
    const char line[] = ":1\r\n-ERR first thing\r\n-ERR second\r\n";
    reply_reader_init(&reader);
    assert_int_equal(reply_reader_feed(&reader, line, strlen(line)), 3);
    assert_string_equal(reader.first_error, "ERR first thing");
    assert_int_equal(reader.errors, 2);

    const char bulk[] = "!21\r\nSYNTAX invalid syntax\r\n-ERR later\r\n";
    reply_reader_init(&reader);
    for (size_t i = 0; i < strlen(bulk); i++)
        assert_true(reply_reader_feed(&reader, bulk + i, 1) >= 0);
    assert_string_equal(reader.first_error, "SYNTAX invalid syntax");
    assert_int_equal(reader.errors, 2);
}

static void long_error_is_cut_not_refused(void **state)
{
    (void)state;
    struct reply_reader reader;
    char line[2000];
    memset(line, 'x', sizeof(line));
    line[0] = '-';
    line[sizeof(line) - 2] = '\r';
    line[sizeof(line) - 1] = '\n';
    for (size_t cut = 1; cut < sizeof(line); cut += 333) {
        reply_reader_init(&reader);
        assert_int_equal(reply_reader_feed(&reader, line, cut), 0);
        assert_int_equal(reply_reader_feed(&reader, line + cut, sizeof(line) - cut), 1);
        assert_int_equal(strlen(reader.first_error), READER_LINE_MAX - 1);
    }
    reply_reader_init(&reader);
    assert_int_equal(reply_reader_feed(&reader, line, sizeof(line) - 1), 0);
    assert_int_equal(reply_reader_feed(&reader, "\n", 1), 1);
}

static void what_is_not_resp(void **state)
{
    (void)state;
    const char *const bad[] = {
        "hello\r\n",
        "\r\n",
        "\n",
        ":1\n",
        "$x\r\n",
        "$-2\r\n",
        "$\r\n",
        "*-2\r\n",
        "$?\r\n",
        "*?\r\n",
        "$99999999999\r\n",
        "*99999999999\r\n",
        "%-1\r\n",
        "=-1\r\n",
        "$3\r\nabcde",
        "*1\r\n$1\r\nabc",
        ">-1\r\n",
        "$1 \r\na\r\n",
        "HTTP/1.1 400 Bad Request\r\n",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct reply_reader reader;
        reply_reader_init(&reader);
        assert_int_equal(reply_reader_feed(&reader, bad[i], strlen(bad[i])), -1);
        int64_t last = 0;
        reply_reader_init(&reader);
        for (const char *at = bad[i]; *at != '\0' && last >= 0; at++)
            last = reply_reader_feed(&reader, at, 1);
        assert_int_equal(last, -1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole),
        cmocka_unit_test(byte_by_byte),
        cmocka_unit_test(random_cuts),
        cmocka_unit_test(keeps_the_first_error),
        cmocka_unit_test(long_error_is_cut_not_refused),
        cmocka_unit_test(what_is_not_resp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
