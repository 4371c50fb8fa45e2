/*
 * The hot tier in memory: users with their shelves on one side, item rows with their counters on
 * the other, each in shards with a lock of their own. A write holds its user's shard and, inside
 * that, its item's; nothing else is locked, and no two shards of one side are ever held together.
 */
#ifndef LAUD_HOT_MEMORY_H
#define LAUD_HOT_MEMORY_H

#include "base/memory.h"
#include "filter/filters.h"
#include "hot/exclusive.h"
#include "hot/hot.h"
#include "journal/log.h"
#include "store/store.h"
#include "trend/trends.h"

/* The board of a time window, which is kept elsewhere; trends.h. By workers only. */
typedef enum status hot_trend_fn(void *context, uint16_t type, uint8_t name,
                                 enum trend_window window, uint32_t now_s, struct ranked *out,
                                 size_t limit, size_t *count);

struct hot_memory_options {
    struct memory_budget *budget;
    uint64_t ready_bytes;       /* of it, taken from the system at once */
    bool keep_least;            /* of it, hot_memory_least is charged at once: over a store */
    struct store_reader *store; /* answers for what is not in memory; NULL: all is in memory */
    struct store_admin *admin;  /* of the same store, for filling boards; NULL if there is none */
    struct filters *filters;    /* before it; NULL if there is no store */
    const struct exclusive *exclusive; /* may be NULL; read only, outlives the hot tier */
    uint32_t shelf_max;                /* reactions kept on one shelf */
    uint32_t shelf_age_s;              /* and how old they may be */
    uint32_t item_ttl_s;               /* how long an item's row is kept after its last use */
    uint32_t token_ttl_s;              /* how long an idempotency token is remembered */
    uint64_t token_max;                /* and how many at most */
    uint64_t token_bytes;              /* and in how much memory; 0: as much as there is */
    uint64_t seed;                     /* of the hash tables: random in a server, fixed in tests */
    uint32_t board_entries;            /* 0: as usual; fewer in tests, see board.h */
    bool without_boards;               /* none are kept, and TOP says so */
    hot_trend_fn *trend;               /* NULL: windows are not kept */
    void *trend_context;
    struct timeline *timeline; /* of the keeper; NULL: recorded times are those of the clock */
};

struct hot *hot_memory_open(const struct hot_memory_options *options); /* NULL: no memory */

/*
 * What it takes of a budget of so many bytes to serve over a store, beside tokens. With less some
 * shards have pages and others never get one, and nothing can be evicted for them.
 */
uint64_t hot_memory_least(uint64_t budget_bytes);

/* Where decisions are recorded; set once, after replay and before the first hot_try. */
void hot_memory_set_journal(struct hot *hot, struct journal *journal);

/*
 * Applies recorded events (not DEFINE) in order, deciding nothing: the way of recovery. The last of
 * them ends at `position`. Tokens older than now_s - token_ttl_s are left out. NO_MEMORY past the
 * budget. DAMAGED for an event that contradicts the state (clearing what is not there).
 *
 * The store must stay as it is from the first of these calls to hot_memory_start.
 */
enum status hot_memory_apply(struct hot *hot, const struct event *events, size_t count,
                             uint64_t position, uint32_t now_s);

/* What the store remembers of an earlier run. NO_MEMORY also for more tokens than token_bytes allow. */
enum status hot_memory_restore_token(struct hot *hot, struct item item, const uint64_t token[2],
                                     uint32_t time_s);
void hot_memory_know_kind(struct hot *hot, uint8_t kind);

/*
 * Replay is over: from here on the store may change, and memory is kept within its bounds by a
 * thread. Only with a store. False: no thread, or no memory.
 */
bool hot_memory_start(struct hot *hot);

/* Starts the worker threads behind hot_submit. 0, or an errno. Until then nothing can be submitted. */
int hot_memory_start_workers(struct hot *hot, unsigned count);

/*
 * What a worker does: runs all requests, waiting for the store where that is needed. `worker` is a
 * number below LIMIT_WORKERS that nobody else uses at the time. The caller has been admitted for up to
 * LIMIT_BATCH writes if any request writes; FORGET and DROP are admitted here. Tests call it directly.
 */
void hot_memory_run_blocking(struct hot *hot, unsigned worker, struct hot_request *requests,
                             size_t count, struct hot_scratch *scratch);

/*
 * Writes are slowed down while the store has more than slow_bytes of the journal still to apply, and
 * refused above max_bytes; 0 for both: there is no bound. Before the first write.
 */
void hot_memory_bound_lag(struct hot *hot, uint64_t slow_bytes, uint64_t max_bytes);

/*
 * No decision from here on is made at an earlier time than this, whatever the clock says: what is
 * newer is what was decided later. Replay raises it to the times of events by itself.
 */
void hot_memory_raise_time(struct hot *hot, uint32_t time_s);
/* That time, as it grows; valid while the hot tier is. */
const _Atomic uint32_t *hot_memory_newest(struct hot *hot);

/*
 * How a worker has the store brought to a position, and waits for it: OK, or LAGGING if that takes
 * longer than the time. Set once, before the workers start; without it lists by item are refused.
 */
typedef enum status hot_reach_fn(void *context, uint64_t position, unsigned timeout_ms);
void hot_memory_set_reach(struct hot *hot, hot_reach_fn *reach, void *context);

/*
 * Saving the boards, and loading them at the next start. The file has what each board has above its
 * floor at some moment S, and a position D, which the store had reached, on disk, before that; it is
 * in place only once the journal is on disk up to S.
 *
 * Saving: 0; -errno: the file is the one before; -EAGAIN: so it is, for there is nothing to save, as
 * long as boards are being counted or some are off. By one thread at a time.
 *
 * Loading, before the first event is replayed: OK, and the file's position. If that is before the
 * store's, every event between the two has to be told (touch_boards; false: they are too many). MORE:
 * there is no file; DAMAGED, IO_FAILED: it is not good. After anything but OK, and if the events
 * cannot be told, hot_memory_recount_boards: they are counted anew in the background, as they are if
 * nothing is loaded and the store has something.
 */
int hot_memory_save_boards(struct hot *hot, const char *path, uint64_t position);
enum status hot_memory_load_boards(struct hot *hot, const char *path, uint64_t *position,
                                   char *problem, size_t size);
bool hot_memory_touch_boards(struct hot *hot, const struct event *event);
void hot_memory_recount_boards(struct hot *hot);

/* The projector has applied everything before this position. By one thread at a time. */
void hot_memory_projected(struct hot *hot, uint64_t position);

/*
 * The projector failed for good; by its thread, and once. What needs the store to catch up is refused
 * from now on, with `why`.
 */
void hot_memory_store_failed(struct hot *hot, const char *why);

/* The state of the journal that the log last told of; once the journal is closed. */
enum status hot_memory_logged_state(struct hot *hot);

#endif
