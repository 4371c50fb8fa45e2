/*
 * A server around a hot tier that says what the test wants: items with ids of COLD and more need
 * the store, and workers that ask for them wait until the test opens the gate. The journal is a
 * real one, in a directory of its own.
 *
 * What it answers can be told from the request: SET and CLEAR 1, ADD the item's id, ASK whether the
 * id is odd, COUNTS and FEED one counter with the id as value, or for MOVING what the test says. COMMENT
 * answers the item's id and the sum of the bytes of the text; with a token it was posted before, and a text
 * that begins with "=" is refused. Other changes of comments are done, and there are no comments to read.
 * As news, an item's value is the id of the comment that was removed last; those before have lower ids.
 */
#ifndef LAUD_NET_FAKE_H
#define LAUD_NET_FAKE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/embedded_metrics.h"
#include "hot/memory/admission.h"
#include "hot/pool.h"
#include "net/server.h"

#define COLD   1000000
#define MOVING 777

struct fake {
    struct hot hot;
    struct journal *journal;
    struct admission admission; /* its bounds can be changed before fake_start */
    struct pool pool;
    struct hot_pacer pacers[LIMIT_WORKERS];
    struct options options;
    struct names *names;
    struct memory_budget budget;
    struct server_parts parts;
    struct embedded_metrics metrics; /* what INFO shows of the shape; fake_start adds it */
    struct server server;
    _Atomic int64_t moving;    /* its counter */
    _Atomic bool closed;       /* the comments of all items are closed */
    _Atomic bool early;        /* MOVING needs the store, and workers answer before they wait */
    _Atomic int admits;        /* what writes that need memory are told: a status */
    _Atomic uint64_t retry_ns; /* workers refuse all, to be asked for again after this; 0: none */
    uint64_t used;             /* of the budget, before the server started */
    char directory[64];

    pthread_mutex_t lock; /* of all below */
    pthread_cond_t moved;
    bool open;    /* workers may pass */
    int inside;   /* workers that wait */
    uint64_t ran; /* requests run by workers */
};

/* Prepares all but the server; options and parts can then be changed. */
void fake_init(struct fake *fake);
void fake_start(struct fake *fake);
void fake_stop(struct fake *fake); /* if that was not done, and checks that all memory came back */

/* For setup and teardown; the state is a fake. */
int fake_begin(void **state);
int fake_end(void **state);

void fake_gate(struct fake *fake, bool open);
void fake_await_inside(struct fake *fake, int count);
uint64_t fake_ran(struct fake *fake);

/* A client: a socket with a time limit, so that a test fails rather than hangs. */
int client_open(struct fake *fake); /* to RESP */
int client_open_port(uint16_t port);
void client_send(int fd, const char *text);   /* commands, each a line */
void client_expect(int fd, const char *text); /* exactly these bytes */
void client_expect_none(int fd);              /* nothing has come */
void client_expect_end(int fd);
void client_read_line(int fd, char *line, size_t size); /* without its CRLF */

#endif
