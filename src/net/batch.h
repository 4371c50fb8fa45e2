/*
 * Operations on their way through the hot tier, gathered in the loop's `requests`: what every face
 * does with them. Which bytes they come from and how they are answered is the face's.
 */
#ifndef LAUD_NET_BATCH_H
#define LAUD_NET_BATCH_H

#include "base/assert.h"
#include "net/conn.h"
#include "net/permit.h"

/* One run of a connection. */
struct running {
    struct conn *conn;
    struct loop *loop;
    uint64_t wall_s; /* by the clock */
    uint32_t time_s; /* as it is recorded */
    uint64_t now_ns;
    uint64_t since_ns;        /* when the batch or command at hand began */
    uint32_t limits;          /* that are on */
    uint64_t limited_ns;      /* LIMITED: for how long */
    enum limit_by limited_by; /* and by which */
    struct limit_lease leases[LIMIT_BY_TOTAL];
    bool took_write;     /* by the last operation that the limits were asked for */
    struct op_user now;  /* the user of the command at hand, if it was foreseen; else zero */
    struct op_user next; /* and of the one behind it */
    uint32_t batch;      /* requests gathered */
    uint32_t uncounted;  /* replies that count as no command */
    bool admitted;       /* the writes of this batch are */
    bool out_of_memory;
};

struct running batch_begin(struct conn *conn);
void batch_end(struct running *r);

/* Submits the requests of the batch from here on; false: too many are submitted already. */
bool batch_send_away(struct running *r, uint32_t from);

/* Looks at the clock: how long it took since the last time. */
uint64_t batch_lap(struct running *r);

/*
 * Has this run had its turn, as of the last look at the clock? How long commands take does not follow
 * from how many bytes they are.
 */
static inline bool batch_is_long(const struct running *r)
{
    return r->since_ns - r->now_ns > LIMIT_RUN_NS;
}

/* The first requests of the batch are answered; one of the server's own may be behind them. */
void batch_watch(struct running *r, uint32_t count);

/* Writes the reply to requests[index]. */
typedef void batch_reply_fn(struct running *r, uint32_t index);

/*
 * Looks at what is behind the command at hand, whose first word behind the name is `first`. If that is
 * the same command, as in most pipelines, its user is remembered, and what the limits know of it is
 * fetched while this one is run.
 */
void batch_foresee(struct running *r, struct text command, struct text first, struct text behind);

/* Takes an operation of the limits that are on. Dry runs count what they would refuse. */
enum status batch_take(struct running *r, const struct op_spec *spec, const struct text *args,
                       uint32_t count);

/* May what is no operation pass, as a read that acts for nobody? OK or LIMITED. */
enum status batch_limit_other(struct running *r);

/*
 * May this operation pass the limits? OK or LIMITED. It is asked once: where an operation that passed
 * has to come again, conn->passed stays set until it is taken or refused.
 */
static inline enum status batch_limit(struct running *r, const struct op_spec *spec,
                                      const struct text *args, uint32_t count)
{
    if (r->limits == 0 || r->conn->passed)
        return STATUS_OK;
    return batch_take(r, spec, args, count);
}

/* What was LIMITED is answered now: counts it, and says so; one too many, and it has to rest. */
void batch_count_limited(struct running *r, char *sentence, size_t size);

/* Writes need to be admitted, once for a batch. */
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
 * Adds an operation to the batch, by its words: the one way for all faces. In this order it must be
 * permitted by the connection's token, pass the limits, be admitted if it writes, and be decoded.
 *
 * OK: it is the last request of the batch. MORE: there is no room for its items; run the batch and gather
 * it again. BLOCKED: it has to wait, to be admitted or for a name; run the batch and return BLOCKED from
 * the face's `run`, and gather it again in the next run. Any other status refuses it, LIMITED (see
 * batch_count_limited) or with a reason in the scratch's sentence, which is empty if the plain sentence
 * of the status says it all. What is in the batch is answered first, which may take until a later run;
 * then the operation is gathered again, or batch_refused is called and the refusal is answered.
 *
 * So an operation may be gathered many times, but the limits are taken once.
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
    if (status == STATUS_OK) {
        r->conn->passed = false;
        r->batch++;
    }
    r->conn->awaits_name = status == STATUS_BLOCKED;
    return status;
}

/* The operation at hand is refused, and that is answered now. */
static inline void batch_refused(struct running *r)
{
    r->conn->passed = false;
}

/*
 * Runs what was gathered and writes its replies. A request that hot_try cannot finish is submitted
 * with all after it (conn->job); where that cannot be, it alone is refused. Inlined, so that each
 * face has it with its own `reply`.
 */
static inline __attribute__((always_inline)) void batch_run(struct running *r,
                                                            batch_reply_fn *reply)
{
    struct loop *loop = r->loop;
    uint32_t done = 0, writes = 0;
    while (done < r->batch) {
        size_t ran = hot_try(loop->server->parts.hot, loop->requests + done, r->batch - done,
                             &loop->hot_scratch);
        for (uint32_t end = done + (uint32_t)ran; done < end; done++) {
            writes += hot_request_writes(&loop->requests[done]);
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
    loop->scratch.used = 0;
    hot_scratch_clear(&loop->hot_scratch);
}

#endif
