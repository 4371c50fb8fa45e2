/*
 * The store port. A store is the database that holds everything: all reactions, counters, names,
 * idempotency tokens, and rows of named tables (rows.h). The hot tier asks it for whatever is not in memory, and it must answer exactly.
 *
 * A store has three interfaces, and a caller is given only those that it needs:
 *
 *   reader   answers questions about reactions, counters, lists and rows.
 *   applier  writes batches of changes. It belongs to the projector.
 *   admin    visits, verifies and rewrites all rows, and describes the state of the store.
 *
 * All calls take or return batches. Any thread may call the reader and the admin, at the same time as
 * any other thread. One thread at a time may call the applier. A call may wait for a disk or a network,
 * so an I/O thread must not make one.
 *
 * The caller owns the memory of all arguments; a store keeps no pointer to them after a call.
 */
#ifndef LAUD_STORE_STORE_H
#define LAUD_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "store/row.h"
#include "store/rows.h"
#include "store/state.h"

/* The result of list_changes. */
struct store_changed {
    size_t count; /* entries written; can be less than the limit, even 0, although `more` is true */
    bool more;    /* There may be entries after `last`. */
    struct store_listed
        last;          /* the last entry that was looked at; the next page continues after it */
    uint32_t newest_s; /* time of the newest event that the store has applied */
};

/*
 * What a change does to the rows that are kept with their user: whether a reaction is set, the lists of
 * a user, and what a user cleared recently.
 */
struct store_user_changes {
    const struct store_reaction *reactions; /* each key once; time_s 0 clears the reaction */
    size_t reaction_count;
    /*
     * Reactions that were set and cleared again within this change. They are not set before or after
     * it, so only cleared_s is of interest.
     */
    const struct store_reaction *transient;
    size_t transient_count;
    uint32_t cleared_horizon_s; /* What was cleared before this time may be removed. */
};

/*
 * What a change does to the rows that are kept with their item: the lists of users who reacted to it, its
 * counters, and the tokens of additions to them.
 */
struct store_item_changes {
    const struct store_reaction *reactions; /* the same as in the user's span, in any order */
    size_t reaction_count;
    const struct store_count *counts; /* each item and name once; no value is 0 */
    size_t count_count;
    const struct store_token *tokens;
    size_t token_count;
    uint32_t token_horizon_s; /* Tokens from before this time may be removed. */
};

/*
 * The net effect of a range of the journal. It has two spans, because a store may keep the rows of users
 * and the rows of items in different databases; such a store writes each span with a position of its
 * own. A store that has one database writes all of a change in one step.
 *
 * Each span may be empty. If the two spans of a transition are applied by two calls, the item's span
 * comes first: the time of the reaction that it replaces is read from the rows of the user.
 */
struct store_changes {
    struct store_user_changes user;
    struct store_item_changes item;
    const struct store_name *names;
    size_t name_count;
    const struct store_row *rows; /* each table and key once, in any order */
    size_t row_count;
    uint32_t newest_s; /* time of the newest event in this change; 0: no event has a time */
    uint64_t position; /* the position of the journal that the store has when this is applied */
};

/*
 * Functions that are called for each row, in no particular order. Rows whose function is NULL are not
 * visited. If a function returns anything but OK, the visit ends with that status.
 */
struct store_visitor {
    enum status (*reaction)(void *context, const struct store_reaction *reaction);
    enum status (*count)(void *context, const struct store_count *count); /* no value is 0 */
    enum status (*name)(void *context, const struct store_name *name);
    enum status (*token)(void *context, const struct store_token *token);
    /*
     * Unlike the others, rows are visited in an order: table by table, and within a table by partition
     * of the group, then by key. Their bytes are valid until the function returns.
     */
    enum status (*row)(void *context, const struct store_row *row);
    void *context;
    uint32_t tables; /* Only rows of these tables are visited (store_table_bit). 0: all tables. */
    /* Only reactions, counters and rows of these partitions are visited. An end of 0 means all. */
    uint32_t partition_first;
    uint32_t partition_end; /* exclusive */
};

static inline bool store_visits_partition(const struct store_visitor *visitor, uint32_t partition)
{
    return visitor->partition_end == 0 ||
           (partition >= visitor->partition_first && partition < visitor->partition_end);
}

static inline bool store_visits_table(const struct store_visitor *visitor, enum store_table table)
{
    return visitor->tables == 0 || (visitor->tables & store_table_bit(table)) != 0;
}

/* What verifying has found. The progress function gets it from time to time. */
struct store_report {
    uint64_t reactions;
    uint64_t counts;
    uint64_t rows;       /* rows of all types that were read so far */
    uint64_t rows_total; /* an estimate */
    char problem[256];   /* if the status is DAMAGED or IO_FAILED: one sentence */
};
typedef void store_progress_fn(void *context, const struct store_report *report);

