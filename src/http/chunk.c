#include "http/chunk.h"

#include "base/assert.h"
#include "base/hex.h"
#include "base/limits.h"
#include "http/head.h"

#define SIZE_DIGITS 8

/* Reads the line at scan->at, without its CR LF. */
static enum status take_line(struct chunk_scan *scan, const char *bytes, size_t length,
                             const char **line, size_t *line_length)
{
    *line = bytes + scan->at;
    size_t rest = length - scan->at < LIMIT_CHUNK_LINE ? length - scan->at : LIMIT_CHUNK_LINE;
    const char *feed = rest > 0 ? memchr(*line, '\n', rest) : NULL;
    if (feed == NULL)
        return rest < LIMIT_CHUNK_LINE ? STATUS_MORE : STATUS_BAD_PROTOCOL;
    size_t size = (size_t)(feed + 1 - *line);
    if (size < 2 || feed[-1] != '\r')
        return STATUS_BAD_PROTOCOL;
    *line_length = size - 2;
    scan->at += size;
    return STATUS_OK;
}

static enum status read_size(struct chunk_scan *scan, const char *line, size_t length)
{
    size_t digits = 0;
    uint64_t size = 0;
    for (unsigned digit; digits < length && (digit = hex_value((unsigned char)line[digits])) < 16;
         digits++) {
        if (digits == SIZE_DIGITS)
            return STATUS_BAD_PROTOCOL;
        size = size * 16 + digit;
    }
    if (digits == 0 || (digits < length && line[digits] != ';'))
        return STATUS_BAD_PROTOCOL;
    for (size_t i = digits; i < length; i++) {
        if ((unsigned char)line[i] < 0x20 || (unsigned char)line[i] > 0x7e)
            return STATUS_BAD_PROTOCOL;
    }
    scan->left = size;
    scan->state = size > 0 ? CHUNK_DATA : CHUNK_TRAILER;
    return STATUS_OK;
}

/* The trailers end with an empty line, which is OK here as well; the caller looks for it. */
static enum status read_trailer(struct chunk_scan *scan, const char *line, size_t length)
{
    return ++scan->trailers <= LIMIT_HTTP_HEADERS && head_is_field(line, length)
               ? STATUS_OK
               : STATUS_BAD_PROTOCOL;
}

static enum status read_data(struct chunk_scan *scan, const char *bytes, size_t length, size_t max,
                             struct buffer *body)
{
    if (scan->left > max || body->length > max - scan->left)
        return STATUS_BODY_TOO_LARGE;
    size_t rest = length - scan->at;
    size_t part = rest < scan->left ? rest : (size_t)scan->left;
    if (!buffer_append(body, bytes + scan->at, part))
        return STATUS_NO_MEMORY;
    scan->at += part;
    scan->left -= part;
    if (scan->left > 0)
        return STATUS_MORE;
    scan->state = CHUNK_END;
    return STATUS_OK;
}

enum status chunk_read(struct chunk_scan *scan, const char *bytes, size_t length, size_t max,
                       struct buffer *body)
{
    enum status status = STATUS_OK;
    ASSERT(scan->at <= length); /* the caller passes the same bytes again, and more */
    while (status == STATUS_OK) {
        const char *line;
        size_t line_length = 0;
        if (scan->at > 2 * max + KIB(64))
            return STATUS_BODY_TOO_LARGE;
        if (scan->state == CHUNK_DATA) {
            status = read_data(scan, bytes, length, max, body);
            continue;
        }
        status = take_line(scan, bytes, length, &line, &line_length);
        if (status != STATUS_OK)
            break;
        if (scan->state == CHUNK_SIZE) {
            status = read_size(scan, line, line_length);
        } else if (scan->state == CHUNK_END) {
            status = line_length == 0 ? STATUS_OK : STATUS_BAD_PROTOCOL;
            scan->state = CHUNK_SIZE;
        } else if (line_length == 0) {
            return STATUS_OK;
        } else {
            status = read_trailer(scan, line, line_length);
        }
    }
    return status;
}
