/*
 * MULTI and EXEC: commands of one connection that are kept, then run in order with nothing of that
 * connection between them, and answered by one array.
 *
 * The bytes of each command are kept as they came, so a transaction costs what it was sent as, and EXEC
 * runs them through the same code as any other input: they are limited, wait for the guard or a worker,
 * and take turns with other connections as commands outside do. What is there of the array meanwhile
 * stays in conn->out as conn->unfinished, and counts as no reply until all of it is there. So it is in
 * one group, and leaves when the journal has all writes of it.
 *
 * It is neither isolated nor rolled back: other connections see each change when it is made, and a
 * command that is refused leaves the others as they are. There is nothing to WATCH for the same reason.
 *
 * Made with the first MULTI of a connection, charged to the budget as its memory. By
 * the connection's own thread.
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
    bool aborted; /* a command was refused when it came: EXEC runs none */
    bool writes;  /* some of the commands do */
    struct buffer queue;
    uint32_t count; /* of commands in it */
    size_t at;      /* RUNS: bytes of the queue that were run */
    uint32_t done;  /* RUNS: replies in the array, but for those since multi_enter */
    bool wrote;     /* RUNS: some of them acknowledge a write, but for those since multi_enter */
    /* For as long as the face has the connection in hand (multi_enter, multi_leave): */
    size_t out_from;       /* where in conn->out the array begins */
    uint32_t replies_from; /* conn->replies without those in the array */
    bool wrote_from;       /* conn->wrote, likewise */
    char sentence[192];    /* why EXEC was refused */
};

static inline struct multi *multi_of(const struct conn *conn)
{
    return resp_of(conn)->multi;
}

/* Are commands being kept? */
static inline bool multi_is_open(const struct conn *conn)
{
    return multi_of(conn) != NULL && multi_of(conn)->state == MULTI_OPEN;
}

/* Are those of EXEC being run? */
static inline bool multi_runs(const struct conn *conn)
{
    return multi_of(conn) != NULL && multi_of(conn)->state == MULTI_RUNS;
}

/* Is it one of those that are never kept? NULL: one that does not exist. */
bool multi_takes_now(const struct command *command);

/* Keeps a command that would be taken outside. OK, or why it is not kept. */
enum status multi_queue(struct conn *conn, const struct command *command, struct text bytes);

/* A command was refused when it came; does nothing outside of a transaction. */
void multi_abort(struct conn *conn);

/* Forgets what is kept, also if there is nothing. */
void multi_discard(struct conn *conn);

/* RUNS: what is still to be run, and that so much of it was. */
struct text multi_rest(const struct conn *conn);
void multi_ran(struct conn *conn, size_t bytes);

/* RUNS: all of them are answered. Returns how many since multi_enter. */
uint32_t multi_finish(struct conn *conn);

/*
 * Around everything that may write replies of EXEC; they do nothing if none runs. multi_leave returns
 * how many were written since multi_enter.
 */
void multi_enter(struct conn *conn);
uint32_t multi_leave(struct conn *conn);

/* The connection is quiet, and closed. */
void multi_shrink(struct conn *conn);
void multi_free(struct conn *conn);

#endif
