#include "move/comment_fields.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/decimal.h"
#include "comment/comment.h"

void fields_refuse(struct fields *fields, const char *format, ...)
{
    va_list arguments;
    if (fields->bad)
        return;
    fields->bad = true;
    va_start(arguments, format);
    vsnprintf(fields->problem, fields->size, format, arguments);
    va_end(arguments);
}

json_t *fields_get(struct fields *fields, const char *key)
{
    ASSERT(fields->asked_count < FIELDS_MOST);
    fields->asked[fields->asked_count++] = key;
    return fields->bad ? NULL : json_object_get(fields->object, key);
}

static json_t *get(struct fields *fields, const char *key, bool needed)
{
    json_t *value = fields_get(fields, key);
    if (value == NULL && needed)
        fields_refuse(fields, "the key '%s' is missing", key);
    return value;
}

uint32_t fields_number(struct fields *fields, const char *key, bool needed)
{
    json_t *value = get(fields, key, needed);
    if (value == NULL)
        return 0;
    json_int_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < 0 || number > UINT32_MAX) {
        fields_refuse(fields, "the value of '%s' should be a whole number up to %u", key,
                      UINT32_MAX);
        return 0;
    }
    return (uint32_t)number;
}

bool fields_flag(struct fields *fields, const char *key)
{
    json_t *value = get(fields, key, false);
    if (value != NULL && !json_is_boolean(value))
        fields_refuse(fields, "the value of '%s' should be true or false", key);
    return json_is_true(value);
}

static struct text text_of(const json_t *value)
{
    return (struct text){json_string_value(value), json_string_length(value)};
}

struct text fields_text(struct fields *fields, const char *key, bool needed)
{
    json_t *value = get(fields, key, needed);
    if (value != NULL && !json_is_string(value))
        fields_refuse(fields, "the value of '%s' should be a string", key);
    return json_is_string(value) ? text_of(value) : (struct text){"", 0};
}

uint8_t fields_word(struct fields *fields, const char *key, const char *const *words)
{
    struct text text = fields_text(fields, key, false);
    if (text.length == 0)
        return 0;
    for (uint8_t i = 0; words[i] != NULL; i++)
        if (strlen(words[i]) == text.length && memcmp(words[i], text.bytes, text.length) == 0)
            return i;
    char shown[TEXT_SHOWN];
    fields_refuse(fields, "the value of '%s' cannot be '%s'", key, text_show(text, shown));
    return 0;
}

static bool parse_id(struct fields *fields, const char *key, const json_t *value, struct id *id)
{
    struct text text = json_is_string(value) ? text_of(value) : (struct text){"", 0};
    if (id_parse(text.bytes, text.length, id))
        return true;
    fields_refuse(
        fields, "the value of '%s' should be an id, a string with a 64-bit decimal or a UUID", key);
    return false;
}

bool fields_id(struct fields *fields, const char *key, bool needed, struct id *id)
{
    json_t *value = get(fields, key, needed);
    *id = (struct id){0};
    return value != NULL && !json_is_null(value) && parse_id(fields, key, value, id);
}

uint64_t fields_comment(struct fields *fields, const char *key, bool needed)
{
    static const char type[] = COMMENT_TYPE_NAME ":";
    const size_t skip = sizeof type - 1;
    uint64_t id = COMMENT_NONE;
    json_t *value = get(fields, key, needed);
    if (value == NULL)
        return COMMENT_NONE;
    struct text text = json_is_string(value) ? text_of(value) : (struct text){"", 0};
    if (text.length <= skip || text.length > skip + DECIMAL_MAX ||
        memcmp(text.bytes, type, skip) != 0 ||
        !decimal_read((struct text){text.bytes + skip, text.length - skip}, INT64_MAX, &id) ||
        id == COMMENT_NONE)
        fields_refuse(fields, "the value of '%s' should be a comment, as in comment:42", key);
    return id;
}

/* What is shown to clients as JSON must be JSON. */
static void check_extra(struct fields *fields, struct text extra)
{
    json_error_t error;
    if (extra.length == 0 || fields->bad)
        return;
    json_t *value = json_loadb(extra.bytes, extra.length, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
    if (value == NULL)
        fields_refuse(fields, "the value of 'extra' should be a string with a JSON value");
    json_decref(value);
}

struct comment_content fields_content(struct fields *fields)
{
    struct comment_content content = {.text = fields_text(fields, "text", true),
                                      .extra = fields_text(fields, "extra", false),
                                      .time_s = fields_number(fields, "text_time", true)};
    check_extra(fields, content.extra);
    json_t *mentions = get(fields, "mentions", false);
    if (mentions == NULL)
        return content;
    if (!json_is_array(mentions) || json_array_size(mentions) > LIMIT_MENTIONS) {
        fields_refuse(fields, "the value of 'mentions' should be an array of at most %d ids",
                      LIMIT_MENTIONS);
        return content;
    }
    content.mention_count = (uint32_t)json_array_size(mentions);
    for (uint32_t i = 0; i < content.mention_count; i++)
        parse_id(fields, "mentions", json_array_get(mentions, i), &content.mentions[i]);
    return content;
}

static bool was_asked(const struct fields *fields, const char *key)
{
    for (unsigned i = 0; i < fields->asked_count; i++)
        if (strcmp(fields->asked[i], key) == 0)
            return true;
    return false;
}

enum status fields_end(struct fields *fields)
{
    const char *key;
    json_t *value;
    char shown[TEXT_SHOWN];
    json_object_foreach(fields->object, key, value)
    {
        if (!was_asked(fields, key))
            fields_refuse(fields, "there is no key '%s' in such a line",
                          text_show(text_from(key), shown));
    }
    return fields->bad ? STATUS_BAD_ARGUMENT : STATUS_OK;
}
