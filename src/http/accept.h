/*
 * Which of two forms of a page a client asks for in its Accept headers: HTML for somebody who reads, or
 * JSON. HTML must be named, so that curl and libraries, which take anything, get JSON. Any thread.
 */
#ifndef LAUD_HTTP_ACCEPT_H
#define LAUD_HTTP_ACCEPT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

/* How much each is wanted, in thousandths. All zero at first: neither was named. */
struct accept {
    uint16_t html, json;
};

/* Notes what one Accept header says. What cannot be understood in it asks for nothing. */
void accept_take(struct accept *accept, struct text value);

static inline bool accept_prefers_html(const struct accept *accept)
{
    return accept->html > 0 && accept->html >= accept->json;
}

#endif
