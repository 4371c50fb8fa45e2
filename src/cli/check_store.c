/*
 * Every step runs even if the one before found damage, because whoever has to decide what to restore
 * wants to see everything that is wrong.
 */
#include "cli/check_store.h"

#include <inttypes.h>
#include <string.h>

#include "cli/progress_bar.h"
#include "cli/store_names.h"
#include "store/rocksdb/store_rocksdb.h"

static bool set_paths(struct check_store *check, const char *data)
{
    int longest =
        snprintf(check->journal_directory, sizeof check->journal_directory, "%s/journal", data);
    snprintf(check->directory, sizeof check->directory, "%s/store", data);
    snprintf(check->filter_path, sizeof check->filter_path, "%s/filters", data);
    snprintf(check->trend_path, sizeof check->trend_path, "%s/trends", data);
    snprintf(check->boards_path, sizeof check->boards_path, "%s/boards", data);
    return longest < (int)sizeof check->journal_directory;
}

enum status check_store_open(struct check_store *check, const char *data)
{
    if (!set_paths(check, data)) {
        snprintf(check->problem, sizeof check->problem, "the path of the directory is too long");
        return STATUS_IO_FAILED;
    }
    int exists = store_rocksdb_exists(check->directory);
    if (exists < 0) {
        snprintf(check->problem, sizeof check->problem, "cannot examine the store: %s",
                 strerror(-exists));
        return STATUS_IO_FAILED;
    }
    if (exists == 0)
        return STATUS_OK;
    struct store_rocksdb_options options = {.directory = check->directory, .read_only = true};
    check->store = store_rocksdb_open(&options, check->problem, sizeof check->problem);
    if (check->store == NULL)
        return STATUS_DAMAGED;
    enum status status = store_names_restore(&check->store->admin, check->names);
    if (status != STATUS_OK)
        snprintf(check->problem, sizeof check->problem, "cannot read the names in the store: %s",
                 status_sentence(status));
    return status;
}

void check_store_close(struct check_store *check)
{
    filters_free(check->filters);
    if (check->store != NULL)
        store_close(check->store);
}

static void tell_rows(void *context, const struct store_report *report)
{
    progress_bar_show(context, report->rows, report->rows_total);
}

static enum status verify_rows(struct check_store *check)
{
    struct store_report *report = &check->report;
    struct progress_bar progress =
        progress_bar_start("laud check", "verifying the store", check->bar);
    enum status status = store_verify(&check->store->admin, tell_rows, &progress, report);
    progress_bar_end(&progress);
    fprintf(check->summary, "rows        %" PRIu64 "\n", report->rows);
    fprintf(check->summary, "reactions   %" PRIu64 "\n", report->reactions);
    fprintf(check->summary, "counters    %" PRIu64 "\n", report->counts);
    if (status != STATUS_OK)
        snprintf(check->problem, sizeof check->problem, "the store: %s",
                 report->problem[0] != '\0' ? report->problem : status_sentence(status));
    return status;
}

enum status check_store_position(struct check_store *check, const struct journal_report *journal)
{
    uint64_t position = check->store != NULL ? store_position(&check->store->applier) : 0;
    if (journal->first <= position && position <= journal->end)
        return STATUS_OK;
    if (check->store == NULL)
        snprintf(check->problem, sizeof check->problem,
                 "the journal begins at position %" PRIu64
                 ", and there is no store with the events "
                 "before it",
                 journal->first);
    else if (position < journal->first)
        snprintf(check->problem, sizeof check->problem,
                 "the store has reached position %" PRIu64 ", but the journal begins at %" PRIu64
                 ": the events between are missing",
                 position, journal->first);
    else
        snprintf(check->problem, sizeof check->problem,
                 "the store has reached position %" PRIu64 ", but the journal ends at %" PRIu64
                 ": the end of the journal is missing",
                 position, journal->end);
    return STATUS_DAMAGED;
}

enum status check_store_verify(struct check_store *check, const struct journal_report *journal)
{
    if (check->store == NULL) {
        fprintf(check->summary, "store       none\n");
        return STATUS_OK;
    }
    fprintf(check->summary, "store       %s\n", check->directory);
    fprintf(check->summary, "position    %" PRIu64 "\n", store_position(&check->store->applier));
    enum status status = verify_rows(check);
    if (status == STATUS_OK)
        status = check_comments(check);
    if (status == STATUS_OK)
        status = check_trends(check, journal);
    if (status == STATUS_OK)
        status = check_filters(check, journal);
    check_boards(check);
    return status;
}
