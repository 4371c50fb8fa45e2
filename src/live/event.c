/*
 * The length of a chunk comes before its data, but it is only clear after the data. So eight digits
 * are reserved and filled in at the end.
 */
#include "live/event.h"

#include <string.h>

#include "base/decimal.h"
#include "base/hex.h"

#define CHUNK_HEAD   10 /* eight digits, CR LF */
#define COUNTER_ROOM ((size_t)LIMIT_NAME_LENGTH + DECIMAL_MAX + 4)
#define ITEM_ROOM    ((size_t)8)

uint64_t event_digest(const struct viewer *viewers, uint32_t count)
{
    uint64_t digest = 0;
    for (uint32_t i = 0; i < count; i++)
        digest += viewers[i].item->digest;
    return digest;
}

bool event_read_id(struct text text, uint64_t *digest)
{
    *digest = 0;
    if (text.length != EVENT_ID)
        return false;
    for (size_t i = 0; i < text.length; i++) {
        unsigned digit = hex_value((unsigned char)text.bytes[i]);
        if (digit > 15)
            return false;
        *digest = *digest << 4 | digit;
    }
    return true;
}

static char *put_hex(char *at, uint64_t value, unsigned digits)
{
    for (unsigned i = digits; i > 0; i--)
        *at++ = "0123456789abcdef"[value >> 4 * (i - 1) & 15];
    return at;
}

bool event_begin(struct buffer *out, bool chunked)
{
    return !chunked || buffer_append(out, "00000000\r\n", CHUNK_HEAD);
}

bool event_end(struct buffer *out, size_t start, bool chunked, bool written)
{
    if (written && chunked) {
        size_t length = out->length - start - CHUNK_HEAD;
        written = buffer_append(out, "\r\n", 2);
        if (written)
            put_hex(out->bytes + start, length, 8);
    }
    if (!written)
        out->length = start;
    return written;
}

static char *put_text(char *at, const char *bytes, size_t length)
{
    memcpy(at, bytes, length);
    return at + length;
}

/* "video:1":{"like":12}, */
static bool write_item(struct buffer *out, const struct viewer *viewer, const struct names *names)
{
    const struct watched *item = viewer->item;
    if (!buffer_reserve(out, ITEM_ROOM + item->length + item->count * COUNTER_ROOM))
        return false;
    char *at = out->bytes + out->length;
    *at++ = '"';
    at = put_text(at, item->text, item->length);
    at = put_text(at, "\":{", 3);
    for (uint32_t i = 0; i < item->count; i++) {
        const struct watched_counter *counter = &item->counters[i];
        if (counter->value == 0 && (viewer->sent == 0 || counter->changed <= viewer->sent))
            continue;
        const struct name *name = names_get(names, counter->name);
        *at++ = '"';
        at = put_text(at, name->text, name->length);
        at = put_text(at, "\":", 2);
        at = decimal_write_signed(at, counter->value);
        *at++ = ',';
    }
    at -= at[-1] == ',';
    at = put_text(at, "},", 2);
    buffer_end(out, at);
    return true;
}

bool event_put_id(struct buffer *out, uint64_t id)
{
    static const char before[] = "id: ";
    if (!buffer_reserve(out, sizeof before + EVENT_ID))
        return false;
    char *at = put_text(out->bytes + out->length, before, sizeof before - 1);
    at = put_hex(at, id, EVENT_ID);
    *at++ = '\n';
    buffer_end(out, at);
    return true;
}

static bool write_head(struct buffer *out, uint64_t digest)
{
    static const char after[] = "event: counts\ndata: {\"items\":{";
    return event_put_id(out, digest) && buffer_append(out, after, sizeof after - 1);
}

bool event_write(struct buffer *out, const struct viewer *viewers, uint32_t count, bool all,
                 const struct names *names, bool chunked)
{
    size_t start = out->length;
    bool written = event_begin(out, chunked) && write_head(out, event_digest(viewers, count));
    for (uint32_t i = 0; written && i < count; i++) {
        if (all || viewers[i].sent != viewers[i].item->version)
            written = write_item(out, &viewers[i], names);
    }
    if (written)
        out->length -= out->bytes[out->length - 1] == ',';
    written = written && buffer_append(out, "}}\n\n", 4);
    return event_end(out, start, chunked, written);
}

bool event_write_text(struct buffer *out, const char *text, bool chunked)
{
    size_t start = out->length;
    bool written = event_begin(out, chunked) && buffer_append(out, text, strlen(text));
    return event_end(out, start, chunked, written);
}

bool event_write_end(struct buffer *out, bool chunked)
{
    return !chunked || buffer_append(out, "0\r\n\r\n", 5);
}
