/*
 * A command template, compiled once and rendered for each request. What can be known beforehand
 * (words, their lengths, the length of ids that all have the same number of digits) is joined
 * into ready-made RESP or HTTP bytes; a request costs its draws, some memcpy and the digits.
 *
 * A compiled template is constant and may be shared by threads; each thread renders with its own
 * random and its own scratch. template_free releases it.
 */
#ifndef LAUD_BENCH_TEMPLATE_H
#define LAUD_BENCH_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/random.h"
#include "bench/zipf.h"

#define TEMPLATE_TEXT_MAX (1 << 20) /* bytes of a template with its repetitions written out */
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
    /* Of every HTTP request, each with its line end; NULL: it is RESP. */
    const char *http_fields;
};

enum draw_source { DRAW_USER, DRAW_ITEM, DRAW_RANGE, DRAW_SEQUENCE };

struct draw {
    enum draw_source source;
    uint64_t label; /* of {user.LABEL}; 0: drawn for one place only */
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

enum part_kind {
    PART_BYTES,  /* ready-made */
    PART_NUMBER, /* the digits of one number */
    PART_LENGTH, /* the length of a word, or body, whose numbers vary in length */
};

struct part {
    enum part_kind kind;
    uint32_t offset; /* BYTES: where in `bytes`; NUMBER: which; LENGTH: the word's first number */
    uint32_t count;  /* BYTES: how many; LENGTH: how many numbers */
    uint32_t fixed;  /* LENGTH: bytes of the word that are always there */
};

struct template
{
    struct draw *draws;
    struct number *numbers;
    struct part *parts;
    char *bytes;
    uint32_t draw_count;
    uint32_t number_count;
    uint32_t part_count;
    uint32_t byte_count;
    uint32_t commands;  /* replies to expect */
    uint32_t max_bytes; /* that one request can take */
    bool uses_sequence;
    struct zipf users; /* where theta is above 0 */
    struct zipf items;
    double theta;
};

struct template_scratch {
    uint64_t draws[TEMPLATE_DRAWS];
    uint64_t numbers[TEMPLATE_DRAWS];
};

/* NULL: `problem` is one sentence. */
struct template *template_compile(const char *text, const struct template_space *space,
                                  char *problem, size_t size);

void template_free(struct template *template);

/* Writes one request, at most max_bytes, and returns the end. */
char *template_render(const struct template *template, struct random *random, uint64_t sequence,
                      struct template_scratch *scratch, char *out);

/* Is the opening brace at `at` one of a JSON object, rather than of a placeholder? */
static inline bool template_is_json_brace(const char *at)
{
    return at[1] == '"' || at[1] == '}';
}

/* Writes out repetitions and {sha}: "{2*a:{item.n}}" to "a:{item.1} a:{item.2}". To be freed. */
char *template_expand(const char *text, const char *sha, char *problem, size_t size);

#endif
