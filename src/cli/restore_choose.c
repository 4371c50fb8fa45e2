#include "cli/restore_choose.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/assert.h"
#include "base/decimal.h"
#include "base/text.h"
#include "cli/backup_tree.h"
#include "journal/file/cut.h"
#include "time/spans.h"

/* Reads "+02:00" or "-02:00" as seconds. */
static bool read_offset(const char *text, int64_t *out)
{
    uint64_t hours, minutes;
    if (strlen(text) != 6 || (text[0] != '+' && text[0] != '-') || text[3] != ':' ||
        !decimal_read((struct text){text + 1, 2}, 23, &hours) ||
        !decimal_read((struct text){text + 4, 2}, 59, &minutes))
        return false;
    *out = (int64_t)(hours * 3600 + minutes * 60) * (text[0] == '-' ? -1 : 1);
    return true;
}

bool restore_time(const char *text, uint64_t *out)
{
    struct tm parts = {.tm_isdst = 0};
    int64_t offset = 0;
    if (decimal_read(text_from(text), UINT32_MAX, out))
        return true;
    const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &parts);
    if (rest == NULL)
        rest = strptime(text, "%Y-%m-%d %H:%M:%S", &parts);
    if (rest == NULL || (strcmp(rest, "Z") != 0 && !read_offset(rest, &offset)))
        return false;
    int64_t seconds = (int64_t)timegm(&parts) - offset;
    *out = (uint64_t)seconds;
    return seconds >= 0 && seconds <= UINT32_MAX;
}

void restore_choose_free(struct restore_choice *choice)
{
    backup_list_free(&choice->list);
}

/* A list with one entry: the backup that `path` itself is. */
static enum status take_one(struct restore_choice *choice, char *problem, size_t size)
{
    struct backup_list *list = &choice->list;
    list->entries = array_grow(NULL, &list->capacity, 1, 1, sizeof *list->entries);
    if (list->entries == NULL) {
        snprintf(problem, size, "not enough memory");
        return STATUS_NO_MEMORY;
    }
    list->entries[0] = (struct backup_entry){.number = 1};
    snprintf(list->entries[0].path, PATH_MAX, "%s", choice->path);
    snprintf(list->entries[0].name, BACKUP_NAME_BYTES, "the backup");
    list->count = 1;
    return backup_list_read(&list->entries[0], problem, size);
}

static enum status read_all(struct restore_choice *choice, char *problem, size_t size)
{
    int result = backup_list_make(&choice->list, choice->path);
    if (result != 0) {
        snprintf(problem, size, "cannot read %s: %s", choice->path, strerror(-result));
        return STATUS_IO_FAILED;
    }
    /* Without a time only the newest one counts, whatever the others are like. */
    size_t first = choice->has_until || choice->list.count == 0 ? 0 : choice->list.count - 1;
    for (size_t i = first; i < choice->list.count; i++) {
        enum status status = backup_list_read(&choice->list.entries[i], problem, size);
        if (status != STATUS_OK)
            return status;
    }
    if (choice->list.count > 0)
        return STATUS_OK;
    snprintf(problem, size, "there is no complete backup in %s", choice->path);
    return STATUS_NOT_FOUND;
}

static enum status list_backups(struct restore_choice *choice, char *problem, size_t size)
{
    char path[PATH_MAX];
    if (strlen(choice->path) >= PATH_MAX - 64) {
        snprintf(problem, size, "the path of the backup is too long");
        return STATUS_IO_FAILED;
    }
    const char *slash = strrchr(choice->path, '/');
    const char *dot = strrchr(slash != NULL ? slash : choice->path, '.');
    if (dot != NULL && strncmp(dot, BACKUP_PARTIAL, sizeof BACKUP_PARTIAL - 1) == 0) {
        snprintf(problem, size, "%s is not complete", choice->path);
        return STATUS_NOT_FOUND;
    }
    (void)tree_join(path, choice->path, MANIFEST_NAME);
    return access(path, F_OK) == 0 ? take_one(choice, problem, size)
                                   : read_all(choice, problem, size);
}

