/* What reads bytes as they arrive, shown them in steps. Behind cmocka.h. */
#ifndef LAUD_HTTP_STEPS_H
#define LAUD_HTTP_STEPS_H

#include <stdlib.h>
#include <string.h>

#include "base/status.h"

typedef enum status step_fn(void *context, const char *bytes, size_t seen);

/* Until it wants no more; each time in a block of their own size. */
static inline enum status in_steps(const char *bytes, size_t length, size_t step, step_fn *look,
                                   void *context)
{
    enum status status = STATUS_MORE;
    for (size_t seen = 0; status == STATUS_MORE && seen < length;) {
        seen = seen + step < length ? seen + step : length;
        char *piece = malloc(seen);
        assert_non_null(piece);
        memcpy(piece, bytes, seen);
        status = look(context, piece, seen);
        free(piece);
    }
    return status;
}

#endif
