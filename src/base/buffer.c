#include "base/buffer.h"

#include <stdlib.h>

#define CAPACITY_MIN 256

bool buffer_grow(struct buffer *buffer, size_t room)
{
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
    buffer->bytes = bytes;
    buffer->capacity = capacity;
    return true;
}

void buffer_free(struct buffer *buffer)
{
    memory_release_connection(buffer->budget, buffer->capacity);
    free(buffer->bytes);
    buffer->bytes = NULL;
    buffer->length = 0;
    buffer->capacity = 0;
}
