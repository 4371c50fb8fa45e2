/*
 * Reads the rows, one line after another; move/ imports them. A file that was read partly is
 * recognized by its size, its modification time and its beginning.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xxhash.h>

#include "base/clock.h"
#include "base/io.h"
#include "cli/commands.h"
#include "cli/data_directory.h"
#include "cli/flags.h"
#include "cli/import_foreign.h"
#include "cli/import_redis.h"
#include "cli/name_options.h"
#include "cli/progress_bar.h"
#include "move/comment_line.h"
#include "move/import.h"
#include "move/lines.h"
#include "move/row.h"

#define HEAD_BYTES     KIB(64) /* the beginning of a file, by which it is recognized */
#define BAD_SHOWN      10      /* how many bad lines are printed, with --skip-bad */
#define PROGRESS_LINES 4096    /* after so many lines the clock is read again */

struct importing {
    struct offline offline;
    const char *path;   /* NULL: standard input */
    const char *format; /* jsonl, csv, artrans, …; NULL: decided by the name of the file */
    const char *time;   /* the time of reactions that have none, as text; NULL: it was not given */
    uint32_t now_s;
    uint32_t time_s; /* the same as a number; if it was not given, the current time */
    bool skip_bad;
    bool from_start;
    bool future_as_now;
    bool dry_run; /* only read, and report */
    bool is_csv;
    int fd;
    uint64_t bytes; /* the size of the source, if it is a regular file */
    struct move_source source;
    struct import *import;
    struct lines lines;
    uint64_t first_line; /* the number of lines before the first one that was read */
    uint64_t bad;
    struct progress_bar progress;
    struct import_redis redis; /* if it has a URL, the rows come from there */
    struct import_foreign foreign;
};

static void import_help(const struct flag_row *rows, size_t count)
{
    fputs(
        "Usage: laud import DIR [FILE] [--option VALUE] ...\n"
        "       laud import DIR --redis URL --pattern PATTERN ...\n"
        "\n"
        "Adds reactions, counters and comments to the data directory DIR, which is created if\n"
        "absent, from FILE, or from standard input if FILE is '-' or absent. No server may be\n"
        "running on DIR. What DIR has already stays as it is, so an import can be repeated. It "
        "can\n"
        "be interrupted at any time; the same command continues where the last one stopped.\n"
        "\n"
        "FILE has lines of JSON (jsonl), as laud export writes them:\n"
        "  {\"user\":\"1\",\"kind\":\"like\",\"item\":\"video:2\",\"time\":1700000000}\n"
        "  {\"item\":\"video:2\",\"counter\":\"view\",\"value\":5}\n"
        "  {\"define\":\"kind\",\"name\":\"like\"}\n"
        "and those about comments, which docs/operations.md describes;\n"
        "or of CSV, with or without a header:\n"
        "  user,kind,item,time\n"
        "  item,counter,value\n"
        "\n"
        "Times are whole seconds since 1970. A row without a time (in JSON: no time, or null; in\n"
        "CSV: three fields, or an empty fourth one) needs --time. Of several rows of the same\n"
        "reaction the first one counts; of mutually exclusive kinds (--exclusive) the newest row\n"
        "does. A counter is set to the value given. The counter of a kind cannot be set: it is "
        "the\n"
        "number of reactions.\n"
        "\n",
        stdout);
    import_redis_help(stdout);
    import_foreign_help(stdout);
    flags_help(rows, count, stdout);
    fputs("\n"
          "The other options are those of laud serve, from flags, the environment and a file: see\n"
          "laud serve --help. Those about the data directory, the store, memory and kinds count\n"
          "here. DIR can also be given as --data DIR, LAUD_DATA or data = DIR in that file.\n"
          "\n"
          "Exit status: 0 done; 1 failed, or a line was bad; 2 bad arguments.\n",
          stdout);
}

static const char *source_name(const struct importing *importing)
{
    return importing->path != NULL ? importing->path : "standard input";
}

static int fails(const struct importing *importing, const char *what, const char *why)
{
    fprintf(stderr, "laud import: %s %s: %s\n", what, source_name(importing), why);
    return EXIT_FAILED;
}

