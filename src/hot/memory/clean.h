/*
 * Stamps: which journal position an entry was last changed at, in units of 64 KiB so that 32 bits
 * last for 256 TiB of journal. An entry is *clean*, and may leave memory, once the projector has
 * applied everything up to and including its unit: then the store is exact without it (law 4).
 */
#ifndef LAUD_HOT_MEMORY_CLEAN_H
#define LAUD_HOT_MEMORY_CLEAN_H

#include <stdint.h>

#define STAMP_SHIFT 16

/* Of an event that ends at this position. */
static inline uint32_t stamp_of(uint64_t position)
{
    return (uint32_t)(position >> STAMP_SHIFT);
}

/* Stamps below this are clean when so much is applied. */
static inline uint32_t clean_below(uint64_t applied)
{
    return (uint32_t)(applied >> STAMP_SHIFT);
}

#endif
