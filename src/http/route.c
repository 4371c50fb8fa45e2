/*
 * There are only a dozen routes, so they are tried one after another. For most of them the method or
 * the first literal segment differs, which ends the trial at once. This runs for each request, on
 * texts of a few bytes, where a plain loop is faster than calls of strcspn and the like.
 */
#include "http/route.h"

#include <string.h>

#include "base/assert.h"

static const struct route routes[] = {
#define ROUTE(code, method_name, template, list)                                                   \
    {.op = OP_##code, .method = VERB_##method_name, .path = template, .words = list},
#define OP(code, name, action, shape, words, extra, arguments, items, summary)
#include "op/op.def"
#undef OP
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

static bool text_equal(struct text a, struct text b)
{
    return a.length == b.length && memcmp(a.bytes, b.bytes, a.length) == 0;
}

/* Does the segment match that of the template after the slash at *at? *at is advanced. */
static bool segment_fits(const char **at, struct text given)
{
    const char *segment = *at + 1;
    size_t i = 0;
    if (segment[0] == '{') {
        while (segment[i++] != '}')
            ;
        *at = segment + i;
        return given.length > 0;
    }
    while (i < given.length && segment[i] == given.bytes[i] && segment[i] != '\0')
        i++;
    *at = segment + i;
    return i == given.length && (segment[i] == '/' || segment[i] == '\0');
}

bool route_fits(const char *path, const struct target *target)
{
    for (unsigned i = 0; i < target->segment_count; i++) {
        if (i == TARGET_SEGMENTS || *path != '/' || !segment_fits(&path, target->segments[i]))
            return false;
    }
    return *path == '\0';
}

/* The segment of the path with this name, or -1. */
static int segment_named(const char *path, struct text name)
{
    int segment = -1;
    for (; *path != '\0'; path++) {
        segment += *path == '/';
        if (*path == '{' && strncmp(path + 1, name.bytes, name.length) == 0 &&
            path[1 + name.length] == '}')
            return segment;
    }
    return -1;
}

bool route_next_word(const struct route *route, const char **at, struct route_word *word)
{
    const char *from = *at;
    while (*from == ' ')
        from++;
    const char *end = from;
    while (*end != '\0' && strchr(" :.,?!*=", *end) == NULL)
        end++;
    if (end == from)
        return false;
    *word = (struct route_word){.name = {from, (size_t)(end - from)},
                                .many = *end == '.',
                                .flag = *end == '!',
                                .list = *end == '*',
                                .json = *end == '=',
                                .split = *end == ',',
                                .aside = *end == '?'};
    const char *behind = end;
    while (*behind != '\0' && *behind != ' ')
        behind++;
    if (*end == ':' || word->flag || word->list || word->json)
        word->option = (struct text){end + 1, (size_t)(behind - end) - 1};
    word->segment = segment_named(route->path, word->name);
    *at = behind;
    return true;
}

bool route_has_body(const struct route *route)
{
    struct route_word word;
    if (route->method != VERB_PUT)
        return route->method == VERB_POST;
    for (const char *at = route->words; route_next_word(route, &at, &word);)
        if (word.segment < 0)
            return true;
    return false;
}

bool route_body_is_optional(const struct route *route)
{
    struct route_word word;
    for (const char *at = route->words; route_next_word(route, &at, &word);)
        if (word.segment < 0 && !route_word_is_optional(&word))
            return false;
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

/* Does the target have all parameters that the route requires? */
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
        if (found != NULL && has_parameters(found, target))
            break;
        found = route;
        if (method == VERB_POST)
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
