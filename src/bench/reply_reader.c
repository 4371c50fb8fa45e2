/*
 * Nested replies are parsed without a stack: the number of elements that are still needed is enough. The
 * header of an array of n elements subtracts one and adds n, that of a map subtracts one and adds 2n. An
 * attribute adds 2n and subtracts none, because the element that it describes follows.
 *
 * Bulk strings are skipped by their length, and lines are read in the read buffer. Only a line that was
 * cut by the end of a read is copied, so that all connections can share the buffer.
 */
#include "bench/reply_reader.h"

#include <string.h>

#include "base/assert.h"
#include "base/decimal.h"

void reply_reader_init(struct reply_reader *reader)
{
    memset(reader, 0, sizeof(*reader));
}

/* Digits, or -1 for null; false if it is neither or too large. */
static bool length_read(const char *text, size_t length, int64_t *out)
{
    if (length == 2 && text[0] == '-' && text[1] == '1') {
        *out = -1;
        return true;
    }
    uint64_t value;
    if (length > 10 || !decimal_read((struct text){text, length}, READER_ELEMENT_MAX, &value))
        return false;
    *out = (int64_t)value;
    return true;
}

static void error_count(struct reply_reader *reader)
{
    if (!reader->failed)
        reader->errors++;
    reader->failed = true;
}

static inline int64_t element_done(struct reply_reader *reader)
{
    ASSERT(reader->open > 0);
    if (--reader->open > 0)
        return 0;
    reader->failed = false;
    return reader->push ? 0 : 1;
}

static int64_t bulk_begin(struct reply_reader *reader, char type, int64_t length)
{
    if (length < 0)
        return type == '$' ? element_done(reader) : -1;
    if (type == '!') {
        error_count(reader);
        reader->copying = reader->text_length == 0;
    }
    reader->skip = (uint64_t)length + 2;
    return 0;
}

static int64_t aggregate_begin(struct reply_reader *reader, char type, int64_t length)
{
    if (length < 0)
        return type == '*' ? element_done(reader) : -1;
    uint64_t elements = (uint64_t)length * (type == '%' || type == '|' ? 2 : 1);
    if (reader->open > UINT64_MAX / 2)
        return -1;
    reader->open += elements;
    return type == '|' ? 0 : element_done(reader);
}

/* One line without its CRLF. Returns the replies it completed (0 or 1), -1 if it is not RESP. */
static int64_t line_read(struct reply_reader *reader, const char *line, size_t length)
{
    if (length == 0)
        return -1;
    if (reader->open == 0) {
        reader->open = 1;
        reader->push = line[0] == '>';
    }
    int64_t number;
    switch (line[0]) {
    case ':':
    case '+':
    case ',':
    case '(':
    case '#':
    case '_':
        return element_done(reader);
    case '-':
        error_count(reader);
        if (reader->text_length == 0)
            first_error_append(reader->first_error, &reader->text_length, line + 1, length - 1);
        return element_done(reader);
    case '$':
    case '=':
    case '!':
        if (!length_read(line + 1, length - 1, &number))
            return -1;
        return bulk_begin(reader, line[0], number);
    case '*':
    case '~':
    case '>':
    case '%':
    case '|':
        if (!length_read(line + 1, length - 1, &number))
            return -1;
        return aggregate_begin(reader, line[0], number);
    default:
        return -1;
    }
}

/* Most lines are a few bytes: look there before calling memchr. */
static inline const char *line_end(const char *bytes, const char *end)
{
    const char *near = end - bytes > 16 ? bytes + 16 : end;
    for (const char *at = bytes; at < near; at++)
        if (*at == '\n')
            return at;
    return near == end ? NULL : memchr(near, '\n', (size_t)(end - near));
}

/* `end` is at the line feed. */
static int64_t line_finish(struct reply_reader *reader, const char *start, const char *end)
{
    const char *line;
    size_t length;
    return cut_line_finish(&reader->line, start, end, &line, &length)
               ? line_read(reader, line, length)
               : -1;
}

/* Skips bytes of a bulk string; returns how many, and sets *done if that completed a reply. */
static int64_t bulk_skip(struct reply_reader *reader, const char *bytes, size_t length,
                         int64_t *done)
{
    size_t taken = length < reader->skip ? length : (size_t)reader->skip;
    if (reader->copying) {
        size_t body = reader->skip > 2 ? (size_t)reader->skip - 2 : 0;
        first_error_append(reader->first_error, &reader->text_length, bytes,
                           taken < body ? taken : body);
    }
    reader->skip -= taken;
    *done = 0;
    if (reader->skip == 0) {
        if (bytes[taken - 1] != '\n')
            return -1;
        reader->copying = false;
        *done = element_done(reader);
    }
    return (int64_t)taken;
}

/*
 * The fast path for the most frequent replies: a number, the header of a bulk string or array, or a bulk
 * string that is complete in these bytes. Returns how many bytes were parsed; 0: the slow path has to be
 * used, which also finds errors.
 */
static inline size_t element_take(struct reply_reader *reader, const char *bytes, size_t length,
                                  int64_t *done)
{
    char type = bytes[0];
    if (length < 16 || (type != ':' && type != '$' && type != '*'))
        return 0;
    size_t at = 1;
    uint64_t number = 0;
    for (; at < 12 && bytes[at] >= '0' && bytes[at] <= '9'; at++)
        number = number * 10 + (uint64_t)(bytes[at] - '0');
    if (at == 1 || bytes[at] != '\r' || bytes[at + 1] != '\n' || number > READER_ELEMENT_MAX)
        return 0;
    at += 2;
    if (type == '$') {
        if (length - at < number + 2 || bytes[at + number + 1] != '\n')
            return 0;
        at += number + 2;
    }
    if (reader->open == 0) {
        reader->open = 1;
        reader->push = false;
    }
    if (type == '*')
        reader->open += number;
    *done = element_done(reader);
    return at;
}

int64_t reply_reader_feed(struct reply_reader *reader, const char *bytes, size_t length)
{
    const char *at = bytes;
    const char *end = bytes + length;
    int64_t replies = 0;
    while (at < end) {
        int64_t done = 0;
        size_t short_way = 0;
        if (reader->skip == 0 && reader->line.length == 0)
            short_way = element_take(reader, at, (size_t)(end - at), &done);
        if (short_way > 0) {
            at += short_way;
        } else if (reader->skip > 0) {
            int64_t taken = bulk_skip(reader, at, (size_t)(end - at), &done);
            if (taken < 0)
                return -1;
            at += taken;
        } else {
            const char *feed = line_end(at, end);
            if (feed == NULL) {
                cut_line_keep(&reader->line, at, (size_t)(end - at));
                return replies;
            }
            done = line_finish(reader, at, feed);
            if (done < 0)
                return -1;
            at = feed + 1;
        }
        replies += done;
    }
    return replies;
}
