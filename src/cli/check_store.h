/*
 * The steps of `laud check` after the journal: the store itself, its position compared with the
 * journal, and the filters compared with the store. Everything is opened for reading only.
 *
 * Filters that are missing, damaged or of another position are reported, but they are no damage,
 * because a start builds them again. It is damage if a start would use filters that deny what the
 * store has. A file of windowed boards that cannot be verified is only reported as well, because
 * windowed boards can start empty.
 */
#ifndef LAUD_CLI_CHECK_STORE_H
#define LAUD_CLI_CHECK_STORE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/names.h"
#include "filter/filters.h"
#include "journal/file/journal_file.h"
#include "store/store.h"

struct check_store {
    char directory[PATH_MAX];
    char filter_path[PATH_MAX];
    char trend_path[PATH_MAX];
    char boards_path[PATH_MAX];
    char journal_directory[PATH_MAX];
    struct names *names;         /* the caller owns it */
    FILE *summary;               /* where the findings are printed */
    bool bar;                    /* draw a progress bar, see progress_bar.h */
    struct store *store;         /* NULL: there is none, or it cannot be opened */
    struct store_report report;  /* what verifying found */
    struct memory_budget budget; /* the budget of the filters */
    struct filters *filters;     /* at the store's position; NULL: there are none */
    char problem[512];           /* why it cannot be opened; later the damage that was found */
};

/*
 * Opens the store of a data directory, if it has one, and adds its names to `names`. OK, also if there
 * is none; DAMAGED or IO_FAILED: `problem` says why. check_store_close must be called in any case.
 */
enum status check_store_open(struct check_store *check, const char *data);
void check_store_close(struct check_store *check);

/* Does the store fit to a valid journal? OK, or DAMAGED with a sentence in `problem`. */
enum status check_store_position(struct check_store *check, const struct journal_report *journal);

/*
 * Verifies the store, the filters and the boards, and prints the findings. `journal` is the report
 * about the journal; NULL: the journal is damaged. OK; DAMAGED with the first damage in `problem`; or
 * why it could not be verified.
 */
enum status check_store_verify(struct check_store *check, const struct journal_report *journal);

/* Steps of check_store_verify, in check_filters.c and check_trends.c. */
enum status check_filters(struct check_store *check, const struct journal_report *journal);
enum status check_trends(struct check_store *check, const struct journal_report *journal);

/*
 * The step in check_comments.c: comments and all their rows, compared with each other and with the counters. OK;
 * DAMAGED with a sentence; or why it could not be verified.
 */
enum status check_comments(struct check_store *check);

/*
 * The last step, in check_boards.c. A damaged file is only reported, because a start counts the boards
 * again.
 */
void check_boards(struct check_store *check);

#endif
