/*
 * A file of lines that {line} chooses from. All lines have the same length, so that everything but the
 * line itself is compiled into a template. Once it is read it is constant, and threads may share it.
 */
#ifndef LAUD_BENCH_LINE_FILE_H
#define LAUD_BENCH_LINE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINE_FILE_BYTES (1ULL << 30) /* of the largest file */

struct line_file {
    char *bytes;
    uint64_t count;
    size_t length; /* of each line, without its end */
};

/* The line with this number, which has no terminator. */
static inline const char *line_file_at(const struct line_file *lines, uint64_t number)
{
    return lines->bytes + number * (lines->length + 1);
}

/* Reads the file. False: `problem` has one sentence, and there is nothing to free. */
bool line_file_read(struct line_file *lines, const char *path, char *problem, size_t size);
void line_file_free(struct line_file *lines);

#endif
