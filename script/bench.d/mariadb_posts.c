/*
 * The load of the benchmark "comments" on MariaDB: posts, each one transaction of three prepared statements, from many
 * connections with one post in flight on each. It is one thread with epoll, as `laud bench` is, and speaks MariaDB's
 * protocol itself, so that the client is not what is measured. The statements of a post and its COMMIT are sent in one
 * write, so a post takes one round trip.
 *
 * usage: mariadb_posts SOCKET CONNECTIONS SECONDS SUBJECTS BYTES
 *
 * It connects as root without a password to the database `laud`, whose tables script/bench.d/mariadb_comments.py
 * makes. Subjects are 0 ... SUBJECTS - 1, texts have BYTES bytes. The report is one JSON object on standard output.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define PACKET_HEAD 4
#define BUFFER      65536
#define STATEMENTS  3
#define REPLIES     (STATEMENTS + 1) /* and that of COMMIT */
#define TEXT_MAX    10000
#define ID_BASE     1000000000000000000ULL
#define SAMPLES     4000000

enum { COM_QUERY = 3, COM_STMT_PREPARE = 0x16, COM_STMT_EXECUTE = 0x17 };
enum { TYPE_LONGLONG = 8, TYPE_VAR_STRING = 253, UNSIGNED = 0x80 };

/* Capabilities: long password, database, protocol 4.1, transactions, secure connection, plugins. */
#define CAPABILITIES (0x1u | 0x8u | 0x200u | 0x2000u | 0x8000u | 0x80000u)

static const char *const statements[STATEMENTS] = {
    "INSERT INTO comment_content (id, message, created) VALUES (?, ?, ?)",
    "UPDATE comment_subject SET floors = LAST_INSERT_ID(floors + 1), roots = roots + 1,"
    " comments = comments + 1, updated = ? WHERE item = ?",
    "INSERT INTO comment_index (id, item, member, root, parent, floor, state, created)"
    " VALUES (?, ?, ?, 0, 0, LAST_INSERT_ID(), 0, ?)",
};

struct connection {
    int fd;
    uint32_t statements[STATEMENTS];
    uint8_t in[BUFFER];
    size_t in_length;
    unsigned replies; /* that are still expected */
    uint64_t sent_ns;
};

static uint64_t posted;
static uint64_t random_state = 88172645463325252ULL;
static uint32_t *samples;
static size_t sample_count;

static void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "mariadb_posts: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    exit(1);
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

static uint64_t draw(uint64_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % below;
}

static uint8_t *put(uint8_t *at, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        *at++ = (uint8_t)(value >> 8 * i);
    return at;
}

static uint64_t get(const uint8_t *at, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << 8 * i;
    return value;
}

/* Writes the head of the packet from `start` to `end`. */
static void finish_packet(uint8_t *start, const uint8_t *end, uint8_t number)
{
    put(start, (uint64_t)(end - start - PACKET_HEAD), 3);
    start[3] = number;
}

