/*
 * Keys and members of a Redis are any bytes; shown to a person they are one short line of plain
 * characters, others as \xHH.
 */
#ifndef LAUD_MOVE_REDIS_SHOW_H
#define LAUD_MOVE_REDIS_SHOW_H

#include "base/text.h"

#define REDIS_SHOWN 100

const char *redis_show(struct text text, char out[REDIS_SHOWN]);

#endif
