/*
 * The directory is read with the same code that a start uses, so a start accepts what passes here. The
 * opposite need not be true: a start reads only what it needs, and does not verify all rows of the
 * store.
 *
 * The store is opened first, because it has the names whose definitions the journal may not have any more.
 */
#include "cli/check.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/names.h"
#include "cli/check_dump.h"
#include "cli/check_store.h"
#include "cli/data_directory.h"
#include "cli/flags.h"
#include "cli/progress_bar.h"
#include "journal/file/journal_file.h"
#include "time/spans.h"

enum { CHECK_CLEAN = 0, CHECK_DAMAGED = 1, CHECK_UNREADABLE = 2 };

struct check {
    struct names *names; /* the names that are defined so far */
    bool names_known;    /* also those whose definitions the journal may not have any more */
    bool has_store;
    bool begun; /* an event was seen */
    bool dump;
    struct progress_bar progress;
    FILE *summary;
};

static void check_help(void)
{
    puts(
        "Usage: laud check [--dump] DIR\n"
        "\n"
        "Verifies the data directory DIR without changing it and prints what it found.\n"
        "No server may be running on it.\n"
        "\n"
        "It checks:\n"
        "  - every record of the journal;\n"
        "  - the store, if there is one: that the counter of each kind is the number of its\n"
        "    reactions, and that the reactions by user and those by item are the same;\n"
        "  - the comments in the store: that counters, lists, orders, queues, inboxes and texts\n"
        "    are what the states of the comments and their votes say;\n"
        "  - that the journal begins where the store ends, or before;\n"
        "  - that the filters have everything that the store has.\n"
        "Files that the next start can build again (filters, boards, windowed boards) count as\n"
        "clean if they are missing, damaged or out of date; then the summary has a remark.\n"
        "A damaged file clock counts as damage, although only shown times depend on it.\n"
        "\n"
        "  --dump  print every record of the journal as a line of JSON, and the summary to\n"
        "          standard error\n"
        "  --help  print this text\n"
        "\n"
        "DIR can also be given as --data DIR, LAUD_DATA or data = DIR in the file of --config.\n"
        "\n"
        "Exit status: 0 clean (also with a torn tail, which is reported, and which the next start\n"
        "cuts off), 1 damaged, 2 bad arguments, or the data cannot be read.");
}

static enum status check_visit(void *context, const struct event *event, uint64_t position,
                               size_t size)
{
    struct check *check = context;
    (void)size;
    if (!check->begun && position > 0 && !check->has_store)
        check->names_known = false;
    check->begun = true;
    if (check->dump)
        check_dump(stdout, check->names, event, position);
    enum status status = check_names(check->names, event);
    return check->names_known ? status : STATUS_OK;
}

static void check_tell(void *context, const struct journal_report *report)
{
    struct check *check = context;
    progress_bar_show(&check->progress, report->bytes_read, report->bytes_total);
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
                ", which was not durable yet: %s; the next start cuts it off\n",
                report->torn_bytes, report->torn_segment, report->torn_offset,
                journal_torn_meaning(report->torn_promise));
}

/* Verifies the journal and prints what was found. */
static enum status check_journal(struct check *check, const char *directory,
                                 struct journal_report *report)
{
    struct journal_reading reading = {check_visit, check_tell, check, JOURNAL_FROM_FIRST};
    check->progress =
        progress_bar_start("laud check", "verifying the journal", !check->dump && isatty(2));
    enum status status = journal_file_verify(directory, &reading, report);
    progress_bar_end(&check->progress);
    if (status == STATUS_OK || status == STATUS_DAMAGED)
        print_summary(check->summary, directory, report);
    return status;
}

/* Damage is worse than something that could not be read. */
static int check_worse(int result, enum status status, const char *problem)
{
    if (status == STATUS_OK)
        return result;
    fprintf(stderr, "laud check: %s%s\n", status == STATUS_DAMAGED ? "damaged: " : "", problem);
    if (status == STATUS_DAMAGED)
        return CHECK_DAMAGED;
    return result == CHECK_DAMAGED ? result : CHECK_UNREADABLE;
}

/* The table of recorded times is checked by itself; nothing else has the same information. */
static enum status check_times(const struct check *check, const char *data)
{
    struct spans spans;
    enum status status = spans_read(data, &spans);
    if (status == STATUS_OK && spans.count > 1)
        fprintf(check->summary,
                "clock       was set back: %" PRIu32 " spans, recorded times are %" PRIu32
                " s ahead of it\n",
                spans.count, spans_offset(&spans));
    return status;
}

static int check_parts(struct check *check, struct check_store *store, const char *data)
{
    struct journal_report journal;
    enum status status = check_store_open(store, data);
    int result = check_worse(CHECK_CLEAN, status, store->problem);
    check->names_known = status == STATUS_OK;
    check->has_store = store->store != NULL;
    enum status read = check_journal(check, store->journal_directory, &journal);
    result = check_worse(result, read, journal.problem);
    if (status == STATUS_OK && read == STATUS_OK)
        result = check_worse(result, check_store_position(store, &journal), store->problem);
    if (status == STATUS_OK) {
        status = check_store_verify(store, read == STATUS_OK ? &journal : NULL);
        result = check_worse(result, status, store->problem);
    }
    result = check_worse(result, check_times(check, data),
                         "the file " SPANS_NAME " is damaged or cannot be read");
    static const char *const words[] = {"clean", "damaged", "not readable"};
    fprintf(check->summary, "result      %s\n", words[result]);
    return result;
}

int check_directory(const char *data, bool dump, FILE *summary)
{
    char problem[1024];
    struct check check = {.names = names_new(), .dump = dump, .summary = summary};
    struct check_store store = {
        .names = check.names, .bar = !dump && isatty(2), .summary = check.summary};
    int lock = data_directory_find(data, problem, sizeof problem) == STATUS_OK
                   ? lock_take(data, true, problem, sizeof problem)
                   : -1;
    if (lock < 0 || check.names == NULL) {
        fprintf(stderr, "laud check: %s\n", lock < 0 ? problem : "not enough memory");
        names_free(check.names);
        return CHECK_UNREADABLE;
    }
    int result = check_parts(&check, &store, data);
    check_store_close(&store);
    names_free(check.names);
    close(lock);
    if (fflush(stdout) != 0) {
        fprintf(stderr, "laud check: cannot write to standard output\n");
        return CHECK_UNREADABLE;
    }
    return result;
}

static int not_understood(const char *problem)
{
    fprintf(stderr, "laud check: %s; see laud check --help\n", problem);
    return CHECK_UNREADABLE;
}

/* Of the server's options only the data directory is used here; any source of options may name it. */
int check_main(int argc, char **argv)
{
    struct options options;
    const char *words[2] = {NULL, NULL}, *file = NULL;
    char problem[1024];
    bool dump = false, help = false;
    const struct flag_row rows[] = {{"dump", NULL, "", NULL, &dump}};
    int left = argc - 1;
    if (!flags_take(rows, sizeof rows / sizeof rows[0], &left, argv + 1, words, 1, problem,
                    sizeof problem) ||
        !options_read(&options, left, argv + 1, &help, problem, sizeof problem))
        return not_understood(problem);
    if (help) {
        check_help();
        return CHECK_CLEAN;
    }
    if (!flags_take_directory(&options, words, &file, problem, sizeof problem))
        return not_understood(problem);
    if (file != NULL) {
        snprintf(problem, sizeof problem, "unexpected argument '%.64s'", file);
        return not_understood(problem);
    }
    return check_directory(options.data, dump, dump ? stderr : stdout);
}
