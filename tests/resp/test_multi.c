/*
 * Transactions on real sockets: run in order as a whole, or not at all where a command was refused when
 * it came; answered by one array once all of it is on disk; and bounded.
 */
#include "net/fake.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/io.h"
#include "net/loop.h"

#define EXECABORT "-EXECABORT Transaction discarded because of previous errors.\r\n"

static struct fake fake;

/* After this, whatever was sent before on that connection or the other has been run. */
static void pass_a_turn(int client)
{
    client_send(client, "PING\r\n");
    client_expect(client, "+PONG\r\n");
}

static void commands_are_kept_and_answered_by_one_array(void **state)
{
    (void)state;
    int client = client_open(&fake);
    client_send(client, "multi\r\nLIKE 1 video:1\r\nPING\r\n*2\r\n$4\r\nECHO\r\n$2\r\n\r\n\r\n");
    client_expect(client, "+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n");
    assert_int_equal(journal_appended(fake.journal), 0);
    client_send(client, "LIKED 1 video:1 video:2\r\nLIKE x video:1\r\nexec\r\nPING\r\n");
    client_expect(client, "+QUEUED\r\n+QUEUED\r\n*5\r\n:1\r\n+PONG\r\n$2\r\n\r\n\r\n"
                          "*2\r\n:1\r\n:0\r\n-ERR a user must be");
    assert_true(journal_released(fake.journal) > 0);
    char line[256];
    client_read_line(client, line, sizeof line);
    client_expect(client, "+PONG\r\n");
    client_send(client, "MULTI\r\nEXEC\r\n");
    client_expect(client, "+OK\r\n*0\r\n");
    close(client);
}

static void commands_inside_are_counted_once(void **state)
{
    (void)state;
    int client = client_open(&fake);
    client_send(client, "MULTI\r\nLIKE 1 video:1\r\nLIKED 1 video:1000001\r\nNOPE\r\nEXEC\r\n"
                        "MULTI\r\nLIKE 1 video:1\r\nLIKED 1 video:1000001\r\nPING\r\nEXEC\r\n");
    fake_gate(&fake, true);
    client_expect(client, "+OK\r\n+QUEUED\r\n+QUEUED\r\n-ERR unknown command 'NOPE', COMMAND LIST "
                          "shows all commands\r\n" EXECABORT "+OK\r\n+QUEUED\r\n+QUEUED\r\n"
                          "+QUEUED\r\n*3\r\n:1\r\n*1\r\n:1\r\n+PONG\r\n");
    close(client);
    server_stop(&fake.server);
    assert_int_equal(fake.server.loops[0].stats.commands, 8); /* MULTI NOPE EXEC MULTI … EXEC */
    assert_int_equal(fake.server.loops[0].stats.errors, 2);
}

/* With a worker in between, nothing leaves before all of it is there, and nothing overtakes it. */
static void nothing_of_it_leaves_before_all_of_it_is_there(void **state)
{
    (void)state;
    int client = client_open(&fake), other = client_open(&fake);
    client_send(client, "PING\r\nMULTI\r\nLIKE 1 video:1\r\nLIKED 1 video:1000001\r\n"
                        "LIKE 1 video:1000003\r\nPING\r\nEXEC\r\nECHO behind\r\n");
    client_expect(client, "+PONG\r\n+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n");
    fake_await_inside(&fake, 1);
    pass_a_turn(other);
    client_expect_none(client);
    client_send(client, "ECHO later\r\n");
    fake_gate(&fake, true);
    client_expect(client, "*4\r\n:1\r\n*1\r\n:1\r\n:1\r\n+PONG\r\n$6\r\nbehind\r\n$5\r\nlater\r\n");
    assert_int_equal(journal_released(fake.journal), journal_appended(fake.journal));
    close(client);
    close(other);
}

static void one_that_was_refused_when_it_came_aborts_all(void **state)
{
    (void)state;
    static const char *const refused[] = {"NOPE",    "LIKE 1", "PING 1 2",
                                          "MULTI 1", "EXEC 1", "WATCH"};
    char line[256];
    int client = client_open(&fake);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        client_send(client, "MULTI\r\nLIKE 1 video:1\r\n");
        client_expect(client, "+OK\r\n+QUEUED\r\n");
        client_send(client, refused[i]);
        client_send(client, "\r\nLIKE 2 video:1\r\nEXEC\r\n");
        client_read_line(client, line, sizeof line);
        assert_int_equal(strncmp(line, "-ERR ", 5), 0);
        client_expect(client, "+QUEUED\r\n" EXECABORT);
    }
    assert_int_equal(journal_appended(fake.journal), 0);
    close(client);
}

