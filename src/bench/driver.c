/*
 * One turn of a connection reads once, parses the replies, renders requests and writes once. The clock is
 * read once a turn. The read buffer belongs to the thread, not to the connection: replies are not kept, so
 * after a turn only the few numbers of the reader are needed.
 *
 * There is always room to render a request: a connection has at most `pipeline` unanswered requests, and
 * its buffer has room for that many of the longest ones.
 */
#include "bench/driver.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/assert.h"
#include "base/clock.h"
#include "bench/driver_private.h"

#define WAIT_MS       100 /* how often the end and the timeout are checked if nothing is received */
#define EVENTS_A_TURN 256

static void driver_fail(struct driver *driver, const char *what, const char *detail)
{
    if (driver->problem[0] == '\0')
        snprintf(driver->problem, sizeof(driver->problem), "%s%s", what, detail);
    atomic_store_explicit(driver->stop, true, memory_order_relaxed);
}

static bool connection_watch(struct driver *driver, struct connection *connection, bool blocked)
{
    struct epoll_event event = {.events = EPOLLIN | (blocked ? EPOLLOUT : 0u),
                                .data.ptr = connection};
    connection->blocked = blocked;
    if (epoll_ctl(driver->epoll, EPOLL_CTL_MOD, connection->fd, &event) == 0)
        return true;
    driver_fail(driver, "epoll_ctl: ", strerror(errno));
    return false;
}

static bool connection_write(struct driver *driver, struct connection *connection)
{
    size_t length = connection->out_end - connection->out_start;
    ssize_t sent = 0;
    do
        sent = send(connection->fd, connection->out + connection->out_start, length, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent < 0 && errno != EAGAIN) {
        driver_fail(driver, "the connection broke: ", strerror(errno));
        return false;
    }
    if (sent > 0) {
        driver->bytes_sent += (uint64_t)sent;
        connection->out_start += (size_t)sent;
    }
    if (connection->out_start == connection->out_end)
        connection->out_start = connection->out_end = 0;
    bool blocked = connection->out_end > 0;
    return blocked == connection->blocked || connection_watch(driver, connection, blocked);
}

static const struct template *mix_choose(struct driver *driver)
{
    const struct driver_mix *mix = driver->mix;
    if (mix->count == 1)
        return mix->templates[0];
    uint64_t drawn = random_below(&driver->random, mix->weight);
    size_t chosen = 0;
    while (drawn >= mix->until[chosen])
        chosen++;
    return mix->templates[chosen];
}

/* Renders the next request after the bytes that the connection still has to send. */
static void connection_add(struct driver *driver, struct connection *connection, uint64_t due_ns)
{
    ASSERT(connection->flight_count < driver->pipeline);
    const struct template *template = mix_choose(driver);
    if (connection->out_start > 0) {
        memmove(connection->out, connection->out + connection->out_start,
                connection->out_end - connection->out_start);
        connection->out_end -= connection->out_start;
        connection->out_start = 0;
    }
    char *end = template_render(template, &driver->random, driver->next_request++, &driver->scratch,
                                connection->out + connection->out_end);
    connection->out_end = (size_t)(end - connection->out);
    size_t place = connection->flight_first + connection->flight_count;
    if (place >= driver->pipeline)
        place -= driver->pipeline;
    connection->flights[place] = (struct flight){due_ns, template->commands};
    connection->flight_count++;
    driver->in_flight++;
}

static bool driver_may_send(const struct driver *driver, uint64_t now_ns)
{
    return driver->next_request < driver->phase.end && now_ns < driver->phase.stop_ns &&
           !atomic_load_explicit(driver->stop, memory_order_relaxed);
}

/* Without a rate: sends a whole pipeline when no request is in flight. */
static bool connection_fill(struct driver *driver, struct connection *connection, uint64_t now_ns)
{
    ASSERT(connection->flight_count == 0);
    if (!driver_may_send(driver, now_ns))
        return true;
    uint64_t left = driver->phase.end - driver->next_request;
    size_t count = left < driver->pipeline ? (size_t)left : driver->pipeline;
    for (size_t i = 0; i < count; i++)
        connection_add(driver, connection, now_ns);
    return connection_write(driver, connection);
}

