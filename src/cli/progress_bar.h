/*
 * How far something long is, on standard error: nothing in its first second; then a bar that is
 * drawn over itself where a person watches, and a line a second elsewhere.
 */
#ifndef LAUD_CLI_PROGRESS_BAR_H
#define LAUD_CLI_PROGRESS_BAR_H

#include <stdbool.h>
#include <stdint.h>

struct progress_bar {
    const char *program;
    const char *what;
    uint64_t started_ns;
    uint64_t told_ns;
    bool bar;
    bool drawn; /* a bar stands on the line */
};

/* `what` is being done; `bar`: standard error is a terminal, and nothing else is written there. */
struct progress_bar progress_bar_start(const char *program, const char *what, bool bar);

/* Of `total`, which may be an estimate; 0: not known yet. */
void progress_bar_tell(struct progress_bar *progress, uint64_t done, uint64_t total);

/* The same, and how many rows that were. */
void progress_bar_tell_rows(struct progress_bar *progress, uint64_t done, uint64_t total,
                            uint64_t rows);

/* Takes a bar away again. Before anything else is printed. */
void progress_bar_end(struct progress_bar *progress);

double progress_bar_seconds(const struct progress_bar *progress); /* since its start */

#endif
