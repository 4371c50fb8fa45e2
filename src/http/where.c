/*
 * The words of an operation point into the request (words.h), so the place of one is found by its
 * address.
 */
#include "http/where.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define NAME(word) (int)(word)->name.length, (word)->name.bytes

/* A place, as it is said, and the text that stands there. */
struct place {
    char said[96];
    size_t length; /* of the text */
};

static bool in_path(const struct exchange *exchange, const struct route_word *word,
                    const char *bytes, struct place *place)
{
    struct text segment = exchange->target.segments[word->segment];
    snprintf(place->said, sizeof place->said, "{%.*s} in the path", NAME(word));
    place->length = segment.length;
    return segment.bytes == bytes;
}

/* One of the words that a parameter has between commas. */
static bool in_split(struct text list, const struct route_word *word, const char *bytes,
                     struct place *place)
{
    size_t number = 1, from = 0;
    for (size_t i = 0; i <= list.length; i++) {
        bool ends = i == list.length || list.bytes[i] == ',';
        if (ends && list.bytes + from == bytes) {
            snprintf(place->said, sizeof place->said, "entry %zu of the parameter '%.*s'", number,
                     NAME(word));
            place->length = i - from;
            return true;
        }
        from = ends ? i + 1 : from;
        number += ends;
    }
    return false;
}

static bool in_query(const struct exchange *exchange, const struct route_word *word,
                     const char *bytes, struct place *place)
{
    const struct parameter *parameter = route_parameter(&exchange->target, word->name);
    if (parameter == NULL)
        return false;
    if (word->split)
        return in_split(parameter->value, word, bytes, place);
    snprintf(place->said, sizeof place->said, "the parameter '%.*s'", NAME(word));
    place->length = parameter->value.length;
    return parameter->value.bytes == bytes;
}

static bool in_array(const json_t *array, const struct route_word *word, const char *bytes,
                     struct place *place)
{
    size_t count = json_array_size(array);
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_array_get(array, i);
        if (json_string_value(value) != bytes)
            continue;
        snprintf(place->said, sizeof place->said, "the member '%.*s[%zu]'", NAME(word), i);
        place->length = json_string_length(value);
        return true;
    }
    return false;
}

static bool in_body(const struct exchange *exchange, const struct route_word *word,
                    const char *bytes, struct place *place)
{
    const json_t *value =
        json_object_getn(exchange->json.root, word->name.bytes, word->name.length);
    bool number = json_is_integer(value);
    if (word->many)
        return in_array(value, word, bytes, place);
    snprintf(place->said, sizeof place->said, "the member '%.*s'", NAME(word));
    place->length = number ? strlen(exchange->number) : json_string_length(value);
    return value != NULL && (number ? exchange->number : json_string_value(value)) == bytes;
}

/* False: the word is not of the request, but one that an option needs before it. */
static bool find(const struct exchange *exchange, const char *bytes, struct place *place)
{
    const struct route *route = exchange->route;
    struct route_word word;
    bool found = false;
    for (const char *at = route->words; !found && route_next_word(route, &at, &word);)
        found = word.segment >= 0            ? in_path(exchange, &word, bytes, place)
                : route->method == VERB_POST ? in_body(exchange, &word, bytes, place)
                                             : in_query(exchange, &word, bytes, place);
    return found;
}

/* Only of an item a part can be wrong alone, its type. */
void where_explain(const struct exchange *exchange, const struct op_scratch *scratch,
                   char *sentence, size_t size)
{
    struct text wrong = scratch->wrong;
    struct place place = {.length = 0};
    if (exchange->route == NULL || wrong.bytes == NULL || scratch->subject == 0 ||
        !find(exchange, wrong.bytes, &place))
        snprintf(sentence, size, "%s", scratch->sentence);
    else
        snprintf(sentence, size, "%s%s%s", wrong.length < place.length ? "the type in " : "",
                 place.said, scratch->sentence + scratch->subject);
}