/* All requests of a batch are due at the same time as its first. */
static uint64_t request_due_ns(const struct driver *driver, uint64_t request)
{
    uint64_t number = request - driver->phase.first;
    number -= number % driver->batch;
    return driver->phase.start_ns +
           (uint64_t)(driver->phase.offset_ns + (double)number * driver->phase.gap_ns);
}

/* The next connection in turn that has a free slot; NULL if all are full. */
static struct connection *connection_free(struct driver *driver)
{
    for (size_t i = 0; i < driver->connection_count; i++) {
        struct connection *connection = &driver->connections[driver->next_connection];
        driver->next_connection = (driver->next_connection + 1) % driver->connection_count;
        if (connection->flight_count < driver->pipeline)
            return connection;
    }
    return NULL;
}

/* The connection for the next request: that of its batch, while it has room. */
static struct connection *connection_choose(struct driver *driver)
{
    bool first = (driver->next_request - driver->phase.first) % driver->batch == 0;
    struct connection *connection = driver->batch_connection;
    if (first || connection == NULL || connection->flight_count == driver->pipeline)
        connection = connection_free(driver);
    driver->batch_connection = connection;
    return connection;
}

/* With a rate: renders all requests that are due, as long as there is a free slot. */
static bool driver_send_due(struct driver *driver, uint64_t now_ns)
{
    driver->dirty_count = 0;
    while (driver_may_send(driver, now_ns)) {
        uint64_t due_ns = request_due_ns(driver, driver->next_request);
        if (due_ns > now_ns || due_ns >= driver->phase.stop_ns ||
            driver->in_flight == driver->connection_count * driver->pipeline)
            break;
        struct connection *connection = connection_choose(driver);
        ASSERT(connection != NULL);
        connection_add(driver, connection, due_ns);
        if (!connection->dirty && !connection->blocked) {
            connection->dirty = true;
            driver->dirty[driver->dirty_count++] = connection;
        }
    }
    for (size_t i = 0; i < driver->dirty_count; i++) {
        driver->dirty[i]->dirty = false;
        if (!connection_write(driver, driver->dirty[i]))
            return false;
    }
    return true;
}

/* False if there are more replies than requests. */
static bool replies_count(struct driver *driver, struct connection *connection, int64_t replies,
                          uint64_t now_ns)
{
    uint64_t done = 0;
    for (; replies > 0 && connection->flight_count > 0; replies--) {
        struct flight *flight = &connection->flights[connection->flight_first];
        if (--flight->replies > 0)
            continue;
        histogram_add(&driver->histogram, now_ns > flight->due_ns ? now_ns - flight->due_ns : 0);
        if (++connection->flight_first == driver->pipeline)
            connection->flight_first = 0;
        connection->flight_count--;
        done++;
    }
    driver->in_flight -= done;
    uint64_t before = atomic_load_explicit(&driver->done, memory_order_relaxed);
    atomic_store_explicit(&driver->done, before + done, memory_order_relaxed);
    return replies == 0;
}

/* Adds what a reader has counted to the driver's results. */
static void errors_take(struct driver *driver, uint64_t *errors, const char *first_error)
{
    if (driver->first_error[0] == '\0')
        memcpy(driver->first_error, first_error, sizeof(driver->first_error));
    driver->errors += *errors;
    *errors = 0;
}

int64_t connection_feed(struct driver *driver, struct connection *connection, const char *bytes,
                        size_t length)
{
    if (driver->http) {
        struct response_reader *reader = &connection->reader.http;
        int64_t responses = response_reader_feed(reader, bytes, length);
        if (reader->errors > 0 && reader->code == 0) /* the text of the first error is complete */
            errors_take(driver, &reader->errors, reader->first_error);
        return responses;
    }
    struct reply_reader *reader = &connection->reader.resp;
    int64_t replies = reply_reader_feed(reader, bytes, length);
    if (reader->errors > 0)
        errors_take(driver, &reader->errors, reader->first_error);
    return replies;
}

