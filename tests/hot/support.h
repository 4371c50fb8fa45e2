/*
 * What the tests of the hot tier share: a journal that keeps every event, a bed with a hot tier in
 * it, alone or over a store with its filters and a projector that runs when it is told to, and ids
 * made from small numbers.
 */
#ifndef LAUD_HOT_SUPPORT_H
#define LAUD_HOT_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/limits.h"
#include "base/names.h"
#include "chance.h"
#include "filter/filters.h"
#include "hot/memory/hot_memory_priv.h"
#include "journal/log.h"
#include "project/fold.h"
#include "store/memory/store_memory.h"

static inline uint64_t test_operations(uint64_t usual)
{
    const char *text = getenv("LAUD_OPS");
    return text != NULL ? strtoull(text, NULL, 10) : usual / SANITIZED_PART;
}

/*
 * A journal that keeps every event in order, with a copy of its body, each with the position after it. Positions are either
 * as in a real one, or so far apart that each event has a stamp (clean.h) of its own.
 */
struct recorder {
    struct journal journal;
    pthread_mutex_t lock;
    struct event *events;
    uint64_t *ends;
    size_t count;
    size_t capacity;
    bool real_sizes;
    size_t reserved; /* bytes reserved for long events, and not appended */
    /* What journal_admit and journal_reserve say; NULL: always OK. */
    enum status (*admit)(void *context);
    void *context;
};

void recorder_open(struct recorder *recorder);
void recorder_close(struct recorder *recorder);
/* Position after so many events. */
uint64_t recorder_position(struct recorder *recorder, size_t count);
size_t recorder_count(struct recorder *recorder);

/* A hot tier, and what is under it. */
struct bed {
    struct memory_budget budget;       /* of the hot tier and the filters */
    struct memory_budget store_budget; /* of the rest: as good as unlimited */
    struct hot_memory_options options;
    struct store *store;                          /* NULL: none, and nothing of what follows */
    struct store *(*open_store)(struct bed *bed); /* a new, empty one; NULL: the one in memory */
    struct store_reader *front; /* what the hot tier reads instead of the store; NULL: the store */
    struct filters *filters;
    struct fold *fold;
    const struct names *comment_names; /* NULL: comments are not projected */
    struct comments *comments;         /* of the fold */
    /* Called with what projector_options.parents would get; NULL: nothing. */
    void (*parents)(struct bed *bed, const struct item *parents, size_t count);
    struct chance *windows; /* NULL: windows after a crash are as large as can be, or random */
    size_t projected;       /* events that the store has */
    size_t flushed;         /* and that it keeps in a crash */
    uint32_t changes_ttl_s; /* how long it remembers what was cleared; 0: for ever */
    struct hot *hot;
    struct recorder recorder;
    struct hot_scratch scratch;
    uint64_t waited;                      /* requests that needed a worker */
    void (*load_boards)(struct bed *bed); /* bed_crash: before replay; NULL: nothing */
};

/* How long a FORGET or DROP may go on in tests: longer than any takes. */
#define BED_PIECES_NS (3600 * 1000000000ULL)

struct hot_memory_options bed_options(void);

/* Kinds 0 and 2 exclude each other. */
extern const struct exclusive exclusive_0_and_2;

/* One thread for each of these, with one argument for all; and their end. */
typedef void *crew_fn(void *argument);
void crew_start(pthread_t *threads, crew_fn *const *work, unsigned count, void *argument);
void crew_join(const pthread_t *threads, unsigned count);

/* Without a store; quiet: and without a journal, for replay. */
void bed_open(struct bed *bed, uint64_t limit, struct hot_memory_options options);
void bed_open_quiet(struct bed *bed, uint64_t limit, struct hot_memory_options options);
/* With a store, started but for the keeper's thread: keeper_round is the test's to call. */
void bed_open_stored(struct bed *bed, uint64_t limit, struct hot_memory_options options);
/* Likewise, over the stores that open_store opens: one now, and another one after each crash. */
void bed_open_over(struct bed *bed, uint64_t limit, struct hot_memory_options options,
                   struct store *(*open_store)(struct bed *bed));
void bed_close(struct bed *bed);

/* From now on comments are projected, too. The kinds `dislike` and `report` have their usual names. */
void bed_use_comments(struct bed *bed, const struct names *names);

/* hot_memory_start without the thread. */
void bed_start(struct bed *bed);

/* Carries the next events up to this number into the store, in one window. */
void bed_project(struct bed *bed, size_t up_to);
void bed_project_all(struct bed *bed);
/* As a projector does it when it is asked to; for hot_memory_set_reach, with the bed. */
enum status bed_reach(void *bed, uint64_t position, unsigned timeout_ms);
/* What is projected survives bed_crash. */
void bed_flush(struct bed *bed);
/*
 * The store is back at its last flush, the hot tier is opened anew and replays the rest. If that
 * does not fit, it goes to the store first.
 */
void bed_crash(struct bed *bed, uint32_t now_s);
/* Without a store: the hot tier is opened anew and replays everything. */
void bed_replay(struct bed *bed, uint32_t now_s);
/* One of those things, with a chance of 1 in `odds` each, or some projecting; returns which. */
enum bed_event { BED_EVICTED, BED_FLUSHED, BED_CRASHED, BED_KEPT, BED_PROJECTED, BED_NOTHING };
enum bed_event bed_disturb(struct bed *bed, struct chance *chance, uint32_t odds, uint32_t now_s);
void bed_keep(struct bed *bed, uint32_t now_s); /* a round of the keeper */

/* One request, run alone: as an I/O thread, and if that cannot, as worker 0. */
enum status bed_run(struct bed *bed, struct hot_request *request);

int64_t bed_change(struct bed *bed, enum hot_action action, struct id user, uint8_t kind,
                   struct item item, uint32_t time_s);
int64_t bed_add(struct bed *bed, struct item item, uint8_t name, int64_t delta);
bool bed_ask(struct bed *bed, struct id user, uint8_t kind, struct item item);
int64_t bed_count(struct bed *bed, struct item item, uint8_t name);
struct hot_stats bed_stats(struct bed *bed);
/* Is the item's row, or the user's, in memory? */
bool bed_has_item(struct bed *bed, struct item item);
bool bed_has_user(struct bed *bed, struct id user);
/* All that is clean goes, as under great pressure. */
void bed_evict(struct bed *bed);
/* Only this one, which must be there and clean. */
void bed_evict_item(struct bed *bed, struct item item);

/* Moves the cells of the table itself out of retiring pages. */
void bed_move_table(struct table *table);

/* Every third is a UUID. Wide ids share lower halves with narrow ones and with each other. */
static inline struct id id_number(uint32_t number)
{
    if (number % 3 != 2)
        return (struct id){.lo = 1000 + number};
    return (struct id){.hi = 0x5000 + number, .lo = 1000 + number / 6};
}

static inline struct item item_number(uint32_t number)
{
    return (struct item){.id = id_number(number / 2), .type = number % 2 ? 1 : 700};
}

#endif
