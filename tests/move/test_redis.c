/* Taking over from a real redis-server: every layout, sizes, hostile contents, trouble. */
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fake_import.h"
#include "move/redis.h"
#include "redis_server.h"

#define NOW 1800000000U

static struct redis_server server;
static struct import import;
static struct redis_report report;
static struct redis_pattern patterns[REDIS_PATTERNS];
static struct redis_source source;

static void source_make(const char *url)
{
    char problem[512];
    source = (struct redis_source){.patterns = patterns, .time_s = NOW, .timeout_ms = 5000};
    if (!redis_url_parse(url, &source.address, problem, sizeof problem))
        fail_msg("%s", problem);
}

static void want(const char *text)
{
    char problem[2048];
    if (!redis_pattern_parse(text, &patterns[source.pattern_count++], problem, sizeof problem))
        fail_msg("%s", problem);
}

static int start(void **state)
{
    (void)state;
    redis_server_start(&server, "");
    source_make(server.url);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    fake_clear(&import);
    redis_server_stop(&server);
    return 0;
}

static void take_all(void)
{
    enum status status = redis_take_over(&source, &import, &report);
    if (status != STATUS_OK)
        fail_msg("%s: %s", status_name(status), report.problem);
}

static void assert_ends(enum status wanted, const char *because)
{
    enum status status = redis_take_over(&source, &import, &report);
    if (status != wanted || strstr(report.problem, because) == NULL)
        fail_msg("%s: %s", status_name(status), report.problem);
}

static enum status count_two(void *context, struct text item, struct text kind, int64_t *count)
{
    (void)context, (void)item, (void)kind;
    *count = 2;
    return STATUS_OK;
}

static void takes_every_layout(void **state)
{
    (void)state;
    redis_do(&server, "SADD likes:video:7 5 0c4e1b9e-7a1f-4a57-9a37-5bb1b0a1c001");
    redis_do(&server, "SADD user:5:favorites video:7 photo:8");
    redis_do(&server, "ZADD user:6:likes 1700000000 7 1700000001500 8 0 9");
    redis_do(&server, "ZADD likers:photo:3 1700000002.75 user:1 1700000003000000 user:2");
    redis_do(&server, "HSET counts:video:7 like_count 2 views 1200 title x");
    redis_do(&server, "HSET counts:photo:3 like_count 3 views -4");
    redis_do(&server, "HSET shares 7 11 8 9223372036854775807");
    redis_do(&server, "SET plays:7 44");
    want("hash:counts:{type}:{id} fields like_count=like,views=view");
    want("set:likes:video:{id} -> like video");
    want("set:user:{user}:favorites -> favorite");
    want("zset:user:{user}:likes -> like video");
    want("zset:likers:{type}:{id} member user:{user} -> like");
    want("hash:shares -> share video");
    want("string:plays:{id} -> play video");
    source.count = count_two;
    take_all();
    static const char *const rows[] = {
        "like 5 video:7 1800000000",
        "like 0c4e1b9e-7a1f-4a57-9a37-5bb1b0a1c001 video:7 1800000000",
        "favorite 5 video:7 1800000000",
        "favorite 5 photo:8 1800000000",
        "like 6 video:7 1700000000",
        "like 6 video:8 1700000001",
        "like 6 video:9 1800000000",
        "like 1 photo:3 1700000002",
        "like 2 photo:3 1700000003",
        "view video:7 1200",
        "view photo:3 -4",
        "share video:7 11",
        "share video:8 9223372036854775807",
        "play video:7 44",
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (!fake_has(&import, rows[i]))
            fail_msg("missing: %s", rows[i]);
    assert_int_equal(import.count, sizeof rows / sizeof rows[0]);
    assert_int_equal(import.untimed, 5);
    /* Those with times first, counters last, whatever the order of patterns. */
    for (size_t i = 0; i < 9; i++)
        assert_true((strstr(import.lines[i], " 17000000") != NULL ||
                     strcmp(import.lines[i], "like 6 video:9 1800000000") == 0) == (i < 5));
    for (size_t i = 9; i < 14; i++)
        assert_true(strncmp(import.lines[i], "like", 4) != 0);
    assert_int_equal(report.rows, import.count);
    assert_int_equal(report.keys, 8);
    assert_int_equal(report.keys_total, 8);
    assert_int_equal(report.fields_left, 1);
    assert_int_equal(report.compared, 2);
    assert_int_equal(report.differences, 1);
    assert_string_equal(report.difference[0],
                        "photo:3 like: 3 in key 'counts:photo:3', 2 by the reactions");
    assert_string_equal(report.unused, "");
    assert_int_equal(report.bad_rows + report.bad_keys + report.keys_other, 0);
}

static void pipeline_end(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        redisReply *reply;
        assert_int_equal(redisGetReply(server.control, (void **)&reply), REDIS_OK);
        assert_int_not_equal(reply->type, REDIS_REPLY_ERROR);
        freeReplyObject(reply);
    }
}

