/*
 * What a hot tier provides, so that the queries in this folder can run on it: lists, FRIENDS, CHANGES,
 * FORGET and DROP. A hot tier has the newest state, but only some of the data; the store has all data,
 * but lags. A query needs both. It uses only this interface of the hot tier:
 *
 *   - what the tier has of a user's newest reactions, and how far back that is complete
 *   - a wait until the store has reached a point, such as the last change of an item
 *   - the reader of the store
 *   - for FORGET and DROP: admission of writes piece by piece, and ordinary requests
 *
 * Hot tier and store are merged by this rule, for each reaction separately: *if the tier has an entry for
 * the reaction, or a note that it was cleared, the tier is right; otherwise the store is right.* This is
 * exact if the tier is asked after the store, and if between read_begin and read_end the tier keeps every entry
 * and every note that was changed since read_begin. A change that the store's answer lacks was
 * made after the store was read, or the store had not applied it yet; in both cases the tier
 * still has it.
 *
 * A *point* is an opaque number that stands for all changes up to some moment. The point of a later
 * moment is never smaller. Only the tier that made a point can interpret it.
 *
 * The thread that runs a request makes a struct query_tier for this request, and only this thread uses
 * it. Everything that it points to belongs to the tier.
 */
#ifndef LAUD_QUERY_TIER_H
#define LAUD_QUERY_TIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "base/limits.h"
#include "base/status.h"
#include "comment/comment.h"
#include "comment/content.h"
#include "comment/order.h"
#include "hot/hot.h"
#include "store/store.h"

struct query_tier;
struct removal_progress;
struct comment_policy;

/*
 * A page of the list of one user's reactions of a kind on items of a type: the first `limit` entries
 * after the entry `after`, newest first (store_listed_order). `after` comes from a client's cursor. It
 * need not exist any more, because only its position in the order matters. If its time is 0, the page
 * begins with the newest entry.
 */
struct query_page {
    struct id user;
    uint8_t kind;
    uint16_t type;
    bool
        any_order; /* entries may come in any order: the caller wants up to `limit` of all of them */
    uint32_t limit;
    struct store_listed after;
};

/* The answer of `newest` contains every entry whose time is later than *complete_after_s: */
#define QUERY_COMPLETE   0          /* no entry is missing */
#define QUERY_INCOMPLETE UINT32_MAX /* any entry may be missing */

/* The question which of these users have a reaction of this kind on this item, and since when. */
struct query_lookup {
    struct item item;
    uint8_t kind;
    uint32_t count;
    struct store_listed *users; /* in: id; out: time_s, or one of the two values below */
};
#define QUERY_NOT_SET 0
#define QUERY_UNKNOWN UINT32_MAX /* only the store has the answer */

/*
 * The question which of these users have a reaction of this kind on which of these items, and since when.
 * The caller frees `unknown`.
 */
struct query_grid {
    const struct item *items; /* at most LIMIT_FEED_ITEMS; an item may be there twice */
    uint32_t item_count;
    uint32_t user_count;
    const struct store_listed *users; /* only their ids are used; each is there once */
    uint8_t kind;
    bool memory_only; /* what only the store has is not set */
    /* Is called for each reaction that is set. It may be called under a lock, and must be quick. */
    void (*found)(void *context, uint32_t item, uint32_t user, uint32_t time_s);
    void *context;
    struct query_cell *unknown; /* out: only the store has the answer for these */
    size_t unknown_count;
    size_t unknown_capacity;
};

/* One reaction of the grid: the indices of its user and its item. */
struct query_cell {
    uint32_t user;
    uint32_t item;
};

#define QUERY_HEAD 256 /* entries of an order that a tier caches */

/* A comment as the tier or the store has it. */
struct query_comment {
    uint64_t id;            /* in */
    bool found;             /* out: there is such a comment, and it was not dropped */
    bool has_content;       /* out: it has a content, and the caller has asked for contents */
    struct comment comment; /* out */
    struct comment_content content; /* out; its texts are in the arena of the scratch */
};

/* A change of a comment, or with COMMENT_NONE of the subject. */
struct query_change {
    uint64_t point;
    uint64_t id;
    bool appeared; /* the comment was not listed before */
};

