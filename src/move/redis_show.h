/*
 * Keys and members of a Redis may contain any bytes. For messages they are written as one short line of
 * printable ASCII, with other bytes as \xHH.
 */
#ifndef LAUD_MOVE_REDIS_SHOW_H
#define LAUD_MOVE_REDIS_SHOW_H

#include "base/text.h"

#define REDIS_SHOWN 100

const char *redis_show(struct text text, char out[REDIS_SHOWN]);

#endif
