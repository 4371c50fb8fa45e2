/*
 * The keeper: the thread that keeps the hot tier within its memory. It goes round the shards and
 *
 *   - under pressure empties whole pages, so that memory can serve any size again: what is in them
 *     and clean goes, unless it was used since the last time round; what is not clean moves
 *   - now and then lets item rows go that nobody has used for --item-ttl, and the ends of shelves
 *     that are older than --shelf-age; twice a minute also what is more than --shelf-max on shelves
 *     that grew while it was not clean
 *   - after a start completes partial rows with what the store had (load.h)
 *   - forgets what was cleared, once the store has it, and tokens, once their time is over
 *
 * A shard is locked only for a small step at a time.
 */
#ifndef LAUD_HOT_MEMORY_KEEPER_H
#define LAUD_HOT_MEMORY_KEEPER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct hot_memory;

struct keeper {
    pthread_t thread;
    bool running;
    pthread_mutex_t lock;
    pthread_cond_t asked;  /* to the keeper: work, or stop */
    pthread_cond_t turned; /* from the keeper: a round is over */
    bool wanted;           /* someone waits for memory */
    bool stopping;
    uint64_t rounds;
    uint32_t patience; /* waits that are left to all, until memory was found again */

    /* The keeper's own */
    uint32_t shard;      /* next to be looked at, users and items in turn */
    uint64_t aged_ms;    /* when the last round of ageing began; 0: none yet */
    uint64_t trimmed_ms; /* likewise for the ends of shelves */
    uint64_t cut_ms;     /* and of those that are too long */
    uint64_t expired_ms; /* and of tokens */

    struct {
        _Atomic uint64_t evicted_users;
        _Atomic uint64_t evicted_items;
        _Atomic uint64_t expired_items;
        _Atomic uint64_t moved; /* rows, to empty a page */
        _Atomic uint64_t pages; /* emptied */
    } stats;
};

void keeper_init(struct keeper *keeper);
bool keeper_start(struct hot_memory *hot); /* false: no thread */
void keeper_stop(struct hot_memory *hot);  /* also if it never started */
void keeper_destroy(struct keeper *keeper);

/*
 * Someone needs memory: waits for a round of the keeper. False if that has been tried often enough, by
 * this one or by all: where nothing is found, those who come after are told so at once.
 */
bool keeper_wait(struct hot_memory *hot, unsigned tries);

/* Would the next who needs memory wait for a round, and not be refused at once? */
bool keeper_is_patient(struct keeper *keeper);

/* One round, as the thread does it; for tests, which have no thread. */
void keeper_round(struct hot_memory *hot, uint64_t now_ms);

#endif
