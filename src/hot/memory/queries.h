/*
 * Runs the queries of query/ on the hot tier in memory, for which it implements query/tier.h. An I/O
 * thread gets an answer only if memory alone has it (such as a page that is wholly on a shelf); a worker
 * always gets one.
 */
#ifndef LAUD_HOT_MEMORY_QUERIES_H
#define LAUD_HOT_MEMORY_QUERIES_H

#include "hot/memory/hot_memory_priv.h"
#include "query/tier.h"

/* One request and the thread that runs it. */
struct memory_tier {
    struct query_tier tier; /* first member: the functions get a pointer to it */
    struct hot_memory *hot;
    unsigned worker;                /* LOAD_NOBODY: an I/O thread */
    uint64_t user_hash;             /* of the request's user, if it has one */
    struct admission_pieces pieces; /* of FORGET and DROP */
};

static inline struct memory_tier *memory_tier_of(struct query_tier *tier)
{
    return (struct memory_tier *)tier;
}

/* newest.c: which reactions of a user the shelves have. */
enum status memory_newest(struct query_tier *tier, const struct query_page *page,
                          struct hot_scratch *scratch, uint32_t *complete_after_s);
enum status memory_merge(struct query_tier *tier, const struct query_page *page,
                         const struct store_listed *stored, size_t count,
                         struct hot_scratch *scratch);
size_t memory_not_stored(struct query_tier *tier, struct id user, struct store_reaction *out,
                         size_t limit);

/* look_up.c: whether many users have a reaction on one item. */
uint32_t memory_look_up(struct query_tier *tier, const struct query_lookup *lookup);
/* The same for one reaction. Locks the user's shard; `hash` is that of the user. */
uint32_t memory_look_up_one(struct hot_memory *hot, uint64_t hash, const struct cleared_key *key);
void memory_settle(struct query_tier *tier, struct store_reaction *read, size_t count);

/* look_up_grid.c: whether many users have a reaction on many items. */
enum status memory_look_up_grid(struct query_tier *tier, struct query_grid *grid);

/* comment_removal.c: decisions of FORGET and DROP. */
enum status memory_forget_comment(struct query_tier *tier, struct id user, uint64_t id,
                                  uint32_t time_s, int64_t *value);
enum status memory_remove_comment(struct query_tier *tier, uint64_t id, uint32_t time_s,
                                  int64_t *value);
enum status memory_forget_user(struct query_tier *tier, struct id user, uint32_t time_s,
                               int64_t *value);
enum status memory_drop_comments(struct query_tier *tier, struct item subject, uint32_t time_s,
                                 int64_t *value);

/* The friends of a FEED: OK, BLOCKED (it needs a worker), or an error. */
enum status hot_memory_feed_friends(struct hot_memory *hot, struct hot_request *request,
                                    struct hot_trail trail, struct hot_scratch *scratch,
                                    unsigned worker);

/* Has the user ever had an open comment? OK, BLOCKED (it needs a worker), or an error. */
enum status hot_memory_was_open(struct hot_memory *hot, unsigned worker, struct id user,
                                bool *was_open);

/* Runs a query. False: it needs a worker, and nothing has changed. */
hot_action_fn hot_memory_query;

#endif
