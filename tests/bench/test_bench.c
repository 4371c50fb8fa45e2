/*
 * Whole runs against a small server in a thread of the test. It understands commands just well
 * enough: "SEE n" notes the number n, "BAD" is an error, "CUT" closes the connection, "ODD" is
 * answered with what is not RESP, "TWO" with two replies. Of HTTP it knows requests without a body:
 * the path is the number to note, or what else to do.
 */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "bench/bench.h"
#include "bench/driver.h"

#define NUMBERS 5000
#define CLIENTS 64
#define BUFFER  (1 << 20)

struct client {
    int fd;
    size_t used;
    char bytes[BUFFER];
};

struct server {
    int listener;
    char port[8];
    pthread_t thread;
    atomic_bool stop;
    struct client *clients[CLIENTS];
    size_t count;
    unsigned seen[NUMBERS]; /* read by the test after the thread ended */
    unsigned commands;
    uint64_t last_ns; /* when the last one came */
};

static struct server server;

/* Length of the command at `bytes` if it is whole, else 0; its words are terminated in place. */
static size_t command_take(char *bytes, size_t length, char *words[8])
{
    char *at = bytes;
    char *end = bytes + length;
    char *feed = memchr(at, '\n', (size_t)(end - at));
    if (feed == NULL)
        return 0;
    long count = strtol(at + 1, NULL, 10);
    if (count < 1 || count > 8)
        abort();
    at = feed + 1;
    for (long i = 0; i < count; i++) {
        feed = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
        if (feed == NULL)
            return 0;
        size_t size = strtoul(at + 1, NULL, 10);
        if ((size_t)(end - feed - 1) < size + 2)
            return 0;
        words[i] = feed + 1;
        at = feed + 1 + size + 2;
    }
    for (long i = 0; i < count; i++)
        words[i][strcspn(words[i], "\r")] = '\0';
    return (size_t)(at - bytes);
}

/* The same for HTTP; the words are the path, and what it means. */
static size_t request_take(char *bytes, size_t length, char *words[8])
{
    char *end = memmem(bytes, length, "\r\n\r\n", 4);
    if (end == NULL)
        return 0;
    char *path = strchr(bytes, '/') + 1;
    *strchr(path, ' ') = '\0';
    words[0] = path[0] >= '0' && path[0] <= '9' ? (char *)"SEE" : path;
    words[1] = path;
    return (size_t)(end + 4 - bytes);
}

static const char *request_answer(const char *answer)
{
    if (answer == NULL)
        return NULL;
    if (answer[0] == '-')
        return "HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\n\r\nno\n";
    return answer[0] == ':' ? "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}" : answer;
}

static const char *command_answer(char *words[8])
{
    server.commands++;
    server.last_ns = clock_monotonic_ns();
    if (strcmp(words[0], "SEE") == 0 && words[1] != NULL) {
        unsigned long number = strtoul(words[1], NULL, 10);
        if (number < NUMBERS)
            server.seen[number]++;
        return ":1\r\n";
    }
    if (strcmp(words[0], "BAD") == 0)
        return "-ERR so it is\r\n";
    if (strcmp(words[0], "ODD") == 0)
        return "what?\r\n";
    if (strcmp(words[0], "TWO") == 0)
        return ":1\r\n:2\r\n";
    if (strcmp(words[0], "SCRIPT") == 0)
        return "$40\r\n0123456789012345678901234567890123456789\r\n";
    if (strcmp(words[0], "HELLO") == 0)
        return "%1\r\n+proto\r\n:3\r\n";
    return strcmp(words[0], "CUT") == 0 ? NULL : "*2\r\n$2\r\nok\r\n:1\r\n";
}

/* False when the connection is over. */
static int client_serve(struct client *client)
{
    ssize_t got = recv(client->fd, client->bytes + client->used, BUFFER - client->used, 0);
    if (got <= 0)
        return 0;
    client->used += (size_t)got;
    size_t done = 0;
    char *words[8] = {NULL};
    bool http = client->bytes[0] != '*';
    for (size_t taken; client->used > done; done += taken) {
        taken =
            (http ? request_take : command_take)(client->bytes + done, client->used - done, words);
        if (taken == 0)
            break;
        const char *answer = command_answer(words);
        if (http)
            answer = request_answer(answer);
        if (answer == NULL ||
            send(client->fd, answer, strlen(answer), MSG_NOSIGNAL) != (ssize_t)strlen(answer))
            return 0;
    }
    memmove(client->bytes, client->bytes + done, client->used - done);
    client->used -= done;
    return 1;
}

