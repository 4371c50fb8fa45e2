#include "http/json_plain.h"

#include <stdbool.h>

#include "base/assert.h"
#include "base/decimal.h"

#define DIGITS 18 /* any integer with so many digits fits into 64 bits */

/* The bytes that a plain string may have. */
static const bool is_plain[256] = {
    [' ' ... '!'] = true, ['#' ... '['] = true, [']' ... '~'] = true};

struct reading {
    const char *at, *end;
};

static json_t *read_value(struct reading *r);

static void skip_space(struct reading *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\r' || *r->at == '\t'))
        r->at++;
}

/* Skips this byte and the white space around it. False: another byte is there, or none. */
static bool take(struct reading *r, char byte)
{
    skip_space(r);
    if (r->at == r->end || *r->at != byte)
        return false;
    r->at++;
    skip_space(r);
    return true;
}

/* Reads a string; r->at is at its opening quote. */
static bool read_text(struct reading *r, struct text *out)
{
    const char *from = r->at + 1, *at = from;
    while (at < r->end && is_plain[(unsigned char)*at])
        at++;
    if (at >= r->end || *at != '"')
        return false;
    *out = (struct text){from, (size_t)(at - from)};
    r->at = at + 1;
    return true;
}

static json_t *read_integer(struct reading *r)
{
    bool negative = *r->at == '-';
    const char *from = r->at + negative;
    size_t left = (size_t)(r->end - from);
    struct text digits = {from, decimal_digits((struct text){from, left < DIGITS ? left : DIGITS})};
    const char *at = from + digits.length;
    bool last = at < r->end && (*at == ',' || *at == ']' || *at == '}' || *at == ' ');
    if (at == from || (*from == '0' && (negative || at - from > 1)) || !last)
        return NULL;
    uint64_t value = 0;
    bool fits = decimal_read(digits, INT64_MAX, &value);
    ASSERT(fits); /* so many digits always do */
    r->at = at;
    return json_integer(negative ? -(json_int_t)value : (json_int_t)value);
}

static bool read_member(struct reading *r, json_t *object)
{
    struct text name;
    if (r->at == r->end || *r->at != '"' || !read_text(r, &name) || !take(r, ':') ||
        json_object_getn(object, name.bytes, name.length) != NULL)
        return false;
    json_t *value = read_value(r);
    return value != NULL &&
           json_object_setn_new_nocheck(object, name.bytes, name.length, value) == 0;
}

static bool read_element(struct reading *r, json_t *array)
{
    json_t *value = read_value(r);
    return value != NULL && json_array_append_new(array, value) == 0;
}

/* Reads the entries of an array or an object into `into`, which is new and empty. */
static json_t *read_all(struct reading *r, json_t *into, char close,
                        bool (*read_one)(struct reading *r, json_t *into))
{
    r->at++;
    if (into == NULL || take(r, close))
        return into;
    bool more = true;
    while (more && read_one(r, into))
        more = take(r, ',');
    if (!more && take(r, close))
        return into;
    json_decref(into);
    return NULL;
}

static json_t *read_value(struct reading *r)
{
    struct text text;
    if (r->at == r->end)
        return NULL;
    if (*r->at == '"')
        return read_text(r, &text) ? json_stringn_nocheck(text.bytes, text.length) : NULL;
    if (*r->at == '[')
        return read_all(r, json_array(), ']', read_element);
    if (*r->at == '{')
        return read_all(r, json_object(), '}', read_member);
    return read_integer(r);
}

json_t *json_plain_read(struct text text)
{
    struct reading r = {text.bytes, text.bytes + text.length};
    if (text.length == 0)
        return NULL;
    skip_space(&r);
    if (r.at == r.end || (*r.at != '{' && *r.at != '['))
        return NULL;
    json_t *value = read_value(&r);
    skip_space(&r);
    if (value == NULL || r.at == r.end)
        return value;
    json_decref(value);
    return NULL;
}
