/*
 * Reads which entries the shelves of a user have, and from which time on they are complete. Ids of one kind and type are on
 * two shelves, one for narrow ids and one for wide ids, so everything here looks at both.
 *
 * A shelf without SHELF_INCOMPLETE has everything. An incomplete shelf has everything that is newer
 * than its oldest entry, because only the oldest entries of a shelf are evicted, and recorded times
 * never go backwards (query/list.c). Where there is no shelf, the flag of the other one or a filter
 * may say that the store has nothing either.
 */
#include "filter/filters.h"
#include "hot/memory/queries.h"
#include "hot/scratch.h"

/* The shelves of one page, under the lock of the user's shard. */
struct page_shelves {
    struct hot_memory *hot;
    struct user_shard *users;
    const struct query_page *page;
    const struct shelf *shelves[2]; /* for narrow and for wide ids; NULL: none */
};

static void shelves_lock(struct page_shelves *side, const struct memory_tier *memory,
                         const struct query_page *page)
{
    uint64_t hash = user_hash_of(memory->hot, page->user);
    struct user_shard *users = user_shard_of(memory->hot, hash);
    *side = (struct page_shelves){.hot = memory->hot, .users = users, .page = page};
    pthread_mutex_lock(&users->lock);
    struct user_row *row = user_find(users, hash, page->user);
    for (uint32_t wide = 0; wide < 2 && row != NULL; wide++)
        side->shelves[wide] = user_shelf(users, row, page->kind,
                                         (struct item){.id = {.hi = wide}, .type = page->type}, 0);
    if (row != NULL)
        user_touch(row);
}

static void shelves_unlock(const struct page_shelves *side)
{
    pthread_mutex_unlock(&side->users->lock);
}

/* Every entry with an id of this width and a later time than the result is in memory. */
static uint32_t complete_after(const struct page_shelves *side, uint32_t wide)
{
    const struct query_page *page = side->page;
    const struct shelf *shelf = side->shelves[wide];
    const struct shelf *other = side->shelves[!wide];
    if (side->hot->filters == NULL)
        return QUERY_COMPLETE;
    if (shelf != NULL && !(shelf->flags & SHELF_INCOMPLETE))
        return QUERY_COMPLETE;
    if (shelf != NULL)
        return shelf_oldest(&side->users->slab, shelf).time_s;
    if (other != NULL && other->flags & SHELF_SOLE)
        return QUERY_COMPLETE;
    return filters_may_have_shelf(side->hot->filters, page->user, page->kind, page->type)
               ? QUERY_INCOMPLETE
               : QUERY_COMPLETE;
}

struct gathering {
    struct hot_scratch *scratch;
    const struct query_page *page;
    uint32_t count;  /* entries of this shelf so far */
    uint32_t last_s; /* the time of the last one */
    bool failed;
};

/*
 * If the page is full, entries with the same time as its last one are still added, because entries of one
 * second are not ordered by id on a shelf.
 */
static bool gather_one(void *context, struct shelf_entry entry)
{
    struct gathering *gathering = context;
    const struct query_page *page = gathering->page;
    struct store_listed listed = {.time_s = entry.time_s, .id = entry.id};
    if (page->after.time_s != 0 && store_listed_order(listed, page->after) <= 0)
        return true;
    if (gathering->count >= page->limit && entry.time_s < gathering->last_s)
        return false;
    if (!hot_scratch_reserve_listed(gathering->scratch, 1)) {
        gathering->failed = true;
        return false;
    }
    gathering->scratch->listed[gathering->scratch->listed_used++] = listed;
    gathering->last_s = entry.time_s;
    gathering->count++;
    return true;
}

/* Appends the entries of the page that the shelves have. False: no memory. */
static bool gather(const struct page_shelves *side, struct hot_scratch *scratch)
{
    bool failed = false;
    for (uint32_t wide = 0; wide < 2 && !failed; wide++) {
        struct gathering gathering = {.scratch = scratch, .page = side->page};
        if (side->shelves[wide] != NULL)
            shelf_walk(&side->users->slab, side->shelves[wide], gather_one, &gathering);
        failed = gathering.failed;
    }
    return !failed;
}

