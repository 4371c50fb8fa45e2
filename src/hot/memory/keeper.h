/*
 * The keeper: the thread that keeps the hot tier within its memory. It visits the shards in turn and
 *
 *   - empties whole pages when memory is short, so that they can be used for cells of any size: it evicts
 *     clean data, unless it was used since the last round, and copies other data to other pages
 *   - evicts item rows that were not used for --item-ttl, and entries at the old ends of shelves that are
 *     older than --shelf-age; twice a minute also entries above --shelf-max, on shelves that could not
 *     be shortened before because the entries were not clean
 *   - completes partial rows after a start with the values that the store had (load.h)
 *   - keeps comments within their share of memory, and removes from the lists of changed ones what the store has
 *   - removes notes of cleared reactions once the store has applied them, and tokens once they expire
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
    pthread_cond_t asked;  /* signals the keeper: there is work, or it has to stop */
    pthread_cond_t turned; /* the keeper signals that a round is over */
    bool wanted;           /* a thread waits for memory */
    bool stopping;
    uint64_t rounds;
    uint32_t patience; /* how many more waits all threads together may make until memory is found */

    /* Used only by the keeper's thread */
    uint32_t shard;      /* the next one to visit; user shards and item shards alternate */
    uint32_t gene;       /* the next one whose list of changed comments is looked at */
    uint64_t aged_ms;    /* when items were last aged; 0: not yet */
    uint64_t trimmed_ms; /* when old ends of shelves were last evicted; 0: not yet */
    uint64_t cut_ms;     /* when long shelves were last shortened; 0: not yet */
    uint64_t expired_ms; /* when tokens were last expired; 0: not yet */

    struct {
        _Atomic uint64_t evicted_users;
        _Atomic uint64_t evicted_items;
        _Atomic uint64_t expired_items;
        _Atomic uint64_t relocated; /* rows that were copied to empty a page */
        _Atomic uint64_t pages;     /* that were emptied */
    } stats;
};

void keeper_init(struct keeper *keeper);
bool keeper_start(struct hot_memory *hot); /* false: no thread */
void keeper_stop(struct hot_memory *hot);  /* also allowed if it never started */
void keeper_destroy(struct keeper *keeper);

/*
 * Waits for a round of the keeper, because the caller needs memory. `tries` is how often the caller has
 * waited already. Returns false, without waiting, if this request or all requests together have waited
 * often enough: while the keeper finds no memory, further writes are refused at once.
 */
bool keeper_wait(struct hot_memory *hot, unsigned tries);

/* Would keeper_wait wait now, instead of returning false at once? */
bool keeper_is_patient(struct keeper *keeper);

/* Makes one round. The keeper's thread calls it, and tests, which have no such thread. */
void keeper_round(struct hot_memory *hot, uint64_t now_ms);

#endif