static void what_redis_refuses_is_refused_in_its_words(void **state)
{
    (void)state;
    int client = client_open(&fake);
    client_send(client, "EXEC\r\nDISCARD\r\nUNWATCH\r\nWATCH video:1\r\n");
    client_expect(client, "-ERR EXEC without MULTI\r\n-ERR DISCARD without MULTI\r\n+OK\r\n"
                          "-ERR WATCH is not supported");
    char line[256];
    client_read_line(client, line, sizeof line);
    client_send(client, "MULTI\r\nMULTI\r\nWATCH a\r\nUNWATCH\r\nEXEC\r\n");
    client_expect(client, "+OK\r\n-ERR MULTI calls can not be nested\r\n"
                          "-ERR WATCH inside MULTI is not allowed\r\n+QUEUED\r\n*1\r\n+OK\r\n");
    client_send(client, "MULTI\r\nLIKE 1 video:1\r\nDISCARD\r\nEXEC\r\n");
    client_expect(client, "+OK\r\n+QUEUED\r\n+OK\r\n-ERR EXEC without MULTI\r\n");
    client_send(client, "MULTI\r\nLIKE 1 video:1\r\nRESET\r\nEXEC\r\n");
    client_expect(client, "+OK\r\n+QUEUED\r\n+RESET\r\n-ERR EXEC without MULTI\r\n");
    client_send(client, "MULTI\r\nLIKE 1 video:1\r\nQUIT\r\n");
    client_expect(client, "+OK\r\n+QUEUED\r\n+OK\r\n");
    client_expect_end(client);
    assert_int_equal(journal_appended(fake.journal), 0);
    close(client);
}

static void hello_inside_changes_what_comes_behind_it(void **state)
{
    (void)state;
    int client = client_open(&fake);
    client_send(client,
                "MULTI\r\nCOUNTS video:1\r\nHELLO 9\r\nHELLO 3\r\nCOUNTS video:1\r\nEXEC\r\n");
    client_expect(client, "+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n*4\r\n"
                          "*1\r\n*2\r\n$7\r\ncomment\r\n:1\r\n-NOPROTO ");
    char line[256];
    do {
        client_read_line(client, line, sizeof line);
    } while (strcmp(line, "modules") != 0);
    client_expect(client, "*0\r\n*1\r\n%1\r\n$7\r\ncomment\r\n:1\r\n");
    close(client);
}

/* Bounds */

static void send_many(int client, const char *line, uint32_t count)
{
    size_t length = strlen(line);
    char *all = malloc(count * length + 1);
    assert_non_null(all);
    for (uint32_t i = 0; i < count; i++)
        memcpy(all + i * length, line, length + 1);
    client_send(client, all);
    free(all);
}

static void expect_many(int client, const char *reply, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        client_expect(client, reply);
}

#define FULL "-ERR a transaction takes at most 65536 commands and 8 MiB, send EXEC more often\r\n"

static void only_so_many_commands_are_kept(void **state)
{
    (void)state;
    int client = client_open(&fake);
    client_send(client, "MULTI\r\n");
    send_many(client, "LIKE 1 video:1\r\n", LIMIT_MULTI);
    client_expect(client, "+OK\r\n");
    expect_many(client, "+QUEUED\r\n", LIMIT_MULTI);
    client_send(client, "PING\r\nEXEC\r\n");
    client_expect(client, FULL EXECABORT);
    assert_int_equal(journal_appended(fake.journal), 0);
    client_send(client, "MULTI\r\n");
    send_many(client, "PING\r\n", LIMIT_MULTI);
    client_expect(client, "+OK\r\n");
    expect_many(client, "+QUEUED\r\n", LIMIT_MULTI);
    client_send(client, "EXEC\r\n");
    client_expect(client, "*65536\r\n");
    expect_many(client, "+PONG\r\n", LIMIT_MULTI);
    close(client);
}

/* The words of one command; more than those that fit LIMIT_MULTI_BYTES are sent. */
static void send_large(int client, uint32_t count)
{
    enum { LENGTH = 60000 };
    static char command[LENGTH + 64];
    int at = snprintf(command, sizeof command, "*2\r\n$4\r\nECHO\r\n$%d\r\n", LENGTH);
    memset(command + at, 'x', LENGTH);
    memcpy(command + at + LENGTH, "\r\n", 3);
    for (uint32_t i = 0; i < count; i++) {
        client_send(client, command);
        client_expect(client, "+QUEUED\r\n");
    }
}

static void only_so_many_bytes_are_kept(void **state)
{
    (void)state;
    int client = client_open(&fake);
    client_send(client, "MULTI\r\n");
    client_expect(client, "+OK\r\n");
    send_large(client, 139);
    uint64_t used = memory_used(&fake.budget);
    assert_true(used > LIMIT_MULTI_BYTES && used < 4 * LIMIT_MULTI_BYTES);
    static char last[LIMIT_INLINE];
    memset(last, 'x', sizeof last - 1);
    memcpy(last, "ECHO ", 5);
    last[15000] = '\0';
    for (int i = 0; i < 4; i++) {
        client_send(client, last);
        client_send(client, "\r\n");
        client_expect(client, i < 3 ? "+QUEUED\r\n" : FULL);
    }
    client_send(client, "EXEC\r\n");
    client_expect(client, EXECABORT);
    close(client);
}

