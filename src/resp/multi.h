/*
 * MULTI and EXEC. The commands of one connection after MULTI are kept. EXEC runs them in order, with
 * no other command of that connection between them, and one array is the answer.
 *
 * The bytes of each command are kept as the client sent them, so a transaction needs no more memory
 * than its input. EXEC runs them through the same code as any other input: limits, admission, workers
 * and turns with other connections are the same as outside of a transaction. The replies that are
 * finished meanwhile stay in conn->out as conn->unfinished, and do not count as a reply until the
 * array is complete. So the array is in one reply group, and is sent when all its writes are released.
 *
 * A transaction is neither isolated nor rolled back: other connections see each change when it is
 * made, and a command that is refused does not affect the others. Therefore WATCH has no meaning and
 * is refused.
 *
 * A `struct multi` is made by the first MULTI of a connection and charged to the budget as memory of the
 * connection. Only the connection's own thread may call these functions.
 */
#ifndef LAUD_RESP_MULTI_H
#define LAUD_RESP_MULTI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resp/connection.h"

enum multi_state { MULTI_NONE, MULTI_OPEN, MULTI_RUNS };

struct multi {
    enum multi_state state;
    bool aborted; /* a command was refused before EXEC, so that EXEC runs none */
    bool writes;  /* at least one of the commands writes */
    struct buffer queue;
    uint32_t count; /* how many commands are in the queue */
    size_t at;      /* RUNS: how many bytes of the queue were run */
    uint32_t done;  /* RUNS: how many replies are in the array, without those since multi_begin */
    bool wrote;     /* RUNS: one of these replies acknowledges a write */
    /* From multi_begin to multi_end: */
    size_t out_from;       /* where the array begins in conn->out */
    uint32_t replies_from; /* conn->replies without the replies in the array */
    bool wrote_from;       /* conn->wrote without the replies in the array */
    char sentence[192];    /* why EXEC was refused */
};

static inline struct multi *multi_of(const struct conn *conn)
{
    return resp_of(conn)->multi;
}

/* Are commands being kept, after MULTI? */
static inline bool multi_is_open(const struct conn *conn)
{
    return multi_of(conn) != NULL && multi_of(conn)->state == MULTI_OPEN;
}

/* Is EXEC running its commands? */
static inline bool multi_runs(const struct conn *conn)
{
    return multi_of(conn) != NULL && multi_of(conn)->state == MULTI_RUNS;
}

/* Is this a command that is run at once even after MULTI? NULL: a command that does not exist. */
bool multi_takes_now(const struct command *command);

/* Keeps a command, which passed its checks, until EXEC. OK, or why it cannot be kept. */
enum status multi_queue(struct conn *conn, const struct command *command, struct text bytes);

/* A command after MULTI was refused, so that EXEC will run none. Does nothing outside of a transaction. */
void multi_abort(struct conn *conn);

/* Drops the commands that are kept, if there are any. */
void multi_discard(struct conn *conn);

/* RUNS: the bytes of the queue that were not run yet; and the note that `bytes` more of them were run. */
struct text multi_rest(const struct conn *conn);
void multi_ran(struct conn *conn, size_t bytes);

/* RUNS: all commands are answered, so the array is complete. Returns the replies since multi_begin. */
uint32_t multi_finish(struct conn *conn);

/*
 * These two are called before and after everything that may write replies of EXEC. They do nothing if EXEC
 * does not run. multi_end returns how many replies were written since multi_begin.
 */
void multi_begin(struct conn *conn);
uint32_t multi_end(struct conn *conn);

/* Frees memory of a connection that is idle. */
void multi_shrink(struct conn *conn);

/* Frees the transaction of a connection, if there is one. */
void multi_free(struct conn *conn);

#endif
