/*
 * Windowed boards: which items' counters rose most in the last hour, day or week. Changes come from
 * the projector, window after window, each exactly once: the boards know the position of the journal
 * that they stand for, and take nothing twice. Nothing is done for them where a like is decided.
 *
 * A board is exact as long as none of its slices has more than LIMIT_TREND_ITEMS items and there is
 * memory for them. Past that, low items are let go, and trends_stats says by how much any sum
 * may be off. Boards cannot be made from the store: where the file is lost they begin anew, and are
 * complete after a week.
 *
 * One thread at a time applies, saves, loads and begins anew. Any thread may ask.
 */
#ifndef LAUD_TREND_TRENDS_H
#define LAUD_TREND_TRENDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/ranked.h"
#include "base/status.h"
#include "store/store.h"

enum trend_window { TREND_NONE, TREND_HOUR, TREND_DAY, TREND_WEEK };

/* The shortest slice: no window of the projector may span two. */
#define TREND_SLICE_S 300

/*
 * What is further ahead of now than this is not believed: such a change counts as of now. Boards that
 * stand so far ahead begin anew.
 */
#define TREND_AHEAD_S 86400

struct trend_options {
    struct memory_budget *budget; /* outlives the boards */
    uint64_t memory;              /* all boards together take at most so much of it */
    uint32_t items_max;           /* of a slice; 0: LIMIT_TREND_ITEMS */
    uint64_t seed;                /* any number that nobody can guess */
};

struct trend_stats {
    uint64_t position;
    uint32_t since_s; /* all changes since then are counted; 0: since the first one */
    uint32_t boards;
    uint32_t refused; /* boards that there was no memory for */
    uint64_t items;   /* rows of all slices */
    uint64_t bytes;
    uint64_t bytes_max;
    uint64_t pruned;    /* how often a slice let items go, since start */
    uint64_t error_max; /* no sum is off by more, for what was let go */
    bool exact;         /* nothing was let go, refused or missed that any window still has */
};

struct trends;

struct trends *trends_new(const struct trend_options *options); /* NULL: no memory */
void trends_free(struct trends *trends);                        /* may be NULL */

/* Empties the boards: they stand for this position, and know nothing of what was before. */
void trends_begin(struct trends *trends, uint64_t position, uint32_t since_s);
uint64_t trends_position(const struct trends *trends); /* the applying thread's */

/*
 * Counts what a window came to, made at time_s, none of it in an earlier slice than the rest. Now
 * is beside it, as recorded times go: see TREND_AHEAD_S. A time that falls counts as the latest one. Changes
 * whose position is not beyond the boards' own are ignored.
 */
void trends_apply(struct trends *trends, const struct store_changes *changes, uint32_t time_s,
                  uint32_t now_s);

/* Leaves out what is before the position: it is of other times, and no window has it. */
void trends_pass(struct trends *trends, uint64_t position);

/*
 * Any thread: the items of this type whose counter rose most, highest first, at most `limit` (up to
 * LIMIT_TREND_TOP). OK; TREND_REFUSED: there was no memory for this board; NO_MEMORY: there is none
 * for adding up.
 */
enum status trends_top(struct trends *trends, uint16_t type, uint8_t name, enum trend_window window,
                       uint32_t now_s, struct ranked *out, size_t limit, size_t *count);
void trends_stats(struct trends *trends, struct trend_stats *out);

/*
 * Whole file, checksummed, with format version and position; written beside and renamed, synced with
 * its directory. -errno or 0, as io_replace says.
 */
int trends_save(const struct trends *trends, const char *path);

/*
 * Into boards that are empty. OK; MORE: there is no such file; DAMAGED: it does not verify, or is of
 * another version; IO_FAILED; NO_MEMORY. After any but OK the boards are empty. `problem` gets a
 * sentence.
 */
enum status trends_load(struct trends *trends, const char *path, char *problem, size_t size);

#endif
