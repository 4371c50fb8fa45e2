/*
 * Paths, parameters and operations are those of op.def. What op.def does not say, the JSON schemas of
 * words, is in the tables here, and those of answers are in openapi_schemas.c. Tests compare these schemas
 * with real answers.
 */
#include "http/openapi.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/assert.h"
#include "base/limits.h"
#include "http/answer.h"
#include "http/openapi_schemas.h"
#include "http/page.h"
#include "http/respond.h"
#include "http/route.h"

#define TEXT(number)  TEXT_OF(number)
#define TEXT_OF(what) #what

/* The schemas of words of operations. write_word adds bounds to those that have some. */
static const char *const word_schemas[WORD_TOTAL] = {
    [WORD_USER] = ID_SCHEMA,
    [WORD_KIND] = NAME_SCHEMA,
    [WORD_COUNTER] = NAME_SCHEMA,
    [WORD_ANY_COUNTER] = NAME_SCHEMA,
    [WORD_DELTA] = "{\"type\":[\"integer\",\"string\"],\"format\":\"int64\","
                   "\"pattern\":\"^[+-]?[0-9]{1,19}$\"}",
    [WORD_TYPE] = NAME_SCHEMA,
    [WORD_ITEM] = ITEM_SCHEMA,
    [WORD_ITEMS] = ITEM_SCHEMA,
    [WORD_COMMENT] = COMMENT_SCHEMA,
    [WORD_COMMENTS] = COMMENT_SCHEMA,
    [WORD_TEXT] =
        "{\"type\":\"string\",\"minLength\":1,\"maxLength\":" TEXT(LIMIT_COMMENT_TEXT) "}",
    [WORD_STATE] = "{\"enum\":[\"visible\",\"pending\",\"hidden\",\"shadow\"]}",
    [WORD_QUEUE] = "{\"enum\":[\"pending\",\"hidden\",\"reported\"]}",
    [WORD_CURSOR] = "{\"type\":\"string\"}",
};

/* The schemas of options that may follow the words, by their keyword. */
static const struct {
    const char *keyword, *schema;
} extra_schemas[] = {
    {"CURSOR", "{\"type\":\"string\"}"},
    {"SINCE", "{\"type\":\"string\"}"},
    {"WINDOW", "{\"enum\":[\"hour\",\"day\",\"week\"]}"},
    {"TOKEN", "{\"type\":\"string\",\"minLength\":1,\"maxLength\":" TEXT(LIMIT_TOKEN_LENGTH) "}"},
    {"COLD", "{\"enum\":[\"skip\",\"ask\"]}"},
    {"FRIENDS", "{\"type\":\"integer\",\"minimum\":1,\"maximum\":" TEXT(LIMIT_NAMED) "}"},
    {"DEPTH", "{\"type\":\"integer\",\"minimum\":1,\"maximum\":2}"},
    {"BY", "{\"enum\":[\"top\",\"new\",\"old\",\"best\",\"hot\",\"controversial\"]}"},
    {"FOR", ID_SCHEMA},
    {"REPLIES", "{\"type\":\"integer\",\"minimum\":0,\"maximum\":" TEXT(LIMIT_REPLIES) "}"},
    {"AT", COMMENT_SCHEMA},
    {"ALL", "{\"type\":\"boolean\"}"},
    {"MENTION",
     "{\"type\":\"array\",\"maxItems\":" TEXT(LIMIT_MENTIONS) ",\"items\":" ID_SCHEMA "}"},
    {"EXTRA", "{\"description\":\"Any JSON value of up to 4096 bytes.\"}"},
    {"REASON", "{\"type\":\"string\",\"maxLength\":" TEXT(LIMIT_REASON) "}"},
    {"OWNER", ID_SCHEMA},
    {"MODE", "{\"enum\":[\"open\",\"held\",\"readonly\",\"closed\"]}"},
    {"UNTIL", "{\"type\":\"integer\",\"minimum\":1,\"maximum\":4294967294}"},
    {"SHADOW", "{\"type\":\"boolean\"}"},
};

/* The schema of a word that is no word of the operation: the id of the last event of a stream. */
static const char aside_schema[] = "{\"type\":\"string\",\"pattern\":\"^[0-9a-f]{16}$\"}";

