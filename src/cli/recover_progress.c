/* Logs the progress of a start, and its failure. */
#include "base/clock.h"
#include "base/log.h"
#include "cli/recover_private.h"

#define PROGRESS_NS 1000000000ULL

struct recover_progress recover_progress(struct recovered *r, const char *what)
{
    uint64_t now = clock_monotonic_ns();
    return (struct recover_progress){.r = r, .what = what, .started_ns = now, .logged_ns = now};
}

double recover_progress_seconds(const struct recover_progress *progress)
{
    return (double)(clock_monotonic_ns() - progress->started_ns) / 1e9;
}

bool recover_progress_is_due(struct recover_progress *progress)
{
    uint64_t now = clock_monotonic_ns();
    if (now - progress->logged_ns < PROGRESS_NS)
        return false;
    progress->logged_ns = now;
    return true;
}

double recover_percent(uint64_t done, uint64_t total)
{
    return total == 0 ? 0.0 : 100.0 * (double)done / (double)total;
}

bool recover_progress_report(void *context, uint64_t done, uint64_t total)
{
    struct recover_progress *progress = context;
    if (recover_progress_is_due(progress))
        log_info("%s: %.0f %%, %.0f s", progress->what, recover_percent(done, total),
                 recover_progress_seconds(progress));
    return !recover_is_stopping(progress->r);
}

/* STOPPING is no failure; whoever asked for the stop logs it. */
void recover_say_failed(const char *what, enum status status, const char *problem)
{
    if (status != STATUS_STOPPING)
        log_error("cannot %s: %s", what, problem[0] ? problem : status_sentence(status));
}
