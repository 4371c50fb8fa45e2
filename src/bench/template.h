/*
 * A command template, which is compiled once and rendered for each request. Everything that is the same
 * for all requests (words, their lengths, the length of ids that all have the same number of digits) is
 * compiled into RESP or HTTP bytes. So a request costs only its random draws, some memcpy and the digits.
 *
 * A compiled template is constant and may be shared by threads; each thread renders with its own
 * random and its own scratch. template_free releases it.
 */
#ifndef LAUD_BENCH_TEMPLATE_H
#define LAUD_BENCH_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/line_file.h"
#include "bench/random.h"
#include "bench/zipf.h"

#define TEMPLATE_TEXT_MAX (1 << 20) /* bytes of a template with its repetitions expanded */
#define TEMPLATE_DRAWS    4096      /* draws, and numbers, in one request */
#define TEMPLATE_STEPS    4         /* arithmetic after one placeholder */

/* What the placeholders draw from. */
struct template_space {
    uint64_t users;
    uint64_t items;
    uint64_t id_base;
    uint64_t requests; /* {seq} stays below it; 0: {seq} is refused */
    double theta;      /* 0: uniform */
    const char *sha;   /* NULL: {sha} is refused */
    const struct line_file
        *lines; /* of {line}; they must outlive the template; NULL: it is refused */
    /* The header fields of every HTTP request, each with its line end; NULL: the protocol is RESP. */
    const char *http_fields;
};

enum draw_source { DRAW_USER, DRAW_ITEM, DRAW_RANGE, DRAW_SEQUENCE, DRAW_LINE };

struct draw {
    enum draw_source source;
    uint64_t label; /* of {user.LABEL}; 0: the value is used once only */
    uint64_t low;
    uint64_t span;
};

struct step {
    char operation; /* + - * / % */
    uint64_t operand;
};

struct number {
    uint32_t draw;
    uint32_t step_count;
    struct step steps[TEMPLATE_STEPS];
};

enum segment_kind {
    SEGMENT_BYTES,  /* bytes that are the same for all requests */
    SEGMENT_NUMBER, /* the digits of one number */
    SEGMENT_LINE,   /* the line with this number */
    SEGMENT_LENGTH, /* the length of a word, or body, whose numbers vary in length */
};

struct segment {
    enum segment_kind kind;
    uint32_t
        offset; /* BYTES: offset in `bytes`; NUMBER, LINE: its index; LENGTH: index of the word's first number */
    uint32_t count; /* BYTES: how many bytes; LENGTH: how many numbers the word has */
    uint32_t fixed; /* LENGTH: bytes of the word that are not digits of these numbers */
};

struct template
{
    struct draw *draws;
    struct number *numbers;
    struct segment *segments;
    char *bytes;
    uint32_t draw_count;
    uint32_t number_count;
    uint32_t segment_count;
    uint32_t byte_count;
    uint32_t commands;  /* in one request, which is the number of replies */
    uint32_t max_bytes; /* of one request */
    bool uses_sequence;
    const struct line_file *lines;
    struct zipf users; /* used if theta is above 0 */
    struct zipf items;
    double theta;
};

struct template_scratch {
    uint64_t draws[TEMPLATE_DRAWS];
    uint64_t numbers[TEMPLATE_DRAWS];
};

/* The result is freed with template_free. NULL: `problem` has one sentence. */
struct template *template_compile(const char *text, const struct template_space *space,
                                  char *problem, size_t size);

void template_free(struct template *template);

/* Writes one request, of at most max_bytes, to `out` and returns its end. */
char *template_render(const struct template *template, struct random *random, uint64_t sequence,
                      struct template_scratch *scratch, char *out);

/* Does the opening brace at `at` begin a JSON object, and not a placeholder? */
static inline bool template_is_json_brace(const char *at)
{
    return at[1] == '"' || at[1] == '}';
}

/*
 * Expands repetitions and {sha}: "{2*a:{item.n}}" becomes "a:{item.1} a:{item.2}". The caller frees the
 * result. NULL: `problem` has one sentence.
 */
char *template_expand(const char *text, const char *sha, char *problem, size_t size);

#endif
