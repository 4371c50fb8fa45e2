#include "net/sockets.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "guard/ip.h"

/* Each thread has a socket of its own on the same port, and the kernel spreads connections over them. */
static int bind_one(const struct sockets *sockets)
{
    int on = 1;
    int fd = socket(sockets->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) < 0 ||
        bind(fd, (const struct sockaddr *)&sockets->address, sockets->length) < 0) {
        int error = errno;
        close(fd);
        return -error;
    }
    return fd;
}

/* The address that the socket is really bound to, with the port that the kernel chose. */
static int take_address(struct sockets *sockets, int fd)
{
    sockets->length = sizeof sockets->address;
    if (getsockname(fd, (struct sockaddr *)&sockets->address, &sockets->length) < 0)
        return -errno;
    in_port_t port = sockets->address.ss_family == AF_INET6
                         ? ((const struct sockaddr_in6 *)&sockets->address)->sin6_port
                         : ((const struct sockaddr_in *)&sockets->address)->sin_port;
    sockets->port = ntohs(port);
    return 0;
}

/*
 * SO_REUSEPORT would let a second server share our port silently. So a socket without it is bound for a
 * moment, which fails while anybody listens.
 */
int sockets_probe(const struct sockets *sockets)
{
    int fd = socket(sockets->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    int on = 1;
    int error = setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0 ||
                        bind(fd, (const struct sockaddr *)&sockets->address, sockets->length) < 0
                    ? -errno
                    : 0;
    close(fd);
    return error;
}

static int bind_all(struct sockets *sockets, unsigned count)
{
    int error = sockets_probe(sockets);
    while (error == 0 && sockets->count < count) {
        int fd = bind_one(sockets);
        if (fd < 0)
            return fd;
        sockets->fds[sockets->count++] = fd;
        error = take_address(sockets, fd);
    }
    return error;
}

bool sockets_are_open(const struct sockets *sockets)
{
    struct ip ip = ip_of_socket((const struct sockaddr *)&sockets->address);
    return sockets->length > 0 && !ip_is_loopback(&ip);
}

static bool is_wildcard(const struct sockets *sockets)
{
    static const struct ip none = {{0}}, mapped = {{[10] = 0xff, [11] = 0xff}};
    struct ip ip = ip_of_socket((const struct sockaddr *)&sockets->address);
    return memcmp(&ip, &none, sizeof ip) == 0 || memcmp(&ip, &mapped, sizeof ip) == 0;
}

/* An IPv4 wildcard has no IPv6 addresses; an IPv6 wildcard has the addresses of both. */
static bool covers(const struct sockets *wide, const struct sockets *other)
{
    return is_wildcard(wide) && (wide->address.ss_family == AF_INET6 ||
                                 other->address.ss_family == wide->address.ss_family);
}

bool sockets_overlap(const struct sockets *one, const struct sockets *other)
{
    struct ip first = ip_of_socket((const struct sockaddr *)&one->address);
    struct ip second = ip_of_socket((const struct sockaddr *)&other->address);
    return one->port == other->port && one->port != 0 &&
           (memcmp(&first, &second, sizeof first) == 0 || covers(one, other) || covers(other, one));
}

static bool find(struct sockets *sockets, const struct address *address, char *problem, size_t size)
{
    char port[8];
    snprintf(port, sizeof port, "%u", address->port);
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *where = NULL;
    int unknown = getaddrinfo(address->host, port, &hints, &where);
    if (unknown) {
        snprintf(problem, size, "cannot listen on %s: %s", address->host, gai_strerror(unknown));
        return false;
    }
    memcpy(&sockets->address, where->ai_addr, where->ai_addrlen);
    sockets->length = where->ai_addrlen;
    freeaddrinfo(where);
    return true;
}

enum status sockets_bind(struct sockets *sockets, const struct address *address, unsigned count,
                         bool open, char *problem, size_t size)
{
    ASSERT(count <= LIMIT_THREADS);
    *sockets = (struct sockets){.count = 0};
    if (!find(sockets, address, problem, size))
        return STATUS_IO_FAILED;
    if (!open && sockets_are_open(sockets)) {
        snprintf(problem, size,
                 "%s can be reached from other machines, and no tokens are required: give --tokens "
                 "FILE, or --insecure yes to let everybody in",
                 address->host);
        return STATUS_BAD_ARGUMENT;
    }
    int error = bind_all(sockets, count);
    if (error == 0)
        return STATUS_OK;
    sockets_close(sockets);
    snprintf(problem, size, "cannot listen on %s:%u: %s", address->host, address->port,
             strerror(-error));
    return STATUS_IO_FAILED;
}

int sockets_take(struct sockets *sockets, unsigned index)
{
    ASSERT(index < sockets->count && sockets->fds[index] >= 0);
    int fd = sockets->fds[index];
    sockets->fds[index] = -1;
    return fd;
}

void sockets_close(struct sockets *sockets)
{
    for (unsigned i = 0; i < sockets->count; i++)
        if (sockets->fds[i] >= 0)
            close(sockets->fds[i]);
    sockets->count = 0;
}
