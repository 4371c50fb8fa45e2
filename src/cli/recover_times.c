/*
 * At a start, time continues after everything that was recorded, whatever the clock says. The newest
 * recorded time is found step by step. The steps before the journal is read use the newest time that
 * was found by then.
 */
#include "base/assert.h"
#include "base/log.h"
#include "cli/recover.h"
#include "hot/memory/hot_memory.h"

/* Raises the timeline to `newest_s` and to the newest time in the store. */
void recover_reach_time(struct recovered *r, uint32_t newest_s)
{
    struct store_stats stats = {0};
    if (r->store != NULL)
        store_stats(&r->store->admin, &stats);
    timeline_raise(r->timeline, stats.newest_s > newest_s ? stats.newest_s : newest_s);
    r->now_s = timeline_least(r->timeline);
}

/* All recorded times were found, so time continues after them, whatever the clock says. */
void recover_begin_time(struct recovered *r)
{
    ASSERT(r->hot != NULL);
    hot_memory_raise_time(r->hot, timeline_newest(r->timeline));
    timeline_follow(r->timeline, hot_memory_newest(r->hot));
    timeline_turn(r->timeline);
}

/* Loads the table that converts recorded times to times of the clock. */
bool recover_load_times(struct recovered *r)
{
    const char *data = r->options->data;
    ASSERT(r->timeline == NULL);
    r->timeline = timeline_new(NULL);
    if (r->timeline == NULL)
        return false;
    enum status status = timeline_load(r->timeline, data);
    if (status == STATUS_DAMAGED)
        log_error("%s/" SPANS_NAME
                  " is damaged, or of a later version: restore it from a backup, or remove it. "
                  "Without it, what was recorded while the clock was wrong is shown with another "
                  "time; nothing else is lost",
                  data);
    else if (status != STATUS_OK)
        log_error("%s/" SPANS_NAME " cannot be read", data);
    recover_reach_time(r, r->mark.newest_s);
    return status == STATUS_OK;
}
