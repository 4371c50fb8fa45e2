/*
 * `laud import --redis URL --pattern …`: what is said on the command line, and what is told about it
 * while it goes on and at the end. The taking over itself is move/redis.h.
 */
#ifndef LAUD_CLI_IMPORT_REDIS_H
#define LAUD_CLI_IMPORT_REDIS_H

#include <stdint.h>
#include <stdio.h>

#include "base/names.h"
#include "move/redis.h"
#include "store/store.h"

struct import_redis {
    const char *url; /* NULL: rows come from a file */
    uint32_t time_s; /* of reactions without one */
    const char *pattern_texts[REDIS_PATTERNS];
    size_t pattern_count;
    bool skip_bad;

    /* Made by import_redis_prepare. */
    struct redis_pattern patterns[REDIS_PATTERNS];
    struct redis_source source;
};

void import_redis_help(FILE *out);

/* Reads what was said and tries the connection; the exit status, and what is wrong is said. */
int import_redis_prepare(struct import_redis *redis);

/* Takes everything over; the exit status. The store and the names are those of the import. */
int import_redis_run(struct import_redis *redis, struct import *import, struct store_reader *reader,
                     const struct names *names);

#endif
