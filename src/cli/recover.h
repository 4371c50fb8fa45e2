/*
 * From a data directory to a hot tier that knows everything: the store is opened, the filters before
 * it and the windowed boards are loaded and brought to its position, and what the journal has beyond
 * that is replayed into memory. If that is more than memory should hold, or was taken over
 * (move/mark.h), it is carried to the store first.
 */
#ifndef LAUD_CLI_RECOVER_H
#define LAUD_CLI_RECOVER_H

#include "base/memory.h"
#include "base/names.h"
#include "base/options.h"
#include "cli/sizes.h"
#include "filter/filters.h"
#include "hot/exclusive.h"
#include "hot/hot.h"
#include "journal/log.h"
#include "move/mark.h"
#include "project/projector.h"
#include "store/store.h"
#include "time/timeline.h"
#include "trend/trends.h"

/* Paths of the parts of a data directory. */
#define RECOVER_PATH_BYTES (OPTION_TEXT_MAX + 32)

struct recovered {
    /* The caller's */
    const struct options *options;
    const struct sizes *sizes;
    struct memory_budget *budget;
    const struct exclusive *exclusive; /* for the hot tier */
    uint64_t seed;                     /* a number nobody can guess */
    bool offline;                      /* there is no hot tier, and all goes to the store */
    bool (*is_stopping)(void);         /* asked now and then; NULL: nothing stops it */

    struct timeline *timeline; /* of recorded times; it has begun unless this is offline */
    uint32_t now_s;            /* by it, as far as is known: not later than now */

    bool stopped; /* it was asked to, and recover() gives up: as if killed, but closing all */

    struct memory_budget filter_share; /* of the budget; outlives the filters */

    char journal_directory[RECOVER_PATH_BYTES];
    char store_directory[RECOVER_PATH_BYTES];
    char filter_path[RECOVER_PATH_BYTES];
    char trend_path[RECOVER_PATH_BYTES];
    char boards_path[RECOVER_PATH_BYTES];

    struct move_mark mark; /* what was imported */
    struct names *names;
    struct store *store;      /* NULL with --store none, as are the next */
    struct filters *filters;  /* as of the store's position */
    uint64_t filter_position; /* of the file they came from, 0: none */
    struct trends *trends;    /* as of the store's position; NULL also with --trends no */
    uint64_t trend_position;  /* of the file they came from, 0: none */
    struct hot *hot;          /* NULL if offline */
    struct journal *journal;
    struct source
        *source; /* of the journal, for catching up and for the projector; NULL without store */
};

/* False: said why in the log, unless it was stopped; recover_close is still due. */
bool recover(struct recovered *recovered);

/* For the parts of it: what takes long asks this, and ends with STOPPING. */
bool recover_is_stopping(struct recovered *recovered);

/* How a projector goes on from there, with the source; it has no `moved` yet. */
struct projector_options recover_projector(const struct recovered *recovered);

/* recover_boards.c: from their file and the journal, or else they are counted in the background. */
void recover_boards(struct recovered *recovered);

/*
 * recover_times.c. Loads the table of a data directory; false: said why. Then takes note of a recorded
 * time. When all are known: begins, and follows what the hot tier records.
 */
bool recover_load_times(struct recovered *recovered);
void recover_reach_time(struct recovered *recovered, uint32_t newest_s);
void recover_begin_time(struct recovered *recovered);

/* Closes all but the journal, which goes first and is the caller's to close. */
void recover_close(struct recovered *recovered);

#endif
