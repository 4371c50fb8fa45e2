/*
 * The file is text, so that a person can read it. Each line is a word and its values:
 *
 *     laud-backup 1                               the format version
 *     store 1                                     and so on: each field of the table below, in its order
 *     …
 *     file CHECK BYTES INODE CHANGED PATH         once for each file
 *     check CHECK                                 XXH3-64 of everything before this line
 *
 * Checksums and chain values are 16 hexadecimal digits, all other numbers are decimal. A path has only
 * letters, digits and "._-/", is relative and has no "..": a manifest may come from anywhere, and must not
 * name files outside of its backup.
 */
#include "cli/backup_manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/array.h"
#include "base/io.h"

#define FIRST_LINE    "laud-backup 1\n"
#define FIRST_WORD    "laud-backup "
#define CHECK_BYTES   (sizeof "check 0123456789abcdef\n" - 1)
#define MANIFEST_MAX  (256U << 20) /* bytes; some million files */
#define PATH_ALPHABET "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/"

static const struct field {
    const char *name;
    size_t offset;
    bool hex;
} fields[] = {
    {"store", offsetof(struct manifest, has_store), false},
    {"position", offsetof(struct manifest, position), false},
    {"first", offsetof(struct manifest, first), false},
    {"end", offsetof(struct manifest, end), false},
    {"chain", offsetof(struct manifest, chain), true},
    {"checkpoint-time", offsetof(struct manifest, checkpoint_s), false},
    {"end-time", offsetof(struct manifest, end_s), false},
    {"made", offsetof(struct manifest, made_s), false},
};

#define FIELDS (sizeof fields / sizeof fields[0])

static bool path_is_good(const char *path, size_t length)
{
    return length > 0 && length < MANIFEST_PATH_BYTES && path[0] != '/' &&
           strspn(path, PATH_ALPHABET) >= length && memmem(path, length, "..", 2) == NULL;
}

struct manifest_file *manifest_add(struct manifest *manifest, const char *path)
{
    if (manifest->count == manifest->capacity) {
        struct manifest_file *grown = array_grow(manifest->files, &manifest->capacity,
                                                 manifest->count + 1, 64, sizeof *grown);
        if (grown == NULL)
            return NULL;
        manifest->files = grown;
    }
    struct manifest_file *file = &manifest->files[manifest->count++];
    *file = (struct manifest_file){.bytes = 0};
    snprintf(file->path, sizeof file->path, "%s", path);
    return file;
}

const struct manifest_file *manifest_find(const struct manifest *manifest, const char *path)
{
    for (size_t i = 0; i < manifest->count; i++)
        if (strcmp(manifest->files[i].path, path) == 0)
            return &manifest->files[i];
    return NULL;
}

uint64_t manifest_bytes(const struct manifest *manifest)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < manifest->count; i++)
        bytes += manifest->files[i].bytes;
    return bytes;
}

void manifest_free(struct manifest *manifest)
{
    free(manifest->files);
    *manifest = (struct manifest){.files = NULL};
}

static void print_all(const struct manifest *manifest, FILE *out)
{
    fputs(FIRST_LINE, out);
    for (size_t i = 0; i < FIELDS; i++) {
        uint64_t value;
        memcpy(&value, (const char *)manifest + fields[i].offset, sizeof value);
        fprintf(out, fields[i].hex ? "%s %016" PRIx64 "\n" : "%s %" PRIu64 "\n", fields[i].name,
                value);
    }
    for (size_t i = 0; i < manifest->count; i++) {
        const struct manifest_file *file = &manifest->files[i];
        fprintf(out, "file %016" PRIx64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %s\n", file->check,
                file->bytes, file->inode, file->changed_ns, file->path);
    }
}

/* The whole text, which the caller frees; NULL: there is no memory. */
static char *to_text(const struct manifest *manifest, size_t *length)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, length);
    if (out == NULL)
        return NULL;
    print_all(manifest, out);
    if (fflush(out) == 0)
        fprintf(out, "check %016" PRIx64 "\n", (uint64_t)XXH3_64bits(text, *length));
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

