/*
 * One connection to a Redis. Commands are collected, sent, and answered in order. An answer that is larger
 * than REDIS_REPLY_BYTES, or takes longer than the timeout, is an error. Every error is reported in one
 * sentence that says what to do.
 *
 * One thread at a time may use it. The process must ignore SIGPIPE.
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
 * Connects, authenticates and selects the database. IO_FAILED, NO_AUTH, TOO_BUSY (the Redis is loading) or
 * BAD_PROTOCOL: `problem` says why. redis_link_close must be called in any case.
 */
enum status redis_link_open(struct redis_link *link, const struct redis_address *address,
                            uint32_t timeout_ms);
void redis_link_close(struct redis_link *link);

/* Adds a command to those that will be sent with the next redis_link_receive. */
enum status redis_link_send(struct redis_link *link, const struct text *words, size_t count);

/*
 * Gets the answer to the next command, which the caller frees with freeReplyObject. The error WRONGTYPE is
 * returned as an answer, because it is about one key. Any other error is returned as a status.
 */
enum status redis_link_receive(struct redis_link *link, redisReply **reply);

/* Sends one command and receives its answer. */
enum status redis_link_call(struct redis_link *link, const struct text *words, size_t count,
                            redisReply **reply);

#endif
