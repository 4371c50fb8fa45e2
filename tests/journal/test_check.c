/* `laud check`, as a process: what it prints and how it exits. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/names.h"
#include "cli/check.h"
#include "comment/body.h"
#include "helper.h"

static char data[64];
static char journal[80];
static char output[8192];
static char errors[8192];

static void read_back(FILE *file, char text[8192])
{
    rewind(file);
    text[fread(text, 1, 8191, file)] = '\0';
    fclose(file);
}

/* Runs check_main in a child; its exit status. */
static int check(const char *first, const char *second)
{
    char *argv[] = {"check", (char *)(uintptr_t)first, (char *)(uintptr_t)second, NULL};
    int argc = first == NULL ? 1 : second == NULL ? 2 : 3;
    FILE *out = tmpfile();
    FILE *err = tmpfile();
    int status;
    assert_true(out != NULL && err != NULL);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        dup2(fileno(out), 1);
        dup2(fileno(err), 2);
        int result = check_main(argc, argv);
        fflush(NULL);
        _exit(result);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    read_back(out, output);
    read_back(err, errors);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void append(struct journal *port, struct event event)
{
    if (event_is_long(&event))
        assert_int_equal(journal_reserve(port, event_bytes_max(&event)), STATUS_OK);
    else
        assert_int_equal(journal_admit(port, LIMIT_EVENT_BYTES), STATUS_OK);
    journal_append(port, &event);
    journal_kick(port);
}

/* One event about a user, and one about a comment, of which no text may be shown. */
static void append_comments(struct journal *port)
{
    static uint8_t bytes[COMMENT_BODY_BYTES];
    const struct comment_body seen = {.seen = 4};
    const struct comment_body hidden = {.has_comment = true,
                                        .comment = {.id = 9000,
                                                    .subject = {.id = {.lo = 42}},
                                                    .root = 8000,
                                                    .floor = 3,
                                                    .moderation = COMMENT_HIDDEN,
                                                    .deleted = true},
                                        .reason = {"secret", 6},
                                        .subject_delta = -1,
                                        .root_delta = -1};
    struct event comment = {.type = EVENT_COMMENT, .time_s = 11, .user = {0, 7}, .body = bytes};
    comment.name = COMMENT_EVENT_SEEN;
    comment.body_length = (uint32_t)comment_body_encode(COMMENT_EVENT_SEEN, &seen, bytes);
    append(port, comment);
    comment.name = COMMENT_EVENT_STATE;
    comment.item.id.lo = 42;
    comment.body_length = (uint32_t)comment_body_encode(COMMENT_EVENT_STATE, &hidden, bytes);
    append(port, comment);
}

static struct event define(enum name_role role, uint16_t index, const char *text)
{
    struct event event = {.type = EVENT_DEFINE, .name = (uint8_t)role, .index = index, .time_s = 5};
    event.text_length = (uint8_t)strlen(text);
    memcpy(event.text, text, event.text_length);
    return event;
}

static int setup(void **state)
{
    (void)state;
    directory_make(data);
    snprintf(journal, sizeof journal, "%s/journal", data);
    struct journal_file_options options = {
        .directory = journal, .durability = DURABILITY_COMMIT, .segment_bytes = SMALL_SEGMENT};
    struct journal_tuning tuning = small_tuning();
    tuning.long_max = 256; /* the event about a comment */
    struct journal_report report;
    struct journal *port;
    assert_int_equal(journal_file_open_tuned(&options, &tuning, NULL, &report, &port), STATUS_OK);
    append(port, define(NAME_TYPE, 0, "video"));
    append(port, define(NAME_KIND, 2, "dislike"));
    append(port, define(NAME_COUNTER, 3, "view"));
    struct event set = {.type = EVENT_SET, .time_s = 9, .user = {0, 7}, .cleared_count = 1};
    set.item.id.lo = 42;
    set.cleared[0] = 2;
    append(port, set);
    set.type = EVENT_CLEAR;
    set.cleared_count = 0;
    set.cleared[0] = 0;
    append(port, set);
    struct event add = {.type = EVENT_ADD, .name = 3, .delta = -5, .has_token = true};
    add.item.id = (struct id){0x0123456789abcdef, 0x8899aabbccddeeff};
    add.token[0] = 0xa;
    add.token[1] = 0xb;
    append(port, add);
    append_comments(port);
    journal_close(port);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    directory_remove(data);
    return 0;
}

static void test_a_clean_directory(void **state)
{
    (void)state;
    assert_int_equal(check(data, NULL), 0);
    assert_non_null(strstr(output, "segments    1"));
    assert_non_null(strstr(output, "events      8"));
    assert_non_null(strstr(output, "positions   0 to 408\n"));
    assert_non_null(strstr(output, "result      clean"));
    assert_string_equal(errors, "");
}

static void test_the_dump(void **state)
{
    (void)state;
    assert_int_equal(check("--dump", data), 0);
    static const char expected[] =
        "{\"position\":0,\"type\":\"define\",\"time\":5,\"role\":\"type\",\"index\":0,"
        "\"name\":\"video\"}\n"
        "{\"position\":24,\"type\":\"define\",\"time\":5,\"role\":\"kind\",\"index\":2,"
        "\"name\":\"dislike\"}\n"
        "{\"position\":48,\"type\":\"define\",\"time\":5,\"role\":\"counter\",\"index\":3,"
        "\"name\":\"view\"}\n"
        "{\"position\":72,\"type\":\"set\",\"time\":9,\"user\":\"7\",\"kind\":\"like\","
        "\"item\":\"video:42\",\"cleared\":[\"dislike\"]}\n"
        "{\"position\":112,\"type\":\"clear\",\"time\":9,\"user\":\"7\",\"kind\":\"like\","
        "\"item\":\"video:42\"}\n"
        "{\"position\":144,\"type\":\"add\",\"time\":0,\"counter\":\"view\","
        "\"item\":\"video:01234567-89ab-cdef-8899-aabbccddeeff\",\"delta\":-5,"
        "\"token\":\"000000000000000a000000000000000b\"}\n"
        "{\"position\":200,\"type\":\"comment\",\"time\":11,\"user\":\"7\",\"change\":\"seen\","
        "\"bytes\":5}\n"
        "{\"position\":240,\"type\":\"comment\",\"time\":11,\"user\":\"7\",\"change\":\"state\","
        "\"item\":\"video:42\",\"comment\":\"9000\",\"root\":\"8000\",\"floor\":3,"
        "\"state\":\"hidden\",\"deleted\":true,\"delta\":-1,\"root_delta\":-1,\"bytes\":134}\n";
    assert_string_equal(output, expected);
    assert_non_null(strstr(errors, "result      clean"));
}

static void write_at(const char *name, off_t offset, const char *bytes)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", journal, name);
    int fd = open(path, O_WRONLY);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, bytes, strlen(bytes), offset), strlen(bytes));
    close(fd);
}

