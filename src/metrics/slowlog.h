/*
 * The slow log: the last SLOWLOG_ENTRIES commands that took longer than a bound, newest first, as
 * Redis has it. What clients sent is kept shortened and printable. Memory is fixed.
 *
 * Any thread may call anything; a lock is taken only for what was slow. Time is the caller's.
 */
#ifndef LAUD_METRICS_SLOWLOG_H
#define LAUD_METRICS_SLOWLOG_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/text.h"

#define SLOWLOG_ENTRIES 128
#define SLOWLOG_WORDS   16 /* of a command, its name included */
#define SLOWLOG_WORD    96 /* bytes of one, with its terminator */
#define SLOWLOG_CLIENT  64 /* "[ipv6]:port" */

struct slowlog_entry {
    uint64_t id;
    uint64_t time_s; /* since 1970, when it was done */
    uint64_t took_us;
    uint32_t count; /* of words */
    char words[SLOWLOG_WORDS][SLOWLOG_WORD];
    char client[SLOWLOG_CLIENT];
    char name[LIMIT_CLIENT_NAME + 1]; /* the connection's */
};

/* One that was slow, as it comes. */
struct slowlog_event {
    uint64_t time_s;
    uint64_t took_ns;
    const struct text *words; /* any bytes */
    uint32_t count;           /* of them that are at hand */
    uint32_t total;           /* of them that there were, at least count */
    const char *client;
    const char *name;
};

struct slowlog {
    pthread_mutex_t lock; /* of all below */
    uint64_t next;        /* id */
    uint32_t count;
    struct slowlog_entry entries[SLOWLOG_ENTRIES]; /* a ring by id */
};

void slowlog_init(struct slowlog *slowlog);
void slowlog_destroy(struct slowlog *slowlog);
void slowlog_add(struct slowlog *slowlog, const struct slowlog_event *event);

/* The newest entry with an id below `before` (UINT64_MAX: of all); false: there is none. */
bool slowlog_get(struct slowlog *slowlog, uint64_t before, struct slowlog_entry *out);
uint32_t slowlog_length(struct slowlog *slowlog);
uint64_t slowlog_total(struct slowlog *slowlog); /* ever made */
void slowlog_reset(struct slowlog *slowlog);     /* ids go on */

#endif