enum status memory_newest(struct query_tier *tier, const struct query_page *page,
                          struct hot_scratch *scratch, uint32_t *complete_after_s)
{
    struct page_shelves side;
    bool gathered = true;
    shelves_lock(&side, memory_tier_of(tier), page);
    uint32_t narrow = complete_after(&side, 0), wide = complete_after(&side, 1);
    uint32_t since = narrow > wide ? narrow : wide;
    bool useless =
        since != QUERY_COMPLETE &&
        (since == QUERY_INCOMPLETE || (page->after.time_s != 0 && page->after.time_s <= since));
    if (!useless)
        gathered = gather(&side, scratch);
    shelves_unlock(&side);
    *complete_after_s = since;
    return gathered ? STATUS_OK : STATUS_NO_MEMORY;
}

/* Appends the rows of the store for which memory has neither an entry nor a note. False: no memory. */
static bool add_stored(const struct page_shelves *side, const struct store_listed *stored,
                       size_t count, struct hot_scratch *scratch)
{
    const struct query_page *page = side->page;
    struct cleared_key key = {.user = page->user, .kind = page->kind, .item.type = page->type};
    if (!hot_scratch_reserve_listed(scratch, count))
        return false;
    for (size_t i = 0; i < count; i++) {
        key.item.id = stored[i].id;
        const struct shelf *shelf = side->shelves[id_is_wide(key.item.id)];
        if (shelf != NULL &&
            shelf_find(&side->users->slab, shelf, side->hot->scan, key.item.id).chunk != 0)
            continue;
        if (!cleared_has(&side->users->cleared, &key))
            scratch->listed[scratch->listed_used++] = stored[i];
    }
    return true;
}

enum status memory_merge(struct query_tier *tier, const struct query_page *page,
                         const struct store_listed *stored, size_t count,
                         struct hot_scratch *scratch)
{
    struct page_shelves side;
    shelves_lock(&side, memory_tier_of(tier), page);
    bool added = gather(&side, scratch) && add_stored(&side, stored, count, scratch);
    shelves_unlock(&side);
    return added ? STATUS_OK : STATUS_NO_MEMORY;
}

struct shelf_listing {
    const struct shelf *shelf;
    struct id user;
    struct store_reaction *out;
    size_t limit;
    size_t count;
};

static bool list_entry(void *context, struct shelf_entry entry)
{
    struct shelf_listing *listing = context;
    if (listing->count == listing->limit)
        return false;
    listing->out[listing->count++] = (struct store_reaction){
        .user = listing->user,
        .kind = listing->shelf->kind,
        .item = {.id = entry.id, .type = listing->shelf->type},
        .time_s = entry.time_s,
    };
    return true;
}

/* Warm shelves are skipped, because the store has their entries. */
size_t memory_not_stored(struct query_tier *tier, struct id user, struct store_reaction *out,
                         size_t limit)
{
    const struct memory_tier *memory = memory_tier_of(tier);
    struct user_shard *shard = user_shard_of(memory->hot, memory->user_hash);
    struct shelf_listing listing = {.user = user, .out = out, .limit = limit};
    pthread_mutex_lock(&shard->lock);
    const struct user_row *row = user_find(shard, memory->user_hash, user);
    const struct shelf *shelf = row == NULL ? NULL : &row->first;
    for (; shelf != NULL && listing.count < limit; shelf = user_next_shelf(shard, shelf)) {
        listing.shelf = shelf;
        if ((shelf->flags & (SHELF_USED | SHELF_WARM)) == SHELF_USED)
            shelf_walk(&shard->slab, shelf, list_entry, &listing);
    }
    pthread_mutex_unlock(&shard->lock);
    return listing.count;
}
