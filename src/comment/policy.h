/*
 * The policy for comments: what the options --comment-… say, in the form in which the tier, the queries and
 * the projector use it. There is one policy for the whole server, which cli/ makes before it opens the
 * tier and frees after it has closed it.
 *
 * Kinds and types are given as names in the options, and names get their index when they are first used. So
 * the policy learns indices while the server runs: it observes the names (names_observe), and so it has
 * an index before the first event that uses the name is recorded.
 *
 * The projector keeps the rows of all orders, whichever are enabled, so --comment-orders can be changed at any
 * start. It only says which orders are answered.
 *
 * Any thread may read; what changes while the server runs is atomic.
 */
#ifndef LAUD_COMMENT_POLICY_H
#define LAUD_COMMENT_POLICY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/names.h"
#include "base/text.h"
#include "comment/comment.h"
#include "comment/screen.h"

#define POLICY_NO_NAME UINT8_MAX  /* no kind of this name exists yet */
#define POLICY_NO_TYPE UINT16_MAX /* no type of this name exists yet */

/* The words of --comment-hold, in the order of the option. */
enum comment_hold {
    COMMENT_HOLD_NO,    /* new comments are visible, unless something else holds them */
    COMMENT_HOLD_FIRST, /* pending until the user has had a comment that was open */
    COMMENT_HOLD_ALL,   /* all new comments are pending */
};

struct comment_policy {
    struct screen *screen; /* owned; NULL: no text is held because of words or links */
    enum comment_hold hold;
    uint32_t repeat_s;  /* --comment-repeat; 0: the same text may be posted again */
    uint32_t report_at; /* a comment with so many new reports is in the queue */
    char dislike_name[LIMIT_NAME_LENGTH + 1];
    char report_name[LIMIT_NAME_LENGTH + 1];
    const char *words_path;  /* --comment-words; belongs to the options */
    const char *orders_text; /* --comment-orders; belongs to the options */
    _Atomic uint8_t dislike; /* the kinds that count as dislike and report, or POLICY_NO_NAME */
    _Atomic uint8_t report;
    _Atomic uint16_t type; /* the type `comment`, or POLICY_NO_TYPE */
    /* By type of subjects: bit 1 << enum comment_order of each order that is answered. */
    _Atomic uint8_t orders[LIMIT_TYPES];
};

/* What a policy is made of: the values of the options. Zero and "" are valid for everything. */
struct comment_policy_options {
    uint64_t repeat_ms;
    const char *words; /* the path of a file of blocked words; "": none; must outlive the policy */
    uint64_t links;    /* a text with more links is held; COMMENT_ANY_LINKS: any number is fine */
    enum comment_hold hold;
    const char *dislike; /* names of kinds */
    const char *report;
    uint64_t report_at;
    const char *orders; /* must outlive the policy */
};

#define COMMENT_ANY_LINKS 10000 /* the highest value of --comment-links: no text has so many */

/* NULL: they are not valid, or there is no memory; `problem` is one sentence that names the option. */
struct comment_policy *comment_policy_new(const struct comment_policy_options *options,
                                          char *problem, size_t size);
void comment_policy_free(struct comment_policy *policy); /* NULL is fine */

/*
 * Reads the file of blocked words again. False: the old list stays, and `problem` is one sentence. One thread at
 * a time may call it, while others use the policy. Without such a file it does nothing.
 */
bool comment_policy_reload(struct comment_policy *policy, char *problem, size_t size);

/* A name has this index. It is called for every name, as the observer of the names. */
void comment_policy_learn(void *policy, enum name_role role, uint16_t index, const char *text,
                          size_t length);

/*
 * Must a new or edited text wait for a moderator? `was_open`: the user has had an open comment before. It
 * matters only if policy->hold is COMMENT_HOLD_FIRST (query/comment_first.h answers it). Whether the subject
 * is held is up to the caller.
 */
bool comment_policy_holds(const struct comment_policy *policy, struct text text, bool was_open);

/* May a page of this order be asked for, on subjects of this type? Always true of top, new and old. */
static inline bool comment_policy_has_order(const struct comment_policy *policy, uint16_t type,
                                            enum comment_order order)
{
    return order == ORDER_TOP ||
           !(order == ORDER_BEST || order == ORDER_HOT || order == ORDER_CONTROVERSIAL) ||
           (atomic_load_explicit(&policy->orders[type], memory_order_relaxed) >> order & 1) != 0;
}

#endif
