/*
 * The hot tier in memory. It has users with their shelves, and item rows with their counters; both are
 * divided into shards, each with its own lock. A write locks the shard of its user and then, inside it,
 * the shard of its item. It takes no other lock, and no thread ever locks two user shards or two item
 * shards at the same time.
 */
#ifndef LAUD_HOT_MEMORY_H
#define LAUD_HOT_MEMORY_H

#include "base/memory.h"
#include "base/names.h"
#include "comment/body.h"
#include "comment/policy.h"
#include "filter/filters.h"
#include "hot/exclusive.h"
#include "hot/hot.h"
#include "journal/log.h"
#include "store/store.h"
#include "trend/trends.h"

/* Reads a windowed board, which is not kept here (trends.h). Only workers call it. */
typedef enum status hot_trend_fn(void *context, uint16_t type, uint8_t name,
                                 enum trend_window window, uint32_t now_s, struct ranked *out,
                                 size_t limit, size_t *count);

struct hot_memory_options {
    struct memory_budget *budget;
    uint64_t ready_bytes; /* bytes of the budget that are allocated at once */
    bool keep_least;      /* hot_memory_least is charged to the budget at once; with a store */
    struct store_reader *store; /* has what is not in memory; NULL: everything is in memory */
    struct store_admin *admin;  /* of the same store, for filling boards; NULL if there is none */
    struct filters *filters;    /* asked before the store; NULL if there is no store */
    const struct exclusive *exclusive; /* may be NULL; read only, outlives the hot tier */
    uint32_t shelf_max;                /* how many reactions are kept on one shelf */
    uint32_t shelf_age_s;              /* how old reactions on a shelf may be */
    uint32_t item_ttl_s;               /* how long an item's row is kept after its last use */
    uint32_t token_ttl_s;              /* how long an idempotency token is remembered */
    uint64_t token_max;                /* how many tokens are remembered at most */
    uint64_t token_bytes;              /* the memory that tokens may use; 0: no bound */
    uint64_t seed;                     /* of the hash tables: random in a server, fixed in tests */
    uint32_t board_entries;            /* of one section; 0: BOARD_ENTRIES; tests use fewer */
    bool without_boards;               /* no boards are kept, and TOP reports this */
    hot_trend_fn *trend;               /* NULL: windowed boards are not kept */
    void *trend_context;
    struct timeline *timeline; /* used by the keeper; NULL: recorded times are those of the clock */
    const struct comment_policy *comments; /* outlives the tier; NULL: nothing is held or refused */
    uint64_t head_bytes;    /* memory for heads of comments (comment_heads.h), of the budget */
    uint64_t comment_bytes; /* the same for comments and subjects; 0: 1/16 of the budget */
    struct names *names;    /* in which COMMENT makes the type `comment`; NULL: it exists already */
};

struct hot *hot_memory_open(const struct hot_memory_options *options); /* NULL: no memory */

/*
 * How many bytes of a budget of this size the tier needs at least to serve with a store, not counting
 * tokens. With less memory, some shards would never get a page, because nothing could be evicted for them.
 */
uint64_t hot_memory_least(uint64_t budget_bytes);

/* Sets the journal that records decisions; once, after replay and before the first hot_try. */
void hot_memory_set_journal(struct hot *hot, struct journal *journal);

/*
 * Replays recorded events (not DEFINE) in order, without deciding anything, for recovery. The last of
 * them ends at `position`. Tokens older than now_s - token_ttl_s are skipped. Returns NO_MEMORY if the
 * budget is used up, and DAMAGED for an event that contradicts the state (such as clearing a reaction
 * that is not set).
 *
 * The store must not change from the first of these calls to hot_memory_start.
 */
enum status hot_memory_apply(struct hot *hot, const struct event *events, size_t count,
                             uint64_t position, uint32_t now_s);

/*
 * Restore tokens, with their values, and kinds that the store has from an earlier run. NO_MEMORY is also
 * returned if there are more tokens than token_bytes allow.
 */
enum status hot_memory_restore_token(struct hot *hot, struct item item, const uint64_t token[2],
                                     uint32_t time_s, uint64_t value);
