/*
 * The checks of a start before it opens or creates any data: the options, the limit of open files, the
 * data directory from outside, the tokens, the ports. `laud serve` begins with them, and `laud config
 * --check` does nothing else, so that both refuse the same.
 */
#ifndef LAUD_CLI_PREPARE_H
#define LAUD_CLI_PREPARE_H

#include "base/files.h"
#include "base/options.h"
#include "net/server.h"

/* The number of I/O threads. */
unsigned prepare_threads(const struct options *options);

/*
 * Returns the exit status so far: EXIT_DONE; EXIT_NOT_UNDERSTOOD: an option has to be changed;
 * EXIT_FAILED: the machine does not allow it at the moment. After a failure `problem` is one sentence.
 * The numbers of connections and live streams in the options are lowered to what the limit of open
 * files allows. server_free must be called in any case.
 */
int prepare(struct server *server, struct options *options, struct files *files, char *problem,
            size_t size);

/* Replaces options that let the server choose by the values that it chooses. */
void prepare_effective(struct options *options);

#endif
