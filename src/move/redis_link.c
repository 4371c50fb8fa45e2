/*
 * hiredis reads whole answers into memory, however large they are. Therefore this file feeds the reader of
 * hiredis itself, and counts the bytes and elements of an answer while it grows.
 */
#include "move/redis_link.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "move/redis_show.h"

#define ELEMENTS_MAX (4 << 20) /* of one answer */

/* Errors of Redis, by their first word, and what the operator can do about them. */
static const struct {
    const char *begins;
    enum status status;
    const char *sentence;
} refusals[] = {
    {"NOAUTH", STATUS_NO_AUTH, "asks for a password: give it in LAUD_REDIS_PASSWORD"},
    {"WRONGPASS", STATUS_NO_AUTH, "does not take this user and password"},
    {"ERR invalid password", STATUS_NO_AUTH, "does not take this password"},
    {"ERR AUTH", STATUS_NO_AUTH, "has no password set: give none"},
    {"ERR Client sent AUTH", STATUS_NO_AUTH, "has no password set: give none"},
    {"NOPERM", STATUS_NO_AUTH, "does not allow this user to read the keys"},
    {"LOADING", STATUS_TOO_BUSY, "is still loading its data: try again when it is done"},
    {"MOVED", STATUS_IO_FAILED,
     "is a node of a cluster, and this key is on another node: run the import once for each master "
     "node"},
    {"ASK", STATUS_IO_FAILED,
     "is a node of a cluster that is migrating keys to another node: try again later"},
    {"CLUSTERDOWN", STATUS_IO_FAILED, "is a node of a cluster that is down"},
    {"ERR DB index", STATUS_IO_FAILED, "has no database of this number"},
    {"ERR SELECT is not allowed", STATUS_IO_FAILED,
     "is a node of a cluster, which has database 0 alone"},
    {"", STATUS_IO_FAILED, "refuses"},
};

static enum status link_lost(struct redis_link *link, const char *what)
{
    const redisContext *context = link->context;
    const char *why = context->errstr;
    if (context->err == REDIS_ERR_PROTOCOL) {
        snprintf(link->problem, sizeof link->problem, "%s does not speak the protocol of Redis: %s",
                 link->name, why);
        return STATUS_BAD_PROTOCOL;
    }
    if (context->err == REDIS_ERR_IO && (errno == EAGAIN || errno == ETIMEDOUT))
        snprintf(link->problem, sizeof link->problem, "Redis at %s gave no answer for %u seconds",
                 link->name, (unsigned)(link->timeout_ms / 1000));
    else
        snprintf(link->problem, sizeof link->problem, "%s Redis at %s: %s", what, link->name, why);
    return STATUS_IO_FAILED;
}

static enum status link_refused(struct redis_link *link, const redisReply *reply)
{
    char shown[REDIS_SHOWN];
    size_t i = 0;
    while (strncmp(reply->str, refusals[i].begins, strlen(refusals[i].begins)) != 0)
        i++;
    redis_show((struct text){reply->str, reply->len}, shown);
    snprintf(link->problem, sizeof link->problem, "Redis at %s %s (it said: %s)", link->name,
             refusals[i].sentence, shown);
    return refusals[i].status;
}

static void *(*array_create)(const redisReadTask *, int);

static void *array_bounded(const redisReadTask *task, int elements)
{
    return elements > ELEMENTS_MAX ? NULL : array_create(task, elements);
}

static void elements_bound(redisReader *reader)
{
    static redisReplyObjectFunctions functions;
    if (array_create == NULL) {
        functions = *reader->fn;
        array_create = functions.createArray;
        functions.createArray = array_bounded;
    }
    reader->fn = &functions;
}

static enum status link_connect(struct redis_link *link, const struct redis_address *address)
{
    struct timeval limit = {link->timeout_ms / 1000, link->timeout_ms % 1000 * 1000};
    link->context = address->host[0] == '\0'
                        ? redisConnectUnixWithTimeout(address->path, limit)
                        : redisConnectWithTimeout(address->host, address->port, limit);
    if (link->context == NULL) {
        snprintf(link->problem, sizeof link->problem, "not enough memory");
        return STATUS_NO_MEMORY;
    }
    if (link->context->err != 0 || redisSetTimeout(link->context, limit) != REDIS_OK)
        return link_lost(link, "cannot connect to");
    elements_bound(link->context->reader);
    return STATUS_OK;
}

