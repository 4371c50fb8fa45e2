/*
 * The steps of recover(), each in a file of its own, in the order in which a start runs them:
 * recover_base.c, recover_hot.c, recover_boards.c, recover_replay.c. One thread runs them all. If a
 * step returns false, the log says why, unless the start was stopped.
 */
#ifndef LAUD_CLI_RECOVER_PRIVATE_H
#define LAUD_CLI_RECOVER_PRIVATE_H

#include "cli/recover.h"
#include "project/catch_up.h"

/* In recover_progress.c: logs the progress of something that takes long, once a second. */
struct recover_progress {
    struct recovered *r;
    const char *what;
    uint64_t started_ns;
    uint64_t logged_ns;
};

struct recover_progress recover_progress(struct recovered *r, const char *what);
double recover_progress_seconds(const struct recover_progress *progress);

/* True if a line is due, at most once a second. */
bool recover_progress_is_due(struct recover_progress *progress);
double recover_percent(uint64_t done, uint64_t total);

/*
 * Logs the progress if a line is due. False: the start must stop. `context` is a struct
 * recover_progress.
 */
bool recover_progress_report(void *context, uint64_t done, uint64_t total);

/* Logs "cannot …" with the problem, or with the status if `problem` is empty. STOPPING is not logged. */
void recover_say_failed(const char *what, enum status status, const char *problem);

/* In recover_base.c: opens the store, and advances the filters and the windowed boards to its position. */
bool recover_base(struct recovered *r);
struct comments_options recover_comments(const struct recovered *r);
struct catch_up recover_catch_up(const struct recovered *r, struct recover_progress *progress);

/* Makes the windowed boards empty; they count from this position on. */
void recover_begin_trends(struct recovered *r, uint64_t position);

/*
 * Replaces the source; the earlier one is closed. False: the new one is NULL, because there was no
 * memory.
 */
bool recover_take_source(struct recovered *r, struct source *source);

/*
 * In recover_hot.c: makes an empty hot tier, unless offline; loads names and tokens; and the kinds
 * among the names.
 */
bool recover_hot(struct recovered *r);
bool recover_words(struct recovered *r);
void recover_kinds(struct recovered *r);

/* In recover_replay.c: opens the journal, and replays the events that the store does not have. */
bool recover_replay(struct recovered *r);

#endif
