/*
 * Keys and values of the rows that comments have in the store (store/rows.h). Numbers in keys are big
 * endian, so that the order of bytes is the order of numbers. `~` means that all bits are inverted,
 * which makes the order descending.
 *
 *   table     key: group | rest                        value
 *   SUBJECT   item |                                    struct subject
 *   COMMENT   id |                                      struct comment, struct comment_index
 *   CONTENT   id |                                      content.h, the encoded content
 *   HISTORY   id | ~version                             content.h: an earlier text with its time
 *   FLOOR     parent | floor                            id; of every listed comment
 *   ORDER     parent, order | ~key, floor               id; of every listed root, in 4 orders
 *   ORDER     parent, ROWS_UNLISTED | floor             id; of every comment that is not listed
 *   ORDER     subject, ROWS_HELD | author, ~id          id; of every pending or shadow comment
 *   WRITTEN   user | class, ~id                         nothing; class 0: open, 1: not open
 *   INBOX     user | ~number                            struct inbox_entry
 *   QUEUE     subject's type, state | ~rank, ~id        nothing; rank: of `reported`, else 0
 *   USER      user | 'b'                                struct user_ban
 *   USER      user | 'i'                                struct inbox_state
 *   STATE     'i' |                                     the highest milliseconds of all ids
 *   STATE     'k' |                                     struct comment_kinds
 *
 * The parent of a root is its subject, that of a reply is the item of its root. Replies have rows in
 * FLOOR and UNLISTED, but not in the orders by key.
 *
 * The functions have no state; any thread may call.
 */
#ifndef LAUD_COMMENT_ROWS_H
#define LAUD_COMMENT_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "comment/body.h"
#include "comment/comment.h"
#include "comment/order.h"
#include "store/rows.h"

/* Further values of the order byte in the table ORDER, beside enum comment_order. */
#define ROWS_UNLISTED 64
#define ROWS_HELD     65

#define ROW_KEY_MAX     56  /* bytes of the longest key */
#define ROW_COMMENT_MAX 256 /* bytes of the longest value of COMMENT, SUBJECT, INBOX, USER, STATE */

enum queue_state {
    QUEUE_PENDING = 0,
    QUEUE_HIDDEN = 1,
    QUEUE_REPORTED = 2,
};

/*
 * What the projector has written to the other tables for this comment. Rows are removed by these values
 * and never by computing them again. Only the projector makes and uses it.
 */
struct comment_index {
    bool listed;                /* it has rows in FLOOR and, if it is a root, in the orders */
    bool unlisted;              /* it has a row in UNLISTED */
    bool held;                  /* it has a row in HELD */
    uint8_t written;            /* 0: none; otherwise class + 1 of its row in WRITTEN */
    uint8_t queued;             /* 0: none; otherwise enum queue_state + 1, PENDING or HIDDEN */
    uint32_t reported;          /* rank of its row in the queue of reported comments; 0: none */
    uint64_t keys[ORDER_TOTAL]; /* as indexed, if listed and a root */
};

/*
 * The names of the kinds that count as dislike and as report in the keys and ranks of all rows. They are written
 * with the first comment and do not change, because then all keys would have to be computed again.
 */
struct comment_kinds {
    char dislike[LIMIT_NAME_LENGTH + 1]; /* "": none */
    char report[LIMIT_NAME_LENGTH + 1];
};

/* Both numbers only grow, until the inbox is emptied. The entries numbered above newest - LIMIT_INBOX exist. */
struct inbox_state {
    uint32_t newest; /* number of the newest entry; the first one has number 1 */
    uint32_t seen;   /* entries up to this number were seen */
};

/* Each makes a key in `out` and returns its length, the group first. */
size_t row_key_item(struct item item, uint8_t *out); /* SUBJECT, group of FLOOR */
size_t row_key_id(uint64_t id, uint8_t *out);        /* COMMENT, CONTENT */
size_t row_key_history(uint64_t id, uint32_t version, uint8_t *out);
size_t row_key_floor(struct item parent, uint32_t floor, uint8_t *out);
size_t row_key_order(struct item parent, enum comment_order order, uint64_t key, uint32_t floor,
                     uint8_t *out);
size_t row_key_unlisted(struct item parent, uint32_t floor, uint8_t *out);
size_t row_key_held(struct item subject, struct id author, uint64_t id, uint8_t *out);
size_t row_key_written(struct id user, uint8_t class, uint64_t id, uint8_t *out);
size_t row_key_inbox(struct id user, uint32_t number, uint8_t *out);
size_t row_key_queue(uint16_t type, enum queue_state state, uint32_t rank, uint64_t id,
                     uint8_t *out);
size_t row_key_user(struct id user, uint8_t what, uint8_t *out); /* what: 'b' or 'i' */
size_t row_key_state(uint8_t what, uint8_t *out);

/* The key of a row that is found by the id of its comment alone. Its bytes are written to `key`. */
static inline struct store_bytes row_bytes_id(uint64_t id, uint8_t *key)
{
    uint32_t length = (uint32_t)row_key_id(id, key);
    return (struct store_bytes){key, length};
}

/* Each reads what a key has; false: it is malformed. Arguments may be NULL. */
bool row_read_item(struct store_bytes key, struct item *item);
bool row_read_id(struct store_bytes key, uint64_t *id); /* COMMENT, CONTENT, HISTORY */
bool row_read_history(struct store_bytes key, uint64_t *id, uint32_t *version);
bool row_read_floor(struct store_bytes key, struct item *parent, uint32_t *floor);
bool row_read_order(struct store_bytes key, struct item *parent, uint8_t *order, uint64_t *rank,
                    uint32_t *floor); /* also UNLISTED, with rank 0 */
bool row_read_held(struct store_bytes key, struct item *subject, struct id *author, uint64_t *id);
bool row_read_written(struct store_bytes key, struct id *user, uint8_t *class, uint64_t *id);
bool row_read_inbox(struct store_bytes key, struct id *user, uint32_t *number);
bool row_read_queue(struct store_bytes key, uint16_t *type, enum queue_state *state, uint32_t *rank,
                    uint64_t *id);
bool row_read_user(struct store_bytes key, struct id *user, uint8_t *what);

/* Values: write returns the length, at most ROW_COMMENT_MAX; read returns OK or DAMAGED. */
size_t row_write_subject(const struct subject *subject, uint8_t *out);
enum status row_read_subject(struct store_bytes value, struct item item, struct subject *out);
size_t row_write_comment(const struct comment *comment, const struct comment_index *index,
                         uint8_t *out);
enum status row_read_comment(struct store_bytes value, uint64_t id, struct comment *out,
                             struct comment_index *index); /* index may be NULL */
size_t row_write_number(uint64_t number, uint8_t *out);    /* ids in FLOOR, ORDER; STATE */
enum status row_read_number(struct store_bytes value, uint64_t *out);
size_t row_write_inbox(const struct inbox_entry *entry, uint8_t *out);
enum status row_read_inbox_entry(struct store_bytes value, struct inbox_entry *out);
size_t row_write_inbox_state(const struct inbox_state *state, uint8_t *out);
enum status row_read_inbox_state(struct store_bytes value, struct inbox_state *out);
size_t row_write_kinds(const struct comment_kinds *kinds, uint8_t *out);
enum status row_read_kinds(struct store_bytes value, struct comment_kinds *out);
size_t row_write_ban(const struct user_ban *ban, uint8_t *out);
enum status row_read_ban(struct store_bytes value, struct user_ban *out);

#endif