static enum status link_expect(struct redis_link *link, const struct text *words, size_t count)
{
    redisReply *reply = NULL;
    enum status status = redis_link_call(link, words, count, &reply);
    if (reply != NULL)
        freeReplyObject(reply);
    return status;
}

enum status redis_link_open(struct redis_link *link, const struct redis_address *address,
                            uint32_t timeout_ms)
{
    memset(link, 0, sizeof *link);
    link->timeout_ms = timeout_ms;
    redis_address_name(address, link->name);
    enum status status = link_connect(link, address);
    if (status == STATUS_OK && address->user[0] != '\0')
        status = link_expect(link,
                             (struct text[]){text_from("AUTH"), text_from(address->user),
                                             text_from(address->password)},
                             3);
    else if (status == STATUS_OK && address->password[0] != '\0')
        status =
            link_expect(link, (struct text[]){text_from("AUTH"), text_from(address->password)}, 2);
    if (status == STATUS_OK)
        status = link_expect(link, (struct text[]){text_from("PING")}, 1);
    if (status != STATUS_OK || address->database == 0)
        return status;
    char number[16];
    snprintf(number, sizeof number, "%u", (unsigned)address->database);
    return link_expect(link, (struct text[]){text_from("SELECT"), text_from(number)}, 2);
}

void redis_link_close(struct redis_link *link)
{
    if (link->context != NULL)
        redisFree(link->context);
    link->context = NULL;
}

enum status redis_link_send(struct redis_link *link, const struct text *words, size_t count)
{
    const char *argv[8];
    size_t lengths[8];
    ASSERT(count <= 8);
    for (size_t i = 0; i < count; i++) {
        argv[i] = words[i].bytes;
        lengths[i] = words[i].length;
    }
    if (redisAppendCommandArgv(link->context, (int)count, argv, lengths) != REDIS_OK)
        return link_lost(link, "cannot ask");
    return STATUS_OK;
}

static enum status link_flush(struct redis_link *link)
{
    int done = 0;
    while (!done)
        if (redisBufferWrite(link->context, &done) != REDIS_OK)
            return link_lost(link, "the connection is lost to");
    return STATUS_OK;
}

/* Reads until there is a complete answer, or one that is too large. */
static enum status link_read(struct redis_link *link, redisReply **reply)
{
    redisReader *reader = link->context->reader;
    size_t bytes = 0;
    for (;;) {
        void *got = NULL;
        if (redisGetReplyFromReader(link->context, &got) != REDIS_OK)
            return link_lost(link, "no valid answer from");
        *reply = got;
        if (got != NULL)
            return STATUS_OK;
        if (bytes > REDIS_REPLY_BYTES) {
            snprintf(link->problem, sizeof link->problem,
                     "an answer of Redis at %s is larger than %d MiB", link->name,
                     REDIS_REPLY_BYTES >> 20);
            return STATUS_IO_FAILED;
        }
        size_t before = reader->len;
        if (redisBufferRead(link->context) != REDIS_OK)
            return link_lost(link, "the connection is lost to");
        bytes += reader->len > before ? reader->len - before : 0;
    }
}

enum status redis_link_receive(struct redis_link *link, redisReply **reply)
{
    *reply = NULL;
    enum status status = link_flush(link);
    if (status == STATUS_OK)
        status = link_read(link, reply);
    if (status != STATUS_OK)
        return status;
    ASSERT(*reply != NULL);
    if ((*reply)->type != REDIS_REPLY_ERROR || strncmp((*reply)->str, "WRONGTYPE", 9) == 0)
        return STATUS_OK;
    status = link_refused(link, *reply);
    freeReplyObject(*reply);
    *reply = NULL;
    return status;
}

enum status redis_link_call(struct redis_link *link, const struct text *words, size_t count,
                            redisReply **reply)
{
    *reply = NULL;
    enum status status = redis_link_send(link, words, count);
    return status == STATUS_OK ? redis_link_receive(link, reply) : status;
}
