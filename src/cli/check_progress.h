/*
 * How far a check is, on standard error: nothing in its first second; then a bar that is drawn over
 * itself where a person watches, and a line a second elsewhere.
 */
#ifndef LAUD_CLI_CHECK_PROGRESS_H
#define LAUD_CLI_CHECK_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct check_progress {
    const char *what;
    uint64_t started_ns;
    uint64_t told_ns;
    bool bar;
    bool drawn; /* a bar stands on the line */
};

/* `what` is being done; `bar`: standard error is a terminal, and nothing else is written there. */
struct check_progress check_progress_start(const char *what, bool bar);

/* Of `total`, which may be an estimate; 0: not known yet. */
void check_progress_tell(struct check_progress *progress, uint64_t done, uint64_t total);

/* Takes a bar away again. Before anything else is printed. */
void check_progress_end(struct check_progress *progress);

#endif