/* The schemas of answers by their shapes. COUNTS of many items, and streams, have others. */
static const char *const answer_schemas[SHAPE_TOTAL] = {
    [SHAPE_CHANGE] = "Change",
    [SHAPE_VALUE] = "Value",
    [SHAPE_REMOVAL] = "Removed",
    [SHAPE_FLAGS] = "Set",
    [SHAPE_COUNTS] = "ItemCounts",
    [SHAPE_FEED] = "Items",
    [SHAPE_ITEMS] = "ListedItems",
    [SHAPE_USERS] = "ListedUsers",
    [SHAPE_FRIENDS] = "ListedUsers",
    [SHAPE_CHANGES] = "Changes",
    [SHAPE_RANKED] = "Top",
    [SHAPE_NAMES] = "Names",
    [SHAPE_DONE] = "Done",
    [SHAPE_POSTED] = "Posted",
    [SHAPE_COMMENTS] = "Comments",
    [SHAPE_CARDS] = "Cards",
    [SHAPE_CARD_LIST] = "ListedCards",
    [SHAPE_INBOX] = "Inbox",
    [SHAPE_VERSIONS] = "Versions",
    [SHAPE_SUBJECT] = "Subject",
};

static bool say(struct buffer *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool say(struct buffer *out, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return length >= 0 && (size_t)length < sizeof text && buffer_append(out, text, (size_t)length);
}

static const char *schema_of_extra(struct text keyword)
{
    for (size_t i = 0; i < sizeof extra_schemas / sizeof extra_schemas[0]; i++) {
        if (text_is(keyword, extra_schemas[i].keyword))
            return extra_schemas[i].schema;
    }
    ASSERT(!"every keyword has a schema");
    return NULL;
}

/* The words of a route are those of its operation, in the same order, followed by optional ones. */
static const char *schema_of_word(const struct route *route, const struct route_word *word)
{
    size_t index = 0;
    struct route_word other;
    if (word->aside)
        return aside_schema;
    if (word->option.length > 0)
        return schema_of_extra(word->option);
    for (const char *at = route->words;
         route_next_word(route, &at, &other) && other.name.bytes != word->name.bytes; index++)
        ASSERT(index < OP_WORDS);
    return word_schemas[op_get(route->op)->words[index]];
}

/* Writes the schema of a word of the route, with the bounds that its operation has. */
static bool write_word(struct buffer *out, const struct route *route, const struct route_word *word)
{
    const struct op_spec *op = op_get(route->op);
    if (word->many || word->split)
        return say(out,
                   "{\"type\":\"array\",\"minItems\":1,\"maxItems\":%u,"
                   "\"items\":{\"$ref\":\"#/components/schemas/Item\"}}",
                   op->items_max);
    if (text_is(word->option, "LIMIT"))
        return say(out, "{\"type\":\"integer\",\"minimum\":1,\"maximum\":%u}", op_limit_max(op));
    return answer_write_text(out, schema_of_word(route, word));
}

static const char *schema_of_answer(const struct route *route)
{
    enum op_shape shape = op_get(route->op)->shape;
    if (route_is_stream(route))
        return "Events";
    return shape == SHAPE_COUNTS && !route_is_single(route) ? "Items" : answer_schemas[shape];
}

static const char *method_of(const struct route *route)
{
    return route->method == VERB_GET      ? "get"
           : route->method == VERB_PUT    ? "put"
           : route->method == VERB_DELETE ? "delete"
                                          : "post";
}

/* The route that is used if a required parameter of this one is absent. NULL: there is none. */
static const struct route *fallback_of(const struct route *route)
{
    char path[256];
    struct target target;
    int length = snprintf(path, sizeof path, "%s", route->path);
    if (target_read(&target, path, (size_t)length, (struct text){NULL, 0}) != NULL)
        return NULL;
    for (size_t i = 0; i < route_count(); i++) {
        const struct route *other = route_get(i);
        if (other > route && other->method == route->method && route_fits(other->path, &target))
            return other;
    }
    return NULL;
}

static bool has_word(const struct route *route, struct text name)
{
    struct route_word word;
    for (const char *at = route->words; route_next_word(route, &at, &word);) {
        if (word.name.length == name.length &&
            memcmp(word.name.bytes, name.bytes, name.length) == 0)
            return true;
    }
    return false;
}

static bool write_parameter(struct buffer *out, const struct route *route,
                            const struct route_word *word, bool required)
{
    return say(out, "{\"name\":\"%.*s\",\"in\":\"%s\",\"required\":%s,%s\"schema\":",
               (int)word->name.length, word->name.bytes, word->segment >= 0 ? "path" : "query",
               required ? "true" : "false", word->split ? "\"explode\":false," : "") &&
           write_word(out, route, word);
}

/* The first parameter that this route requires and its fallback does not: it chooses this route. */
static struct text choice_of(const struct route *route)
{
    struct route_word word;
    for (const char *at = route->words; route_next_word(route, &at, &word);) {
        if (word.segment < 0 && !route_word_is_optional(&word))
            return word.name;
    }
    return (struct text){NULL, 0};
}

/* Writes the parameters that only the fallback has. */
static bool write_fallback(struct buffer *out, const struct route *route,
                           const struct route *fallback)
{
    struct text choice = choice_of(route);
    bool written = true;
    struct route_word word;
    for (const char *at = fallback->words; written && route_next_word(fallback, &at, &word);) {
        if (word.segment < 0 && !has_word(route, word.name))
            written = write_parameter(out, fallback, &word, false) &&
                      say(out, ",\"description\":\"Not together with %.*s.\"},", (int)choice.length,
                          choice.bytes);
    }
    return written;
}

static bool write_parameters(struct buffer *out, const struct route *route)
{
    const struct route *fallback = fallback_of(route);
    bool written = answer_write_text(out, "\"parameters\":[");
    struct route_word word;
    for (const char *at = route->words; written && route_next_word(route, &at, &word);) {
        bool in_path = word.segment >= 0;
        if (in_path || !route_has_body(route))
            written =
                write_parameter(out, route, &word,
                                in_path || (!route_word_is_optional(&word) && fallback == NULL)) &&
                answer_write_text(out, "},");
    }
    if (written && fallback != NULL)
        written = write_fallback(out, route, fallback);
    return written && answer_close_list(out, "],");
}

static bool write_body(struct buffer *out, const struct route *route)
{
    struct route_word word;
    bool written = say(out,
                       "\"requestBody\":{\"required\":%s,\"content\":{"
                       "\"application/json\":{\"schema\":{\"type\":\"object\","
                       "\"additionalProperties\":false,\"required\":[",
                       route_body_is_optional(route) ? "false" : "true");
    for (const char *at = route->words; written && route_next_word(route, &at, &word);) {
        if (word.segment < 0 && !route_word_is_optional(&word))
            written = say(out, "\"%.*s\",", (int)word.name.length, word.name.bytes);
    }
    written = written && answer_close_list(out, "],\"properties\":{");
    for (const char *at = route->words; written && route_next_word(route, &at, &word);) {
        if (word.segment < 0)
            written = say(out, "\"%.*s\":", (int)word.name.length, word.name.bytes) &&
                      write_word(out, route, &word) && answer_write_text(out, ",");
    }
    return written && answer_close_list(out, "}}}}},");
}

static bool write_content(struct buffer *out, const char *code, const char *said, const char *type,
                          const char *schema)
{
    return say(out,
               "\"%s\":{\"description\":\"%s\",\"content\":{\"%s\":{"
               "\"schema\":{\"$ref\":\"#/components/schemas/%s\"}}}},",
               code, said, type, schema);
}

/* `created`: the answer may also say that something new was made. */
static bool write_responses(struct buffer *out, const char *type, const char *schema, bool created)
{
    return answer_write_text(out, "\"responses\":{") &&
           write_content(out, "200", "The answer.", type, schema) &&
           (!created || write_content(out, "201", "It is new.", type, schema)) &&
           write_content(out, "default", "An error.", RESPOND_JSON, "Error") &&
           answer_close_list(out, "}},");
}

/* The same for a page that browsers get as HTML. */
static bool write_two_forms(struct buffer *out, const char *type, const char *schema)
{
    return say(out,
               "\"responses\":{\"200\":{\"description\":\"The answer.\",\"content\":{\"%s\":{"
               "\"schema\":{\"$ref\":\"#/components/schemas/%s\"}},\"text/html\":{"
               "\"schema\":{\"$ref\":\"#/components/schemas/Text\"}}}}}},",
               type, schema);
}

static bool write_route(struct buffer *out, const struct route *route)
{
    const struct op_spec *op = op_get(route->op);
    return say(out, "\"%s\":{\"operationId\":\"%s_%s\",\"x-operation\":\"%s\",\"summary\":",
               method_of(route), method_of(route), op->name, op->name) &&
           answer_write_string(out, op->summary) && answer_write_text(out, ",") &&
           write_parameters(out, route) && (!route_has_body(route) || write_body(out, route)) &&
           write_responses(out, route_is_stream(route) ? RESPOND_EVENTS : RESPOND_JSON,
                           schema_of_answer(route), op->action == HOT_COMMENT);
}

/* All methods of a path are written together, when its first route is reached. */
static bool write_path(struct buffer *out, size_t index)
{
    const char *path = route_get(index)->path;
    for (size_t i = 0; i < index; i++) {
        if (strcmp(route_get(i)->path, path) == 0)
            return true;
    }
    bool written = say(out, "\"%s\":{", path);
    for (size_t i = index; written && i < route_count(); i++) {
        if (strcmp(route_get(i)->path, path) == 0)
            written = write_route(out, route_get(i));
    }
    return written && answer_close_list(out, "},");
}

static bool write_page(struct buffer *out, const struct page *page)
{
    if (page->summary == NULL)
        return true;
    return say(out, "\"%s\":{\"get\":{\"summary\":", page->path) &&
           answer_write_string(out, page->summary) && answer_write_text(out, ",") &&
           (page->write_html != NULL ? write_two_forms(out, page->type, page->schema)
                                     : write_responses(out, page->type, page->schema, false)) &&
           answer_close_list(out, "},");
}

/* The path for a batch, which may have any operation, also those without a path of their own. */
static bool write_batch(struct buffer *out)
{
    bool written =
        answer_write_text(out, "\"/v1/batch\":{\"post\":{\"summary\":\"Up to " TEXT(
                                   LIMIT_HTTP_BATCH) " operations, answered in "
                                                     "order; each an array of strings, its name "
                                                     "first.\",\"x-operations\":[");
    for (size_t i = 0; written && i < op_count(); i++) {
        const struct op_spec *op = op_get(i);
        written = say(out, "{\"name\":\"%s\",\"arguments\":", op->name) &&
                  answer_write_string(out, op->arguments) &&
                  answer_write_text(out, ",\"summary\":") &&
                  answer_write_string(out, op->summary) && answer_write_text(out, "},");
    }
    return written &&
           answer_close_list(
               out, "],\"requestBody\":{\"required\":true,\"content\":{\"application/json\":{"
                    "\"schema\":{\"type\":\"object\",\"required\":[\"operations\"],"
                    "\"additionalProperties\":false,\"properties\":{\"operations\":{"
                    "\"type\":\"array\",\"maxItems\":" TEXT(
                        LIMIT_HTTP_BATCH) ",\"items\":{"
                                          "\"type\":\"array\",\"items\":{\"type\":\"string\"}}}}}"
                                          "}}},") &&
           write_responses(out, "application/json", "Results", false) &&
           answer_close_list(out, "}");
}

bool openapi_write(struct buffer *out)
{
    bool written = say(out,
                       "{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"Laud\",\"version\":\"%s\","
                       "\"description\":\"Reactions, counters and feeds. Ids are strings.\"},"
                       "\"paths\":{",
                       LAUD_VERSION);
    for (size_t i = 0; written && i < route_count(); i++)
        written = write_path(out, i);
    for (size_t i = 0; written && i < page_count(); i++)
        written = write_page(out, page_get(i));
    return written && write_batch(out) && answer_write_text(out, "},") &&
           answer_write_text(out, openapi_components);
}
