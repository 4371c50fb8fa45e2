/*
 * An import that only writes down what it is handed: one line a row. It refuses what is no id, item
 * or name, as the real one does, and anything at all once it is told to.
 */
#ifndef LAUD_MOVE_FAKE_IMPORT_H
#define LAUD_MOVE_FAKE_IMPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "move/import.h"

struct import {
    char **lines; /* "like 5 video:7 1700000000", "view video:7 12", in the order they came */
    size_t count;
    size_t room;
    size_t untimed;       /* calls of import_untimed */
    uint64_t fails_after; /* rows; 0: never */
    char problem[128];
};

void fake_clear(struct import *import);
bool fake_has(const struct import *import, const char *line);
size_t fake_distinct(struct import *import); /* rows, each counted once */

#endif
