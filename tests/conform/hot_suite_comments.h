/*
 * What the suites of comments share: a tier and a model side by side (comment_model.h). Each function
 * `world_…` does one thing to both and asserts that the answers are equal. The checks read everything that
 * a reader can ask for and compare it with the model.
 *
 * Subjects are suite_item(number), users suite_id(number).
 */
#ifndef LAUD_CONFORM_HOT_SUITE_COMMENTS_H
#define LAUD_CONFORM_HOT_SUITE_COMMENTS_H

#include "comment_model.h"
#include "hot/comments.h"
#include "hot_suite.h"

struct world {
    struct suite suite;
    struct comment_model *model;
    struct chance chance;
    uint32_t clock_s;
    uint32_t next_text;
    uint32_t *expected; /* room for a list of the model */
    uint32_t *joined;   /* room for what pages had */
    size_t room;
};

struct world world_open(uint64_t seed);
void world_close(struct world *world);

struct item world_item(const struct world *world, uint32_t comment);

/* The number of the comment that was posted; MODEL_NONE: both have refused it, for the same reason. */
uint32_t world_post(struct world *world, struct model_post post);
/* The same with nothing special: a root, or a reply if reply_to is not MODEL_NONE. */
uint32_t world_add(struct world *world, uint32_t user, uint32_t subject, uint32_t reply_to);
/* Each returns the status that both gave. The comment may be one that does not exist (MODEL_NONE). */
enum status world_edit(struct world *world, uint32_t user, uint32_t comment, uint32_t text);
enum status world_uncomment(struct world *world, uint32_t user, uint32_t comment);
enum status world_moderate(struct world *world, uint32_t comment, enum comment_moderation state);
enum status world_pin(struct world *world, uint32_t comment);
enum status world_unpin(struct world *world, uint32_t comment);
enum status world_purge(struct world *world, uint32_t comment);
void world_set_subject(struct world *world, uint32_t subject, uint32_t owner, bool set_mode,
                       enum subject_mode mode);
void world_ban(struct world *world, uint32_t user, uint32_t until_s, bool shadow);
void world_vote(struct world *world, uint32_t user, uint32_t comment, enum model_vote vote,
                bool set);
void world_see(struct world *world, uint32_t user, uint32_t number);
void world_drop(struct world *world, uint32_t subject);
void world_forget(struct world *world, uint32_t user);

/* One random operation on the first subjects (hot_suite_comments_random.c). */
void world_do_anything(struct world *world, uint32_t subjects);

/* How a page is asked for. */
struct page_request {
    struct item item;
    enum comment_order order;
    struct model_reader reader;
    uint32_t limit;
    uint8_t replies;
    struct hot_mark after;
    uint64_t at;
};
/* The page, in the scratch until the next request. */
enum status world_page(struct world *world, const struct page_request *request,
                       struct hot_cards_page *page);

/* Checks (hot_suite_comments_check.c). */
void check_card(struct world *world, const struct hot_card *card, struct model_reader reader);
/* Joins all pages of a list, forwards and then backwards, and compares them with the model's list. */
void check_roots(struct world *world, uint32_t subject, enum comment_order order,
                 struct model_reader reader, uint32_t limit, uint8_t replies);
void check_thread(struct world *world, uint32_t root, enum comment_order order,
                  struct model_reader reader, uint32_t limit);
/* Counters, SUBJECT, and the counter of each root. */
void check_counts(struct world *world, uint32_t subject);
void check_cards(struct world *world, struct model_reader reader); /* of all comments */
/* Lists that only the store has (hot_suite_comments_lists.c). */
void check_written(struct world *world, uint32_t user, uint32_t limit);
void check_inbox(struct world *world, uint32_t user, uint32_t limit);
void check_queue(struct world *world, bool odd, enum queue_state state, uint32_t limit);
void check_history(struct world *world, uint32_t comment);
/* All of that, for every subject, order and user. */
void check_everything(struct world *world, uint32_t subjects);

#endif
