/*
 * What the server does, as JSON: INFO with the histograms of all operations, HOTKEYS and SLOWLOG. The
 * console shows them; anybody else may use them too. Each function appends a whole document. Any thread
 * may call them while the server runs.
 */
#ifndef LAUD_HTTP_FIGURES_H
#define LAUD_HTTP_FIGURES_H

#include "base/buffer.h"
#include "base/status.h"
#include "net/loop.h"

/* The sections of INFO except hot keys, and all operations that were called. OK or NO_MEMORY. */
enum status figures_write_info(struct loop *loop, struct buffer *out);

/* The FIGURES_RANKS hottest items and users. NO_HOTKEYS: they are switched off. */
enum status figures_write_hotkeys(struct loop *loop, struct buffer *out);

/* All entries of the slow log. OK or NO_MEMORY. */
enum status figures_write_slowlog(struct loop *loop, struct buffer *out);

#define FIGURES_RANKS 20

#endif
