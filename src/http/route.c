/*
 * There are a dozen routes, so they are tried one after the other; a method or a literal segment that
 * differs ends most of these trials at once.
 */
#include "http/route.h"

#include <string.h>

#include "base/assert.h"

static const struct route routes[] = {
#define ROUTE(code, method_name, template, list)                                                   \
    {.op = OP_##code, .method = VERB_##method_name, .path = template, .words = list},
#include "http/http.def"
#undef ROUTE
};

size_t route_count(void)
{
    return sizeof routes / sizeof routes[0];
}

const struct route *route_get(size_t index)
{
    ASSERT(index < route_count());
    return &routes[index];
}

/* The segment of a template behind the slash at *at; false: there is none. */
static bool next_segment(const char **at, struct text *segment)
{
    if (**at != '/')
        return false;
    const char *from = *at + 1, *end = from + strcspn(from, "/");
    *segment = (struct text){from, (size_t)(end - from)};
    *at = end;
    return true;
}

static bool text_equal(struct text a, struct text b)
{
    return a.length == b.length && memcmp(a.bytes, b.bytes, a.length) == 0;
}

bool route_fits(const char *path, const struct target *target)
{
    struct text segment;
    unsigned i = 0;
    for (; next_segment(&path, &segment); i++) {
        if (i == target->segment_count || i == TARGET_SEGMENTS)
            return false;
        struct text given = target->segments[i];
        bool open = segment.length > 0 && segment.bytes[0] == '{';
        if (open ? given.length == 0 : !text_equal(segment, given))
            return false;
    }
    return i == target->segment_count;
}

/* Which segment of the path has this name; -1: none. */
static int segment_named(const char *path, struct text name)
{
    struct text segment;
    for (int i = 0; next_segment(&path, &segment); i++) {
        if (segment.length == name.length + 2 && segment.bytes[0] == '{' &&
            memcmp(segment.bytes + 1, name.bytes, name.length) == 0)
            return i;
    }
    return -1;
}

bool route_next_word(const struct route *route, const char **at, struct route_word *word)
{
    const char *from = *at + strspn(*at, " ");
    size_t length = strcspn(from, " "), name = strcspn(from, ":.,? ");
    if (length == 0)
        return false;
    *word = (struct route_word){.name = {from, name},
                                .many = from[name] == '.',
                                .split = from[name] == ',',
                                .aside = from[name] == '?'};
    if (from[name] == ':')
        word->option = (struct text){from + name + 1, length - name - 1};
    word->segment = segment_named(route->path, word->name);
    *at = from + length;
    return true;
}

bool route_is_single(const struct route *route)
{
    return strpbrk(route->words, ".,") == NULL;
}

const struct parameter *route_parameter(const struct target *target, struct text name)
{
    for (unsigned i = 0; i < target->parameter_count; i++) {
        if (text_equal(target->parameters[i].name, name))
            return &target->parameters[i];
    }
    return NULL;
}

/* Are all parameters there that it cannot do without? */
static bool has_parameters(const struct route *route, const struct target *target)
{
    struct route_word word;
    for (const char *at = route->words; route_next_word(route, &at, &word);) {
        if (word.segment < 0 && !route_word_is_optional(&word) &&
            route_parameter(target, word.name) == NULL)
            return false;
    }
    return true;
}

const struct route *route_find(const struct target *target, enum verb method)
{
    const struct route *found = NULL;
    if (method == VERB_HEAD)
        method = VERB_GET;
    for (size_t i = 0; i < route_count(); i++) {
        const struct route *route = &routes[i];
        if (route->method != method || !route_fits(route->path, target))
            continue;
        found = route;
        if (method == VERB_POST || has_parameters(route, target))
            break;
    }
    return found;
}

unsigned route_methods(const struct target *target)
{
    unsigned methods = 0;
    for (size_t i = 0; i < route_count(); i++) {
        if (route_fits(routes[i].path, target))
            methods |= 1U << routes[i].method;
    }
    return methods;
}
