/*
 * The store port: the full base, exact for everything the hot tier does not hold (law 4). Domain
 * level and batch-shaped: many keys in, many answers out; a batch of changes is applied together
 * with the journal position it reaches, in one step (law 5), and applying a batch whose position
 * is not beyond the store's own changes nothing.
 *
 * Any thread may read, one at a time applies and flushes (the projector). Calls may block on a
 * disk or a network, so no I/O thread makes them.
 */
#ifndef LAUD_STORE_STORE_H
#define LAUD_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "base/limits.h"
#include "base/status.h"

/* A reaction, as key and as row. time_s is 0 where it is not live. */
struct store_reaction {
    struct id user;
    struct item item;
    uint8_t kind;
    bool was_live; /* in a change: the store has it, perhaps with another time */
    uint32_t time_s;
    uint32_t cleared_s; /* in a change, if time_s is 0: when it was cleared; 0: not to be told */
};

/* A counter. A change adds `value`; sums stay in range, whoever decided them saw to that. */
struct store_count {
    struct item item;
    uint8_t name;
    int64_t value;
};

struct store_value {
    int64_t value;
    uint8_t name;
};

/* Counters of items that were read: item i has values[first[i] … first[i + 1]). Grows (realloc). */
struct store_values {
    struct store_value *values; /* the caller frees it at the end */
    size_t used;
    size_t capacity;
};

/* An item whose counters are asked for. None of them is 0. */
struct store_item {
    struct item item;
    uint32_t first; /* out: in store_values.values */
    uint32_t count; /* out */
};

/* A type, kind or counter (enum name_role) and its index. */
struct store_name {
    uint8_t role;
    uint8_t length;
    uint16_t index;
    char text[LIMIT_NAME_LENGTH];
};

/* The idempotency token of an addition made at time_s. */
struct store_token {
    uint64_t token[2];
    uint32_t time_s;
    struct item item; /* what was added to */
};

/*
 * A place in a list that is newest first: by time falling, then by id as the store sorts ids (narrow
 * ones before wide ones, each rising). store_listed_order is that order.
 *
 * What a user changed is many lists, one behind the other: those set, then those cleared, each by
 * kind and type. There an entry says which list it is on; elsewhere that is 0.
 */
struct store_listed {
    uint32_t time_s; /* as a place to go on from, 0: from the newest on */
    uint16_t type;
    uint8_t kind;
    bool cleared; /* at time_s; else set */
    struct id id;
};

/* < 0: a comes before b, 0: the same. */
static inline int store_listed_order(struct store_listed a, struct store_listed b)
{
    if (a.time_s != b.time_s)
        return a.time_s > b.time_s ? -1 : 1;
    if (id_is_wide(a.id) != id_is_wide(b.id))
        return id_is_wide(b.id) ? -1 : 1;
    if (a.id.hi != b.id.hi)
        return a.id.hi < b.id.hi ? -1 : 1;
    return a.id.lo < b.id.lo ? -1 : a.id.lo > b.id.lo;
}

/* The order of everything a user has: by kind, by type, and within a list as above. */
static inline int store_user_order(const struct store_reaction *a, const struct store_reaction *b)
{
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->item.type != b->item.type)
        return a->item.type < b->item.type ? -1 : 1;
    return store_listed_order((struct store_listed){.time_s = a->time_s, .id = a->item.id},
                              (struct store_listed){.time_s = b->time_s, .id = b->item.id});
}

/* The same over all that a user changed. */
static inline int store_changed_order(struct store_listed a, struct store_listed b)
{
    if (a.cleared != b.cleared)
        return a.cleared ? 1 : -1;
    if (a.kind != b.kind)
        return a.kind < b.kind ? -1 : 1;
    if (a.type != b.type)
        return a.type < b.type ? -1 : 1;
    return store_listed_order(a, b);
}

/* What a page of a user's changes has come to. */
struct store_changed {
    size_t count; /* rows; may be fewer than the limit, or none, and still not the end */
    bool more;    /* there may be something behind `last` */
    struct store_listed last; /* how far it looked: where to go on */
    uint32_t newest_s;        /* time of the newest event that the store has */
};

