#include "cli/import_foreign.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/names.h"
#include "cli/commands.h"
#include "comment/comment.h"

#define TYPE_USUAL   "page"
#define MEMORY_USUAL GIB(1) /* for entries, if --max-memory is not given */

void import_foreign_help(FILE *out)
{
    fputs("With --format artrans, disqus or wxr the comments of another system are imported from "
          "FILE:\n"
          "Artalk's Artrans (JSON), the XML that Disqus exports, or that of WordPress (WXR).\n"
          "  laud import DIR comments.xml --format disqus --type post --dry-run\n"
          "Each page becomes an item of the type --type, and each author a user; `extra` of a "
          "comment\n"
          "has what they were called. docs/operations.md says how. The report at the end says what "
          "was\n"
          "not taken, and why.\n"
          "\n",
          out);
}

int import_foreign_check(struct import_foreign *foreign)
{
    if (foreign->type == NULL)
        foreign->type = TYPE_USUAL;
    size_t length = strlen(foreign->type);
    if (!name_is_valid(foreign->type, length) || strcmp(foreign->type, COMMENT_TYPE_NAME) == 0) {
        fprintf(stderr,
                "laud import: --type is the type of an item, such as page: a letter a-z, then "
                "letters, digits, '_' and '-', at most 32 in all, and not '" COMMENT_TYPE_NAME
                "'; not '%.40s'\n",
                foreign->type);
        return EXIT_NOT_UNDERSTOOD;
    }
    if (foreign->site != NULL && foreign->format != FOREIGN_ARTRANS) {
        fprintf(stderr, "laud import: --site goes with --format artrans\n");
        return EXIT_NOT_UNDERSTOOD;
    }
    return EXIT_DONE;
}

static void tell(void *context, bool importing, uint64_t done)
{
    struct import_foreign *foreign = context;
    const struct threads_report *report = threads_report(foreign->threads);
    if (importing)
        progress_bar_show_rows(&foreign->progress, done, report->read, done);
    else
        progress_bar_show_rows(&foreign->progress, done, foreign->bytes, report->read);
}

/* The temporary file needs about as much room as the file itself. */
static const char *spool_directory(const struct options *options)
{
    struct stat status;
    const char *temporary = getenv("TMPDIR");
    if (stat(options->data, &status) == 0 && S_ISDIR(status.st_mode) &&
        access(options->data, W_OK) == 0)
        return options->data;
    return temporary != NULL && temporary[0] == '/' ? temporary : "/tmp";
}

int import_foreign_read(struct import_foreign *foreign, int fd, const char *name,
                        const struct options *options)
{
    char problem[512];
    const struct threads_options how = {
        .format = foreign->format,
        .directory = spool_directory(options),
        .type = foreign->type,
        .memory_most = options->max_memory != 0 ? options->max_memory / 4 : MEMORY_USUAL,
        .progress = tell,
        .context = foreign};
    foreign->progress = progress_bar_start("laud import", "reading", isatty(2));
    foreign->threads = threads_new(&how, problem, sizeof problem);
    enum status status = STATUS_NO_MEMORY;
    if (foreign->threads != NULL)
        status = threads_read(foreign->threads, fd, foreign->site, problem, sizeof problem);
    progress_bar_end(&foreign->progress);
    if (status == STATUS_OK)
        return EXIT_DONE;
    fprintf(stderr, "laud import: %s: %s; nothing was imported\n", name, problem);
    return EXIT_FAILED;
}

static void print_left(const struct threads_report *report)
{
    for (unsigned reason = 0; reason < FOREIGN_REASONS; reason++) {
        const struct threads_left *left = &report->left[reason];
        if (left->count == 0)
            continue;
        fprintf(stderr, "laud import: %" PRIu64 " not taken: %s; the first: '%s' at line %" PRIu64,
                left->count, foreign_reason_text((enum foreign_reason)reason), left->id,
                left->line);
        fprintf(stderr, left->sentence[0] != '\0' ? ": %s\n" : "%s\n", left->sentence);
    }
}

static void print_notes(const struct threads_report *report)
{
    if (report->placeholders > 0)
        fprintf(stderr,
                "laud import: %" PRIu64 " of them are deleted comments without text, because "
                "others answer them\n",
                report->placeholders);
    if (report->deep > 0)
        fprintf(stderr,
                "laud import: %" PRIu64 " replies to replies are replies of their root now, which "
                "say what they answer\n",
                report->deep);
    if (report->orphans > 0)
        fprintf(stderr,
                "laud import: %" PRIu64 " answered a comment that is not in the file, and are "
                "roots now\n",
                report->orphans);
    if (report->voted > 0)
        fprintf(stderr,
                "laud import: %" PRIu64 " comments have %" PRIu64 " votes, which are not taken: a "
                "like is a reaction of a user, and the file does not say whose they are\n",
                report->voted, report->votes);
    if (report->pins_left > 0)
        fprintf(stderr, "laud import: %" PRIu64 " comments could not be pinned\n",
                report->pins_left);
    if (report->modes_left > 0)
        fprintf(stderr,
                "laud import: %" PRIu64 " pages were closed there, but have another mode here, "
                "which they keep\n",
                report->modes_left);
}

static void print_report(const struct import_foreign *foreign, bool dry)
{
    const struct threads_report *report = threads_report(foreign->threads);
    fprintf(stderr,
            "laud import: %" PRIu64 " comments read; %" PRIu64 " %s on %" PRIu64 " pages, %" PRIu64
            " were there already, %" PRIu64 " were not taken; %.1f s\n",
            report->read, report->taken, dry ? "would be taken" : "taken", report->pages,
            report->same, threads_left(report), progress_bar_seconds(&foreign->progress));
    print_notes(report);
    print_left(report);
}

/* Spam, deleted and empty comments and pingbacks are left on purpose. */
static bool is_complete(const struct threads_report *report)
{
    for (unsigned reason = 0; reason < FOREIGN_REASONS; reason++)
        if (reason != FOREIGN_SPAM && reason != FOREIGN_DELETED && reason != FOREIGN_NO_COMMENT &&
            reason != FOREIGN_EMPTY && report->left[reason].count > 0)
            return false;
    return true;
}

int import_foreign_run(struct import_foreign *foreign, struct import *import)
{
    char problem[512] = "";
    foreign->progress.what = "importing";
    enum status status = threads_import(foreign->threads, import, problem, sizeof problem);
    if (status == STATUS_OK && import != NULL) {
        status = import_finish(import);
        snprintf(problem, sizeof problem, "%s", import_problem(import));
    }
    progress_bar_end(&foreign->progress);
    print_report(foreign, import == NULL);
    if (status != STATUS_OK) {
        fprintf(stderr,
                "laud import: %s\nlaud import: the import is not complete; importing the file "
                "again changes nothing about what is imported already\n",
                problem);
        return EXIT_FAILED;
    }
    return is_complete(threads_report(foreign->threads)) ? EXIT_DONE : EXIT_FAILED;
}

void import_foreign_free(struct import_foreign *foreign)
{
    threads_free(foreign->threads);
    foreign->threads = NULL;
}