static void send_all(int fd, const uint8_t *bytes, size_t length)
{
    while (length > 0) {
        ssize_t sent = send(fd, bytes, length, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            fail("cannot send: %s", strerror(errno));
        bytes += sent;
        length -= (size_t)sent;
    }
}

/* Opening a connection: everything blocks. */

/* Reads one packet; returns the length of its content, which is at `out`. */
static size_t read_packet(int fd, uint8_t *out, uint8_t *number)
{
    uint8_t head[PACKET_HEAD];
    if (recv(fd, head, sizeof head, MSG_WAITALL) != (ssize_t)sizeof head)
        fail("the server closed the connection");
    size_t length = get(head, 3);
    if (length > BUFFER || recv(fd, out, length, MSG_WAITALL) != (ssize_t)length)
        fail("a packet is too long or incomplete");
    *number = head[3];
    return length;
}

static void expect_ok(const uint8_t *packet, size_t length, const char *what)
{
    if (length > 0 && packet[0] == 0xff)
        fail("%s: %.*s", what, (int)(length > 9 ? length - 9 : 0), (const char *)packet + 9);
    if (length == 0 || packet[0] != 0)
        fail("%s: the answer is not understood", what);
}

static void log_in(int fd)
{
    uint8_t packet[BUFFER], out[256], number;
    static const char plugin[] = "mysql_native_password", database[] = "laud";
    size_t length = read_packet(fd, packet, &number);
    if (length == 0 || packet[0] != 10)
        fail("the server does not greet as MariaDB does");
    uint8_t *at = out + PACKET_HEAD;
    at = put(at, CAPABILITIES, 4);
    at = put(at, 1 << 24, 4);
    at = put(at, 45, 1); /* utf8mb4 */
    memset(at, 0, 23);
    at += 23;
    memcpy(at, "root", 5);
    at = put(at + 5, 0, 1); /* no password */
    memcpy(at, database, sizeof database);
    at += sizeof database;
    memcpy(at, plugin, sizeof plugin);
    at += sizeof plugin;
    finish_packet(out, at, (uint8_t)(number + 1));
    send_all(fd, out, (size_t)(at - out));
    length = read_packet(fd, packet, &number);
    if (length > 0 && packet[0] == 0xfe) { /* another method: still no password */
        finish_packet(out, out + PACKET_HEAD, (uint8_t)(number + 1));
        send_all(fd, out, PACKET_HEAD);
        length = read_packet(fd, packet, &number);
    }
    expect_ok(packet, length, "login");
}

static void send_command(int fd, uint8_t command, const char *text)
{
    uint8_t out[1024];
    size_t length = strlen(text);
    uint8_t *at = put(out + PACKET_HEAD, command, 1);
    memcpy(at, text, length);
    finish_packet(out, at + length, 0);
    send_all(fd, out, (size_t)(at + length - out));
}

static uint32_t prepare(int fd, const char *text)
{
    uint8_t packet[BUFFER], number;
    send_command(fd, COM_STMT_PREPARE, text);
    size_t length = read_packet(fd, packet, &number);
    expect_ok(packet, length, text);
    uint32_t id = (uint32_t)get(packet + 1, 4);
    unsigned parameters = (unsigned)get(packet + 7, 2);
    for (unsigned i = 0; i < parameters + 1; i++) /* their definitions, and an end */
        read_packet(fd, packet, &number);
    return id;
}

static void open_connection(struct connection *connection, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    uint8_t packet[BUFFER], number;
    if (strlen(path) >= sizeof address.sun_path)
        fail("the path of the socket is too long");
    strcpy(address.sun_path, path);
    connection->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection->fd < 0 ||
        connect(connection->fd, (const struct sockaddr *)&address, sizeof address) != 0)
        fail("%s: %s", path, strerror(errno));
    log_in(connection->fd);
    send_command(connection->fd, COM_QUERY, "SET autocommit = 0");
    size_t length = read_packet(connection->fd, packet, &number);
    expect_ok(packet, length, "SET autocommit");
    for (unsigned i = 0; i < STATEMENTS; i++)
        connection->statements[i] = prepare(connection->fd, statements[i]);
    fcntl(connection->fd, F_SETFL, O_NONBLOCK);
}

/* Posting */

static uint8_t *begin_execute(uint8_t *at, uint32_t statement, unsigned count, const uint8_t *types)
{
    at = put(at + PACKET_HEAD, COM_STMT_EXECUTE, 1);
    at = put(at, statement, 4);
    at = put(at, 0, 1);
    at = put(at, 1, 4);
    at = put(at, 0, (count + 7) / 8); /* nothing is NULL */
    at = put(at, 1, 1);
    for (unsigned i = 0; i < count; i++) {
        at = put(at, types[i], 1);
        at = put(at, types[i] == TYPE_LONGLONG ? UNSIGNED : 0, 1);
    }
    return at;
}

static uint8_t *put_text(uint8_t *at, size_t bytes, uint64_t id)
{
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, id);
    if (bytes < 251)
        at = put(at, bytes, 1);
    else
        at = put(put(at, 0xfc, 1), bytes, 2);
    memset(at, 'x', bytes);
    memcpy(at, digits, (size_t)length < bytes ? (size_t)length : bytes);
    return at + bytes;
}

