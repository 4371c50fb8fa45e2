/*
 * The options about names: --types, --kinds, --counters and --exclusive, for all commands that write
 * to a data directory.
 */
#ifndef LAUD_CLI_NAME_OPTIONS_H
#define LAUD_CLI_NAME_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/names.h"
#include "base/options.h"

/* Are they valid, whatever the data is? False: `problem` is one sentence. */
bool name_options_check(const struct options *options, char *problem, size_t size);

/*
 * Restricts the names to these lists. name_options_check must have accepted the options, which must
 * outlive `names`. False: the data contradicts the options, and `problem` is one sentence.
 */
bool name_options_apply(const struct options *options, struct names *names, char *problem,
                        size_t size);

#endif
