/*
 * The sockets of one address that the server listens on, one for each I/O thread, all on the same port.
 * They are bound before any data is touched, so that a port in use costs nothing, and begin to listen
 * once there is something to serve: until then clients are refused by the kernel, and do not hang.
 */
#ifndef LAUD_NET_SOCKETS_H
#define LAUD_NET_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/limits.h"
#include "base/options.h"
#include "base/status.h"

/* All zero: none are bound. */
struct sockets {
    unsigned count;
    int fds[LIMIT_THREADS]; /* -1: it was taken */
    uint16_t port;          /* the one really bound */
    struct sockaddr_storage address;
    socklen_t length;
};

/*
 * `open`: it may be an address that other machines can reach. OK; BAD_ARGUMENT: it may not; IO_FAILED:
 * it cannot be had. Then `problem` is one sentence, and nothing is left bound.
 */
enum status sockets_bind(struct sockets *sockets, const struct address *address, unsigned count,
                         bool open, char *problem, size_t size);

/* Can it be reached from other machines? False also if its host is not known. */
bool sockets_are_open(const struct sockets *sockets);

/* Is some address with the port of both part of both? Then they cannot both listen. */
bool sockets_overlap(const struct sockets *one, const struct sockets *other);

/*
 * Nobody else has begun to listen on the port since it was bound: 0 or an errno, negative. Sockets that
 * do not listen yet cannot keep another server from binding as we did.
 */
int sockets_probe(const struct sockets *sockets);

/* The socket of one thread, the caller's from now on. */
int sockets_take(struct sockets *sockets, unsigned index);

/* Those that nobody took. */
void sockets_close(struct sockets *sockets);

#endif