/* The source of the rows */

static bool has_ending(const char *path, const char *ending)
{
    size_t length = strlen(path), of = strlen(ending);
    return length >= of && strcasecmp(path + length - of, ending) == 0;
}

static bool choose_format(struct importing *importing)
{
    const char *format = importing->format;
    if (format == NULL)
        format = importing->path != NULL && has_ending(importing->path, ".csv") ? "csv" : "jsonl";
    struct import_foreign *foreign = &importing->foreign;
    importing->is_csv = strcmp(format, "csv") == 0;
    foreign->format = foreign_format_parse(format);
    foreign->given = foreign->format < FOREIGN_FORMATS;
    if (foreign->given)
        return import_foreign_check(foreign) == EXIT_DONE;
    if (!importing->is_csv && strcmp(format, "jsonl") != 0) {
        fprintf(stderr,
                "laud import: --format is jsonl, csv, artrans, disqus or wxr, not '%.40s'\n",
                format);
        return false;
    }
    if (foreign->type == NULL && foreign->site == NULL)
        return true;
    fprintf(stderr,
            "laud import: --type goes with --format artrans, disqus or wxr, and --site with "
            "artrans\n");
    return false;
}

/* Reads by what a regular file is recognized. */
static int source_look(struct importing *importing)
{
    struct stat status;
    if (fstat(importing->fd, &status) < 0)
        return -errno;
    if (S_ISDIR(status.st_mode))
        return -EISDIR;
    if (importing->path == NULL || !S_ISREG(status.st_mode))
        return 0;
    char *head = malloc(HEAD_BYTES);
    if (head == NULL)
        return -ENOMEM;
    ssize_t length = io_pread("import.head", importing->fd, head, HEAD_BYTES, 0);
    if (length >= 0) {
        importing->bytes = (uint64_t)status.st_size;
        importing->source =
            (struct move_source){.bytes = importing->bytes,
                                 .changed_ns = (uint64_t)status.st_mtim.tv_sec * 1000000000 +
                                               (uint64_t)status.st_mtim.tv_nsec,
                                 .check = XXH3_64bits(head, (size_t)length)};
    }
    free(head);
    return length < 0 ? (int)length : 0;
}

static int source_open(struct importing *importing)
{
    importing->fd = STDIN_FILENO;
    if (importing->path != NULL)
        importing->fd = io_open("import.open", importing->path, O_RDONLY | O_CLOEXEC, 0);
    int result = importing->fd < 0 ? importing->fd : source_look(importing);
    return result < 0 ? fails(importing, "cannot read", strerror(-result)) : EXIT_DONE;
}

/* The rows */

/* Handles a bad line. True: go on with the next. */
static bool line_is_bad(struct importing *importing, const char *problem)
{
    importing->bad++;
    if (importing->bad <= BAD_SHOWN || !importing->skip_bad) {
        progress_bar_end(&importing->progress);
        fprintf(stderr, "laud import: %s:%" PRIu64 ": %s\n", source_name(importing),
                importing->lines.number, problem);
    }
    if (importing->skip_bad && importing->bad == BAD_SHOWN)
        fprintf(stderr, "laud import: further bad lines are counted, but not shown\n");
    return importing->skip_bad;
}

static enum status comment_take(struct importing *importing, struct text text, char *problem,
                                size_t size)
{
    struct comment_line line;
    enum status status = comment_line_parse(text, &line, problem, size);
    if (status == STATUS_OK && !importing->dry_run) {
        status = comment_line_import(&line, importing->import);
        if (status != STATUS_OK)
            snprintf(problem, size, "%s", import_problem(importing->import));
    }
    comment_line_free(&line);
    return status;
}

