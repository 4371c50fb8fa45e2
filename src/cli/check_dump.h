/*
 * Prints one record of the journal as a line of JSON, for people and scripts:
 *
 *     {"position":96,"type":"set","time":1700000000,"user":"1","kind":"like","item":"video:42"}
 *
 * Names come from the DEFINE records before it. Ids are strings, as everywhere in the API.
 */
#ifndef LAUD_CLI_CHECK_DUMP_H
#define LAUD_CLI_CHECK_DUMP_H

#include <stdint.h>
#include <stdio.h>

#include "base/names.h"
#include "journal/event.h"

/* Prints the line. `names` must have all names of the event. */
void check_dump(FILE *out, const struct names *names, const struct event *event, uint64_t position);

/*
 * Adds the name that the event defines, if it defines one. DAMAGED: a definition contradicts an
 * earlier one, the event uses a name that was never defined, or its body cannot be read.
 */
enum status check_names(struct names *names, const struct event *event);

#endif
