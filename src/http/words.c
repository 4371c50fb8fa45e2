/*
 * Ids are strings in JSON. As numbers, JavaScript and others would silently round those above 2^53.
 * Only a word that an operation reads as a number may be a JSON number.
 */
#include "http/words.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define SHOWN(text) (int)((text).length < 32 ? (text).length : 32), (text).bytes

static bool add_word(struct exchange *exchange, struct text word)
{
    return buffer_append(&exchange->words, &word, sizeof word);
}

static enum status out_of_memory(char *sentence, size_t size)
{
    snprintf(sentence, size, "%s", status_sentence(STATUS_NO_MEMORY));
    return STATUS_NO_MEMORY;
}

static struct text text_of(const json_t *value)
{
    return (struct text){json_string_value(value), json_string_length(value)};
}

/* Adds the strings of an array, from index `from` on. */
static enum status add_array(struct exchange *exchange, const json_t *array, size_t from,
                             const char *what, char *sentence, size_t size)
{
    size_t count = json_array_size(array);
    for (size_t i = from; i < count; i++) {
        const json_t *value = json_array_get(array, i);
        if (!json_is_string(value)) {
            snprintf(sentence, size,
                     "%s must be an array of strings, but its entry [%zu] is not a string", what,
                     i);
            return STATUS_BAD_JSON;
        }
        if (!add_word(exchange, text_of(value)))
            return out_of_memory(sentence, size);
    }
    return STATUS_OK;
}

/* Makes a word from a member of the body. `number`: the member may be a number. */
static enum status member_word(struct exchange *exchange, const struct route_word *word,
                               const json_t *value, bool number, struct text *out, char *sentence,
                               size_t size)
{
    if (json_is_string(value)) {
        *out = text_of(value);
        return STATUS_OK;
    }
    if (number && json_is_integer(value)) {
        int length = snprintf(exchange->number, sizeof exchange->number, "%lld",
                              (long long)json_integer_value(value));
        *out = (struct text){exchange->number, (size_t)length};
        return STATUS_OK;
    }
    snprintf(sentence, size, "the member '%.*s' must be %s", SHOWN(word->name),
             number ? "an integer" : "a string");
    return STATUS_BAD_JSON;
}

static const json_t *member(const struct exchange *exchange, struct text name)
{
    return json_object_getn(exchange->json.root, name.bytes, name.length);
}

/* Finds a word in path, query or body. OK without bytes: it is optional and absent. */
static enum status find_word(struct exchange *exchange, const struct route_word *word, bool number,
                             struct text *out, char *sentence, size_t size)
{
    *out = (struct text){NULL, 0};
    if (word->segment >= 0) {
        *out = exchange->target.segments[word->segment];
        return STATUS_OK;
    }
    bool posted = route_has_body(exchange->route);
    const json_t *value = posted ? member(exchange, word->name) : NULL;
    const struct parameter *parameter =
        posted ? NULL : route_parameter(&exchange->target, word->name);
    if (value != NULL)
        return member_word(exchange, word, value, number, out, sentence, size);
    if (parameter != NULL)
        *out = parameter->value;
    if (parameter != NULL || word->option.length > 0)
        return STATUS_OK;
    snprintf(sentence, size, "the %s '%.*s' is missing", posted ? "member" : "parameter",
             SHOWN(word->name));
    return STATUS_BAD_ARITY;
}

/* There must be at least one item, and no more than the operation takes. */
static enum status check_items(const struct exchange *exchange, const struct route_word *word,
                               const char *what, size_t count, char *sentence, size_t size)
{
    size_t most = op_get(exchange->route->op)->items_max;
    if (count == 0) {
        snprintf(sentence, size, "the %s '%.*s' must have at least one item", what,
                 SHOWN(word->name));
        return STATUS_BAD_ARITY;
    }
    if (count > most) {
        snprintf(sentence, size, "the %s '%.*s' must have at most %zu items, got %zu", what,
                 SHOWN(word->name), most, count);
        return STATUS_TOO_MANY_ITEMS;
    }
    return STATUS_OK;
}

/* Is the last word but one the keyword of an option, so that the last would be its value? */
static bool ends_with_option(const struct route *route, const json_t *array)
{
    size_t count = json_array_size(array);
    const json_t *value = count >= 2 ? json_array_get(array, count - 2) : NULL;
    struct route_word word;
    if (!json_is_string(value))
        return false;
    for (const char *at = route->words; route_next_word(route, &at, &word);) {
        if (word.option.length > 0 && word.option.length == json_string_length(value) &&
            strncasecmp(word.option.bytes, json_string_value(value), word.option.length) == 0)
            return true;
    }
    return false;
}

