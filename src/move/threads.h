/*
 * Imports comments of other systems (foreign.h). They come in any order and with threads of any depth; Laud
 * has two levels, and floors in the order of time. So all comments are first written to a temporary file,
 * with a small entry for each in memory. Then roots are found and everything is sorted, page by page and
 * thread by thread, and only then imported: a reply of any depth becomes a reply of its root that says
 * which comment it answers.
 *
 * A comment that is not taken, such as a deleted one, becomes a deleted comment without text if others answer
 * it. A comment that answers one which is not in the file becomes a root.
 *
 * `extra` of each comment says where it comes from: {"from":"disqus","id":"5","name":"Ana","link":"…",
 * "page":"…"}. Emails and addresses are not kept.
 *
 * One thread uses it.
 */
#ifndef LAUD_MOVE_THREADS_H
#define LAUD_MOVE_THREADS_H

#include "move/foreign.h"
#include "move/import.h"

struct threads;

struct threads_options {
    enum foreign_format format;
    const char *directory; /* for the temporary file, which has no name any more once it is open */
    const char *type;      /* of the items that pages become */
    size_t memory_most;    /* bytes for entries */
    void (*progress)(void *context, bool importing, uint64_t done); /* bytes, then comments */
    void *context;
};

#define THREADS_SHOWN TEXT_SHOWN

struct threads_left {
    uint64_t count;
    uint64_t line; /* of the first one */
    char id[THREADS_SHOWN];
    char sentence[256]; /* of FOREIGN_REFUSED: why the first one was refused */
};

struct threads_report {
    uint64_t read;  /* comments in the file */
    uint64_t pages; /* with comments that were taken */
    uint64_t taken; /* comments that are new, or that would be if nothing is imported */
    uint64_t same;  /* comments that were there already */
    uint64_t
        placeholders; /* of both, those that are deleted and only hold their replies together */
    uint64_t deep;    /* replies to replies */
    uint64_t orphans; /* answers to comments that are not in the file */
    uint64_t voted, votes; /* comments with votes whose users the file does not name */
    uint64_t pins_left;    /* comments that were pinned there and are not here */
    uint64_t modes_left;   /* closed pages whose subject has another mode here */
    struct threads_left left[FOREIGN_REASONS]; /* those that were not taken */
};

/* NULL: `problem` has a sentence. */
struct threads *threads_new(const struct threads_options *options, char *problem, size_t size);
void threads_free(struct threads *threads); /* NULL is fine */

/*
 * Reads a file. OK, or a status as foreign_read; `problem` has a sentence then.
 */
enum status threads_read(struct threads *threads, int fd, const char *site, char *problem,
                         size_t size);

/*
 * Imports what was read. `import` may be NULL: then it is only counted what would be taken into an empty
 * directory. OK, or a status of the import that ends it, with a sentence.
 */
enum status threads_import(struct threads *threads, struct import *import, char *problem,
                           size_t size);

const struct threads_report *threads_report(const struct threads *threads);

/* The comments that were not taken. */
uint64_t threads_left(const struct threads_report *report);

#endif