struct store_stats {
    uint64_t position;  /* Everything before it is applied. */
    uint64_t durable;   /* Everything before it is applied and survives a crash. */
    uint64_t reactions; /* number of set reactions; may be an estimate */
    uint32_t newest_s;  /* time of the newest event that was applied */
    uint64_t disk_bytes;
    uint64_t memory_bytes;
    uint64_t merges; /* compactions and flushes that run or wait in the background */
    enum store_state state;
};

struct store_snapshot; /* the counters of one moment; each store defines its own */
struct store_reader;
struct store_applier;
struct store_admin;
struct store;

struct store_reader_functions {
    /* Fills time_s of each key. */
    enum status (*read_reactions)(struct store_reader *reader, struct store_reaction *keys,
                                  size_t count);
    /*
     * Reads the counters of items: fills first and count of each item and appends to `values`. They are
     * those of the snapshot, or the present ones if it is NULL.
     */
    enum status (*read_items)(struct store_reader *reader, const struct store_snapshot *snapshot,
                              struct store_item *items, size_t count, struct store_values *values);
    /*
     * One page of a list: at most `limit` entries after `after`. *count says how many. list_reactions
     * lists the items of a type on which the user has a reaction of this kind; list_reactors lists the
     * users who have one on the item.
     */
    enum status (*list_reactions)(struct store_reader *reader, struct id user, uint8_t kind,
                                  uint16_t type, struct store_listed after,
                                  struct store_listed *out, size_t limit, size_t *count);
    enum status (*list_reactors)(struct store_reader *reader, struct item item, uint8_t kind,
                                 struct store_listed after, struct store_listed *out, size_t limit,
                                 size_t *count);
    /*
     * One page of all reactions of a user, in store_user_order. If time_s of `after` is 0, the page
     * starts with the first reaction.
     */
    enum status (*list_user)(struct store_reader *reader, struct id user,
                             const struct store_reaction *after, struct store_reaction *out,
                             size_t limit, size_t *count);
    /*
     * One page of what the user set or cleared at since_s or later, in store_changed_order. A cleared
     * reaction that is set again is not among the cleared ones; any other may be there more than once.
     * If since_s is 0, the list has all set reactions and no cleared ones. START_OVER: the store no
     * longer has everything that was cleared since then, or it has not yet applied an event of that
     * time.
     */
    enum status (*list_changes)(struct store_reader *reader, struct id user, uint32_t since_s,
                                struct store_listed after, struct store_listed *out, size_t limit,
                                struct store_changed *changed);
    /*
     * Reads rows of one table by their keys, all as of one moment: fills values[i] for keys[i]. If there
     * is no such row, its data is NULL; an empty value has other data. The bytes are in the arena.
     */
    enum status (*read_rows)(struct store_reader *reader, enum store_table table,
                             const struct store_bytes *keys, size_t count,
                             struct store_bytes *values, struct store_arena *arena);
    /*
     * Reads rows of one group in the order of their keys, as of one moment. *count says how many, *more
     * whether the scan ended before a further row because of a limit. To continue, scan again `from` the
     * last row. The bytes of keys and values are in the arena. A scan costs what it returns, however
     * large the group is.
     */
    enum status (*scan_rows)(struct store_reader *reader, const struct store_scan *scan,
                             struct store_row *rows, size_t *count, bool *more,
                             struct store_arena *arena);
    /* NULL: there is no memory. The caller releases the snapshot. */
    struct store_snapshot *(*snapshot)(struct store_reader *reader);
    void (*release)(struct store_reader *reader, struct store_snapshot *snapshot);
};

struct store_applier_functions {
    /*
     * Applies a change and its position in one step. A change whose position is not after that of the
     * store was applied before, and has no effect. DISK_FULL and NO_MEMORY: nothing was applied, and
     * the same change may be tried again.
     */
    enum status (*apply)(struct store_applier *applier, const struct store_changes *changes);
    /* If this returns OK, everything that was applied survives a crash and a power cut. */
    enum status (*flush)(struct store_applier *applier);
    /* Any thread: everything in the journal before this position is applied. */
    uint64_t (*position)(struct store_applier *applier);
};

struct store_admin_functions {
    const char *name; /* of the implementation, for INFO */
    enum status (*visit)(struct store_admin *admin, const struct store_visitor *visitor);
    /*
     * Checks that each counter of a kind equals the number of its reactions, and that all rows of a
     * reaction agree. `progress` may be NULL.
     */
    enum status (*verify)(struct store_admin *admin, store_progress_fn *progress, void *context,
                          struct store_report *report);
    /*
     * Rewrites everything, so that no file of the store has the bytes of a value that was removed or
     * overwritten before the call. Everything that was applied is flushed first. This takes as long as
     * reading and writing the whole store; other calls go on meanwhile. `progress` may be NULL; it gets
     * rows and rows_total. TOO_BUSY: somebody held a snapshot or visited the store all the time, so old
     * bytes may remain; the call can be repeated.
     */
    enum status (*compact)(struct store_admin *admin, store_progress_fn *progress, void *context);
    void (*stats)(struct store_admin *admin, struct store_stats *out);
    /*
     * For a backup: makes a new directory with a copy of the store as of its last flush, with hard
     * links where the file system has them. The directory must not exist, but its parent must. Only
     * the thread that applies may call it, right after a flush. NULL: the store cannot be copied.
     */
    enum status (*checkpoint)(struct store_admin *admin, const char *directory);
    /* Frees the store; no call on any of its interfaces may run or follow. */
    void (*close)(struct store_admin *admin);
};