static void post(struct connection *connection, uint64_t subjects, size_t bytes)
{
    static const uint8_t content[] = {TYPE_LONGLONG, TYPE_VAR_STRING, TYPE_LONGLONG};
    static const uint8_t numbers[] = {TYPE_LONGLONG, TYPE_LONGLONG, TYPE_LONGLONG, TYPE_LONGLONG};
    static uint8_t out[TEXT_MAX + 1024];
    uint64_t id = ID_BASE + posted, item = draw(subjects), time = 1700000000 + posted / 1000;
    uint8_t *start = out, *at;
    at = begin_execute(start, connection->statements[0], 3, content);
    at = put(put_text(put(at, id, 8), bytes, id), time, 8);
    finish_packet(start, at, 0);
    start = at;
    at = begin_execute(start, connection->statements[1], 2, numbers);
    at = put(put(at, time, 8), item, 8);
    finish_packet(start, at, 0);
    start = at;
    at = begin_execute(start, connection->statements[2], 4, numbers);
    at = put(put(put(put(at, id, 8), item, 8), ID_BASE + draw(1000000), 8), time, 8);
    finish_packet(start, at, 0);
    start = at;
    at = put(start + PACKET_HEAD, COM_QUERY, 1);
    memcpy(at, "COMMIT", 6);
    at += 6;
    finish_packet(start, at, 0);
    posted++;
    connection->replies = REPLIES;
    connection->sent_ns = now_ns();
    send_all(connection->fd, out, (size_t)(at - out));
}

/* Takes complete packets from the buffer. True: the post is answered. */
static bool take_replies(struct connection *connection)
{
    size_t at = 0;
    while (connection->in_length - at >= PACKET_HEAD) {
        const uint8_t *packet = connection->in + at + PACKET_HEAD;
        size_t length = get(connection->in + at, 3);
        if (connection->in_length - at - PACKET_HEAD < length)
            break;
        expect_ok(packet, length, "a post");
        if (connection->replies-- == 0)
            fail("there is an answer to nothing");
        at += PACKET_HEAD + length;
    }
    connection->in_length -= at;
    memmove(connection->in, connection->in + at, connection->in_length);
    return connection->replies == 0;
}

static bool receive(struct connection *connection)
{
    ssize_t got = recv(connection->fd, connection->in + connection->in_length,
                       BUFFER - connection->in_length, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (got <= 0)
        fail("the server closed the connection");
    connection->in_length += (size_t)got;
    return take_replies(connection);
}

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static void report(uint64_t done, double seconds)
{
    qsort(samples, sample_count, sizeof *samples, compare);
    uint32_t p50 = sample_count > 0 ? samples[sample_count / 2] : 0;
    uint32_t p99 = sample_count > 0 ? samples[sample_count - 1 - sample_count / 100] : 0;
    printf("{\"requests\":%" PRIu64 ",\"seconds\":%.6f,\"rate\":%.1f,\"latency_us\":{\"p50\":%u,\"p99\":%u}}\n",
           done, seconds, (double)done / seconds, p50, p99);
}

static uint64_t number(const char *text, uint64_t most)
{
    char *end;
    errno = 0;
    uint64_t value = strtoull(text, &end, 10);
    if (errno != 0 || *end != '\0' || value == 0 || value > most)
        fail("'%s' is not a number from 1 to %" PRIu64, text, most);
    return value;
}

int main(int argc, char **argv)
{
    if (argc != 6)
        fail("usage: mariadb_posts SOCKET CONNECTIONS SECONDS SUBJECTS BYTES");
    uint64_t count = number(argv[2], 1000), seconds = number(argv[3], 3600);
    uint64_t subjects = number(argv[4], UINT32_MAX), bytes = number(argv[5], TEXT_MAX), done = 0;
    struct connection *connections = calloc(count, sizeof *connections);
    samples = malloc(SAMPLES * sizeof *samples);
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    if (connections == NULL || samples == NULL || epoll < 0)
        fail("there is no memory");
    for (uint64_t i = 0; i < count; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &connections[i]};
        open_connection(&connections[i], argv[1]);
        epoll_ctl(epoll, EPOLL_CTL_ADD, connections[i].fd, &event);
    }
    uint64_t begun = now_ns(), until = begun + seconds * 1000000000ULL, last = begun;
    for (uint64_t i = 0; i < count; i++)
        post(&connections[i], subjects, bytes);
    while (done < posted) {
        struct epoll_event events[64];
        int ready = epoll_wait(epoll, events, 64, 30000);
        if (ready <= 0)
            fail("the server has not answered for 30 s");
        for (int i = 0; i < ready; i++) {
            struct connection *connection = events[i].data.ptr;
            if (!receive(connection))
                continue;
            last = now_ns();
            done++;
            if (sample_count < SAMPLES)
                samples[sample_count++] = (uint32_t)((last - connection->sent_ns) / 1000);
            if (last < until)
                post(connection, subjects, bytes);
        }
    }
    report(done, (double)(last - begun) / 1e9);
    return 0;
}
