/* Lines as they come out of a pipe, however its writer cut them. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "chance.h"
#include "move/lines.h"

struct writer {
    int fd;
    const char *bytes;
    size_t length;
    struct chance chance;
};

static void *write_all(void *context)
{
    struct writer *writer = context;
    for (size_t at = 0; at < writer->length;) {
        size_t left = writer->length - at;
        size_t most = 1 + chance_below(&writer->chance, 5000);
        ssize_t written = write(writer->fd, writer->bytes + at, most < left ? most : left);
        if (written <= 0)
            break;
        at += (size_t)written;
    }
    close(writer->fd);
    return NULL;
}

struct flow {
    struct writer writer;
    pthread_t thread;
    int fd;
    struct lines lines;
};

static void flow_start(struct flow *flow, const char *bytes, size_t length, uint64_t seed)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    flow->fd = ends[0];
    flow->writer = (struct writer){ends[1], bytes, length, {seed}};
    assert_int_equal(pthread_create(&flow->thread, NULL, write_all, &flow->writer), 0);
    assert_true(lines_start(&flow->lines, flow->fd, 0, 0));
}

static void flow_end(struct flow *flow)
{
    pthread_join(flow->thread, NULL);
    lines_end(&flow->lines);
    close(flow->fd);
}

static void expect_line(struct flow *flow, const char *wanted, uint64_t number, uint64_t offset)
{
    struct text line;
    assert_int_equal(lines_next(&flow->lines, &line), STATUS_OK);
    assert_int_equal(line.length, strlen(wanted));
    assert_memory_equal(line.bytes, wanted, line.length);
    assert_int_equal(flow->lines.number, number);
    assert_int_equal(flow->lines.offset, offset);
}

static void expect_over(struct flow *flow)
{
    struct text line;
    assert_int_equal(lines_next(&flow->lines, &line), STATUS_MORE);
    assert_int_equal(lines_next(&flow->lines, &line), STATUS_MORE);
}

static void test_ends(void **state)
{
    (void)state;
    struct flow flow;
    static const char text[] = "\xef\xbb\xbf"
                               "one\r\ntwo\n\n\r\nlast";
    flow_start(&flow, text, sizeof text - 1, 1);
    expect_line(&flow, "one", 1, 8);
    expect_line(&flow, "two", 2, 12);
    expect_line(&flow, "", 3, 13);
    expect_line(&flow, "", 4, 15);
    expect_line(&flow, "last", 5, 19);
    expect_over(&flow);
    flow_end(&flow);
    flow_start(&flow, "", 0, 1);
    expect_over(&flow);
    flow_end(&flow);
}

/* One byte too long, far too long, and too long at the end; what is between them is read. */
static void test_too_long(void **state)
{
    (void)state;
    struct flow flow;
    struct text line;
    const size_t lengths[] = {
        LIMIT_IMPORT_LINE,    LIMIT_IMPORT_LINE + 1, 5, 3 * LIMIT_IMPORT_LINE, 7,
        2 * LIMIT_IMPORT_LINE};
    size_t size = 0;
    char *text = malloc(8 * LIMIT_IMPORT_LINE);
    for (size_t i = 0; i < 6; i++) {
        memset(text + size, 'a' + (int)i, lengths[i]);
        size += lengths[i];
        if (i < 5)
            text[size++] = '\n';
    }
    flow_start(&flow, text, size, test_seed());
    for (size_t i = 0; i < 6; i++) {
        bool fits = lengths[i] <= LIMIT_IMPORT_LINE;
        assert_int_equal(lines_next(&flow.lines, &line), fits ? STATUS_OK : STATUS_BAD_ARGUMENT);
        assert_int_equal(flow.lines.number, i + 1);
        if (fits)
            assert_int_equal(line.length, lengths[i]);
    }
    assert_int_equal(flow.lines.offset, size);
    expect_over(&flow);
    flow_end(&flow);
    free(text);
}

/* Many lines, joined again, are what went in. */
static void test_many(void **state)
{
    (void)state;
    struct chance chance = {test_seed()};
    size_t size = 0, at = 0;
    char *text = malloc(1 << 22);
    while (size < (1 << 22) - LIMIT_IMPORT_LINE - 1) {
        size_t length = chance_below(&chance, 1000) == 0 ? chance_below(&chance, LIMIT_IMPORT_LINE)
                                                         : chance_below(&chance, 120);
        for (size_t i = 0; i < length; i++)
            text[size++] = (char)('a' + chance_below(&chance, 26));
        text[size++] = '\n';
    }
    struct flow flow;
    struct text line;
    flow_start(&flow, text, size, chance_next(&chance));
    while (lines_next(&flow.lines, &line) == STATUS_OK) {
        assert_memory_equal(text + at, line.bytes, line.length);
        at += line.length;
        assert_int_equal(text[at], '\n');
        at++;
        assert_int_equal(flow.lines.offset, at);
    }
    assert_int_equal(at, size);
    flow_end(&flow);
    free(text);
}

static void test_unreadable(void **state)
{
    (void)state;
    struct lines lines;
    struct text line;
    assert_true(lines_start(&lines, -1, 0, 0));
    assert_int_equal(lines_next(&lines, &line), STATUS_IO_FAILED);
    assert_true(lines.error != 0);
    lines_end(&lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_too_long),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_unreadable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