struct store_reader {
    const struct store_reader_functions *functions;
};

struct store_applier {
    const struct store_applier_functions *functions;
};

struct store_admin {
    const struct store_admin_functions *functions;
};

/* The first member of the struct of each implementation. Whoever opens a store owns all of it. */
struct store {
    struct store_reader reader;
    struct store_applier applier;
    struct store_admin admin;
};

/* For implementations: the store to which an interface belongs. */
static inline struct store *store_of_reader(struct store_reader *reader)
{
    return (struct store *)((char *)reader - offsetof(struct store, reader));
}

static inline struct store *store_of_applier(struct store_applier *applier)
{
    return (struct store *)((char *)applier - offsetof(struct store, applier));
}

static inline struct store *store_of_admin(struct store_admin *admin)
{
    return (struct store *)((char *)admin - offsetof(struct store, admin));
}

static inline enum status store_read_reactions(struct store_reader *reader,
                                               struct store_reaction *keys, size_t count)
{
    return reader->functions->read_reactions(reader, keys, count);
}

static inline enum status store_read_items(struct store_reader *reader,
                                           const struct store_snapshot *snapshot,
                                           struct store_item *items, size_t count,
                                           struct store_values *values)
{
    return reader->functions->read_items(reader, snapshot, items, count, values);
}

static inline enum status store_list_reactions(struct store_reader *reader, struct id user,
                                               uint8_t kind, uint16_t type,
                                               struct store_listed after, struct store_listed *out,
                                               size_t limit, size_t *count)
{
    return reader->functions->list_reactions(reader, user, kind, type, after, out, limit, count);
}

static inline enum status store_list_reactors(struct store_reader *reader, struct item item,
                                              uint8_t kind, struct store_listed after,
                                              struct store_listed *out, size_t limit, size_t *count)
{
    return reader->functions->list_reactors(reader, item, kind, after, out, limit, count);
}

static inline enum status store_list_user(struct store_reader *reader, struct id user,
                                          const struct store_reaction *after,
                                          struct store_reaction *out, size_t limit, size_t *count)
{
    return reader->functions->list_user(reader, user, after, out, limit, count);
}

static inline enum status store_list_changes(struct store_reader *reader, struct id user,
                                             uint32_t since_s, struct store_listed after,
                                             struct store_listed *out, size_t limit,
                                             struct store_changed *changed)
{
    return reader->functions->list_changes(reader, user, since_s, after, out, limit, changed);
}

static inline enum status store_read_rows(struct store_reader *reader, enum store_table table,
                                          const struct store_bytes *keys, size_t count,
                                          struct store_bytes *values, struct store_arena *arena)
{
    return reader->functions->read_rows(reader, table, keys, count, values, arena);
}

static inline enum status store_scan_rows(struct store_reader *reader,
                                          const struct store_scan *scan, struct store_row *rows,
                                          size_t *count, bool *more, struct store_arena *arena)
{
    return reader->functions->scan_rows(reader, scan, rows, count, more, arena);
}

static inline struct store_snapshot *store_snapshot(struct store_reader *reader)
{
    return reader->functions->snapshot(reader);
}

static inline void store_release(struct store_reader *reader, struct store_snapshot *snapshot)
{
    reader->functions->release(reader, snapshot);
}

static inline enum status store_apply(struct store_applier *applier,
                                      const struct store_changes *changes)
{
    return applier->functions->apply(applier, changes);
}

static inline enum status store_flush(struct store_applier *applier)
{
    return applier->functions->flush(applier);
}

static inline uint64_t store_position(struct store_applier *applier)
{
    return applier->functions->position(applier);
}

static inline enum status store_visit(struct store_admin *admin,
                                      const struct store_visitor *visitor)
{
    return admin->functions->visit(admin, visitor);
}

static inline enum status store_verify(struct store_admin *admin, store_progress_fn *progress,
                                       void *context, struct store_report *report)
{
    return admin->functions->verify(admin, progress, context, report);
}

static inline enum status store_compact(struct store_admin *admin, store_progress_fn *progress,
                                        void *context)
{
    return admin->functions->compact(admin, progress, context);
}

static inline void store_stats(struct store_admin *admin, struct store_stats *out)
{
    admin->functions->stats(admin, out);
}

static inline enum status store_checkpoint(struct store_admin *admin, const char *directory)
{
    return admin->functions->checkpoint == NULL ? STATUS_NO_STORE
                                                : admin->functions->checkpoint(admin, directory);
}

static inline void store_close(struct store *store)
{
    store->admin.functions->close(&store->admin);
}

#endif
