/*
 * Cursors. A cursor is a position in a list, as a text that a client keeps and sends back. It contains
 * the sort key of the last entry that was shown, so it stays valid whatever is set or cleared
 * meanwhile, and after a restart. It also contains a checksum over that key and over the identity of
 * the list, so that it is refused for any other list. A cursor is not secret and gives no permission:
 * whoever could forge one could read the list anyway.
 *
 * CHANGES has cursors of its own. They contain the time at which a round begins and, within a round,
 * also the time at which it ends and the position that was reached.
 *
 * Any thread may call these functions.
 */
#ifndef LAUD_OP_CURSOR_H
#define LAUD_OP_CURSOR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "hot/hot.h"

#define CURSOR_TEXT       56 /* the length of the longest cursor in bytes */
#define CURSOR_ROUND_TEXT 80 /* the same for cursors of CHANGES */

/* Writes the position after `listed` in the list that the request is for. Returns the length. */
size_t cursor_write(const struct hot_request *request, struct store_listed listed,
                    char out[CURSOR_TEXT]);

/* Writes where CHANGES continues: in its round if there is more, otherwise with the next round. */
size_t cursor_write_round(const struct hot_request *request, char out[CURSOR_ROUND_TEXT]);

/* Sets since_s and, within a round, until_s and after. False: it is not a cursor of this user. */
bool cursor_read_round(struct hot_request *request, struct text text);

/* False: it is not a cursor of this list. */
bool cursor_read(const struct hot_request *request, struct text text, struct store_listed *out);

#endif
