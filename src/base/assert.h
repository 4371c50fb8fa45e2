/*
 * Assertions. They state what the code itself guarantees, and they stay on in release builds. Input
 * is never asserted on: bad input gets an error. A failed assertion prints its file and line and
 * aborts the process, because a server whose invariants are broken must not acknowledge anything
 * more.
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

/*
 * Long-lived objects start with a magic number. It is checked where such an object is received as a
 * void *.
 */
#define CHECK_MAGIC(object, number) ASSERT((object) != NULL && (object)->magic == (number))

#endif
