/*
 * `laud restore BACKUP DATA`: makes a data directory from a backup, also as of a point in time. It chooses the
 * backups (restore_choose.h), copies and compares (restore_copy.h), verifies as `laud check` does, and only then
 * puts everything at its final path (restore_target.h).
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/backup_files.h"
#include "cli/check.h"
#include "cli/commands.h"
#include "cli/restore_choose.h"
#include "cli/restore_copy.h"
#include "cli/restore_target.h"

struct restore {
    struct restore_choice choice;
    struct restore_target target;
    struct copier copier;
    bool check;
    uint64_t end;
    char problem[PATH_MAX + 512];
};

static void help(void)
{
    puts("Usage: laud restore BACKUP DATA [--until TIME] [--no-check]\n"
         "\n"
         "Makes the data directory DATA from a backup, and verifies it as laud check does. BACKUP\n"
         "is a directory that laud backup has made, or the directory that has all of them; then "
         "the\n"
         "newest one is restored. DATA must be new or empty. Run it as the user of the server.\n"
         "\n"
         "  --until TIME  restore everything that was recorded up to this time and nothing after\n"
         "                it, as in 2026-11-18T07:02:11Z, 2026-11-18T09:02:11+02:00 or seconds\n"
         "                since 1970. BACKUP is the directory with all backups: the store is from\n"
         "                before that time, and the journal of a later one has the rest\n"
         "  --no-check    do not verify the restored directory\n"
         "  --help        print this text\n"
         "\n"
         "It can be killed at any time: no server starts on an incomplete directory, and the same\n"
         "command then begins again.\n"
         "\n"
         "Exit status: 0 restored, 1 failed, and DATA is as it was, 2 bad arguments.");
}

static bool copy(struct restore *restore)
{
    struct restore_copy work = {
        .choice = &restore->choice, .to = restore->target.folder, .copier = &restore->copier};
    bool opened = copier_open(&restore->copier, "laud restore", "copying", 0);
    enum status status = opened ? restore_copy_run(&work) : STATUS_NO_MEMORY;
    copier_close(&restore->copier);
    restore->end = work.end;
    if (status != STATUS_OK)
        snprintf(restore->problem, sizeof restore->problem, "%s",
                 opened ? restore->copier.problem : "not enough memory");
    return status == STATUS_OK;
}

static bool verify(struct restore *restore)
{
    if (!restore->check)
        return true;
    FILE *nowhere = fopen("/dev/null", "w");
    int result =
        nowhere != NULL ? check_directory(restore->target.folder, false, nowhere) : EXIT_FAILED;
    if (nowhere != NULL)
        fclose(nowhere);
    if (result != EXIT_DONE)
        snprintf(restore->problem, sizeof restore->problem,
                 "what was restored is not good, so it was removed; the line before says why");
    return result == EXIT_DONE;
}

static bool finish(struct restore *restore)
{
    bool finished = restore_target_finish(&restore->target);
    if (!finished)
        snprintf(restore->problem, sizeof restore->problem, "%s", restore->target.problem);
    return finished;
}

static void print_result(const struct restore *restore)
{
    const struct backup_entry *base = restore->choice.base, *journal = restore->choice.journal;
    printf("%s: restored from %s up to position %" PRIu64, restore->target.data, journal->path,
           restore->end);
    if (base == NULL)
        printf(", without a store, which the first start builds from the journal");
    else if (base != journal)
        printf(", with the store of %s", base->path);
    puts(restore->check ? "; verified" : "; not verified");
}

static int run(struct restore *restore)
{
    bool is_bad = false, done = false;
    enum status status =
        restore_choose(&restore->choice, restore->problem, sizeof restore->problem);
    if (status == STATUS_OK && !restore_target_open(&restore->target, &is_bad))
        snprintf(restore->problem, sizeof restore->problem, "%s", restore->target.problem);
    else if (status == STATUS_OK)
        done = copy(restore) && verify(restore) && finish(restore);
    if (status == STATUS_OK)
        restore_target_close(&restore->target);
    if (done)
        print_result(restore);
    else
        fprintf(stderr, "laud restore: %s\n", restore->problem);
    restore_choose_free(&restore->choice);
    if (is_bad)
        return EXIT_NOT_UNDERSTOOD;
    return done && fflush(stdout) == 0 ? EXIT_DONE : EXIT_FAILED;
}

static int not_understood(const char *what, const char *word)
{
    fprintf(stderr, "laud restore: %s '%s'; see laud restore --help\n", what, word);
    return EXIT_NOT_UNDERSTOOD;
}

int restore_main(int argc, char **argv)
{
    static struct restore restore = {.check = true, .target.lock = -1};
    struct restore_choice *choice = &restore.choice;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            help();
            return EXIT_DONE;
        }
        if (strcmp(word, "--no-check") == 0) {
            restore.check = false;
        } else if (strcmp(word, "--until") == 0 && i + 1 < argc) {
            choice->has_until = true;
            if (!restore_time(argv[++i], &choice->until))
                return not_understood("--until expects a time, not", argv[i]);
        } else if (word[0] == '-' || word[0] == '\0' || restore.target.data != NULL) {
            return not_understood("unexpected argument", word);
        } else if (choice->path == NULL) {
            choice->path = word;
        } else {
            restore.target.data = word;
        }
    }
    if (restore.target.data == NULL) {
        fputs("laud restore: name the backup and the new data directory; see laud restore --help\n",
              stderr);
        return EXIT_NOT_UNDERSTOOD;
    }
    return run(&restore);
}