static bool count_tells(void *context, const struct redis_report *told)
{
    assert_true(told->keys_looked <= told->keys_total);
    ++*(unsigned *)context;
    return true;
}

static void takes_many_and_large(void **state)
{
    (void)state;
    unsigned tells = 0;
    for (unsigned i = 0; i < 150000; i++) {
        redisAppendCommand(server.control, "SADD likes:1 %u", i);
        if (i % 1000 == 999)
            pipeline_end(1000);
    }
    for (unsigned i = 0; i < 20000; i++) {
        redisAppendCommand(server.control, "ZADD user:%u:likes %u %u", i, 1700000000 + i, i * 7);
        if (i % 1000 == 999)
            pipeline_end(1000);
    }
    want("set:likes:{id} -> like video");
    want("zset:user:{user}:likes -> like video");
    source.tell = count_tells;
    source.context = &tells;
    take_all();
    assert_false(report.cluster);
    assert_int_equal(report.keys, 20001);
    assert_int_equal(fake_distinct(&import), 170000);
    assert_true(report.rows >= 170000);
    assert_true(tells > 150);
    assert_true(fake_has(&import, "like 149999 video:1 1800000000"));
    assert_true(fake_has(&import, "like 19999 video:139993 1700019999"));
}

static void refuses_bad_contents(void **state)
{
    (void)state;
    want("set:likes:{id} -> like video");
    redis_do(&server, "SADD likes:1 7 %b", "\x1b[31m\0{}*\n", (size_t)9);
    assert_ends(STATUS_BAD_ARGUMENT, "key 'likes:1', member '\\x1b[31m\\x00{}*': ");
    redis_do(&server, "DEL likes:1");
    redis_do(&server, "SADD likes:abc 7");
    assert_ends(STATUS_BAD_ARGUMENT, "key 'likes:abc': ");
    redis_do(&server, "DEL likes:abc");
    redis_do(&server, "SET likes:2 7");
    assert_ends(STATUS_BAD_ARGUMENT, "key 'likes:2': it is not a set");
    redis_do(&server, "SADD likes:1 7");
    redis_do(&server, "SADD likes:3 x y z 8");
    redis_do(&server, "SADD likes:%b 9", "\xff\0", (size_t)2);
    redis_do(&server, "SADD likes:3:daily 9");
    fake_clear(&import);
    source.skip_bad = true;
    take_all();
    assert_int_equal(import.count, 2);
    assert_int_equal(report.keys, 2);
    assert_int_equal(report.bad_keys, 2);
    assert_int_equal(report.bad_rows, 3);
    assert_int_equal(report.keys_other, 1);
    assert_string_equal(report.first_other, "likes:3:daily");
    assert_true(report.first_bad[0] != '\0');
}

static void refuses_bad_numbers(void **state)
{
    (void)state;
    static const char *const scores[] = {"5",          "-1700000000", "inf",  "-inf",
                                         "4294967296", "99999999",    "5e12", "1e300"};
    want("zset:user:{user}:likes -> like video");
    for (size_t i = 0; i < sizeof scores / sizeof scores[0]; i++) {
        redis_do(&server, "ZADD user:1:likes %s 7", scores[i]);
        assert_ends(STATUS_BAD_ARGUMENT, "not a time");
    }
    static const char *const values[] = {
        "x", "1.5", " 5", "+5", "", "0x10", "1e3", "9223372036854775808", "5 "};
    source.pattern_count = 0;
    want("hash:counts:{type}:{id}");
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        redis_do(&server, "HSET counts:video:1 view %s", values[i]);
        assert_ends(STATUS_BAD_ARGUMENT, "not a 64-bit integer");
    }
    redis_do(&server, "HSET counts:video:1 view 5 Bad 6");
    assert_ends(STATUS_BAD_ARGUMENT, "not a counter");
    source.pattern_count = 0;
    want("string:views:{id} -> view video");
    static char large[100000];
    memset(large, '1', sizeof large - 1);
    redis_do(&server, "SET views:1 %s", large);
    assert_ends(STATUS_BAD_ARGUMENT, "not a 64-bit integer");
}