int manifest_write(const struct manifest *manifest, const char *path)
{
    size_t length = 0;
    char *text = to_text(manifest, &length);
    if (text == NULL)
        return -ENOMEM;
    int fd = io_open("manifest.open", path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int result = fd < 0 ? fd : io_pwrite_all("manifest.write", fd, text, length, 0);
    if (result == 0)
        result = io_sync("manifest.sync", fd);
    if (fd >= 0)
        io_close("manifest.close", fd);
    free(text);
    return result;
}

static bool take(const char **at, const char *text)
{
    size_t length = strlen(text);
    bool there = strncmp(*at, text, length) == 0;
    *at += there ? length : 0;
    return there;
}

/* Reads a number in the only form in which it is written, and the character after it. */
static bool take_number(const char **at, bool hex, char after, uint64_t *out)
{
    const char *digits = hex ? "0123456789abcdef" : "0123456789";
    size_t length = strspn(*at, digits);
    if (length == 0 || length > 20 || (hex && length != 16) || (*at)[length] != after ||
        (!hex && length > 1 && **at == '0'))
        return false;
    errno = 0;
    *out = strtoull(*at, NULL, hex ? 16 : 10);
    *at += length + 1;
    return errno == 0;
}

static bool take_fields(struct manifest *manifest, const char **at)
{
    for (size_t i = 0; i < FIELDS; i++) {
        uint64_t value;
        if (!take(at, fields[i].name) || !take(at, " ") ||
            !take_number(at, fields[i].hex, '\n', &value))
            return false;
        memcpy((char *)manifest + fields[i].offset, &value, sizeof value);
    }
    return manifest->position <= manifest->end && manifest->first <= manifest->end;
}

static bool take_file(struct manifest *manifest, const char **at)
{
    struct manifest_file file = {.bytes = 0};
    if (!take_number(at, true, ' ', &file.check) || !take_number(at, false, ' ', &file.bytes) ||
        !take_number(at, false, ' ', &file.inode) || !take_number(at, false, ' ', &file.changed_ns))
        return false;
    size_t length = strcspn(*at, "\n");
    if (!path_is_good(*at, length) || (*at)[length] != '\n')
        return false;
    memcpy(file.path, *at, length);
    *at += length + 1;
    struct manifest_file *added = manifest_add(manifest, file.path);
    if (added != NULL)
        *added = file;
    return added != NULL;
}

/* `text` ends with a zero byte after `length` bytes, and its checksum was verified. */
static bool take_all(struct manifest *manifest, const char *text, size_t length)
{
    const char *at = text, *end = text + length - CHECK_BYTES;
    if (!take(&at, FIRST_LINE) || !take_fields(manifest, &at))
        return false;
    while (at < end)
        if (!take(&at, "file ") || !take_file(manifest, &at))
            return false;
    return at == end;
}

static enum status say(char *problem, size_t size, enum status status, const char *path,
                       const char *what)
{
    snprintf(problem, size, "%s %s", path, what);
    return status;
}

enum status manifest_parse(struct manifest *manifest, const char *text, size_t length,
                           const char *path, char *problem, size_t size)
{
    const char *at = text;
    if (length < sizeof FIRST_LINE - 1 + CHECK_BYTES || strlen(text) != length ||
        !take(&at, FIRST_WORD))
        return say(problem, size, STATUS_DAMAGED, path, "is not the manifest of a backup");
    uint64_t check;
    at = text + length - CHECK_BYTES;
    if (!take(&at, "check ") || !take_number(&at, true, '\n', &check) ||
        check != XXH3_64bits(text, length - CHECK_BYTES))
        return say(problem, size, STATUS_DAMAGED, path,
                   "is damaged: it does not match its checksum");
    at = text;
    if (!take(&at, FIRST_LINE))
        return say(problem, size, STATUS_DAMAGED, path,
                   "has a format version that this program does not read; another version of laud "
                   "wrote it");
    if (!take_all(manifest, text, length))
        return say(problem, size, STATUS_DAMAGED, path,
                   "is damaged: a line is not what is expected");
    return STATUS_OK;
}

static char *load(const char *path, size_t *length, int *error)
{
    uint64_t bytes = 0;
    int fd = io_open("manifest.open", path, O_RDONLY | O_CLOEXEC, 0);
    *error = fd < 0 ? fd : io_size("manifest.size", fd, &bytes);
    if (*error >= 0 && bytes > MANIFEST_MAX)
        *error = -EFBIG;
    char *text = *error >= 0 ? malloc((size_t)bytes + 1) : NULL;
    if (*error >= 0 && text == NULL)
        *error = -ENOMEM;
    ssize_t got = text != NULL ? io_pread("manifest.read", fd, text, (size_t)bytes, 0) : 0;
    if (got < 0)
        *error = (int)got;
    if (fd >= 0)
        io_close("manifest.close", fd);
    if (*error < 0) {
        free(text);
        return NULL;
    }
    text[got] = '\0';
    *length = (size_t)got;
    return text;
}

enum status manifest_read(struct manifest *manifest, const char *path, char *problem, size_t size)
{
    size_t length = 0;
    int error = 0;
    char *text = load(path, &length, &error);
    if (text == NULL)
        return say(problem, size, error == -ENOENT ? STATUS_NOT_FOUND : STATUS_IO_FAILED, path,
                   error == -ENOENT ? "does not exist" : "cannot be read");
    enum status status = manifest_parse(manifest, text, length, path, problem, size);
    free(text);
    return status;
}
