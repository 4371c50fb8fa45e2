#include "bench/line_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_printable(const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (bytes[i] <= ' ' || bytes[i] > '~')
            return false;
    return true;
}

/* `bytes` has room for one more byte. */
static const char *split(struct line_file *lines, size_t bytes)
{
    if (bytes > 0 && lines->bytes[bytes - 1] != '\n')
        lines->bytes[bytes++] = '\n';
    const char *end = memchr(lines->bytes, '\n', bytes);
    lines->length = end != NULL ? (size_t)(end - lines->bytes) : 0;
    if (lines->length == 0)
        return "has no lines";
    lines->count = bytes / (lines->length + 1);
    if (lines->count * (lines->length + 1) != bytes)
        return "has lines of different lengths";
    for (uint64_t i = 0; i < lines->count; i++) {
        const char *line = line_file_at(lines, i);
        if (line[lines->length] != '\n' || memchr(line, '\n', lines->length) != NULL)
            return "has lines of different lengths";
        if (!is_printable(line, lines->length))
            return "has characters that are not printable ASCII";
    }
    return NULL;
}

static const char *read_all(struct line_file *lines, FILE *file)
{
    struct stat status;
    if (fstat(fileno(file), &status) != 0)
        return strerror(errno);
    if ((uint64_t)status.st_size > LINE_FILE_BYTES)
        return "is larger than 1 GiB";
    size_t bytes = (size_t)status.st_size;
    lines->bytes = malloc(bytes + 1);
    if (lines->bytes == NULL)
        return "does not fit into memory";
    if (fread(lines->bytes, 1, bytes, file) != bytes)
        return "cannot be read";
    return split(lines, bytes);
}

bool line_file_read(struct line_file *lines, const char *path, char *problem, size_t size)
{
    *lines = (struct line_file){0};
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        snprintf(problem, size, "--lines %s: %s", path, strerror(errno));
        return false;
    }
    const char *wrong = read_all(lines, file);
    fclose(file);
    if (wrong == NULL)
        return true;
    snprintf(problem, size, "--lines %s: the file %s", path, wrong);
    line_file_free(lines);
    return false;
}

void line_file_free(struct line_file *lines)
{
    free(lines->bytes);
    *lines = (struct line_file){0};
}
