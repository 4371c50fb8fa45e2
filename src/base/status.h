/*
 * Results. Every function that can fail in ways that its caller must distinguish returns an enum
 * status. The table in status.def defines what a client gets for each. Any thread may call.
 */
#ifndef LAUD_BASE_STATUS_H
#define LAUD_BASE_STATUS_H

#include <stdbool.h>

enum status {
#define STATUS(name, resp, http, sentence) STATUS_##name,
#include "base/status.def"
#undef STATUS
    STATUS_COUNT
};

const char *status_name(enum status status);     /* "DISK_FULL" */
const char *status_resp(enum status status);     /* "READONLY" */
const char *status_sentence(enum status status); /* "the disk is full, …" */
int status_http(enum status status);             /* 503 */
bool status_lasts(enum status status); /* it lasts until a restart, so trying again is of no use */

#endif
