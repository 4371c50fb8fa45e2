/*
 * Why a tier that lacks entries can answer alone: recorded times of decisions on a user never go
 * backwards, and a tier evicts only the oldest entries. So every entry that is newer than the oldest
 * one in the tier is in the tier too. Strictly newer: others of the same second may be evicted.
 *
 * Otherwise the store's page is merged with what the tier has (tier.h has the rule and why it is
 * exact). If the tier rejects entries of the store, the page is not full, so more rows are read until
 * the page is full or the store has no more. The rows are kept until the end, and all of them are merged
 * again each time: an entry that was in the tier the last time may have been evicted since, and then the
 * store's row is the right one.
 *
 * A merged page is complete if the store has no further rows, or if it is full and its last entry
 * is not after the last row that was read: whatever the store has after that row does not belong on
 * this page.
 */
#include "query/list.h"

#include <stdlib.h>

#include "base/assert.h"
#include "hot/scratch.h"

static int compare(const void *a, const void *b)
{
    return store_listed_order(*(const struct store_listed *)a, *(const struct store_listed *)b);
}

void query_list_order(struct hot_scratch *scratch, uint32_t first, uint32_t most)
{
    ASSERT(first <= scratch->listed_used);
    uint32_t count = scratch->listed_used - first;
    if (count == 0)
        return;
    struct store_listed *listed = scratch->listed + first;
    bool sorted = true;
    for (uint32_t i = 1; sorted && i < count; i++)
        sorted = store_listed_order(listed[i - 1], listed[i]) < 0;
    if (!sorted)
        qsort(listed, count, sizeof(*listed), compare);
    if (count > most)
        scratch->listed_used = first + most;
}

/* Reads the page from the tier alone; BLOCKED: the store may have entries that belong on the page. */
static enum status read_tier(struct query_tier *tier, const struct query_page *page,
                             struct hot_scratch *scratch)
{
    uint32_t first = scratch->listed_used;
    uint32_t complete_after_s;
    enum status status = tier->functions->newest(tier, page, scratch, &complete_after_s);
    if (status != STATUS_OK) {
        scratch->listed_used = first;
        return status;
    }
    if (page->any_order && complete_after_s == QUERY_COMPLETE)
        return STATUS_OK;
    query_list_order(scratch, first, page->limit);
    uint32_t count = scratch->listed_used - first;
    if (complete_after_s == QUERY_COMPLETE ||
        (count == page->limit &&
         scratch->listed[scratch->listed_used - 1].time_s > complete_after_s))
        return STATUS_OK;
    scratch->listed_used = first;
    return STATUS_BLOCKED;
}

/* The rows that were read from the store so far. */
struct stored_rows {
    struct store_listed *rows;
    size_t count;
    bool all; /* the store has no more */
};

/* Reads as many rows again as were read before, or a page of rows the first time. */
static enum status read_more(struct query_tier *tier, const struct query_page *page,
                             struct stored_rows *stored)
{
    ASSERT(page->limit > 0 && !stored->all);
    size_t some = stored->count < page->limit ? page->limit : stored->count;
    size_t got = 0;
    struct store_listed *rows = realloc(stored->rows, (stored->count + some) * sizeof(*rows));
    if (rows == NULL)
        return STATUS_NO_MEMORY;
    stored->rows = rows;
    struct store_listed after = stored->count == 0 ? page->after : rows[stored->count - 1];
    enum status status = store_list_reactions(tier->store, page->user, page->kind, page->type,
                                              after, rows + stored->count, some, &got);
    stored->count += got;
    stored->all = got < some;
    return status;
}

/* OK if the rows that were read from the store are enough for the page, otherwise BLOCKED. */
static enum status merge_once(struct query_tier *tier, const struct query_page *page,
                              const struct stored_rows *stored, struct hot_scratch *scratch)
{
    uint32_t first = scratch->listed_used;
    enum status status = tier->functions->merge(tier, page, stored->rows, stored->count, scratch);
    if (status == STATUS_OK) {
        query_list_order(scratch, first, page->limit);
        if (stored->all)
            return STATUS_OK;
        ASSERT(stored->count > 0);
        if (scratch->listed_used - first == page->limit &&
            store_listed_order(scratch->listed[scratch->listed_used - 1],
                               stored->rows[stored->count - 1]) <= 0)
            return STATUS_OK;
        status = STATUS_BLOCKED;
    }
    scratch->listed_used = first;
    return status;
}

static enum status read_merged(struct query_tier *tier, const struct query_page *page,
                               struct hot_scratch *scratch)
{
    struct stored_rows stored = {0};
    enum status status;
    tier->functions->read_begin(tier);
    do {
        status = read_more(tier, page, &stored);
        if (status == STATUS_OK)
            status = merge_once(tier, page, &stored, scratch);
    } while (status == STATUS_BLOCKED);
    tier->functions->read_end(tier, stored.count);
    free(stored.rows);
    return status;
}

enum status query_list_read(struct query_tier *tier, const struct query_page *page,
                            struct hot_scratch *scratch)
{
    ASSERT(page->limit > 0);
    enum status status = read_tier(tier, page, scratch);
    if (status != STATUS_BLOCKED || !tier->may_wait)
        return status;
    ASSERT(tier->store != NULL);
    return read_merged(tier, page, scratch);
}

/* One entry more than the limit was asked for: if there is one, there are more pages. */
static void end_page(struct hot_request *request, struct hot_scratch *scratch, uint32_t first)
{
    uint32_t count = scratch->listed_used - first;
    ASSERT(count <= request->list.limit + 1);
    request->list.more = count > request->list.limit;
    request->list.first = first;
    request->list.count = request->list.more ? request->list.limit : count;
}

void query_list_reactions(struct query_tier *tier, struct hot_request *request,
                          struct hot_scratch *scratch)
{
    struct query_page page = {
        .user = request->user,
        .kind = request->name,
        .type = request->list.type,
        .limit = request->list.limit + 1,
        .after = request->list.after,
    };
    uint32_t first = scratch->listed_used;
    ASSERT(request->action == HOT_LIST_REACTIONS);
    request->status = query_list_read(tier, &page, scratch);
    if (request->status == STATUS_OK)
        end_page(request, scratch, first);
}

static enum status read_reactors(struct query_tier *tier, const struct hot_request *request,
                                 struct hot_scratch *scratch)
{
    size_t count = 0;
    uint64_t point = tier->functions->item_point(tier, request->items[0]);
    enum status status = tier->functions->reach(tier, point);
    if (status != STATUS_OK)
        return status;
    if (!hot_scratch_reserve_listed(scratch, request->list.limit + 1))
        return STATUS_NO_MEMORY;
    status = store_list_reactors(tier->store, request->items[0], request->name, request->list.after,
                                 scratch->listed + scratch->listed_used, request->list.limit + 1,
                                 &count);
    if (status == STATUS_OK)
        scratch->listed_used += (uint32_t)count;
    return status;
}

/* No tier has these lists, because nothing in memory may grow with an item's popularity. */
void query_list_reactors(struct query_tier *tier, struct hot_request *request,
                         struct hot_scratch *scratch)
{
    uint32_t first = scratch->listed_used;
    ASSERT(request->action == HOT_LIST_REACTORS && request->item_count == 1 && tier->store != NULL);
    request->status = tier->may_wait ? read_reactors(tier, request, scratch) : STATUS_BLOCKED;
    if (request->status == STATUS_OK)
        end_page(request, scratch, first);
}
