/*
 * Imports the data that another like service keeps in a Redis: sets and ZSETs of users or items become
 * reactions, hashes and strings become counters, as the patterns say (redis_pattern.h). Reactions with
 * times are imported first, counters last. Rows that exist already change nothing, so a run that was
 * interrupted can simply be repeated.
 *
 * The Redis is only read, with SCAN and similar commands; at most a few thousand members are in memory at
 * a time. One thread runs it. All arguments still belong to the caller.
 */
#ifndef LAUD_MOVE_REDIS_H
#define LAUD_MOVE_REDIS_H

#include "move/import.h"
#include "move/redis_pattern.h"
#include "move/redis_show.h"
#include "move/redis_url.h"

#define REDIS_DIFFERENCES 5 /* how many are shown */

/* Long enough for two keys or members and a sentence. */
#define REDIS_SENTENCE (4 * REDIS_SHOWN + 256)

struct redis_report {
    uint64_t pass, passes; /* each pattern is one pass over the keys */
    uint64_t keys_total;   /* in the database, at the beginning */
    uint64_t keys_looked;  /* about how many of them this pass has seen */
    uint64_t keys;         /* keys that were imported */
    uint64_t rows;         /* reactions and counters that were added to the import */
    uint64_t fields_left;  /* fields of hashes that a pattern does not name */

    uint64_t keys_other; /* keys that SCAN found but that do not match the pattern */
    uint64_t bad_keys;   /* keys that match, but have no valid id, or have another Redis type */
    uint64_t bad_rows;   /* members that are not ids, values that are not numbers */
    uint64_t compared;   /* counters of kinds, which were compared with the reactions */
    uint64_t differences;

    bool cluster;                     /* a node of a cluster: only its own keys were seen */
    char first_other[REDIS_SHOWN];    /* the first of keys_other */
    char first_bad[REDIS_SENTENCE];   /* the first bad key or row, with the reason */
    char unused[REDIS_PATTERN_BYTES]; /* the first pattern that no key matches; "": there is none */
    char difference[REDIS_DIFFERENCES][REDIS_SENTENCE];
    char problem[REDIS_SENTENCE]; /* why the run ended, if its status is not OK */
};

/* Is called with the progress after each answer of the Redis; false: stop. */
typedef bool redis_tell_fn(void *context, const struct redis_report *report);

/* Gets how many reactions of the kind the item has, including all rows that were added. */
typedef enum status redis_count_fn(void *context, struct text item, struct text kind,
                                   int64_t *count);

struct redis_source {
    struct redis_address address;
    const struct redis_pattern *patterns;
    size_t pattern_count;
    uint32_t time_s;     /* the time for reactions that have none */
    uint32_t timeout_ms; /* for one answer */
    bool skip_bad;       /* count bad keys and rows, and continue */
    redis_tell_fn *tell;
    redis_count_fn *count; /* NULL: nothing is compared */
    void *context;         /* for both functions */
};

/* Can the Redis be reached? Returns OK, or a status as below. */
enum status redis_reach(const struct redis_source *source, struct redis_report *report);

/*
 * Imports everything that the patterns match. Returns OK; BAD_ARGUMENT if a key or row was bad and
 * skip_bad is off; STOPPING if `tell` returned false; or an error of the Redis or of the import. The
 * report is filled in any case.
 */
enum status redis_take_over(const struct redis_source *source, struct import *import,
                            struct redis_report *report);

#endif
