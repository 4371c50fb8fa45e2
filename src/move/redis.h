/*
 * Taking over what a like service of one's own keeps in a Redis: sets and ZSETs of users or items
 * become reactions, hashes and strings counters, as patterns say (redis_pattern.h). Reactions with
 * times go first, counters last. What is there already changes nothing, so a run that was cut short is simply repeated.
 *
 * The Redis is only read, with SCAN and its like; at most a few thousand members are in memory at a
 * time. One thread; what the caller hands in stays the caller's.
 */
#ifndef LAUD_MOVE_REDIS_H
#define LAUD_MOVE_REDIS_H

#include "move/import.h"
#include "move/redis_pattern.h"
#include "move/redis_show.h"
#include "move/redis_url.h"

#define REDIS_DIFFERENCES 5 /* that are shown */

/* Long enough for two keys or members and a sentence. */
#define REDIS_SENTENCE (4 * REDIS_SHOWN + 256)

struct redis_report {
    uint64_t pass, passes; /* each pattern is one pass over the keys */
    uint64_t keys_total;   /* in the database, at the beginning */
    uint64_t keys_looked;  /* about so many of them in this pass */
    uint64_t keys;         /* taken over */
    uint64_t rows;         /* reactions and counters handed in */
    uint64_t fields_left;  /* fields of hashes that a pattern does not name */

    uint64_t keys_other; /* found by a pattern's text, but of another form */
    uint64_t bad_keys;   /* of its form, but with no id in it, or of another type */
    uint64_t bad_rows;   /* members that are no ids, values that are no numbers */
    uint64_t compared;   /* numbers that reactions must give by themselves */
    uint64_t differences;

    bool cluster;                     /* a node of a cluster: only its own keys were seen */
    char first_other[REDIS_SHOWN];    /* the first of keys_other */
    char first_bad[REDIS_SENTENCE];   /* and of bad ones, with the reason */
    char unused[REDIS_PATTERN_BYTES]; /* the first pattern that no key fits; "": none */
    char difference[REDIS_DIFFERENCES][REDIS_SENTENCE];
    char problem[REDIS_SENTENCE]; /* why it ended, if not OK */
};

/* How far it is, after each answer; false: stop. */
typedef bool redis_tell_fn(void *context, const struct redis_report *report);

/* How many reactions of the kind the item has, with all that was handed in. */
typedef enum status redis_count_fn(void *context, struct text item, struct text kind,
                                   int64_t *count);

struct redis_source {
    struct redis_address address;
    const struct redis_pattern *patterns;
    size_t pattern_count;
    uint32_t time_s;     /* of reactions without one */
    uint32_t timeout_ms; /* of one answer */
    bool skip_bad;       /* count what is bad, and go on */
    redis_tell_fn *tell;
    redis_count_fn *count; /* NULL: nothing is compared */
    void *context;         /* of both */
};

/* Can it be reached at all? OK, or as below. */
enum status redis_reach(const struct redis_source *source, struct redis_report *report);

/*
 * OK: all that the patterns name is handed in. BAD_ARGUMENT: something bad came and skip_bad is off.
 * STOPPING: `tell` said so. Any other: from Redis or from the import. The report is filled in any
 * case.
 */
enum status redis_take_over(const struct redis_source *source, struct import *import,
                            struct redis_report *report);

#endif
