/*
 * The embedded shape of the server: one process with the hot tier in memory, a journal and a store in
 * one data directory, and a projector between them. This is its life, from the directory to the parts
 * that `net/` serves, and back:
 *
 *   embedded_open    takes the directory, recovers it, starts the tier's threads
 *   server_start …   with embedded_parts; server_stop: writes are refused, replies on their way are
 *                    sent, every submission comes back
 *   embedded_stop    the projector applies what is durable, the tier's threads end, the journal is
 *                    closed
 *   server_free      its connections hold memory of the parts
 *   embedded_close
 *
 * By the main thread.
 */
#ifndef LAUD_CLI_EMBEDDED_H
#define LAUD_CLI_EMBEDDED_H

#include "cli/data_directory.h"
#include "cli/embedded_metrics.h"
#include "net/server.h"

struct embedded {
    const struct options *options; /* the caller's */
    struct sizes sizes;
    struct memory_budget budget;
    struct exclusive exclusive;
    struct recovered parts;
    struct hot *hot; /* the tier that is served: that of `parts`, or in tests one around it */
    struct projector *projector;
    struct embedded_metrics metrics;
    int lock;
    bool stopped; /* it was asked to stop before it was open */
};

/*
 * False: the log says why, or it was `stopped`; embedded_stop and embedded_close are due in any case.
 * `is_stopping` is asked now and then while that takes long.
 */
bool embedded_open(struct embedded *embedded, const struct options *options,
                   bool (*is_stopping)(void));

/* What a server is made of, as far as it comes from here. */
void embedded_parts(struct embedded *embedded, struct server_parts *parts);

/* Every second or so. */
void embedded_turn(struct embedded *embedded);

/* Takes the exit status so far and returns the one that holds; the log says how it ended. */
int embedded_stop(struct embedded *embedded, int code);
void embedded_close(struct embedded *embedded);

#endif
