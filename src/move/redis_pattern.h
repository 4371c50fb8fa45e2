/*
 * A pattern describes in one line which keys of a Redis have what content:
 *
 *     LAYOUT:KEY [member MEMBER] [fields FIELD[=NAME],…] [-> [NAME] [TYPE]]
 *
 *     set:likes:video:{id} -> like video         a set of users for each item
 *     zset:likers:{type}:{id} -> like            the same with times as scores
 *     zset:user:{user}:likes -> like video       items of each user, with times
 *     hash:counts:{type}:{id}                    a hash of counters for each item
 *     hash:views -> view video                   one hash with a field for each item
 *     string:views:{id} -> view video            a number for each item
 *
 * The user, the item's id and its type must each come from exactly one of these: the key, the member, the
 * end of the line. Nothing is allocated; any thread may call these functions.
 */
#ifndef LAUD_MOVE_REDIS_PATTERN_H
#define LAUD_MOVE_REDIS_PATTERN_H

#include "base/limits.h"
#include "move/redis_template.h"

#define REDIS_PATTERNS      16 /* at most in one run */
#define REDIS_FIELDS        32
#define REDIS_FIELD_BYTES   64
#define REDIS_PATTERN_BYTES 1024

enum redis_layout { REDIS_SET, REDIS_ZSET, REDIS_HASH, REDIS_STRING, REDIS_LAYOUTS };

struct redis_field {
    char from[REDIS_FIELD_BYTES];   /* the name of the field in the hash */
    char to[LIMIT_NAME_LENGTH + 1]; /* the counter that it becomes */
};

struct redis_pattern {
    char text[REDIS_PATTERN_BYTES]; /* as it was given */
    enum redis_layout layout;
    struct redis_template key;
    struct redis_template member;     /* count 0: the pattern has none */
    char name[LIMIT_NAME_LENGTH + 1]; /* kind or counter; "": fields are the names of counters */
    char type[LIMIT_NAME_LENGTH + 1]; /* of items; "": it is in the key or member */
    struct redis_field fields[REDIS_FIELDS]; /* only these are imported; none: all fields */
    size_t field_count;
};

/* False: `problem` has one sentence. */
bool redis_pattern_parse(const char *text, struct redis_pattern *out, char *problem, size_t size);

/* Can the patterns be used together? Two patterns for the same keys cannot. */
bool redis_patterns_fit(const struct redis_pattern *patterns, size_t count, char *problem,
                        size_t size);

/* Does the pattern give reactions? Otherwise it gives counters. */
static inline bool redis_pattern_reacts(const struct redis_pattern *pattern)
{
    return pattern->layout == REDIS_SET || pattern->layout == REDIS_ZSET;
}

/* The counter that a field becomes; bytes NULL: the field is not imported. */
struct text redis_pattern_counter(const struct redis_pattern *pattern, struct text field);

#endif
