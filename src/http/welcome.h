/*
 * The page at "/": what this server is, where its descriptions and probes are, and a first request. As
 * HTML for a browser, which loads nothing else for it; as JSON for all others. It shows nothing that is
 * secret and works behind a path of a proxy, because its links are relative. Any thread.
 */
#ifndef LAUD_HTTP_WELCOME_H
#define LAUD_HTTP_WELCOME_H

#include "base/buffer.h"
#include "base/status.h"
#include "base/text.h"
#include "net/loop.h"

/* Header fields of the HTML: no script, and nothing from anywhere but its own style. */
extern const char welcome_fields[];

enum status welcome_write(struct loop *loop, struct buffer *out);

/* `host` is what the client calls this server; it is shown if it is a plain name or address. */
enum status welcome_write_html(struct loop *loop, struct text host, struct buffer *out);

#endif
