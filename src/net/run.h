/*
 * Running commands: from parsed words to replies. Operations are gathered into batches for the hot
 * tier; whatever must be answered in between runs the batch first, so replies keep their order.
 */
#ifndef LAUD_NET_RUN_H
#define LAUD_NET_RUN_H

#include <stddef.h>

#include "base/status.h"
#include "net/conn.h"

/*
 * Runs the commands in bytes and appends their replies to conn->out. *used is how many bytes were
 * taken. OK or MORE: all that could be run was. BLOCKED: the journal has no room, try again when
 * the loop is woken. BAD_PROTOCOL: answered, close the connection when sent. NO_MEMORY: close it.
 */
enum status run_commands(struct conn *conn, const char *bytes, size_t length, size_t *used);

#endif
