/* A slab in a pool and a budget of its own: what the tests of slabs share. */
#ifndef LAUD_BASE_SLAB_BED_H
#define LAUD_BASE_SLAB_BED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/slab.h"

struct bed {
    struct memory_budget budget;
    struct slab_pool *pool;
    struct slab slab;
};

static inline void bed_open(struct bed *bed, uint64_t limit)
{
    *bed = (struct bed){.budget.limit = limit};
    bed->pool = slab_pool_new(&bed->budget);
    assert_non_null(bed->pool);
    assert_true(slab_init(&bed->slab, bed->pool));
}

static inline void bed_close(struct bed *bed)
{
    slab_destroy(&bed->slab);
    slab_pool_free(bed->pool);
    assert_int_equal(memory_used(&bed->budget), 0);
}

#endif
