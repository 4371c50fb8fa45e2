/* What is served at a path and is no operation: probes and descriptions. */
#ifndef LAUD_HTTP_PAGE_H
#define LAUD_HTTP_PAGE_H

#include "base/buffer.h"
#include "base/status.h"
#include "http/target.h"
#include "net/loop.h"

struct page {
    const char *path;
    const char *type;
    const char *summary;
    /* Writes the body. Any status but OK is answered as an error; NO_MEMORY too. */
    enum status (*write)(struct loop *loop, struct buffer *out);
    bool open;    /* to those without a token, too */
    bool limited; /* takes as long as many reads, and counts as one of its address */
    /* Writes it for somebody who reads, if the client asks for HTML; NULL: there is one form only. */
    enum status (*write_html)(struct loop *loop, struct text host, struct buffer *out);
    const char *html_fields; /* of the head of that, whole lines */
};

size_t page_count(void);
const struct page *page_get(size_t index);
const struct page *page_find(const struct target *target); /* NULL: none */

#endif
