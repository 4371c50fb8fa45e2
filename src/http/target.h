/*
 * A request target: the segments of its path and the parameters of its query, percent-decoded in
 * place. What could be taken for another path by somebody else (an encoded slash, NUL or other
 * control bytes, bad sequences) is refused. Any thread.
 */
#ifndef LAUD_HTTP_TARGET_H
#define LAUD_HTTP_TARGET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

#define TARGET_SEGMENTS   8
#define TARGET_PARAMETERS 8

struct parameter {
    struct text name, value;
};

struct target {
    struct text segments[TARGET_SEGMENTS];
    unsigned segment_count; /* more than TARGET_SEGMENTS: there are more, and no such path */
    struct parameter parameters[TARGET_PARAMETERS];
    unsigned parameter_count;
    bool asterisk; /* "*", the server as a whole */
};

/*
 * Reads the target in text, which is changed and must stay. `host` is what Host says: a target with
 * one of its own must have the same. NULL: all is well; else the reason.
 */
const char *target_read(struct target *target, char *text, size_t length, struct text host);

#endif
