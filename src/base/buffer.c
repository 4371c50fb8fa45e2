#include "base/buffer.h"

#include <stdlib.h>

#include "base/assert.h"

#define CAPACITY_MIN 256

bool buffer_grow(struct buffer *buffer, size_t room)
{
    ASSERT(buffer->budget != NULL && buffer->length <= buffer->capacity);
    size_t capacity = buffer->capacity ? buffer->capacity : CAPACITY_MIN;
    while (capacity - buffer->length < room)
        capacity *= 2;
    if (!memory_charge_connection(buffer->budget, capacity - buffer->capacity))
        return false;
    char *bytes = realloc(buffer->bytes, capacity);
    if (bytes == NULL) {
        memory_release_connection(buffer->budget, capacity - buffer->capacity);
        return false;
    }
    ASSERT(capacity - buffer->length >= room);
    buffer->bytes = bytes;
    buffer->capacity = capacity;
    return true;
}

void buffer_free(struct buffer *buffer)
{
    ASSERT((buffer->bytes == NULL) == (buffer->capacity == 0));
    memory_release_connection(buffer->budget, buffer->capacity);
    free(buffer->bytes);
    buffer->bytes = NULL;
    buffer->length = 0;
    buffer->capacity = 0;
}
