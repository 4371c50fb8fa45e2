/*
 * Shows the progress of something that takes long, on standard error. In the first second it shows
 * nothing. Then it draws a bar in place if a person watches, and otherwise prints one line a second.
 */
#ifndef LAUD_CLI_PROGRESS_BAR_H
#define LAUD_CLI_PROGRESS_BAR_H

#include <stdbool.h>
#include <stdint.h>

struct progress_bar {
    const char *program;
    const char *what;
    uint64_t started_ns;
    uint64_t shown_ns; /* when it was last shown */
    bool bar;
    bool drawn; /* a bar is on the current line */
};

/* `what` names the work. `bar`: standard error is a terminal, and nothing else is written there. */
struct progress_bar progress_bar_start(const char *program, const char *what, bool bar);

/* Shows `done` of `total`, which may be an estimate; 0: the total is not clear yet. */
void progress_bar_show(struct progress_bar *progress, uint64_t done, uint64_t total);

/* The same, with the number of rows. */
void progress_bar_show_rows(struct progress_bar *progress, uint64_t done, uint64_t total,
                            uint64_t rows);

/* Removes the bar. It must be called before anything else is printed. */
void progress_bar_end(struct progress_bar *progress);

/* The seconds since progress_bar_start. */
double progress_bar_seconds(const struct progress_bar *progress);

#endif
