#include "resp/write.h"

#include <string.h>

#include "base/decimal.h"

#define LINE_MAX_BYTES 24 /* type byte, 20 digits with sign, CRLF */

/* Writes type byte, number and CRLF. All RESP types except simple strings and errors begin so. */
static bool line(struct buffer *out, char marker, int64_t value)
{
    if (!buffer_reserve(out, LINE_MAX_BYTES))
        return false;
    char *at = out->bytes + out->length;
    *at++ = marker;
    at = decimal_write_signed(at, value);
    *at++ = '\r';
    *at++ = '\n';
    out->length = (size_t)(at - out->bytes);
    return true;
}

bool resp_integer(struct buffer *out, int64_t value)
{
    return line(out, ':', value);
}

bool resp_array(struct buffer *out, size_t count)
{
    return line(out, '*', (int64_t)count);
}

bool resp_map(struct buffer *out, size_t count, bool resp3)
{
    return resp3 ? line(out, '%', (int64_t)count) : line(out, '*', 2 * (int64_t)count);
}

bool resp_bulk(struct buffer *out, const char *bytes, size_t length)
{
    return line(out, '$', (int64_t)length) && buffer_append(out, bytes, length) &&
           buffer_append(out, "\r\n", 2);
}

bool resp_text(struct buffer *out, const char *text)
{
    return resp_bulk(out, text, strlen(text));
}

bool resp_simple(struct buffer *out, const char *text)
{
    return buffer_append(out, "+", 1) && buffer_append(out, text, strlen(text)) &&
           buffer_append(out, "\r\n", 2);
}

bool resp_null(struct buffer *out, bool resp3)
{
    return resp3 ? buffer_append(out, "_\r\n", 3) : buffer_append(out, "$-1\r\n", 5);
}

/* No byte of an error can control a terminal, or be half of a UTF-8 character. */
static char shown(char byte)
{
    return (unsigned char)byte < 0x20 ? ' ' : (unsigned char)byte > 0x7e ? '?' : byte;
}

bool resp_error(struct buffer *out, const char *code, const char *sentence)
{
    size_t code_length = strlen(code), length = strlen(sentence);
    if (!buffer_reserve(out, code_length + length + 4))
        return false;
    char *at = out->bytes + out->length;
    *at++ = '-';
    memcpy(at, code, code_length);
    at += code_length;
    *at++ = ' ';
    for (size_t i = 0; i < length; i++)
        *at++ = shown(sentence[i]);
    *at++ = '\r';
    *at++ = '\n';
    out->length = (size_t)(at - out->bytes);
    return true;
}