static void without_memory_it_is_refused(void **state)
{
    (void)state;
    int client = client_open(&fake);
    client_send(client, "MULTI\r\nPING\r\n");
    client_expect(client, "+OK\r\n+QUEUED\r\n");
    send_large(client, 4);
    uint64_t taken = fake.budget.limit - memory_used(&fake.budget);
    assert_true(memory_charge_connection(&fake.budget, taken));
    bool busy = false;
    for (int i = 0; !busy && i < 1000; i++) {
        char line[128];
        client_send(client, "ECHO "
                            "0123456789012345678901234567890123456789012345678901234567890123456789"
                            "0123456789012345678901234567890123456789012345678901234567890123456789"
                            "\r\n");
        client_read_line(client, line, sizeof line);
        busy = strcmp(line, "-BUSY the server is over capacity, try again") == 0;
        assert_true(busy || strcmp(line, "+QUEUED") == 0);
    }
    assert_true(busy);
    client_send(client, "EXEC\r\n");
    client_expect(client, EXECABORT);
    memory_release_connection(&fake.budget, taken);
    close(client);
}

/* The replies are larger than what a connection is read on with, and leave all the same. */
static void a_large_answer_is_sent(void **state)
{
    (void)state;
    int client = client_open(&fake);
    client_send(client, "MULTI\r\n");
    client_expect(client, "+OK\r\n");
    send_large(client, 50);
    client_send(client, "EXEC\r\nPING\r\n");
    client_expect(client, "*50\r\n");
    static char got[60000 + 10];
    for (int i = 0; i < 50; i++)
        assert_int_equal(recv(client, got, sizeof got, MSG_WAITALL), sizeof got);
    client_expect(client, "+PONG\r\n");
    close(client);
}

static void a_large_one_has_to_be_finished_in_time(void **state)
{
    (void)state;
    fake_init(&fake);
    fake.options.slow_timeout_ms = 3000; /* for the test too */
    fake_start(&fake);
    int small = client_open(&fake), large = client_open(&fake);
    client_send(small, "MULTI\r\nLIKE 1 video:1\r\n");
    client_send(large, "MULTI\r\n");
    client_expect(large, "+OK\r\n");
    client_expect(small, "+OK\r\n+QUEUED\r\n");
    send_large(large, 1);
    client_expect_end(large);
    client_send(small, "EXEC\r\n");
    client_expect(small, "*1\r\n:1\r\n");
    close(small);
    close(large);
    fake_stop(&fake);
}

/* What may not run now */

static void where_no_write_would_pass_all_are_refused(void **state)
{
    (void)state;
    fake_init(&fake);
    fake.admission.lag_slow = 1;
    fake.admission.lag_max = 2;
    fake_start(&fake);
    int client = client_open(&fake);
    client_send(client, "LIKE 1 video:1\r\nMULTI\r\nLIKED 1 video:1\r\nEXEC\r\n");
    client_expect(client, ":1\r\n+OK\r\n+QUEUED\r\n*1\r\n*1\r\n:1\r\n");
    client_send(client, "MULTI\r\nLIKED 1 video:1\r\nLIKE 2 video:1\r\nEXEC\r\nEXEC\r\n");
    client_expect(client,
                  "+OK\r\n+QUEUED\r\n+QUEUED\r\n-EXECABORT Transaction discarded because of: "
                  "BUSY the store is too far behind, try again later\r\n"
                  "-ERR EXEC without MULTI\r\n");
    close(client);
    fake_stop(&fake);
}

/* Each waits for the guard's leave, and none comes between those of one connection. */
static void writes_inside_wait_for_the_store(void **state)
{
    (void)state;
    fake_init(&fake);
    fake.admission.lag_slow = 1;
    fake.admission.lag_max = MIB(1);
    fake_start(&fake);
    fake_gate(&fake, true);
    int client = client_open(&fake);
    client_send(client, "MULTI\r\n");
    for (int i = 0; i < 100; i++)
        client_send(client, i % 8 == 5 ? "LIKE 1 video:1000001\r\n" : "LIKE 1 video:1\r\n");
    client_send(client, "EXEC\r\nPING\r\n");
    client_expect(client, "+OK\r\n");
    expect_many(client, "+QUEUED\r\n", 100);
    client_expect(client, "*100\r\n");
    expect_many(client, ":1\r\n", 100);
    client_expect(client, "+PONG\r\n");
    close(client);
    fake_stop(&fake);
}

