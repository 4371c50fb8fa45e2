/*
 * A world of comments for tests: it decides at random what happens next, makes the events of it as a tier would, and
 * knows in the most naive way which rows and counters a store must have afterwards: by looking at all
 * comments. Everything is small, so that states meet often.
 */
#ifndef LAUD_PROJECT_COMMENT_WORLD_H
#define LAUD_PROJECT_COMMENT_WORLD_H

#include "chance.h"
#include "comment/body.h"
#include "comment/order.h"
#include "comment/rows.h"
#include "journal/event.h"

enum {
    CW_SUBJECTS = 5,
    CW_USERS = 9,
    CW_COMMENTS = 400,
    CW_CONTENT = 128,
    CW_VERSIONS = 64,
    CW_NOTICES = 20000,
    CW_EVENTS = 6000,
    /* Indices of names, as the first events define them. */
    CW_TYPE_VIDEO = 0,
    CW_TYPE_COMMENT = 1,
    CW_LIKE = 0,
    CW_COUNTER = 1,
    CW_DISLIKE = 2,
    CW_REPORT = 3,
    CW_KINDS = 3,
};

struct cw_content {
    uint8_t bytes[CW_CONTENT];
    uint32_t length;
};

struct cw_comment {
    struct comment comment;
    bool removed; /* its rows were removed by DROP */
    struct cw_content content;
    struct cw_content versions[CW_VERSIONS]; /* by number */
    bool votes[CW_USERS][CW_KINDS];
};

struct cw_user {
    struct inbox_state state;
    struct inbox_entry entries[CW_NOTICES]; /* by number */
    struct user_ban ban;
};

struct comment_world {
    struct chance chance;
    uint32_t now_s;
    struct subject subjects[CW_SUBJECTS];
    bool has_row[CW_SUBJECTS];
    int64_t counts[CW_SUBJECTS]; /* the counter `comment` */
    struct cw_comment comments[CW_COMMENTS];
    int64_t root_counts[CW_COMMENTS];
    size_t comment_count;
    struct cw_user users[CW_USERS];
    struct event events[CW_EVENTS];
    size_t event_count;
    uint64_t token_count;
    bool plain_votes[CW_USERS]; /* on an item comment:… that is no comment */
};

struct comment_world *comment_world_new(uint64_t seed);
void comment_world_free(struct comment_world *world);

/* Something happens: one or a few more events. */
void comment_world_next(struct comment_world *world);

struct id cw_user(unsigned user);
struct comment_votes cw_votes(const struct cw_comment *comment);

/* The rows that a store must have, sorted by table and key. The caller frees them with cw_rows_free. */
struct cw_row {
    uint8_t table;
    uint8_t key_length;
    uint32_t value_length;
    uint8_t key[ROW_KEY_MAX];
    uint8_t value[ROW_COMMENT_MAX];
};

struct cw_rows {
    struct cw_row *at;
    size_t count;
    size_t room;
};

void comment_world_rows(const struct comment_world *world, struct cw_rows *rows);
void cw_rows_add(struct cw_rows *rows, unsigned table, const uint8_t *key, size_t length,
                 const uint8_t *value, size_t value_length);
void cw_rows_sort(struct cw_rows *rows);
void cw_rows_free(struct cw_rows *rows);

#endif
