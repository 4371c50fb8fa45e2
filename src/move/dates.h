/* Dates as other systems write them. The function has no state. */
#ifndef LAUD_MOVE_DATES_H
#define LAUD_MOVE_DATES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

/*
 * Parses YYYY-MM-DD, then T or spaces, then HH:MM:SS, perhaps a fraction, and perhaps Z or an offset such as
 * +08:00 or +0800, after which the name of a zone may follow. Without an offset it is UTC. False: it is not
 * such a date, or not between 1970 and 2106.
 */
bool date_parse(struct text text, uint32_t *time_s);

#endif
