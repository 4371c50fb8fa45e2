/*
 * Assertions. They state what the code itself guarantees and stay on in release builds; input is
 * never asserted on, it gets an error. A failed assertion prints where and aborts: a server whose
 * invariants are broken must not go on acknowledging.
 */
#ifndef LAUD_BASE_ASSERT_H
#define LAUD_BASE_ASSERT_H

#include <stddef.h>

_Noreturn void assert_failed(const char *what, const char *file, int line);

#define ASSERT(what)                                                                               \
    do {                                                                                           \
        if (__builtin_expect(!(what), 0))                                                          \
            assert_failed(#what, __FILE__, __LINE__);                                              \
    } while (0)

/* Long-lived objects start with a magic number, checked where they come back through a void *. */
#define CHECK_MAGIC(object, number) ASSERT((object) != NULL && (object)->magic == (number))

#endif
