/*
 * The embedded shape of the server: one process with the hot tier in memory, a journal and a store in
 * one data directory, and a projector between them. These functions take it from the directory to what
 * `net/` serves, and back:
 *
 *   embedded_open    locks the directory, recovers it, starts the threads of the hot tier
 *   server_start …   with what embedded_parts has set. server_stop: writes are refused, replies that wait are
 *                    sent, and every submission is done
 *   embedded_stop    the projector applies what is durable, the threads of the hot tier end, the journal is
 *                    closed
 *   server_free      its connections use the budget, so it comes before embedded_close
 *   embedded_close
 *
 * Only the main thread calls these functions.
 */
#ifndef LAUD_CLI_EMBEDDED_H
#define LAUD_CLI_EMBEDDED_H

#include "cli/backup_stage.h"
#include "cli/data_directory.h"
#include "cli/embedded_metrics.h"
#include "cli/erasure.h"
#include "net/server.h"

struct embedded {
    const struct options *options; /* the caller owns it */
    struct sizes sizes;
    struct memory_budget budget;
    struct exclusive exclusive;
    struct recovered parts;
    struct hot *hot; /* the tier that is served: that of `parts`, or in tests one around it */
    struct projector *projector;
    struct embedded_metrics metrics;
    struct backup_stage stage; /* of backups */
    struct erasure erasure;    /* of texts in the journal */
    int lock;
    bool stopped; /* is_stopping was true before it was open */
};

/*
 * False: the log says why, or `stopped` is true. embedded_stop and embedded_close must be called in
 * any case. `is_stopping` is called from time to time while opening takes long.
 */
bool embedded_open(struct embedded *embedded, const struct options *options,
                   bool (*is_stopping)(void));

/* Sets the members of `*parts` that the embedded shape provides. */
void embedded_parts(struct embedded *embedded, struct server_parts *parts);

/* Does periodic work. To be called about once a second. */
void embedded_turn(struct embedded *embedded);

/* `code` is the exit status so far; returns the final one. The log says how the stop went. */
int embedded_stop(struct embedded *embedded, int code);
void embedded_close(struct embedded *embedded);

#endif
