/* The decisions of FORGET and DROP about comments, as query/removal_comments.c asks for them. */
#include "hot/memory/queries.h"

enum status memory_forget_comment(struct query_tier *tier, struct id user, uint64_t id,
                                  uint32_t time_s, int64_t *value)
{
    struct memory_tier *memory = memory_tier_of(tier);
    return comment_forget(memory->hot, memory->worker, user, id, time_s, value);
}

enum status memory_remove_comment(struct query_tier *tier, uint64_t id, uint32_t time_s,
                                  int64_t *value)
{
    struct memory_tier *memory = memory_tier_of(tier);
    return comment_remove_rows(memory->hot, memory->worker, id, time_s, value);
}

enum status memory_drop_comments(struct query_tier *tier, struct item subject, uint32_t time_s,
                                 int64_t *value)
{
    struct memory_tier *memory = memory_tier_of(tier);
    return comment_drop(memory->hot, memory->worker, subject, time_s, value);
}

enum status memory_forget_user(struct query_tier *tier, struct id user, uint32_t time_s,
                               int64_t *value)
{
    struct memory_tier *memory = memory_tier_of(tier);
    return hot_memory_forget_user(memory->hot, memory->worker, user, time_s, value);
}
