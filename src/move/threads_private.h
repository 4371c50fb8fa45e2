/*
 * The internals of threads.h: threads.c gathers entries and puts them in order, threads_spool.c keeps the comments in a temporary
 * file, threads_import.c imports them.
 */
#ifndef LAUD_MOVE_THREADS_PRIVATE_H
#define LAUD_MOVE_THREADS_PRIVATE_H

#include "base/limits.h"
#include "move/threads.h"

#define THREADS_NONE UINT32_MAX

/* A comment in memory. */
struct thread_entry {
    uint64_t id;     /* hash of its id there */
    uint64_t parent; /* hash of the comment that it answers; 0: none */
    uint64_t offset; /* in the temporary file */
    uint64_t made;   /* the id of the imported comment; 0: it was not imported */
    struct id page;
    uint32_t line;
    uint32_t time_s;
    uint32_t
        order_s;    /* the time by which it is sorted: not before that of the comment it answers */
    uint32_t up;    /* the entry that it answers, or THREADS_NONE */
    uint32_t root;  /* the entry of its root */
    uint32_t depth; /* under its root; 0: it is the root */
    uint8_t reason; /* enum foreign_reason */
    bool pending, pinned, closed;
    bool needed; /* it is taken, or others that are taken answer it */
};

struct spool {
    int fd;
    char *buffer;
    size_t used;
    uint64_t written; /* bytes that are in the file already */
};

/* What the temporary file has of a comment. Texts point into the spool's buffer for reading. */
struct spooled {
    struct id user;
    struct text id, name, link, page, text;
};

struct threads {
    struct threads_options options;
    struct spool spool;
    char *reading; /* room for one comment of the spool */
    struct thread_entry *entries;
    size_t count, room;
    uint32_t *slots; /* hash table by id: 1 + the index of an entry; 0: empty */
    size_t slot_count;
    uint32_t *sorted; /* indices of the entries that are needed, in the order of the import */
    size_t sorted_count;
    struct threads_report report;
    char *problem;
    size_t size;
};

/* The most bytes of a comment in the temporary file. */
#define SPOOL_COMMENT_BYTES (16 + 5 * 4 + 4 * FOREIGN_FIELD_BYTES + LIMIT_COMMENT_TEXT)

/* 0, or -errno. */
int spool_open(struct spool *spool, const char *directory);
void spool_close(struct spool *spool);
int spool_add(struct spool *spool, const struct foreign_comment *comment, uint64_t *offset);
int spool_flush(struct spool *spool);
/* Reads a comment into `room`, which has SPOOL_COMMENT_BYTES. */
int spool_read(const struct spool *spool, uint64_t offset, char *room, struct spooled *out);

/* Finds roots and puts the entries in order. OK or NO_MEMORY. */
enum status threads_sort(struct threads *threads);

/* Counts a comment that is not taken. */
void threads_leave(struct threads *threads, const struct thread_entry *entry, struct text id,
                   enum foreign_reason reason, const char *sentence);

#endif
