/*
 * The part of `laud check` behind the journal: the store against itself, its position against the
 * journal's, and the filters against the store. Everything is opened for reading only.
 *
 * Filters that are missing, damaged or of another time are remarked upon and no damage: a start
 * makes them anew. Filters that a start would take and that deny what the store has are. Windowed
 * boards in a file that does not verify begin anew, so that is remarked upon as well.
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
    struct names *names;         /* the caller's */
    FILE *summary;               /* what was found goes here */
    bool bar;                    /* see progress_bar.h */
    struct store *store;         /* NULL: there is none, or it cannot be opened */
    struct store_report report;  /* what verifying found */
    struct memory_budget budget; /* of the filters */
    struct filters *filters;     /* as of the store's position, or none */
    char problem[512];           /* why it cannot be opened; later the damage that was found */
};

/*
 * Opens the store of a data directory, if it has one, and adds its names to `names`. OK also if
 * there is none; DAMAGED or IO_FAILED, and `problem` says why. check_store_close is due in any case.
 */
enum status check_store_open(struct check_store *check, const char *data);
void check_store_close(struct check_store *check);

/* Does it fit a journal that is good? OK, or DAMAGED with a sentence in `problem`. */
enum status check_store_position(struct check_store *check, const struct journal_report *journal);

/*
 * Verifies all of it and prints what it found. `journal`: what verifying that has found, NULL if it
 * is not good. OK, DAMAGED with the first damage in `problem`, or why it could not be verified.
 */
enum status check_store_verify(struct check_store *check, const struct journal_report *journal);

/* check_filters.c, check_trends.c: the last steps of that but one. */
enum status check_filters(struct check_store *check, const struct journal_report *journal);
enum status check_trends(struct check_store *check, const struct journal_report *journal);
/* check_boards.c: the last. A file that is not good is remarked upon: a start counts them anew. */
void check_boards(struct check_store *check);

#endif
