#include "cli/reload.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "cli/comment_options.h"

#define RELOADED "limit-" /* the beginning of the names of all options that are read again */

static void tell_what_stays(const struct options *started, const struct options *read)
{
    const char *name;
    char before[OPTION_TEXT_MAX], now[OPTION_TEXT_MAX];
    for (size_t i = 0; options_get(started, i, &name, before); i++) {
        bool reloaded =
            strncmp(name, RELOADED, strlen(RELOADED)) == 0 && i != OPTIONS_INDEX_limit_memory;
        if (!reloaded && options_get(read, i, &name, now) && strcmp(before, now) != 0)
            log_warn("reload: %s = %s takes effect at the next start; a reload changes only limits",
                     name, now);
    }
}

static void set_limits(struct server *server, const struct options *started,
                       const struct options *read)
{
    struct limit_rates rates;
    limits_rates_of(read, &rates);
    if (!limits_set(&server->limits, &rates, started->limit_memory)) {
        log_error(
            "reload: there is no memory for the table of limits; the limits stay as they are");
        return;
    }
    log_info("reload: the limits are read again (%s); nothing else has changed",
             limits_active(&server->limits) == 0 ? "all off"
             : rates.dry_run                     ? "a dry run"
                                                 : "on");
}

void reload(struct server *server, struct comment_policy *comments, const struct options *started,
            int argc, char **argv)
{
    comment_options_reload(comments);
    char problem[512] = "no memory";
    bool help = false;
    struct options *read = malloc(sizeof *read);
    if (read == NULL || !options_read(read, argc, argv, &help, problem, sizeof problem)) {
        log_error("reload: %s; the limits stay as they are", problem);
    } else {
        tell_what_stays(started, read);
        set_limits(server, started, read);
    }
    free(read);
}