static enum status line_take(struct importing *importing, struct text line, char *problem,
                             size_t size)
{
    struct row row;
    enum status status =
        importing->is_csv ? row_parse_csv(line, importing->lines.number == 1, &row, problem, size)
                          : row_parse_json(line, &row, problem, size);
    if (status != STATUS_OK)
        return status;
    if (row.shape == ROW_COMMENT)
        return comment_take(importing, row.line, problem, size);
    if (row.timeless && importing->time == NULL)
        return row_refuse(problem, size,
                          "the row has no time; --time T gives one to all rows that have none");
    if (row.timeless)
        row.time_s = importing->time_s;
    if (importing->dry_run)
        return STATUS_OK;
    status = row_import(&row, importing->import);
    if (status != STATUS_OK)
        snprintf(problem, size, "%s", import_problem(importing->import));
    return status;
}

static void tell(struct importing *importing)
{
    if (importing->lines.number % PROGRESS_LINES == 0)
        progress_bar_show_rows(&importing->progress, importing->lines.offset, importing->bytes,
                               importing->lines.number - importing->first_line);
}

/* OK: all lines were read. BAD_ARGUMENT: a line was bad, and this was printed. */
static enum status take_lines(struct importing *importing)
{
    char problem[512];
    struct lines *lines = &importing->lines;
    for (;;) {
        struct text line;
        if (!importing->dry_run)
            import_place(importing->import, lines->offset, lines->number);
        enum status status = lines_next(lines, &line);
        if (status == STATUS_MORE)
            return STATUS_OK;
        if (status == STATUS_IO_FAILED) {
            fails(importing, "cannot read", strerror(lines->error));
            return status;
        }
        if (status == STATUS_BAD_ARGUMENT)
            snprintf(problem, sizeof problem, "the line is longer than %llu bytes",
                     LIMIT_IMPORT_LINE);
        else
            status = line_take(importing, line, problem, sizeof problem);
        if (status == STATUS_BAD_ARGUMENT) {
            if (!line_is_bad(importing, problem))
                return status;
        } else if (status != STATUS_OK) {
            fails(importing, "stopped in", problem);
            return status;
        }
        tell(importing);
    }
}

static void print_summary(const struct importing *importing, bool complete)
{
    struct import_summary summary;
    import_summary(importing->import, &summary);
    double seconds = progress_bar_seconds(&importing->progress);
    fprintf(stderr,
            "laud import: %" PRIu64 " rows read, %" PRIu64 " changed something, %" PRIu64
            " were there already",
            summary.rows, summary.changed, summary.same);
    if (summary.outdone > 0)
        fprintf(stderr, ", %" PRIu64 " were older than a reaction of an exclusive kind",
                summary.outdone);
    fprintf(stderr, ", %" PRIu64 " lines were bad; %.1f s, %.0f rows/s\n", importing->bad, seconds,
            (double)summary.rows / (seconds > 0 ? seconds : 1));
    if (!complete)
        fprintf(stderr, "laud import: the import is not complete; the rows before that are "
                        "imported, and importing them again changes nothing\n");
}

/* The lines before a bad line are imported all the same. */
static int import_lines(struct importing *importing)
{
    importing->progress = progress_bar_start("laud import", "importing", isatty(2));
    enum status taken = take_lines(importing);
    enum status status =
        taken == STATUS_OK ? import_finish(importing->import) : import_flush(importing->import);
    progress_bar_end(&importing->progress);
    if (status != STATUS_OK && (taken == STATUS_OK || taken == STATUS_BAD_ARGUMENT))
        fails(importing, "stopped in", import_problem(importing->import));
    bool complete = taken == STATUS_OK && status == STATUS_OK;
    print_summary(importing, complete);
    return complete && importing->bad == 0 ? EXIT_DONE : EXIT_FAILED;
}

static int resume(struct importing *importing)
{
    uint64_t offset, line;
    import_resume_place(importing->import, &offset, &line);
    if (offset > 0) {
        fprintf(stderr,
                "laud import: continuing after line %" PRIu64 " of %s, %.0f %% of it; "
                "--from-start reads it from its start\n",
                line, source_name(importing), 100.0 * (double)offset / (double)importing->bytes);
        if (lseek(importing->fd, (off_t)offset, SEEK_SET) < 0)
            return fails(importing, "cannot read", strerror(errno));
    }
    importing->first_line = line;
    if (!lines_start(&importing->lines, importing->fd, offset, line))
        return fails(importing, "cannot read", "no memory");
    int code = import_lines(importing);
    lines_end(&importing->lines);
    return code;
}

