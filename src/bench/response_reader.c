/*
 * Only three lines of a head matter: the first, Content-Length, and the empty one. Of the others only the
 * first letter is read, because the generator must be faster than the server that it measures.
 */
#include "bench/response_reader.h"

#include <strings.h>

#include "base/decimal.h"

void response_reader_init(struct response_reader *reader)
{
    memset(reader, 0, sizeof(*reader));
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static void error_begin(struct response_reader *reader, const char *text, size_t length)
{
    reader->errors++;
    reader->copying = reader->text_length == 0;
    if (reader->copying)
        first_error_append(reader->first_error, &reader->text_length, text, length);
}

/* "HTTP/1.1 200 OK" */
static int64_t status_read(struct response_reader *reader, const char *line, size_t length)
{
    if (length < 12 || memcmp(line, "HTTP/1.", 7) != 0 || line[8] != ' ' || line[9] < '1' ||
        line[9] > '5' || !is_digit(line[10]) || !is_digit(line[11]))
        return -1;
    reader->code = (uint32_t)((line[9] - '0') * 100 + (line[10] - '0') * 10 + (line[11] - '0'));
    if (reader->code >= 400)
        error_begin(reader, line + 9, length - 9);
    return 0;
}

static int64_t length_read(struct response_reader *reader, const char *at, const char *end)
{
    uint64_t value;
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    if (reader->measured ||
        !decimal_read((struct text){at, (size_t)(end - at)}, RESPONSE_BODY_MAX, &value))
        return -1;
    reader->measured = true;
    reader->body = value;
    return 0;
}

static bool is_named(const char *line, size_t length, const char *name, size_t name_length)
{
    return length >= name_length && (line[0] | 0x20) == name[0] &&
           strncasecmp(line, name, name_length) == 0;
}

static int64_t response_done(struct response_reader *reader)
{
    reader->code = 0;
    reader->measured = reader->in_body = reader->copying = false;
    return 1;
}

static int64_t head_finish(struct response_reader *reader)
{
    if (reader->code < 200) { /* an interim response: the final one follows */
        bool fine = !reader->measured && reader->code != 101;
        reader->code = 0;
        return fine ? 0 : -1;
    }
    if (reader->code == 204 || reader->code == 304) {
        reader->body = 0;
        return response_done(reader);
    }
    if (!reader->measured)
        return -1;
    if (reader->copying && reader->body > 0)
        first_error_append(reader->first_error, &reader->text_length, ": ", 2);
    reader->in_body = reader->body > 0;
    return reader->in_body ? 0 : response_done(reader);
}

/* One line of a head without its CRLF; the responses it completed, or -1. */
static int64_t line_read(struct response_reader *reader, const char *line, size_t length)
{
    static const char measure[] = "content-length:", coding[] = "transfer-encoding:";
    if (reader->code == 0)
        return status_read(reader, line, length);
    if (length == 0)
        return head_finish(reader);
    if (is_named(line, length, measure, sizeof(measure) - 1))
        return length_read(reader, line + sizeof(measure) - 1, line + length);
    return is_named(line, length, coding, sizeof(coding) - 1) ? -1 : 0;
}

/* Skips bytes of a body; returns how many. */
static size_t body_skip(struct response_reader *reader, const char *bytes, size_t length)
{
    size_t taken = length < reader->body ? length : (size_t)reader->body;
    if (reader->copying)
        first_error_append(reader->first_error, &reader->text_length, bytes, taken);
    reader->body -= taken;
    return taken;
}

int64_t response_reader_feed(struct response_reader *reader, const char *bytes, size_t length)
{
    const char *at = bytes;
    const char *end = bytes + length;
    int64_t responses = 0;
    while (at < end) {
        int64_t done = 0;
        if (reader->in_body) {
            at += body_skip(reader, at, (size_t)(end - at));
            done = reader->body == 0 ? response_done(reader) : 0;
        } else {
            const char *feed = memchr(at, '\n', (size_t)(end - at));
            const char *line;
            size_t line_length;
            if (feed == NULL) {
                cut_line_keep(&reader->line, at, (size_t)(end - at));
                return responses;
            }
            if (!cut_line_finish(&reader->line, at, feed, &line, &line_length))
                return -1;
            done = line_read(reader, line, line_length);
            at = feed + 1;
        }
        if (done < 0)
            return -1;
        responses += done;
    }
    return responses;
}
