/*
 * Compiling: the expanded text is split into commands and words, and each word into plain bytes and
 * placeholders. The range of every number is computed through its arithmetic; if its lowest and highest
 * values have the same number of digits, its length is fixed. If all numbers of a word have a fixed
 * length, its "$length" is compiled, and the bytes between two numbers become one segment: a LIKE
 * with 19-digit ids has five segments in all.
 */
#include "bench/template.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/decimal.h"
#include "bench/digits.h"
#include "bench/template_private.h"

bool compile_fail(struct compiler *compiler, const char *what, const char *where)
{
    snprintf(compiler->problem, compiler->size, "%s, at '%.40s'", what, where);
    return false;
}

/* template_compile allocated segments and bytes for the worst case. */
void bytes_add(struct template *template, const char *bytes, size_t length)
{
    uint32_t count = template->segment_count;
    if (count == 0 || template->segments[count - 1].kind != SEGMENT_BYTES)
        template->segments[template->segment_count++] =
            (struct segment){SEGMENT_BYTES, template->byte_count, 0, 0};
    memcpy(template->bytes + template->byte_count, bytes, length);
    template->byte_count += (uint32_t)length;
    template->segments[template->segment_count - 1].count += (uint32_t)length;
}

static void array_add(struct template *template, size_t count)
{
    char header[32];
    int length = snprintf(header, sizeof(header), "*%zu\r\n", count);
    bytes_add(template, header, (size_t)length);
}

static bool whole_read(const char **at, uint64_t *out)
{
    struct text digits = {*at, decimal_digits(text_from(*at))};
    *at += digits.length;
    return decimal_read(digits, UINT64_MAX, out);
}

/* The draw of {user.3}, if this request has one already; otherwise a new one. */
static bool draw_place(struct compiler *compiler, const struct draw *wanted, uint32_t *place)
{
    struct template *template = compiler->template;
    bool shared = wanted->label != 0 || wanted->source == DRAW_SEQUENCE;
    for (uint32_t i = 0; shared && i < template->draw_count; i++) {
        *place = i;
        if (template->draws[i].source == wanted->source &&
            template->draws[i].label == wanted->label)
            return true;
    }
    if (template->draw_count == TEMPLATE_DRAWS)
        return false;
    *place = template->draw_count;
    template->draws[template->draw_count++] = *wanted;
    return true;
}

/* The name of a placeholder, with its label or its range. */
static bool draw_read(struct compiler *compiler, const char **at, struct draw *draw)
{
    const struct template_space *space = compiler->space;
    const char *start = *at;
    *draw = (struct draw){.label = 0};
    if (strncmp(start, "user", 4) == 0 || strncmp(start, "item", 4) == 0) {
        draw->source = start[0] == 'u' ? DRAW_USER : DRAW_ITEM;
        draw->low = space->id_base;
        draw->span = start[0] == 'u' ? space->users : space->items;
        *at = start + 4;
        if (**at != '.')
            return true;
        (*at)++;
        if (whole_read(at, &draw->label) && draw->label > 0)
            return true;
        return compile_fail(compiler, "a number from 1 is expected after the dot", start);
    }
    if (strncmp(start, "seq", 3) == 0) {
        *at = start + 3;
        draw->source = DRAW_SEQUENCE;
        draw->span = space->requests;
        compiler->template->uses_sequence = true;
        return space->requests > 0 || compile_fail(compiler, "{seq} needs --requests", start);
    }
    if (strncmp(start, "line", 4) == 0) {
        *at = start + 4;
        draw->source = DRAW_LINE;
        draw->span = space->lines != NULL ? space->lines->count : 0;
        if (space->lines == NULL || **at != '}')
            return compile_fail(
                compiler, space->lines == NULL ? "{line} needs --lines" : "{line} is expected",
                start);
        return true;
    }
    if (strncmp(start, "rand:", 5) == 0) {
        uint64_t high;
        *at = start + 5;
        draw->source = DRAW_RANGE;
        if (whole_read(at, &draw->low) && *(*at)++ == '-' && whole_read(at, &high) &&
            high >= draw->low && high - draw->low < UINT64_MAX) {
            draw->span = high - draw->low + 1;
            return true;
        }
        return compile_fail(compiler, "{rand:LO-HI} is expected", start);
    }
    return compile_fail(compiler, "no such placeholder", start);
}

