/*
 * The page at "/": what this server is, where its descriptions and health checks are, and a first
 * request to try. Browsers get HTML that loads nothing else, all other clients get JSON. The page
 * shows nothing secret. Its links are relative, so it also works behind a path of a proxy. Any thread
 * may call these functions.
 */
#ifndef LAUD_HTTP_WELCOME_H
#define LAUD_HTTP_WELCOME_H

#include "base/buffer.h"
#include "base/status.h"
#include "base/text.h"
#include "net/loop.h"

/* Header fields of the HTML: it allows no script, and no style but its own. */
extern const char welcome_fields[];

enum status welcome_write(struct loop *loop, struct buffer *out);

/* `host` is the value of the header Host. It is shown only if it is a plain name or address. */
enum status welcome_write_html(struct loop *loop, struct text host, struct buffer *out);

#endif
