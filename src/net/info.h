/*
 * INFO and METRICS. INFO shows the metrics of the server in sections of name:value lines, as users of
 * Redis expect them. METRICS shows all of them in the text format of Prometheus. Any thread may call
 * these functions while the server runs.
 */
#ifndef LAUD_NET_INFO_H
#define LAUD_NET_INFO_H

#include "base/buffer.h"
#include "base/text.h"
#include "net/server.h"

/* Adds the sources of net/ itself to `server->parts.sources`. server_start calls it once. */
void info_add_sources(struct server *server);

/*
 * Appends the sections that are named, or all sections if `count` is 0. Hot keys are shown only if
 * `hotkeys` is true, because not every client may see them. False: there was no memory.
 */
bool info_write(struct server *server, const struct text *sections, uint32_t count, bool hotkeys,
                struct buffer *out);

/* Fills `out` with all metrics, for a face that writes them in a form of its own. */
void info_collect(struct server *server, bool hotkeys, struct metrics *out);

/* Appends all metrics in the text format of Prometheus. False: there was no memory. */
bool info_metrics(struct server *server, struct buffer *out);

/* The resident memory of the process in bytes, as the kernel counts it. 0: it cannot be read. */
uint64_t info_resident_bytes(void);

#endif
