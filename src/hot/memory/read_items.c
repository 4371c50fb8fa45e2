/*
 * Reading the counters of a request's items, whose rows are prefetched in groups. A worker loads the
 * rows that are missing; if there is no memory for a row, it reads the values without caching them.
 */
#include <stdlib.h>

#include "filter/filters.h"
#include "hot/memory/read.h"
#include "hot/scratch.h"

/* OK, NO_MEMORY; BLOCKED: not all of the item's counters are in memory. */
static enum status read_item(struct hot_memory *hot, struct item item, uint64_t hash,
                             struct hot_answer *answer, struct hot_scratch *scratch)
{
    if (!hot_scratch_reserve_counters(scratch, LIMIT_NAMES))
        return STATUS_NO_MEMORY;
    enum status status = STATUS_OK;
    answer->first = scratch->used;
    answer->count = 0;
    struct item_shard *shard = item_shard_of(hot, hash);
    pthread_mutex_lock(&shard->lock);
    struct item_row *row = item_find(shard, hash, item);
    if (row == NULL ? hot->filters != NULL &&
                          filter_said(&shard->denied, filters_may_have_item(hot->filters, item))
                    : (row->flags & ITEM_PARTIAL) != 0) {
        status = STATUS_BLOCKED;
    } else if (row != NULL) {
        answer->count = item_read(row, scratch->counters + scratch->used);
        item_touch(row);
    }
    pthread_mutex_unlock(&shard->lock);
    scratch->used += answer->count;
    return status;
}

static void group_fetch_buckets(struct hot_memory *hot, const struct hot_request *request,
                                uint32_t from, struct item_group *group)
{
    uint32_t left = request->item_count - from;
    group->from = from;
    group->count = left < ITEM_GROUP ? left : ITEM_GROUP;
    for (uint32_t i = 0; i < group->count; i++) {
        uint64_t hash = group->hashes[i] = item_hash_of(hot, request->items[from + i]);
        group->buckets[i] = table_prefetch(&item_shard_of(hot, hash)->table, hash);
    }
}

static void group_fetch_rows(struct hot_memory *hot, const struct item_group *group)
{
    uint32_t next[ITEM_GROUP];
    for (uint32_t i = 0; i < group->count; i++)
        next[i] = table_prefetch_next(&item_shard_of(hot, group->hashes[i])->table,
                                      group->buckets[i], group->hashes[i], ITEM_ROW_USUAL);
    for (uint32_t i = 0; i < group->count; i++)
        table_prefetch_rest(&item_shard_of(hot, group->hashes[i])->table, next[i], group->hashes[i],
                            ITEM_ROW_USUAL);
}

void item_group_fetch(struct hot_memory *hot, const struct hot_request *request, uint32_t from,
                      struct item_group *group)
{
    group_fetch_buckets(hot, request, from, group);
    group_fetch_rows(hot, group);
}

void item_group_fetch_with_user(struct hot_memory *hot, const struct hot_request *request,
                                struct hot_trail trail, struct item_group *group)
{
    struct user_shard *users = user_shard_of(hot, trail.user);
    const struct table_bucket *bucket = table_prefetch(&users->table, trail.user);
    group_fetch_buckets(hot, request, 0, group);
    uint32_t next = user_prefetch(users, bucket, trail.user);
    group_fetch_rows(hot, group);
    user_prefetch_on(users, next, trail.user);
}

/* The caller has prefetched the first group. */
static enum status read_items(struct hot_memory *hot, struct hot_request *request,
                              struct item_group *group, struct hot_scratch *scratch)
{
    enum status status = STATUS_OK;
    for (uint32_t at = 0; at < request->item_count && status == STATUS_OK; at++) {
        if (at == group->from + group->count)
            item_group_fetch(hot, request, at, group);
        status = read_item(hot, request->items[at], group->hashes[at - group->from],
                           &request->read.answers[at], scratch);
    }
    return status;
}

/* Reads the counters of an item without caching them, because there is no memory for its row. */
static enum status read_item_through(struct hot_memory *hot, unsigned worker, struct item item,
                                     struct hot_answer *answer, struct hot_scratch *scratch)
{
    uint64_t hash = item_hash_of(hot, item);
    struct store_item read = {.item = item};
    struct store_values values = {0};
    load_begin(&hot->loads, worker);
    enum status status = store_read_items(hot->store, NULL, &read, 1, &values);
    if (status == STATUS_OK) {
        status = read_item(hot, item, hash, answer, scratch);
        struct item_shard *shard = item_shard_of(hot, hash);
        pthread_mutex_lock(&shard->lock);
        bool absent = item_find(shard, hash, item) == NULL;
        pthread_mutex_unlock(&shard->lock);
        if (status == STATUS_BLOCKED && absent) {
            for (uint32_t i = 0; i < read.count; i++)
                scratch->counters[scratch->used++] =
                    (struct hot_counter){.value = values.values[read.first + i].value,
                                         .name = values.values[read.first + i].name};
            answer->count = read.count;
            status = STATUS_OK;
        }
    }
    load_end(&hot->loads, worker);
    free(values.values);
    return status;
}

/*
 * For workers: loads the missing rows, then reads all of them. A row that was evicted again meanwhile is
 * read without caching.
 */
static enum status read_items_and_wait(struct hot_memory *hot, struct hot_request *request,
                                       struct hot_scratch *scratch, unsigned worker)
{
    enum status status = load_items(hot, worker, request->items, request->item_count);
    if (status != STATUS_OK && status != STATUS_NO_MEMORY)
        return status;
    status = STATUS_OK;
    for (uint32_t i = 0; i < request->item_count && status == STATUS_OK; i++) {
        struct hot_answer *answer = &request->read.answers[i];
        uint64_t hash = item_hash_of(hot, request->items[i]);
        status = read_item(hot, request->items[i], hash, answer, scratch);
        for (int tries = 0; status == STATUS_BLOCKED; tries++) {
            status = read_item_through(hot, worker, request->items[i], answer, scratch);
            if (status == STATUS_BLOCKED && !keeper_wait(hot, tries))
                status = STATUS_NO_MEMORY;
            if (status == STATUS_BLOCKED &&
                load_items(hot, worker, &request->items[i], 1) == STATUS_OK)
                status = read_item(hot, request->items[i], hash, answer, scratch);
        }
    }
    return status;
}

bool read_all_items(struct hot_memory *hot, struct hot_request *request, struct item_group *group,
                    struct hot_scratch *scratch, unsigned worker)
{
    uint32_t used = scratch->used;
    request->status = read_items(hot, request, group, scratch);
    if (request->status != STATUS_BLOCKED)
        return true;
    scratch->used = used;
    if (worker == LOAD_NOBODY)
        return false;
    request->status = read_items_and_wait(hot, request, scratch, worker);
    return true;
}
