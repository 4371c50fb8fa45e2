/*
 * The slow log: the last SLOWLOG_ENTRIES commands that took longer than a limit, newest first, as in
 * Redis. Words of clients are shortened and made printable. The memory is fixed.
 *
 * Any thread may call any function. A lock is taken, but only slow commands need it. The caller passes
 * the time in.
 */
#ifndef LAUD_METRICS_SLOWLOG_H
#define LAUD_METRICS_SLOWLOG_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/text.h"

#define SLOWLOG_ENTRIES 128
#define SLOWLOG_WORDS   16 /* words of a command, including its name */
#define SLOWLOG_WORD    96 /* bytes of one word, with its terminator */
#define SLOWLOG_CLIENT  64 /* "[ipv6]:port" */

struct slowlog_entry {
    uint64_t id;
    uint64_t time_s; /* seconds since 1970, when the command was done */
    uint64_t took_us;
    uint32_t count; /* how many words it has */
    char words[SLOWLOG_WORDS][SLOWLOG_WORD];
    char client[SLOWLOG_CLIENT];
    char name[LIMIT_CLIENT_NAME + 1]; /* the name of the connection */
};

/* One slow command, for slowlog_add. */
struct slowlog_event {
    uint64_t time_s;
    uint64_t took_ns;
    const struct text *words; /* they may have any bytes */
    uint32_t count;           /* how many words are in `words` */
    uint32_t total;           /* how many words the command had; at least `count` */
    const char *client;
    const char *name;
};

struct slowlog {
    pthread_mutex_t lock; /* protects all members below */
    uint64_t next;        /* the id of the next entry */
    uint32_t count;
    struct slowlog_entry entries[SLOWLOG_ENTRIES]; /* a ring by id */
};

void slowlog_init(struct slowlog *slowlog);
void slowlog_destroy(struct slowlog *slowlog);
void slowlog_add(struct slowlog *slowlog, const struct slowlog_event *event);

/* The newest entry with an id below `before` (UINT64_MAX: the newest of all). False: there is none. */
bool slowlog_get(struct slowlog *slowlog, uint64_t before, struct slowlog_entry *out);
uint32_t slowlog_length(struct slowlog *slowlog);

/* How many entries were ever added. */
uint64_t slowlog_total(struct slowlog *slowlog);

/* Removes all entries. The numbering of ids continues. */
void slowlog_reset(struct slowlog *slowlog);

#endif