static enum status add_many(struct exchange *exchange, const struct route_word *word,
                            char *sentence, size_t size)
{
    const json_t *value = member(exchange, word->name);
    size_t count = json_array_size(value);
    char what[64];
    snprintf(what, sizeof what, "the member '%.*s'", SHOWN(word->name));
    if (!json_is_array(value)) {
        snprintf(sentence, size, "%s must be an array of strings", what);
        return STATUS_BAD_JSON;
    }
    enum status status = check_items(exchange, word, "member", count, sentence, size);
    if (status != STATUS_OK)
        return status;
    if (ends_with_option(exchange->route, value)) {
        snprintf(sentence, size, "the member '%.*s[%zu]' must be type:id, as in video:42",
                 SHOWN(word->name), count - 2);
        return STATUS_BAD_ARGUMENT;
    }
    return add_array(exchange, value, 0, what, sentence, size);
}

/* A parameter without a value is true, as in "?all". False: it is neither true nor false. */
static bool read_flag(struct text value, bool *given)
{
    *given = value.length == 0 || text_is(value, "true") || text_is(value, "1");
    return *given || text_is(value, "false") || text_is(value, "0");
}

/* Adds the option if the value is true. */
static enum status add_flag(struct exchange *exchange, const struct route_word *word,
                            char *sentence, size_t size)
{
    bool posted = route_has_body(exchange->route), given = false;
    const json_t *value = posted ? member(exchange, word->name) : NULL;
    const struct parameter *parameter =
        posted ? NULL : route_parameter(&exchange->target, word->name);
    bool known = (value == NULL && parameter == NULL) || json_is_boolean(value);
    if (value != NULL)
        given = json_is_true(value);
    if (parameter != NULL)
        known = read_flag(parameter->value, &given);
    if (!known) {
        snprintf(sentence, size, "the %s '%.*s' must be true or false",
                 posted ? "member" : "parameter", SHOWN(word->name));
        return posted ? STATUS_BAD_JSON : STATUS_BAD_ARGUMENT;
    }
    return !given || add_word(exchange, word->option) ? STATUS_OK : out_of_memory(sentence, size);
}

/* Adds the option and the words of an array, if there are any. */
static enum status add_list(struct exchange *exchange, const struct route_word *word,
                            char *sentence, size_t size)
{
    const json_t *value = member(exchange, word->name);
    char what[64];
    snprintf(what, sizeof what, "the member '%.*s'", SHOWN(word->name));
    if (value != NULL && !json_is_array(value)) {
        snprintf(sentence, size, "%s must be an array of strings", what);
        return STATUS_BAD_JSON;
    }
    if (json_array_size(value) == 0)
        return STATUS_OK;
    if (!add_word(exchange, word->option))
        return out_of_memory(sentence, size);
    return add_array(exchange, value, 0, what, sentence, size);
}

/* Adds the option and the text of a JSON value as the client has sent it. null is the same as nothing. */
static enum status add_json(struct exchange *exchange, const struct route_word *word,
                            char *sentence, size_t size)
{
    const json_t *value = member(exchange, word->name);
    struct text text = {exchange->raw.bytes, exchange->raw.length};
    if (value == NULL || json_is_null(value))
        return STATUS_OK;
    if (text.length == 0) {
        snprintf(sentence, size, "the name of the member '%.*s' must be written without \\u",
                 SHOWN(word->name));
        return STATUS_BAD_JSON;
    }
    return add_word(exchange, word->option) && add_word(exchange, text)
               ? STATUS_OK
               : out_of_memory(sentence, size);
}

/* Adds what is not a single word. False: it is one, and nothing was done. */
static bool add_special(struct exchange *exchange, const struct route_word *word, char *sentence,
                        size_t size, enum status *status)
{
    if (word->many)
        *status = add_many(exchange, word, sentence, size);
    else if (word->flag)
        *status = add_flag(exchange, word, sentence, size);
    else if (word->list)
        *status = add_list(exchange, word, sentence, size);
    else if (word->json)
        *status = add_json(exchange, word, sentence, size);
    else
        return word->aside;
    return true;
}

static size_t count_commas(struct text list)
{
    size_t count = 0;
    for (size_t i = 0; i < list.length; i++)
        count += list.bytes[i] == ',';
    return count;
}

/* Adds the words of one parameter, which are separated by commas. */
static enum status add_split(struct exchange *exchange, const struct route_word *word,
                             struct text list, char *sentence, size_t size)
{
    size_t count = list.length > 0 ? count_commas(list) + 1 : 0;
    enum status status = check_items(exchange, word, "parameter", count, sentence, size);
    const char *at = list.bytes, *end = list.bytes + list.length;
    for (size_t i = 0; status == STATUS_OK && i < count; i++) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *stop = comma != NULL ? comma : end;
        if (!add_word(exchange, (struct text){at, (size_t)(stop - at)}))
            return out_of_memory(sentence, size);
        at = comma != NULL ? comma + 1 : end;
    }
    return status;
}

