/*
 * Every user of the machine can see a password on the command line, so the environment may have it
 * instead. The Redis is tried before the data directory is opened or created.
 */
#include "cli/import_redis.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/id.h"
#include "cli/commands.h"
#include "cli/progress_bar.h"

#define TIMEOUT_MS 30000

struct run {
    struct import_redis *redis;
    struct import *import;
    struct store_reader *reader;
    const struct names *names;
    struct store_values values;
    struct redis_report report;
    struct progress_bar progress;
    char what[64];
    bool flushed; /* the store has all reactions that were imported */
};

void import_redis_help(FILE *out)
{
    fputs("With --redis the rows come from a Redis; each pattern says what some of its keys hold:\n"
          "  laud import DIR --redis redis://localhost:6379/0\n"
          "    --pattern 'set:likes:video:{id} -> like video'    users of each item\n"
          "    --pattern 'zset:user:{user}:likes -> like video'  items of each user, with times\n"
          "    --pattern 'hash:counts:{type}:{id}'               counters of each item\n"
          "docs/operations.md describes all of them. Reactions without a time get --time, or the\n"
          "present time. Give a password in the environment, as LAUD_REDIS_PASSWORD: other users\n"
          "of the machine can read the command line.\n"
          "\n",
          out);
}

static int not_understood(const char *problem)
{
    fprintf(stderr, "laud import: %s; see laud import --help\n", problem);
    return EXIT_NOT_UNDERSTOOD;
}

static bool read_patterns(struct import_redis *redis, char *problem, size_t size)
{
    if (redis->pattern_count == 0) {
        snprintf(problem, size, "--redis needs at least one --pattern");
        return false;
    }
    for (size_t i = 0; i < redis->pattern_count; i++)
        if (!redis_pattern_parse(redis->pattern_texts[i], &redis->patterns[i], problem, size))
            return false;
    return redis_patterns_fit(redis->patterns, redis->pattern_count, problem, size);
}

int import_redis_prepare(struct import_redis *redis)
{
    char problem[3 * REDIS_PATTERN_BYTES];
    struct redis_report report;
    struct redis_source *source = &redis->source;
    *source = (struct redis_source){.patterns = redis->patterns,
                                    .pattern_count = redis->pattern_count,
                                    .time_s = redis->time_s,
                                    .timeout_ms = TIMEOUT_MS,
                                    .skip_bad = redis->skip_bad};
    if (!redis_url_parse(redis->url, &source->address, problem, sizeof problem) ||
        !read_patterns(redis, problem, sizeof problem))
        return not_understood(problem);
    const char *password = getenv("LAUD_REDIS_PASSWORD");
    if (password != NULL && source->address.password[0] == '\0') {
        if (strlen(password) >= sizeof source->address.password)
            return not_understood("LAUD_REDIS_PASSWORD is longer than 511 bytes");
        memcpy(source->address.password, password, strlen(password) + 1);
    }
    signal(SIGPIPE, SIG_IGN);
    if (redis_reach(source, &report) == STATUS_OK)
        return EXIT_DONE;
    fprintf(stderr, "laud import: %s\n", report.problem);
    return EXIT_FAILED;
}

static bool tell(void *context, const struct redis_report *report)
{
    struct run *run = context;
    snprintf(run->what, sizeof run->what, "importing, pattern %" PRIu64 " of %" PRIu64,
             report->pass, report->passes);
    uint64_t before = (report->pass - 1) * report->keys_total;
    progress_bar_show_rows(&run->progress, before + report->keys_looked,
                           report->passes * report->keys_total, report->rows);
    return true;
}

/* The number of reactions in the store. It is only asked for after all reactions were handed over. */
static enum status count_reactions(void *context, struct text text, struct text kind,
                                   int64_t *count)
{
    struct run *run = context;
    enum status status = run->flushed ? STATUS_OK : import_flush(run->import);
    run->flushed = status == STATUS_OK;
    *count = 0;
    const char *colon = memchr(text.bytes, ':', text.length);
    size_t length = colon == NULL ? 0 : (size_t)(colon - text.bytes);
    struct store_item read = {.count = 0};
    int type = names_find_type(run->names, text.bytes, length);
    int name = names_find(run->names, kind.bytes, kind.length);
    if (status != STATUS_OK || type < 0 || name < 0 ||
        !id_parse(colon + 1, text.length - length - 1, &read.item.id))
        return status;
    read.item.type = (uint16_t)type;
    run->values.used = 0;
    status = store_read_items(run->reader, NULL, &read, 1, &run->values);
    for (uint32_t i = 0; status == STATUS_OK && i < read.count; i++)
        if (run->values.values[read.first + i].name == name)
            *count = run->values.values[read.first + i].value;
    return status;
}

