#include "fake_import.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/id.h"
#include "base/names.h"

static enum status row_add(struct import *import, const char *line)
{
    if (import->fails_after > 0 && import->count == import->fails_after) {
        snprintf(import->problem, sizeof import->problem, "the disk is full");
        return STATUS_DISK_FULL;
    }
    if (import->count == import->room) {
        import->room = import->room * 2 + 1024;
        import->lines = realloc(import->lines, import->room * sizeof *import->lines);
    }
    import->lines[import->count++] = strdup(line);
    return STATUS_OK;
}

static bool item_good(struct text item)
{
    struct id id;
    const char *colon = memchr(item.bytes, ':', item.length);
    if (colon == NULL)
        return false;
    size_t length = (size_t)(colon - item.bytes);
    return name_is_valid(item.bytes, length) && id_parse(colon + 1, item.length - length - 1, &id);
}

static enum status refuse(struct import *import, const char *why)
{
    snprintf(import->problem, sizeof import->problem, "%s", why);
    return STATUS_BAD_ARGUMENT;
}

enum status import_reaction(struct import *import, struct text user, struct text kind,
                            struct text item, uint32_t time_s)
{
    char line[256];
    struct id id;
    if (!id_parse(user.bytes, user.length, &id) || !item_good(item) ||
        !name_is_valid(kind.bytes, kind.length))
        return refuse(import, "not a reaction");
    snprintf(line, sizeof line, "%.*s %.*s %.*s %u", (int)kind.length, kind.bytes, (int)user.length,
             user.bytes, (int)item.length, item.bytes, (unsigned)time_s);
    return row_add(import, line);
}

enum status import_untimed(struct import *import, struct text user, struct text kind,
                           struct text item, uint32_t time_s)
{
    import->untimed++;
    return import_reaction(import, user, kind, item, time_s);
}

enum status import_counter(struct import *import, struct text item, struct text counter,
                           int64_t value)
{
    char line[256];
    if (!item_good(item) || !name_is_valid(counter.bytes, counter.length))
        return refuse(import, "not a counter");
    snprintf(line, sizeof line, "%.*s %.*s %" PRId64, (int)counter.length, counter.bytes,
             (int)item.length, item.bytes, value);
    return row_add(import, line);
}

const char *import_problem(const struct import *import)
{
    return import->problem;
}

void fake_clear(struct import *import)
{
    for (size_t i = 0; i < import->count; i++)
        free(import->lines[i]);
    free(import->lines);
    memset(import, 0, sizeof *import);
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

size_t fake_distinct(struct import *import)
{
    size_t distinct = 0;
    if (import->count > 0)
        qsort(import->lines, import->count, sizeof *import->lines, compare);
    for (size_t i = 0; i < import->count; i++)
        distinct += i == 0 || strcmp(import->lines[i - 1], import->lines[i]) != 0;
    return distinct;
}

bool fake_has(const struct import *import, const char *line)
{
    for (size_t i = 0; i < import->count; i++)
        if (strcmp(import->lines[i], line) == 0)
            return true;
    return false;
}
