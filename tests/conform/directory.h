/* A directory for one test, made anew and removed with all that is in it. */
#ifndef LAUD_CONFORM_DIRECTORY_H
#define LAUD_CONFORM_DIRECTORY_H

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static inline void directory_make(char *path)
{
    memcpy(path + strlen(path) - 6, "XXXXXX", 6);
    assert_non_null(mkdtemp(path));
}

static inline int directory_remove_one(const char *path, const struct stat *status, int flag,
                                       struct FTW *walk)
{
    (void)status, (void)flag, (void)walk;
    return remove(path);
}

static inline void directory_remove(const char *path)
{
    assert_int_equal(nftw(path, directory_remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

#endif
