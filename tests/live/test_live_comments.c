/*
 * Streams of comments on real sockets, with a hot tier that needs the store when the test wants it: nothing is
 * sent too early, twice, or in the wrong order, and everything may end at any moment.
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

#include "net/loop.h"

static struct fake fake;

static int start(void **state)
{
    (void)state;
    fake_init(&fake);
    fake.options.live_streams = 3;
    fake.options.workers = 1;
    fake.moving = 5;
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

static int ask(const char *item, const char *last)
{
    char text[512], field[64] = "";
    int fd = client_open_port(fake.server.http_port);
    if (last != NULL)
        snprintf(field, sizeof field, "Last-Event-ID: %s\r\n", last);
    snprintf(text, sizeof text, "GET /v1/items/%s/comments/live HTTP/1.0\r\nHost: x\r\n%s\r\n",
             item, field);
    client_send(fd, text);
    return fd;
}

/* Reads up to and with a line that begins so; the line is in `line`. */
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

/* Reads one event, with its end; `id` gets its id. */
static void expect_event(int fd, const char *name, const char *data, char id[17])
{
    char line[512], wanted[512];
    read_to(fd, "id: ", line, sizeof line);
    if (id != NULL)
        snprintf(id, 17, "%.16s", line + 4);
    snprintf(wanted, sizeof wanted, "event: %s\ndata: %s\n\n", name, data);
    client_expect(fd, wanted);
}

static void expect_removed(int fd, unsigned number, char id[17])
{
    char data[64];
    snprintf(data, sizeof data, "{\"comment\":\"comment:%u\"}", number);
    expect_event(fd, "removed", data, id);
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

static void a_client_continues_where_it_was(void **state)
{
    (void)state;
    char line[512], begin[17], last[17];
    int client = ask("video:777", NULL);
    read_to(client, "HTTP/1.1 200", line, sizeof line);
    read_to(client, "Content-Type: text/event-stream", line, sizeof line);
    read_to(client, "retry: ", line, sizeof line);
    expect_event(client, "begin", "{}", begin);
    fake.moving = 7;
    expect_removed(client, 6, last);
    assert_string_not_equal(last, begin);
    expect_removed(client, 7, last);
    close(client);
    fake.moving = 8;
    client = ask("video:777", last);
    expect_removed(client, 8, NULL);
    int other = ask("video:777", begin);
    for (unsigned i = 6; i <= 8; i++)
        expect_removed(other, i, i == 7 ? line : NULL);
    assert_string_equal(line, last); /* an id stands for the same change for every client */
    close(client);
    close(other);
}

static void other_ids_are_reset(void **state)
{
    (void)state;
    static const char *const ids[] = {"0000000000000000", "0123456789abcdef", "ffffffffffffffff"};
    char last[17];
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        int client = ask("video:777", ids[i]);
        expect_event(client, "reset", "{}", last);
        close(client);
    }
    int other = ask("video:778", last); /* that of another subject */
    expect_event(other, "reset", "{}", NULL);
    close(other);
    int malformed = ask("video:777", "abc");
    expect_event(malformed, "begin", "{}", NULL);
    close(malformed);
}

/* Nothing is sent that a power cut could take back. */
static void an_event_waits_for_the_journal(void **state)
{
    (void)state;
    int client = ask("video:777", NULL);
    expect_event(client, "begin", "{}", NULL);
    uint64_t before = events();
    append();
    fake.moving = 6;
    while (events() == before)
        usleep(1000);
    client_expect_none(client);
    journal_kick(fake.journal);
    expect_removed(client, 6, NULL);
    append(); /* and so does the first one of a stream */
    int other = ask("video:777", NULL);
    while (events() == before + 1)
        usleep(1000);
    client_expect_none(other);
    journal_kick(fake.journal);
    expect_event(other, "begin", "{}", NULL);
    close(client);
    close(other);
}

