/*
 * Importing rows into a data directory that no server uses. For every source, rows are added here. The
 * import checks them, decides what they change, records this in the journal and has the projector write
 * it to the store. A row that the directory has already changes nothing.
 *
 * If a reaction exists already, or is added twice, the first time is kept. Of mutually exclusive kinds
 * only the newest reaction is kept, with its newest time; if two have the same time, the one that existed
 * before. If several of them existed together, from before they were declared exclusive, the newest is
 * kept too. So if the same rows are imported again, the result is the same, however far the first attempt
 * got.
 *
 * One thread adds rows.
 */
#ifndef LAUD_MOVE_IMPORT_H
#define LAUD_MOVE_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/names.h"
#include "base/status.h"
#include "base/text.h"
#include "journal/log.h"
#include "move/mark.h"
#include "project/projector.h"

struct import;

/* Everything that the options point to outlives the import. */
struct import_options {
    struct store_reader *reader;    /* of the store that the projector writes */
    struct projector_options carry; /* for the projector; the store has the whole journal already */
    struct journal *journal;        /* records the events; `carry` reads from it */
    struct names *names;
    const char *directory;     /* the data directory, which has the progress record (mark.h) */
    const char *exclusive;     /* kinds, as in exclusive.h */
    uint32_t batch_rows;       /* how many rows are decided at a time, at least 1 */
    uint32_t now_s;            /* the time of the clock: no row may be later */
    uint32_t recorded_s;       /* the recorded time of now_s; 0: the same */
    bool future_as_now;        /* rows that are later get the time now_s instead of being refused */
    struct timeline *timeline; /* converts times of rows to recorded times; NULL: they are equal */
    struct move_source source;
    bool from_start; /* begin with the first row, even if an earlier attempt got further */
};

struct import_summary {
    uint64_t rows;    /* that were added */
    uint64_t changed; /* rows that changed something */
    uint64_t same;    /* rows that the directory had already */
    uint64_t outdone; /* rows that lost against an exclusive kind with a later time */
};

/*
 * Begins an import. NULL: `problem` has a sentence. Otherwise the journal belongs to the import, which
 * closes it. From now on the progress record says that an import is in progress.
 */
struct import *import_open(const struct import_options *options, char *problem, size_t size);

/*
 * Adds a row. Returns OK; BAD_ARGUMENT if the row is refused, and import_problem says why: then further
 * rows may be added; or another status, after which no row can be added.
 */
enum status import_reaction(struct import *import, struct text user, struct text kind,
                            struct text item, uint32_t time_s);
/* The same for a reaction of unknown time: one that exists already is kept, whatever its time is. */
enum status import_untimed(struct import *import, struct text user, struct text kind,
                           struct text item, uint32_t time_s);
/* Sets a counter. The counter of a kind follows from its reactions and cannot be set: BAD_ARGUMENT. */
enum status import_counter(struct import *import, struct text item, struct text counter,
                           int64_t value);
/* Defines a type, kind or counter, which gets its index now if it has none. Returns the same. */
enum status import_define(struct import *import, enum name_role role, struct text name);

/* One sentence about the last refusal. It belongs to the import. */
const char *import_problem(const struct import *import);

/* All rows before this position of the source were added: a later attempt may begin here. */
void import_place(struct import *import, uint64_t offset, uint64_t line);

/* The position that an earlier attempt has reached in the same source; 0: there was none. */
void import_resume_place(const struct import *import, uint64_t *offset, uint64_t *line);

/* Waits until the store has all added rows and the progress record is on disk. Returns as for rows. */
enum status import_flush(struct import *import);

/*
 * The same, and flushes the store to disk. OK: the progress record says that the import is over, and no
 * further row can be added. Another status: as for rows; the rest may be imported again.
 */
enum status import_finish(struct import *import);

/* Counts the rows that were decided so far; after import_finish, all rows. */
void import_summary(const struct import *import, struct import_summary *out);

/* Without import_finish, rows that are not on disk are lost, and the import counts as unfinished. */
void import_close(struct import *import);

#endif