/* Reads one step such as "+5", and applies it to the range. */
static bool step_read(struct compiler *compiler, const char **at, struct number *number,
                      uint64_t *low, uint64_t *high)
{
    const char *start = *at;
    struct step step = {.operation = *(*at)++};
    if (strchr("+-*/%", step.operation) == NULL || !whole_read(at, &step.operand))
        return compile_fail(compiler, "one of + - * / % and a number is expected", start);
    if (number->step_count == TEMPLATE_STEPS)
        return compile_fail(compiler, "there is too much arithmetic", start);
    bool over = false;
    switch (step.operation) {
    case '+':
        over = __builtin_add_overflow(*high, step.operand, high);
        *low += step.operand;
        break;
    case '-':
        over = __builtin_sub_overflow(*low, step.operand, low);
        *high -= step.operand;
        break;
    case '*':
        over = __builtin_mul_overflow(*high, step.operand, high);
        *low *= step.operand;
        break;
    default:
        over = step.operand == 0;
        if (!over && step.operation == '/') {
            *low /= step.operand;
            *high /= step.operand;
        } else if (!over && *high >= step.operand) {
            *low = 0;
            *high = step.operand - 1;
        }
    }
    if (over)
        return compile_fail(compiler, "this is outside the range of unsigned 64 bits", start);
    number->steps[number->step_count++] = step;
    return true;
}

/* `*at` is after the opening brace, and is advanced past the closing one. */
static bool number_read(struct compiler *compiler, const char **at)
{
    struct template *template = compiler->template;
    const char *start = *at;
    struct draw draw;
    struct number number = {.step_count = 0};
    if (!draw_read(compiler, at, &draw))
        return false;
    if (template->number_count == TEMPLATE_DRAWS || !draw_place(compiler, &draw, &number.draw))
        return compile_fail(compiler, "too many placeholders in one request", start);
    uint64_t low = draw.low;
    uint64_t high = draw.low + (draw.span - 1);
    while (**at != '}') {
        if (**at == '\0')
            return compile_fail(compiler, "a '{' is not closed", start);
        if (!step_read(compiler, at, &number, &low, &high))
            return false;
    }
    (*at)++;
    compiler->low[template->number_count] = low;
    compiler->high[template->number_count] = high;
    template->numbers[template->number_count++] = number;
    return true;
}

/* In HTTP, a brace followed by a quote, and one that closes no placeholder, belongs to JSON. */
static bool is_placeholder(const struct compiler *compiler, const char *at)
{
    return at[0] == '{' && (compiler->space->http_fields == NULL || !template_is_json_brace(at));
}

static bool is_line(const struct template *template, uint32_t number)
{
    return template->draws[template->numbers[number].draw].source == DRAW_LINE;
}

bool stretch_read(struct compiler *compiler, const char *start, const char *end,
                  struct stretch *stretch)
{
    struct template *template = compiler->template;
    *stretch = (struct stretch){.start = start, .end = end, .number = template->number_count};
    for (const char *at = start; at < end;) {
        if (*at == '}' && compiler->space->http_fields == NULL)
            return compile_fail(compiler, "a '}' has no '{' before it", at);
        if (!is_placeholder(compiler, at)) {
            at++;
            stretch->plain++;
            continue;
        }
        at++;
        uint32_t number = template->number_count;
        if (!number_read(compiler, &at))
            return false;
        uint32_t shortest = digits_count(compiler->low[number]);
        if (is_line(template, number))
            stretch->plain += template->lines->length;
        else if (shortest == digits_count(compiler->high[number]))
            stretch->fixed += shortest;
        else
            stretch->varies = true;
    }
    stretch->fixed += stretch->plain;
    stretch->number_count = template->number_count - stretch->number;
    return true;
}

void stretch_add_length(struct compiler *compiler, const struct stretch *stretch)
{
    struct template *template = compiler->template;
    if (stretch->varies) {
        template->segments[template->segment_count++] = (struct segment){
            SEGMENT_LENGTH, stretch->number, stretch->number_count, (uint32_t)stretch->plain};
        return;
    }
    char digits[DECIMAL_MAX];
    const char *end = decimal_write(digits, stretch->fixed);
    bytes_add(template, digits, (size_t)(end - digits));
}

void stretch_add(struct compiler *compiler, const struct stretch *stretch)
{
    struct template *template = compiler->template;
    uint32_t number = stretch->number;
    for (const char *at = stretch->start; at < stretch->end;) {
        const char *plain = at;
        while (at < stretch->end && !is_placeholder(compiler, at))
            at++;
        if (at > plain)
            bytes_add(template, plain, (size_t)(at - plain));
        if (at == stretch->end)
            return;
        template->segments[template->segment_count++] = (struct segment){
            is_line(template, number) ? SEGMENT_LINE : SEGMENT_NUMBER, number, 0, 0};
        number++;
        at = strchr(at, '}') + 1;
    }
}

