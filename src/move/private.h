/*
 * The internals of an import, shared by import.c (adding rows, opening and closing) and decide.c (turning
 * a batch of rows into events).
 *
 * Two batches are in memory. While the projector writes one batch to the store, the next one is read and
 * decided; changes that the store does not have yet are in the table of the former. So before a batch is
 * decided, the store must have the batch before the previous one.
 */
#ifndef LAUD_MOVE_PRIVATE_H
#define LAUD_MOVE_PRIVATE_H

#include "hot/exclusive.h"
#include "move/import.h"
#include "move/known.h"
#include "move/record.h"

#define IMPORT_MAGIC 0x696d706fU

/* A row: which value it sets for an entry. */
struct batch_row {
    uint32_t entry;
    uint32_t time_s; /* of a reaction */
    int64_t value;   /* the value of a counter; 1 for a reaction of unknown time */
};

struct batch {
    struct known known;
    struct batch_row *rows;
    uint32_t row_count;
    uint64_t end;    /* position of the journal after the events of the batch */
    uint64_t offset; /* in the source, after the rows of the batch; see struct move_mark */
    uint64_t line;
};

struct import {
    uint32_t magic;
    struct import_options options;
    struct projector *projector; /* NULL once it was stopped */
    struct record record;
    struct exclusive exclusive;
    bool
        exclusive_known; /* `exclusive` was read: at the first row, after the source's definitions */
    bool finished;
    bool announced;    /* event_import, which makes earlier cursors invalid, is in the journal */
    uint32_t change_s; /* the time of that event: later than anything before the import */
    struct batch batches[2];
    uint32_t current;                 /* the batch to which rows are added */
    size_t charged_bytes;             /* to the budget */
    struct import_comments *comments; /* NULL: there was no comment yet */
    uint64_t offset;                  /* in the source, after the rows that were added so far */
    uint64_t line;
    struct move_mark mark; /* the progress record as it is on disk */
    struct import_summary summary;
    enum status failed; /* OK, or the reason why no more rows can be added */
    char problem[512];
};

/* Ends the import with this status and sentence. Returns the status. */
enum status import_fail(struct import *import, enum status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same, with the journal's sentence about its state. */
enum status import_fail_journal(struct import *import, enum status status);

/* Converts the time of a row to a recorded time. BAD_ARGUMENT: it is not a time of the past. */
enum status import_time(struct import *import, uint32_t *time_s);
/* Parses an item, whose type gets an index if it has none. BAD_ARGUMENT: it is refused. */
enum status import_item(struct import *import, struct text text, struct item *item);
enum status import_type(struct import *import, struct text text, uint16_t *index);

/* Frees what deciding comments needs (comments_rows.c). */
void import_comments_free(struct import *import);

static inline const struct exclusive_group *import_group(const struct import *import, uint8_t kind)
{
    uint8_t group = import->exclusive.group_of[kind];
    return group == 0 ? NULL : &import->exclusive.groups[group - 1];
}

/*
 * Decides the rows of a batch and appends the events. `last` is the table of the batch before, which has
 * every change that the store may lack. Returns OK; otherwise the import has failed.
 */
enum status batch_decide(struct import *import, struct batch *batch, const struct known *last);

#endif
