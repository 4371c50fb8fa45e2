/*
 * The store and the files that describe it come from one backup, the journal and the files that go with it
 * from another one, which may be the same. Every file that is used is compared with its manifest. The last
 * segment of the journal is written anew, because it may have to be cut, and because one event is added to
 * it: docs/architecture.md, section "Backup", says why.
 */
#include "cli/restore_copy.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/io.h"
#include "cli/backup_tree.h"
#include "cli/seed.h"
#include "journal/file/cut.h"
#include "journal/file/journal_file.h"
#include "move/mark.h"
#include "time/spans.h"

#define JOURNAL_FOLDER "journal/"

/* Is this file taken from the backup that has the journal? */
static bool goes_with_journal(const char *path)
{
    return strncmp(path, JOURNAL_FOLDER, sizeof JOURNAL_FOLDER - 1) == 0 ||
           strcmp(path, SPANS_NAME) == 0 || strcmp(path, MOVE_MARK_NAME) == 0 ||
           strcmp(path, SEED_NAME) == 0;
}

static enum status path_in(struct restore_copy *copy, const struct backup_entry *entry,
                           const char *path, char out[PATH_MAX])
{
    return snprintf(out, PATH_MAX, "%.3800s/" BACKUP_DATA "/%s", entry->path, path) < PATH_MAX
               ? STATUS_OK
               : copier_fail(copy->copier, "read", path, -ENAMETOOLONG);
}

/* Copies a file, or only reads it, and compares it with the manifest. */
static enum status take_file(struct restore_copy *copy, const struct backup_entry *entry,
                             const struct manifest_file *file, bool only_read)
{
    char from[PATH_MAX], to[PATH_MAX];
    uint64_t bytes = 0, check = 0;
    enum status status = path_in(copy, entry, file->path, from);
    if (status == STATUS_OK && tree_join(to, copy->to, file->path) != 0)
        status = copier_fail(copy->copier, "write", file->path, -ENAMETOOLONG);
    if (status == STATUS_OK)
        status = only_read ? copier_check(copy->copier, from, &bytes, &check)
                           : copier_copy(copy->copier, from, to, &bytes, &check);
    if (status != STATUS_OK || (bytes == file->bytes && check == file->check))
        return status;
    snprintf(copy->copier->problem, sizeof copy->copier->problem,
             "damaged: %.400s does not match its checksum in the manifest", from);
    return STATUS_DAMAGED;
}

static enum status take_files(struct restore_copy *copy, const struct backup_entry *entry,
                              bool with_journal)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < entry->manifest.count; i++) {
        const struct manifest_file *file = &entry->manifest.files[i];
        bool segment = strncmp(file->path, JOURNAL_FOLDER, sizeof JOURNAL_FOLDER - 1) == 0;
        if (!segment && goes_with_journal(file->path) == with_journal)
            status = take_file(copy, entry, file, false);
    }
    return status;
}

/* Finds the first event that was recorded after the time. */
struct search {
    uint32_t until_s;
    uint64_t cut; /* the position before it */
};

static enum status search_visit(void *context, const struct event *event, uint64_t position,
                                size_t size)
{
    struct search *search = context;
    if (event->time_s > search->until_s) {
        search->cut = position;
        return STATUS_STOPPING;
    }
    search->cut = position + size;
    return STATUS_OK;
}

static enum status find_cut(struct restore_copy *copy, const char *journal)
{
    const struct restore_choice *choice = copy->choice;
    struct journal_report report;
    copy->end = choice->journal->manifest.end;
    if (!choice->has_until)
        return STATUS_OK;
    bool based = choice->base != NULL && choice->base->manifest.has_store;
    uint64_t from = based ? choice->base->manifest.position : 0;
    struct search search = {.until_s = choice->until_s, .cut = from};
    struct journal_reading reading = {.visit = search_visit, .context = &search, .from = from};
    enum status status = journal_file_verify(journal, &reading, &report);
    copy->end = search.cut;
    if (status == STATUS_OK || status == STATUS_STOPPING)
        return STATUS_OK;
    snprintf(copy->copier->problem, sizeof copy->copier->problem, "damaged: %.240s: %s", journal,
             report.problem);
    return status;
}

/* Copies the segments before the last one, and verifies the others that the manifest has. */
static enum status take_segments(struct restore_copy *copy, const struct journal_segment *last)
{
    const struct backup_entry *entry = copy->choice->journal;
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < entry->manifest.count; i++) {
        const struct manifest_file *file = &entry->manifest.files[i];
        if (strncmp(file->path, JOURNAL_FOLDER, sizeof JOURNAL_FOLDER - 1) != 0)
            continue;
        const char *name = file->path + sizeof JOURNAL_FOLDER - 1;
        bool needed = name[0] >= '0' && name[0] <= '9' && strcmp(name, last->name) < 0;
        status = take_file(copy, entry, file, !needed);
    }
    return status;
}