static bool word_compile(struct compiler *compiler, const char *word, const char *end)
{
    struct stretch stretch;
    if (!stretch_read(compiler, word, end, &stretch))
        return false;
    bytes_add(compiler->template, "$", 1);
    stretch_add_length(compiler, &stretch);
    bytes_add(compiler->template, "\r\n", 2);
    stretch_add(compiler, &stretch);
    bytes_add(compiler->template, "\r\n", 2);
    return true;
}

const char *word_end(const char *at)
{
    return at + strcspn(at, " \t\n");
}

const char *word_start(const char *at)
{
    return at + strspn(at, " \t\n");
}

bool is_separator(const char *word)
{
    return word[0] == ';' && word_end(word) == word + 1;
}

/* Compiles the words up to the next ';' as one command, and advances *at past it. */
static bool command_compile(struct compiler *compiler, const char **at)
{
    size_t words = 0;
    const char *word = *at;
    for (; *word != '\0' && !is_separator(word); word = word_start(word_end(word)))
        words++;
    if (words > 0) {
        compiler->template->commands++;
        array_add(compiler->template, words);
    }
    for (word = *at; *word != '\0' && !is_separator(word); word = word_start(word_end(word)))
        if (!word_compile(compiler, word, word_end(word)))
            return false;
    *at = *word == ';' ? word_start(word + 1) : word;
    return true;
}

static void max_bytes_set(struct compiler *compiler)
{
    struct template *template = compiler->template;
    size_t total = template->byte_count + DECIMAL_MAX; /* a number wants that room, however short */
    for (uint32_t i = 0; i < template->segment_count; i++) {
        if (template->segments[i].kind == SEGMENT_NUMBER)
            total += digits_count(compiler->high[template->segments[i].offset]);
        else if (template->segments[i].kind == SEGMENT_LINE)
            total += template->lines->length;
        else if (template->segments[i].kind == SEGMENT_LENGTH)
            total += DECIMAL_MAX;
    }
    template->max_bytes = (uint32_t)total;
}

/* Room for the worst case, which is a lone letter; in HTTP each request has its fields besides. */
static size_t bytes_room(const char *text, const struct template_space *space)
{
    size_t requests = 1;
    for (const char *at = text; space->http_fields != NULL && *at != '\0'; at++)
        requests += *at == ';';
    /* A word of one byte makes at most "*1\r\n$1\r\na\r\n". */
    return space->http_fields == NULL ? strlen(text) * 32 + 64
                                      : strlen(text) + requests * http_request_room(space);
}

static struct template *template_new(const char *text, const struct template_space *space)
{
    struct template *template = calloc(1, sizeof(*template));
    if (template == NULL)
        return NULL;
    template->bytes = malloc(bytes_room(text, space));
    template->segments = malloc((strlen(text) * 3 + 16) * sizeof(struct segment));
    template->draws = malloc(TEMPLATE_DRAWS * sizeof(struct draw));
    template->numbers = calloc(TEMPLATE_DRAWS, sizeof(struct number));
    if (template->bytes == NULL || template->segments == NULL || template->draws == NULL ||
        template->numbers == NULL) {
        template_free(template);
        return NULL;
    }
    template->theta = space->theta;
    template->lines = space->lines;
    if (space->theta > 0) {
        zipf_init(&template->users, space->users, space->theta);
        zipf_init(&template->items, space->items, space->theta);
    }
    return template;
}

void template_free(struct template *template)
{
    if (template == NULL)
        return;
    free(template->bytes);
    free(template->segments);
    free(template->draws);
    free(template->numbers);
    free(template);
}

struct template *template_compile(const char *text, const struct template_space *space,
                                  char *problem, size_t size)
{
    char *expanded = template_expand(text, space->sha, problem, size);
    if (expanded == NULL)
        return NULL;
    struct compiler *compiler = malloc(sizeof(*compiler));
    struct template *template = template_new(expanded, space);
    bool fine = compiler != NULL && template != NULL;
    if (!fine) {
        snprintf(problem, size, "out of memory");
        goto out;
    }
    *compiler =
        (struct compiler){.template = template, .space = space, .problem = problem, .size = size};
    const char *at = word_start(expanded);
    while (fine && *at != '\0')
        fine = space->http_fields == NULL ? command_compile(compiler, &at)
                                          : http_request_compile(compiler, &at);
    if (fine && template->commands == 0) {
        snprintf(problem, size, "the command is empty");
        fine = false;
    }
    if (fine)
        max_bytes_set(compiler);
out:
    free(compiler);
    free(expanded);
    if (fine)
        return template;
    template_free(template);
    return NULL;
}
