/*
 * Reading comments and subjects from the store, by workers, between load_begin and load_end (load.h): until
 * load_end memory keeps whatever was changed since, so what is in memory is right, and the rest is as it was read.
 */
#ifndef LAUD_HOT_MEMORY_COMMENT_LOAD_H
#define LAUD_HOT_MEMORY_COMMENT_LOAD_H

#include "comment/content.h"
#include "hot/memory/comment_shard.h"
#include "store/store.h"

struct hot_memory;

#define COMMENT_TRIM_MOST 4 /* cells that are evicted for each new one */

/* A comment of the store. The content is in the arena of the reader. */
struct stored_comment {
    uint64_t id; /* in */
    bool found;
    struct comment comment;
    struct kept_bytes content;
};

/* Reads any number of comments. OK, or why not; DAMAGED among others. */
enum status comment_read_stored(struct hot_memory *hot, struct stored_comment *comments,
                                size_t count, struct store_arena *arena);
/* Reads a subject; if it has no row, it is subject_new. */
enum status comment_read_subject(struct hot_memory *hot, struct item item, struct subject *out,
                                 bool *found);

/* Something that a decision needs and that is not in memory. */
#define NEEDED_COMMENTS 3
struct comment_needed {
    bool subject;
    struct item subject_item;
    uint64_t ids[NEEDED_COMMENTS];
    uint32_t id_count;
    struct item items[NEEDED_COMMENTS]; /* whose counters are needed */
    uint32_t item_count;
};

/* What was read for it: the comments, their roots, and the subject. */
#define READS_MAX (2 * NEEDED_COMMENTS)
struct comment_reads {
    struct stored_comment comments[READS_MAX];
    uint32_t count;
    bool has_subject;
    bool subject_found;
    struct subject subject;
    struct store_arena arena;
};

enum status comment_read_needed(struct hot_memory *hot, const struct comment_needed *needed,
                                struct comment_reads *reads);

/* Puts it into memory, under the lock of the shard. False: no memory. */
bool comment_cache_reads(struct hot_memory *hot, struct comment_shard *shard,
                         const struct comment_reads *reads);

/* The key of a comment or subject for load_claim. */
uint64_t comment_claim(const struct hot_memory *hot, struct item item);

/* Under the lock of the shard: evicts some cells, if comments use more memory than they may. */
void comment_trim(struct hot_memory *hot, struct comment_shard *shard);
uint64_t comment_cell_hash(const struct hot_memory *hot, const struct kept_cell *cell);

#endif
