/*
 * Every line ends with CR LF and has no other CR or LF and no control bytes. The name of a field is a
 * token that the colon follows directly, so folded lines and "name :" are refused without rules of
 * their own.
 */
#include "http/head.h"

#include <string.h>

#include "base/assert.h"
#include "base/limits.h"

/* Classes of bytes: what a byte may be part of. */
enum {
    TOKEN = 1,  /* a field's name */
    TARGET = 2, /* a request target */
    VALUE = 4,  /* a field's value */
    ANY = TOKEN | TARGET | VALUE,
};

static const unsigned char class_of[256] = {
    ['0' ... '9'] = ANY,
    ['A' ... 'Z'] = ANY,
    ['a' ... 'z'] = ANY,
    ['!'] = ANY,
    ['$'] = ANY,
    ['%'] = ANY,
    ['&'] = ANY,
    ['\''] = ANY,
    ['*'] = ANY,
    ['+'] = ANY,
    ['-'] = ANY,
    ['.'] = ANY,
    ['_'] = ANY,
    ['~'] = ANY,
    ['#'] = TOKEN | VALUE,
    ['^'] = TOKEN | VALUE,
    ['`'] = TOKEN | VALUE,
    ['|'] = TOKEN | VALUE,
    ['('] = TARGET | VALUE,
    [')'] = TARGET | VALUE,
    [','] = TARGET | VALUE,
    ['/'] = TARGET | VALUE,
    [':'] = TARGET | VALUE,
    [';'] = TARGET | VALUE,
    ['='] = TARGET | VALUE,
    ['?'] = TARGET | VALUE,
    ['@'] = TARGET | VALUE,
    ['['] = TARGET | VALUE,
    [']'] = TARGET | VALUE,
    ['"'] = VALUE,
    ['<'] = VALUE,
    ['>'] = VALUE,
    ['\\'] = VALUE,
    ['{'] = VALUE,
    ['}'] = VALUE,
    ['\t'] = VALUE,
    [' '] = VALUE,
    [0x80 ... 0xff] = VALUE,
};

/* How many bytes from the start on belong to the class. */
static size_t span(const char *bytes, size_t length, unsigned class)
{
    size_t i = 0;
    while (i < length && (class_of[(unsigned char)bytes[i]] & class))
        i++;
    return i;
}

bool head_is_field(const char *line, size_t length)
{
    size_t name = span(line, length, TOKEN);
    return name > 0 && name < length && line[name] == ':' &&
           span(line + name + 1, length - name - 1, VALUE) == length - name - 1;
}

static enum status check_version(const char *version, size_t length, const char **problem)
{
    bool good = length == 8 && memcmp(version, "HTTP/", 5) == 0 && version[6] == '.' &&
                version[5] >= '0' && version[5] <= '9' && version[7] >= '0' && version[7] <= '9';
    *problem = "a request line must end with HTTP/1.1";
    if (!good)
        return STATUS_BAD_PROTOCOL;
    if (version[5] == '1' && (version[7] == '1' || version[7] == '0'))
        return STATUS_OK;
    *problem = status_sentence(STATUS_BAD_VERSION);
    return STATUS_BAD_VERSION;
}

/* Checks METHOD, target and version, with one space between them. */
static enum status check_request_line(const char *line, size_t length, const char **problem)
{
    size_t method = 0;
    while (method < length && ((line[method] >= 'A' && line[method] <= 'Z') || line[method] == '-'))
        method++;
    *problem = "a request line must be a method, a target and HTTP/1.1, with one space between";
    if (method == 0 || method == length || line[method] != ' ')
        return STATUS_BAD_PROTOCOL;
    const char *target = line + method + 1;
    size_t rest = length - method - 1, target_length = span(target, rest, TARGET);
    if (target_length == 0 || target_length == rest || target[target_length] != ' ')
        return STATUS_BAD_PROTOCOL;
    return check_version(target + target_length + 1, rest - target_length - 1, problem);
}

static enum status check_line(struct head_scan *scan, const char *line, size_t length,
                              const char **problem)
{
    if (scan->at == 0)
        return check_request_line(line, length, problem);
    if (++scan->fields > LIMIT_HTTP_HEADERS) {
        *problem = status_sentence(STATUS_HEAD_TOO_LARGE);
        return STATUS_HEAD_TOO_LARGE;
    }
    if (head_is_field(line, length))
        return STATUS_OK;
    *problem = "a header field must be one line: a name, directly followed by a colon, and a value "
               "without control bytes";
    return STATUS_BAD_PROTOCOL;
}

/* The incomplete line at scan->at has `line` bytes so far: MORE, or it is too long. */
static enum status check_length(const struct head_scan *scan, size_t line, size_t head_max,
                                const char **problem)
{
    enum status status = scan->at == 0 && line > LIMIT_HTTP_LINE ? STATUS_LINE_TOO_LONG
                         : scan->at + line > head_max            ? STATUS_HEAD_TOO_LARGE
                                                                 : STATUS_MORE;
    if (status != STATUS_MORE)
        *problem = status_sentence(status);
    return status;
}

enum status head_check(struct head_scan *scan, const char *bytes, size_t length, size_t head_max,
                       const char **problem)
{
    ASSERT(scan->at <= length); /* the caller passes the same bytes again, and more */
    for (;;) {
        const char *line = bytes + scan->at;
        size_t rest = length - scan->at;
        const char *feed = rest > 0 ? memchr(line, '\n', rest) : NULL;
        size_t size = feed != NULL ? (size_t)(feed + 1 - line) : rest;
        enum status status = check_length(scan, size, head_max, problem);
        if (status != STATUS_MORE || feed == NULL)
            return status;
        if (size < 2 || line[size - 2] != '\r') {
            *problem = "a line must end with CR LF";
            return STATUS_BAD_PROTOCOL;
        }
        bool last = size == 2 && scan->at > 0;
        status = last ? STATUS_OK : check_line(scan, line, size - 2, problem);
        if (status != STATUS_OK)
            return status;
        scan->at += size;
        if (last)
            return STATUS_OK;
    }
}