/* Keys with braces and characters of globs are found, and only those. */
static void takes_odd_keys(void **state)
{
    (void)state;
    redis_do(&server, "SADD %s 1", "{video:5}:li*k?e[s]\\");
    redis_do(&server, "SADD %s 2", "{video:6}:liXkYes\\");
    redis_do(&server, "SADD %s 3", "{video:7}:lixxk?e[s]\\");
    want("set:\\{video:{id}\\}:li*k?e[s]\\\\ -> like video");
    take_all();
    assert_int_equal(import.count, 1);
    assert_true(fake_has(&import, "like 1 video:5 1800000000"));
    assert_int_equal(report.keys_other, 0);
}

static void says_what_was_not_found(void **state)
{
    (void)state;
    redis_do(&server, "SADD likes:1 7");
    want("set:likes:{id} -> like video");
    want("hash:views -> view video");
    take_all();
    assert_string_equal(report.unused, "hash:views -> view video");
    source.pattern_count = 0;
    want("set:lieks:{id} -> like video");
    take_all();
    assert_string_equal(report.unused, "set:lieks:{id} -> like video");
}

static bool stop_there(void *context, const struct redis_report *told)
{
    (void)context;
    return told->rows < 10000;
}

static bool kill_there(void *context, const struct redis_report *told)
{
    (void)context;
    if (told->rows >= 10000)
        redis_server_kill(&server);
    return true;
}

static void ends_where_it_must(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 100000; i++)
        redisAppendCommand(server.control, "SADD likes:%u %u", i % 3, i);
    pipeline_end(100000);
    want("set:likes:{id} -> like video");
    source.tell = stop_there;
    assert_ends(STATUS_STOPPING, "stopped");
    assert_true(import.count >= 10000 && import.count < 20000);
    source.tell = NULL;
    fake_clear(&import);
    import.fails_after = 5000;
    assert_ends(STATUS_DISK_FULL, "the disk is full");
    assert_int_equal(import.count, 5000);
    fake_clear(&import);
    source.tell = kill_there;
    assert_ends(STATUS_IO_FAILED, "lost");
    assert_true(import.count < 100000);
    assert_ends(STATUS_IO_FAILED, "cannot connect");
}

static void speaks_of_passwords(void **state)
{
    (void)state;
    redis_server_stop(&server);
    redis_server_start(&server, "sesame");
    redis_do(&server, "SELECT 3");
    redis_do(&server, "SADD likes:1 7");
    redis_do(&server, "ACL SETUSER reader on >open +@all -info -dbsize ~*");
    source_make(server.tcp_url);
    want("set:likes:{id} -> like video");
    assert_ends(STATUS_NO_AUTH, "LAUD_REDIS_PASSWORD");
    strcpy(source.address.password, "wrong-word");
    assert_ends(STATUS_NO_AUTH, "does not take");
    assert_null(strstr(report.problem, "wrong-word"));
    strcpy(source.address.password, "sesame");
    take_all();
    assert_string_equal(report.unused, patterns[0].text);
    source.address.database = 3;
    take_all();
    assert_int_equal(import.count, 1);
    strcpy(source.address.user, "reader");
    assert_ends(STATUS_NO_AUTH, "does not take");
    strcpy(source.address.password, "open");
    take_all();
    assert_int_equal(import.count, 2);
    redis_do(&server, "ACL SETUSER reader -sscan");
    assert_ends(STATUS_NO_AUTH, "does not allow");
    source.address.database = 60000;
    assert_ends(STATUS_IO_FAILED, "no database of this number");
    redis_do(&server, "CONFIG SET requirepass %s", "");
    source.address.user[0] = '\0';
    assert_ends(STATUS_NO_AUTH, "no password set");
}

