/*
 * The options of `laud bench`, which are read from its arguments with the table in bench_options.def.
 * Texts point into argv or into the table; the struct does not own them.
 */
#ifndef LAUD_BENCH_BENCH_OPTIONS_H
#define LAUD_BENCH_BENCH_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "bench/connect.h"

#define BENCH_MIX_MAX     64
#define BENCH_COMMAND_MAX 65536
#define BENCH_HEADER_MAX  8192

struct bench_mix_entry {
    uint64_t weight;
    const char *command;
};

struct bench_mix {
    struct bench_mix_entry entries[BENCH_MIX_MAX];
    size_t count;
};

#define BENCH_FIELD_TEXT(field)    const char *field;
#define BENCH_FIELD_COUNT(field)   uint64_t field;
#define BENCH_FIELD_SECONDS(field) double field;
#define BENCH_FIELD_FLAG(field)    bool field;
#define BENCH_FIELD_MIX(field)     struct bench_mix field;

struct bench_options {
#define BENCH_OPTION(field, name, type, initial, min, max, value, help) BENCH_FIELD_##type(field)
#include "bench/bench_options.def"
#undef BENCH_OPTION
    char server_host[CONNECT_HOST_MAX];
    char server_port[CONNECT_PORT_MAX];
    double theta; /* of the zipf distribution; 0: uniform */
    char positional[BENCH_COMMAND_MAX];
};

/* Reads argv, given without the subcommand's name. False: `problem` has one sentence. */
bool bench_options_read(struct bench_options *options, int argc, char **argv, char *problem,
                        size_t size);

void bench_options_help(FILE *out);

#endif
