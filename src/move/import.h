/*
 * Taking rows over into a data directory that no server uses: whatever the source, rows come in
 * here, are checked, brought to what they change, recorded in the journal and carried to the store.
 * Taking a row over that is there already changes nothing.
 *
 * One thread hands rows in.
 */
#ifndef LAUD_MOVE_IMPORT_H
#define LAUD_MOVE_IMPORT_H

#include <stdint.h>

#include "base/status.h"
#include "base/text.h"

struct import;

/*
 * OK: taken in, or there already. BAD_ARGUMENT: the row is not good, import_problem says why; the
 * next one may be. Any other: nothing more can be taken over.
 */
enum status import_reaction(struct import *import, struct text user, struct text kind,
                            struct text item, uint32_t time_s);
/* The counter gets this value. A counter that a kind keeps cannot be given one: BAD_ARGUMENT. */
enum status import_counter(struct import *import, struct text item, struct text counter,
                           int64_t value);

/* One sentence about the last refusal. */
const char *import_problem(const struct import *import);

#endif
