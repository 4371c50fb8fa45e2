/* INFO: what the server is and does, in sections of name:value lines, as Redis users know it. */
#ifndef LAUD_NET_INFO_H
#define LAUD_NET_INFO_H

#include "base/buffer.h"
#include "base/text.h"
#include "net/server.h"

/* The sections named, or all if none is; hot keys only if they may be shown. False: no memory. */
bool info_write(struct server *server, const struct text *sections, uint32_t count, bool hotkeys,
                struct buffer *out);

/* All of it in Prometheus' text format. False: no memory. */
bool info_metrics(struct server *server, struct buffer *out);

/* Memory the process has, as the kernel sees it; 0 where it does not say. */
uint64_t info_resident_bytes(void);

#endif
