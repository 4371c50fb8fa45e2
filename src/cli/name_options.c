#include "cli/name_options.h"

#include <stdio.h>

#include "base/name_lists.h"
#include "hot/exclusive.h"

static struct name_lists lists_of(const struct options *options)
{
    return (struct name_lists){.texts = {[NAME_TYPE] = options->types,
                                         [NAME_KIND] = options->kinds,
                                         [NAME_COUNTER] = options->counters}};
}

bool name_options_check(const struct options *options, char *problem, size_t size)
{
    char sentence[256];
    struct name_lists lists = lists_of(options);
    if (name_lists_check(&lists, problem, size) != STATUS_OK)
        return false;
    if (exclusive_check(options->exclusive, &lists, sentence, sizeof sentence) == STATUS_OK)
        return true;
    snprintf(problem, size, "exclusive = %s: %s", options->exclusive, sentence);
    return false;
}

bool name_options_apply(const struct options *options, struct names *names, char *problem,
                        size_t size)
{
    struct name_lists lists = lists_of(options);
    return names_set_lists(names, &lists, problem, size) == STATUS_OK;
}
