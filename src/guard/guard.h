/*
 * The guard stands between an operation and the hot tier and says whether it may run now. Writes
 * pass while the journal takes them and the server is not stopping; reads always pass.
 */
#ifndef LAUD_GUARD_GUARD_H
#define LAUD_GUARD_GUARD_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/status.h"
#include "journal/journal.h"

struct guard {
    struct journal *journal;
    atomic_bool stopping;
};

/*
 * May this thread run a batch with writes in it? OK, BLOCKED (wait for the journal's listener), or
 * the reason why not.
 */
static inline enum status guard_admit_writes(struct guard *guard)
{
    if (atomic_load_explicit(&guard->stopping, memory_order_relaxed))
        return STATUS_STOPPING;
    return journal_admit(guard->journal);
}

#endif
