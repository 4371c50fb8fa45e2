/*
 * Finding one 64-bit number in an array of them: what "did this user like that?" comes down to.
 */
#ifndef LAUD_HOT_MEMORY_SCAN_H
#define LAUD_HOT_MEMORY_SCAN_H

#include <stddef.h>
#include <stdint.h>

/* Index of the first equal number, or count. */
typedef size_t scan_fn(const uint64_t *numbers, size_t count, uint64_t number);

/* The fastest one this processor can run. */
scan_fn *scan_choose(void);

/* All of them, for tests; NULL where the processor lacks it. */
scan_fn *scan_plain(void);
scan_fn *scan_wide(void);

#endif
