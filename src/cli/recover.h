/*
 * Recovery: the journal is read from its beginning, names and hot tier are rebuilt from it, and it
 * is opened for appending.
 */
#ifndef LAUD_CLI_RECOVER_H
#define LAUD_CLI_RECOVER_H

#include "base/names.h"
#include "base/options.h"
#include "hot/hot.h"
#include "journal/journal.h"

/* NULL: the reason was logged. Says what it replayed, and how far it is if that takes long. */
struct journal *recover(const struct options *options, struct names *names, struct hot *hot);

#endif
