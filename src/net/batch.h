/*
 * A batch: the operations of one connection that go through the hot tier together. They are gathered in
 * the loop's `requests`. This file has the steps that are the same for every face; a face itself reads
 * the bytes of its protocol and writes the replies.
 *
 * Only the loop's own thread may call these functions.
 */
#ifndef LAUD_NET_BATCH_H
#define LAUD_NET_BATCH_H

#include "base/assert.h"
#include "net/conn.h"
#include "net/permit.h"

/* One run of a connection: from batch_begin to batch_end, with any number of batches. */
struct running {
    struct conn *conn;
    struct loop *loop;
    uint64_t wall_s; /* the time of the clock */
    uint32_t time_s; /* the recorded time */
    uint64_t now_ns;
    uint64_t since_ns;        /* when the current batch or command began */
    uint32_t limits;          /* which limits are on, one bit for each enum limit_by */
    uint64_t limited_ns;      /* after LIMITED: how long the client should wait */
    enum limit_by limited_by; /* after LIMITED: which limit refused */
    struct limit_lease leases[LIMIT_BY_TOTAL];
    bool took_write;     /* the last operation that was checked against the limits was a write */
    struct op_user now;  /* the user of the current command, if batch_foresee found it; else zero */
    struct op_user next; /* the same for the next command */
    uint32_t batch;      /* how many requests are gathered */
    uint32_t uncounted;  /* replies that do not count as a command */
    bool admitted;       /* the hot tier has admitted the writes of this batch */
    bool out_of_memory;
};

/* Reads the clocks and begins a run. */
struct running batch_begin(struct conn *conn);

/* Ends a run: unused leases of the limits are returned. */
void batch_end(struct running *r);

/*
 * Submits the requests of the batch from index `from` on, as conn->job. False: there was no memory, or
 * too many submissions wait already.
 */
bool batch_send_away(struct running *r, uint32_t from);

/* Reads the clock and returns how much time has passed since it was last read in this run. */
uint64_t batch_lap(struct running *r);

/*
 * True if this run has used up its time, as of the last reading of the clock. The time is measured,
 * because the number of bytes of a command does not say how long it takes.
 */
static inline bool batch_is_long(const struct running *r)
{
    return r->since_ns - r->now_ns > LIMIT_RUN_NS;
}

/*
 * Counts and times the first `count` requests of the batch, which are answered. The last of them may be
 * a request that the server added itself; it is not counted.
 */
void batch_watch(struct running *r, uint32_t count);

/* Writes the reply to requests[index]. */
typedef void batch_reply_fn(struct running *r, uint32_t index);

/*
 * Looks ahead to the bytes after the current command; `first` is the first word after its name. If the
 * same command follows, as in most pipelines, the user of that next command is remembered, and the
 * limits of that user are loaded into the CPU cache while the current command runs.
 */
void batch_foresee(struct running *r, struct text command, struct text first,
                   struct text following);

/*
 * Counts an operation against the limits that are on: OK or LIMITED. In a dry run the answer is always
 * OK, and what would have been refused is counted.
 */
enum status batch_take(struct running *r, const struct op_spec *spec, const struct text *args,
                       uint32_t count);

/* The same for a request that is no operation: it counts as a read without a user. */
enum status batch_limit_other(struct running *r);

/*
 * Checks an operation against the limits, once: OK or LIMITED. If an operation that passed has to be
 * gathered again, conn->passed stays set until the operation is in a batch or refused.
 */
static inline enum status batch_limit(struct running *r, const struct op_spec *spec,
                                      const struct text *args, uint32_t count)
{
    if (r->limits == 0 || r->conn->passed)
        return STATUS_OK;
    return batch_take(r, spec, args, count);
}

/*
 * Counts a LIMITED operation that is about to be answered, and writes a sentence with the time to wait.
 * After LIMIT_REFUSALS refusals in a row the connection has to pause (net/rest.h).
 */
void batch_count_limited(struct running *r, char *sentence, size_t size);

