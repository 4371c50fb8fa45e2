/*
 * The name of a type may have characters that are also used as separators in keys, and a UUID has dashes,
 * so '{type}-{id}' can match in several ways. Therefore each way is tried, the value of each hole must be
 * valid for this hole, and a text that matches in two ways is refused. With three holes of at most 36
 * bytes this is cheap, and a hole at the end, the usual case, is tried once.
 *
 * There are two cases of a text that does not match: a key of something else with a similar name, or a key
 * of this form with a wrong value, which the owner has to learn about. A text has this form if it would
 * match with any bytes except separators in the holes.
 */
#include "move/redis_template.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/id.h"
#include "base/names.h"

#define SEPARATORS ":/.|"
#define LOOSE_MAX  128 /* the longest wrong value that is recognised in a hole */

static const char *const hole_names[REDIS_HOLES] = {"{id}", "{user}", "{type}"};

struct matching {
    const struct redis_template *template;
    const char *end;
    bool loose; /* holes may have any bytes except separators */
    unsigned ways;
    struct redis_values now;
    struct redis_values first;
};

static void piece_add(struct redis_template *out, enum redis_hole hole, size_t start)
{
    struct redis_piece *last = out->count > 0 ? &out->pieces[out->count - 1] : NULL;
    if (hole == REDIS_LITERAL && last != NULL && last->hole == REDIS_LITERAL) {
        last->length++;
        return;
    }
    ASSERT(out->count < sizeof out->pieces / sizeof out->pieces[0]);
    out->pieces[out->count++] =
        (struct redis_piece){(uint8_t)hole, (uint16_t)start, hole == REDIS_LITERAL ? 1 : 0};
}

/* The hole at the beginning of the text; REDIS_HOLES if there is none. */
static enum redis_hole hole_find(struct text text)
{
    for (int hole = 0; hole < REDIS_HOLES; hole++) {
        size_t length = strlen(hole_names[hole]);
        if (text.length >= length && memcmp(text.bytes, hole_names[hole], length) == 0)
            return (enum redis_hole)hole;
    }
    return REDIS_HOLES;
}

static const char *hole_add(struct redis_template *out, enum redis_hole hole)
{
    if (hole == REDIS_HOLES)
        return "has a brace that is not part of {id}, {user} or {type}; write '\\{' or '\\}' for a "
               "brace";
    if (redis_template_has(out, hole))
        return "has the same placeholder twice";
    if (out->count > 0 && out->pieces[out->count - 1].hole != REDIS_LITERAL)
        return "has two placeholders with nothing between them";
    out->holes |= (uint8_t)(1 << hole);
    piece_add(out, hole, 0);
    return NULL;
}

static const char *parse(struct text text, struct redis_template *out)
{
    size_t used = 0;
    for (size_t i = 0; i < text.length; i++) {
        char c = text.bytes[i];
        if (c == '{' || c == '}') {
            enum redis_hole hole = hole_find((struct text){text.bytes + i, text.length - i});
            const char *wrong = hole_add(out, hole);
            if (wrong != NULL)
                return wrong;
            i += strlen(hole_names[hole]) - 1;
            continue;
        }
        if (c == '\\') {
            if (++i == text.length)
                return "ends with a backslash";
            c = text.bytes[i];
        }
        if (used == sizeof out->bytes)
            return "is longer than 256 bytes";
        out->bytes[used] = c;
        piece_add(out, REDIS_LITERAL, used++);
    }
    return out->count == 0 ? "is empty" : NULL;
}

bool redis_template_parse(struct text text, struct redis_template *out, char *problem, size_t size)
{
    memset(out, 0, sizeof *out);
    const char *wrong = parse(text, out);
    if (wrong != NULL)
        snprintf(problem, size, "'%.*s' %s", (int)(text.length < 100 ? text.length : 100),
                 text.bytes, wrong);
    return wrong == NULL;
}

static bool value_fits(const struct matching *matching, enum redis_hole hole, struct text value)
{
    struct id id;
    if (matching->loose)
        return true;
    if (hole == REDIS_TYPE)
        return name_is_valid(value.bytes, value.length);
    return id_parse(value.bytes, value.length, &id);
}

/* The longest possible value of a hole that begins at `at`. */
static size_t value_reach(const struct matching *matching, enum redis_hole hole, const char *at)
{
    size_t most = hole == REDIS_TYPE ? LIMIT_NAME_LENGTH : LIMIT_ID_TEXT;
    size_t left = (size_t)(matching->end - at);
    if (!matching->loose)
        return left < most ? left : most;
    size_t reach = 0;
    while (reach < left && reach < LOOSE_MAX &&
           (at[reach] == '\0' || strchr(SEPARATORS, at[reach]) == NULL))
        reach++;
    return reach;
}

static void match_from(struct matching *matching, size_t index, const char *at);

static void match_hole(struct matching *matching, size_t index, const char *at)
{
    const struct redis_template *template = matching->template;
    enum redis_hole hole = template->pieces[index].hole;
    size_t reach = value_reach(matching, hole, at);
    bool last = index + 1 == template->count;
    size_t length = last ? (size_t)(matching->end - at) : 1;
    for (; length > 0 && length <= reach && matching->ways < 2; length++) {
        if (!last) {
            const struct redis_piece *next = &template->pieces[index + 1];
            if ((size_t)(matching->end - at) < length + next->length ||
                memcmp(at + length, template->bytes + next->start, next->length) != 0)
                continue;
        }
        struct text value = {at, length};
        if (!value_fits(matching, hole, value))
            continue;
        matching->now.of[hole] = value;
        match_from(matching, index + 1, at + length);
    }
}

static void match_from(struct matching *matching, size_t index, const char *at)
{
    const struct redis_template *template = matching->template;
    if (index == template->count) {
        if (at == matching->end && matching->ways++ == 0)
            matching->first = matching->now;
        return;
    }
    const struct redis_piece *piece = &template->pieces[index];
    if (piece->hole != REDIS_LITERAL)
        match_hole(matching, index, at);
    else if ((size_t)(matching->end - at) >= piece->length &&
             memcmp(at, template->bytes + piece->start, piece->length) == 0)
        match_from(matching, index + 1, at + piece->length);
}

enum redis_match redis_template_match(const struct redis_template *template, struct text text,
                                      struct redis_values *values)
{
    struct matching matching = {.template = template, .end = text.bytes + text.length};
    match_from(&matching, 0, text.bytes);
    *values = matching.first;
    if (matching.ways > 0)
        return matching.ways == 1 ? REDIS_FITS : REDIS_TWO_WAYS;
    matching.loose = true;
    match_from(&matching, 0, text.bytes);
    return matching.ways > 0 ? REDIS_BAD_VALUE : REDIS_OTHER;
}

size_t redis_template_glob(const struct redis_template *template, char out[REDIS_GLOB_BYTES])
{
    size_t used = 0;
    for (size_t i = 0; i < template->count; i++) {
        const struct redis_piece *piece = &template->pieces[i];
        if (piece->hole != REDIS_LITERAL)
            out[used++] = '*';
        for (size_t j = 0; j < piece->length; j++) {
            char c = template->bytes[piece->start + j];
            if (c != '\0' && strchr("*?[]\\^-", c) != NULL)
                out[used++] = '\\';
            out[used++] = c;
        }
    }
    out[used] = '\0';
    return used;
}
