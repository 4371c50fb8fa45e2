/*
 * The sockets of one address that the server listens on, one for each I/O thread, all on the same port.
 * They are bound before any data is opened, so that the server fails early if the port is in use. They
 * begin to listen when the server is ready; until then the kernel refuses clients, so that they do not
 * have to wait.
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

/* All zero: no socket is bound. */
struct sockets {
    unsigned count;
    int fds[LIMIT_THREADS]; /* -1: sockets_take was called */
    uint16_t port;          /* the port that is really bound */
    struct sockaddr_storage address;
    socklen_t length;
};

/*
 * Binds `count` sockets. `open` allows an address that other machines can reach. OK; BAD_ARGUMENT: such an
 * address is not allowed; IO_FAILED: the address cannot be bound. After a failure `problem` is one
 * sentence, and no socket is bound.
 */
enum status sockets_bind(struct sockets *sockets, const struct address *address, unsigned count,
                         bool open, char *problem, size_t size);

/* Can other machines reach the address? False also if the host could not be resolved. */
bool sockets_are_open(const struct sockets *sockets);

/* True if both have the same port and share an address, so that they cannot both listen. */
bool sockets_overlap(const struct sockets *one, const struct sockets *other);

/*
 * Checks that nobody else has begun to listen on the port since it was bound: 0, or a negative errno. A
 * socket that does not listen yet cannot stop another server from binding the same port with SO_REUSEPORT.
 */
int sockets_probe(const struct sockets *sockets);

/* Returns the socket of one thread. The caller owns it from now on. */
int sockets_take(struct sockets *sockets, unsigned index);

/* Closes the sockets that were not taken. */
void sockets_close(struct sockets *sockets);

#endif
