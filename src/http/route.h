/*
 * Ways to operations: which route a path and method mean, and what words a route takes. They stand in
 * op.def, each with its operation; everything here is read from there as it stands. Any thread.
 */
#ifndef LAUD_HTTP_ROUTE_H
#define LAUD_HTTP_ROUTE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "http/request.h"
#include "http/target.h"
#include "op/op.h"

struct route {
    enum op_code op;
    enum verb method;
    const char *path;
    const char *words;
};

size_t route_count(void);
const struct route *route_get(size_t index);

/* Does the path fit the template? */
bool route_fits(const char *path, const struct target *target);

/* The route that is meant, HEAD counting as GET; NULL: none. */
const struct route *route_find(const struct target *target, enum verb method);

/* Methods as bits, 1 << method, that some route with such a path has. */
unsigned route_methods(const struct target *target);

/* One of the words a route takes. */
struct route_word {
    struct text name;
    struct text option; /* the word before it; empty: it must be there */
    bool many;
    bool split;  /* one parameter has them all, with commas between */
    bool aside;  /* it is none of the operation's words, and may be left out */
    int segment; /* of the path; -1: it is a parameter or member */
};

/* Reads the next one and moves *at behind it; false: there are no more. *at begins at the words. */
bool route_next_word(const struct route *route, const char **at, struct route_word *word);

/* May it be left out? */
static inline bool route_word_is_optional(const struct route_word *word)
{
    return word->option.length > 0 || word->aside;
}

/* Is it answered by a stream? */
static inline bool route_is_stream(const struct route *route)
{
    return route->op == OP_LIVE;
}

/* Does it take one item or user, rather than an array? */
bool route_is_single(const struct route *route);

/* The parameter of the query by this name, or NULL. */
const struct parameter *route_parameter(const struct target *target, struct text name);

#endif
