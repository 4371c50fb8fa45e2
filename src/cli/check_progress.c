#include "cli/check_progress.h"

#include <stdio.h>

#include "base/clock.h"

#define QUIET_NS 1000000000ULL /* at the beginning, and between two lines */
#define BAR_NS   100000000ULL  /* between two drawings of the bar */

enum { BAR_CELLS = 30 };

struct check_progress check_progress_start(const char *what, bool bar)
{
    uint64_t now = clock_monotonic_ns();
    return (struct check_progress){.what = what, .started_ns = now, .told_ns = now, .bar = bar};
}

static void draw(struct check_progress *progress, unsigned percent, double seconds)
{
    char cells[BAR_CELLS + 1] = "";
    for (unsigned i = 0; i < BAR_CELLS; i++)
        cells[i] = i * 100 < percent * BAR_CELLS ? '#' : '.';
    fprintf(stderr, "\r\033[K%s [%s] %3u %%, %.0f s", progress->what, cells, percent, seconds);
    progress->drawn = true;
}

void check_progress_tell(struct check_progress *progress, uint64_t done, uint64_t total)
{
    uint64_t now = clock_monotonic_ns();
    if (now - progress->told_ns < (progress->drawn ? BAR_NS : QUIET_NS))
        return;
    progress->told_ns = now;
    double share = total == 0 ? 0 : (double)done / (double)total;
    unsigned percent = (unsigned)(100 * (share > 1 ? 1 : share));
    double seconds = (double)(now - progress->started_ns) / 1e9;
    if (progress->bar)
        draw(progress, percent, seconds);
    else
        fprintf(stderr, "laud check: %s: %u %%, %.0f s\n", progress->what, percent, seconds);
}

void check_progress_end(struct check_progress *progress)
{
    if (progress->drawn)
        fputs("\r\033[K", stderr);
    progress->drawn = false;
}
