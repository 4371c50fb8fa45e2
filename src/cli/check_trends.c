/*
 * The file of the windowed boards is loaded as a start loads it, and its position is compared with
 * those of the store and the journal. Nothing else has the same information.
 */
#include <inttypes.h>

#include "cli/check_store.h"
#include "trend/trends.h"

static enum status remark(const struct check_store *check, const char *problem)
{
    fprintf(check->summary,
            "remark      trends: %s; the next start begins with empty windowed boards, which are "
            "complete after a week\n",
            problem);
    return STATUS_OK;
}

static enum status check_loaded(const struct check_store *check, struct trends *trends,
                                const struct journal_report *journal)
{
    struct trend_stats stats;
    trends_stats(trends, &stats);
    fprintf(check->summary,
            "trends      %s, of position %" PRIu64 ": %" PRIu32 " boards, %" PRIu64 " items\n",
            check->trend_path, stats.position, stats.boards, stats.items);
    if (stats.position > store_position(&check->store->applier))
        return remark(check, "they are newer than the store");
    if (journal != NULL && stats.position < journal->first)
        return remark(check, "the journal begins after them");
    return STATUS_OK;
}

enum status check_trends(struct check_store *check, const struct journal_report *journal)
{
    struct memory_budget budget = {.limit = UINT64_MAX};
    const struct trend_options options = {.budget = &budget, .memory = UINT64_MAX};
    struct trends *trends = trends_new(&options);
    if (trends == NULL) {
        snprintf(check->problem, sizeof check->problem, "there is no memory for the boards");
        return STATUS_NO_MEMORY;
    }
    enum status status =
        trends_load(trends, check->trend_path, check->problem, sizeof check->problem);
    if (status == STATUS_OK)
        status = check_loaded(check, trends, journal);
    else if (status == STATUS_DAMAGED)
        status = remark(check, check->problem);
    else if (status == STATUS_MORE)
        status = STATUS_OK; /* windowed boards may be switched off */
    trends_free(trends);
    return status;
}