static void print_trouble(const struct redis_report *report)
{
    if (report->bad_keys + report->bad_rows > 0)
        fprintf(stderr,
                "laud import: bad: %" PRIu64 " keys and %" PRIu64 " members or values, the first: "
                "%s\n",
                report->bad_keys, report->bad_rows, report->first_bad);
    if (report->keys_other > 0)
        fprintf(stderr,
                "laud import: %" PRIu64 " keys begin like a pattern but do not fit it and were "
                "skipped, the first: '%s'\n",
                report->keys_other, report->first_other);
    if (report->fields_left > 0)
        fprintf(stderr, "laud import: %" PRIu64 " fields that no pattern names were skipped\n",
                report->fields_left);
    for (uint64_t i = 0; i < report->differences && i < REDIS_DIFFERENCES; i++)
        fprintf(stderr, "laud import: difference: %s\n", report->difference[i]);
    if (report->compared > 0)
        fprintf(stderr,
                "laud import: %" PRIu64
                " counts were compared with the number of reactions, %" PRIu64
                " differ; the number of reactions is kept\n",
                report->compared, report->differences);
    if (report->cluster)
        fprintf(stderr, "laud import: this was one node of a cluster: import once from each "
                        "master node, because each has only its own keys\n");
}

static void print_summary(const struct run *run, bool complete)
{
    const struct redis_report *report = &run->report;
    struct import_summary summary;
    import_summary(run->import, &summary);
    double seconds = progress_bar_seconds(&run->progress);
    fprintf(stderr,
            "laud import: %" PRIu64 " keys, %" PRIu64 " rows: %" PRIu64
            " changed something, %" PRIu64 " were there already, %" PRIu64
            " were older than a reaction of an exclusive kind; %.1f s, %.0f "
            "rows/s\n",
            report->keys, summary.rows, summary.changed, summary.same, summary.outdone, seconds,
            (double)summary.rows / (seconds > 0 ? seconds : 1));
    print_trouble(report);
    if (!complete)
        fprintf(stderr, "laud import: the import is not complete; importing again changes nothing "
                        "about what is imported already\n");
    else if (report->unused[0] != '\0')
        fprintf(stderr, "laud import: no key fits the pattern '%s'\n", report->unused);
}

/* Everything before a failure is imported all the same. */
static bool run_all(struct run *run)
{
    enum status taken = redis_take_over(&run->redis->source, run->import, &run->report);
    enum status status =
        taken == STATUS_OK ? import_finish(run->import) : import_flush(run->import);
    progress_bar_end(&run->progress);
    if (taken != STATUS_OK)
        fprintf(stderr, "laud import: %s\n", run->report.problem);
    if (taken == STATUS_BAD_ARGUMENT)
        fprintf(stderr, "laud import: --skip-bad skips what is bad, and counts it\n");
    if (status != STATUS_OK && strcmp(run->report.problem, import_problem(run->import)) != 0)
        fprintf(stderr, "laud import: %s\n", import_problem(run->import));
    return taken == STATUS_OK && status == STATUS_OK;
}

int import_redis_run(struct import_redis *redis, struct import *import, struct store_reader *reader,
                     const struct names *names)
{
    struct run *run = calloc(1, sizeof *run);
    if (run == NULL) {
        fprintf(stderr, "laud import: no memory\n");
        return EXIT_FAILED;
    }
    *run = (struct run){.redis = redis, .import = import, .reader = reader, .names = names};
    run->progress = progress_bar_start("laud import", run->what, isatty(2));
    redis->source.tell = tell;
    redis->source.count = count_reactions;
    redis->source.context = run;
    bool complete = run_all(run);
    print_summary(run, complete);
    bool good = complete && run->report.bad_keys + run->report.bad_rows == 0 &&
                run->report.unused[0] == '\0';
    free(run->values.values);
    free(run);
    return good ? EXIT_DONE : EXIT_FAILED;
}
