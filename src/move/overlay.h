/*
 * Rows of comments as they will be in the store: what an import has decided, and the store may not have yet,
 * lies over the rows of the store. Only rows with short values are kept: subjects, comments without their
 * content, floors, bans and the state of inboxes.
 *
 * The size is fixed. When it is full, the owner waits until the store has everything and clears it. One
 * thread uses it.
 */
#ifndef LAUD_MOVE_OVERLAY_H
#define LAUD_MOVE_OVERLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "comment/rows.h"
#include "store/store.h"

struct overlay;

/* NULL: there is no memory. The seed prevents a source from having keys whose hashes collide. */
struct overlay *overlay_new(struct store_reader *reader, uint64_t seed);
void overlay_free(struct overlay *overlay); /* NULL is fine */

/* How many bytes of memory it uses. */
size_t overlay_bytes(void);

/* Is there room for so many further rows? */
bool overlay_has_room(const struct overlay *overlay, uint32_t rows);
void overlay_clear(struct overlay *overlay);

/*
 * Reads a row: `value` has the bytes, which are valid until the next call, or data NULL if there is no such
 * row. `here`: it comes from the overlay; may be NULL. OK, or a status of the store.
 */
enum status overlay_read(struct overlay *overlay, enum store_table table, const uint8_t *key,
                         size_t key_length, struct store_bytes *value, bool *here);

/* Sets a row. There must be room, unless the row is here already. */
void overlay_set(struct overlay *overlay, enum store_table table, const uint8_t *key,
                 size_t key_length, const uint8_t *value, size_t value_length);

#endif
