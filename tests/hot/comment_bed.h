/*
 * What the tests of comments share: a bed (support.h) over a store with the type `comment` and the kinds of votes, and
 * short calls for the commands.
 */
#ifndef LAUD_HOT_COMMENT_BED_H
#define LAUD_HOT_COMMENT_BED_H

#include "support.h"

#include "comment/content.h"
#include "hot/comments.h"
#include "hot/memory/queries.h"

enum { COMMENT_TYPE = 3, SUBJECT_TYPE = 1, DISLIKE = 2, REPORT = 4, START_S = 1800000000 };

struct comment_bed {
    struct bed bed;
    struct names *names;
    struct comment_policy *policy;
    uint32_t clock_s; /* of the next command */
};

/* With --comment-repeat of so many seconds. */
void comment_bed_open(struct comment_bed *bed, uint64_t limit, uint32_t repeat_s);
void comment_bed_close(struct comment_bed *bed);

static inline struct item subject_number(uint64_t number)
{
    return (struct item){.id = {.lo = 1000 + number}, .type = SUBJECT_TYPE};
}

static inline struct item comment_number(uint64_t id)
{
    return comment_item(id, COMMENT_TYPE);
}

/* Posts a text; `out`, if it is not NULL, is the request with its answer. */
enum status post_text(struct comment_bed *bed, uint64_t user, struct item item, const char *text,
                      uint64_t token, struct hot_request *out);
/* Posts a text that is different each time; the id. */
uint64_t post(struct comment_bed *bed, uint64_t user, struct item item);
uint64_t reply(struct comment_bed *bed, uint64_t user, uint64_t to);

enum status edit(struct comment_bed *bed, uint64_t user, uint64_t id, const char *text,
                 int64_t *value);
/* UNCOMMENT, PIN, UNPIN or PURGE. */
enum status act(struct comment_bed *bed, enum hot_action action, uint64_t user, uint64_t id,
                int64_t *value);
enum status moderate(struct comment_bed *bed, uint64_t id, enum comment_moderation state,
                     int64_t *value);
enum status set_mode(struct comment_bed *bed, struct item item, enum subject_mode mode);
void ban(struct comment_bed *bed, uint64_t user, uint32_t until_s, bool shadow);

/* What the tier says now, with waiting. */
struct subject subject_now(struct comment_bed *bed, struct item item);
bool comment_now(struct comment_bed *bed, uint64_t id, struct query_comment *out);
size_t changed_now(struct comment_bed *bed, struct item parent, uint64_t *ids, size_t most,
                   enum status *status);
int64_t comments_of(struct comment_bed *bed, struct item item); /* the counter `comment` */

#endif
