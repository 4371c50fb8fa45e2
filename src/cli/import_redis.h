/*
 * `laud import --redis URL --pattern …`: its arguments, its progress and its summary. The import
 * itself is in move/redis.h. Only the main thread calls these functions.
 */
#ifndef LAUD_CLI_IMPORT_REDIS_H
#define LAUD_CLI_IMPORT_REDIS_H

#include <stdint.h>
#include <stdio.h>

#include "base/names.h"
#include "move/redis.h"
#include "store/store.h"

struct import_redis {
    const char *url; /* NULL: the rows come from a file */
    uint32_t time_s; /* the time of reactions that have none */
    const char *pattern_texts[REDIS_PATTERNS];
    size_t pattern_count;
    bool skip_bad;

    /* Set by import_redis_prepare. */
    struct redis_pattern patterns[REDIS_PATTERNS];
    struct redis_source source;
};

void import_redis_help(FILE *out);

/* Parses the arguments and tries the connection. Returns the exit status; a failure is printed. */
int import_redis_prepare(struct import_redis *redis);

/* Imports everything. Returns the exit status. `reader` and `names` are those of the import. */
int import_redis_run(struct import_redis *redis, struct import *import, struct store_reader *reader,
                     const struct names *names);

#endif
