/*
 * Where sources wait until the journal has more on disk. The writer pays one load for it as long as
 * nobody waits for what it has just synced: a source says which position it waits for, and is not
 * woken before that.
 *
 * Any thread may wait, advance and wake.
 */
#ifndef LAUD_JOURNAL_FILE_AWAIT_H
#define LAUD_JOURNAL_FILE_AWAIT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct await {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    _Atomic uint64_t beyond;  /* somebody waits for more than this; UINT64_MAX: nobody does */
    _Atomic uint64_t durable; /* what is before it is on disk */
};

void await_make(struct await *await, uint64_t durable);
void await_free(struct await *await); /* nobody waits any more */

/* Everything before this position is on disk. Called by one thread. */
void await_advance(struct await *await, uint64_t durable);

static inline uint64_t await_durable(const struct await *await)
{
    return atomic_load_explicit(&await->durable, memory_order_acquire);
}

/*
 * Waits until something after the position `beyond` is on disk, *woken is set, or the monotonic
 * clock says `until_ns`. Clears *woken, which is protected by the lock.
 */
void await_wait(struct await *await, bool *woken, uint64_t beyond, uint64_t until_ns);

/* Sets *woken of one who waits, or is about to. */
void await_wake(struct await *await, bool *woken);

#endif
