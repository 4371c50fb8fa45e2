/*
 * A growable array of bytes. Its capacity is charged to the memory budget. It grows only by the
 * bytes that are really appended, never by a length that a client announces. Only the thread that
 * owns it may call.
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
void buffer_free(struct buffer *buffer); /* afterwards the buffer is empty and can be used again */

/* Makes room for `room` more bytes. False: there is no memory, and nothing has changed. */
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

/* Sets the new end of the contents after the caller has written into reserved room. */
static inline void buffer_end(struct buffer *buffer, const char *end)
{
    buffer->length = (size_t)(end - buffer->bytes);
}

/* Removes the first `length` bytes. */
static inline void buffer_consume(struct buffer *buffer, size_t length)
{
    ASSERT(length <= buffer->length);
    buffer->length -= length;
    if (length && buffer->length)
        memmove(buffer->bytes, buffer->bytes + length, buffer->length);
}

#endif
