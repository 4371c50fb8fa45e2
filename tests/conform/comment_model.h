/*
 * A naive model of comments for tests: plain arrays, searched from end to end, and the rules of
 * docs/architecture.md ("Comments") written down once more, word by word, without any count that is
 * kept beside what it counts. Only the keys of orders come from comment/order.h, which has tests of its own.
 *
 * Users, subjects, comments and texts are small numbers. Who uses the model turns them into ids, items
 * and bytes (suite_id, suite_item, model_write_text), and tells the model the id that a new comment got.
 */
#ifndef LAUD_CONFORM_COMMENT_MODEL_H
#define LAUD_CONFORM_COMMENT_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/status.h"
#include "comment/comment.h"
#include "comment/rows.h"

enum {
    MODEL_USERS = 8,
    MODEL_SUBJECTS = 512,
    MODEL_TOKENS = 64,
    MODEL_INBOX = 2048,
    MODEL_NOBODY = UINT32_MAX, /* no user */
    MODEL_NONE = UINT32_MAX,   /* no comment */
};

enum model_vote { MODEL_LIKE, MODEL_DISLIKE, MODEL_REPORT, MODEL_VOTES };

/* A text that a comment had, and since when. */
struct model_text {
    uint32_t number;
    uint32_t time_s;
};

struct model_comment {
    uint64_t id;
    uint32_t subject;
    uint32_t root; /* MODEL_NONE: it is a root */
    uint32_t reply_to;
    uint32_t author; /* MODEL_NOBODY: was forgotten */
    uint32_t reply_to_user;
    uint32_t floor;
    uint32_t time_s;
    uint32_t edited_s;
    uint32_t replies; /* that were ever made: the last floor */
    uint32_t reviewed;
    uint32_t mentions[2];
    uint32_t mention_count;
    enum comment_moderation moderation;
    bool deleted;
    bool dropped; /* with its subject */
    bool was_open;
    bool has_extra;
    struct model_text texts[LIMIT_VERSIONS + 1]; /* the present one first */
    uint32_t text_count;
    bool votes[MODEL_VOTES][MODEL_USERS];
};

struct model_subject {
    uint32_t owner;
    enum subject_mode mode;
    uint32_t pins[SUBJECT_PINS]; /* in the order of pinning */
    uint32_t pin_count;
    uint32_t floors; /* that were ever given */
};

struct model_entry {
    uint32_t comment;
    bool mention;
    uint32_t number;
};

struct model_inbox {
    struct model_entry entries[MODEL_INBOX]; /* the oldest first */
    uint32_t count;
    uint32_t given; /* numbers that were ever given */
    uint32_t seen;
};

struct model_token {
    uint32_t comment; /* MODEL_NONE: was never used */
    uint32_t time_s;
};

struct model_ban {
    bool is_set;
    bool shadow;
    uint32_t until_s;
};

struct comment_model {
    struct model_comment *comments;
    uint32_t count;
    uint32_t capacity;
    struct model_subject subjects[MODEL_SUBJECTS];
    struct model_inbox inboxes[MODEL_USERS];
    struct model_token tokens[MODEL_TOKENS];
    struct model_ban bans[MODEL_USERS];
    uint32_t token_ttl_s;
    uint32_t report_at;
};

struct comment_model *comment_model_new(void);
void comment_model_free(struct comment_model *model);

/* Rules. Comments are given by number. */
bool model_is_root(const struct comment_model *model, uint32_t comment);
bool model_is_open(const struct comment_model *model, uint32_t comment);
bool model_has_thread(const struct comment_model *model, uint32_t root);
uint32_t model_open_replies(const struct comment_model *model, uint32_t root);
bool model_is_counted(const struct comment_model *model, uint32_t comment);
bool model_is_listed(const struct comment_model *model, uint32_t comment);
int64_t model_subject_count(const struct comment_model *model, uint32_t subject);
uint64_t model_subject_roots(const struct comment_model *model, uint32_t subject);
int64_t model_comment_count(const struct comment_model *model, uint32_t comment);
int64_t model_votes(const struct comment_model *model, uint32_t comment, enum model_vote vote);
bool model_is_pinned(const struct comment_model *model, uint32_t comment);
/* The root of a reply; a root itself. */
uint32_t model_root_of(const struct comment_model *model, uint32_t comment);
uint32_t model_find(const struct comment_model *model, uint64_t id); /* MODEL_NONE: no such id */