void hot_memory_know_kind(struct hot *hot, uint8_t kind);
/* The same for a ban that the store has (comment/rows.h). OK or NO_MEMORY. */
enum status hot_memory_restore_ban(struct hot *hot, struct id user, struct user_ban ban,
                                   uint32_t now_s);

/*
 * Ends replay and starts the keeper: from now on the store may change. Only called if there is a store.
 * False: no thread, or no memory.
 */
bool hot_memory_start(struct hot *hot);

/* Starts the worker threads that run submissions. 0 or an errno. Before this hot_submit returns false. */
int hot_memory_start_workers(struct hot *hot, unsigned count);

/*
 * Runs all requests as a worker does, and waits for the store if necessary. `worker` is a number below
 * LIMIT_WORKERS that no other thread uses at the same time. If any request writes, the caller has been
 * admitted for up to LIMIT_BATCH writes; FORGET and DROP are admitted here. Tests call it directly.
 */
void hot_memory_run_blocking(struct hot *hot, unsigned worker, struct hot_request *requests,
                             size_t count, struct hot_scratch *scratch);

/*
 * Sets the bounds of the lag: writes are slowed down above slow_bytes and refused above max_bytes. If both
 * are 0, there is no bound. Called before the first write.
 */
void hot_memory_bound_lag(struct hot *hot, uint64_t slow_bytes, uint64_t max_bytes);

/*
 * From now on no decision gets an earlier time than this, whatever the clock says, so that a later
 * decision never has an earlier time. Replay itself raises the time to the times of its events.
 */
void hot_memory_raise_time(struct hot *hot, uint32_t time_s);
/* The newest time so far; it grows while the pointer is used. The memory belongs to the hot tier. */
const _Atomic uint32_t *hot_memory_newest(struct hot *hot);

/*
 * A function that has the store brought to a position and waits for it: OK, or LAGGING if it takes longer
 * than timeout_ms. Workers call it. It is set once, before the workers start; without it, lists by item
 * are refused.
 */
typedef enum status hot_reach_fn(void *context, uint64_t position, unsigned timeout_ms);
void hot_memory_set_reach(struct hot *hot, hot_reach_fn *reach, void *context);

/*
 * Saving the boards, and loading them at the next start. The file has the entries of each board above its
 * floor at some moment S, and a position D that the store on disk had reached before S. The file replaces
 * the old one only once the journal is on disk up to S.
 *
 * Saving returns 0, or -errno; then the old file is still there. -EAGAIN means that the boards cannot be
 * saved now, because they are being counted or some are off. One thread at a time may save.
 *
 * Loading is done before the first event is replayed. It returns OK and the file's position; MORE if there
 * is no file; DAMAGED or IO_FAILED if the file cannot be used. If the file's position is before the
 * store's, hot_memory_touch_boards has to be called for every event between the two; it returns false if
 * there are too many. After that, or if loading did not return OK, hot_memory_recount_boards has to be
 * called: the boards are then counted again in the background, as they are if nothing was loaded and the
 * store is not empty.
 */
int hot_memory_save_boards(struct hot *hot, const char *path, uint64_t position);
enum status hot_memory_load_boards(struct hot *hot, const char *path, uint64_t *position,
                                   char *problem, size_t size);
bool hot_memory_touch_boards(struct hot *hot, const struct event *event);
void hot_memory_recount_boards(struct hot *hot);

/*
 * The position of the journal after the newest event that has removed a text: its bytes are in events
 * before it. What was removed before the start counts as removed at the start. 0: none was. Any thread may call.
 */
uint64_t hot_memory_erased(struct hot *hot);

/*
 * A window of the projector has changed rows of these parents of comments. The projector's thread calls this
 * after the window is applied and before hot_memory_projected.
 */
void hot_memory_discard_heads(struct hot *hot, const struct item *parents, size_t count);

/* The projector has applied everything before this position. One thread at a time may call this. */
void hot_memory_projected(struct hot *hot, uint64_t position);

/*
 * The projector failed and will not continue; its thread calls this once. Requests for which the store
 * would have to catch up are refused from now on, with the reason `why`.
 */
void hot_memory_store_failed(struct hot *hot, const char *why);

/* The state of the journal that was logged last; may be called once the journal is closed. */
enum status hot_memory_logged_state(struct hot *hot);

#endif
