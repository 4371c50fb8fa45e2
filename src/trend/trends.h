/*
 * Windowed boards: the items whose counters rose most in the last hour, day or week. The projector
 * counts the changes of each of its windows exactly once: the boards have a position in the
 * journal, and ignore changes up to it. Deciding a like does no work for the boards.
 *
 * A board is exact as long as none of its slices has more than LIMIT_TREND_ITEMS items and there is
 * memory for them. Otherwise low items are dropped, and trends_stats says by how much any sum may
 * be wrong. Boards cannot be rebuilt from the store: if their file is lost, they begin empty and
 * are complete after a week.
 *
 * One thread at a time applies, saves, loads and clears. Any thread may ask.
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

/* The length of the shortest slice. No window of the projector may span two slices. */
#define TREND_SLICE_S 300

/*
 * A change whose time is further in the future than this counts as a change of now. Boards whose
 * time is so far ahead begin empty.
 */
#define TREND_AHEAD_S 86400

struct trend_options {
    struct memory_budget *budget; /* must outlive the boards */
    uint64_t memory;              /* most bytes of the budget for all boards together */
    uint32_t items_max;           /* most items of a slice; 0: LIMIT_TREND_ITEMS */
    uint64_t seed;                /* a secret random number */
};

struct trend_stats {
    uint64_t position;
    uint32_t since_s; /* all changes since this time are counted; 0: all changes ever */
    uint32_t boards;
    uint32_t refused; /* boards for which there was no memory */
    uint64_t items;   /* rows of all slices */
    uint64_t bytes;
    uint64_t bytes_max;
    uint64_t pruned;    /* how often a slice dropped items since the start */
    uint64_t error_max; /* no sum is wrong by more because of dropped items */
    bool exact;         /* nothing was dropped, refused or missed that is still in a window */
};

struct trends;

struct trends *trends_new(const struct trend_options *options); /* NULL: there is no memory */
void trends_free(struct trends *trends);                        /* may be NULL */

/* Removes all contents. The boards then have this position, and count nothing from before it. */
void trends_begin(struct trends *trends, uint64_t position, uint32_t since_s);
uint64_t trends_position(const struct trends *trends); /* only for the thread that applies */

/*
 * Counts the net effect of a window of the projector. `time_s` is its time; all of its events are
 * in one slice. `now_s` is the present recorded time, see TREND_AHEAD_S. A time that is earlier
 * than the latest one counts as the latest one. Changes whose position is not after that of the
 * boards are ignored.
 */
void trends_apply(struct trends *trends, const struct store_changes *changes, uint32_t time_s,
                  uint32_t now_s);

/*
 * Advances the position without counting: the events before it are from other times and belong to
 * no window.
 */
void trends_pass(struct trends *trends, uint64_t position);

/*
 * Finds the items of this type whose counter rose most, highest first, at most `limit` (up to
 * LIMIT_TREND_TOP). TREND_REFUSED: there was no memory for this board; NO_MEMORY: there is none to
 * compute the answer. Any thread may call.
 */
enum status trends_top(struct trends *trends, uint16_t type, uint8_t name, enum trend_window window,
                       uint32_t now_s, struct ranked *out, size_t limit, size_t *count);
void trends_stats(struct trends *trends, struct trend_stats *out);

/*
 * Saves the boards to a file with format version, position and checksums. The new file is written
 * beside the old one, synced and renamed, and the directory is synced. 0 or -errno, as io_replace.
 */
int trends_save(const struct trends *trends, const char *path);

/*
 * Loads a file into empty boards. OK; MORE: there is no such file; DAMAGED: it does not verify or
 * has another version; IO_FAILED; NO_MEMORY. Without OK the boards are empty. `problem` gets a
 * sentence.
 */
enum status trends_load(struct trends *trends, const char *path, char *problem, size_t size);

#endif
