/*
 * Streams on real sockets, with a hot tier that needs the store when the test wants it: what memory
 * does not have is told once a worker has read it, and everything may end at any moment.
 */
#include "net/fake.h"

#include <setjmp.h>
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

static struct fake fake;

static int start(void **state)
{
    (void)state;
    fake_init(&fake);
    fake.options.live_streams = 3;
    fake.options.workers = 1;
    fake_start(&fake);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    fake_stop(&fake);
    assert_int_equal(fake.server.streams, 0);
    return 0;
}

static int ask(const char *items, const char *more)
{
    char text[512];
    int fd = client_open_port(fake.server.http_port);
    snprintf(text, sizeof text, "GET /v1/live?items=%s HTTP/1.0\r\nHost: x\r\n%s\r\n", items, more);
    client_send(fd, text);
    return fd;
}

/* Reads up to and with a line that begins so; the line is left in `line`. */
static void read_to(int fd, const char *beginning, char *line, size_t size)
{
    size_t length;
    do {
        length = 0;
        do {
            assert_true(length + 1 < size);
            assert_int_equal(recv(fd, line + length, 1, 0), 1);
        } while (line[length++] != '\n');
        line[length - 1] = '\0';
    } while (strncmp(line, beginning, strlen(beginning)) != 0);
}

static void expect_data(int fd, const char *data)
{
    char line[512], wanted[512];
    read_to(fd, "data: ", line, sizeof line);
    snprintf(wanted, sizeof wanted, "data: {\"items\":{%s}}", data);
    assert_string_equal(line, wanted);
}

static void a_stream_begins_with_everything(void **state)
{
    (void)state;
    char line[512];
    int client = ask("video:5,video:6,video:5", "");
    read_to(client, "HTTP/1.1 200", line, sizeof line);
    read_to(client, "Content-Type: text/event-stream", line, sizeof line);
    read_to(client, "retry: ", line, sizeof line);
    assert_in_range(strtoul(line + 7, NULL, 10), 1000, 5000);
    read_to(client, "id: ", line, sizeof line);
    char id[64];
    snprintf(id, sizeof id, "Last-Event-ID: %.16s\r\n", line + 4);
    expect_data(client, "\"video:5\":{\"comment\":5},\"video:6\":{\"comment\":6}");
    close(client);
    client = ask("video:6,video:5", id);
    read_to(client, "retry: ", line, sizeof line);
    read_to(client, ":", line, sizeof line);
    assert_string_equal(line, ": nothing new");
    close(client);
}

/* Appends an event that the journal keeps to itself until it is kicked. */
static void append(void)
{
    assert_int_equal(journal_admit(fake.journal, LIMIT_EVENT_BYTES), STATUS_OK);
    journal_append(fake.journal, &(struct event){.type = EVENT_SET, .user = {0, 1}});
}

static uint64_t events(void)
{
    return atomic_load(&fake.server.loops[0].stats.live_events);
}

static uint64_t items(void)
{
    return atomic_load(&fake.server.loops[0].stats.live_items);
}

/* Nothing is told that a power cut could take back. */
static void an_event_waits_for_the_journal(void **state)
{
    (void)state;
    fake.moving = 1;
    int client = ask("video:777", "");
    expect_data(client, "\"video:777\":{\"comment\":1}");
    client_expect(client, "\n");
    uint64_t before = events();
    append();
    fake.moving = 2;
    while (events() == before)
        usleep(1000);
    client_expect_none(client);
    fake.moving = 3;
    while (events() == before + 1)
        usleep(1000);
    client_expect_none(client);
    journal_kick(fake.journal);
    expect_data(client, "\"video:777\":{\"comment\":2}");
    expect_data(client, "\"video:777\":{\"comment\":3}");
    append(); /* and so does the first one of a stream */
    int other = ask("video:777", "");
    while (events() == before + 2)
        usleep(1000);
    client_expect_none(other);
    journal_kick(fake.journal);
    expect_data(other, "\"video:777\":{\"comment\":3}");
    close(client);
    close(other);
}

/* First for the request, as any other; then, since this memory keeps nothing, for the stream. */
static void cold_items_are_read_by_workers(void **state)
{
    (void)state;
    int client = ask("video:1000001,video:7", "");
    fake_await_inside(&fake, 1);
    client_expect_none(client);
    fake_gate(&fake, true);
    expect_data(client, "\"video:1000001\":{\"comment\":1000001},\"video:7\":{\"comment\":7}");
    close(client);
}

/* Memory has it again, with more, before the worker is back. */
static void an_older_read_is_not_told_after_a_newer_look(void **state)
{
    (void)state;
    struct loop_stats *stats = &fake.server.loops[0].stats;
    fake.moving = 1;
    int client = ask("video:777", ""), other = client_open(&fake);
    expect_data(client, "\"video:777\":{\"comment\":1}");
    fake.early = true;
    fake_await_inside(&fake, 1);
    fake.moving = 2;
    fake.early = false;
    expect_data(client, "\"video:777\":{\"comment\":2}");
    uint64_t before = events(), coalesced = atomic_load(&stats->live_coalesced);
    fake_gate(&fake, true);
    client_send(other, "COUNTS video:1000001\r\n"); /* the one worker has brought the other first */
    client_expect(other, "*1\r\n*2\r\n$7\r\ncomment\r\n:1000001\r\n");
    fake.moving = 3;
    expect_data(client, "\"video:777\":{\"comment\":3}");
    assert_int_equal(events(), before + 1);
    assert_int_equal(atomic_load(&stats->live_coalesced), coalesced);
    close(client);
    close(other);
}

