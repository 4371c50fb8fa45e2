/*
 * What a start looks at before it opens or makes any data: the options, the limit of open files, the
 * data directory from outside, the tokens, the ports. `laud serve` begins with it, and `laud config
 * --check` does nothing else, so that both refuse the same.
 */
#ifndef LAUD_CLI_PREPARE_H
#define LAUD_CLI_PREPARE_H

#include "base/files.h"
#include "base/options.h"
#include "net/server.h"

/* I/O threads. */
unsigned prepare_threads(const struct options *options);

/*
 * The exit status so far: EXIT_DONE; EXIT_NOT_UNDERSTOOD: an option has to be changed; EXIT_FAILED: the
 * machine does not allow it at the moment. Then `problem` is one sentence. Bounds the connections and
 * streams of the options by the open files there may be. server_free is due in any case.
 */
int prepare(struct server *server, struct options *options, struct files *files, char *problem,
            size_t size);

/* What the options come to: those that leave the choice to the server get what it chooses. */
void prepare_effective(struct options *options);

#endif
