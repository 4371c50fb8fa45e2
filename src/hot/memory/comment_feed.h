/*
 * The last changes of the subjects that live streams watch. A subject is watched while somebody reads its
 * changes from time to time; until then a change costs one comparison. Each watched subject has a ring of
 * its last LIMIT_NEWS changes. A change says only which comment was changed: whoever reads it looks up
 * what the comment is now.
 *
 * There is one struct comment_feeds for each shard of items, and all functions are called under the lock
 * of that shard. Points are positions of the journal plus 1, so they are never HOT_NEWS_BEGIN. Memory is
 * charged to the budget; the number of watched subjects of a shard is bounded.
 */
#ifndef LAUD_HOT_MEMORY_COMMENT_FEED_H
#define LAUD_HOT_MEMORY_COMMENT_FEED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/memory.h"
#include "comment/body.h"
#include "comment/comment.h"
#include "query/tier.h"

struct comment_feed;

struct comment_feed_head {
    struct comment_feed *first;
};

/* All zero: nothing is watched. */
struct comment_feeds {
    uint32_t count;                  /* of watched subjects */
    struct comment_feed_head *heads; /* a hash table; NULL: there was no watched subject yet */
};

void comment_feeds_destroy(struct comment_feeds *feeds, struct memory_budget *budget);

/*
 * Reads the changes after a point, as query_tier_functions.news says. From now on the subject is watched.
 * `position` is the present end of the journal, and `hash` that of the subject.
 */
enum status comment_feeds_read(struct comment_feeds *feeds, struct memory_budget *budget,
                               struct item subject, uint64_t hash, uint64_t position,
                               uint64_t after, uint32_t now_s, struct query_news *out);

/*
 * What a decision has changed. `pinned` is the comment that was pinned or unpinned, or COMMENT_NONE. The
 * event was appended, and ends at `position`.
 */
void comment_feeds_note_change(struct comment_feeds *feeds, struct memory_budget *budget,
                               enum comment_event kind, const struct comment_body *body,
                               uint64_t pinned, uint64_t hash, uint64_t position, uint32_t now_s);

/* The same; if nothing is watched, it costs nothing. */
static inline void comment_feeds_note(struct comment_feeds *feeds, struct memory_budget *budget,
                                      enum comment_event kind, const struct comment_body *body,
                                      uint64_t pinned, uint64_t hash, uint64_t position,
                                      uint32_t now_s)
{
    if (feeds->count > 0)
        comment_feeds_note_change(feeds, budget, kind, body, pinned, hash, position, now_s);
}

#endif