enum status words_of_route(struct exchange *exchange, uint32_t *count, char *sentence, size_t size)
{
    const struct route *route = exchange->route;
    const uint8_t *takes = op_get(route->op)->words;
    uint32_t first = words_count(exchange);
    struct route_word word;
    enum status status = STATUS_OK;
    for (const char *at = route->words; status == STATUS_OK && route_next_word(route, &at, &word);
         takes += *takes != WORD_END) {
        struct text text;
        if (add_special(exchange, &word, sentence, size, &status))
            continue;
        bool number = *takes == WORD_DELTA || text_is(word.option, "FRIENDS") ||
                      text_is(word.option, "UNTIL");
        status = find_word(exchange, &word, number, &text, sentence, size);
        if (status != STATUS_OK || text.bytes == NULL)
            continue;
        if (word.split) {
            status = add_split(exchange, &word, text, sentence, size);
            continue;
        }
        if ((word.option.length > 0 && !add_word(exchange, word.option)) ||
            !add_word(exchange, text))
            status = out_of_memory(sentence, size);
    }
    *count = words_count(exchange) - first;
    return status;
}

enum status words_of_batch(struct exchange *exchange, const struct commands *commands,
                           uint32_t index, const struct op_spec **spec, uint32_t *count,
                           char *sentence, size_t size)
{
    const json_t *operations = json_object_get(exchange->json.root, "operations");
    const json_t *operation = json_array_get(operations, index);
    const json_t *name = json_array_get(operation, 0);
    uint32_t first = words_count(exchange);
    *count = 0;
    if (!json_is_string(name)) {
        snprintf(sentence, size, "an operation must be an array of strings, its name first");
        return STATUS_BAD_JSON;
    }
    const struct command *command = commands_find(commands, text_of(name));
    if (command == NULL || command->op == NULL) {
        char shown[TEXT_SHOWN];
        snprintf(sentence, size, "there is no operation '%s', /openapi.json lists all operations",
                 text_show(text_of(name), shown));
        return STATUS_UNKNOWN_COMMAND;
    }
    *spec = command->op;
    if (json_array_size(operation) > LIMIT_HTTP_WORDS) {
        snprintf(sentence, size, "the operation has %zu words, more than any operation takes",
                 json_array_size(operation));
        return STATUS_TOO_MANY_ITEMS;
    }
    enum status status = add_array(exchange, operation, 1, "the operation", sentence, size);
    *count = words_count(exchange) - first;
    return status;
}

static bool is_known(const struct route *route, struct text name)
{
    struct route_word word;
    for (const char *at = route->words; route_next_word(route, &at, &word);) {
        if (word.segment < 0 && word.name.length == name.length &&
            memcmp(word.name.bytes, name.bytes, name.length) == 0)
            return true;
    }
    return false;
}

/* Says that the path does not accept this name, and which names it accepts. */
static enum status refuse_unknown(const struct route *route, const char *what, struct text name,
                                  char *sentence, size_t size)
{
    struct route_word word;
    size_t used = (size_t)snprintf(sentence, size, "the %s '%.*s' is unknown", what, SHOWN(name));
    const char *before = ", known are: ";
    for (const char *at = route->words; used < size && route_next_word(route, &at, &word);) {
        if (word.segment >= 0)
            continue;
        used += (size_t)snprintf(sentence + used, size - used, "%s%.*s", before, SHOWN(word.name));
        before = ", ";
    }
    return STATUS_BAD_ARGUMENT;
}

static enum status check_parameters(const struct exchange *exchange, char *sentence, size_t size)
{
    const struct route *route = exchange->route;
    const struct target *target = &exchange->target;
    for (unsigned i = 0; i < target->parameter_count; i++) {
        const struct parameter *parameter = &target->parameters[i];
        bool body = route_has_body(route), known = !body && is_known(route, parameter->name);
        if (!known && body) {
            snprintf(sentence, size, "the parameter '%.*s' is unknown: a %s takes no parameters",
                     SHOWN(parameter->name),
                     route->method == VERB_POST ? "POST" : "PUT with a body");
            return STATUS_BAD_ARGUMENT;
        }
        if (!known)
            return refuse_unknown(route, "parameter", parameter->name, sentence, size);
        if (route_parameter(target, parameter->name) == parameter)
            continue;
        snprintf(sentence, size, "the parameter '%.*s' is repeated", SHOWN(parameter->name));
        return STATUS_BAD_ARGUMENT;
    }
    return STATUS_OK;
}

enum status words_check_names(const struct exchange *exchange, char *sentence, size_t size)
{
    enum status status = check_parameters(exchange, sentence, size);
    if (status != STATUS_OK || !route_has_body(exchange->route))
        return status;
    if (!json_is_object(exchange->json.root)) {
        snprintf(sentence, size, "the body must be a JSON object");
        return STATUS_BAD_JSON;
    }
    const char *key;
    json_t *value;
    json_object_foreach(exchange->json.root, key, value)
    {
        struct text name = {key, strlen(key)};
        if (!is_known(exchange->route, name))
            return refuse_unknown(exchange->route, "member", name, sentence, size);
    }
    return STATUS_OK;
}
