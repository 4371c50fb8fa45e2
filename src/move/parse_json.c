/*
 * A line is one flat object with these keys, in any order, each once:
 *
 *   {"user":"1","kind":"like","item":"video:2","time":1700000000}
 *   {"item":"video:2","counter":"view","value":5}
 *   {"define":"kind","name":"like"}
 *
 * The time may be missing or null. Lines about comments are those of comment_line.h.
 *
 * Ids and names are plain ASCII, so a string with an escape or another byte is refused, and nothing has to
 * be decoded. A general JSON parser would give the same result. Ids may also be whole numbers.
 */
#include <string.h>

#include "base/names.h"
#include "move/comment_line.h"
#include "move/row.h"

enum key {
    KEY_USER,
    KEY_KIND,
    KEY_ITEM,
    KEY_TIME,
    KEY_COUNTER,
    KEY_VALUE,
    KEY_DEFINE,
    KEY_NAME,
    KEYS
};

static const struct {
    const char *text;
    size_t length;
} keys[KEYS] = {
    {"user", 4},    {"kind", 4},  {"item", 4},   {"time", 4},
    {"counter", 7}, {"value", 5}, {"define", 6}, {"name", 4},
};

#define BIT(key) (1U << (key))

struct reading {
    const char *at;
    const char *end;
    unsigned seen;    /* keys that were read */
    unsigned strings; /* keys whose value is a string */
    struct text values[KEYS];
    char *problem;
    size_t size;
};

static void skip_spaces(struct reading *reading)
{
    while (reading->at < reading->end && (*reading->at == ' ' || *reading->at == '\t'))
        reading->at++;
}

/* Refuses the line and says what was expected and what was found. */
static enum status expected(struct reading *reading, const char *what)
{
    if (reading->at == reading->end)
        return row_refuse(reading->problem, reading->size, "expected %s, but the line ends there",
                          what);
    unsigned char found = (unsigned char)*reading->at;
    if (found < 0x20 || found > 0x7e)
        return row_refuse(reading->problem, reading->size, "expected %s, not the byte 0x%02x", what,
                          found);
    return row_refuse(reading->problem, reading->size, "expected %s, not '%c'", what, found);
}

static bool take(struct reading *reading, char wanted)
{
    skip_spaces(reading);
    if (reading->at == reading->end || *reading->at != wanted)
        return false;
    reading->at++;
    return true;
}

/* Called after the opening quote. Accepts only bytes that need no decoding. */
static enum status read_string(struct reading *reading, struct text *out)
{
    const char *start = reading->at;
    const char *quote = memchr(start, '"', (size_t)(reading->end - start));
    if (quote == NULL) {
        reading->at = reading->end;
        return expected(reading, "the '\"' that ends a string");
    }
    for (const char *at = start; at < quote; at++) {
        if ((unsigned char)(*at - 0x20) <= 0x7e - 0x20 && *at != '\\')
            continue;
        reading->at = at;
        return expected(reading, "plain characters of an id or a name");
    }
    *out = (struct text){start, (size_t)(quote - start)};
    reading->at = quote + 1;
    return STATUS_OK;
}

static enum status read_value(struct reading *reading, struct text *out, bool *is_string)
{
    skip_spaces(reading);
    *is_string = reading->at < reading->end && *reading->at == '"';
    if (*is_string) {
        reading->at++;
        return read_string(reading, out);
    }
    const char *start = reading->at;
    if (reading->at < reading->end && *reading->at == '-')
        reading->at++;
    const char *digits = reading->at;
    while (reading->at < reading->end && (unsigned char)(*reading->at - '0') <= 9)
        reading->at++;
    if (reading->at == digits)
        return expected(reading, "a string or a whole number");
    *out = (struct text){start, (size_t)(reading->at - start)};
    return STATUS_OK;
}

/* Databases write null for an unknown value. */
static bool take_null(struct reading *reading)
{
    skip_spaces(reading);
    if (reading->end - reading->at < 4 || memcmp(reading->at, "null", 4) != 0)
        return false;
    reading->at += 4;
    return true;
}

/* All keys have four bytes or more, and the first four mostly distinguish keys of the same length. */
static bool is_key(struct text text, enum key key)
{
    uint32_t found, wanted;
    memcpy(&found, text.bytes, sizeof found);
    memcpy(&wanted, keys[key].text, sizeof wanted);
    return found == wanted &&
           (text.length == 4 || memcmp(keys[key].text, text.bytes, text.length) == 0);
}

static enum status read_key(struct reading *reading, enum key *key)
{
    struct text text = {"", 0};
    if (!take(reading, '"'))
        return expected(reading, "'\"' and a key");
    enum status status = read_string(reading, &text);
    if (status != STATUS_OK)
        return status;
    for (*key = 0; *key < KEYS; ++*key)
        if (keys[*key].length == text.length && is_key(text, *key))
            break;
    if (*key == KEYS)
        return row_refuse(reading->problem, reading->size, "there is no key '%.*s'",
                          text.length < 40 ? (int)text.length : 40, text.bytes);
    if (reading->seen & BIT(*key))
        return row_refuse(reading->problem, reading->size, "the key '%s' comes twice",
                          keys[*key].text);
    reading->seen |= BIT(*key);
    return take(reading, ':') ? STATUS_OK : expected(reading, "':'");
}