/* Who looks. */
struct model_reader {
    uint32_t user; /* MODEL_NOBODY: no FOR */
    bool all;
};
enum model_sight { MODEL_NOTHING, MODEL_PLACEHOLDER, MODEL_FULL };
enum model_sight model_sight(const struct comment_model *model, struct model_reader reader,
                             uint32_t comment);
/* Moderation as this reader is told. */
enum comment_moderation model_shown_state(const struct comment_model *model,
                                          struct model_reader reader, uint32_t comment);

/* Decisions. Each returns the status and, if it is OK, sets *value: 1 if anything changed. */
struct model_post {
    uint32_t user;
    uint32_t subject;  /* of a root */
    uint32_t reply_to; /* MODEL_NONE: it is a root */
    uint32_t text;
    uint32_t token; /* MODEL_TOKENS or more: none */
    uint32_t mentions[2];
    uint32_t mention_count;
    bool has_extra;
    uint32_t time_s;
    bool repeated;                 /* out: by its token */
    uint32_t comment;              /* out */
    enum comment_moderation state; /* out: as its author is told */
};
enum status model_add(struct comment_model *model, struct model_post *post);
enum status model_edit(struct comment_model *model, uint32_t user, uint32_t comment, uint32_t text,
                       uint32_t time_s, int64_t *value);
enum status model_uncomment(struct comment_model *model, uint32_t user, uint32_t comment,
                            int64_t *value);
enum status model_moderate(struct comment_model *model, uint32_t comment,
                           enum comment_moderation moderation, int64_t *value);
enum status model_pin(struct comment_model *model, uint32_t comment, int64_t *value);
enum status model_unpin(struct comment_model *model, uint32_t comment, int64_t *value);
enum status model_purge(struct comment_model *model, uint32_t comment, int64_t *value);
int64_t model_set_subject(struct comment_model *model, uint32_t subject, uint32_t owner,
                          bool set_mode,
                          enum subject_mode mode); /* MODEL_NOBODY: no owner is set */
enum status model_ban(struct comment_model *model, uint32_t user, uint32_t until_s, bool shadow,
                      uint32_t now_s, int64_t *value);
int64_t model_vote(struct comment_model *model, uint32_t user, uint32_t comment,
                   enum model_vote vote, bool set);
int64_t model_see(struct comment_model *model, uint32_t user, uint32_t number);
void model_drop(struct comment_model *model, uint32_t subject);
void model_forget(struct comment_model *model, uint32_t user);

/*
 * Lists (comment_model_lists.c). Each writes numbers of comments to `out`, which has room for all, and returns
 * how many. They have no pages: a test joins pages and compares.
 */
size_t model_roots(const struct comment_model *model, uint32_t subject, enum comment_order order,
                   struct model_reader reader, uint32_t *out);
/* In the orders by key: what stands before the first root on the first page. */
size_t model_before(const struct comment_model *model, uint32_t subject, struct model_reader reader,
                    uint32_t *out);
size_t model_thread(const struct comment_model *model, uint32_t root, enum comment_order order,
                    struct model_reader reader, uint32_t *out);
size_t model_written(const struct comment_model *model, uint32_t user, uint32_t *out);
/* Of subjects with an odd number, or an even one (they have different types). */
size_t model_queue(const struct comment_model *model, bool odd, enum queue_state state,
                   uint32_t *out);
uint64_t model_key(const struct comment_model *model, uint32_t comment, enum comment_order order);

/* Bytes of a text number; some are long. Returns the length; `out` has MODEL_TEXT_MAX bytes. */
enum { MODEL_TEXT_MAX = 600 };
size_t model_write_text(uint32_t number, char *out);

#endif
