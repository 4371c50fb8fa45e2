/*
 * The steps of making rows of comments, each in a file of its own: comments.c collects the events of a window
 * and runs the steps; comments_apply.c reads what the events concern and applies them; comments_index.c makes
 * the rows of a comment; comments_inbox.c makes the rows of users; comments_rows.c is the list of rows.
 */
#ifndef LAUD_PROJECT_COMMENTS_PRIV_H
#define LAUD_PROJECT_COMMENTS_PRIV_H

#include "comment/order.h"
#include "comment/rows.h"
#include "project/comments.h"

/* An event of the window. */
struct comment_note {
    uint8_t kind; /* enum comment_event */
    uint32_t time_s;
    uint32_t length;
    struct id user;
    const uint8_t *body;
};

/* An earlier text that an edit of this window has made history. */
struct comment_version {
    uint32_t number;
    uint32_t next; /* index + 1 of the version before it, of the same comment; 0: none */
    struct store_bytes content;
};

/* A comment that an event or a vote of the window concerns. */
struct comment_work {
    uint64_t id;
    bool was;             /* the store has it */
    bool is;              /* it exists after the events that were applied so far */
    bool content_changed; /* the window has given it a content */
    bool wiped;           /* content and history that the store has are removed */
    bool wants_content;   /* the content that the store has is needed */
    uint32_t versions;    /* index + 1 of the newest version of this window; 0: none */
    struct comment before;
    struct comment now;
    struct comment_index index; /* as the store has it; all zero if it was not there */
    struct comment_votes votes; /* at the end of the window */
    struct store_bytes content; /* after the events so far, if it is needed; data NULL: none */
};

/* A subject as an event has made it. */
struct subject_work {
    uint32_t serial; /* a later event has a higher number */
    struct subject subject;
};

enum user_change { USER_NOTICE, USER_IMPORTED, USER_SEEN, USER_EMPTIED, USER_BANNED };

/* Something that an event does to what is kept of a user. */
struct user_work {
    struct id user;
    uint32_t serial; /* a later one has a higher number */
    uint32_t seen;   /* USER_SEEN */
    uint32_t number; /* USER_IMPORTED: the number of the entry */
    uint8_t change;  /* enum user_change */
    struct user_ban ban;
    /* USER_NOTICE, USER_IMPORTED; the comment COMMENT_NONE: only the numbers go on from there */
    struct inbox_entry entry;
};

/* Rows that will be written. Keys and values are in the arena. */
struct comment_rows {
    struct store_row *at;
    size_t count;
    size_t room;
};

struct comments {
    struct comments_options options;
    uint16_t type;   /* of comments; UINT16_MAX: not defined yet */
    uint8_t dislike; /* kinds; UINT8_MAX: not defined yet */
    uint8_t report;

    struct store_arena bodies; /* of the events */
    struct comment_note *notes;
    size_t note_count, note_room;

    /* Only while and after rows are made */
    struct store_arena arena;   /* what was read, and the rows */
    struct comment_work *works; /* by id, each once */
    size_t work_count, work_room;
    struct comment_version *versions;
    size_t version_count, version_room;
    struct subject_work *subjects;
    size_t subject_count, subject_room;
    struct user_work *users;
    size_t user_count, user_room;
    struct comment_rows rows;
    struct item *parents;
    size_t parent_count, parent_room;
    uint64_t highest_ms; /* of the ids of comments that were added in this window */
    bool added;          /* comments were added in this window */
    char *problem;       /* of comments_make_rows */
    size_t problem_size;
};

/* Writes the sentence about a contradiction, which names the comment, and returns DAMAGED. */
enum status comments_contradict(struct comments *comments, uint64_t id, const char *what);

/* Makes room for one more entry; false: there is no memory. */
bool comments_grow(void *array, size_t *room, size_t count, size_t entry_bytes);

/* comments_rows.c: each returns OK or NO_MEMORY. Key and value are copied. */
enum status comment_rows_put(struct comments *comments, enum store_table table, const uint8_t *key,
                             size_t length, const uint8_t *value, size_t value_length);
enum status comment_rows_remove(struct comments *comments, enum store_table table,
                                const uint8_t *key, size_t length);
/* Puts the rows in order. DAMAGED: there is a key twice, so two events contradict each other. */
enum status comment_rows_finish(struct comments *comments);

/* comments_apply.c: reads the comments of the window and applies all events to them. */
enum status comments_apply(struct comments *comments, const struct store_changes *changes);

/* comments_index.c: the rows of a comment, and those of subjects. */
enum status comments_write_work(struct comments *comments, const struct comment_work *work);
enum status comments_write_subjects(struct comments *comments);

/* comments_inbox.c: notices about a comment that has become open, and the rows of all users. */
enum status comments_notify(struct comments *comments, const struct comment_work *work,
                            uint32_t time_s);
enum status comments_add_user(struct comments *comments, const struct user_work *user);
enum status comments_write_users(struct comments *comments);

#endif
