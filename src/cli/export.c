#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "cli/commands.h"
#include "cli/data_directory.h"
#include "cli/flags.h"
#include "cli/progress_bar.h"
#include "move/export.h"

struct exporting {
    struct offline offline;
    const char *path; /* NULL: standard output */
    char part[PATH_MAX];
    int fd;
    struct progress_bar progress;
    struct export_report report;
};

static void export_help(void)
{
    fputs(
        "Usage: laud export DIR [FILE] [--option VALUE] ...\n"
        "\n"
        "Writes all names, reactions, counters and comments of the data directory DIR as lines of\n"
        "JSON to FILE, or to standard output if FILE is '-' or absent. No server may be running\n"
        "on DIR. FILE appears when it is complete; until then it is called FILE.part. laud import\n"
        "reads it: an export that is imported into an empty directory and exported again is the\n"
        "same, byte for byte.\n"
        "\n"
        "  {\"define\":\"kind\",\"name\":\"like\"}\n"
        "  {\"user\":\"1\",\"kind\":\"like\",\"item\":\"video:2\",\"time\":1700000000}\n"
        "  {\"item\":\"video:2\",\"counter\":\"view\",\"value\":5}\n"
        "\n"
        "docs/operations.md describes the lines about comments. The counters of kinds of\n"
        "reactions and of comments are not written: they follow from these.\n"
        "\n"
        "A directory on a read-only file system can be exported if the server that used it was\n"
        "stopped cleanly.\n"
        "\n"
        "The options are those of laud serve, from flags, the environment and a file: see laud\n"
        "serve --help. Those about the data directory, the store and memory apply here. DIR can\n"
        "also be given as --data DIR, LAUD_DATA or data = DIR in that file.\n"
        "\n"
        "Exit status: 0 done, 1 failed, 2 bad arguments.\n",
        stdout);
}

static int fails(const char *what, const char *path, int error)
{
    fprintf(stderr, "laud export: cannot %s %s: %s\n", what, path, strerror(error));
    return EXIT_FAILED;
}

static void tell(void *context, uint64_t rows, uint64_t total)
{
    struct exporting *exporting = context;
    progress_bar_show_rows(&exporting->progress, rows, total, rows);
}

static int write_rows(struct exporting *exporting)
{
    const struct recovered *parts = &exporting->offline.parts;
    struct export_report *report = &exporting->report;
    exporting->progress = progress_bar_start("laud export", "exporting", isatty(2));
    const struct export_times times = {.timeline = parts->timeline,
                                       .now_s = (uint32_t)(clock_wall_ms() / 1000)};
    enum status status =
        export_write(parts->store, parts->names, &times, exporting->fd, tell, exporting, report);
    progress_bar_end(&exporting->progress);
    if (status == STATUS_OK)
        return EXIT_DONE;
    if (report->error != 0)
        return fails("write", exporting->path != NULL ? exporting->part : "to standard output",
                     report->error);
    fprintf(stderr, "laud export: the store cannot be read: %s\n", status_sentence(status));
    return EXIT_FAILED;
}

/* Gives the file its final name, and syncs the directory so that the name is on disk too. */
static int publish(const struct exporting *exporting)
{
    char directory[PATH_MAX];
    const char *slash = strrchr(exporting->path, '/');
    int length = slash == NULL ? 1 : slash == exporting->path ? 1 : (int)(slash - exporting->path);
    snprintf(directory, sizeof directory, "%.*s", length, slash == NULL ? "." : exporting->path);
    int result = io_sync("export.sync", exporting->fd);
    if (result == 0)
        result = io_rename("export.rename", exporting->part, exporting->path);
    if (result == 0)
        result = io_sync_directory("export.directory", directory);
    return result == 0 ? EXIT_DONE : fails("write", exporting->path, -result);
}

static int export_to_file(struct exporting *exporting)
{
    if (snprintf(exporting->part, sizeof exporting->part, "%s.part", exporting->path) >=
        (int)sizeof exporting->part)
        return fails("write", exporting->path, ENAMETOOLONG);
    exporting->fd =
        io_open("export.open", exporting->part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (exporting->fd < 0)
        return fails("write", exporting->part, -exporting->fd);
    int code = write_rows(exporting);
    if (code == EXIT_DONE)
        code = publish(exporting);
    else
        io_unlink("export.unlink", exporting->part);
    close(exporting->fd);
    return code;
}

static int export_all(struct exporting *exporting)
{
    char problem[1024];
    enum status found =
        data_directory_find(exporting->offline.options.data, problem, sizeof problem);
    if (found != STATUS_OK) {
        fprintf(stderr, "laud export: %s\n", problem);
        return exit_of(found);
    }
    if (!offline_open_to_read(&exporting->offline))
        return EXIT_FAILED;
    exporting->fd = STDOUT_FILENO;
    int code = exporting->path != NULL ? export_to_file(exporting) : write_rows(exporting);
    const struct export_report *report = &exporting->report;
    if (code == EXIT_DONE)
        fprintf(stderr,
                "laud export: %" PRIu64 " reactions, %" PRIu64 " counters, %" PRIu64
                " comments and %" PRIu64 " names in %.1f s\n",
                report->reactions, report->counters, report->comments, report->names,
                progress_bar_seconds(&exporting->progress));
    if (code == EXIT_DONE && report->future > 0)
        fprintf(stderr,
                "laud export: %" PRIu64
                " reactions have a time that is ahead of the clock; they are written with the time "
                "at which the clock was corrected, or with the present time\n",
                report->future);
    offline_close(&exporting->offline);
    return code;
}

int export_main(int argc, char **argv)
{
    char problem[1024];
    bool help = false;
    const char *words[2] = {NULL, NULL};
    struct exporting *exporting = calloc(1, sizeof *exporting);
    if (exporting == NULL)
        return EXIT_FAILED;
    int code = EXIT_NOT_UNDERSTOOD;
    int left = argc - 1;
    struct options *options = &exporting->offline.options;
    if (!flags_take(NULL, 0, &left, argv + 1, words, 2, problem, sizeof problem) ||
        !options_read(options, left, argv + 1, &help, problem, sizeof problem) ||
        (!help && !flags_take_directory(options, words, &exporting->path, problem, sizeof problem)))
        fprintf(stderr, "laud export: %s; see laud export --help\n", problem);
    else if (help) {
        export_help();
        code = EXIT_DONE;
    } else {
        code = export_all(exporting);
    }
    free(exporting);
    return code;
}
