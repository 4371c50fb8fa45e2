/*
 * The console: a page for browsers that shows what the server does. Its files are those of web/, which
 * the build compresses and puts into the program (web/embed.py writes console_files). Any thread may
 * call these functions.
 */
#ifndef LAUD_HTTP_CONSOLE_H
#define LAUD_HTTP_CONSOLE_H

#include "base/text.h"
#include "http/exchange.h"

/* A file in its two forms. An ETag names the version of a form; it has its quotes. */
struct console_file {
    const char *name; /* NULL: the end of the list */
    const char *type;
    struct text plain, packed; /* `packed` is compressed with gzip */
    const char *plain_etag, *packed_etag;
};

/* All files. There are none in a program that was built without the console (-Dconsole=false). */
extern const struct console_file console_files[];

/* The file with this name, or NULL. */
const struct console_file *console_find(struct text name);

/* The page itself. NULL: this program has no console. */
const struct console_file *console_index(void);

/*
 * Answers with the file, in the form that the client takes; or with nothing but its version, if the
 * client has that. `bytes` are those of the request. OK or NO_MEMORY.
 */
enum status console_answer(struct exchange *exchange, const struct console_file *file,
                           const char *bytes);

#endif