static void pretended(const char *answer, int times, enum status status, const char *because)
{
    redis_server_pretend(&server, answer, times);
    source_make(server.url);
    source.timeout_ms = 300;
    want("set:likes:{id} -> like video");
    assert_ends(status, because);
    redis_server_stop(&server);
}

static void stands_other_answers(void **state)
{
    (void)state;
    redis_server_stop(&server);
    static char large[3 << 20];
    memset(large, 'x', sizeof large - 1);
    memcpy(large, "$1000000000\r\n", 13);
    pretended("-LOADING Redis is loading the dataset in memory\r\n", 9, STATUS_TOO_BUSY, "loading");
    pretended("-MOVED 7 1.2.3.4:5\r\n", 9, STATUS_IO_FAILED, "once for each master");
    pretended("-ERR \x1b[31m\r\n", 9, STATUS_IO_FAILED, "\\x1b[31m");
    pretended("HTTP/1.1 400 Bad Request\r\n\r\n", 9, STATUS_BAD_PROTOCOL, "protocol of Redis");
    pretended("+OK\r\n", 9, STATUS_BAD_PROTOCOL, "does not fit the command");
    pretended("+OK\r\n", 2, STATUS_IO_FAILED, "lost");
    pretended("*2\r\n$1\r\n5\r\n*1\r\n:7\r\n", 9, STATUS_BAD_PROTOCOL, "does not fit the command");
    pretended("*2\r\n$-1\r\n*0\r\n", 9, STATUS_BAD_PROTOCOL, "does not fit the command");
    pretended("*2147483647\r\n", 9, STATUS_IO_FAILED, "Out of memory");
    pretended("*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n", 9,
              STATUS_BAD_PROTOCOL, "protocol of Redis");
    pretended("$10\r\nhalf", 9, STATUS_IO_FAILED, "no answer");
    pretended("", 9, STATUS_IO_FAILED, "no answer");
    pretended(large, 1, STATUS_IO_FAILED, "lost");
    redis_server_start(&server, "");
}

static void knows_a_cluster(void **state)
{
    (void)state;
    redis_server_stop(&server);
    redis_server_start_node(&server);
    source_make(server.url);
    redis_do(&server, "SADD likes:1 7");
    redis_do(&server, "SADD likes:2 7");
    want("set:likes:{id} -> like video");
    take_all();
    assert_true(report.cluster);
    assert_int_equal(import.count, 2);
    redis_do(&server, "CLUSTER DELSLOTSRANGE 0 16383");
    assert_ends(STATUS_IO_FAILED, "cluster that is down");
    source.address.database = 1;
    assert_ends(STATUS_IO_FAILED, "database 0 alone");
}

/* One answer never takes more memory than its bound: a value of 40 MiB is not read to its end. */
static void bounds_an_answer(void **state)
{
    (void)state;
    redis_do(&server, "SETRANGE large %d x", 40 << 20);
    redis_do(&server, "EVAL %s 0", "redis.call('SADD', 'likes:1', redis.call('GET', 'large'))");
    want("set:likes:{id} -> like video");
    assert_ends(STATUS_IO_FAILED, "larger than 32 MiB");
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(takes_every_layout, start, stop),
        cmocka_unit_test_setup_teardown(takes_many_and_large, start, stop),
        cmocka_unit_test_setup_teardown(refuses_bad_contents, start, stop),
        cmocka_unit_test_setup_teardown(refuses_bad_numbers, start, stop),
        cmocka_unit_test_setup_teardown(takes_odd_keys, start, stop),
        cmocka_unit_test_setup_teardown(says_what_was_not_found, start, stop),
        cmocka_unit_test_setup_teardown(ends_where_it_must, start, stop),
        cmocka_unit_test_setup_teardown(speaks_of_passwords, start, stop),
        cmocka_unit_test_setup_teardown(stands_other_answers, start, stop),
        cmocka_unit_test_setup_teardown(knows_a_cluster, start, stop),
        cmocka_unit_test_setup_teardown(bounds_an_answer, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
