#include "cli/backup_list.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/decimal.h"
#include "base/text.h"
#include "cli/backup_tree.h"

#define NUMBER_DIGITS 6
#define NUMBER_MAX    999999
#define NAME_LENGTH   (sizeof "000001-20261118T070211Z" - 1)

struct listing {
    struct backup_list *list;
    const char *directory;
};

static bool name_parse(const char *name, uint64_t *number)
{
    static const char form[] = "dddddd-ddddddddTddddddZ";
    if (strlen(name) != NAME_LENGTH)
        return false;
    for (size_t i = 0; i < NAME_LENGTH; i++)
        if (form[i] == 'd' ? name[i] < '0' || name[i] > '9' : name[i] != form[i])
            return false;
    *number =
        strtoull((char[]){name[0], name[1], name[2], name[3], name[4], name[5], '\0'}, NULL, 10);
    return *number > 0;
}

static int take_name(void *context, const char *name)
{
    const struct listing *listing = context;
    struct backup_list *list = listing->list;
    uint64_t number;
    if (!name_parse(name, &number))
        return 0;
    if (list->count == list->capacity) {
        struct backup_entry *grown =
            array_grow(list->entries, &list->capacity, list->count + 1, 16, sizeof *grown);
        if (grown == NULL)
            return -ENOMEM;
        list->entries = grown;
    }
    struct backup_entry *entry = &list->entries[list->count];
    *entry = (struct backup_entry){.number = number};
    snprintf(entry->name, sizeof entry->name, "%s", name);
    int result = tree_join(entry->path, listing->directory, name);
    list->count += result == 0 && tree_is_directory(entry->path);
    return result;
}

int backup_list_make(struct backup_list *list, const char *directory)
{
    struct listing listing = {list, directory};
    *list = (struct backup_list){.entries = NULL};
    return tree_list(directory, take_name, &listing);
}

void backup_list_free(struct backup_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        manifest_free(&list->entries[i].manifest);
    free(list->entries);
    *list = (struct backup_list){.entries = NULL};
}

enum status backup_list_read(struct backup_entry *entry, char *problem, size_t size)
{
    char path[PATH_MAX];
    manifest_free(&entry->manifest);
    if (tree_join(path, entry->path, MANIFEST_NAME) == 0)
        return manifest_read(&entry->manifest, path, problem, size);
    snprintf(problem, size, "%s is too long", entry->path);
    return STATUS_IO_FAILED;
}

static void put_time(uint64_t wall_s, const char *format, char *out, size_t size)
{
    time_t seconds = (time_t)wall_s;
    struct tm parts;
    if (gmtime_r(&seconds, &parts) == NULL || strftime(out, size, format, &parts) == 0)
        snprintf(out, size, "%" PRIu64, wall_s);
}

void backup_list_name(uint64_t number, uint64_t wall_s, char out[BACKUP_NAME_BYTES])
{
    char when[BACKUP_TIME_BYTES];
    put_time(wall_s, "%Y%m%dT%H%M%SZ", when, sizeof when);
    snprintf(out, BACKUP_NAME_BYTES, "%0*" PRIu64 "-%.20s", NUMBER_DIGITS,
             number > NUMBER_MAX ? NUMBER_MAX : number, when);
}

const char *backup_list_time(uint64_t wall_s, char out[BACKUP_TIME_BYTES])
{
    put_time(wall_s, "%Y-%m-%dT%H:%M:%SZ", out, BACKUP_TIME_BYTES);
    return out;
}