static bool connection_read(struct driver *driver, struct connection *connection)
{
    ssize_t got = recv(connection->fd, driver->in, DRIVER_READ_BYTES, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    if (got <= 0) {
        driver_fail(driver,
                    "the connection broke: ", got == 0 ? "the server closed it" : strerror(errno));
        return false;
    }
    driver->bytes_received += (uint64_t)got;
    int64_t replies = connection_feed(driver, connection, driver->in, (size_t)got);
    uint64_t now_ns = clock_monotonic_ns();
    driver->last_reply_ns = now_ns;
    if (replies < 0 || !replies_count(driver, connection, replies, now_ns)) {
        driver_fail(driver, "the server's answer is invalid: ",
                    replies >= 0   ? "more replies than requests"
                    : driver->http ? "it is not HTTP with a Content-Length"
                                   : "it is not RESP");
        return false;
    }
    if (driver->phase.gap_ns > 0 || connection->flight_count > 0)
        return true;
    return connection_fill(driver, connection, now_ns);
}

/* Waits for a socket, or for the next due time; ppoll because epoll counts in milliseconds. */
static int driver_wait(struct driver *driver, struct epoll_event *events, uint64_t now_ns)
{
    bool full = driver->in_flight == driver->connection_count * driver->pipeline;
    if (driver->phase.gap_ns <= 0 || full || driver->next_request >= driver->phase.end)
        return epoll_wait(driver->epoll, events, EVENTS_A_TURN, WAIT_MS);
    uint64_t due_ns = request_due_ns(driver, driver->next_request);
    uint64_t wait_ns = due_ns > now_ns ? due_ns - now_ns : 0;
    if (wait_ns > WAIT_MS * 1000000ULL)
        wait_ns = WAIT_MS * 1000000ULL;
    if (wait_ns > 0) {
        struct pollfd poll = {.fd = driver->epoll, .events = POLLIN};
        struct timespec limit = {0, (long)wait_ns};
        if (ppoll(&poll, 1, &limit, NULL) < 0 && errno != EINTR)
            return -1;
    }
    return epoll_wait(driver->epoll, events, EVENTS_A_TURN, 0);
}

static bool driver_turn(struct driver *driver)
{
    struct epoll_event events[EVENTS_A_TURN];
    uint64_t now_ns = clock_monotonic_ns();
    if (driver->phase.gap_ns > 0 && !driver_send_due(driver, now_ns))
        return false;
    if (driver->in_flight > 0 && now_ns > driver->last_reply_ns + driver->timeout_ns) {
        driver_fail(driver, "the server does not answer", "");
        return false;
    }
    int ready = driver_wait(driver, events, now_ns);
    if (ready < 0 && errno != EINTR) {
        driver_fail(driver, "waiting failed: ", strerror(errno));
        return false;
    }
    for (int i = 0; i < ready; i++) {
        struct connection *connection = events[i].data.ptr;
        if ((events[i].events & EPOLLOUT) != 0 && connection->out_end > 0 &&
            !connection_write(driver, connection))
            return false;
        if ((events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0 &&
            !connection_read(driver, connection))
            return false;
    }
    if (ready <= 0 && driver->in_flight == 0)
        driver->last_reply_ns = clock_monotonic_ns();
    return true;
}

/* How many requests were due before the end but were not sent. */
static uint64_t driver_unsent(const struct driver *driver)
{
    const struct driver_phase *phase = &driver->phase;
    if (phase->gap_ns <= 0 || phase->stop_ns == UINT64_MAX)
        return 0;
    double span_ns = (double)(phase->stop_ns - phase->start_ns) - phase->offset_ns;
    uint64_t due = span_ns > 0 ? (uint64_t)(span_ns / phase->gap_ns) : 0;
    uint64_t sent = driver->next_request - phase->first;
    return due > sent ? due - sent : 0;
}

void *driver_run(void *argument)
{
    struct driver *driver = argument;
    uint64_t now_ns = clock_monotonic_ns();
    driver->last_reply_ns = now_ns;
    bool fine = true;
    for (size_t i = 0; fine && driver->phase.gap_ns <= 0 && i < driver->connection_count; i++)
        fine = connection_fill(driver, &driver->connections[i], now_ns);
    while (fine && (driver->in_flight > 0 || driver_may_send(driver, clock_monotonic_ns())))
        fine = driver_turn(driver);
    driver->ended_ns = clock_monotonic_ns();
    if (!atomic_load_explicit(driver->stop, memory_order_relaxed))
        driver->unsent = driver_unsent(driver);
    return NULL;
}
