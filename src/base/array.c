#include "base/array.h"

#include <stdlib.h>

#include "base/assert.h"

void *array_grow(void *array, size_t *room, size_t needed, size_t least, size_t entry_bytes)
{
    ASSERT(needed > *room && entry_bytes > 0);
    ASSERT((array == NULL) == (*room == 0));
    size_t wanted = *room * 2 > needed ? *room * 2 : needed;
    wanted = wanted > least ? wanted : least;
    size_t bytes;
    void *grown = NULL;
    if (!__builtin_mul_overflow(wanted, entry_bytes, &bytes))
        grown = realloc(array, bytes);
    if (grown != NULL)
        *room = wanted;
    return grown;
}
