/*
 * Arrays that grow. The array belongs to the caller, who frees it with free(). Nothing is charged to a
 * memory budget: whoever has a budget charges it before the array grows. Any thread may call, for an
 * array that no other thread uses meanwhile.
 */
#ifndef LAUD_BASE_ARRAY_H
#define LAUD_BASE_ARRAY_H

#include <stddef.h>

/*
 * Grows an array of *room entries so that it holds `needed`: to twice its size, or to `needed` or
 * `least` if that is more. So adding entries one by one copies each of them about once on average.
 * Returns the array, which may have another address now, and sets *room; NULL if there is no memory,
 * with the old array and *room unchanged.
 */
void *array_grow(void *array, size_t *room, size_t needed, size_t least, size_t entry_bytes);

#endif
