/*
 * Finds which of many users have a reaction on which of many items. Each user's shard is locked once, for
 * all items: the entries on the user's shelves are looked up in a table of the items (item_probe.h). What
 * is on no shelf of the user is not set, if the shelf is complete. Otherwise the filters are asked, and
 * their "no" is final too. So memory is read in proportion to the users and what they have on their
 * shelves, and not to users × items, unless shelves are incomplete.
 *
 * The filters are asked without the lock, because they are prefetched first. This is exact: a reaction that
 * was not on the shelves at one moment, and that the store did not have at a later moment, was not set at
 * one of the two. (If it was set between the two moments, it was set after the first.) For the few reactions
 * that a filter lets pass, everything is looked up again under the lock.
 *
 * Everything is done for a group of users at a time, with all steps of one kind after each other, so that
 * the cache misses of the users overlap.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "filter/filters.h"
#include "hot/memory/item_probe.h"
#include "hot/memory/queries.h"

#define GROUP   32  /* users prefetched at a time */
#define PENDING 128 /* reactions whose filter entries are prefetched at a time */
#define ASKED_MAX                                                                                  \
    30000 /* filter lookups of a caller that may not wait, because others wait for it */

/* A set of items, or of classes of items, by index. */
#define SET_WORDS ((LIMIT_FEED_ITEMS + 63) / 64)
struct index_set {
    uint64_t bits[SET_WORDS];
};

static inline bool set_has(const struct index_set *set, uint32_t index)
{
    return set->bits[index >> 6] >> (index & 63) & 1;
}

static inline void set_add(struct index_set *set, uint32_t index)
{
    set->bits[index >> 6] |= 1ULL << (index & 63);
}

/* What is known of one user. A class is a type and a width of ids: what one shelf is for. */
struct visited {
    struct index_set found;    /* items */
    struct index_set there;    /* classes for which there is a shelf */
    struct index_set complete; /* classes of which the shelves have everything */
};

/* A reaction whose filter entry is being prefetched. */
struct pending {
    uint64_t key;
    struct query_cell cell;
};

struct walk {
    struct hot_memory *hot;
    struct query_grid *grid;
    bool may_wait;
    uint32_t asked; /* filter lookups so far */
    uint32_t pending_count;
    uint32_t class_count;
    struct item classes[LIMIT_FEED_ITEMS]; /* one item of each class */
    uint8_t class_of[LIMIT_FEED_ITEMS];    /* of each item */
    uint8_t class_of_type[LIMIT_TYPES][2]; /* 1 + the class of this type and width; 0: no item */
    uint64_t hashes[GROUP];                /* of the users of the group */
    struct visited visited[GROUP];         /* the same */
    uint32_t user;                         /* the index of the user who is being visited */
    struct visited *at;                    /* the same */
    const struct shelf *shelf;             /* the shelf that is being visited */
    struct pending pending[PENDING];
    struct item_probe probe;
};

_Static_assert(LIMIT_FEED_ITEMS < UINT8_MAX, "the number of a class fits");

/*
 * An item of a type that does not exist gets a class of its own, which neither a shelf nor the store has.
 */
static void find_classes(struct walk *walk)
{
    /* cppcheck-suppress ctuuninitvar; the caller has set the members that are read here */
    const struct query_grid *grid = walk->grid;
    memset(walk->class_of_type, 0, sizeof(walk->class_of_type));
    for (uint32_t i = 0; i < grid->item_count; i++) {
        struct item item = grid->items[i];
        uint8_t none = 0;
        uint8_t *class =
            item.type < LIMIT_TYPES ? &walk->class_of_type[item.type][id_is_wide(item.id)] : &none;
        if (*class == 0) {
            walk->classes[walk->class_count++] = item;
            *class = (uint8_t)walk->class_count;
        }
        walk->class_of[i] = (uint8_t)(*class - 1);
    }
}