/* Only parses the lines. */
static int import_dry(struct importing *importing)
{
    if (!lines_start(&importing->lines, importing->fd, 0, 0))
        return fails(importing, "cannot read", "no memory");
    importing->progress = progress_bar_start("laud import", "reading", isatty(2));
    enum status status = take_lines(importing);
    progress_bar_end(&importing->progress);
    fprintf(stderr,
            "laud import: %" PRIu64 " lines read, %" PRIu64
            " lines were bad; nothing was imported\n",
            importing->lines.number, importing->bad);
    lines_end(&importing->lines);
    return status == STATUS_OK && importing->bad == 0 ? EXIT_DONE : EXIT_FAILED;
}

/* The data directory */

static struct import_options import_options(struct importing *importing)
{
    struct offline *offline = &importing->offline;
    const struct recovered *parts = &offline->parts;
    struct projector_options carry = recover_projector(parts);
    uint32_t recorded_s = timeline_turn(parts->timeline);
    timeline_raise(parts->timeline, recorded_s);
    carry.trends_pass = true;
    return (struct import_options){
        .reader = &parts->store->reader,
        .carry = carry,
        .journal = parts->journal,
        .names = parts->names,
        .directory = offline->options.data,
        .exclusive = offline->options.exclusive,
        .batch_rows = (uint32_t)offline->sizes.window_events,
        .now_s = importing->now_s,
        .recorded_s = recorded_s,
        .future_as_now = importing->future_as_now,
        .timeline = parts->timeline,
        .source = importing->source,
        .from_start = importing->from_start,
    };
}

static int import_rows(struct importing *importing)
{
    const struct recovered *parts = &importing->offline.parts;
    if (importing->foreign.given)
        return import_foreign_run(&importing->foreign, importing->import);
    if (importing->redis.url != NULL)
        return import_redis_run(&importing->redis, importing->import, &parts->store->reader,
                                parts->names);
    return resume(importing);
}

static int import_into(struct importing *importing)
{
    char problem[1024];
    struct offline *offline = &importing->offline;
    enum status found = data_directory_look(offline->options.data, problem, sizeof problem);
    if (found != STATUS_OK) {
        fprintf(stderr, "laud import: %s\n", problem);
        return exit_of(found);
    }
    if (!offline_open(offline, true))
        return EXIT_FAILED;
    struct import_options options = import_options(importing);
    int code = EXIT_FAILED;
    enum status state = timeline_state(offline->parts.timeline);
    snprintf(problem, sizeof problem, "%s", status_sentence(state));
    if (state == STATUS_OK &&
        name_options_apply(&offline->options, offline->parts.names, problem, sizeof problem))
        importing->import = import_open(&options, problem, sizeof problem);
    if (importing->import == NULL) {
        fprintf(stderr, "laud import: %s\n", problem);
    } else {
        code = import_rows(importing);
        import_close(importing->import);
        offline->parts.journal = NULL; /* import_close has closed it */
    }
    offline_close(offline);
    return code;
}

/* A time in the form that rows have, or the word now. A time in the future is refused as a mistake. */
static bool read_time(struct importing *importing)
{
    const char *time = importing->time;
    importing->now_s = (uint32_t)(clock_wall_ms() / 1000);
    importing->time_s = importing->now_s;
    if (time == NULL || strcasecmp(time, "now") == 0)
        return true;
    struct text text = {time, strlen(time)};
    if (row_parse_time(text, &importing->time_s) && importing->time_s > 0 &&
        importing->time_s <= importing->now_s)
        return true;
    fprintf(stderr,
            "laud import: --time is 'now' or a time of the past in seconds since 1970, as in "
            "1700000000, not '%.40s'\n",
            time);
    return false;
}

/* The source is open. A foreign file is read before a data directory is touched. */
static int import_opened(struct importing *importing)
{
    struct import_foreign *foreign = &importing->foreign;
    if (foreign->given) {
        foreign->bytes = importing->bytes;
        int code = import_foreign_read(foreign, importing->fd, source_name(importing),
                                       &importing->offline.options);
        if (code == EXIT_DONE)
            code = importing->dry_run ? import_foreign_run(foreign, NULL) : import_into(importing);
        import_foreign_free(foreign);
        return code;
    }
    return importing->dry_run ? import_dry(importing) : import_into(importing);
}

