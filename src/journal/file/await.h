/*
 * Lets sources wait until the journal has more on disk. A source states the position that it waits
 * for and is not woken before. So the writer pays only one load per sync while nobody waits for
 * what it has just synced.
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
    /* The lowest position after which a source waits for more; UINT64_MAX: none. */
    _Atomic uint64_t beyond;
    _Atomic uint64_t durable; /* everything before it is on disk */
};

void await_make(struct await *await, uint64_t durable);
void await_free(struct await *await); /* no thread may be waiting */

/* Everything before this position is on disk. Only one thread calls this. */
void await_advance(struct await *await, uint64_t durable);

static inline uint64_t await_durable(const struct await *await)
{
    return atomic_load_explicit(&await->durable, memory_order_acquire);
}

/*
 * Waits until something after the position `beyond` is on disk, until *woken is set, or until the
 * monotonic clock reaches `until_ns`. It clears *woken, which the lock protects.
 */
void await_wait(struct await *await, bool *woken, uint64_t beyond, uint64_t until_ns);

/* Sets *woken of a source that waits or is about to wait. */
void await_wake(struct await *await, bool *woken);

#endif
