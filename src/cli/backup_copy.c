/*
 * Two passes: the first one lists the files and adds up their sizes, the second one links or copies them.
 * The end of the journal is copied last, by itself (journal/file/cut.h).
 */
#include "cli/backup_copy.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/io.h"
#include "cli/backup_tree.h"
#include "journal/file/cut.h"

struct listing {
    struct backup_copy *copy;
    const char *folder; /* "" or with a slash at its end */
    enum status status;
};

static enum status say(struct backup_copy *copy, enum status status, const char *sentence)
{
    snprintf(copy->copier->problem, sizeof copy->copier->problem, "%s", sentence);
    return status;
}

static enum status add_file(struct backup_copy *copy, const char *path)
{
    char from[PATH_MAX];
    struct file_facts facts;
    if (strlen(path) >= MANIFEST_PATH_BYTES || tree_join(from, copy->staged, path) != 0)
        return copier_fail(copy->copier, "copy", path, -ENAMETOOLONG);
    enum status status = copier_facts(copy->copier, from, &facts);
    if (status != STATUS_OK)
        return status;
    struct manifest_file *file = manifest_add(copy->manifest, path);
    if (file == NULL)
        return say(copy, STATUS_NO_MEMORY, "not enough memory");
    file->bytes = facts.bytes;
    file->inode = facts.inode;
    file->changed_ns = facts.changed_ns;
    return STATUS_OK;
}

/* The journal has a list of its own, and the other two names are not of the data directory. */
static int add_entry(void *context, const char *name)
{
    struct listing *listing = context;
    char path[PATH_MAX], full[PATH_MAX];
    snprintf(path, sizeof path, "%.100s%.255s", listing->folder, name);
    bool top = listing->folder[0] == '\0';
    if (tree_join(full, listing->copy->staged, path) != 0)
        return -ENAMETOOLONG;
    if (top &&
        (strcmp(name, MANIFEST_NAME) == 0 || strcmp(name, "LOCK") == 0 || tree_is_directory(full)))
        return 0;
    listing->status = add_file(listing->copy, path);
    return listing->status == STATUS_OK ? 0 : -ECANCELED;
}

static enum status add_folder(struct backup_copy *copy, const char *folder)
{
    char path[PATH_MAX];
    struct listing listing = {.copy = copy, .folder = folder, .status = STATUS_OK};
    int result = tree_join(path, copy->staged, folder);
    if (result == 0)
        result = tree_list(path, add_entry, &listing);
    if (listing.status != STATUS_OK)
        return listing.status;
    return result == 0 ? STATUS_OK : copier_fail(copy->copier, "list", path, result);
}

static enum status add_segments(struct backup_copy *copy, const struct journal_segment *segments,
                                size_t last)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < last; i++) {
        char path[MANIFEST_PATH_BYTES];
        snprintf(path, sizeof path, "journal/%s", segments[i].name);
        status = add_file(copy, path);
    }
    return status;
}

/*
 * The copy in the previous backup, if it is of the same file. With `separate` it may not be a link to
 * a file of the server itself.
 */
static bool find_previous(const struct backup_copy *copy, const struct manifest_file *file,
                          char path[PATH_MAX], uint64_t *check)
{
    struct file_facts facts;
    const struct manifest_file *old =
        copy->previous != NULL ? manifest_find(&copy->previous->manifest, file->path) : NULL;
    if (old == NULL || old->inode == 0 || old->inode != file->inode || old->bytes != file->bytes ||
        old->changed_ns != file->changed_ns)
        return false;
    if (snprintf(path, PATH_MAX, "%s/" BACKUP_DATA "/%s", copy->previous->path, file->path) >=
            PATH_MAX ||
        copier_facts(copy->copier, path, &facts) != STATUS_OK || facts.bytes != file->bytes)
        return false;
    *check = old->check;
    return !copy->separate || facts.inode != file->inode;
}

static enum status take_file(struct backup_copy *copy, struct manifest_file *file)
{
    char from[PATH_MAX], to[PATH_MAX], old[PATH_MAX];
    uint64_t check, bytes = 0;
    if (tree_join(from, copy->staged, file->path) != 0 || tree_join(to, copy->to, file->path) != 0)
        return copier_fail(copy->copier, "copy", file->path, -ENAMETOOLONG);
    if (find_previous(copy, file, old, &check) && io_link("backup.link", old, to) == 0) {
        file->check = check;
        copy->reused += file->bytes;
        copy->copier->total -= file->bytes;
        return STATUS_OK;
    }
    bool linked = !copy->separate && io_link("backup.link", from, to) == 0;
    enum status status = linked ? copier_check(copy->copier, to, &bytes, &file->check)
                                : copier_copy(copy->copier, from, to, &bytes, &file->check);
    if (status == STATUS_OK && bytes != file->bytes)
        return copier_fail(copy->copier, "copy a file that changes:", from, -EAGAIN);
    if (linked)
        copy->linked += bytes;
    else
        copy->copied += bytes;
    return status;
}

