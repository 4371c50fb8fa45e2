#include "cli/progress_bar.h"

#include <stdio.h>

#include "base/clock.h"

#define QUIET_NS 1000000000ULL /* nothing is shown before, and so much is between two lines */
#define BAR_NS   100000000ULL  /* between two drawings of the bar */

enum { BAR_CELLS = 30 };

struct progress_bar progress_bar_start(const char *program, const char *what, bool bar)
{
    uint64_t now = clock_monotonic_ns();
    return (struct progress_bar){
        .program = program, .what = what, .started_ns = now, .shown_ns = now, .bar = bar};
}

double progress_bar_seconds(const struct progress_bar *progress)
{
    return (double)(clock_monotonic_ns() - progress->started_ns) / 1e9;
}

static void draw(struct progress_bar *progress, unsigned percent, const char *rest)
{
    char cells[BAR_CELLS + 1] = "";
    for (unsigned i = 0; i < BAR_CELLS; i++)
        cells[i] = i * 100 < percent * BAR_CELLS ? '#' : '.';
    fprintf(stderr, "\r\033[K%s [%s] %3u %%, %s", progress->what, cells, percent, rest);
    progress->drawn = true;
}

static bool is_due(struct progress_bar *progress)
{
    uint64_t now = clock_monotonic_ns();
    if (now - progress->shown_ns < (progress->drawn ? BAR_NS : QUIET_NS))
        return false;
    progress->shown_ns = now;
    return true;
}

static void tell(struct progress_bar *progress, uint64_t done, uint64_t total, const char *rest)
{
    double share = total == 0 ? 0 : (double)done / (double)total;
    unsigned percent = (unsigned)(100 * (share > 1 ? 1 : share));
    if (progress->bar)
        draw(progress, percent, rest);
    else
        fprintf(stderr, "%s: %s: %u %%, %s\n", progress->program, progress->what, percent, rest);
}

void progress_bar_show(struct progress_bar *progress, uint64_t done, uint64_t total)
{
    char rest[32];
    if (!is_due(progress))
        return;
    snprintf(rest, sizeof rest, "%.0f s", progress_bar_seconds(progress));
    tell(progress, done, total, rest);
}

void progress_bar_show_rows(struct progress_bar *progress, uint64_t done, uint64_t total,
                            uint64_t rows)
{
    char rest[96];
    if (!is_due(progress))
        return;
    double seconds = progress_bar_seconds(progress);
    snprintf(rest, sizeof rest, "%.2f M rows, %.0f k/s, %.0f s", (double)rows / 1e6,
             (double)rows / 1e3 / seconds, seconds);
    tell(progress, done, total, rest);
}

void progress_bar_end(struct progress_bar *progress)
{
    if (progress->drawn)
        fputs("\r\033[K", stderr);
    progress->drawn = false;
}
