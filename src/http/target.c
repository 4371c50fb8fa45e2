#include "http/target.h"

#include <string.h>
#include <strings.h>

#include "base/hex.h"

#define SCHEME "http://"

/* Decodes two hexadecimal digits. 0: they are invalid, or the byte is not allowed here. */
static unsigned decode_byte(const char *digits, size_t length)
{
    unsigned high = length >= 2 ? hex_value((unsigned char)digits[0]) : 16;
    unsigned low = length >= 2 ? hex_value((unsigned char)digits[1]) : 16;
    unsigned byte = high < 16 && low < 16 ? high * 16 + low : 0;
    return byte <= 0x20 || byte >= 0x7f || byte == '/' || byte == '\\' ? 0 : byte;
}

/* Decodes in place. False: the text is refused. */
static bool decode(char *bytes, size_t length, struct text *out)
{
    size_t to = 0;
    for (size_t from = 0; from < length; from++, to++) {
        bytes[to] = bytes[from];
        if (bytes[from] != '%')
            continue;
        unsigned byte = decode_byte(bytes + from + 1, length - from - 1);
        if (byte == 0)
            return false;
        bytes[to] = (char)byte;
        from += 2;
    }
    *out = (struct text){bytes, to};
    return true;
}

/* Splits at the first separator; *rest is the text after it. False: there is none. */
static bool split(char **at, size_t *length, char separator, char **rest, size_t *rest_length)
{
    char *found = *length > 0 ? memchr(*at, separator, *length) : NULL;
    if (found == NULL)
        return false;
    *rest = found + 1;
    *rest_length = *length - (size_t)(found + 1 - *at);
    *length = (size_t)(found - *at);
    return true;
}

/* Reads the path, which begins with a slash. */
static bool read_path(struct target *target, char *path, size_t length)
{
    bool more = true;
    path++;
    length--;
    while (more) {
        char *rest = NULL;
        size_t rest_length = 0;
        struct text segment;
        more = split(&path, &length, '/', &rest, &rest_length);
        if (!decode(path, length, &segment))
            return false;
        if (target->segment_count < TARGET_SEGMENTS)
            target->segments[target->segment_count] = segment;
        target->segment_count += target->segment_count <= TARGET_SEGMENTS;
        path = rest;
        length = rest_length;
    }
    return true;
}

static const char *read_query(struct target *target, char *query, size_t length)
{
    bool more = length > 0;
    while (more) {
        char *rest = NULL, *value = query + length;
        size_t rest_length = 0, value_length = 0;
        struct parameter parameter;
        more = split(&query, &length, '&', &rest, &rest_length);
        value = query + length;
        split(&query, &length, '=', &value, &value_length);
        if (!decode(query, length, &parameter.name) ||
            !decode(value, value_length, &parameter.value))
            return "the query has a % that is not followed by the two hexadecimal digits of a "
                   "printable "
                   "ASCII character other than space, / and \\";
        if (target->parameter_count == TARGET_PARAMETERS)
            return "the query has too many parameters";
        target->parameters[target->parameter_count++] = parameter;
        query = rest;
        length = rest_length;
    }
    return NULL;
}

/* Removes scheme and host from a target that has them. False: the host is not ours. */
static bool strip_host(char **text, size_t *length, struct text host)
{
    size_t scheme = strlen(SCHEME);
    if (*length <= scheme || strncasecmp(*text, SCHEME, scheme) != 0)
        return false;
    *text += scheme;
    *length -= scheme;
    bool same = host.length > 0 && *length > host.length &&
                strncasecmp(*text, host.bytes, host.length) == 0 && (*text)[host.length] == '/';
    *text += same ? host.length : 0;
    *length -= same ? host.length : 0;
    return same;
}

const char *target_read(struct target *target, char *text, size_t length, struct text host)
{
    char *query = NULL;
    size_t query_length = 0;
    *target = (struct target){.asterisk = length == 1 && text[0] == '*'};
    if (target->asterisk)
        return NULL;
    if (length == 0 || (text[0] != '/' && !strip_host(&text, &length, host)))
        return "the target in the request line must be a path, or http:// with the host of the "
               "header "
               "Host and a path";
    split(&text, &length, '?', &query, &query_length);
    if (!read_path(target, text, length))
        return "the path has a % that is not followed by the two hexadecimal digits of a printable "
               "ASCII character other than space, / and \\";
    return read_query(target, query, query_length);
}