/* The table of recorded times that a backup has. */
static enum status read_spans(const struct backup_entry *entry, struct spans *spans, char *problem,
                              size_t size)
{
    char path[PATH_MAX];
    enum status status =
        tree_join(path, entry->path, BACKUP_DATA) == 0 ? spans_read(path, spans) : STATUS_IO_FAILED;
    if (status != STATUS_OK)
        snprintf(problem, size, "the file " SPANS_NAME " of %s cannot be read", entry->path);
    return status;
}

/* The journal comes from the first backup that has everything up to the time. */
static enum status choose_journal(struct restore_choice *choice, struct spans *spans, char *problem,
                                  size_t size)
{
    char shown[BACKUP_TIME_BYTES];
    struct backup_entry *last = NULL;
    ASSERT(choice->list.count > 0);
    for (size_t i = 0; i < choice->list.count; i++) {
        last = &choice->list.entries[i];
        enum status status = read_spans(last, spans, problem, size);
        if (status != STATUS_OK)
            return status;
        choice->until_s = spans_recorded(spans, (uint32_t)choice->until);
        choice->journal = last;
        if (last->manifest.end_s > choice->until_s)
            return STATUS_OK;
    }
    snprintf(problem, size,
             "%s ends at %s, before that time; without --until all of it is restored", last->path,
             backup_list_time(spans_shown(spans, (uint32_t)last->manifest.end_s), shown));
    return STATUS_NOT_FOUND;
}

/* The store comes from the newest backup whose checkpoint is not after the time. */
static enum status choose_base(struct restore_choice *choice, const struct spans *spans,
                               char *problem, size_t size)
{
    char shown[BACKUP_TIME_BYTES];
    const struct manifest *journal = &choice->journal->manifest;
    for (struct backup_entry *entry = choice->journal;; entry--) {
        if (entry->manifest.checkpoint_s <= choice->until_s &&
            entry->manifest.has_store == journal->has_store) {
            choice->base = entry;
            break;
        }
        if (entry == choice->list.entries)
            break;
    }
    if (journal->first == 0 && (choice->base == NULL || !journal->has_store)) {
        choice->base = journal->has_store ? NULL : choice->journal;
        return STATUS_OK;
    }
    if (choice->base == NULL) {
        const struct backup_entry *oldest = &choice->list.entries[0];
        snprintf(
            problem, size,
            "no backup is old enough: the store in %s has changes of %s, after that time",
            oldest->path,
            backup_list_time(spans_shown(spans, (uint32_t)oldest->manifest.checkpoint_s), shown));
        return STATUS_NOT_FOUND;
    }
    if (journal->first <= choice->base->manifest.position)
        return STATUS_OK;
    snprintf(
        problem, size,
        "the events between %s and %s are in neither of them: the server must keep more of its "
        "journal for that (--journal-history)",
        choice->base->path, choice->journal->name);
    return STATUS_NOT_FOUND;
}

/* Do the two have the same history? Otherwise the journal's events do not belong to this store. */
static enum status compare_history(const struct restore_choice *choice, char *problem, size_t size)
{
    char path[PATH_MAX];
    uint64_t chain;
    if (choice->base == NULL || choice->base == choice->journal)
        return STATUS_OK;
    if (snprintf(path, sizeof path, "%.4000s/" BACKUP_DATA "/journal", choice->journal->path) >=
        PATH_MAX)
        return STATUS_IO_FAILED;
    enum status status =
        journal_file_chain(path, choice->base->manifest.end, &chain, problem, size);
    if (status == STATUS_IO_FAILED ||
        (status == STATUS_OK && chain == choice->base->manifest.chain))
        return status;
    snprintf(
        problem, size,
        "%s does not continue %s: the data directory was restored or replaced between them, so "
        "no moment between them can be restored",
        choice->journal->path, choice->base->name);
    return STATUS_NOT_FOUND;
}

enum status restore_choose(struct restore_choice *choice, char *problem, size_t size)
{
    struct spans spans = {0};
    enum status status = list_backups(choice, problem, size);
    if (status != STATUS_OK)
        return status;
    if (!choice->has_until) {
        choice->base = choice->journal = &choice->list.entries[choice->list.count - 1];
        return STATUS_OK;
    }
    status = choose_journal(choice, &spans, problem, size);
    if (status == STATUS_OK)
        status = choose_base(choice, &spans, problem, size);
    return status == STATUS_OK ? compare_history(choice, problem, size) : status;
}
