#include "bench/connect.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/decimal.h"
#include "bench/reply_reader.h"

#define SCRIPT_MAX (1 << 20)

bool connect_split(const char *address, char host[CONNECT_HOST_MAX], char port[CONNECT_PORT_MAX])
{
    const char *text = address;
    const char *colon = strrchr(text, ':');
    uint64_t number;
    size_t length = colon == NULL ? 0 : (size_t)(colon - text);
    if (length > 2 && text[0] == '[' && text[length - 1] == ']') {
        text++;
        length -= 2;
    }
    if (length == 0 || length >= CONNECT_HOST_MAX ||
        !decimal_read(text_from(colon + 1), 65535, &number) || number == 0)
        return false;
    snprintf(host, CONNECT_HOST_MAX, "%.*s", (int)length, text);
    snprintf(port, CONNECT_PORT_MAX, "%u", (unsigned)(number & 0xffff));
    return true;
}

static int socket_open(const struct addrinfo *info, double timeout_seconds)
{
    int fd = socket(info->ai_family, info->ai_socktype | SOCK_CLOEXEC, info->ai_protocol);
    if (fd < 0)
        return -1;
    int on = 1;
    struct timeval limit = {
        (time_t)timeout_seconds,
        (suseconds_t)((timeout_seconds - (double)(time_t)timeout_seconds) * 1e6)};
    if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) == 0 &&
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) == 0 &&
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) == 0 &&
        connect(fd, info->ai_addr, info->ai_addrlen) == 0)
        return fd;
    int saved = errno;
    close(fd);
    errno = saved;
    return -1;
}

int connect_open(const char *host, const char *port, double timeout_seconds, char *problem,
                 size_t size)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    int failed = getaddrinfo(host, port, &hints, &found);
    if (failed != 0) {
        snprintf(problem, size, "cannot find %s: %s", host, gai_strerror(failed));
        return -1;
    }
    int fd = -1;
    for (struct addrinfo *info = found; fd < 0 && info != NULL; info = info->ai_next)
        fd = socket_open(info, timeout_seconds);
    if (fd < 0)
        snprintf(problem, size, "cannot connect to %s:%s: %s", host, port, strerror(errno));
    freeaddrinfo(found);
    return fd;
}

bool connect_send(int fd, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t sent = send(fd, bytes, length, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        bytes += sent;
        length -= (size_t)sent;
    }
    return true;
}

static bool words_send(int fd, const char *const *words, const size_t *lengths, size_t count)
{
    char header[32];
    int length = snprintf(header, sizeof(header), "*%zu\r\n", count);
    bool fine = connect_send(fd, header, (size_t)length);
    for (size_t i = 0; fine && i < count; i++) {
        length = snprintf(header, sizeof(header), "$%zu\r\n", lengths[i]);
        fine = connect_send(fd, header, (size_t)length) && connect_send(fd, words[i], lengths[i]) &&
               connect_send(fd, "\r\n", 2);
    }
    return fine;
}

bool connect_call(int fd, const char *const *words, const size_t *lengths, size_t count,
                  char reply[CONNECT_REPLY_MAX], char *problem, size_t size)
{
    struct reply_reader reader;
    size_t used = 0;
    int64_t replies = 0;
    reply_reader_init(&reader);
    if (!words_send(fd, words, lengths, count)) {
        snprintf(problem, size, "%s could not be sent: %s", words[0], strerror(errno));
        return false;
    }
    while (replies == 0) {
        ssize_t got = used + 1 < CONNECT_REPLY_MAX
                          ? recv(fd, reply + used, CONNECT_REPLY_MAX - 1 - used, 0)
                          : 0;
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            snprintf(problem, size, "%s was not answered: %s", words[0],
                     got < 0 ? strerror(errno) : "the connection was closed");
            return false;
        }
        replies = reply_reader_feed(&reader, reply + used, (size_t)got);
        used += (size_t)got;
    }
    reply[used] = '\0';
    if (replies != 1 || reader.errors > 0)
        snprintf(problem, size, "%s was refused: %s", words[0],
                 reader.errors > 0 ? reader.first_error : "the answer is not RESP");
    return replies == 1 && reader.errors == 0;
}

bool connect_load_script(int fd, const char *path, char sha[41], char *problem, size_t size)
{
    bool fine = false;
    char *reply = malloc(CONNECT_REPLY_MAX);
    char *script = malloc(SCRIPT_MAX);
    FILE *file = fopen(path, "rb");
    if (file == NULL || reply == NULL || script == NULL) {
        snprintf(problem, size, "cannot read %s: %s", path, strerror(errno));
        goto out;
    }
    size_t length = fread(script, 1, SCRIPT_MAX, file);
    if (ferror(file) || length == SCRIPT_MAX) {
        snprintf(problem, size, "cannot read %s, or it is larger than 1 MiB", path);
        goto out;
    }
    const char *words[] = {"SCRIPT", "LOAD", script};
    const size_t lengths[] = {6, 4, length};
    if (!connect_call(fd, words, lengths, 3, reply, problem, size))
        goto out;
    fine = strncmp(reply, "$40\r\n", 5) == 0;
    if (fine)
        snprintf(sha, 41, "%.40s", reply + 5);
    else
        snprintf(problem, size, "SCRIPT LOAD did not answer with a digest");
out:
    if (file != NULL)
        fclose(file);
    free(script);
    free(reply);
    return fine;
}

bool connect_authenticate(int fd, char reply[CONNECT_REPLY_MAX], char *problem, size_t size)
{
    const char *token = getenv("LAUD_TOKEN");
    if (token == NULL)
        return true;
    const char *words[] = {"AUTH", token};
    const size_t lengths[] = {strlen(words[0]), strlen(words[1])};
    return connect_call(fd, words, lengths, 2, reply, problem, size);
}
