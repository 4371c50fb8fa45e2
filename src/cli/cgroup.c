/*
 * In a container the list may name the cgroup as the host sees it, while the mount begins with the
 * container's own cgroup. So directories that do not exist are skipped, up to the mount itself, which
 * is then the container's cgroup.
 */
#include "cli/cgroup.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Parses a number that is alone on its line. "max", 0 and everything else mean no limit. */
static uint64_t parse_limit(const char *text)
{
    uint64_t value;
    struct text line = {text, strcspn(text, "\n")};
    return decimal_read(line, UINT64_MAX, &value) && value > 0 ? value : CGROUP_NO_LIMIT;
}

static uint64_t read_limit(const char *directory, const char *name)
{
    char path[PATH_MAX + 64], text[32] = "";
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return CGROUP_NO_LIMIT;
    bool read = fgets(text, sizeof text, file) != NULL;
    fclose(file);
    return read ? parse_limit(text) : CGROUP_NO_LIMIT;
}

/* The lowest limit on the way from mount/path up to the mount. */
static uint64_t least_above(const char *mount, const char *path, const char *name)
{
    char directory[PATH_MAX];
    size_t root = strlen(mount);
    int length = snprintf(directory, sizeof directory, "%s%s", mount, path);
    if (length < 0 || (size_t)length >= sizeof directory || strstr(path, "/..") != NULL)
        directory[root] = '\0'; /* it is outside of the container, or too long to exist */
    uint64_t least = read_limit(directory, name);
    for (char *slash; (slash = strrchr(directory + root, '/')) != NULL;) {
        *slash = '\0';
        least = smaller(least, read_limit(directory, name));
    }
    return least;
}

/* Is `memory` in the list of controllers, which are separated by commas? */
static bool has_memory(const char *controllers)
{
    for (const char *at = controllers; *at != '\0'; at += *at == ',') {
        size_t length = strcspn(at, ",");
        if (length == strlen("memory") && memcmp(at, "memory", length) == 0)
            return true;
        at += length;
    }
    return false;
}

/* A line is number:controllers:path. Version 2 has no controllers in it. */
static uint64_t limit_of_line(char *line, const char *mount)
{
    char below[PATH_MAX];
    line[strcspn(line, "\n")] = '\0';
    char *controllers = strchr(line, ':');
    char *path = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
    if (path == NULL || path[1] != '/')
        return CGROUP_NO_LIMIT;
    *path++ = '\0';
    if (controllers[1] == '\0')
        return least_above(mount, path, "memory.max");
    snprintf(below, sizeof below, "%s/memory", mount);
    return has_memory(controllers + 1) ? least_above(below, path, "memory.limit_in_bytes")
                                       : CGROUP_NO_LIMIT;
}

uint64_t cgroup_memory(const char *list, const char *mount)
{
    uint64_t least = CGROUP_NO_LIMIT;
    char *line = NULL;
    size_t size = 0;
    FILE *file = fopen(list, "re");
    if (file == NULL)
        return CGROUP_NO_LIMIT;
    while (getline(&line, &size, file) > 0)
        least = smaller(least, limit_of_line(line, mount));
    free(line);
    fclose(file);
    return least;
}
