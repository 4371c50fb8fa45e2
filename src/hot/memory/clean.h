/*
 * Stamps. The stamp of an entry is the journal position of its last change, in units of 64 KiB, so that
 * 32 bits are enough for 256 TiB of journal. An entry is *clean*, and may be evicted, once the projector
 * has applied everything up to and including its unit: then the store is exact without it (law 4).
 */
#ifndef LAUD_HOT_MEMORY_CLEAN_H
#define LAUD_HOT_MEMORY_CLEAN_H

#include <stdint.h>

#define STAMP_SHIFT 16

/* The stamp of an event that ends at this position. */
static inline uint32_t stamp_of(uint64_t position)
{
    return (uint32_t)(position >> STAMP_SHIFT);
}

/* Stamps below the result are clean if the projector has applied everything before this position. */
static inline uint32_t clean_below(uint64_t applied)
{
    return (uint32_t)(applied >> STAMP_SHIFT);
}

#endif