static void limits_hold_inside(void **state)
{
    (void)state;
    enum { COUNT = 3 * LIMIT_REFUSALS }; /* so it rests in between */
    char line[128];
    int refused = 0;
    fake_init(&fake);
    fake.options.limit_user_read = (struct rate){.per_s = 1, .burst = 1};
    fake_start(&fake);
    int client = client_open(&fake);
    client_send(client, "MULTI\r\n");
    send_many(client, "LIKED 7 video:1\r\n", COUNT);
    client_send(client, "EXEC\r\nPING\r\n");
    client_expect(client, "+OK\r\n");
    expect_many(client, "+QUEUED\r\n", COUNT);
    client_expect(client, "*96\r\n");
    for (int i = 0; i < COUNT; i++) {
        client_read_line(client, line, sizeof line);
        if (strcmp(line, "*1") == 0)
            client_expect(client, ":1\r\n");
        else
            refused += strncmp(line, "-LIMIT retry after ", 19) == 0;
    }
    assert_in_range(refused, 1, COUNT - 1);
    client_expect(client, "+PONG\r\n");
    close(client);
    fake_stop(&fake);
}

static void a_client_may_leave_in_the_middle(void **state)
{
    (void)state;
    int client = client_open(&fake), other = client_open(&fake);
    client_send(client, "MULTI\r\nLIKED 1 video:1000001\r\nLIKE 1 video:1\r\nEXEC\r\n");
    fake_await_inside(&fake, 1);
    close(client);
    client = client_open(&fake);
    client_send(client, "MULTI\r\nLIKE 1 video:1\r\n");
    client_expect(client, "+OK\r\n+QUEUED\r\n");
    close(client);
    fake_gate(&fake, true);
    while (atomic_load(&fake.server.connections) > 1)
        pass_a_turn(other);
    close(other);
}

#ifdef LAUD_FAULTS
/* One error takes the place of the array, however much of it was there, and what is behind it stays. */
static void after_a_failure_the_whole_of_it_is_one_error(void **state)
{
    (void)state;
    char line[256];
    fake_init(&fake);
    fake_start(&fake);
    int client = client_open(&fake);
    assert_int_equal(io_faults_plan("segment.write:1+:EIO"), 0);
    client_send(client,
                "PING\r\nMULTI\r\nLIKE 1 video:3\r\nLIKED 1 video:1000001\r\nPING\r\nEXEC\r\n"
                "ECHO behind\r\n");
    client_expect(client, "+PONG\r\n+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n");
    fake_await_inside(&fake, 1);
    fake_gate(&fake, true);
    client_read_line(client, line, sizeof line);
    assert_int_equal(strncmp(line, "-READONLY", 9), 0);
    client_read_line(client, line, sizeof line); /* it was in one group with it, or it was not */
    if (strncmp(line, "-READONLY", 9) != 0) {
        assert_string_equal(line, "$6");
        client_expect(client, "behind\r\n");
    }
    client_send(client, "MULTI\r\nLIKE 1 video:3\r\nEXEC\r\n");
    client_expect(client,
                  "+OK\r\n+QUEUED\r\n-EXECABORT Transaction discarded because of: READONLY ");
    assert_int_equal(io_faults_plan(NULL), 0);
    close(client);
    fake_stop(&fake);
}
#endif

int main(void)
{
#define ON_A_SERVER(test)                                                                          \
    cmocka_unit_test_prestate_setup_teardown(test, fake_begin, fake_end, &fake)
    const struct CMUnitTest tests[] = {
        ON_A_SERVER(commands_are_kept_and_answered_by_one_array),
        ON_A_SERVER(commands_inside_are_counted_once),
        ON_A_SERVER(nothing_of_it_leaves_before_all_of_it_is_there),
        ON_A_SERVER(one_that_was_refused_when_it_came_aborts_all),
        ON_A_SERVER(what_redis_refuses_is_refused_in_its_words),
        ON_A_SERVER(hello_inside_changes_what_comes_behind_it),
        ON_A_SERVER(only_so_many_commands_are_kept),
        ON_A_SERVER(only_so_many_bytes_are_kept),
        ON_A_SERVER(without_memory_it_is_refused),
        ON_A_SERVER(a_large_answer_is_sent),
        cmocka_unit_test(a_large_one_has_to_be_finished_in_time),
        cmocka_unit_test(where_no_write_would_pass_all_are_refused),
        cmocka_unit_test(writes_inside_wait_for_the_store),
        cmocka_unit_test(limits_hold_inside),
        ON_A_SERVER(a_client_may_leave_in_the_middle),
#ifdef LAUD_FAULTS
        cmocka_unit_test(after_a_failure_the_whole_of_it_is_one_error),
#endif
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
