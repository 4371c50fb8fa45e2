/*
 * A growable run of bytes, charged to the memory budget by its capacity. It grows only by what is
 * really put in, never by what a client announces. Owned by one thread.
 */
#ifndef LAUD_BASE_BUFFER_H
#define LAUD_BASE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/memory.h"

struct buffer {
    char *bytes;
    size_t length;
    size_t capacity;
    struct memory_budget *budget;
};

bool buffer_grow(struct buffer *buffer, size_t room);
void buffer_free(struct buffer *buffer); /* empty and usable again */

/* Makes room for so many bytes more; false: no memory, nothing changed. */
static inline bool buffer_reserve(struct buffer *buffer, size_t room)
{
    return buffer->capacity - buffer->length >= room || buffer_grow(buffer, room);
}

static inline bool buffer_append(struct buffer *buffer, const void *bytes, size_t length)
{
    if (!buffer_reserve(buffer, length))
        return false;
    if (length)
        memcpy(buffer->bytes + buffer->length, bytes, length);
    buffer->length += length;
    return true;
}

/* Something was put down in room that was made; it ends here. */
static inline void buffer_end(struct buffer *buffer, const char *end)
{
    buffer->length = (size_t)(end - buffer->bytes);
}

/* Drops the first bytes. */
static inline void buffer_consume(struct buffer *buffer, size_t length)
{
    buffer->length -= length;
    if (length && buffer->length)
        memmove(buffer->bytes, buffer->bytes + length, buffer->length);
}

#endif
