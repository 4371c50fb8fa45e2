#include "resp/multi.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/clock.h"
#include "resp/session.h"
#include "resp/write.h"

_Static_assert(LIMIT_MULTI == 65536 && LIMIT_MULTI_BYTES == 8 << 20, "MULTI_FULL says so");

bool multi_takes_now(const struct command *command)
{
    return command != NULL &&
           (command->session == session_exec || command->session == session_discard ||
            command->session == session_multi || command->session == session_watch ||
            command->session == session_reset || command->session == session_quit);
}

static struct multi *make(struct conn *conn)
{
    struct memory_budget *budget = conn->out.budget;
    if (!memory_charge_connection(budget, sizeof(struct multi)))
        return NULL;
    struct multi *multi = calloc(1, sizeof *multi);
    if (multi == NULL) {
        memory_release_connection(budget, sizeof *multi);
        return NULL;
    }
    multi->queue.budget = budget;
    resp_of(conn)->multi = multi;
    return multi;
}

enum status multi_queue(struct conn *conn, const struct command *command, struct text bytes)
{
    struct multi *multi = multi_of(conn);
    ASSERT(multi->state == MULTI_OPEN);
    if (multi->aborted)
        return STATUS_OK; /* EXEC will not run it, so it need not be kept */
    if (multi->count == LIMIT_MULTI || multi->queue.length + bytes.length > LIMIT_MULTI_BYTES)
        return STATUS_MULTI_FULL;
    if (!buffer_append(&multi->queue, bytes.bytes, bytes.length))
        return STATUS_TOO_BUSY;
    multi->count++;
    multi->writes = multi->writes || (command->op != NULL && op_writes(command->op));
    conn->owed = multi->queue.length > LIMIT_MULTI_QUIET;
    return STATUS_OK;
}

void multi_abort(struct conn *conn)
{
    if (!multi_is_open(conn))
        return;
    multi_discard(conn);
    multi_of(conn)->state = MULTI_OPEN;
    multi_of(conn)->aborted = true;
}

void multi_discard(struct conn *conn)
{
    struct multi *multi = multi_of(conn);
    if (multi == NULL)
        return;
    ASSERT(multi->state != MULTI_RUNS);
    multi->state = MULTI_NONE;
    multi->aborted = multi->writes = false;
    multi->queue.length = 0;
    multi->count = 0;
    conn->owed = false;
}

struct text multi_rest(const struct conn *conn)
{
    const struct multi *multi = multi_of(conn);
    ASSERT(multi->state == MULTI_RUNS && multi->at <= multi->queue.length);
    return (struct text){multi->queue.bytes + multi->at, multi->queue.length - multi->at};
}

void multi_ran(struct conn *conn, size_t bytes)
{
    struct multi *multi = multi_of(conn);
    ASSERT(bytes <= multi->queue.length - multi->at);
    multi->at += bytes;
}

/* From now on replies belong to the array, which begins at offset `out_from` of conn->out. */
static void begin(struct conn *conn, size_t out_from)
{
    struct multi *multi = multi_of(conn);
    multi->out_from = out_from;
    multi->replies_from = conn->replies;
    multi->wrote_from = conn->wrote;
    conn->wrote = false;
}

void multi_begin(struct conn *conn)
{
    if (!multi_runs(conn))
        return;
    struct multi *multi = multi_of(conn);
    ASSERT(conn->replies == 0); /* earlier replies are in a group, so all new ones are of EXEC */
    multi->wrote = multi->wrote || conn->wrote;
    conn->wrote = false;
    begin(conn, conn->out.length - conn->unfinished);
}

uint32_t multi_end(struct conn *conn)
{
    if (!multi_runs(conn))
        return 0;
    struct multi *multi = multi_of(conn);
    ASSERT(conn->replies >= multi->replies_from && conn->out.length >= multi->out_from);
    uint32_t written = conn->replies - multi->replies_from;
    multi->done += written;
    multi->wrote = multi->wrote || conn->wrote;
    conn->replies = multi->replies_from;
    conn->wrote = multi->wrote_from;
    conn->unfinished = conn->out.length - multi->out_from;
    return written;
}

