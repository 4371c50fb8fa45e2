/*
 * A text with holes (placeholders), such as 'likes:{type}:{id}', which describes keys or members of a
 * Redis. The hole {id} or {user} stands for an id, {type} for the name of a type of items; each may occur
 * once. A backslash before a character removes its special meaning: '\{'.
 *
 * Nothing is allocated; any thread may call these functions.
 */
#ifndef LAUD_MOVE_REDIS_TEMPLATE_H
#define LAUD_MOVE_REDIS_TEMPLATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

#define REDIS_TEMPLATE_BYTES 256 /* of its text outside holes */
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
    uint8_t holes; /* a bit for each hole of the template: 1 << REDIS_ID … */
};

/* The values of the holes, which point into the matched text; length 0: there is no such hole. */
struct redis_values {
    struct text of[REDIS_HOLES];
};

enum redis_match {
    REDIS_FITS,
    REDIS_OTHER,     /* the text has another form, so it belongs to something else */
    REDIS_BAD_VALUE, /* it has this form, but the value of a hole is not a valid id or name */
    REDIS_TWO_WAYS,  /* it matches in more than one way */
};

/* False: `problem` has one sentence. */
bool redis_template_parse(struct text text, struct redis_template *out, char *problem, size_t size);

enum redis_match redis_template_match(const struct redis_template *template, struct text text,
                                      struct redis_values *values);

static inline bool redis_template_has(const struct redis_template *template, enum redis_hole hole)
{
    return (template->holes >> hole & 1) != 0;
}

/*
 * Writes a glob for the MATCH of SCAN, which finds every text that matches, and others. The glob ends with
 * a zero byte. Returns its length.
 */
size_t redis_template_glob(const struct redis_template *template, char out[REDIS_GLOB_BYTES]);

#endif
