#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/connect.h"
#include "bench/driver.h"
#include "bench/driver_private.h"

/* Sends HELLO if RESP3 is wanted. */
static bool protocol_choose(int fd, const struct bench_options *options, char *problem, size_t size)
{
    if (options->protocol == 2)
        return true;
    char *reply = malloc(CONNECT_REPLY_MAX);
    if (reply == NULL) {
        snprintf(problem, size, "out of memory");
        return false;
    }
    const char *words[] = {"HELLO", "3"};
    const size_t lengths[] = {5, 1};
    bool fine = connect_call(fd, words, lengths, 2, reply, problem, size);
    free(reply);
    return fine;
}

/* Waits for this number of replies; false: they were not received, or there were more. */
static bool replies_await(struct driver *driver, struct connection *connection, int64_t replies)
{
    while (replies > 0) {
        ssize_t got = recv(connection->fd, driver->in, DRIVER_READ_BYTES, 0);
        if (got < 0 && errno == EINTR)
            continue;
        int64_t done = got > 0 ? connection_feed(driver, connection, driver->in, (size_t)got) : -1;
        if (done < 0)
            return false;
        replies -= done;
    }
    return replies == 0;
}

/* Sends the prelude of each connection; {seq} is the number of the connection. */
static bool prelude_say(struct driver *driver, struct connection *connection, char *problem,
                        size_t size)
{
    const struct template *prelude = driver->mix->prelude;
    uint64_t number = driver->first_connection + (uint64_t)(connection - driver->connections);
    if (prelude == NULL)
        return true;
    char *bytes = malloc(prelude->max_bytes);
    if (bytes == NULL) {
        snprintf(problem, size, "out of memory");
        return false;
    }
    char *end = template_render(prelude, &driver->random, number, &driver->scratch, bytes);
    bool answered = connect_send(connection->fd, bytes, (size_t)(end - bytes)) &&
                    replies_await(driver, connection, prelude->commands);
    free(bytes);
    if (!answered)
        snprintf(problem, size, "the prelude was not answered");
    else if (driver->errors > 0)
        snprintf(problem, size, "the prelude was refused: %s", driver->first_error);
    return answered && driver->errors == 0;
}

static bool connection_open(struct driver *driver, struct connection *connection,
                            const struct bench_options *options, char *problem, size_t size)
{
    if (driver->http)
        response_reader_init(&connection->reader.http);
    else
        reply_reader_init(&connection->reader.resp);
    connection->out = malloc(driver->pipeline * driver->mix->max_bytes);
    connection->flights = calloc(driver->pipeline, sizeof(*connection->flights));
    if (connection->out == NULL || connection->flights == NULL) {
        snprintf(problem, size, "out of memory: use a smaller --pipeline or fewer --connections");
        return false;
    }
    connection->fd =
        connect_open(options->server_host, options->server_port, options->timeout, problem, size);
    if (connection->fd < 0 || !protocol_choose(connection->fd, options, problem, size) ||
        !prelude_say(driver, connection, problem, size))
        return false;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    if (fcntl(connection->fd, F_SETFL, O_NONBLOCK) == 0 &&
        epoll_ctl(driver->epoll, EPOLL_CTL_ADD, connection->fd, &event) == 0)
        return true;
    snprintf(problem, size, "cannot watch a connection: %s", strerror(errno));
    return false;
}

bool driver_open(struct driver *driver, const struct bench_options *options,
                 const struct driver_mix *mix, size_t connections, uint64_t seed, char *problem,
                 size_t size)
{
    driver->mix = mix;
    driver->pipeline = (size_t)options->pipeline;
    driver->batch = options->batch;
    driver->http = options->http;
    driver->timeout_ns = (uint64_t)(options->timeout * 1e9);
    driver->random.state = hash_mix(seed, 0x8bb84b93962eacc9ULL);
    driver->connections = calloc(connections, sizeof(*driver->connections));
    driver->dirty = calloc(connections, sizeof(struct connection *));
    driver->in = malloc(DRIVER_READ_BYTES);
    driver->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (driver->connections == NULL || driver->dirty == NULL || driver->in == NULL ||
        driver->epoll < 0) {
        snprintf(problem, size, "cannot set up a thread: %s", strerror(errno));
        return false;
    }
    for (size_t i = 0; i < connections; i++) {
        driver->connections[i].fd = -1;
        driver->connection_count++;
        if (!connection_open(driver, &driver->connections[i], options, problem, size))
            return false;
    }
    return true;
}

void driver_close(struct driver *driver)
{
    for (size_t i = 0; i < driver->connection_count; i++) {
        if (driver->connections[i].fd >= 0)
            close(driver->connections[i].fd);
        free(driver->connections[i].out);
        free(driver->connections[i].flights);
    }
    if (driver->epoll >= 0)
        close(driver->epoll);
    free(driver->connections);
    free(driver->dirty);
    free(driver->in);
}

void driver_prepare(struct driver *driver, const struct driver_phase *phase)
{
    driver->phase = *phase;
    driver->next_request = phase->first;
    driver->batch_connection = NULL;
    atomic_store_explicit(&driver->done, 0, memory_order_relaxed);
    driver->ended_ns = 0;
    driver->unsent = 0;
    driver->errors = 0;
    driver->bytes_sent = 0;
    driver->bytes_received = 0;
    driver->first_error[0] = '\0';
    memset(&driver->histogram, 0, sizeof(driver->histogram));
}