static void *server_run(void *argument)
{
    (void)argument;
    while (!atomic_load(&server.stop)) {
        struct pollfd polls[CLIENTS + 1] = {{.fd = server.listener, .events = POLLIN}};
        for (size_t i = 0; i < server.count; i++)
            polls[i + 1] = (struct pollfd){.fd = server.clients[i]->fd, .events = POLLIN};
        size_t count = server.count;
        poll(polls, count + 1, 20);
        for (size_t i = count; i > 0; i--) {
            if (polls[i].revents == 0 || client_serve(server.clients[i - 1]))
                continue;
            close(server.clients[i - 1]->fd);
            free(server.clients[i - 1]);
            server.clients[i - 1] = server.clients[--server.count];
        }
        if (polls[0].revents != 0) {
            struct client *client = malloc(sizeof(*client));
            client->fd = accept(server.listener, NULL, NULL);
            client->used = 0;
            int on = 1; /* or the answers of one pipeline wait for each other's acknowledgement */
            setsockopt(client->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
            server.clients[server.count++] = client;
        }
    }
    return NULL;
}

static int server_start(void **state)
{
    (void)state;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    memset(&server, 0, sizeof(server));
    server.listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(server.listener, (struct sockaddr *)&address, size) != 0 ||
        listen(server.listener, CLIENTS) != 0 ||
        getsockname(server.listener, (struct sockaddr *)&address, &size) != 0)
        return -1;
    snprintf(server.port, sizeof(server.port), "%u", ntohs(address.sin_port));
    return pthread_create(&server.thread, NULL, server_run, NULL);
}

static void server_end(void)
{
    if (server.listener < 0)
        return;
    atomic_store(&server.stop, true);
    pthread_join(server.thread, NULL);
    for (size_t i = 0; i < server.count; i++) {
        close(server.clients[i]->fd);
        free(server.clients[i]);
    }
    close(server.listener);
    server.listener = -1;
}

static int server_stop(void **state)
{
    (void)state;
    server_end();
    return 0;
}

static int bench_words(const char *const *words)
{
    char *argv[32] = {(char *)"bench", (char *)"--quiet", (char *)"--port", server.port};
    int argc = 4;
    for (; words[argc - 4] != NULL; argc++)
        argv[argc] = (char *)words[argc - 4];
    return bench_main(argc, argv);
}

#define BENCH(...) bench_words((const char *const[]){__VA_ARGS__, NULL})

static void check_each_number_once(void)
{
    server_end();
    for (int i = 0; i < NUMBERS; i++)
        assert_int_equal(server.seen[i], 1);
}

static void sequence_goes_round_once(void **state)
{
    (void)state;
    assert_int_equal(
        BENCH("--requests", "5000", "--connections", "7", "--pipeline", "16", "--", "SEE {seq}"),
        0);
    check_each_number_once();
}

static void sequence_over_threads(void **state)
{
    (void)state;
    assert_int_equal(BENCH("--requests", "5000", "--connections", "7", "--threads", "3",
                           "--pipeline", "5", "--", "SEE {seq} ; PING"),
                     0);
    check_each_number_once();
    assert_int_equal(server.commands, 2 * NUMBERS);
}

static void sequence_on_schedule(void **state)
{
    (void)state;
    assert_int_equal(BENCH("--requests", "5000", "--connections", "3", "--rate", "1000000",
                           "--pipeline", "4", "--", "SEE {seq}"),
                     0);
    check_each_number_once();
}

/* Batches that fit the pipeline, that do not, and that the end cuts short. */
static void sequence_in_batches(void **state)
{
    (void)state;
    assert_int_equal(BENCH("--requests", "5000", "--connections", "3", "--rate", "1000000",
                           "--pipeline", "16", "--batch", "7", "--", "SEE {seq}"),
                     0);
    check_each_number_once();
}

static void sequence_in_batches_beyond_the_pipeline(void **state)
{
    (void)state;
    assert_int_equal(BENCH("--requests", "5000", "--connections", "3", "--threads", "2", "--rate",
                           "1000000", "--pipeline", "4", "--batch", "9", "--", "SEE {seq}"),
                     0);
    check_each_number_once();
}

