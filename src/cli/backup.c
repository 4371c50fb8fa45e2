/*
 * `laud backup DIR`: makes a backup of a running server. The server stages its files (backup_stage.h); this
 * command copies them to DIR/NAME.partial, verifies the copy as `laud check` does, writes the manifest, and
 * renames the directory to DIR/NAME as the last step. It can be killed at any point: what is then in DIR does
 * not pass for a backup, and the next backup removes it.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/decimal.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/lock.h"
#include "base/quantity.h"
#include "cli/backup_call.h"
#include "cli/backup_copy.h"
#include "cli/backup_list.h"
#include "cli/backup_tree.h"
#include "cli/check.h"
#include "cli/commands.h"

#define SPEED_WORD "64M"
#define KEEP_MAX   1000000
#define REMOVING   ".removing" /* the ending of a backup that is being removed */

struct backup {
    const char *directory;
    const char *address;
    uint64_t speed;
    uint64_t keep; /* how many backups remain; 0: all */
    bool separate;
    bool check;

    int lock; /* of DIR */
    struct backup_list list;
    struct backup_call call;
    struct copier copier;
    struct manifest manifest;
    struct backup_copy copy;
    char name[BACKUP_NAME_BYTES];
    char partial[PATH_MAX]; /* "": it was not made */
    char data[PATH_MAX];
    char staged[PATH_MAX];
    char problem[512];
};

static void help(void)
{
    puts(
        "Usage: laud backup DIR [--option VALUE] ...\n"
        "\n"
        "Makes a backup of a running server in a new directory of DIR, named by a number and the\n"
        "time, and verifies it as laud check does. The server goes on. Everything that it has\n"
        "acknowledged before is in the backup. Run it on the server's machine, as the user of the\n"
        "server or as root, because it reads the data directory. laud restore restores.\n"
        "\n"
        "Each backup is complete and can be removed by itself. What has not changed since the\n"
        "previous backup in DIR takes no further space (hard links). If DIR is on the same file\n"
        "system as the data, nothing is copied at all, unless you give --copy.\n"
        "\n"
        "  --address HOST:PORT  the server [127.0.0.1:5283]\n"
        "  --keep N             then remove the oldest backups in DIR, so that N remain [all]\n"
        "  --speed SIZE         bytes to read and write a second, so that the server is not\n"
        "                       disturbed; 0: as fast as possible [" SPEED_WORD "]\n"
        "  --copy               copy every file, also on the same file system\n"
        "  --no-check           do not verify the backup\n"
        "  --help               print this text\n"
        "\n"
        "If the server requires tokens, give one with the role admin in the environment, as\n"
        "LAUD_TOKEN. The command can be killed at any time: an incomplete backup has a name that\n"
        "ends in .partial, and the next backup removes it.\n"
        "\n"
        "Exit status: 0 the backup is complete, 1 there is no new backup, 2 bad arguments.");
}

__attribute__((format(printf, 2, 3))) static bool say(struct backup *backup, const char *format,
                                                      ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(backup->problem, sizeof backup->problem, format, arguments);
    va_end(arguments);
    return false;
}

/* Removes what a killed backup has left. */
static int clean_entry(void *context, const char *name)
{
    const struct backup *backup = context;
    char path[PATH_MAX];
    const char *dot = strrchr(name, '.');
    if (dot == NULL || (strcmp(dot, BACKUP_PARTIAL) != 0 && strcmp(dot, REMOVING) != 0))
        return 0;
    int result = tree_join(path, backup->directory, name);
    return result == 0 ? tree_remove(path) : result;
}