struct store_changes {
    const struct store_reaction *reactions; /* net effect, each key once: time_s 0 removes */
    size_t reaction_count;
    const struct store_reaction *passed; /* set and cleared again: nothing of it but cleared_s */
    size_t passed_count;
    const struct store_count *counts; /* each (item, name) once, never 0 */
    size_t count_count;
    const struct store_name *names;
    size_t name_count;
    const struct store_token *tokens;
    size_t token_count;
    uint32_t token_horizon_s;   /* tokens older than this need not be kept any more */
    uint32_t cleared_horizon_s; /* nor what was cleared before this */
    uint32_t newest_s;          /* time of the newest event; 0: none has one */
    uint64_t position;          /* of the journal, reached once this is applied */
};

struct store;
struct store_snapshot; /* the state of one moment */

/*
 * Reactions by their user and counters by their item fall into so many parts of about the same size,
 * in the order of which a store can visit them without looking at the others. Keys on disk begin with
 * the part: this never changes.
 */
#define STORE_PARTS     65536
#define STORE_PART_SEED 0x6c617564726f7773ULL

static inline uint32_t store_user_part(struct id user)
{
    return (uint32_t)(hash_3(user.lo, user.hi, STORE_PART_SEED) >> 48);
}

static inline uint32_t store_item_part(struct item item)
{
    return (uint32_t)(hash_3(item.id.lo, item.id.hi, STORE_PART_SEED + item.type) >> 48);
}

/* Called for each row, in no particular order; a status other than OK ends the visit with it. */
struct store_visitor {
    enum status (*reaction)(void *context, const struct store_reaction *reaction);
    enum status (*count)(void *context, const struct store_count *count); /* none of them 0 */
    enum status (*name)(void *context, const struct store_name *name);
    enum status (*token)(void *context, const struct store_token *token);
    void *context;
    uint32_t part_first; /* of reactions and counters only the parts from this one on ... */
    uint32_t part_end;   /* ... and before this one; 0: all */
};

static inline bool store_visits_part(const struct store_visitor *visitor, uint32_t part)
{
    return visitor->part_end == 0 || (part >= visitor->part_first && part < visitor->part_end);
}

/* What verifying found; also handed to the progress function now and then while it goes on. */
struct store_report {
    uint64_t reactions;
    uint64_t counts;
    uint64_t rows;       /* of any sort looked at so far */
    uint64_t rows_total; /* an estimate */
    char problem[256];   /* on DAMAGED or IO_FAILED: one sentence */
};
typedef void store_progress_fn(void *context, const struct store_report *report);

struct store_stats {
    uint64_t position;  /* applied */
    uint64_t durable;   /* applied and flushed: a crash goes back no further */
    uint64_t reactions; /* live; may be an estimate */
    uint32_t newest_s;  /* time of the newest event applied */
    uint64_t disk_bytes;
    uint64_t memory_bytes;
    uint64_t merges;   /* under way in the background: it is not at rest */
    const char *state; /* "ok", or what is wrong, one sentence */
};