/* The remembered changes of a watched subject, see struct hot_news. */
struct query_news {
    uint64_t since;
    uint64_t now;
    size_t count;
    struct query_change changes[LIMIT_NEWS]; /* oldest first; a comment may be there repeatedly */
};

/* Stands for everything that was decided so far; the tier replaces it by a point of its own. */
#define QUERY_POINT_LATEST UINT64_MAX

struct query_tier_functions {
    /*
     * Appends to scratch->listed the entries of the page that the tier has, in any order: at least the
     * first `limit` entries, and all entries that have the same time as the last of these. Sets
     * *complete_after_s: the appended entries include every entry of the page with a later time. If no
     * range of the page would be complete, it may append nothing. Returns OK or NO_MEMORY. Never blocks.
     */
    enum status (*newest)(struct query_tier *tier, const struct query_page *page,
                          struct hot_scratch *scratch, uint32_t *complete_after_s);
    /*
     * Applies the rule above in one atomic step: appends the entries of the page as `newest` does, and
     * those entries of `stored` for which the tier has neither an entry nor a note. `stored` was read
     * from the store since read_begin. Returns OK or NO_MEMORY.
     */
    enum status (*merge)(struct query_tier *tier, const struct query_page *page,
                         const struct store_listed *stored, size_t count,
                         struct hot_scratch *scratch);
    /*
     * Answers as far as the tier can, and returns how many users are QUERY_UNKNOWN. If the caller may
     * not wait, it may stop at the first such user, because the answer will not be used. Never blocks.
     */
    uint32_t (*look_up)(struct query_tier *tier, const struct query_lookup *lookup);
    /*
     * The same for many users and many items. Returns OK; BLOCKED if the caller may not wait and the answer
     * needs the store, or much time; or NO_MEMORY. Without OK the answer is not complete. Never blocks.
     */
    enum status (*look_up_grid)(struct query_tier *tier, struct query_grid *grid);
    /*
     * Applies the rule above to single reactions. `read` was read from the store since read_begin. The
     * tier replaces time_s of each reaction for which the tier is right. It may cache the others.
     */
    void (*settle)(struct query_tier *tier, struct store_reaction *read, size_t count);
    /*
     * The caller reads the store, and then asks the tier, between these two calls. `rows` is the number
     * of rows that were read; it is used for statistics.
     */
    void (*read_begin)(struct query_tier *tier);
    void (*read_end)(struct query_tier *tier, size_t rows);

    /*
     * Return the point of the last change of an item or of a user, or a later point. user_point also sets
     * *least_s: no change of this user after the point is recorded with an earlier time. *least_s is 0
     * if nothing was ever recorded.
     */
    uint64_t (*item_point)(struct query_tier *tier, struct item item);
    uint64_t (*user_point)(struct query_tier *tier, struct id user, uint32_t *least_s);
    /*
     * Waits until the store has reached the point. Returns OK; LAGGING if this takes too long; or
     * STORE_FAILED if the store will never reach it.
     */
    enum status (*reach)(struct query_tier *tier, uint64_t point);

    /*
     * Writes up to `limit` reactions of the user that the store may lack (kind and item of each) to `out`
     * and returns how many. If there are none, the store has every reaction that the user has now.
     */
    size_t (*not_stored)(struct query_tier *tier, struct id user, struct store_reaction *out,
                         size_t limit);
    /* Is this the name of a kind? Then the counter of this name is a number of reactions. */
    bool (*is_kind)(struct query_tier *tier, uint8_t name);
    /*
     * Waits until this number of writes (up to LIMIT_BATCH) may be made. Returns OK; BLOCKED if the
     * request has used up its time and should end; or another status, which is the reason why writes
     * are refused.
     */
    enum status (*admit)(struct query_tier *tier, uint32_t writes);
    /* Runs ordinary requests in order. The caller was admitted for those that write. */
    void (*run)(struct query_tier *tier, struct hot_request *requests, size_t count,
                struct hot_scratch *scratch);
    /* The same without waiting, for requests that read; false: some of them need the store. */
    bool (*try_run)(struct query_tier *tier, struct hot_request *requests, size_t count,
                    struct hot_scratch *scratch);

