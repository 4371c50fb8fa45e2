/* Shared by driver.c (the loop) and driver_open.c (opening and closing) only. */
#ifndef LAUD_BENCH_DRIVER_PRIVATE_H
#define LAUD_BENCH_DRIVER_PRIVATE_H

#include "bench/driver.h"

#define DRIVER_READ_BYTES (256 * 1024)

/* Returns how many replies these bytes completed, and notes errors; -1: the bytes are not valid. */
int64_t connection_feed(struct driver *driver, struct connection *connection, const char *bytes,
                        size_t length);

#endif
