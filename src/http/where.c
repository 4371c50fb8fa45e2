/*
 * The words of an operation point into the request (words.h), so a word is found in the request by its
 * address.
 */
#include "http/where.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define NAME(word) (int)(word)->name.length, (word)->name.bytes

/* Where a word is in the request, in words for the client, and the text that is there. */
struct location {
    char said[96];
    size_t length; /* the length of the text */
};

static bool in_path(const struct exchange *exchange, const struct route_word *word,
                    const char *bytes, struct location *location)
{
    struct text segment = exchange->target.segments[word->segment];
    snprintf(location->said, sizeof location->said, "{%.*s} in the path", NAME(word));
    location->length = segment.length;
    return segment.bytes == bytes;
}

/* Finds one of the words that a parameter has between commas. */
static bool in_split(struct text list, const struct route_word *word, const char *bytes,
                     struct location *location)
{
    size_t number = 1, from = 0;
    for (size_t i = 0; i <= list.length; i++) {
        bool ends = i == list.length || list.bytes[i] == ',';
        if (ends && list.bytes + from == bytes) {
            snprintf(location->said, sizeof location->said, "entry %zu of the parameter '%.*s'",
                     number, NAME(word));
            location->length = i - from;
            return true;
        }
        from = ends ? i + 1 : from;
        number += ends;
    }
    return false;
}

static bool in_query(const struct exchange *exchange, const struct route_word *word,
                     const char *bytes, struct location *location)
{
    const struct parameter *parameter = route_parameter(&exchange->target, word->name);
    if (parameter == NULL)
        return false;
    if (word->split)
        return in_split(parameter->value, word, bytes, location);
    snprintf(location->said, sizeof location->said, "the parameter '%.*s'", NAME(word));
    location->length = parameter->value.length;
    return parameter->value.bytes == bytes;
}

static bool in_array(const json_t *array, const struct route_word *word, const char *bytes,
                     struct location *location)
{
    size_t count = json_array_size(array);
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_array_get(array, i);
        if (json_string_value(value) != bytes)
            continue;
        snprintf(location->said, sizeof location->said, "the member '%.*s[%zu]'", NAME(word), i);
        location->length = json_string_length(value);
        return true;
    }
    return false;
}

static bool in_body(const struct exchange *exchange, const struct route_word *word,
                    const char *bytes, struct location *location)
{
    const json_t *value =
        json_object_getn(exchange->json.root, word->name.bytes, word->name.length);
    bool number = json_is_integer(value);
    if (word->many || word->list)
        return in_array(value, word, bytes, location);
    if (word->json) {
        snprintf(location->said, sizeof location->said, "the member '%.*s'", NAME(word));
        location->length = exchange->raw.length;
        return bytes != NULL && bytes == exchange->raw.bytes;
    }
    snprintf(location->said, sizeof location->said, "the member '%.*s'", NAME(word));
    location->length = number ? strlen(exchange->number) : json_string_length(value);
    return value != NULL && (number ? exchange->number : json_string_value(value)) == bytes;
}

/* False: the word is not from the request, but a keyword that was added before an option. */
static bool find(const struct exchange *exchange, const char *bytes, struct location *location)
{
    const struct route *route = exchange->route;
    struct route_word word;
    bool found = false, body = route_has_body(route);
    for (const char *at = route->words; !found && route_next_word(route, &at, &word);)
        found = word.segment >= 0 ? in_path(exchange, &word, bytes, location)
                : body            ? in_body(exchange, &word, bytes, location)
                                  : in_query(exchange, &word, bytes, location);
    return found;
}

/* If only a beginning of the text is wrong, it is the type of an item. */
void where_explain(const struct exchange *exchange, const struct op_scratch *scratch,
                   char *sentence, size_t size)
{
    struct text wrong = scratch->wrong;
    struct location location = {.length = 0};
    if (exchange->route == NULL || wrong.bytes == NULL || scratch->subject == 0 ||
        !find(exchange, wrong.bytes, &location))
        snprintf(sentence, size, "%s", scratch->sentence);
    else
        snprintf(sentence, size, "%s%s%s", wrong.length < location.length ? "the type in " : "",
                 location.said, scratch->sentence + scratch->subject);
}
