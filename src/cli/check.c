/*
 * Reads with the same code that replays at start, so what passes here will start, and what does
 * not is refused with the same sentence.
 */
#include "cli/check.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/names.h"
#include "cli/check_dump.h"
#include "journal/file/journal_file.h"

enum { CHECK_CLEAN = 0, CHECK_DAMAGED = 1, CHECK_UNREADABLE = 2 };

#define PROGRESS_NS 1000000000ULL

struct check {
    struct names *names; /* defined so far */
    bool dump;
    uint64_t told_ns; /* when progress was last told */
    FILE *summary;
};

static void check_help(void)
{
    puts("Usage: laud check [--dump] DIR\n"
         "\n"
         "Verifies the data directory DIR without changing it and prints what it found.\n"
         "No server may be running on it.\n"
         "\n"
         "  --dump  print every record as a line of JSON, and the summary to standard error\n"
         "  --help  print this\n"
         "\n"
         "Exit status: 0 clean (a torn tail, which a start cuts off, is reported and clean),\n"
         "1 damaged, 2 not understood or not readable.");
}

static enum status check_visit(void *context, const struct event *event, uint64_t position,
                               size_t size)
{
    struct check *check = context;
    (void)size;
    if (check->dump)
        check_dump(stdout, check->names, event, position);
    return check_names(check->names, event);
}

static void check_progress(void *context, const struct journal_report *report)
{
    struct check *check = context;
    uint64_t now = clock_monotonic_ns();
    if (now - check->told_ns < PROGRESS_NS)
        return;
    check->told_ns = now;
    uint64_t percent =
        report->bytes_total == 0 ? 0 : report->bytes_read * 100 / report->bytes_total;
    fprintf(stderr, "laud check: %" PRIu64 " %%, %" PRIu64 " events\n", percent, report->events);
}

static void print_summary(FILE *out, const char *directory, const struct journal_report *report)
{
    fprintf(out, "journal     %s\n", directory);
    fprintf(out, "segments    %" PRIu64 " (%" PRIu64 " bytes)\n", report->segments,
            report->bytes_total);
    fprintf(out, "events      %" PRIu64 "\n", report->events);
    fprintf(out, "positions   %" PRIu64 " to %" PRIu64 "\n", report->first, report->end);
    fprintf(out, "mark        durable through %" PRIu64 "\n", report->durable_mark);
    if (report->torn_bytes > 0)
        fprintf(out,
                "torn tail   %" PRIu64 " bytes in %s at offset %" PRIu64
                ", not yet durable when it was cut short; a start cuts it off\n",
                report->torn_bytes, report->torn_segment, report->torn_offset);
}

static int check_result(struct check *check, enum status status, const char *directory,
                        const struct journal_report *report)
{
    if (fflush(stdout) != 0) {
        fprintf(stderr, "laud check: cannot write to standard output\n");
        return CHECK_UNREADABLE;
    }
    if (status != STATUS_OK && status != STATUS_DAMAGED) {
        fprintf(stderr, "laud check: %s\n", report->problem);
        return CHECK_UNREADABLE;
    }
    print_summary(check->summary, directory, report);
    fprintf(check->summary, "result      %s\n", status == STATUS_OK ? "clean" : "damaged");
    if (status == STATUS_DAMAGED)
        fprintf(stderr, "laud check: damaged: %s\n", report->problem);
    return status == STATUS_OK ? CHECK_CLEAN : CHECK_DAMAGED;
}

static int check_directory(const char *data, bool dump)
{
    char problem[512];
    char directory[PATH_MAX];
    struct journal_report report;
    struct check check = {
        .names = names_new(),
        .dump = dump,
        .told_ns = clock_monotonic_ns(),
        .summary = dump ? stderr : stdout,
    };
    struct journal_reading reading = {check_visit, check_progress, &check, JOURNAL_FROM_FIRST};
    int lock = lock_take(data, true, problem, sizeof problem);
    if (lock < 0 || check.names == NULL) {
        fprintf(stderr, "laud check: %s\n", lock < 0 ? problem : "not enough memory");
        names_free(check.names);
        return CHECK_UNREADABLE;
    }
    snprintf(directory, sizeof directory, "%s/journal", data);
    enum status status = journal_file_verify(directory, &reading, &report);
    int result = check_result(&check, status, directory, &report);
    names_free(check.names);
    close(lock);
    return result;
}

int check_main(int argc, char **argv)
{
    const char *data = NULL;
    bool dump = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            check_help();
            return CHECK_CLEAN;
        }
        if (strcmp(argv[i], "--dump") == 0) {
            dump = true;
        } else if (argv[i][0] == '-' || data != NULL) {
            fprintf(stderr, "laud check: unexpected argument '%s'; see laud check --help\n",
                    argv[i]);
            return CHECK_UNREADABLE;
        } else {
            data = argv[i];
        }
    }
    if (data == NULL) {
        fprintf(stderr, "laud check: name a data directory; see laud check --help\n");
        return CHECK_UNREADABLE;
    }
    return check_directory(data, dump);
}
