/*
 * Repetitions are expanded as plain text before anything else is parsed, innermost first. So the compiler
 * does not have to handle them, and ".n" belongs to the innermost repetition around it. A brace of JSON is
 * plain text, but braces are counted in pairs.
 */
#include "bench/template.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"

#define EXPAND_DEPTH 8
#define EXPAND_TIMES 10000

struct expansion {
    const char *sha;
    char *problem;
    size_t size;
};

/* The brace that closes the one before `text`; NULL if there is none before `end`. */
static const char *closing_brace(const char *text, const char *end)
{
    int depth = 1;
    for (const char *at = text; at < end; at++) {
        depth += *at == '{' ? 1 : *at == '}' ? -1 : 0;
        if (depth == 0)
            return at;
    }
    return NULL;
}

static bool expand_fail(struct expansion *expansion, const char *what)
{
    snprintf(expansion->problem, expansion->size, "%s", what);
    return false;
}

static bool expand_range(struct expansion *expansion, const char *at, const char *end, FILE *out,
                         int depth);

/* Copies a repetition's body once, with its number in place of each ".n". */
static void body_copy(const char *body, unsigned long number, FILE *out)
{
    while (*body != '\0') {
        if (strncmp(body, "{user.n", 7) == 0 || strncmp(body, "{item.n", 7) == 0) {
            fprintf(out, "%.6s%lu", body, number);
            body += 7;
        } else {
            fputc(*body++, out);
        }
    }
}

/* `at` is after the star, `end` at the closing brace. */
static bool expand_repeat(struct expansion *expansion, unsigned long times, const char *at,
                          const char *end, FILE *out, int depth)
{
    if (times == 0 || times > EXPAND_TIMES)
        return expand_fail(expansion, "a repetition must be 1 to 10000 times");
    char *body = NULL;
    size_t length = 0;
    FILE *inner = open_memstream(&body, &length);
    if (inner == NULL)
        return expand_fail(expansion, "out of memory");
    bool fine = expand_range(expansion, at, end, inner, depth + 1);
    fclose(inner);
    for (unsigned long i = 1; fine && i <= times; i++) {
        if (i > 1)
            fputc(' ', out);
        body_copy(body, i, out);
        if (ftell(out) > TEMPLATE_TEXT_MAX)
            fine = expand_fail(expansion, "the repetitions make the command too long");
    }
    free(body);
    return fine;
}

static bool expand_range(struct expansion *expansion, const char *at, const char *end, FILE *out,
                         int depth)
{
    if (depth > EXPAND_DEPTH)
        return expand_fail(expansion, "repetitions are nested too deeply");
    while (at < end) {
        if (*at != '{' || template_is_json_brace(at)) {
            fputc(*at++, out);
            continue;
        }
        const char *close = closing_brace(at + 1, end);
        if (close == NULL)
            return expand_fail(expansion, "a '{' is not closed");
        struct text digits = {at + 1,
                              decimal_digits((struct text){at + 1, (size_t)(close - at - 1)})};
        const char *star = at + 1 + digits.length;
        if (digits.length > 0 && *star == '*') {
            uint64_t times = UINT64_MAX; /* too many, as a number that is too long is */
            decimal_read(digits, UINT64_MAX, &times);
            if (!expand_repeat(expansion, times, star + 1, close, out, depth))
                return false;
        } else if (strncmp(at, "{sha}", 5) == 0) {
            if (expansion->sha == NULL)
                return expand_fail(expansion, "{sha} needs --load-script");
            fputs(expansion->sha, out);
        } else {
            fwrite(at, 1, (size_t)(close + 1 - at), out);
        }
        at = close + 1;
    }
    return true;
}

char *template_expand(const char *text, const char *sha, char *problem, size_t size)
{
    struct expansion expansion = {sha, problem, size};
    char *expanded = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&expanded, &length);
    bool fine = out != NULL && expand_range(&expansion, text, text + strlen(text), out, 0);
    if (out == NULL || (fclose(out) != 0 && fine)) {
        fine = false;
        snprintf(problem, size, "out of memory");
    }
    if (fine && length > TEMPLATE_TEXT_MAX) {
        fine = false;
        snprintf(problem, size, "the command is too long");
    }
    if (fine)
        return expanded;
    free(expanded);
    return NULL;
}
