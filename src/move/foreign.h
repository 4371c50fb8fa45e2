/*
 * Comments of other systems: Artalk's Artrans (JSON), Disqus (XML) and WordPress (WXR, XML). A reader of a format
 * calls a sink for each comment that it finds; threads.h is the sink that imports them.
 *
 * A page becomes an item, and an author becomes a user. Ids that are numbers or UUIDs are kept. Anything else
 * becomes a 64-bit hash, whose highest bit is set, so it is not equal to a number that people count up to.
 *
 * Readers need bounded memory whatever the input is. One thread uses a reader.
 */
#ifndef LAUD_MOVE_FOREIGN_H
#define LAUD_MOVE_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "base/status.h"
#include "base/text.h"

enum foreign_format {
    FOREIGN_ARTRANS,
    FOREIGN_DISQUS,
    FOREIGN_WXR,
    FOREIGN_FORMATS,
};

/* Why a comment is not taken. */
enum foreign_reason {
    FOREIGN_GOOD,
    FOREIGN_SPAM,
    FOREIGN_DELETED,
    FOREIGN_NO_COMMENT, /* a pingback or a trackback */
    FOREIGN_NO_ID,
    FOREIGN_TWICE,
    FOREIGN_NO_PAGE,
    FOREIGN_NO_TIME,
    FOREIGN_EMPTY,
    FOREIGN_TOO_LONG,
    FOREIGN_NO_ROOT,
    FOREIGN_REFUSED, /* by the import, which has a sentence */
    FOREIGN_REASONS,
};

/* One comment. Its texts are UTF-8 and valid during the call. */
struct foreign_comment {
    enum foreign_reason reason; /* GOOD, or why it cannot be taken */
    struct text id;             /* what it is called there */
    struct text parent;         /* the comment that it answers; empty: none */
    struct text page;           /* the key of its page */
    struct id page_id;
    struct id user;
    struct text name; /* of its author */
    struct text link;
    struct text text;
    uint32_t time_s; /* 0: it has none */
    bool pending;
    bool pinned;
    bool page_closed;
    uint64_t votes; /* whose users the source does not name */
    uint64_t line;
};

struct foreign_sink {
    /* OK, or a status that ends reading; then the sink has the sentence. */
    enum status (*comment)(void *context, const struct foreign_comment *comment);
    /* Is called from time to time with the number of bytes that were read; may be NULL. */
    void (*progress)(void *context, uint64_t bytes);
    void *context;
};

/* The most bytes of what a reader keeps of ids, names, links and keys of pages; longer ones are cut. */
#define FOREIGN_FIELD_BYTES 1024

/*
 * Reads a file or a pipe to its end. `site`: of Artrans, the only site whose comments are taken; NULL: the file
 * may have only one. Returns OK; BAD_ARGUMENT: the file is not of this format or damaged, and `problem` is a
 * sentence; IO_FAILED with one; or a status of the sink.
 */
enum status foreign_read(enum foreign_format format, int fd, const char *site,
                         const struct foreign_sink *sink, char *problem, size_t size);

enum status artrans_read(int fd, const char *site, const struct foreign_sink *sink, char *problem,
                         size_t size);
enum status disqus_read(int fd, const struct foreign_sink *sink, char *problem, size_t size);
enum status wxr_read(int fd, const struct foreign_sink *sink, char *problem, size_t size);

/* "artrans", "disqus", "wxr". FOREIGN_FORMATS: it is none. */
const char *foreign_format_text(enum foreign_format format);
enum foreign_format foreign_format_parse(const char *text);

/* A part of a sentence: "24 were not taken: marked as spam". */
const char *foreign_reason_text(enum foreign_reason reason);

/* The id of a page by its key: the key itself if it is an id, otherwise its hash. */
struct id foreign_page_id(struct text key);

/*
 * The user of a comment: `id`, if it is an id and not 0; otherwise a hash of the email, in lower case; otherwise
 * of the account, otherwise of the name.
 */
struct id foreign_user(struct text id, struct text email, struct text account, struct text name);

/* Sets `reason` by what is missing or too long, if there is none yet. `over`: the text was cut. */
void foreign_judge(struct foreign_comment *comment, bool over);

/* The text without spaces and line ends around it. */
struct text foreign_trim(struct text text);

#endif