static void note_found(struct walk *walk, uint32_t at, uint64_t lo, uint64_t hi, uint32_t time_s)
{
    const struct query_grid *grid = walk->grid;
    for (; at != 0; at = walk->probe.next[at - 1]) {
        uint32_t index = at - 1;
        struct item item = grid->items[index];
        if (item.id.lo != lo || item.id.hi != hi || item.type != walk->shelf->type ||
            set_has(&walk->at->found, index))
            continue;
        set_add(&walk->at->found, index);
        grid->found(grid->context, index, walk->user, time_s);
    }
}

static void visit_entries(void *context, const uint64_t *lo, const uint64_t *hi,
                          const uint32_t *times, size_t count)
{
    struct walk *walk = context;
    for (size_t i = 0; i < count; i++) {
        uint32_t at = item_probe_head(&walk->probe, lo[i]);
        if (__builtin_expect(at != 0, 0))
            note_found(walk, at, lo[i], hi != NULL ? hi[i] : 0, times[i]);
    }
}

/* Visits the shelves of a user for the classes of the items. Called under the lock of the shard. */
static void visit_shelves(struct walk *walk, const struct user_shard *shard,
                          const struct user_row *row)
{
    uint8_t kind = walk->grid->kind;
    for (const struct shelf *shelf = &row->first; shelf != NULL;
         shelf = user_next_shelf(shard, shelf)) {
        if (!(shelf->flags & SHELF_USED) || shelf->kind != kind || shelf->type >= LIMIT_TYPES)
            continue;
        uint8_t class = walk->class_of_type[shelf->type][(shelf->flags & SHELF_WIDE) != 0];
        if (class == 0)
            continue;
        if (!(shelf->flags & SHELF_WARM))
            set_add(&walk->at->there, class - 1U);
        if (!(shelf->flags & (SHELF_WARM | SHELF_INCOMPLETE)))
            set_add(&walk->at->complete, class - 1U);
        walk->shelf = shelf;
        shelf_visit(&shard->slab, shelf, visit_entries, walk);
    }
}

static void visit(struct walk *walk, uint32_t user, uint32_t in_group)
{
    uint64_t hash = walk->hashes[in_group];
    struct user_shard *shard = user_shard_of(walk->hot, hash);
    walk->user = user;
    walk->at = &walk->visited[in_group];
    *walk->at = (struct visited){0};
    pthread_mutex_lock(&shard->lock);
    const struct user_row *row = user_find(shard, hash, walk->grid->users[user].id);
    if (row != NULL)
        visit_shelves(walk, shard, row);
    pthread_mutex_unlock(&shard->lock);
}

/* Prefetches the rows of the users of a group, and then visits all of them. */
static void visit_group(struct walk *walk, uint32_t from, uint32_t count)
{
    struct hot_memory *hot = walk->hot;
    const struct table_bucket *buckets[GROUP];
    uint32_t next[GROUP];
    for (uint32_t i = 0; i < count; i++) {
        uint64_t hash = walk->hashes[i] = user_hash_of(hot, walk->grid->users[from + i].id);
        buckets[i] = table_prefetch(&user_shard_of(hot, hash)->table, hash);
    }
    for (uint32_t i = 0; i < count; i++)
        next[i] = user_prefetch(user_shard_of(hot, walk->hashes[i]), buckets[i], walk->hashes[i]);
    for (uint32_t i = 0; i < count; i++)
        user_prefetch_on(user_shard_of(hot, walk->hashes[i]), next[i], walk->hashes[i]);
    for (uint32_t i = 0; i < count; i++)
        visit(walk, from + i, i);
}

static enum status add_unknown(struct query_grid *grid, struct query_cell cell)
{
    if (grid->unknown_count == grid->unknown_capacity) {
        struct query_cell *grown =
            array_grow(grid->unknown, &grid->unknown_capacity, grid->unknown_count + 1,
                       LIMIT_FEED_ITEMS, sizeof(*grown));
        if (grown == NULL)
            return STATUS_NO_MEMORY;
        grid->unknown = grown;
    }
    grid->unknown[grid->unknown_count++] = cell;
    return STATUS_OK;
}