/* Asks the hot tier to admit the writes of a batch, once for each batch. */
static inline enum status batch_admit(struct running *r, const struct op_spec *spec)
{
    if (!op_writes(spec) || r->admitted)
        return STATUS_OK;
    enum status status = hot_admit(r->loop->server->parts.hot, &r->loop->pacer, r->now_ns);
    r->admitted = status == STATUS_OK;
    if (r->admitted)
        r->conn->wrote = r->loop->wrote = true;
    return status;
}

/*
 * Completes a request about comments, which was decoded: a time that the client gave becomes a recorded one,
 * and the types of the connection's token become part of the request. OK, or the request is refused.
 */
enum status batch_complete(struct running *r, struct hot_request *request);

/*
 * Adds one operation to the batch, given its words. All faces use this function. The operation must pass
 * four checks in this order: the connection's token permits it, the limits allow it, the hot tier admits
 * it if it writes, and it can be decoded.
 *
 * OK: it is the last request of the batch. MORE: the scratch has no room for its items; run the batch and
 * gather it again. BLOCKED: it has to wait for admission or for a name; run the batch, return BLOCKED
 * from the face's `run`, and gather it again in the next run. LIMITED: see batch_count_limited. Any other
 * status refuses it; the scratch's sentence is the reason, or empty if the general sentence of the status
 * is enough. Before a refusal is answered, the batch must be answered, which may take until a later run.
 * Then the operation is gathered again, or batch_refused is called and the refusal is answered.
 *
 * So an operation may be gathered many times, but it counts against the limits once.
 */
static inline enum status batch_gather(struct running *r, const struct op_spec *spec,
                                       const struct text *args, uint32_t count)
{
    struct loop *loop = r->loop;
    ASSERT(r->batch < LIMIT_BATCH);
    loop->scratch.sentence[0] = '\0';
    enum status status = permit_op(r->conn, spec, args, count);
    if (status == STATUS_OK)
        status = batch_limit(r, spec, args, count);
    if (status == STATUS_OK)
        status = batch_admit(r, spec);
    if (status != STATUS_OK) {
        r->conn->awaits_name = false;
        return status;
    }
    loop->scratch.user = r->now;
    status = op_decode(spec, args, count, loop->server->parts.names, r->time_s, &loop->scratch,
                       &loop->requests[r->batch]);
    if (status == STATUS_OK && hot_is_comments(loop->requests[r->batch].action))
        status = batch_complete(r, &loop->requests[r->batch]);
    if (status == STATUS_OK) {
        r->conn->passed = false;
        r->batch++;
    }
    r->conn->awaits_name = status == STATUS_BLOCKED;
    return status;
}

/* The current operation is refused, and its refusal is answered now. */
static inline void batch_refused(struct running *r)
{
    r->conn->passed = false;
}

/*
 * Runs the batch and writes its replies. A request that hot_try cannot finish is submitted together with
 * all requests after it (conn->job). If submitting fails, that one request is refused and the rest is
 * tried. The function is inlined, so that the compiler can inline the `reply` of each face.
 */
static inline __attribute__((always_inline)) void batch_run(struct running *r,
                                                            batch_reply_fn *reply)
{
    ASSERT(r->batch == 0 || r->conn->job == NULL);
    struct loop *loop = r->loop;
    uint32_t done = 0, writes = 0;
    while (done < r->batch) {
        size_t ran = hot_try(loop->server->parts.hot, loop->requests + done, r->batch - done,
                             &loop->hot_scratch);
        for (uint32_t end = done + (uint32_t)ran; done < end; done++) {
            writes += hot_writes_of_request(&loop->requests[done]);
            reply(r, done);
        }
        if (done == r->batch || batch_send_away(r, done))
            break;
        loop_count(&loop->stats.jobs_refused, 1);
        loop->requests[done].status = STATUS_TOO_BUSY;
        reply(r, done++);
    }
    if (done > 0)
        batch_watch(r, done);
    if (writes > 0)
        hot_spend(loop->server->parts.hot, &loop->pacer, writes, r->now_ns);
    r->batch = 0;
    r->admitted = false;
    op_scratch_clear(&loop->scratch);
    hot_scratch_clear(&loop->hot_scratch);
}

#endif