/* First for the request, as any other; then, since this memory keeps nothing, for the stream. */
static void workers_read_what_is_not_in_memory(void **state)
{
    (void)state;
    int client = ask("video:1000001", NULL);
    fake_await_inside(&fake, 1);
    client_expect_none(client);
    fake_gate(&fake, true);
    expect_event(client, "begin", "{}", NULL);
    close(client);
}

/* The worker has an older state when another stream opens and asks for what it missed. */
static void a_slow_read_is_not_overtaken(void **state)
{
    (void)state;
    char begin[17];
    int client = ask("video:777", NULL);
    expect_event(client, "begin", "{}", begin);
    fake.moving = 6;
    expect_removed(client, 6, NULL);
    fake.early = true;
    fake_await_inside(&fake, 1); /* it was read, and that is not back */
    fake.moving = 7;
    fake.early = false;
    int other = ask("video:777", begin);
    fake_gate(&fake, true);
    expect_removed(client, 7, NULL);
    expect_removed(other, 6, NULL);
    expect_removed(other, 7, NULL);
    fake.moving = 8;
    expect_removed(client, 8, NULL);
    expect_removed(other, 8, NULL);
    close(client);
    close(other);
}

static void a_client_goes_while_a_worker_reads(void **state)
{
    (void)state;
    fake_gate(&fake, true);
    int client = ask("video:1000001", NULL);
    expect_event(client, "begin", "{}", NULL);
    fake_gate(&fake, false);
    fake_await_inside(&fake, 1);
    close(client);
    int other = ask("video:5", NULL);
    expect_event(other, "begin", "{}", NULL);
    fake_gate(&fake, true);
    while (atomic_load(&fake.server.loops[0].stats.live_items) > 1)
        usleep(1000); /* what only the worker had is freed with it */
    close(other);
}

static void the_server_stops_while_a_worker_reads(void **state)
{
    (void)state;
    fake_gate(&fake, true);
    int client = ask("video:1000003", NULL);
    expect_event(client, "begin", "{}", NULL);
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

static void a_closed_subject_ends_its_streams(void **state)
{
    (void)state;
    char line[512];
    int client = ask("video:777", NULL);
    expect_event(client, "begin", "{}", NULL);
    fake.closed = true;
    expect_event(client, "reset", "{}", NULL);
    client_expect_end(client);
    int refused = ask("video:777", NULL);
    read_to(refused, "HTTP/1.1 403", line, sizeof line);
    close(refused);
    fake.closed = false;
    int again = ask("video:777", NULL);
    expect_event(again, "begin", "{}", NULL);
    close(client);
    close(again);
}

/* The bound is one for both kinds of streams, and both can be open beside each other. */
static void only_so_many(void **state)
{
    (void)state;
    char line[512], text[] = "GET /v1/live?items=video:777 HTTP/1.0\r\nHost: x\r\n\r\n";
    int first = ask("video:777", NULL), second = ask("video:6", NULL);
    int counts = client_open_port(fake.server.http_port);
    client_send(counts, text);
    read_to(counts, "data: ", line, sizeof line);
    assert_string_equal(line, "data: {\"items\":{\"video:777\":{\"comment\":5}}}");
    expect_event(first, "begin", "{}", NULL);
    expect_event(second, "begin", "{}", NULL);
    int refused = ask("video:7", NULL);
    read_to(refused, "HTTP/1.1 503", line, sizeof line);
    fake.moving = 6;
    expect_removed(first, 6, NULL);
    read_to(counts, "data: ", line, sizeof line);
    assert_string_equal(line, "data: {\"items\":{\"video:777\":{\"comment\":6}}}");
    close(first);
    close(second);
    close(counts);
    close(refused);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(a_client_continues_where_it_was),
        TEST(other_ids_are_reset),
        TEST(an_event_waits_for_the_journal),
        TEST(workers_read_what_is_not_in_memory),
        TEST(a_slow_read_is_not_overtaken),
        TEST(a_client_goes_while_a_worker_reads),
        TEST(the_server_stops_while_a_worker_reads),
        TEST(a_closed_subject_ends_its_streams),
        TEST(only_so_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
