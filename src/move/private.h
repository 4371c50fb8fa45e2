/*
 * The inside of an import, shared by import.c (rows in, and the life of it) and decide.c (from a
 * batch of rows to events).
 *
 * Two batches are in memory. While the projector carries the last one to the store, the next one is
 * read and decided; what the store does not have yet, the last one's table knows. So before a batch
 * is decided, the one before the last must have arrived.
 */
#ifndef LAUD_MOVE_PRIVATE_H
#define LAUD_MOVE_PRIVATE_H

#include "hot/exclusive.h"
#include "move/import.h"
#include "move/known.h"
#include "move/record.h"

#define IMPORT_MAGIC 0x696d706fU

/* A row: what it wants of an entry. */
struct batch_row {
    uint32_t entry;
    uint32_t time_s; /* of a reaction */
    int64_t value;   /* of a counter; of a reaction 1: nobody knows its time */
};

struct batch {
    struct known known;
    struct batch_row *rows;
    uint32_t row_count;
    uint64_t end;    /* position of the journal after its events */
    uint64_t offset; /* of the source, after its rows; see struct move_mark */
    uint64_t line;
};

struct import {
    uint32_t magic;
    struct import_options options;
    struct projector *projector; /* NULL once all is over */
    struct record record;
    struct exclusive exclusive;
    bool exclusive_known; /* it is read when all definitions of the source may have been seen */
    bool finished;
    bool announced;    /* that reactions change, in the journal */
    uint32_t change_s; /* when: later than anything before the import */
    struct batch batches[2];
    uint32_t current;     /* the one that is filled */
    size_t charged_bytes; /* to the budget */
    uint64_t offset;      /* of the source, after the rows that came in so far */
    uint64_t line;
    struct move_mark mark; /* as it is on disk */
    struct import_summary summary;
    enum status failed; /* OK, or why nothing more can be taken over */
    char problem[512];
};

/* Ends it: the status, with this sentence. */
enum status import_fail(struct import *import, enum status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* With the sentence that the journal has about it. */
enum status import_fail_journal(struct import *import, enum status status);

static inline const struct exclusive_group *import_group(const struct import *import, uint8_t kind)
{
    uint8_t group = import->exclusive.group_of[kind];
    return group == 0 ? NULL : &import->exclusive.groups[group - 1];
}

/*
 * Brings the rows of a batch to events and appends those. `last`: the batch before it, all that the
 * store may lack. OK, or the import has failed.
 */
enum status batch_decide(struct import *import, struct batch *batch, const struct known *last);

#endif
