/*
 * Decides which of two forms of a page a client wants by its Accept headers: HTML for people, or JSON.
 * HTML must be named, so that curl and libraries, which accept anything, get JSON. Any thread may call
 * these functions.
 */
#ifndef LAUD_HTTP_ACCEPT_H
#define LAUD_HTTP_ACCEPT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

/* How much each form is wanted, in thousandths. All zero at first: neither was named. */
struct accept {
    uint16_t html, json;
};

/* Adds what one Accept header says. What cannot be parsed in it is ignored. */
void accept_take(struct accept *accept, struct text value);

/* Does the client take gzip, by its header Accept-Encoding? It must be named. */
bool accept_takes_gzip(struct text value);

static inline bool accept_prefers_html(const struct accept *accept)
{
    return accept->html > 0 && accept->html >= accept->json;
}

#endif
