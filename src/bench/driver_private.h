/* Shared by driver.c (the loop) and driver_open.c (making and unmaking) only. */
#ifndef LAUD_BENCH_DRIVER_PRIVATE_H
#define LAUD_BENCH_DRIVER_PRIVATE_H

#include "bench/driver.h"

#define DRIVER_READ_BYTES (256 * 1024)

/* How many replies these bytes completed, errors being noted; -1: they make no sense. */
int64_t connection_feed(struct driver *driver, struct connection *connection, const char *bytes,
                        size_t length);

#endif
