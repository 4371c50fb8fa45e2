/*
 * Recovers a data directory into a hot tier with all its data: it opens the store, loads the filters
 * and the windowed boards and advances them to the store's position, and replays into memory what the
 * journal has after that position. If these events are more than memory should hold, or were imported
 * (move/mark.h), they are written to the store first. Only the main thread calls these functions.
 */
#ifndef LAUD_CLI_RECOVER_H
#define LAUD_CLI_RECOVER_H

#include "base/memory.h"
#include "base/names.h"
#include "base/options.h"
#include "cli/sizes.h"
#include "comment/policy.h"
#include "filter/filters.h"
#include "hot/exclusive.h"
#include "hot/hot.h"
#include "journal/log.h"
#include "move/mark.h"
#include "project/projector.h"
#include "store/store.h"
#include "time/timeline.h"
#include "trend/trends.h"

/* The length of the paths in a data directory. */
#define RECOVER_PATH_BYTES (OPTION_TEXT_MAX + 32)

struct recovered {
    /* Set by the caller, who owns what they point to. */
    const struct options *options;
    const struct sizes *sizes;
    struct memory_budget *budget;
    const struct exclusive *exclusive; /* for the hot tier */
    uint64_t seed;                     /* a number that nobody can guess */
    bool offline;                      /* there is no hot tier, and everything goes to the store */
    bool (*is_stopping)(void);         /* called from time to time; NULL: nothing stops it */

    struct timeline *timeline; /* of recorded times; it has begun, unless this is offline */
    uint32_t now_s;            /* a recorded time that is not later than now */

    bool stopped; /* is_stopping was true, so recover() gave up; everything must still be closed */

    struct memory_budget filter_share; /* a share of the budget; it must outlive the filters */

    char journal_directory[RECOVER_PATH_BYTES];
    char store_directory[RECOVER_PATH_BYTES];
    char filter_path[RECOVER_PATH_BYTES];
    char trend_path[RECOVER_PATH_BYTES];
    char boards_path[RECOVER_PATH_BYTES];

    struct move_mark mark;           /* what was imported */
    struct comment_policy *comments; /* from the options; it observes the names */
    struct names *names;
    struct store *store;      /* NULL with --store none, like the filters and the trends */
    struct filters *filters;  /* at the store's position */
    uint64_t filter_position; /* the position of the file they came from; 0: there was none */
    struct trends *trends;    /* at the store's position; NULL also with --trends no */
    uint64_t trend_position;  /* the position of the file they came from; 0: there was none */
    struct hot *hot;          /* NULL if it is offline */
    struct journal *journal;
    struct source *source; /* reads the journal, here and for the projector; NULL without a store */
};

/* False: the log says why, unless it was stopped. recover_close must still be called. */
bool recover(struct recovered *recovered);

/* Steps that take long call this; if it is true, they end with STOPPING. */
bool recover_is_stopping(struct recovered *recovered);

/* The options with which a projector continues from here, with the source; `moved` is not set yet. */
struct projector_options recover_projector(const struct recovered *recovered);

/*
 * In recover_boards.c: loads the boards from their file and the journal, or counts them in the
 * background.
 */
void recover_boards(struct recovered *recovered);

/* In recover_times.c: loads the table of recorded times of the directory. False: the log says why. */
bool recover_load_times(struct recovered *recovered);

/* Takes note of a recorded time: the timeline continues after it. */
void recover_reach_time(struct recovered *recovered, uint32_t newest_s);

/* All recorded times were noted: begins the timeline, and lets it follow what the hot tier records. */
void recover_begin_time(struct recovered *recovered);

/* Closes everything except the journal, which the caller must close before. */
void recover_close(struct recovered *recovered);

#endif