/* The time of the event that is added: no cursor that a client may have is from after it. */
static enum status added_time(struct restore_copy *copy, uint32_t *time_s)
{
    struct spans spans;
    uint64_t now_s = clock_wall_ms() / 1000, end_s = copy->choice->journal->manifest.end_s;
    if (spans_read(copy->to, &spans) != STATUS_OK)
        return copier_fail(copy->copier, "read", SPANS_NAME, -EBADMSG);
    now_s += spans_offset(&spans);
    *time_s = (uint32_t)((now_s > end_s ? now_s : end_s) + 1);
    return STATUS_OK;
}

static enum status take_end(struct restore_copy *copy, const char *journal,
                            const struct journal_segment *last)
{
    char to[PATH_MAX];
    uint32_t time_s = 0;
    enum status status = added_time(copy, &time_s);
    struct event added = event_import(time_s);
    struct journal_cut cut = {.until = copy->end,
                              .more = copy->choice->journal->manifest.has_store ? &added : NULL};
    if (status == STATUS_OK && tree_join(to, copy->to, "journal") != 0)
        status = copier_fail(copy->copier, "write", "journal", -ENAMETOOLONG);
    if (status == STATUS_OK)
        status = journal_file_copy_last(journal, last->number, to, &cut, copy->copier->problem,
                                        sizeof copy->copier->problem);
    return status;
}

/* An import whose events were cut off was never made. */
static enum status correct_import(struct restore_copy *copy)
{
    struct move_mark mark;
    enum status status = move_mark_read(copy->to, &mark);
    if (status != STATUS_OK)
        return copier_fail(copy->copier, "read", MOVE_MARK_NAME, -EBADMSG);
    if (mark.until <= copy->end)
        return STATUS_OK;
    mark = (struct move_mark){.until = copy->end, .newest_s = mark.newest_s};
    int result = move_mark_write(copy->to, &mark);
    return result == 0 ? STATUS_OK : copier_fail(copy->copier, "write", MOVE_MARK_NAME, result);
}

static enum status take_journal(struct restore_copy *copy)
{
    char journal[PATH_MAX];
    struct journal_segment *segments = NULL;
    size_t last = 0;
    enum status status = path_in(copy, copy->choice->journal, "journal", journal);
    if (status == STATUS_OK)
        status = find_cut(copy, journal);
    if (status == STATUS_OK)
        status = journal_file_segments(journal, &segments, &last, copy->copier->problem,
                                       sizeof copy->copier->problem);
    while (status == STATUS_OK && last > 1 && segments[last - 1].position >= copy->end)
        last--;
    if (status == STATUS_OK && last > 0 && segments[0].position > copy->end) {
        snprintf(copy->copier->problem, sizeof copy->copier->problem,
                 "damaged: %.300s begins after position %" PRIu64, journal, copy->end);
        status = STATUS_DAMAGED;
    }
    if (status == STATUS_OK && last > 0)
        status = take_segments(copy, &segments[last - 1]);
    if (status == STATUS_OK && last > 0)
        status = take_end(copy, journal, &segments[last - 1]);
    free(segments);
    return status == STATUS_OK ? correct_import(copy) : status;
}

static enum status each_folder(struct restore_copy *copy, bool make)
{
    static const char *const folders[] = {"journal", "store", ""};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        char path[PATH_MAX];
        const struct backup_entry *base = copy->choice->base;
        if (i == 1 && (base == NULL || !base->manifest.has_store))
            continue;
        int result = tree_join(path, copy->to, folders[i]);
        if (result == 0)
            result = make ? io_make_directory("restore.folder", path, 0700)
                          : io_sync_directory("restore.directory", path);
        if (result != 0)
            return copier_fail(copy->copier, make ? "make" : "sync", path, result);
    }
    return STATUS_OK;
}

enum status restore_copy_run(struct restore_copy *copy)
{
    const struct restore_choice *choice = copy->choice;
    copy->copier->total = manifest_bytes(&choice->journal->manifest);
    if (choice->base != NULL && choice->base != choice->journal)
        copy->copier->total += manifest_bytes(&choice->base->manifest);
    enum status status = each_folder(copy, true);
    if (status == STATUS_OK && choice->base != NULL)
        status = take_files(copy, choice->base, false);
    if (status == STATUS_OK)
        status = take_files(copy, choice->journal, true);
    if (status == STATUS_OK)
        status = take_journal(copy);
    return status == STATUS_OK ? each_folder(copy, false) : status;
}
