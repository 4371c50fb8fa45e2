/*
 * An HTTP request is "METHOD TARGET" or "METHOD TARGET BODY". The body is everything up to the next ';'
 * that is a word of its own, including spaces.
 */
#include <string.h>

#include "bench/template_private.h"

#define LINE_BEHIND_TARGET " HTTP/1.1\r\n"
#define FIELDS_OF_BODY     "Content-Type: application/json\r\nContent-Length: "

static void text_add(struct compiler *compiler, const char *text)
{
    bytes_add(compiler->template, text, strlen(text));
}

size_t http_request_room(const struct template_space *space)
{
    return sizeof(LINE_BEHIND_TARGET) + sizeof(FIELDS_OF_BODY) + strlen(space->http_fields) + 64;
}

static bool is_word(const char *word, const char *end, const char *text)
{
    return (size_t)(end - word) == strlen(text) && memcmp(word, text, (size_t)(end - word)) == 0;
}

/* The end of the last word before the next separator. Sets *after to the separator, or to the end. */
static const char *body_end(const char *body, const char **after)
{
    const char *end = body, *word = body;
    for (; *word != '\0' && !is_separator(word); word = word_start(end))
        end = word_end(word);
    *after = word;
    return end;
}

/* What follows the fields that every request has. */
static bool body_compile(struct compiler *compiler, bool measured, const char *body,
                         const char *end)
{
    struct stretch stretch;
    if (!stretch_read(compiler, body, end, &stretch))
        return false;
    if (body < end) {
        text_add(compiler, FIELDS_OF_BODY);
        stretch_add_length(compiler, &stretch);
        text_add(compiler, "\r\n");
    } else if (measured) {
        text_add(compiler, "Content-Length: 0\r\n");
    }
    text_add(compiler, "\r\n");
    stretch_add(compiler, &stretch);
    return true;
}

bool http_request_compile(struct compiler *compiler, const char **at)
{
    const char *method = *at, *target = word_start(word_end(method)), *after;
    if (is_separator(method)) {
        *at = word_start(method + 1);
        return true;
    }
    if (*target != '/' && *target != '*')
        return compile_fail(compiler, "a method and a path are expected", method);
    if (is_word(method, word_end(method), "HEAD"))
        return compile_fail(compiler, "HEAD is not supported", method);
    const char *body = word_start(word_end(target));
    const char *end = body_end(body, &after);
    bool measured =
        is_word(method, word_end(method), "PUT") || is_word(method, word_end(method), "POST");
    struct stretch line;
    if (!stretch_read(compiler, method, word_end(method), &line))
        return false;
    stretch_add(compiler, &line);
    text_add(compiler, " ");
    if (!stretch_read(compiler, target, word_end(target), &line))
        return false;
    stretch_add(compiler, &line);
    text_add(compiler, LINE_BEHIND_TARGET);
    text_add(compiler, compiler->space->http_fields);
    compiler->template->commands++;
    *at = *after == ';' ? word_start(after + 1) : after;
    return body_compile(compiler, measured, body, end);
}
