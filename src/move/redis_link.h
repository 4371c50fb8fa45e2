/*
 * One connection to a Redis: commands are put together, sent, and answered in order. No answer is
 * larger than REDIS_REPLY_BYTES, none is waited for longer than the timeout, and everything that goes
 * wrong comes back as one sentence that says what to do.
 *
 * One thread at a time. SIGPIPE must be ignored by the process.
 */
#ifndef LAUD_MOVE_REDIS_LINK_H
#define LAUD_MOVE_REDIS_LINK_H

#include <hiredis/hiredis.h>

#include "base/status.h"
#include "base/text.h"
#include "move/redis_url.h"

#define REDIS_REPLY_BYTES   (32 << 20)
#define REDIS_PROBLEM_BYTES 512

struct redis_link {
    redisContext *context;
    char name[REDIS_ADDRESS_NAME];
    uint32_t timeout_ms;
    char problem[REDIS_PROBLEM_BYTES]; /* of the last call that was not OK */
};

/*
 * Connects, says who it is, chooses the database. IO_FAILED, NO_AUTH, TOO_BUSY (it is loading) or
 * BAD_PROTOCOL: `problem` says why; redis_link_close is due in any case.
 */
enum status redis_link_open(struct redis_link *link, const struct redis_address *address,
                            uint32_t timeout_ms);
void redis_link_close(struct redis_link *link);

/* Adds a command to those that wait to be sent. */
enum status redis_link_send(struct redis_link *link, const struct text *words, size_t count);

/*
 * The answer to the next command, for freeReplyObject. Of errors only WRONGTYPE comes as an answer:
 * it is about one key. Any other is a status.
 */
enum status redis_link_receive(struct redis_link *link, redisReply **reply);

/* Both, for one command. */
enum status redis_link_call(struct redis_link *link, const struct text *words, size_t count,
                            redisReply **reply);

#endif