static void runs_by_time_after_a_warm_up(void **state)
{
    (void)state;
    assert_int_equal(BENCH("--seconds", "1", "--warmup", "0.05", "--connections", "2", "--mix",
                           "3:PING {user}", "--mix", "1:GET {item}"),
                     0);
    server_end();
    assert_true(server.commands > 0);
}

static void errors_make_exit_code_one(void **state)
{
    (void)state;
    assert_int_equal(BENCH("--requests", "100", "--connections", "2", "--", "BAD"), 1);
    assert_int_equal(BENCH("--requests", "100", "--connections", "2", "--allow-errors", "BAD"), 0);
}

static void broken_servers_make_exit_code_two(void **state)
{
    (void)state;
    assert_int_equal(BENCH("--requests", "100", "--connections", "2", "CUT"), 2);
    assert_int_equal(BENCH("--requests", "100", "--connections", "2", "ODD"), 2);
    assert_int_equal(BENCH("--requests", "100", "--connections", "2", "TWO"), 2);
    assert_int_equal(BENCH("--requests", "1", "{nonsense}"), 2);
    assert_int_equal(BENCH("--requests", "1", "--warmup", "1", "SEE {seq}"), 2);
    assert_int_equal(BENCH("--requests", "1", "--load-script", "/nowhere/at/all", "E {sha}"), 2);
    server_end();
    assert_int_equal(BENCH("--requests", "1", "PING"), 2);
}

static void scripts_and_resp3(void **state)
{
    (void)state;
    assert_int_equal(BENCH("--requests", "10", "--connections", "1", "--protocol", "3",
                           "--load-script", "/etc/hostname", "EVALSHA {sha} 0 {user}"),
                     0);
    server_end();
    assert_int_equal(server.commands, 10 + 2);
}

static void http_sequence(void **state)
{
    (void)state;
    assert_int_equal(BENCH("--http", "--requests", "5000", "--connections", "7", "--threads", "3",
                           "--pipeline", "4", "--header", "X-Device-Id: 1", "GET /{seq}"),
                     0);
    check_each_number_once();
}

static void http_exit_codes(void **state)
{
    (void)state;
    assert_int_equal(BENCH("--http", "--requests", "100", "--connections", "2", "PUT /BAD"), 1);
    assert_int_equal(
        BENCH("--http", "--requests", "9", "--connections", "2", "--allow-errors", "GET /BAD"), 0);
    assert_int_equal(BENCH("--http", "--requests", "100", "--connections", "2", "GET /CUT"), 2);
    assert_int_equal(BENCH("--http", "--requests", "100", "--connections", "2", "GET /ODD"), 2);
    assert_int_equal(BENCH("--http", "--requests", "1", "PING"), 2);
}

/* Each connection says its own number, once, before the load. */
static void preludes(void **state)
{
    (void)state;
    assert_int_equal(BENCH("--requests", "100", "--connections", "7", "--threads", "3", "--prelude",
                           "SEE {seq} ; SEE {seq+100}", "PING"),
                     0);
    assert_int_equal(BENCH("--http", "--requests", "10", "--connections", "3", "--prelude",
                           "GET /{seq+200}", "GET /7"),
                     0);
    server_end();
    assert_int_equal(server.commands, 14 + 100 + 3 + 10);
    for (unsigned i = 0; i < 250; i++) {
        bool said = i < 7 || (i >= 100 && i < 107) || (i >= 200 && i < 203);
        assert_int_equal(server.seen[i], said + (i == 7 ? 10 : 0));
    }
}

static void preludes_that_fail(void **state)
{
    (void)state;
    assert_int_equal(BENCH("--requests", "1", "--prelude", "BAD", "PING"), 2);
    assert_int_equal(BENCH("--requests", "1", "--prelude", "CUT", "PING"), 2);
    assert_int_equal(BENCH("--requests", "1", "--prelude", "TWO", "PING"), 2);
    assert_int_equal(BENCH("--requests", "1", "--prelude", "{nonsense}", "PING"), 2);
    assert_int_equal(BENCH("--http", "--requests", "1", "--prelude", "GET /BAD", "GET /1"), 2);
}

