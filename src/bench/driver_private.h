/* Shared by driver.c (the loop) and driver_open.c (making and unmaking) only. */
#ifndef LAUD_BENCH_DRIVER_PRIVATE_H
#define LAUD_BENCH_DRIVER_PRIVATE_H

#define DRIVER_READ_BYTES (256 * 1024)

#endif
