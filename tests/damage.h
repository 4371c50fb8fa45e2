/* A file damaged in every place: what tests of file formats share. */
#ifndef LAUD_DAMAGE_H
#define LAUD_DAMAGE_H

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/io.h"

/* The caller frees it. */
static inline uint8_t *file_read(const char *path, size_t *length)
{
    struct stat facts;
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &facts), 0);
    *length = (size_t)facts.st_size;
    uint8_t *bytes = malloc(*length);
    assert_non_null(bytes);
    assert_int_equal(read(fd, bytes, *length), *length);
    close(fd);
    return bytes;
}

static inline void file_write(const char *path, const uint8_t *bytes, size_t length)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, length), length);
    close(fd);
}

/* `expect` is called for every bit, while that one is flipped. */
static inline void file_flip_each_bit(const char *path, void (*expect)(void))
{
    size_t length;
    uint8_t *bytes = file_read(path, &length);
    int fd = open(path, O_WRONLY);
    assert_true(fd >= 0);
    for (size_t i = 0; i < length * 8; i++) {
        uint8_t flipped = bytes[i / 8] ^ (uint8_t)(1 << i % 8);
        assert_int_equal(pwrite(fd, &flipped, 1, (off_t)(i / 8)), 1);
        expect();
        assert_int_equal(pwrite(fd, &bytes[i / 8], 1, (off_t)(i / 8)), 1);
    }
    print_message("%zu bits\n", length * 8);
    close(fd);
    free(bytes);
}

/* `expect` is called for every shorter length, and some longer ones; after that it is as before. */
static inline void file_cut_each_length(const char *path, void (*expect)(void))
{
    enum { LONGER = 9 };
    size_t length;
    uint8_t *bytes = file_read(path, &length);
    bytes = realloc(bytes, length + LONGER);
    assert_non_null(bytes);
    memset(bytes + length, 0, LONGER);
    for (size_t other = 0; other <= length + LONGER; other++) {
        if (other == length)
            continue;
        file_write(path, bytes, other);
        expect();
    }
    file_write(path, bytes, length);
    free(bytes);
}

#ifdef LAUD_FAULTS
/* Each write that is called by this name is claimed and not made in turn, and then `expect` called. */
static inline void file_skip_each_write(const char *name, void (*save)(void), void (*expect)(void))
{
    for (uint64_t nth = 1;; nth++) {
        char plan[64];
        snprintf(plan, sizeof plan, "%s:%llu:SKIP", name, (unsigned long long)nth);
        assert_int_equal(io_faults_plan(plan), 0);
        save();
        uint64_t calls = io_faults_calls_at(name);
        assert_int_equal(io_faults_plan(NULL), 0);
        if (calls < nth)
            break;
        expect();
    }
}
#endif

/* A directory of the test's own, in memory if there is such a place. */
static inline void directory_in_memory(char *path, size_t size)
{
    snprintf(path, size, "%s/laud-test.XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    assert_non_null(mkdtemp(path));
}

/* Where only that file may be left, and nothing that was written beside it. */
static inline void directory_with_file_remove(const char *directory, const char *path)
{
    char unfinished[128];
    snprintf(unfinished, sizeof unfinished, "%s.tmp", path);
    assert_int_equal(access(unfinished, F_OK), -1);
    unlink(path);
    assert_int_equal(rmdir(directory), 0);
}

#endif