/* A filter let this reaction pass. */
static enum status look_again(struct walk *walk, struct query_cell cell)
{
    struct query_grid *grid = walk->grid;
    struct cleared_key key = {
        .user = grid->users[cell.user].id, .item = grid->items[cell.item], .kind = grid->kind};
    uint32_t time_s = memory_look_up_one(walk->hot, user_hash_of(walk->hot, key.user), &key);
    if (time_s == QUERY_UNKNOWN)
        return walk->may_wait ? add_unknown(grid, cell) : STATUS_BLOCKED;
    if (time_s != QUERY_NOT_SET)
        grid->found(grid->context, cell.item, cell.user, time_s);
    return STATUS_OK;
}

/* Asks the filters about everything that is pending. */
static enum status ask_filters(struct walk *walk)
{
    enum status status = STATUS_OK;
    walk->asked += walk->pending_count;
    if (!walk->may_wait && walk->asked > ASKED_MAX)
        return STATUS_BLOCKED;
    for (uint32_t i = 0; i < walk->pending_count && status == STATUS_OK; i++)
        if (filters_may_have_key(walk->hot->filters, walk->pending[i].key))
            status = look_again(walk, walk->pending[i].cell);
    walk->pending_count = 0;
    return status;
}

/* Has the user any classes of which the store may have more? Decides that for classes without a shelf. */
static bool has_incomplete(const struct walk *walk, struct id user, struct visited *visited)
{
    bool any = false;
    for (uint32_t i = 0; i < walk->class_count; i++) {
        if (set_has(&visited->complete, i))
            continue;
        if (set_has(&visited->there, i) ||
            filters_may_have_shelf(walk->hot->filters, user, walk->grid->kind,
                                   walk->classes[i].type))
            any = true;
        else
            set_add(&visited->complete, i);
    }
    return any;
}

static enum status ask_about_user(struct walk *walk, uint32_t user, struct visited *visited)
{
    const struct query_grid *grid = walk->grid;
    enum status status = STATUS_OK;
    if (!has_incomplete(walk, grid->users[user].id, visited))
        return STATUS_OK;
    for (uint32_t i = 0; i < grid->item_count && status == STATUS_OK; i++) {
        if (set_has(&visited->complete, walk->class_of[i]) || set_has(&visited->found, i))
            continue;
        walk->pending[walk->pending_count++] = (struct pending){
            .key = filters_prefetch_reaction(walk->hot->filters, grid->users[user].id, grid->kind,
                                             grid->items[i]),
            .cell = {.user = user, .item = i},
        };
        if (walk->pending_count == PENDING)
            status = ask_filters(walk);
    }
    return status;
}

/* Asks the filters about what is not on the shelves of a group of users. */
static enum status ask_about_group(struct walk *walk, uint32_t from, uint32_t count)
{
    const struct query_grid *grid = walk->grid;
    enum status status = STATUS_OK;
    for (uint32_t i = 0; i < count; i++)
        if (!set_has(&walk->visited[i].there, 0))
            filters_prefetch_shelf(walk->hot->filters, grid->users[from + i].id, grid->kind,
                                   walk->classes[0].type);
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++)
        status = ask_about_user(walk, from + i, &walk->visited[i]);
    return status;
}

enum status memory_look_up_grid(struct query_tier *tier, struct query_grid *grid)
{
    struct walk walk;
    ASSERT(grid->item_count <= LIMIT_FEED_ITEMS);
    walk.hot = memory_tier_of(tier)->hot;
    walk.grid = grid;
    walk.may_wait = tier->may_wait;
    walk.asked = walk.pending_count = walk.class_count = 0;
    find_classes(&walk);
    item_probe_build(&walk.probe, grid->items, grid->item_count, PROBE_SPARSE, walk.hot->seed);
    bool exact = walk.hot->filters != NULL && !grid->memory_only;
    enum status status = STATUS_OK;
    for (uint32_t from = 0; from < grid->user_count && status == STATUS_OK; from += GROUP) {
        uint32_t left = grid->user_count - from, count = left < GROUP ? left : GROUP;
        visit_group(&walk, from, count);
        if (exact)
            status = ask_about_group(&walk, from, count);
    }
    return status == STATUS_OK && exact ? ask_filters(&walk) : status;
}