/* Adds a file that was made in the backup itself. */
static enum status add_made(struct backup_copy *copy, const char *name)
{
    char path[MANIFEST_PATH_BYTES], full[PATH_MAX];
    snprintf(path, sizeof path, "journal/%s", name);
    struct manifest_file *file = manifest_add(copy->manifest, path);
    if (file == NULL)
        return say(copy, STATUS_NO_MEMORY, "not enough memory");
    if (tree_join(full, copy->to, path) != 0)
        return copier_fail(copy->copier, "copy", path, -ENAMETOOLONG);
    enum status status = copier_check(copy->copier, full, &file->bytes, &file->check);
    copy->copied += file->bytes;
    return status;
}

static enum status copy_end(struct backup_copy *copy, const struct journal_segment *last)
{
    char from[PATH_MAX], to[PATH_MAX];
    struct manifest *manifest = copy->manifest;
    struct journal_cut cut = {.until = manifest->end};
    if (tree_join(from, copy->staged, "journal") != 0 || tree_join(to, copy->to, "journal") != 0)
        return copier_fail(copy->copier, "copy", "journal", -ENAMETOOLONG);
    enum status status = journal_file_copy_last(from, last->number, to, &cut, copy->copier->problem,
                                                sizeof copy->copier->problem);
    manifest->chain = cut.chain;
    if (status == STATUS_OK)
        status = add_made(copy, last->name);
    return status == STATUS_OK ? add_made(copy, "mark") : status;
}

static enum status make_folders(struct backup_copy *copy)
{
    static const char *const folders[] = {"", "journal", "store"};
    for (size_t i = 0; i < 2 + (size_t)(copy->manifest->has_store != 0); i++) {
        char path[PATH_MAX];
        int result = tree_join(path, copy->to, folders[i]);
        if (result == 0)
            result = io_make_directory("backup.folder", path, 0700);
        if (result != 0)
            return copier_fail(copy->copier, "make", path, result);
    }
    return STATUS_OK;
}

static enum status sync_folders(struct backup_copy *copy)
{
    static const char *const folders[] = {"journal", "", "store"};
    for (size_t i = 0; i < 2 + (size_t)(copy->manifest->has_store != 0); i++) {
        char path[PATH_MAX];
        int result = tree_join(path, copy->to, folders[i]);
        if (result == 0)
            result = io_sync_directory("backup.directory", path);
        if (result != 0)
            return copier_fail(copy->copier, "sync", path, result);
    }
    return STATUS_OK;
}

/* What is not in the previous backup has to be read, and may have to be written. */
static enum status check_space(struct backup_copy *copy)
{
    struct file_facts from, to;
    struct statvfs space;
    uint64_t needed = 0;
    if (copier_facts(copy->copier, copy->staged, &from) != STATUS_OK ||
        copier_facts(copy->copier, copy->to, &to) != STATUS_OK || statvfs(copy->to, &space) < 0)
        return STATUS_IO_FAILED;
    for (size_t i = 0; i < copy->manifest->count; i++) {
        char old[PATH_MAX];
        uint64_t check;
        if (!find_previous(copy, &copy->manifest->files[i], old, &check))
            needed += copy->manifest->files[i].bytes;
    }
    uint64_t left = (uint64_t)space.f_bavail * space.f_frsize;
    if (needed <= left || (from.device == to.device && !copy->separate))
        return STATUS_OK;
    snprintf(copy->copier->problem, sizeof copy->copier->problem,
             "there is not enough room: %" PRIu64 " bytes are needed, and %" PRIu64 " are free",
             needed, left);
    return STATUS_DISK_FULL;
}

static enum status copy_files(struct backup_copy *copy, const struct journal_segment *segments,
                              size_t count)
{
    size_t last = count;
    while (last > 1 && segments[last - 1].position >= copy->manifest->end)
        last--;
    enum status status = add_folder(copy, "");
    if (status == STATUS_OK && copy->manifest->has_store)
        status = add_folder(copy, "store/");
    if (status == STATUS_OK)
        status = add_segments(copy, segments, last > 0 ? last - 1 : 0);
    if (status == STATUS_OK)
        status = make_folders(copy);
    if (status == STATUS_OK)
        status = check_space(copy);
    copy->copier->total = manifest_bytes(copy->manifest);
    for (size_t i = 0; status == STATUS_OK && i < copy->manifest->count; i++)
        status = take_file(copy, &copy->manifest->files[i]);
    if (status == STATUS_OK && last > 0)
        status = copy_end(copy, &segments[last - 1]);
    return status == STATUS_OK ? sync_folders(copy) : status;
}

enum status backup_copy_run(struct backup_copy *copy)
{
    char journal[PATH_MAX];
    struct journal_segment *segments;
    size_t count;
    if (tree_join(journal, copy->staged, "journal") != 0)
        return copier_fail(copy->copier, "read", copy->staged, -ENAMETOOLONG);
    enum status status = journal_file_segments(journal, &segments, &count, copy->copier->problem,
                                               sizeof copy->copier->problem);
    if (status != STATUS_OK)
        return status;
    copy->manifest->first = count > 0 ? segments[0].position : copy->manifest->end;
    status = copy_files(copy, segments, count);
    free(segments);
    return status;
}
