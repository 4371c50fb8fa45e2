/*
 * Requests and answers about comments: what is too large for struct hot_request, and the arrays of a
 * struct hot_scratch in which answers are returned.
 *
 * A request points to a `struct hot_detail`, which belongs to whoever made the request. Its texts point
 * to the bytes that the client has sent. A submission copies both. Answers are in the scratch, and their
 * texts are in the arena of the scratch; all of them are valid until the scratch is cleared.
 */
#ifndef LAUD_HOT_COMMENTS_H
#define LAUD_HOT_COMMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "base/limits.h"
#include "base/names.h"
#include "base/text.h"
#include "comment/comment.h"
#include "comment/order.h"
#include "comment/rows.h"
#include "hot/hot.h"

/* A point in a list of comments. What a cursor (op/comment_cursor.h) has. */
struct hot_mark {
    bool is_set;  /* false: the list begins */
    bool back;    /* the page ends before this point instead of beginning after it */
    uint64_t key; /* COMMENTS: of the order; QUEUE: the rank; otherwise 0 */
    uint64_t id;  /* a comment; INBOX: the number of an entry */
    uint32_t floor;
};

/* Inputs of a request about comments. All zero: nothing is given. */
struct hot_detail {
    struct text text;
    struct text extra;
    struct text reason;
    struct id mentions[LIMIT_MENTIONS];
    uint32_t mention_count;
    bool has_token;
    bool has_reader;  /* FOR */
    struct id reader; /* whose reactions are shown, and who may see his own pending comments */
    uint64_t token[2];
    uint64_t at; /* AT: the page begins with this comment */
    struct hot_mark after;
    /*
     * The client may use only subjects of these types, which are separated by commas (hot_detail_allows).
     * NULL: all types. Both pointers are valid as long as the server runs.
     */
    const char *types;
    const struct names *names;
};

/*
 * May the client use comments on subjects of this type? If not, such a comment does not exist for the
 * client: whoever finds a comment by its id asks this before anything else, and answers NO_COMMENT. The
 * detail may be NULL.
 */
static inline bool hot_detail_allows(const struct hot_detail *detail, uint16_t type)
{
    if (detail == NULL || detail->types == NULL)
        return true;
    const struct name *name = names_type(detail->names, type);
    return text_in_list((struct text){name->text, name->length}, detail->types);
}

/* Is the action about comments? They are the last ones in action.def. */
static inline bool hot_is_comments(enum hot_action action)
{
    return action >= HOT_COMMENT;
}

/* Where a request about comments has the pointer to its detail. */
static inline const struct hot_detail **hot_detail_place(struct hot_request *request)
{
    return (hot_flags(request->action) & HOT_IS_QUERY) != 0 ? &request->cards.detail
                                                            : &request->comment.detail;
}

/* The detail of a request; NULL: it has none, or it is not about comments. */
static inline const struct hot_detail *hot_detail_of(const struct hot_request *request)
{
    if (!hot_is_comments(request->action))
        return NULL;
    return (hot_flags(request->action) & HOT_IS_QUERY) != 0 ? request->cards.detail
                                                            : request->comment.detail;
}

/* The number of writes that a request counts as in hot_spend: long texts count as several. */
static inline uint32_t hot_writes_of_request(const struct hot_request *request)
{
    if (!hot_request_writes(request))
        return 0;
    const struct hot_detail *detail = hot_detail_of(request);
    return detail == NULL ? 1
                          : 1 + hot_writes_of(detail->text.length + detail->extra.length +
                                              detail->reason.length +
                                              detail->mention_count * sizeof(struct id));
}

/* A comment as it is shown. */
struct hot_card {
    struct comment comment; /* `moderation` as it is shown: shadow is visible for its author */
    bool is_shown; /* false: a placeholder, or there is no such comment (CARDS); no content */
    bool exists;   /* CARDS: there is a comment with this id that may be shown */
    bool pinned;
    bool owner_liked;        /* the owner of the subject likes it */
    bool reply_to_forgotten; /* the author of the comment that it answers was forgotten (FORGET) */
    struct text text;
    struct text extra;
    struct kind_set mine;   /* reactions of the reader */
    uint32_t counter_first; /* scratch->counters[counter_first … + counter_count) */
    uint32_t counter_count;
    uint32_t reply_first; /* of a root: scratch->cards[reply_first … + reply_count) */
    uint32_t reply_count;
    uint32_t more;     /* of a root: how many listed replies are not among these */
    uint64_t changed;  /* COMMENT_NEWS: the point of its last change; exists: it is listed now */
    uint64_t appeared; /* COMMENT_NEWS: the point of the last change that listed it; 0: none */
};

/*
 * What has changed on a watched subject. Points grow with every change, are never HOT_NEWS_BEGIN, and are
 * not release points. The answer has every comment that changed after request->cards.after and after
 * `since`, up to `until`, each once and in its present state, ordered by its last change.
 */
struct hot_news {
    uint64_t since; /* changes up to this point may be forgotten */
    uint64_t until;
    uint64_t now; /* there is no later point yet; later than `until`: there are more changes */
};

/* A page of cards, or of other entries, and what belongs to it. */
struct hot_cards_page {
    uint32_t first; /* scratch->cards[first … + count) */
    uint32_t count;
    uint32_t pinned_first; /* COMMENTS, first page: the pinned comments, also in scratch->cards */
    uint32_t pinned_count;
    struct hot_mark next;   /* is_set: there is more after the last one */
    struct hot_mark back;   /* is_set: there is more before the first one */
    struct subject subject; /* COMMENTS, SUBJECT */
    int64_t comments;       /* COMMENTS, SUBJECT: the subject's counter `comment` */
    struct hot_news news;   /* COMMENT_NEWS */
    uint32_t unread;        /* INBOX */
    uint32_t entry_first;   /* INBOX: scratch->inbox[…], HISTORY: scratch->versions[…] */
    uint32_t entry_count;
};

struct hot_inbox_entry {
    struct inbox_entry entry;
    uint32_t number;
    bool forgotten; /* the writer was forgotten (FORGET) */
};

/* An earlier text of a comment, or the present one. */
struct hot_version {
    uint32_t time_s;
    struct text text;
};

#endif