struct store_ops {
    const char *name;
    /* Fills time_s of each key. */
    enum status (*read_reactions)(struct store *store, struct store_reaction *keys, size_t count);
    /* Fills first and count of each item, appends to values. `snapshot` may be NULL: now. */
    enum status (*read_items)(struct store *store, const struct store_snapshot *snapshot,
                              struct store_item *items, size_t count, struct store_values *values);
    /*
     * One page of a list: up to `limit` of what comes after `after`; *count of them. Items of one
     * type that the user has reactions of a kind on; users that have one on the item.
     */
    enum status (*list_reactions)(struct store *store, struct id user, uint8_t kind, uint16_t type,
                                  struct store_listed after, struct store_listed *out, size_t limit,
                                  size_t *count);
    enum status (*list_reactors)(struct store *store, struct item item, uint8_t kind,
                                 struct store_listed after, struct store_listed *out, size_t limit,
                                 size_t *count);
    /* Likewise everything a user has, of all kinds; `after` of time 0: from the first on. */
    enum status (*list_user)(struct store *store, struct id user,
                             const struct store_reaction *after, struct store_reaction *out,
                             size_t limit, size_t *count);
    /*
     * What the user set and cleared at since_s or later, in store_changed_order, behind `after`; of
     * the cleared those that are not live again, one perhaps more than once. Since 0: all that is
     * live, and nothing cleared. START_OVER: what was cleared since then is not all there any more,
     * or the store has not come so far yet.
     */
    enum status (*list_changes)(struct store *store, struct id user, uint32_t since_s,
                                struct store_listed after, struct store_listed *out, size_t limit,
                                struct store_changed *changed);
    enum status (*apply)(struct store *store, const struct store_changes *changes);
    /* Everything applied survives a crash and a power cut when this returns OK. */
    enum status (*flush)(struct store *store);
    struct store_snapshot *(*snapshot)(struct store *store); /* NULL: no memory */
    void (*release)(struct store *store, struct store_snapshot *snapshot);
    /* Only those functions of the visitor that are not NULL. */
    enum status (*visit)(struct store *store, const struct store_visitor *visitor);
    /* Every count equals its distinct reactions, and all forms of a reaction agree. */
    enum status (*verify)(struct store *store, store_progress_fn *progress, void *context,
                          struct store_report *report);
    uint64_t (*position)(struct store *store);
    void (*stats)(struct store *store, struct store_stats *out);
    void (*close)(struct store *store);
};

/* The head of every implementation's own struct. */
struct store {
    const struct store_ops *ops;
};

static inline enum status store_read_reactions(struct store *store, struct store_reaction *keys,
                                               size_t count)
{
    return store->ops->read_reactions(store, keys, count);
}

static inline enum status store_read_items(struct store *store,
                                           const struct store_snapshot *snapshot,
                                           struct store_item *items, size_t count,
                                           struct store_values *values)
{
    return store->ops->read_items(store, snapshot, items, count, values);
}

static inline enum status store_list_reactions(struct store *store, struct id user, uint8_t kind,
                                               uint16_t type, struct store_listed after,
                                               struct store_listed *out, size_t limit,
                                               size_t *count)
{
    return store->ops->list_reactions(store, user, kind, type, after, out, limit, count);
}

static inline enum status store_list_reactors(struct store *store, struct item item, uint8_t kind,
                                              struct store_listed after, struct store_listed *out,
                                              size_t limit, size_t *count)
{
    return store->ops->list_reactors(store, item, kind, after, out, limit, count);
}

static inline enum status store_list_user(struct store *store, struct id user,
                                          const struct store_reaction *after,
                                          struct store_reaction *out, size_t limit, size_t *count)
{
    return store->ops->list_user(store, user, after, out, limit, count);
}

static inline enum status store_list_changes(struct store *store, struct id user, uint32_t since_s,
                                             struct store_listed after, struct store_listed *out,
                                             size_t limit, struct store_changed *changed)
{
    return store->ops->list_changes(store, user, since_s, after, out, limit, changed);
}

static inline enum status store_apply(struct store *store, const struct store_changes *changes)
{
    return store->ops->apply(store, changes);
}

static inline enum status store_flush(struct store *store)
{
    return store->ops->flush(store);
}

static inline struct store_snapshot *store_snapshot(struct store *store)
{
    return store->ops->snapshot(store);
}

static inline void store_release(struct store *store, struct store_snapshot *snapshot)
{
    store->ops->release(store, snapshot);
}

static inline enum status store_visit(struct store *store, const struct store_visitor *visitor)
{
    return store->ops->visit(store, visitor);
}

static inline enum status store_verify(struct store *store, store_progress_fn *progress,
                                       void *context, struct store_report *report)
{
    return store->ops->verify(store, progress, context, report);
}

static inline uint64_t store_position(struct store *store)
{
    return store->ops->position(store);
}

static inline void store_stats(struct store *store, struct store_stats *out)
{
    store->ops->stats(store, out);
}

static inline void store_close(struct store *store)
{
    store->ops->close(store);
}

#endif
