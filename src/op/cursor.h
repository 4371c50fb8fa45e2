/*
 * Cursors: a place in a list as text that a client keeps and hands back. It carries the sort key of
 * the last entry shown, so it stays good whatever is set or cleared meanwhile, and after a restart;
 * and a checksum over that and over what list it is of, so that no other list takes it. It is no
 * secret and no permission: whoever could make one up could ask for the list as well.
 *
 * CHANGES has cursors of its own: since when a round is, and within a round also until when, and the
 * place it has come to.
 */
#ifndef LAUD_OP_CURSOR_H
#define LAUD_OP_CURSOR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "hot/hot.h"

#define CURSOR_TEXT       56 /* bytes of the longest */
#define CURSOR_ROUND_TEXT 80 /* and of those of CHANGES */

/* The place behind `listed` in the list that the request asks for; returns its length. */
size_t cursor_write(const struct hot_request *request, struct store_listed listed,
                    char out[CURSOR_TEXT]);

/* Where CHANGES goes on: in its round if there is more, else with the next one. */
size_t cursor_write_round(const struct hot_request *request, char out[CURSOR_ROUND_TEXT]);

/* Fills since_s, and until_s and after within a round. False: not a cursor of this user's. */
bool cursor_read_round(struct hot_request *request, struct text text);

/* False: not a cursor of this list. */
bool cursor_read(const struct hot_request *request, struct text text, struct store_listed *out);

#endif