static int import_file(struct importing *importing)
{
    char problem[1024];
    bool file = importing->path != NULL || importing->format != NULL || importing->from_start;
    const struct import_redis *redis = &importing->redis;
    if (redis->url != NULL ? file : redis->pattern_count > 0) {
        fprintf(stderr, "laud import: --pattern goes with --redis, and a file, --format and "
                        "--from-start do not\n");
        return EXIT_NOT_UNDERSTOOD;
    }
    if (redis->url != NULL && importing->dry_run) {
        fprintf(stderr, "laud import: --dry-run goes with a file, and not with --redis\n");
        return EXIT_NOT_UNDERSTOOD;
    }
    if (!choose_format(importing) || !read_time(importing))
        return EXIT_NOT_UNDERSTOOD;
    if (!name_options_check(&importing->offline.options, problem, sizeof problem)) {
        fprintf(stderr, "laud import: %s\n", problem);
        return EXIT_NOT_UNDERSTOOD;
    }
    importing->redis.time_s = importing->time_s;
    int code =
        redis->url != NULL ? import_redis_prepare(&importing->redis) : source_open(importing);
    if (code == EXIT_DONE)
        code = import_opened(importing);
    if (importing->path != NULL && importing->fd >= 0)
        close(importing->fd);
    return code;
}

int import_main(int argc, char **argv)
{
    char problem[1024];
    bool help = false;
    const char *words[2] = {NULL, NULL}, *pattern = NULL;
    struct importing *importing = calloc(1, sizeof *importing);
    if (importing == NULL)
        return EXIT_FAILED;
    struct import_redis *redis = &importing->redis;
    struct options *options = &importing->offline.options;
    const struct flag_row rows[] = {
        {"pattern", "PATTERN", "what the keys of the Redis hold; may be given up to 16 times",
         &pattern, NULL},
        {"redis", "URL", "redis://[user:password@]host[:port][/database] or unix:///path[?db=N]",
         &redis->url, NULL},
        {"time", "T", "the time of reactions that have none: seconds since 1970, or now",
         &importing->time, NULL},
        {"format", "FORMAT",
         "jsonl, csv, artrans, disqus or wxr [csv if the name of FILE ends in .csv, or else jsonl]",
         &importing->format, NULL},
        {"type", "TYPE", "the type of the items that pages become, with a foreign format [page]",
         &importing->foreign.type, NULL},
        {"site", "NAME", "the site whose comments are imported, with artrans",
         &importing->foreign.site, NULL},
        {"dry-run", NULL, "read FILE and report, and import nothing", NULL, &importing->dry_run},
        {"skip-bad", NULL, "skip bad lines: show the first few of them, and count the others", NULL,
         &importing->skip_bad},
        {"from-start", NULL, "read FILE from its start, also if an import of it was interrupted",
         NULL, &importing->from_start},
        {"future-as-now", NULL, "import rows whose time is in the future with the present time",
         NULL, &importing->future_as_now},
    };
    const size_t count = sizeof rows / sizeof rows[0];
    int code = EXIT_NOT_UNDERSTOOD;
    int left = argc - 1;
    if (!flags_take_each(rows, &left, argv + 1, redis->pattern_texts, REDIS_PATTERNS,
                         &redis->pattern_count, problem, sizeof problem) ||
        !flags_take(rows, count, &left, argv + 1, words, 2, problem, sizeof problem) ||
        !options_read(options, left, argv + 1, &help, problem, sizeof problem) ||
        (!help && !flags_take_directory(options, words, &importing->path, problem, sizeof problem)))
        fprintf(stderr, "laud import: %s; see laud import --help\n", problem);
    else if (help) {
        import_help(rows, count);
        code = EXIT_DONE;
    } else {
        redis->skip_bad = importing->skip_bad;
        code = import_file(importing);
    }
    free(importing);
    return code;
}
