/*
 * Lines of JSON about comments, as exports have them and imports read them. The first key says what a line is:
 *
 *   {"subject":"video:42","owner":"7","mode":"held","next_floor":3}
 *   {"comment":"comment:9","subject":"video:42","author":"5","floor":1,"time":1760000000,
 *    "state":"visible","was_open":true,"next_floor":2,"text":"Nice","text_time":1760000000}
 *   {"comment":"comment:10","subject":"video:42","root":"comment:9","reply_to":"comment:9",
 *    "reply_to_user":"5","author":"7","floor":1,"time":1760000005,"state":"visible",
 *    "was_open":true,"text":"Thanks","text_time":1760000005}
 *   {"pin":"comment:9","subject":"video:42"}
 *   {"ban":"66","until":null,"shadow":true}
 *   {"inbox":"5","number":1,"comment":"comment:10","by":"7","time":1760000005}
 *   {"inbox":"5","newest":1,"seen":0}
 *
 * A comment may also have edited, versions, reviewed, deleted, extra (a string that is a JSON value), mentions
 * (an array of ids) and history: an array of the earlier texts, the oldest first, each an object with text,
 * text_time, extra and mentions. The author is null if it was forgotten.
 *
 * One thread uses a line. Its texts point into the JSON value that it owns.
 */
#ifndef LAUD_MOVE_COMMENT_LINE_H
#define LAUD_MOVE_COMMENT_LINE_H

#include "move/comments.h"

typedef struct json_t json_t;

enum comment_line_shape {
    COMMENT_LINE_SUBJECT,
    COMMENT_LINE_COMMENT,
    COMMENT_LINE_PIN,
    COMMENT_LINE_BAN,
    COMMENT_LINE_NOTICE,
    COMMENT_LINE_INBOX,
};

struct comment_line {
    json_t *json;
    enum comment_line_shape shape;
    struct text item;             /* SUBJECT, COMMENT, PIN: the subject */
    struct id user;               /* BAN, NOTICE, INBOX */
    struct subject subject;       /* SUBJECT: owner, mode and next floor */
    struct moved_comment comment; /* COMMENT; of PIN only the id */
    struct comment_content history[LIMIT_VERSIONS];
    struct user_ban ban;
    struct inbox_notice notice;
    struct inbox_state inbox;
};

/* Is the first key of the line one of those above? Other lines are those of row.h. */
bool comment_line_is(struct text line);

/*
 * Parses a line. OK, or BAD_ARGUMENT with a sentence in `problem`. comment_line_free frees it in either
 * case. What depends on other rows, and limits of texts, are checked by the import.
 */
enum status comment_line_parse(struct text line, struct comment_line *out, char *problem,
                               size_t size);
void comment_line_free(struct comment_line *line);

/* Adds it to an import. */
enum status comment_line_import(const struct comment_line *line, struct import *import);

#endif
