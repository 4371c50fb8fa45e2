/*
 * The filters are advanced to the store's position in the same way as at a start. So what is compared
 * with the store is what a server would use.
 */
#include <inttypes.h>

#include "cli/check_store.h"
#include "cli/progress_bar.h"
#include "journal/file/source_file.h"
#include "project/catch_up.h"

enum { WINDOW_EVENTS = 65536 };

static bool tell(void *context, uint64_t done, uint64_t total)
{
    progress_bar_show(context, done, total);
    return true;
}

static enum status follow(struct check_store *check, uint64_t from)
{
    struct progress_bar progress = progress_bar_start(
        "laud check", "advancing the filters to the position of the store", check->bar);
    struct source *source = source_file_open_directory(check->journal_directory,
                                                       store_position(&check->store->applier));
    if (source == NULL)
        return STATUS_NO_MEMORY;
    struct catch_up how = {.window = {.source = source,
                                      .budget = &check->budget,
                                      .events_max = WINDOW_EVENTS,
                                      .comments = {.names = check->names}},
                           .progress = tell,
                           .context = &progress};
    enum status status =
        catch_up_filters(&how, check->filters, from, store_position(&check->store->applier),
                         check->problem, sizeof check->problem);
    progress_bar_end(&progress);
    source_close(source);
    return status;
}

/* MORE: a start would build them again, and `problem` says why. */
static enum status load(struct check_store *check, bool has_journal)
{
    uint64_t position = 0;
    struct progress_bar progress =
        progress_bar_start("laud check", "loading the filters", check->bar);
    enum status status = filters_load(check->filters, check->filter_path, &position, tell,
                                      &progress, check->problem, sizeof check->problem);
    progress_bar_end(&progress);
    if (status == STATUS_NO_MEMORY)
        return status;
    if (status != STATUS_OK)
        return STATUS_MORE;
    fprintf(check->summary, "filters     %s, of position %" PRIu64 "\n", check->filter_path,
            position);
    if (position == store_position(&check->store->applier))
        return STATUS_OK;
    snprintf(check->problem, sizeof check->problem,
             "they were not written at the same time as the store");
    if (position > store_position(&check->store->applier) || !has_journal)
        return STATUS_MORE;
    return follow(check, position) == STATUS_OK ? STATUS_OK : STATUS_MORE;
}

struct comparison {
    struct check_store *check;
    struct progress_bar progress;
    uint64_t rows;
    uint64_t rows_total;
};

static void count_row(struct comparison *comparison)
{
    if (++comparison->rows % WINDOW_EVENTS == 0)
        progress_bar_show(&comparison->progress, comparison->rows, comparison->rows_total);
}

static enum status denied(struct check_store *check, struct item item, const char *what)
{
    char id[LIMIT_ID_TEXT];
    size_t length = id_format(item.id, id);
    const char *type = item.type < names_type_count(check->names)
                           ? names_type(check->names, item.type)->text
                           : "?";
    snprintf(check->problem, sizeof check->problem,
             "the filters say that there is no %s %s:%.*s, but the store has it; remove the file "
             "filters, and the next start builds it again",
             what, type, (int)length, id);
    return STATUS_DAMAGED;
}

static enum status compare_reaction(void *context, const struct store_reaction *reaction)
{
    struct comparison *comparison = context;
    const struct filters *filters = comparison->check->filters;
    count_row(comparison);
    if (!filters_may_have_reaction(filters, reaction->user, reaction->kind, reaction->item) ||
        !filters_may_have_shelf(filters, reaction->user, reaction->kind, reaction->item.type))
        return denied(comparison->check, reaction->item, "a reaction on");
    return STATUS_OK;
}

static enum status compare_item(void *context, const struct store_count *count)
{
    struct comparison *comparison = context;
    count_row(comparison);
    if (!filters_may_have_item(comparison->check->filters, count->item))
        return denied(comparison->check, count->item, "the counters of");
    return STATUS_OK;
}

static enum status compare(struct check_store *check)
{
    struct comparison comparison = {
        .check = check,
        .progress =
            progress_bar_start("laud check", "comparing the filters with the store", check->bar),
        .rows_total = check->report.reactions + check->report.counts,
    };
    struct store_visitor visitor = {
        .reaction = compare_reaction, .count = compare_item, .context = &comparison};
    check->problem[0] = '\0';
    enum status status = store_visit(&check->store->admin, &visitor);
    progress_bar_end(&comparison.progress);
    if (status != STATUS_OK && check->problem[0] == '\0')
        snprintf(check->problem, sizeof check->problem, "cannot read the store: %s",
                 status_sentence(status));
    return status;
}

enum status check_filters(struct check_store *check, const struct journal_report *journal)
{
    enum status status = STATUS_NO_MEMORY;
    check->budget.limit = UINT64_MAX;
    check->filters = filters_new(&check->budget, 0);
    if (check->filters != NULL)
        status = load(check, journal != NULL);
    if (status == STATUS_OK)
        return compare(check);
    if (status == STATUS_NO_MEMORY)
        snprintf(check->problem, sizeof check->problem, "there is no memory for the filters");
    if (status != STATUS_MORE)
        return status;
    fprintf(check->summary, "remark      filters: %s; the next start builds them again\n",
            check->problem);
    return STATUS_OK;
}
