#include "http/json_in.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "http/json_plain.h"

#define VALUE_BYTES 96 /* about what jansson needs for one value, without the text of a string */

/* The end of the string that begins before index `i`: its closing quote, or the end of the text. */
static size_t string_end(struct text text, size_t i)
{
    while (i < text.length && text.bytes[i] != '"')
        i += text.bytes[i] == '\\' ? 2 : 1;
    return i;
}

/* Counts the bytes that can precede a value, outside of strings. False: the nesting is too deep. */
static bool measure(struct text text, size_t *values)
{
    size_t depth = 0;
    *values = 1;
    for (size_t i = 0; i < text.length; i++) {
        char c = text.bytes[i];
        if (c == '"') {
            i = string_end(text, i + 1);
        } else if (c == '[' || c == '{') {
            ++*values;
            if (++depth > LIMIT_JSON_DEPTH)
                return false;
        } else if (c == ']' || c == '}') {
            depth -= depth > 0;
        } else if (c == ',' || c == ':') {
            ++*values;
        }
    }
    return true;
}

/*
 * Our own words for an error, because jansson's messages name its own constants. NULL: it is a syntax
 * error, for which jansson's message is clear.
 */
static const char *reason_of(enum json_error_code code)
{
    switch ((int)code) {
    case json_error_invalid_utf8:
        return "the body has a byte that is not UTF-8";
    case json_error_premature_end_of_input:
        return "the body ends before its JSON is complete";
    case json_error_end_of_input_expected:
        return "the body has something after the end of its JSON";
    case json_error_null_byte_in_key:
        return "the name of a member has the character \\u0000, which is not allowed";
    case json_error_duplicate_key:
        return "the body has the same member twice";
    case json_error_numeric_overflow:
        return "the body has a number that is too large, integers must fit into 64 bits";
    default:
        return NULL;
    }
}

static enum status refuse(const json_error_t *error, struct text text, char *sentence, size_t size)
{
    enum json_error_code code = json_error_code(error);
    const char *reason = reason_of(code);
    if (code == json_error_out_of_memory) {
        snprintf(sentence, size, "%s", status_sentence(STATUS_NO_MEMORY));
        return STATUS_NO_MEMORY;
    }
    if (text.length == 0)
        snprintf(sentence, size, "the body is empty, it must be JSON");
    else if (reason != NULL)
        snprintf(sentence, size, "%s, near line %d, column %d", reason, error->line, error->column);
    else
        snprintf(sentence, size, "the body is not JSON: %s, line %d, column %d", error->text,
                 error->line, error->column);
    return STATUS_BAD_JSON;
}

enum status json_in_read(struct json_in *in, struct text text, struct memory_budget *budget,
                         char *sentence, size_t size)
{
    size_t values;
    json_error_t error;
    *in = (struct json_in){.root = NULL};
    if (!measure(text, &values)) {
        snprintf(sentence, size, "the body nests arrays and objects more than %d deep",
                 LIMIT_JSON_DEPTH);
        return STATUS_BAD_JSON;
    }
    if (values > LIMIT_JSON_VALUES) {
        snprintf(sentence, size, "the body has more than %d values", LIMIT_JSON_VALUES);
        return STATUS_BAD_JSON;
    }
    size_t charged = values * VALUE_BYTES + text.length;
    if (!memory_charge_connection(budget, charged)) {
        snprintf(sentence, size, "%s", status_sentence(STATUS_NO_MEMORY));
        return STATUS_NO_MEMORY;
    }
    in->root = json_plain_read(text);
    if (in->root == NULL)
        in->root = json_loadb(text.length > 0 ? text.bytes : "", text.length,
                              JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
    if (in->root == NULL) {
        memory_release_connection(budget, charged);
        return refuse(&error, text, sentence, size);
    }
    in->charged = charged;
    return STATUS_OK;
}

static size_t skip_spaces(struct text text, size_t at)
{
    while (at < text.length && strchr(" \t\r\n", text.bytes[at]) != NULL)
        at++;
    return at;
}

/* The index after the value at `at`: after its last bracket, its closing quote, or its last byte. */
static size_t value_end(struct text text, size_t at)
{
    size_t depth = 0;
    for (; at < text.length; at++) {
        char c = text.bytes[at];
        if (c == '"')
            at = string_end(text, at + 1);
        else if (c == '[' || c == '{')
            depth++;
        else if (depth > 0 && (c == ']' || c == '}'))
            depth--;
        else if (depth == 0 && strchr(",]} \t\r\n", c) != NULL)
            return at;
    }
    return at;
}

bool json_in_member(struct text text, struct text name, struct text *out)
{
    size_t at = skip_spaces(text, 0);
    if (at == text.length || text.bytes[at] != '{')
        return false;
    for (at = skip_spaces(text, at + 1); at < text.length && text.bytes[at] == '"';) {
        size_t end = string_end(text, at + 1);
        bool found = end - at - 1 == name.length &&
                     memcmp(text.bytes + at + 1, name.bytes, name.length) == 0;
        size_t from = skip_spaces(text, skip_spaces(text, end + 1) + 1); /* after the colon */
        size_t to = value_end(text, from);
        *out = (struct text){text.bytes + from, to - from};
        if (found)
            return to <= text.length;
        at = skip_spaces(text, to);
        at = skip_spaces(text, at + (at < text.length && text.bytes[at] == ','));
    }
    return false;
}

void json_in_free(struct json_in *in, struct memory_budget *budget)
{
    if (in->root == NULL)
        return;
    json_decref(in->root);
    memory_release_connection(budget, in->charged);
    *in = (struct json_in){.root = NULL};
}
