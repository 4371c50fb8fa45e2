/*
 * The result of a run, and its output: a progress line, a summary for people, or one JSON object for
 * programs.
 */
#ifndef LAUD_BENCH_REPORT_H
#define LAUD_BENCH_REPORT_H

#include <stdint.h>
#include <stdio.h>

#include "bench/bench_options.h"
#include "bench/histogram.h"
#include "bench/reply_reader.h"

struct report {
    uint64_t requests;
    uint64_t unsent;
    uint64_t errors;
    uint64_t bytes_sent;
    uint64_t bytes_received;
    double seconds;
    struct histogram histogram;
    char first_error[READER_LINE_MAX];
};

void report_text(const struct report *report, const struct bench_options *options, FILE *out);
void report_json(const struct report *report, const struct bench_options *options, FILE *out);

/* `done` is the number of requests so far, `before` the number a second ago. */
void report_progress(uint64_t done, uint64_t before, double seconds, double since_seconds,
                     const struct bench_options *options, FILE *out);

#endif