    /*
     * Comments. What the store does not have yet is in the tier, and the tier is right. If the caller may
     * not wait and the tier needs the store, these functions return BLOCKED. They must not be called
     * between read_begin and read_end.
     */
    /* The subject as it is now. A subject without comments and settings is subject_new(item). */
    enum status (*subject)(struct query_tier *tier, struct item item, struct subject *out);
    /*
     * The entries with which an order of a parent begins, as the store had them at one moment during this
     * call or, if the tier has cached them, as it would have answered at that moment. The parent is a
     * subject, or the item of a root; then the order is NEW or OLD. `order` is an
     * enum comment_order or, for a subject, ROWS_HELD (comment/rows.h; the entries of the latter have no key
     * and are ordered by author). *count: in: the most entries that are wanted, at most QUERY_HEAD; out: how
     * many there are. *complete: the order has no more entries. The tier caches them, and reads ahead.
     */
    enum status (*head)(struct query_tier *tier, struct item parent, uint8_t order,
                        struct comment_entry *out, size_t *count, bool *complete);
    /*
     * The comments of this parent that the store may not have in their present form, because they were
     * posted, changed or voted on: all of those that were changed before this call and that are not in
     * the store when it returns. The caller asks for them *before* it reads the store, and ignores the
     * store's rows of these comments. *out is in the arena. LAGGING: there are more than the tier
     * remembers; the caller waits for comments_point of the parent and asks again.
     */
    enum status (*changed)(struct query_tier *tier, struct item parent, struct store_arena *arena,
                           struct comment **out, size_t *count);
    /* Fills in each comment, from the tier or from the store, and caches what was read. */
    enum status (*comments)(struct query_tier *tier, struct query_comment *comments, size_t count,
                            bool with_content, struct hot_scratch *scratch);
    /*
     * The changes of a subject after this point; HOT_NEWS_BEGIN: none. From now on, and until nobody has
     * asked for LIMIT_NEWS_S seconds, its changes are remembered. Never blocks. OK, or TOO_MANY_STREAMS
     * if too many subjects are watched.
     */
    enum status (*news)(struct query_tier *tier, struct item subject, uint64_t after,
                        uint32_t time_s, struct query_news *out);
    /* The point of the last change of any comment of this parent, or a later point. */
    uint64_t (*comments_point)(struct query_tier *tier, struct item parent);
    /* The point of the last change of any comment at all. */
    uint64_t (*any_comment_point)(struct query_tier *tier);

    /*
     * Decisions of FORGET and DROP about comments. *value is 1 if anything changed. They may wait, and are called
     * with no lock and no read of the store in progress; `admit` has allowed the caller a write for each of
     * the first two.
     *
     *   forget_comment  the author is removed from the comment, which is deleted; NOT_AUTHOR: somebody else's
     *   remove_comment  the rows of a dropped comment are removed; NO_COMMENT: there are none any more
     *   forget_user     the inbox of the user is emptied, and a ban is lifted
     *   drop_comments   all comments of the subject are gone from now on
     */
    enum status (*forget_comment)(struct query_tier *tier, struct id user, uint64_t id,
                                  uint32_t time_s, int64_t *value);
    enum status (*remove_comment)(struct query_tier *tier, uint64_t id, uint32_t time_s,
                                  int64_t *value);
    enum status (*forget_user)(struct query_tier *tier, struct id user, uint32_t time_s,
                               int64_t *value);
    enum status (*drop_comments)(struct query_tier *tier, struct item subject, uint32_t time_s,
                                 int64_t *value);
};

struct query_tier {
    const struct query_tier_functions *functions;
    struct store_reader *store;        /* NULL: there is no store, and the tier has everything */
    struct removal_progress *progress; /* of FORGET and DROP; one for all threads */
    bool may_wait;                     /* false: only functions that never block are called */
    uint16_t
        comment_type; /* the index of the type `comment`; UINT16_MAX: there is no such type yet */
    uint8_t dislike;  /* the kinds that count as dislike and as report; UINT8_MAX: none yet */
    uint8_t report;
    uint32_t report_at;                  /* a comment with so many new reports is in the queue */
    const struct comment_policy *policy; /* which orders may be asked for; NULL: all */
};

#endif