static enum status read_object(struct reading *reading)
{
    if (!take(reading, '{'))
        return expected(reading, "'{'");
    do {
        enum key key = KEYS;
        bool is_string = false;
        enum status status = read_key(reading, &key);
        if (status == STATUS_OK && key == KEY_TIME && take_null(reading))
            reading->values[key].length = 0;
        else if (status == STATUS_OK)
            status = read_value(reading, &reading->values[key], &is_string);
        if (status != STATUS_OK)
            return status;
        reading->strings |= is_string ? BIT(key) : 0;
    } while (take(reading, ','));
    if (!take(reading, '}'))
        return expected(reading, "',' or '}'");
    skip_spaces(reading);
    return reading->at == reading->end ? STATUS_OK : expected(reading, "the end of the line");
}

/* Checks the keys of a row: values of `strings` must be strings, others numbers; `any`: either. */
static enum status check_kinds(const struct reading *reading, unsigned strings, unsigned any)
{
    for (unsigned key = 0; key < KEYS; key++) {
        if (!(reading->seen & BIT(key)) || (any & BIT(key)) ||
            !((strings ^ reading->strings) & BIT(key)))
            continue;
        return row_refuse(reading->problem, reading->size, "the value of '%s' should be a %s",
                          keys[key].text, strings & BIT(key) ? "string" : "whole number");
    }
    return STATUS_OK;
}

static enum status fill_reaction(const struct reading *reading, struct row *row)
{
    enum status status = check_kinds(reading, BIT(KEY_KIND) | BIT(KEY_ITEM), BIT(KEY_USER));
    if (status != STATUS_OK)
        return status;
    *row = (struct row){.shape = ROW_REACTION,
                        .user = reading->values[KEY_USER],
                        .name = reading->values[KEY_KIND],
                        .item = reading->values[KEY_ITEM]};
    row->timeless = reading->values[KEY_TIME].length == 0;
    if (!row->timeless && !row_parse_time(reading->values[KEY_TIME], &row->time_s))
        return row_refuse(reading->problem, reading->size,
                          "expected a time in seconds since 1970, not %.*s",
                          (int)reading->values[KEY_TIME].length, reading->values[KEY_TIME].bytes);
    return STATUS_OK;
}

static enum status fill_counter(const struct reading *reading, struct row *row)
{
    enum status status = check_kinds(reading, BIT(KEY_ITEM) | BIT(KEY_COUNTER), 0);
    if (status != STATUS_OK)
        return status;
    *row = (struct row){.shape = ROW_COUNTER,
                        .item = reading->values[KEY_ITEM],
                        .name = reading->values[KEY_COUNTER]};
    if (!row_parse_value(reading->values[KEY_VALUE], &row->value))
        return row_refuse(reading->problem, reading->size,
                          "expected a signed 64-bit integer, not %.*s",
                          (int)reading->values[KEY_VALUE].length, reading->values[KEY_VALUE].bytes);
    return STATUS_OK;
}

static enum status fill_define(const struct reading *reading, struct row *row)
{
    static const struct {
        const char *word;
        uint8_t role;
    } roles[] = {{"type", NAME_TYPE}, {"kind", NAME_KIND}, {"counter", NAME_COUNTER}};
    enum status status = check_kinds(reading, BIT(KEY_DEFINE) | BIT(KEY_NAME), 0);
    if (status != STATUS_OK)
        return status;
    *row = (struct row){.shape = ROW_DEFINE, .name = reading->values[KEY_NAME]};
    struct text word = reading->values[KEY_DEFINE];
    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++)
        if (strlen(roles[i].word) == word.length &&
            memcmp(roles[i].word, word.bytes, word.length) == 0)
            row->role = roles[i].role;
    if (row->role == 0)
        return row_refuse(reading->problem, reading->size,
                          "expected to define a type, kind or counter, not '%.*s'",
                          word.length < 40 ? (int)word.length : 40, word.bytes);
    return STATUS_OK;
}

enum status row_parse_json(struct text line, struct row *row, char *problem, size_t size)
{
    struct reading reading = {
        .at = line.bytes, .end = line.bytes + line.length, .problem = problem, .size = size};
    *row = (struct row){.shape = ROW_NONE};
    skip_spaces(&reading);
    if (reading.at == reading.end)
        return STATUS_OK;
    if (comment_line_is(line)) {
        *row = (struct row){.shape = ROW_COMMENT, .line = line};
        return STATUS_OK;
    }
    enum status status = read_object(&reading);
    if (status != STATUS_OK)
        return status;
    switch (reading.seen) {
    case BIT(KEY_USER) | BIT(KEY_KIND) | BIT(KEY_ITEM) | BIT(KEY_TIME):
    case BIT(KEY_USER) | BIT(KEY_KIND) | BIT(KEY_ITEM):
        return fill_reaction(&reading, row);
    case BIT(KEY_ITEM) | BIT(KEY_COUNTER) | BIT(KEY_VALUE):
        return fill_counter(&reading, row);
    case BIT(KEY_DEFINE) | BIT(KEY_NAME):
        return fill_define(&reading, row);
    default:
        return row_refuse(problem, size,
                          "expected the keys user, kind, item and time, or item, counter and "
                          "value, or define and name");
    }
}
