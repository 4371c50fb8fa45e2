/*
 * A text with holes in it, as 'likes:{type}:{id}': how keys and members of a Redis are described.
 * A hole {id} or {user} stands for an id, {type} for the name of a type of items, each at most once.
 * A backslash takes from the character after it any meaning it has: '\{'.
 *
 * Nothing is allocated; any thread may call.
 */
#ifndef LAUD_MOVE_REDIS_TEMPLATE_H
#define LAUD_MOVE_REDIS_TEMPLATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

#define REDIS_TEMPLATE_BYTES 256 /* of its literal parts */
#define REDIS_GLOB_BYTES     (2 * REDIS_TEMPLATE_BYTES + 8)

enum redis_hole { REDIS_ID, REDIS_USER, REDIS_TYPE, REDIS_HOLES, REDIS_LITERAL = REDIS_HOLES };

struct redis_piece {
    uint8_t hole; /* enum redis_hole */
    uint16_t start;
    uint16_t length;
};

struct redis_template {
    char bytes[REDIS_TEMPLATE_BYTES];
    struct redis_piece pieces[2 * REDIS_HOLES + 1];
    uint8_t count;
    uint8_t holes; /* a bit for each there is: 1 << REDIS_ID … */
};

/* What stood in the holes: parts of the text that was matched; length 0: there is no such hole. */
struct redis_values {
    struct text of[REDIS_HOLES];
};

enum redis_match {
    REDIS_FITS,
    REDIS_OTHER,     /* of another form: something else's */
    REDIS_BAD_VALUE, /* of this form, but what stands in a hole is not an id or a name */
    REDIS_TWO_WAYS,  /* it can be read in more than one way */
};

/* False: `problem` is one sentence. */
bool redis_template_parse(struct text text, struct redis_template *out, char *problem, size_t size);

enum redis_match redis_template_match(const struct redis_template *template, struct text text,
                                      struct redis_values *values);

static inline bool redis_template_has(const struct redis_template *template, enum redis_hole hole)
{
    return (template->holes >> hole & 1) != 0;
}

/* What SCAN's MATCH takes: finds everything that fits, and more. Terminated; returns its length. */
size_t redis_template_glob(const struct redis_template *template, char out[REDIS_GLOB_BYTES]);

#endif
