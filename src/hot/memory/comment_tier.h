/*
 * Comments in the memory tier: what the files comment_*.c share. Decisions about comments are made under the lock
 * of one item shard: a comment has the gene of its subject, so both are in the same shard, and so are their
 * counters. A decision makes one event, which has the new subject, comment, root and content.
 *
 *   comment_cells.c, comment_shard.c   what is in memory
 *   comment_changed.c                  which comments the store may not have in their present form
 *   comment_load.c                     reading from the store
 *   comment_decide.c                   what all decisions have in common
 *   comment_post.c, comment_state.c    the decisions
 *   comment_run.c                      running them on I/O threads and on workers
 *   comment_apply.c                    replay
 *   comment_read.c                     the functions of query/tier.h
 *   comment_keep.c                     the part of the keeper
 */
#ifndef LAUD_HOT_MEMORY_COMMENT_TIER_H
#define LAUD_HOT_MEMORY_COMMENT_TIER_H

#include "comment/body.h"
#include "hot/comments.h"
#include "hot/memory/comment_changed.h"
#include "hot/memory/comment_load.h"
#include "hot/memory/comment_shard.h"
#include "query/tier.h"

struct hot_memory;
struct item_shard;

/* The comments of the whole tier, a member of struct hot_memory. All zero without a store. */
struct comment_tier {
    struct names *names;        /* for the type `comment`; NULL: it exists already */
    struct comment_gene *genes; /* GENE_COUNT of them */
    struct kept_budget kept;
    uint64_t first_ms; /* ids that the store has are not later than these milliseconds */
};

/* Opening and closing, for hot_memory.c. False: no memory, or the store cannot be read. */
struct hot_memory_options;
bool comments_begin(struct hot_memory *hot, const struct hot_memory_options *options);
void comments_end(struct hot_memory *hot);

/*
 * One decision, from the first look at the state to its event. It begins with what is there: step_find sets both the
 * state before and `body`, whose members the decision then changes.
 */
struct comment_step {
    struct hot_memory *hot;
    struct item_shard *shard;
    struct comment_gene *gene;
    uint32_t gene_number;
    uint32_t time_s;                   /* the recorded time of the decision */
    struct id user;                    /* who acts; all zero: a moderator */
    const struct hot_detail *detail;   /* of the request; NULL: there is none */
    const struct comment_reads *reads; /* what a worker has read; NULL: nothing */
    struct comment_needed needed;      /* out: what has to be read, if the status is BLOCKED */
    size_t reserved;    /* bytes of the journal that a worker has reserved; 0: none */
    bool wants_journal; /* out: BLOCKED because the journal has no room */
    bool appended;      /* out: the event was recorded, at the expense of `reserved` */

    /* Is called under the lock when the event was recorded, with the context of the decision; may be NULL. */
    void (*recorded)(const struct comment_step *step, void *context);

    enum comment_event kind;  /* 0: nothing changes */
    struct comment_body body; /* the state after; its has_… say what the event contains */
    struct subject subject;   /* the state before */
    struct comment comment;
    struct comment root;
    uint32_t subject_cell;
    uint32_t comment_cell; /* 0: the comment is new, or there is none */
    uint32_t root_cell;    /* 0: the comment is a root */
    bool fresh;            /* the subject had no row and no event before */
    uint8_t content;       /* enum kept_content: where the content is before */
    uint64_t pinned;       /* the comment that was pinned or unpinned; COMMENT_NONE: none */
    bool removes_content;  /* the comment has no content any more */
    bool removes_rows;     /* there is no such comment any more */
    uint64_t position;     /* after the event */
};

/* Decides under the lock, on the step that was begun. OK and no kind: nothing changes. */
typedef enum status comment_decide_fn(struct comment_step *step, void *context);

