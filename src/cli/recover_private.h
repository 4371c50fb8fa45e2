/*
 * The steps of recover(), each in a file of its own, in the order in which a start takes them:
 * recover_base.c, recover_hot.c, recover_boards.c, recover_replay.c. One thread runs them all. A step
 * that returns false has said why in the log, unless the start was stopped.
 */
#ifndef LAUD_CLI_RECOVER_PRIVATE_H
#define LAUD_CLI_RECOVER_PRIVATE_H

#include "cli/recover.h"
#include "project/catch_up.h"

/* recover_progress.c: tells how far something long is, once a second. */
struct recover_progress {
    struct recovered *r;
    const char *what;
    uint64_t started_ns;
    uint64_t said_ns;
};

struct recover_progress recover_progress(struct recovered *r, const char *what);
double recover_progress_seconds(const struct recover_progress *progress);
bool recover_progress_is_due(struct recover_progress *progress);
double recover_percent(uint64_t done, uint64_t total);

/* Tells it; false: the start is to stop. The context is a struct recover_progress. */
bool recover_progress_tell(void *context, uint64_t done, uint64_t total);

/* Says "cannot …" with the problem, or with the status if there is none. Stopping is no failure. */
void recover_say_failed(const char *what, enum status status, const char *problem);

/* recover_base.c: opens the store, and brings the filters and the windowed boards to it. */
bool recover_base(struct recovered *r);
struct catch_up recover_catch_up(const struct recovered *r, struct recover_progress *progress);
void recover_begin_trends(struct recovered *r, uint64_t position); /* empty, from there on */

/* Closes the source before it, if any, and takes this one; NULL: false. */
bool recover_take_source(struct recovered *r, struct source *source);

/* recover_hot.c: an empty hot tier, unless offline; its names and tokens; the kinds among its names. */
bool recover_hot(struct recovered *r);
bool recover_words(struct recovered *r);
void recover_kinds(struct recovered *r);

/* recover_replay.c: opens the journal, and takes from it what the store does not have. */
bool recover_replay(struct recovered *r);

#endif
