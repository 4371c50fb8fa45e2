/*
 * Running commands: from parsed words to replies. Operations are gathered into batches for the hot
 * tier; whatever must be answered in between runs the batch first, so replies keep their order. What
 * needs the store goes to a worker, with the rest of its batch.
 */
#ifndef LAUD_NET_RUN_H
#define LAUD_NET_RUN_H

#include <stddef.h>

#include "base/status.h"
#include "net/conn.h"

/*
 * Runs the commands in bytes and appends their replies to conn->out. *used is how many bytes were
 * taken. MORE: all whole commands were run. OK: it stopped before that, because replies pile up, a
 * worker has some of the commands taken (conn->job), or the connection is to be closed. BLOCKED: no
 * writes for the moment, try again when the loop is woken. BAD_PROTOCOL: answered, close the connection when sent. NO_MEMORY: close it.
 */
enum status run_commands(struct conn *conn, const char *bytes, size_t length, size_t *used);

#endif