static void a_client_goes_while_a_worker_reads(void **state)
{
    (void)state;
    fake_gate(&fake, true);
    int client = ask("video:1000001", ""), other = ask("video:1000001,video:1000002", "");
    expect_data(client, "\"video:1000001\":{\"comment\":1000001}");
    expect_data(other,
                "\"video:1000001\":{\"comment\":1000001},\"video:1000002\":{\"comment\":1000002}");
    fake_gate(&fake, false);
    fake_await_inside(&fake, 1);
    close(client);
    close(other);
    int third = ask("video:8", "");
    expect_data(third, "\"video:8\":{\"comment\":8}");
    assert_true(items() > 1);
    fake_gate(&fake, true);
    while (items() > 1) /* those that only the worker had go with it */
        usleep(1000);
    close(third);
}

static void the_server_stops_while_a_worker_reads(void **state)
{
    (void)state;
    fake_gate(&fake, true);
    int client = ask("video:1000003", "");
    expect_data(client, "\"video:1000003\":{\"comment\":1000003}");
    fake_gate(&fake, false);
    fake_await_inside(&fake, 1);
    fake_stop(&fake);
    char line[64];
    while (recv(client, line, sizeof line, 0) > 0)
        continue;
    close(client);
    fake_init(&fake);
    fake_start(&fake);
}

static void only_so_many(void **state)
{
    (void)state;
    char line[512];
    int clients[3];
    for (unsigned i = 0; i < 3; i++) {
        clients[i] = ask("video:1", "");
        expect_data(clients[i], "\"video:1\":{\"comment\":1}");
    }
    int refused = ask("video:1", "");
    read_to(refused, "HTTP/1.1 503", line, sizeof line);
    read_to(refused, "Retry-After: ", line, sizeof line);
    close(refused);
    close(clients[0]);
    for (bool opened = false; !opened; close(refused)) {
        refused = ask("video:2", "");
        read_to(refused, "HTTP/1.1 ", line, sizeof line);
        opened = strcmp(line, "HTTP/1.1 200 OK\r") == 0;
    }
    close(clients[1]);
    close(clients[2]);
}

/* What is sent behind the request is not answered, and too much of it ends the stream. */
static void nothing_is_answered_behind_it(void **state)
{
    (void)state;
    static char much[KIB(80)];
    char byte;
    int client = ask("video:9", "");
    client_send(client, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
    expect_data(client, "\"video:9\":{\"comment\":9}");
    client_expect(client, "\n");
    client_expect_none(client);
    memset(much, 'x', sizeof much);
    assert_true(send(client, much, sizeof much, MSG_NOSIGNAL) > 0);
    assert_true(recv(client, &byte, 1, 0) <= 0);
    close(client);
}

#ifdef LAUD_FAULTS
/*
 * Reads until the connection ends. If both requests ran in one turn, nothing is sent. On a slow machine the
 * second may have to wait for the next turn: then the write gets its error first.
 */
static void expect_no_success(int client)
{
    char got[4096];
    size_t length = 0;
    ssize_t count;
    while ((count = recv(client, got + length, sizeof got - 1 - length, 0)) > 0)
        length += (size_t)count;
    assert_int_equal(count, 0);
    got[length] = '\0';
    assert_true(length == 0 || strncmp(got, "HTTP/1.1 503", 12) == 0);
    assert_null(strstr(got, " 200 "));
    assert_null(strstr(got, "data:"));
}

/* An error takes the place of the stream's head: nothing of the stream follows it. */
static void it_ends_with_the_write_before_it(void **state)
{
    (void)state;
    int client = client_open_port(fake.server.http_port);
    assert_int_equal(io_faults_plan("segment.write:1+:EIO"), 0);
    client_send(client, "PUT /v1/items/video:3/reactions/like/1 HTTP/1.1\r\nHost: x\r\n\r\n"
                        "GET /v1/live?items=video:777 HTTP/1.1\r\nHost: x\r\n\r\n");
    expect_no_success(client);
    assert_int_equal(io_faults_plan(NULL), 0);
    int other = ask("video:3", "");
    expect_data(other, "\"video:3\":{\"comment\":3}");
    close(client);
    close(other);
}
#endif

/* What was read for another stream may be older than what the client of a new one has just written. */
static void a_new_stream_waits_for_what_is_not_in_memory(void **state)
{
    (void)state;
    fake.moving = 1;
    int first = ask("video:777", "");
    expect_data(first, "\"video:777\":{\"comment\":1}");
    fake.early = true;
    fake_await_inside(&fake, 1); /* it was read again, and that is not back */
    fake.moving = 2;
    int second = ask("video:777", "");
    while (pool_waiting(&fake.pool) == 0) /* for the one worker */
        usleep(1000);
    fake_gate(&fake, true);
    expect_data(second, "\"video:777\":{\"comment\":2}");
    expect_data(first, "\"video:777\":{\"comment\":2}");
    int third = ask("video:777", ""); /* also if it has not changed */
    expect_data(third, "\"video:777\":{\"comment\":2}");
    close(first);
    close(second);
    close(third);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(a_stream_begins_with_everything),
        TEST(an_event_waits_for_the_journal),
        TEST(cold_items_are_read_by_workers),
        TEST(an_older_read_is_not_told_after_a_newer_look),
        TEST(a_new_stream_waits_for_what_is_not_in_memory),
        TEST(a_client_goes_while_a_worker_reads),
        TEST(the_server_stops_while_a_worker_reads),
        TEST(only_so_many),
        TEST(nothing_is_answered_behind_it),
#ifdef LAUD_FAULTS
        TEST(it_ends_with_the_write_before_it),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
