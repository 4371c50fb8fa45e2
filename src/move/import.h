/*
 * Taking rows over into a data directory that no server uses: whatever the source, rows come in
 * here, are checked, brought to what they change, recorded in the journal and carried to the store.
 * Taking a row over that is there already changes nothing.
 *
 * Of a reaction that is there, or comes twice, the first time stays. Of mutually exclusive kinds the
 * newest stays, with its newest time, and of the same second the one that was there; of several that
 * were there together, from before they were declared exclusive, the newest as well. So taking the
 * same rows over again, in whatever state the first attempt was left, ends in the same place.
 *
 * One thread hands rows in.
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

/* All that is pointed to outlives the import. */
struct import_options {
    struct store_reader *reader;    /* of the store that the projector writes */
    struct projector_options carry; /* how events get to the store, which has the whole journal */
    struct journal *journal;        /* where events are recorded; `carry` reads from it */
    struct names *names;
    const char *directory;     /* of the data: the mark goes there */
    const char *exclusive;     /* kinds, as in exclusive.h */
    uint32_t batch_rows;       /* brought to what they change at a time, at least 1 */
    uint32_t now_s;            /* by the clock: no row is later than this */
    uint32_t recorded_s;       /* what now is recorded as; 0: the same */
    bool future_as_now;        /* rows that are later are taken, as of now */
    struct timeline *timeline; /* what times of rows are recorded as; NULL: the same */
    struct move_source source;
    bool from_start; /* what an earlier attempt has got to does not matter */
};

struct import_summary {
    uint64_t rows;    /* taken in */
    uint64_t changed; /* something */
    uint64_t same;    /* there already */
    uint64_t outdone; /* by an exclusive kind at a later time */
};

/*
 * NULL: `problem` has a sentence. Otherwise the journal is the import's, which closes it. The mark
 * says from here on that an import is under way.
 */
struct import *import_open(const struct import_options *options, char *problem, size_t size);

/*
 * OK: taken in, or there already. BAD_ARGUMENT: the row is not good, import_problem says why; the
 * next one may be. Any other: nothing more can be taken over.
 */
enum status import_reaction(struct import *import, struct text user, struct text kind,
                            struct text item, uint32_t time_s);
/* The same where nobody knows when it was: it gives way to what is there, of whatever time. */
enum status import_untimed(struct import *import, struct text user, struct text kind,
                           struct text item, uint32_t time_s);
/* The counter gets this value. A counter that a kind keeps cannot be given one: BAD_ARGUMENT. */
enum status import_counter(struct import *import, struct text item, struct text counter,
                           int64_t value);
/* A type, kind or counter, which gets its index now if it has none. Answers as above. */
enum status import_define(struct import *import, enum name_role role, struct text name);

/* One sentence about the last refusal. */
const char *import_problem(const struct import *import);

/* Rows so far are all of those before this place in the source: where a later attempt may begin. */
void import_place(struct import *import, uint64_t offset, uint64_t line);

/* Where an earlier attempt has got to in the same source; 0: there was none. */
void import_resume_place(const struct import *import, uint64_t *offset, uint64_t *line);

/* Everything handed in is in the store, and the place on disk. Answers as with rows. */
enum status import_flush(struct import *import);

/*
 * The same, and the store is on disk. OK: the mark says that the import is over, and
 * nothing more can be handed in. Any other: as with rows; what is missing may be taken over again.
 */
enum status import_finish(struct import *import);

/* As of what was brought to its end: after import_finish, all. */
void import_summary(const struct import *import, struct import_summary *out);

/* Without import_finish what is not on disk yet is lost, and the mark stays. */
void import_close(struct import *import);

#endif
