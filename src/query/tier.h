/*
 * What a hot tier provides, so that the queries in this folder can run on it: lists, FRIENDS, CHANGES,
 * FORGET and DROP. A hot tier has the newest state of everything, but not all of it; the store has
 * everything, but lags. A query needs both, and this port is all that it knows of the hot tier:
 *
 *   - what the tier has of a user's newest reactions, and how far back that is complete
 *   - a wait until the store has reached a point, such as the last change of an item
 *   - the reader of the store
 *   - for FORGET and DROP: admission of writes piece by piece, and ordinary requests
 *
 * The rule by which the two are merged, for each reaction by itself: *if the tier has an entry for it,
 * or a note that it was cleared, the tier is right; otherwise the store is right.* This is exact if the
 * tier is asked after the store, and if between read_begin and read_end the tier keeps every entry
 * and every note that was changed since read_begin. A change that the store's answer lacks was
 * made after the store was read, or the store had not applied it yet; in both cases the tier
 * still has it.
 *
 * A point is an opaque number: it stands for all changes up to some moment, and a later moment has
 * no smaller number. The tier that made it is the only one that can interpret it.
 *
 * One struct query_tier is made for one request by the thread that runs it, and is used by that
 * thread alone. Everything it points to belongs to the tier.
 */
#ifndef LAUD_QUERY_TIER_H
#define LAUD_QUERY_TIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "base/status.h"
#include "hot/hot.h"
#include "store/store.h"

struct query_tier;
struct removal_progress;

/*
 * A page of the list of one user's reactions of a kind on items of a type: the first `limit` entries
 * after the entry `after`, newest first (store_listed_order). `after` is what a client's cursor says;
 * the entry itself need not exist any more, since only its position in the order matters. If its
 * time is 0, the page begins with the newest entry.
 */
struct query_page {
    struct id user; /* that of the request */
    uint8_t kind;
    uint16_t type;
    bool any_order; /* the caller wants the whole list, and not more than `limit` of it, unsorted */
    uint32_t limit;
    struct store_listed after;
};

/* From when on the answer of `newest` is complete: every entry with a later time is in it. */
#define QUERY_COMPLETE   0          /* all entries are */
#define QUERY_INCOMPLETE UINT32_MAX /* any entry may be missing */

/* Which of these users have a reaction of this kind on this item, and since when? */
struct query_lookup {
    struct item item;
    uint8_t kind;
    uint32_t count;
    struct store_listed *users; /* in: id; out: time_s, or one of these two: */
};
#define QUERY_NOT_SET 0
#define QUERY_UNKNOWN UINT32_MAX /* only the store can tell */

/* Everything that was decided so far; the tier replaces it by a point of its own. */
#define QUERY_POINT_LATEST UINT64_MAX

struct query_tier_functions {
    /*
     * Appends to scratch->listed the entries of the page that the tier has, in any order: at least the
     * first `limit` of them, and all that have the time of the last of those. *complete_after_s says
     * from when on that is complete. If nothing of the page can be complete, it may append nothing.
     * OK or NO_MEMORY. Never blocks.
     */
    enum status (*newest)(struct query_tier *tier, const struct query_page *page,
                          struct hot_scratch *scratch, uint32_t *complete_after_s);
    /*
     * The rule above, in one atomic step: appends the entries of the page as `newest` does, and those
     * of `stored`, which the store answered since read_begin, that the tier has neither an entry nor a
     * note for. OK or NO_MEMORY.
     */
    enum status (*merge)(struct query_tier *tier, const struct query_page *page,
                         const struct store_listed *stored, size_t count,
                         struct hot_scratch *scratch);
    /*
     * Answers as far as the tier can, and returns how many users are UNKNOWN. If the caller may not
     * wait, it may stop at the first such user, because nobody will use the answer. Never blocks.
     */
    uint32_t (*look_up)(struct query_tier *tier, const struct query_lookup *lookup);
    /*
     * The rule above for single reactions: `read` has what the store answered since read_begin. The
     * tier replaces time_s of those that it knows better. It may also cache the others.
     */
    void (*settle)(struct query_tier *tier, struct store_reaction *read, size_t count);
    /* Around reading the store and asking the tier afterwards; `rows` were read, for statistics. */
    void (*read_begin)(struct query_tier *tier);
    void (*read_end)(struct query_tier *tier, size_t rows);

    /*
     * The point of an item's last change, or a later one. That of a user's last change, together with
     * a time: no change of this user after the point is recorded with an earlier time than *least_s,
     * which is 0 if nothing was ever recorded.
     */
    uint64_t (*item_point)(struct query_tier *tier, struct item item);
    uint64_t (*user_point)(struct query_tier *tier, struct id user, uint32_t *least_s);
    /* Waits until the store has reached the point. OK; LAGGING: not in time; STORE_FAILED: never. */
    enum status (*reach)(struct query_tier *tier, uint64_t point);

    /*
     * Up to `limit` reactions of the user (kind, item) that the store may lack; returns how many. If
     * there are none, the store has every reaction that the user has at this moment.
     */
    size_t (*not_stored)(struct query_tier *tier, struct id user, struct store_reaction *out,
                         size_t limit);
    /* Is this the name of a kind, so that the counter is the number of reactions? */
    bool (*is_kind)(struct query_tier *tier, uint8_t name);
    /*
     * May so many changes (up to LIMIT_BATCH) be made now? Waits for that. OK; BLOCKED: the request
     * has taken its time, and should end; another status: why not.
     */
    enum status (*admit)(struct query_tier *tier, uint32_t writes);
    /* Runs ordinary requests in order; those that write were admitted. */
    void (*run)(struct query_tier *tier, struct hot_request *requests, size_t count,
                struct hot_scratch *scratch);
};

struct query_tier {
    const struct query_tier_functions *functions;
    struct store_reader *store;        /* NULL: there is none, and the tier has everything */
    struct removal_progress *progress; /* of FORGET and DROP; one for all threads */
    bool may_wait;                     /* false: only functions that never block are called */
};

#endif
