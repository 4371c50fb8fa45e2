#include "http/accept.h"

#include <string.h>

#define WHOLE 1000

/* Returns the text before the separator, trimmed; *rest becomes the text after it. */
static struct text cut(struct text *rest, char separator)
{
    const char *found = rest->length > 0 ? memchr(rest->bytes, separator, rest->length) : NULL;
    size_t length = found != NULL ? (size_t)(found - rest->bytes) : rest->length;
    struct text part = {rest->bytes, length};
    length += found != NULL;
    *rest = (struct text){rest->bytes + length, rest->length - length};
    return text_trim(part);
}

/* Reads "1" or "0.25" as thousandths. Anything else counts as 0. */
static uint16_t read_quality(struct text text)
{
    unsigned value = 0, unit = WHOLE;
    for (size_t i = 0; i < text.length; i++) {
        bool digit = text.bytes[i] >= '0' && text.bytes[i] <= '9';
        if (i == 1 ? text.bytes[i] != '.' : !digit || i > 4)
            return 0;
        value += digit ? (unsigned)(text.bytes[i] - '0') * unit : 0;
        unit = digit ? unit / 10 : unit;
    }
    return (uint16_t)(value <= WHOLE ? value : 0);
}

/* The quality of a media type, from its parameters, which follow its first semicolon. */
static uint16_t quality_of(struct text parameters)
{
    while (parameters.length > 0) {
        struct text value = cut(&parameters, ';');
        struct text name = cut(&value, '=');
        if (text_is(name, "q"))
            return read_quality(text_trim(value));
    }
    return WHOLE;
}

void accept_take(struct accept *accept, struct text value)
{
    while (value.length > 0) {
        struct text parameters = cut(&value, ',');
        struct text type = cut(&parameters, ';');
        uint16_t *wanted = text_is(type, "text/html")          ? &accept->html
                           : text_is(type, "application/json") ? &accept->json
                                                               : NULL;
        if (wanted == NULL)
            continue;
        uint16_t quality = quality_of(parameters);
        *wanted = quality > *wanted ? quality : *wanted;
    }
}

bool accept_takes_gzip(struct text value)
{
    while (value.length > 0) {
        struct text parameters = cut(&value, ',');
        struct text coding = cut(&parameters, ';');
        if (text_is(coding, "gzip"))
            return quality_of(parameters) > 0;
    }
    return false;
}
