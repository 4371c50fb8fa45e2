/*
 * Routes: which operation a path and a method stand for, and which words a route takes. The routes are
 * in op.def, each with its operation, and are interpreted directly from there. Any thread may call
 * these functions.
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

/* Does this path match the template of a route? */
bool route_fits(const char *path, const struct target *target);

/* The route for this target; HEAD counts as GET. NULL: there is none. */
const struct route *route_find(const struct target *target, enum verb method);

/* The methods of all routes with this path, as bits 1 << method. */
unsigned route_methods(const struct target *target);

/* One of the words a route takes. */
struct route_word {
    struct text name;
    struct text option; /* the keyword before it, if it is optional; empty: it is required */
    bool many;
    bool flag;   /* it is true or false; the option stands alone */
    bool list;   /* an array that may be absent; the option stands before all of its words */
    bool json;   /* any JSON value, as its text */
    bool split;  /* one parameter has all of them, separated by commas */
    bool aside;  /* it is no word of the operation, and it is optional */
    int segment; /* its segment of the path; -1: it is a parameter or a member */
};

/* Reads the next word and advances *at, which begins at route->words. False: there are no more. */
bool route_next_word(const struct route *route, const char **at, struct route_word *word);

/* Is the word optional? */
static inline bool route_word_is_optional(const struct route_word *word)
{
    return word->option.length > 0 || word->aside;
}

/* Are the words of the route that are not in its path members of the body, instead of parameters? */
bool route_has_body(const struct route *route);

/* Are all of these members optional, so that the body may be absent? */
bool route_body_is_optional(const struct route *route);

/* Is the answer a live stream? */
static inline bool route_is_stream(const struct route *route)
{
    return route->op == OP_LIVE || route->op == OP_LIVECOMMENTS;
}

/* Does the route take one item or user, not an array? */
bool route_is_single(const struct route *route);

/* The parameter of the query by this name, or NULL. */
const struct parameter *route_parameter(const struct target *target, struct text name);

#endif
