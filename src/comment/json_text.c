/*
 * The containers that are open are bits of one number, the innermost one last: 1 for an object, 0 for an
 * array. What is expected next is one of the states below.
 */
#include "comment/json_text.h"

#include <stdint.h>

#include "base/limits.h"
#include "comment/screen.h"

_Static_assert(LIMIT_JSON_DEPTH < 64, "each open container is a bit");

enum expected {
    VALUE,
    VALUE_OR_END, /* right after '[' */
    NAME,         /* of a member */
    NAME_OR_END,  /* right after '{' */
    COLON,
    COMMA_OR_END, /* after a value in a container */
    NOTHING,      /* after the outermost value */
};

struct reading {
    const char *bytes;
    size_t length;
    size_t at;
    unsigned depth;
    uint64_t objects;
};

/* The byte at this position, or -1 after the end. */
static int look(const struct reading *r)
{
    return r->at < r->length ? (unsigned char)r->bytes[r->at] : -1;
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static bool skip_digits(struct reading *r)
{
    if (!is_digit(look(r)))
        return false;
    while (is_digit(look(r)))
        r->at++;
    return true;
}

static bool skip_number(struct reading *r)
{
    r->at += look(r) == '-';
    if (look(r) == '0')
        r->at++;
    else if (!skip_digits(r))
        return false;
    if (look(r) == '.') {
        r->at++;
        if (!skip_digits(r))
            return false;
    }
    if (look(r) == 'e' || look(r) == 'E') {
        r->at++;
        r->at += look(r) == '+' || look(r) == '-';
        return skip_digits(r);
    }
    return true;
}

/* Reads the four digits of an escape sequence, after \u. */
static bool skip_unit(struct reading *r, unsigned *unit)
{
    *unit = 0;
    for (unsigned i = 0; i < 4; i++, r->at++) {
        int c = look(r);
        int lower = c | 0x20;
        if (!is_digit(c) && (lower < 'a' || lower > 'f'))
            return false;
        *unit = *unit << 4 | (unsigned)(is_digit(c) ? c - '0' : lower - 'a' + 10);
    }
    return true;
}

/* A character beyond the first 65,536 is two escape sequences, and neither stands alone. */
static bool skip_escape(struct reading *r)
{
    int c = look(r);
    unsigned unit;
    if (c != 'u') {
        bool known = c > 0 && strchr("\"\\/bfnrt", c) != NULL;
        r->at += known;
        return known;
    }
    r->at++;
    if (!skip_unit(r, &unit))
        return false;
    if (unit < 0xd800 || unit > 0xdfff)
        return true;
    if (unit > 0xdbff || look(r) != '\\')
        return false;
    r->at++;
    if (look(r) != 'u')
        return false;
    r->at++;
    return skip_unit(r, &unit) && unit >= 0xdc00 && unit <= 0xdfff;
}

static bool skip_string(struct reading *r)
{
    r->at++;
    for (;;) {
        int c = look(r);
        if (c < 0x20)
            return false;
        r->at++;
        if (c == '"')
            return true;
        if (c == '\\' && !skip_escape(r))
            return false;
    }
}

static bool skip_word(struct reading *r, const char *word)
{
    for (; *word != '\0'; word++, r->at++)
        if (look(r) != *word)
            return false;
    return true;
}

static enum expected after_value(const struct reading *r)
{
    return r->depth == 0 ? NOTHING : COMMA_OR_END;
}

static bool begin_container(struct reading *r, bool object, enum expected *next)
{
    if (r->depth == LIMIT_JSON_DEPTH)
        return false;
    r->at++;
    r->depth++;
    r->objects = r->objects << 1 | object;
    *next = object ? NAME_OR_END : VALUE_OR_END;
    return true;
}

static bool end_container(struct reading *r, enum expected *next)
{
    r->at++;
    r->depth--;
    r->objects >>= 1;
    *next = after_value(r);
    return true;
}

static bool skip_value(struct reading *r, enum expected *next)
{
    int c = look(r);
    if (c == '{' || c == '[')
        return begin_container(r, c == '{', next);
    *next = after_value(r);
    switch (c) {
    case '"':
        return skip_string(r);
    case 't':
        return skip_word(r, "true");
    case 'f':
        return skip_word(r, "false");
    case 'n':
        return skip_word(r, "null");
    default:
        return skip_number(r);
    }
}

/* Reads what is expected, up to the next space or sign. */
static bool step(struct reading *r, enum expected *next)
{
    int c = look(r);
    bool object = r->objects & 1;
    switch (*next) {
    case VALUE_OR_END:
        if (c == ']')
            return end_container(r, next);
        return skip_value(r, next);
    case VALUE:
        return skip_value(r, next);
    case NAME_OR_END:
        if (c == '}')
            return end_container(r, next);
        break;
    case COLON:
        *next = VALUE;
        r->at += c == ':';
        return c == ':';
    case COMMA_OR_END:
        if (c == (object ? '}' : ']'))
            return end_container(r, next);
        *next = object ? NAME : VALUE;
        r->at += c == ',';
        return c == ',';
    case NAME:
        break;
    case NOTHING:
        return false;
    }
    *next = COLON;
    return c == '"' && skip_string(r);
}

bool json_text_is_valid(struct text text, size_t *at)
{
    struct reading r = {.bytes = text.bytes, .length = text.length};
    enum expected next = VALUE;
    bool fits = true;
    *at = utf8_valid(text);
    if (*at < text.length)
        return false;
    while (fits && r.at < r.length) {
        int c = look(&r);
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
            r.at++;
        else
            fits = step(&r, &next);
    }
    *at = r.at;
    return fits && next == NOTHING;
}
