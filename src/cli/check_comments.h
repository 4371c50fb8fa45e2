/*
 * The steps of `laud check` for comments. Everything is compared as of the store's own position. Rows are read in
 * the order of their keys, some hundred at a time, and for each of them the rows and counters that it has to agree
 * with; so memory does not depend on how many comments there are.
 *
 *   check_comments.c         runs the steps; batches; sentences
 *   check_comments_own.c     a comment: its content, its counters, and every row that it must have
 *   check_comments_rows.c    every other row: that its comment has it
 *   check_comments_counts.c  subjects and threads: what the counting rules say
 *   check_comments_users.c   inboxes, bans, and what is kept once
 *
 * A step returns OK; DAMAGED with a sentence in check->problem that names the comment, subject or user; or a failure
 * of the store.
 */
#ifndef LAUD_CLI_CHECK_COMMENTS_H
#define LAUD_CLI_CHECK_COMMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/check_store.h"
#include "comment/order.h"
#include "comment/rows.h"

enum { CHECK_BATCH = 256 };

struct comments_check {
    struct check_store *check;
    struct store_reader *reader;
    struct store_arena arena; /* of the present batch */
    uint16_t type;            /* of comments; UINT16_MAX: there is no such type */
    uint8_t dislike;          /* kinds; UINT8_MAX: there is no such kind */
    uint8_t report;
    uint64_t highest_ms; /* of all ids */
    uint64_t comments;   /* that were found */
    uint64_t subjects;
};

/* A comment's row, with what it says. */
struct checked_comment {
    uint64_t id;
    bool found;
    struct comment comment;
    struct comment_index index;
};

/* A batch of rows of one visit; `flush` is called when it is full, and at the end. */
struct check_rows {
    struct comments_check *check;
    enum status (*flush)(struct comments_check *check, const struct store_row *rows, size_t count);
    struct store_row rows[CHECK_BATCH];
    struct store_arena arena;
    size_t count;
};

/* Visits all rows of a table in batches. */
enum status check_visit_rows(struct comments_check *check, enum store_table table,
                             enum status (*flush)(struct comments_check *check,
                                                  const struct store_row *rows, size_t count));

/* Reads all rows of a group in batches. The rows are valid until the function returns. */
typedef enum status check_scan_fn(struct comments_check *check, void *context,
                                  const struct store_row *rows, size_t count);
enum status check_scan_group(struct comments_check *check, enum store_table table,
                             const uint8_t *group, check_scan_fn *take, void *context);

/* Writes the sentence and returns DAMAGED. */
enum status check_bad(struct comments_check *check, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
enum status check_bad_comment(struct comments_check *check, uint64_t id, const char *what);
enum status check_bad_item(struct comments_check *check, struct item item, const char *what);
enum status check_bad_user(struct comments_check *check, struct id user, const char *what);

/* Reads the rows of these comments; at most CHECK_BATCH. */
enum status check_read_comments(struct comments_check *check, struct checked_comment *comments,
                                size_t count);
/* Reads a subject; *found is false if it has no row. */
enum status check_read_subject(struct comments_check *check, struct item item,
                               struct subject *subject, bool *found);
/* Reads one counter of an item. */
enum status check_read_count(struct comments_check *check, struct item item, uint8_t name,
                             int64_t *value);

/* The steps; each visits one table or more. */
enum status check_comments_own(struct comments_check *check);
enum status check_comments_rows(struct comments_check *check);
enum status check_comments_counts(struct comments_check *check);
enum status check_comments_users(struct comments_check *check);

#endif
