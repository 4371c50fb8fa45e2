/* Shared by template.c (RESP) and template_http.c only: compiling a text with placeholders. */
#ifndef LAUD_BENCH_TEMPLATE_PRIVATE_H
#define LAUD_BENCH_TEMPLATE_PRIVATE_H

#include "bench/template.h"

struct compiler {
    struct template *template;
    const struct template_space *space;
    char *problem;
    size_t size;
    uint64_t low[TEMPLATE_DRAWS]; /* the range of the values of each number */
    uint64_t high[TEMPLATE_DRAWS];
};

/* A section of the text whose placeholders have been read. */
struct stretch {
    const char *start;
    const char *end;
    uint32_t number; /* the index of its first number */
    uint32_t number_count;
    size_t plain; /* bytes that are not digits of a number */
    size_t fixed; /* `plain` and the digits of numbers that always have the same length */
    bool varies;  /* there are numbers of varying length */
};

bool compile_fail(struct compiler *compiler, const char *what, const char *where);

/* Appends bytes that are the same for all requests. */
void bytes_add(struct template *template, const char *bytes, size_t length);

/* Reads the placeholders between start and end; false: one is bad. */
bool stretch_read(struct compiler *compiler, const char *start, const char *end,
                  struct stretch *stretch);

/* Append the stretch, or the digits of its length. Stretches are added in the order of the text. */
void stretch_add(struct compiler *compiler, const struct stretch *stretch);
void stretch_add_length(struct compiler *compiler, const struct stretch *stretch);

const char *word_start(const char *at);
const char *word_end(const char *at);
bool is_separator(const char *word);

/* Compiles the text up to the next ';' as one request, and advances *at past it. */
bool http_request_compile(struct compiler *compiler, const char **at);

/* How many bytes one request needs in addition to its text. */
size_t http_request_room(const struct template_space *space);

#endif