uint32_t multi_finish(struct conn *conn)
{
    struct multi *multi = multi_of(conn);
    ASSERT(multi->state == MULTI_RUNS);
    uint32_t written = multi_end(conn);
    ASSERT(multi->done == multi->count && multi->at == multi->queue.length);
    multi->state = MULTI_NONE;
    multi_discard(conn);
    conn->unfinished = 0;
    conn->wrote = conn->wrote || multi->wrote;
    conn->replies++;
    return written;
}

void multi_shrink(struct conn *conn)
{
    if (multi_of(conn) != NULL && multi_of(conn)->state == MULTI_NONE)
        multi_free(conn);
}

void multi_free(struct conn *conn)
{
    struct multi *multi = multi_of(conn);
    if (multi == NULL)
        return;
    struct memory_budget *budget = multi->queue.budget;
    server_gave_back(conn->loop->server, sizeof *multi + multi->queue.capacity);
    buffer_free(&multi->queue);
    memory_release_connection(budget, sizeof *multi);
    free(multi);
    resp_of(conn)->multi = NULL;
}

/* The commands of session.def for transactions. Their sentences are those of Redis. */

bool session_multi(struct conn *conn, const struct text *args, uint32_t count,
                   struct refusal *refusal)
{
    (void)args;
    (void)count;
    if (multi_is_open(conn))
        return session_refuse_saying(refusal, STATUS_BAD_MULTI, "MULTI calls can not be nested");
    if (multi_of(conn) == NULL && make(conn) == NULL)
        return session_refuse(refusal, STATUS_TOO_BUSY);
    multi_of(conn)->state = MULTI_OPEN;
    return resp_simple(&conn->out, "OK");
}

/* Nothing was run yet. If no write is possible now, a transaction with a write is refused as a whole. */
static enum status admit(struct conn *conn)
{
    if (!multi_of(conn)->writes)
        return STATUS_OK;
    enum status status =
        hot_admit(conn->loop->server->parts.hot, &conn->loop->pacer, clock_monotonic_ns());
    return status == STATUS_BLOCKED ? STATUS_OK : status; /* the first write waits */
}

bool session_exec(struct conn *conn, const struct text *args, uint32_t count,
                  struct refusal *refusal)
{
    struct multi *multi = multi_of(conn);
    (void)args;
    (void)count;
    if (!multi_is_open(conn))
        return session_refuse_saying(refusal, STATUS_BAD_MULTI, "EXEC without MULTI");
    bool aborted = multi->aborted;
    enum status status = admit(conn);
    if (aborted || status != STATUS_OK) {
        multi_discard(conn);
        snprintf(multi->sentence, sizeof multi->sentence, "Transaction discarded because of: %s %s",
                 status_resp(status), status_sentence(status));
        return aborted ? session_refuse(refusal, STATUS_EXEC_ABORTED)
                       : session_refuse_saying(refusal, STATUS_EXEC_ABORTED, multi->sentence);
    }
    size_t from = conn->out.length;
    if (!resp_array(&conn->out, multi->count))
        return false;
    multi->state = MULTI_RUNS;
    multi->at = multi->done = 0;
    multi->wrote = false;
    conn->owed = false;
    begin(conn, from);
    refusal->status = STATUS_MORE;
    return true;
}

bool session_discard(struct conn *conn, const struct text *args, uint32_t count,
                     struct refusal *refusal)
{
    (void)args;
    (void)count;
    if (!multi_is_open(conn))
        return session_refuse_saying(refusal, STATUS_BAD_MULTI, "DISCARD without MULTI");
    multi_discard(conn);
    return resp_simple(&conn->out, "OK");
}

bool session_watch(struct conn *conn, const struct text *args, uint32_t count,
                   struct refusal *refusal)
{
    (void)args;
    (void)count;
    return multi_is_open(conn) ? session_refuse_saying(refusal, STATUS_BAD_MULTI,
                                                       "WATCH inside MULTI is not allowed")
                               : session_refuse(refusal, STATUS_NO_WATCH);
}

/* Nothing is watched: that is so already. */
bool session_unwatch(struct conn *conn, const struct text *args, uint32_t count,
                     struct refusal *refusal)
{
    (void)args;
    (void)count;
    (void)refusal;
    return resp_simple(&conn->out, "OK");
}