/*
 * For decisions. Each returns OK; BLOCKED if something has to be read; NO_COMMENT; or DAMAGED.
 *
 *   step_find          a comment with its root and its subject, if it was not dropped
 *   step_find_dropped  the same, also if it was dropped
 *   step_find_subject  only a subject
 *   step_content       the content of the comment; `out` has room for COMMENT_CONTENT_BYTES
 *   step_counter       the value of a counter of an item in this shard
 */
enum status step_find(struct comment_step *step, struct item item);
enum status step_find_dropped(struct comment_step *step, struct item item);
enum status step_find_subject(struct comment_step *step, struct item item);
enum status step_content(struct comment_step *step, uint8_t *out, uint32_t *length);
enum status step_counter(struct comment_step *step, struct item item, uint8_t name, int64_t *value);

/* Computes everything that follows from the new state of the comment: counts, listed roots and pins. */
void step_settle(struct comment_step *step);
/* Removes the pin of a comment from the new subject; true: it was pinned. */
bool step_unpin(struct comment_step *step, uint64_t id);

/* Records the event and changes the state; comment_run.c calls it. */
enum status step_commit(struct comment_step *step);

/*
 * Runs a decision about an item: as a worker, or with LOAD_NOBODY as an I/O thread. False: an I/O thread cannot, and
 * nothing has changed. Otherwise *status is the result. The step is the last one that was tried.
 */
bool comment_run(struct hot_memory *hot, unsigned worker, struct item item, uint32_t time_s,
                 struct comment_step *step, comment_decide_fn *decide, void *context,
                 enum status *status);

/* Does this user see the comment, as a placeholder at least? `root` is not used if it is a root itself. */
bool comment_is_seen(const struct comment *comment, const struct comment *root, struct id user);

/* The actions: comment_post.c has COMMENT and EDIT, comment_state.c the others. */
bool comment_run_post(struct hot_memory *hot, struct hot_request *request, unsigned worker);
bool comment_run_edit(struct hot_memory *hot, struct hot_request *request, unsigned worker);
bool comment_run_state(struct hot_memory *hot, struct hot_request *request, unsigned worker);

/*
 * All decisions, and no replay, pass through this function, under the lock of the item shard, after their event was
 * appended and their state changed. Whoever has to know of every change (live streams) is called here.
 */
void comment_decided(const struct comment_step *step);

/*
 * Parts of DROP and FORGET, which query/removal.c consists of; workers call them, admitted for one write each. They
 * return OK with *value 1 if anything changed, or the reason why not.
 *
 *   drop    all comments of the subject are gone from now on, and its counter `comment` is 0
 *   rows    the rows of a comment that was dropped are removed; nobody has seen it since the drop
 *   forget  the author is removed from the comment, and the comment is deleted; only if `user` wrote it
 */
enum status comment_drop(struct hot_memory *hot, unsigned worker, struct item subject,
                         uint32_t time_s, int64_t *value);
enum status comment_remove_rows(struct hot_memory *hot, unsigned worker, uint64_t id,
                                uint32_t time_s, int64_t *value);
enum status comment_forget(struct hot_memory *hot, unsigned worker, struct id user, uint64_t id,
                           uint32_t time_s, int64_t *value);

/* A vote was recorded at this position: the comment is on the list of changed ones. Under its shard's lock. */
void comment_voted(struct hot_memory *hot, struct item_shard *shard, uint64_t hash,
                   struct item item, uint64_t position);

/* The functions of query/tier.h, in comment_read.c. */
enum status memory_subject(struct query_tier *tier, struct item item, struct subject *out);
enum status memory_head(struct query_tier *tier, struct item parent, uint8_t order,
                        struct comment_entry *out, size_t *count, bool *complete);
enum status memory_changed(struct query_tier *tier, struct item parent, struct store_arena *arena,
                           struct comment **out, size_t *count);
enum status memory_comments(struct query_tier *tier, struct query_comment *comments, size_t count,
                            bool with_content, struct hot_scratch *scratch);
uint64_t memory_comments_point(struct query_tier *tier, struct item parent);
uint64_t memory_any_comment_point(struct query_tier *tier);

#endif
