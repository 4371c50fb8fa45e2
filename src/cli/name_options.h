/*
 * What options say about names: --types, --kinds, --counters and --exclusive, for all commands that
 * write to a data directory.
 */
#ifndef LAUD_CLI_NAME_OPTIONS_H
#define LAUD_CLI_NAME_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/names.h"
#include "base/options.h"

/* Is anything wrong with them, whatever the data is? Then `problem` is one sentence. */
bool name_options_check(const struct options *options, char *problem, size_t size);

/*
 * Names are used by these lists from here on; the options, which name_options_check has found good,
 * outlive them. False: the data speaks against it, and `problem` is one sentence.
 */
bool name_options_apply(const struct options *options, struct names *names, char *problem,
                        size_t size);

#endif
