/*
 * Parses a request target: the segments of its path and the parameters of its query, percent-decoded
 * in place. Whatever another server could read as a different path is refused: an encoded slash, NUL
 * and other control bytes, and bad escape sequences. Any thread may call it.
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
    unsigned segment_count; /* if it is more than TARGET_SEGMENTS, no route has such a path */
    struct parameter parameters[TARGET_PARAMETERS];
    unsigned parameter_count;
    bool asterisk; /* the target is "*", which stands for the whole server */
};

/*
 * Parses the target in `text`, which is changed and must outlive *target. `host` is the value of the
 * header Host; if the target itself names a host, it must be the same. Returns NULL, or the reason why
 * it is refused.
 */
const char *target_read(struct target *target, char *text, size_t length, struct text host);

#endif