static bool open_directory(struct backup *backup)
{
    char journal[PATH_MAX];
    const char *directory = backup->directory;
    int result = io_make_directory("backup.folder", directory, 0700);
    if (result != 0)
        return say(backup, "cannot make %s: %s", directory, strerror(-result));
    if (tree_join(journal, directory, "journal") != 0 || tree_is_directory(journal))
        return say(backup, "%s is a data directory; name another directory for backups", directory);
    backup->lock = io_open("backup.lock", directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (backup->lock < 0)
        return say(backup, "cannot open %s: %s", directory, strerror(-backup->lock));
    if (flock(backup->lock, LOCK_EX | LOCK_NB) < 0)
        return say(backup, "another backup to %s is being made", directory);
    result = tree_list(directory, clean_entry, backup);
    if (result == 0)
        result = backup_list_make(&backup->list, directory);
    return result == 0 || say(backup, "cannot use %s: %s", directory, strerror(-result));
}

/* The newest backup with a good manifest, whose files need not be copied again; NULL: there is none. */
static const struct backup_entry *find_previous(struct backup *backup)
{
    char problem[PATH_MAX + 256];
    for (size_t i = backup->list.count; i-- > 0;) {
        struct backup_entry *entry = &backup->list.entries[i];
        if (backup_list_read(entry, problem, sizeof problem) == STATUS_OK)
            return entry;
        fprintf(stderr, "laud backup: %s\n", problem);
    }
    return NULL;
}

/* Returns the lock on the staged files, or -1. */
static int stage(struct backup *backup)
{
    char path[PATH_MAX], problem[PATH_MAX + 256];
    if (!backup_call_open(&backup->call, backup->address) ||
        !backup_call_stage(&backup->call, backup->staged)) {
        say(backup, "%s", backup->call.problem);
        return -1;
    }
    int lock = lock_take(backup->staged, false, problem, sizeof problem);
    if (lock < 0) {
        say(backup,
            "%.400s; the server has staged its files there: run this command on its machine, as "
            "its user or as root",
            problem);
        return -1;
    }
    if (tree_join(path, backup->staged, MANIFEST_NAME) == 0 &&
        manifest_read(&backup->manifest, path, problem, sizeof problem) == STATUS_OK)
        return lock;
    say(backup, "%s", problem);
    close(lock);
    return -1;
}

static bool make_partial(struct backup *backup)
{
    uint64_t number = 1;
    if (backup->list.count > 0)
        number += backup->list.entries[backup->list.count - 1].number;
    backup_list_name(number, backup->manifest.made_s, backup->name);
    if (snprintf(backup->partial, sizeof backup->partial, "%s/%s" BACKUP_PARTIAL, backup->directory,
                 backup->name) >= PATH_MAX ||
        tree_join(backup->data, backup->partial, BACKUP_DATA) != 0) {
        backup->partial[0] = '\0';
        return say(backup, "the path %s is too long", backup->directory);
    }
    int result = io_make_directory("backup.folder", backup->partial, 0700);
    return result == 0 || say(backup, "cannot make %s: %s", backup->partial, strerror(-result));
}

static bool copy_staged(struct backup *backup)
{
    backup->copy = (struct backup_copy){.staged = backup->staged,
                                        .to = backup->data,
                                        .previous = find_previous(backup),
                                        .separate = backup->separate,
                                        .copier = &backup->copier,
                                        .manifest = &backup->manifest};
    if (!make_partial(backup))
        return false;
    if (!copier_open(&backup->copier, "laud backup", "copying", backup->speed))
        return say(backup, "not enough memory");
    enum status status = backup_copy_run(&backup->copy);
    copier_close(&backup->copier);
    return status == STATUS_OK || say(backup, "%s", backup->copier.problem);
}

static bool verify(struct backup *backup)
{
    if (!backup->check)
        return true;
    FILE *nowhere = fopen("/dev/null", "w");
    if (nowhere == NULL)
        return say(backup, "cannot open /dev/null");
    int result = check_directory(backup->data, false, nowhere);
    fclose(nowhere);
    return result == EXIT_DONE ||
           say(backup, "what was copied is not good, so it was removed; the line before says "
                       "why. Run laud check on the data directory while no server uses it");
}

/* From the last step on it is a backup. */
static bool complete(struct backup *backup)
{
    char path[PATH_MAX], final[PATH_MAX];
    int result = tree_join(path, backup->partial, MANIFEST_NAME);
    if (result == 0)
        result = tree_join(final, backup->directory, backup->name);
    if (result == 0)
        result = manifest_write(&backup->manifest, path);
    if (result == 0)
        result = io_sync_directory("backup.directory", backup->partial);
    if (result == 0)
        result = io_rename("backup.rename", backup->partial, final);
    if (result == 0)
        result = io_sync("backup.directory", backup->lock);
    return result == 0 || say(backup, "cannot complete %s: %s", backup->name, strerror(-result));
}

/* A backup loses its name first, so it never looks complete while its files are being removed. */
static bool remove_oldest(struct backup *backup)
{
    size_t count = backup->list.count + 1; /* with the new one */
    for (size_t i = 0; backup->keep > 0 && count > backup->keep; i++, count--) {
        const char *path = backup->list.entries[i].path;
        char away[PATH_MAX];
        int result =
            snprintf(away, sizeof away, "%s" REMOVING, path) < PATH_MAX ? 0 : -ENAMETOOLONG;
        if (result == 0)
            result = io_rename("backup.rename", path, away);
        if (result == 0)
            result = tree_remove(away);
        if (result != 0)
            return say(backup, "the new backup is complete, but %s cannot be removed: %s", path,
                       strerror(-result));
    }
    return true;
}

/* The staged files are given back before the copy is verified, which may take longer. */
static bool copy_and_end(struct backup *backup)
{
    int lock = stage(backup);
    bool copied = lock >= 0 && copy_staged(backup);
    if (lock >= 0)
        close(lock);
    if (backup->call.fd >= 0)
        backup_call_end(&backup->call);
    backup_call_close(&backup->call);
    return copied;
}

static void print_result(const struct backup *backup)
{
    const struct backup_copy *copy = &backup->copy;
    printf("%s/%s: %zu files, %" PRIu64 " bytes, of which %" PRIu64 " are copied, %" PRIu64
           " are shared with the server and %" PRIu64 " with the previous backup; %s\n",
           backup->directory, backup->name, backup->manifest.count,
           manifest_bytes(&backup->manifest), copy->copied, copy->linked, copy->reused,
           backup->check ? "verified" : "not verified");
}

static int run(struct backup *backup)
{
    copier_be_gentle();
    bool done =
        open_directory(backup) && copy_and_end(backup) && verify(backup) && complete(backup);
    if (done)
        print_result(backup);
    else if (backup->partial[0] != '\0')
        (void)tree_remove(backup->partial); /* the next backup tries it again */
    done = done && remove_oldest(backup);
    if (!done)
        fprintf(stderr, "laud backup: %s\n", backup->problem);
    manifest_free(&backup->manifest);
    backup_list_free(&backup->list);
    if (backup->lock >= 0)
        close(backup->lock);
    return done && fflush(stdout) == 0 ? EXIT_DONE : EXIT_FAILED;
}

/* Takes one option and its value. Returns how many words it took; 0: it is not understood. */
static int take_option(struct backup *backup, int left, char **argv)
{
    const char *value = left > 1 ? argv[1] : NULL;
    char host[CONNECT_HOST_MAX], port[CONNECT_PORT_MAX];
    if (strcmp(argv[0], "--copy") == 0 || strcmp(argv[0], "--no-check") == 0) {
        *(argv[0][2] == 'c' ? &backup->separate : &backup->check) = argv[0][2] == 'c';
        return 1;
    }
    if (value == NULL)
        return 0;
    if (strcmp(argv[0], "--address") == 0 && connect_split(value, host, port)) {
        backup->address = value;
        return 2;
    }
    if (strcmp(argv[0], "--keep") == 0 && decimal_read(text_from(value), KEEP_MAX, &backup->keep) &&
        backup->keep > 0)
        return 2;
    return strcmp(argv[0], "--speed") == 0 &&
                   quantity_parse(QUANTITY_BYTES, value, &backup->speed) == QUANTITY_GOOD
               ? 2
               : 0;
}

int backup_main(int argc, char **argv)
{
    static struct backup backup = {
        .address = "127.0.0.1:5283", .speed = MIB(64), .check = true, .lock = -1, .call.fd = -1};
    for (int at = 1, taken; at < argc; at += taken) {
        taken = 1;
        if (strcmp(argv[at], "--help") == 0 || strcmp(argv[at], "-h") == 0) {
            help();
            return EXIT_DONE;
        }
        if (argv[at][0] == '-')
            taken = take_option(&backup, argc - at, argv + at);
        else if (backup.directory == NULL && argv[at][0] != '\0')
            backup.directory = argv[at];
        else
            taken = 0;
        if (taken == 0) {
            fprintf(stderr, "laud backup: '%s' is not understood here; see laud backup --help\n",
                    argv[at]);
            return EXIT_NOT_UNDERSTOOD;
        }
    }
    if (backup.directory == NULL) {
        fputs("laud backup: name the directory for the backups; see laud backup --help\n", stderr);
        return EXIT_NOT_UNDERSTOOD;
    }
    return run(&backup);
}
