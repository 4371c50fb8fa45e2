/*
 * The body of a comment event (EVENT_COMMENT): what a decision has made of the comment, of its root and
 * of its subject. It has *after-images*: the whole new values, not steps towards them. So replay and the
 * projector need no rule of comments to apply an event, only to copy; and the last event on a comment
 * is right. Only counters are given as differences, because votes and other comments change them too.
 *
 * The format is described at the top of body.c. It begins with a version.
 */
#ifndef LAUD_COMMENT_BODY_H
#define LAUD_COMMENT_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/status.h"
#include "base/text.h"
#include "comment/comment.h"

/* Kinds of comment events: event.name. The numbers never change. */
enum comment_event {
    COMMENT_EVENT_ADD = 1,
    COMMENT_EVENT_EDIT = 2,
    COMMENT_EVENT_STATE = 3,   /* moderation or deletion */
    COMMENT_EVENT_PURGE = 4,   /* deleted, and its text and history are removed */
    COMMENT_EVENT_PIN = 5,     /* pinned or unpinned: only the subject is changed */
    COMMENT_EVENT_SUBJECT = 6, /* owner or mode: only the subject is changed */
    COMMENT_EVENT_DROP = 7,    /* all comments of the subject up to dropped_floor are gone */
    COMMENT_EVENT_ROWS = 8,    /* a dropped comment's rows are removed (a piece of DROP) */
    COMMENT_EVENT_BAN = 9,     /* of event.user: only `ban` is there */
    COMMENT_EVENT_SEEN = 10,   /* of event.user: only `seen` is there */
    COMMENT_EVENT_FORGET = 11, /* the author is removed from the comment, which is deleted */
    COMMENT_EVENT_INBOX = 12,  /* the inbox of event.user is emptied */
    COMMENT_EVENT_IMPORT = 13, /* a comment from somewhere else: like ADD, but nobody is notified */
    COMMENT_EVENT_NOTICE = 14, /* an imported entry of the inbox of event.user: only `notice` */
};

/* An entry of an inbox. */
struct inbox_entry {
    uint64_t comment;
    struct id by;
    uint32_t time_s;
    bool mention; /* false: a reply */
};

/*
 * An imported entry with its number, which becomes the newest of its inbox if it is higher. If
 * entry.comment is COMMENT_NONE, there is no entry, and later entries get numbers above this one.
 */
struct inbox_notice {
    uint32_t number;
    struct inbox_entry entry;
};

struct user_ban {
    uint32_t until_s; /* recorded time; UINT32_MAX: for ever; 0: the user is not banned */
    bool shadow;
};

struct comment_body {
    bool has_subject;
    bool has_comment;
    bool has_root;
    bool has_content; /* content and content_length are the encoded content, perhaps unchanged */
    bool has_token;
    struct subject subject;
    struct comment comment;
    struct comment root; /* only if its open_replies or next_floor changed */
    const uint8_t *content;
    uint32_t content_length;
    int64_t subject_delta; /* of the counter `comment` of the subject */
    int64_t root_delta;    /* of the counter `comment` of the root */
    uint64_t token[2];
    struct user_ban ban;
    uint32_t seen; /* the number of the newest entry of the inbox that was seen */
    struct inbox_notice notice;
    struct text reason; /* what a moderator has said about a change of the state; may be empty */
};

/* The largest number of bytes of an encoded body. */
#define COMMENT_BODY_BYTES LIMIT_EVENT_BODY

/* Writes the body to `out`, which has room for COMMENT_BODY_BYTES, and returns its length. */
size_t comment_body_encode(enum comment_event kind, const struct comment_body *body, uint8_t *out);

/* Reads a body. `content` and `reason` point into `bytes`. DAMAGED: it is none, or not one of this kind. */
enum status comment_body_decode(enum comment_event kind, const uint8_t *bytes, size_t length,
                                struct comment_body *out);

#endif