static void test_damage_is_named(void **state)
{
    (void)state;
    write_at("0000000001.seg", SEGMENT_HEADER_BYTES + BATCH_HEADER_BYTES + 9, "x");
    assert_int_equal(check(data, NULL), 1);
    assert_non_null(strstr(errors, "damaged: journal segment 0000000001.seg, offset 4096"));
    assert_non_null(strstr(output, "result      damaged"));
}

static void test_a_torn_tail_is_reported_and_left(void **state)
{
    (void)state;
    char path[128];
    struct stat before;
    struct stat after;
    snprintf(path, sizeof path, "%s/0000000001.seg", journal);
    assert_int_equal(stat(path, &before), 0);
    write_at("0000000001.seg", before.st_size, "half a batch");
    assert_int_equal(check(data, NULL), 0);
    assert_non_null(strstr(output, "torn tail   12 bytes in 0000000001.seg at offset "));
    assert_non_null(
        strstr(output, "was not durable yet: its events were never acknowledged; the next start"));
    assert_int_equal(stat(path, &after), 0);
    assert_int_equal(after.st_size, before.st_size + 12);
}

/* Makes the segment one that was written with another durability. */
static void set_promise(uint32_t promise)
{
    uint8_t block[SEGMENT_HEADER_BYTES];
    char path[128];
    snprintf(path, sizeof path, "%s/0000000001.seg", journal);
    int fd = open(path, O_RDWR);
    assert_true(fd >= 0);
    assert_int_equal(pread(fd, block, sizeof block, 0), sizeof block);
    block[56] = (uint8_t)promise;
    segment_header_restamp(block);
    assert_int_equal(pwrite(fd, block, sizeof block, 0), sizeof block);
    close(fd);
}

static void test_what_a_torn_tail_held_may_have_been_acknowledged(void **state)
{
    (void)state;
    struct stat before;
    char path[128];
    snprintf(path, sizeof path, "%s/0000000001.seg", journal);
    assert_int_equal(stat(path, &before), 0);
    write_at("0000000001.seg", before.st_size, "half a batch");
    static const struct {
        uint32_t promise;
        const char *says;
    } cases[] = {
        {JOURNAL_PROMISE_INTERVAL, "may have been acknowledged, because they were written with "
                                   "--durability interval"},
        {JOURNAL_PROMISE_NONE, "may have been acknowledged, because they were written with "
                               "--durability none"},
        {JOURNAL_PROMISE_UNKNOWN, "never acknowledged, unless they were written with"},
        {200, "never acknowledged, unless they were written with"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        set_promise(cases[i].promise);
        assert_int_equal(check(data, NULL), 0);
        assert_non_null(strstr(output, cases[i].says));
    }
}

static void test_a_running_server_is_respected(void **state)
{
    (void)state;
    char problem[256];
    int lock = lock_take(data, false, problem, sizeof problem);
    assert_true(lock >= 0);
    char pid[32];
    snprintf(pid, sizeof pid, "process %ld", (long)getpid());
    assert_int_equal(lock_take(data, false, problem, sizeof problem), -1);
    assert_non_null(strstr(problem, pid));
    assert_int_equal(check(data, NULL), 2);
    assert_non_null(strstr(errors, pid));
    close(lock);
    assert_int_equal(check(data, NULL), 0);
    lock = lock_take(data, true, problem, sizeof problem);
    assert_int_equal(check(data, NULL), 0); /* readers do not mind each other */
    assert_int_equal(lock_take(data, false, problem, sizeof problem), -1);
    close(lock);
}

static void test_what_cannot_be_checked(void **state)
{
    (void)state;
    assert_int_equal(check(NULL, NULL), 2);
    assert_int_equal(check("--what", data), 2);
    assert_int_equal(check(data, data), 2);
    assert_int_equal(check("/nonexistent", NULL), 2);
    assert_int_equal(check(journal, NULL), 2); /* there is no journal/journal */
    assert_int_equal(check("--help", NULL), 0);
    assert_non_null(strstr(output, "Usage: laud check"));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_a_clean_directory),
        CASE(test_the_dump),
        CASE(test_damage_is_named),
        CASE(test_a_torn_tail_is_reported_and_left),
        CASE(test_what_a_torn_tail_held_may_have_been_acknowledged),
        CASE(test_a_running_server_is_respected),
        CASE(test_what_cannot_be_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
