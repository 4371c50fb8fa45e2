/*
 * Why no advance is missed: a waiting thread stores `beyond` before it reads `durable`, and the
 * writer stores `durable` before it reads `beyond`. All four accesses are sequentially consistent,
 * so one of the two notices the other. The writer then takes the lock, which the waiting thread
 * releases only by waiting.
 */
#include "journal/file/await.h"

#include <time.h>

#include "base/assert.h"

void await_make(struct await *await, uint64_t durable)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&await->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&await->lock, NULL);
    atomic_init(&await->beyond, UINT64_MAX);
    atomic_init(&await->durable, durable);
}

void await_free(struct await *await)
{
    pthread_cond_destroy(&await->changed);
    pthread_mutex_destroy(&await->lock);
}

void await_advance(struct await *await, uint64_t durable)
{
    uint64_t before = atomic_load_explicit(&await->durable, memory_order_relaxed);
    ASSERT(durable >= before);
    if (durable == before)
        return;
    atomic_store(&await->durable, durable);
    if (durable <= atomic_load(&await->beyond))
        return;
    pthread_mutex_lock(&await->lock);
    atomic_store(&await->beyond, UINT64_MAX); /* threads that still wait set it again */
    pthread_cond_broadcast(&await->changed);
    pthread_mutex_unlock(&await->lock);
}

void await_wait(struct await *await, bool *woken, uint64_t beyond, uint64_t until_ns)
{
    struct timespec until = {(time_t)(until_ns / 1000000000), (long)(until_ns % 1000000000)};
    int result = 0;
    pthread_mutex_lock(&await->lock);
    while (!*woken && result == 0) {
        if (beyond < atomic_load(&await->beyond))
            atomic_store(&await->beyond, beyond);
        if (atomic_load(&await->durable) > beyond)
            break;
        result = pthread_cond_timedwait(&await->changed, &await->lock, &until);
    }
    *woken = false;
    pthread_mutex_unlock(&await->lock);
}

void await_wake(struct await *await, bool *woken)
{
    pthread_mutex_lock(&await->lock);
    *woken = true;
    pthread_cond_broadcast(&await->changed);
    pthread_mutex_unlock(&await->lock);
}
