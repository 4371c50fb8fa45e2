/*
 * Visits the tables bucket by bucket, with one shard locked at a time: each shard is seen as it was at
 * one moment, but different shards at different moments.
 */
#include "base/assert.h"
#include "hot/memory/hot_memory_priv.h"

struct shelf_dump {
    const struct hot_memory_visitor *visitor;
    const struct shelf *shelf;
    struct id user;
};

static void dump_entries(void *context, const uint64_t *lo, const uint64_t *hi,
                         const uint32_t *times, size_t count)
{
    const struct shelf_dump *dump = context;
    for (size_t i = count; i-- > 0;) {
        struct item item = {.id = {.hi = hi != NULL ? hi[i] : 0, .lo = lo[i]},
                            .type = dump->shelf->type};
        dump->visitor->reaction(dump->visitor->context, dump->user, dump->shelf->kind, item,
                                times[i]);
    }
}

static void dump_user(void *context, struct slab *slab, void *at)
{
    const struct user_row *row = at;
    struct shelf_dump dump = {
        .visitor = context,
        .user = user_of(row),
    };
    const struct shelf *shelf = &row->first;
    for (;;) {
        dump.shelf = shelf;
        if (shelf->flags & SHELF_USED)
            shelf_visit(slab, shelf, dump_entries, &dump);
        if (shelf->next == 0)
            break;
        shelf = slab_at(slab, shelf->next);
    }
}

static void dump_item(void *context, struct slab *slab, void *at)
{
    (void)slab;
    const struct hot_memory_visitor *visitor = context;
    const struct item_row *row = at;
    struct hot_counter counters[LIMIT_NAMES];
    uint32_t count = item_read(row, counters);
    for (uint32_t i = 0; i < count; i++)
        visitor->counter(visitor->context, item_of(row), counters[i].name, counters[i].value);
}

void hot_memory_dump(struct hot *base, const struct hot_memory_visitor *visitor)
{
    struct hot_memory *hot = hot_memory_of(base);
    for (uint32_t i = 0; i < LIMIT_SHARDS; i++) {
        struct user_shard *users = &hot->users[i];
        pthread_mutex_lock(&users->lock);
        table_visit(&users->table, dump_user, (void *)visitor);
        pthread_mutex_unlock(&users->lock);
        struct item_shard *items = &hot->items[i];
        pthread_mutex_lock(&items->lock);
        table_visit(&items->table, dump_item, (void *)visitor);
        pthread_mutex_unlock(&items->lock);
    }
}
