/*
 * The bounds of connections on real sockets: without memory for one it is told so and the next is
 * heard, clients leave memory for data, those past --max-connections take no places, half a command is
 * not waited for, nor is one that takes no replies, and a flood of refusals has to rest.
 */
#include "fake.h"

#include <sched.h>
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

#include "base/clock.h"
#include "base/io.h"
#include "net/conn.h"
#include "resp/connection.h"

#define BUSY_CAPACITY "-BUSY the server is over capacity, try again\r\n"
#define TOO_MANY      "-ERR the limit of open connections is reached\r\n"

static struct fake fake;

static void expect_pong(int client)
{
    client_send(client, "PING\r\n");
    client_expect(client, "+PONG\r\n");
}

/* Takes all there is; returns how much that was. */
static uint64_t take_all_memory(void)
{
    uint64_t taken = fake.budget.limit - memory_used(&fake.budget);
    assert_true(memory_charge_connection(&fake.budget, taken));
    return taken;
}

static void turned_away_without_memory(uint16_t port, const char *said)
{
    int clients[20];
    for (int i = 0; i < 20; i++)
        clients[i] = client_open_port(port);
    for (int i = 0; i < 20; i++) {
        client_expect(clients[i], said);
        close(clients[i]);
    }
}

static void without_memory_the_next_is_heard_all_the_same(void **state)
{
    (void)state;
    fake_init(&fake);
    fake_start(&fake);
    int before = client_open(&fake);
    expect_pong(before);
    uint64_t used = memory_used(&fake.budget);
    for (int round = 0; round < 3; round++) {
        uint64_t taken = take_all_memory();
        turned_away_without_memory(fake.server.resp_port, BUSY_CAPACITY);
        turned_away_without_memory(fake.server.http_port, "HTTP/1.1 503 ");
        expect_pong(before);
        memory_release_connection(&fake.budget, taken);
        int client = client_open(&fake), http = client_open_port(fake.server.http_port);
        expect_pong(client);
        client_send(http, "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
        client_expect(http, "HTTP/1.1 200 ");
        close(client);
        close(http);
        while (memory_used(&fake.budget) > used)
            sched_yield();
    }
    close(before);
    fake_stop(&fake);
}

#define REFUSED 200

static void those_that_are_refused_take_no_places(void **state)
{
    (void)state;
    fake_init(&fake);
    fake.options.max_connections = 2;
    fake_start(&fake);
    int held[2] = {client_open(&fake), client_open(&fake)}, refused[REFUSED];
    expect_pong(held[0]);
    expect_pong(held[1]);
    for (int i = 0; i < REFUSED; i++)
        refused[i] = client_open(&fake);
    for (int i = 0; i < REFUSED; i++)
        client_expect(refused[i], TOO_MANY);
    assert_int_equal(fake.server.connections, 2);
    close(held[1]);
    while (atomic_load(&fake.server.connections) > 1)
        sched_yield();
    held[1] = client_open(&fake);
    expect_pong(held[1]);
    for (int i = 0; i < REFUSED; i++)
        client_expect_end(refused[i]);
    for (int i = 0; i < REFUSED; i++)
        close(refused[i]);
    expect_pong(held[0]);
    close(held[0]);
    close(held[1]);
    fake_stop(&fake);
}

/* There is memory for the connection, and none to tell it that it is one too many. */
/* A connection of the RESP face takes so much memory before anything is read or written. */
#define CONN_BYTES (sizeof(struct conn) + sizeof(struct resp_connection))

static void one_that_cannot_be_told_is_closed(void **state)
{
    (void)state;
    fake_init(&fake);
    fake.options.max_connections = 1;
    fake_start(&fake);
    int held = client_open(&fake);
    expect_pong(held);
    uint64_t taken = take_all_memory();
    memory_release_connection(&fake.budget, CONN_BYTES);
    for (int i = 0; i < 3; i++) {
        int refused = client_open(&fake);
        client_expect_end(refused);
        close(refused);
        while (memory_used(&fake.budget) + CONN_BYTES > fake.budget.limit)
            sched_yield();
    }
    memory_release_connection(&fake.budget, taken - CONN_BYTES);
    expect_pong(held);
    close(held);
    fake_stop(&fake);
}

#define ECHOED 60000

static void send_echo(int client)
{
    static char echo[ECHOED + 64];
    int length =
        snprintf(echo, sizeof echo, "*2\r\n$4\r\nECHO\r\n$%d\r\n%0*d\r\n", ECHOED, ECHOED, 0);
    assert_int_equal(send(client, echo, (size_t)length, MSG_NOSIGNAL), length);
}

/* The sockets are full and some of the replies wait with the server, which reads on all the same. */
static size_t fill_until_replies_wait(int client, int other)
{
    uint64_t before = memory_used(&fake.budget);
    size_t sent = 0;
    while (memory_used(&fake.budget) < before + KIB(512)) {
        send_echo(client);
        sent++;
        expect_pong(other);
        assert_true(sent < 1000);
    }
    return sent;
}

static void half_a_command_behind_replies_that_waited_is_closed(void **state)
{
    (void)state;
    fake_init(&fake);
    fake.options.slow_timeout_ms = 5000; /* for the test too, which fills and reads in that time */
    fake_start(&fake);
    int client = client_open(&fake), other = client_open(&fake);
    size_t echoes = fill_until_replies_wait(client, other);
    client_send(client, "PIN");
    expect_pong(other);
    static char reply[ECHOED + 16];
    for (size_t i = 0; i < echoes; i++)
        assert_int_equal(recv(client, reply, ECHOED + 10, MSG_WAITALL), ECHOED + 10);
    client_expect_end(client);
    expect_pong(other);
    close(client);
    close(other);
    fake_stop(&fake);
}

/* A command that comes in two pieces meanwhile does not begin its time anew. */
static void who_takes_no_replies_cannot_buy_time(void **state)
{
    (void)state;
    fake_init(&fake);
    fake.options.slow_timeout_ms = 5000;
    fake_start(&fake);
    int client = client_open(&fake), other = client_open(&fake);
    fill_until_replies_wait(client, other);
    client_send(client, "PI");
    expect_pong(other);
    client_send(client, "NG\r\n");
    while (atomic_load(&fake.server.connections) > 1)
        sched_yield();
    expect_pong(other);
    close(client);
    close(other);
    fake_stop(&fake);
}

#define LARGE (600 * 1000)

/* What clients have sent and not finished is bounded: the rest of the budget is for data. */
static void clients_leave_memory_for_data(void **state)
{
    (void)state;
    static char word[ECHOED + 16];
    fake_init(&fake);
    fake.budget.connections_max = LARGE;
    fake_start(&fake);
    int client = client_open(&fake), other = client_open(&fake);
    snprintf(word, sizeof word, "$%d\r\n%0*d\r\n", ECHOED, ECHOED, 0);
    client_send(client, "*100\r\n");
    for (int i = 0; i < LARGE / ECHOED + 1; i++)
        client_send(client, word);
    client_expect(client, BUSY_CAPACITY);
    client_expect_end(client);
    expect_pong(other);
    assert_true(atomic_load(&fake.budget.connections) <= LARGE);
    close(client);
    close(other);
    fake_stop(&fake);
}

#define MOST_REFUSED (50 * LIMIT_REFUSALS)

/* So many commands of one user, of which one may pass. */
static void send_refused(int client, int count)
{
    static const char one[] = "LIKED 7 video:1\r\n";
    static char all[MOST_REFUSED * sizeof one];
    size_t length = 0;
    assert_true(count <= MOST_REFUSED);
    for (int i = 0; i < count; i++, length += sizeof one - 1)
        memcpy(all + length, one, sizeof one);
    client_send(client, all);
}

static int read_refused(int client, int count)
{
    char line[64];
    int refused = 0;
    for (int i = 0; i < count; i++) {
        client_read_line(client, line, sizeof line);
        if (strcmp(line, "*1") == 0)
            client_expect(client, ":1\r\n");
        else
            refused += strncmp(line, "-LIMIT retry after ", 19) == 0;
    }
    return refused;
}

static void start_with_a_limit(void)
{
    fake_init(&fake);
    fake.options.limit_user_read = (struct rate){.per_s = 1, .burst = 1};
    fake_start(&fake);
}

static void a_flood_of_refusals_has_to_rest(void **state)
{
    (void)state;
    start_with_a_limit();
    int flood = client_open(&fake), other = client_open(&fake);
    int rests = 5, count = rests * LIMIT_REFUSALS + 10;
    uint64_t began_ns = clock_monotonic_ns();
    send_refused(flood, count);
    shutdown(flood, SHUT_WR);
    for (int i = 0; i < 100; i++)
        expect_pong(other);
    int refused = read_refused(flood, count);
    uint64_t took_ms = (clock_monotonic_ns() - began_ns) / 1000000;
    assert_in_range(refused, count - 1 - took_ms / 1000 - 1, count - 1);
    assert_true(took_ms >= (uint64_t)(rests - 1) * LIMIT_REST_MS / 2);
    client_expect_end(flood);
    close(flood);
    close(other);
    fake_stop(&fake);
}

/* It says nothing because it is not read. */
static void one_that_has_to_rest_is_not_idle(void **state)
{
    (void)state;
    int count = MOST_REFUSED;
    fake_init(&fake);
    fake.options.limit_user_read = (struct rate){.per_s = 1, .burst = 1};
    fake.options.idle_timeout_ms = 2500; /* it rests for longer */
    fake_start(&fake);
    int flood = client_open(&fake);
    send_refused(flood, count);
    assert_in_range(read_refused(flood, count), 1, count - 1);
    client_expect_end(flood); /* now it is */
    close(flood);
    fake_stop(&fake);
}

/* How often connections had to rest after 100 requests over one, of which one may pass. */
static uint32_t rests_of_http(const char *proxies)
{
    fake_init(&fake);
    snprintf(fake.options.proxies, sizeof fake.options.proxies, "%s", proxies);
    fake.options.limit_ip_read = (struct rate){.per_s = 1, .burst = 1};
    fake_start(&fake);
    int client = client_open_port(fake.server.http_port);
    for (int i = 0; i < 100; i++) {
        char line[256];
        client_send(client, "GET /v1/items/video:1/counts HTTP/1.1\r\nHost: localhost\r\n"
                            "X-Forwarded-For: 203.0.113.7\r\n\r\n");
        size_t body = 0;
        do {
            client_read_line(client, line, sizeof line);
            if (strncmp(line, "Content-Length: ", 16) == 0)
                body = strtoul(line + 16, NULL, 10);
        } while (line[0] != '\0');
        assert_true(body < sizeof line);
        assert_int_equal(recv(client, line, body, MSG_WAITALL), body);
    }
    close(client);
    server_stop(&fake.server);
    uint32_t begun = fake.server.loops[0].rests.begun;
    fake_stop(&fake);
    return begun;
}

/* A proxy has one connection for many clients: who waits there did not ask too much. */
static void behind_a_proxy_nobody_rests_for_another(void **state)
{
    (void)state;
    assert_int_not_equal(rests_of_http(""), 0);
    assert_int_equal(rests_of_http("127.0.0.1"), 0);
}

static void those_that_rest_may_leave(void **state)
{
    (void)state;
    start_with_a_limit();
    int other = client_open(&fake);
    for (int i = 0; i < 50; i++) {
        int flood = client_open(&fake);
        send_refused(flood, 2 * LIMIT_REFUSALS);
        expect_pong(other);
        close(flood);
    }
    while (atomic_load(&fake.server.connections) > 1)
        expect_pong(other);
    int resting = client_open(&fake);
    send_refused(resting, 2 * LIMIT_REFUSALS);
    expect_pong(other);
    fake_stop(&fake); /* also while one rests */
    close(resting);
    close(other);
}

#ifdef LAUD_FAULTS
#define DOCS 400

/* Replies are made while others leave, by commands that were kept until there was room. */
static void after_a_failure_no_reply_waits_long(void **state)
{
    (void)state;
    char line[4096]; /* the help of a command is one line */
    static char docs[DOCS * 16];
    struct buckets_total waits = {0};
    fake_init(&fake);
    fake_start(&fake);
    int client = client_open(&fake);
    assert_int_equal(io_faults_plan("segment.write:1+:EIO"), 0);
    client_send(client, "LIKE 1 video:3\r\n");
    client_read_line(client, line, sizeof line);
    assert_int_equal(strncmp(line, "-READONLY", 9), 0);
    assert_int_equal(io_faults_plan(NULL), 0);
    for (int i = 0; i < DOCS; i++)
        strcat(docs, "COMMAND DOCS\r\n");
    client_send(client, docs);
    client_send(client, "ECHO end\r\n");
    do {
        client_read_line(client, line, sizeof line);
    } while (strcmp(line, "end") != 0);
    close(client);
    server_stop(&fake.server);
    assert_true(buckets_read(&fake.server.loops[0].watch.meter.waits, &waits) > DOCS);
    assert_int_equal(waits.counts[BUCKETS_BOUNDED], 0);
    fake_stop(&fake);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_memory_the_next_is_heard_all_the_same),
        cmocka_unit_test(those_that_are_refused_take_no_places),
        cmocka_unit_test(one_that_cannot_be_told_is_closed),
        cmocka_unit_test(half_a_command_behind_replies_that_waited_is_closed),
        cmocka_unit_test(who_takes_no_replies_cannot_buy_time),
        cmocka_unit_test(clients_leave_memory_for_data),
        cmocka_unit_test(a_flood_of_refusals_has_to_rest),
        cmocka_unit_test(behind_a_proxy_nobody_rests_for_another),
        cmocka_unit_test(one_that_has_to_rest_is_not_idle),
        cmocka_unit_test(those_that_rest_may_leave),
#ifdef LAUD_FAULTS
        cmocka_unit_test(after_a_failure_no_reply_waits_long),
#endif
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
