/*
 * Finds one 64-bit number in an array. Most of the time of a lookup on a shelf is spent here.
 */
#ifndef LAUD_HOT_MEMORY_SCAN_H
#define LAUD_HOT_MEMORY_SCAN_H

#include <stddef.h>
#include <stdint.h>

/* Returns the index of the first equal number; `count` if there is none. */
typedef size_t scan_fn(const uint64_t *numbers, size_t count, uint64_t number);

/* The fastest implementation that this processor can run. */
scan_fn *scan_choose(void);

/* Each implementation, for tests; NULL if the processor cannot run it. */
scan_fn *scan_plain(void);
scan_fn *scan_wide(void);

#endif
