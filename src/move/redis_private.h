/* Shared by the files of the import from a Redis: redis.c finds keys, redis_rows.c makes rows. */
#ifndef LAUD_MOVE_REDIS_PRIVATE_H
#define LAUD_MOVE_REDIS_PRIVATE_H

#include "move/redis.h"
#include "move/redis_link.h"

struct redis_take {
    const struct redis_source *source;
    struct import *import;
    struct redis_report *report;
    struct redis_link link;
    const struct redis_pattern *pattern; /* of this pass */
};

/* A key that matches the pattern, and the values of its placeholders. */
struct redis_key {
    struct text text;
    struct redis_values values;
};

/* Adds the rows of a page of members: one element for each, or two with a score or value. */
enum status redis_rows_take(struct redis_take *take, const struct redis_key *key,
                            const redisReply *members);

/* Adds the counter whose value is the number in a string. */
enum status redis_number_take(struct redis_take *take, const struct redis_key *key,
                              struct text number);

/* Counts a bad key, or ends everything with BAD_ARGUMENT. */
enum status redis_key_bad(struct redis_take *take, struct text key, const char *why);

#endif
