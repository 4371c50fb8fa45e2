/* Pages: paths that are no operation, such as health checks and descriptions of the server. */
#ifndef LAUD_HTTP_PAGE_H
#define LAUD_HTTP_PAGE_H

#include "base/buffer.h"
#include "base/status.h"
#include "http/target.h"
#include "net/loop.h"

struct page {
    const char *path;
    const char *type;
    const char *summary; /* NULL: the OpenAPI document does not mention it */
    const char *schema;  /* the schema of its answer in that document */
    /* Appends the body. OK, or the error that is answered, which may be NO_MEMORY. */
    enum status (*write)(struct loop *loop, struct buffer *out);
    bool open;   /* clients without a token may read it */
    bool admins; /* it shows any user and item, so it needs a token of an admin for all types */
    bool
        files; /* it stands for all files of the console; the last segment of the path is the name */
    bool
        limited; /* it costs as much as many reads, so it counts against the limit of the address */
    /* Appends the form for clients that prefer HTML. NULL: there is only one form. */
    enum status (*write_html)(struct loop *loop, struct text host, struct buffer *out);
    const char *html_fields; /* header fields of the HTML form, as whole lines */
};

size_t page_count(void);
const struct page *page_get(size_t index);

/* The page at this path, or NULL. */
const struct page *page_find(const struct target *target);

#endif