/* Requests far larger than a socket takes at once, while replies wait: nothing may lock up. */
static void large_requests(void **state)
{
    (void)state;
    assert_int_equal(BENCH("--requests", "20000", "--connections", "2", "--pipeline", "5000",
                           "--id-base", "1000000000000000000", "--",
                           "PING {user}{user}{user}{user}{user}{user}{user}{user}"),
                     0);
    server_end();
    assert_int_equal(server.commands, 20000);
}

/* One driver of one connection, without the rest of a run around it. */
static struct driver driver;
static struct driver_mix mix;
static atomic_bool stop;

static void lone_open(void)
{
    static struct bench_options options;
    const char *words[] = {"--port", server.port, "--connections", "1", "PING"};
    const struct template_space space = {.users = 1, .items = 1};
    char problem[256];
    memset(&driver, 0, sizeof(driver));
    assert_true(bench_options_read(&options, 5, (char **)words, problem, sizeof(problem)));
    mix = (struct driver_mix){.count = 1, .weight = 1, .until = {1}};
    mix.templates[0] = template_compile("PING", &space, problem, sizeof(problem));
    assert_non_null(mix.templates[0]);
    mix.max_bytes = mix.templates[0]->max_bytes;
    driver.stop = &stop;
    assert_true(driver_open(&driver, &options, &mix, 1, 1, problem, sizeof(problem)));
}

static void lone_close(void)
{
    driver_close(&driver);
    template_free(mix.templates[0]);
}

/*
 * All requests are due at once and one connection answers one after the other: whoever came last
 * has waited for nearly the whole run, and the latencies must say so.
 */
static void latency_counts_from_the_due_time(void **state)
{
    (void)state;
    lone_open();
    struct driver_phase phase = {
        .start_ns = clock_monotonic_ns(), .stop_ns = UINT64_MAX, .end = 1000, .gap_ns = 1};
    driver_prepare(&driver, &phase);
    driver_run(&driver);

    server_end();
    uint64_t elapsed_ns = driver.ended_ns - phase.start_ns;
    assert_string_equal(driver.problem, "");
    assert_int_equal(driver.histogram.count, 1000);
    assert_true(driver.histogram.max > server.last_ns - phase.start_ns - 1000);
    assert_true(driver.histogram.max <= elapsed_ns);
    assert_true(driver.histogram.sum > elapsed_ns); /* one after the other they would fit in it */
    lone_close();
}

/* Single requests at one an hour would take most of a day; a batch of them is due at once. */
static void batches_are_due_together(void **state)
{
    (void)state;
    lone_open();
    driver.batch = 16;
    struct driver_phase phase = {
        .start_ns = clock_monotonic_ns(), .stop_ns = UINT64_MAX, .end = 16, .gap_ns = 3.6e12};
    driver_prepare(&driver, &phase);
    driver_run(&driver);
    assert_string_equal(driver.problem, "");
    assert_int_equal(driver.histogram.count, 16);
    lone_close();
}

/* What was due but had to be left out is told, not forgotten. */
static void requests_left_out_are_counted(void **state)
{
    (void)state;
    lone_open();
    uint64_t now_ns = clock_monotonic_ns();
    struct driver_phase phase = {
        .start_ns = now_ns, .stop_ns = now_ns + 10000000, .end = UINT64_MAX, .gap_ns = 10};
    driver_prepare(&driver, &phase);
    driver_run(&driver);
    assert_int_equal(driver.unsent + driver.histogram.count, 1000000);
    lone_close();
}

#define RUN(test) cmocka_unit_test_setup_teardown(test, server_start, server_stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RUN(sequence_goes_round_once),
        RUN(sequence_over_threads),
        RUN(sequence_on_schedule),
        RUN(sequence_in_batches),
        RUN(sequence_in_batches_beyond_the_pipeline),
        RUN(runs_by_time_after_a_warm_up),
        RUN(errors_make_exit_code_one),
        RUN(broken_servers_make_exit_code_two),
        RUN(scripts_and_resp3),
        RUN(large_requests),
        RUN(http_sequence),
        RUN(http_exit_codes),
        RUN(preludes),
        RUN(preludes_that_fail),
        RUN(latency_counts_from_the_due_time),
        RUN(batches_are_due_together),
        RUN(requests_left_out_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
