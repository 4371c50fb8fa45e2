#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>

_Noreturn void assert_failed(const char *what, const char *file, int line)
{
    fprintf(stderr, "laud: assertion failed: %s at %s:%d\n", what, file, line);
    abort();
}
