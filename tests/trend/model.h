/*
 * What windowed boards are held to: every change ever counted, with its time, looked through again
 * for each question. Changes come in windows, as the projector hands them on.
 */
#ifndef LAUD_TREND_MODEL_H
#define LAUD_TREND_MODEL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/limits.h"
#include "chance.h"
#include "trend/trends.h"

enum {
    MODEL_TYPES = 3,
    MODEL_NAMES = 2,
    MODEL_ITEMS = 3000, /* of a type */
    MODEL_CHANGES = 600000,
    MODEL_WINDOW = 400, /* changes in a window, at most */
};

struct model_change {
    uint32_t time_s;
    uint16_t item;
    uint8_t board;
    int64_t delta;
};

struct model {
    struct chance chance;
    uint64_t position;
    uint32_t now_s;   /* time of the newest */
    uint32_t items;   /* that come up, of a type */
    uint32_t largest; /* a change is at most so much */
    size_t count;
    struct model_change *changes; /* MODEL_CHANGES of them */
    struct store_count counts[MODEL_WINDOW];
    struct store_changes window; /* what came last */
};

void model_start(struct model *model, uint64_t seed);
void model_end(struct model *model);

/* Both widths come up. */
struct id model_id(uint32_t item);

/* The next window, with up to so many changes, at this time. */
const struct store_changes *model_next(struct model *model, uint32_t most, uint32_t time_s);

/* The sums of a window by item, as of now; those of all items. */
void model_sums(const struct model *model, uint32_t board, enum trend_window window, uint32_t now_s,
                int64_t sums[MODEL_ITEMS]);
/* The same as a board, highest first; how many. */
size_t model_top(const struct model *model, uint32_t board, enum trend_window window,
                 uint32_t now_s, struct ranked *out, size_t limit);

/* The answers are the model's for every board and window, in full and cut short. */
void model_expect(const struct model *model, struct trends *trends, uint32_t now_s);

#endif
