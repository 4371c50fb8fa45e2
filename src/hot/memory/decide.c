/*
 * Setting and clearing a reaction: look up the old state, allocate memory, then change everything at once.
 * All steps that can fail or have to wait come before the first change, so a refused request has no
 * effect. The item's shard is locked only for the second half.
 *
 * A reaction is looked up in this order:
 *
 *   1. the shelf, and the warm shelf, which has what was lately read from the store. If the shelf is
 *      complete, the search ends here.
 *   2. the filters. If they say no, the reaction is not set.
 *   3. the notes of reactions that were cleared lately and that the store may still have
 *   4. the notes of reactions that were lately looked for and not found
 *   5. the store, which a worker reads (load.h)
 *
 * Replay uses the same code with two differences. It does not check whether a recorded change changes
 * anything, and it does not wait for an item's counters, but notes in a partial row what must be added.
 */
#include <string.h>

#include "base/assert.h"
#include "filter/filters.h"
#include "hot/memory/hot_memory_priv.h"

#define TRIM_MOST   2 /* entries evicted for each new one, so that long shelves become shorter */
#define EXPIRE_MOST 4
#define DROP_MOST   2 /* shelves evicted for each new one */

enum where {
    ABSENT,
    ON_SHELF,
    IN_STORE,
    NOT_HOT, /* only the store has the answer */
};

struct found {
    enum where where;
    uint8_t kind;
    bool incomplete; /* the store may have reactions that are not on the shelf */
    uint32_t time_s; /* IN_STORE */
    struct shelf *shelf;
    struct shelf_slot slot;
};

/* One SET or CLEAR that is being decided. */
struct decision {
    struct hot_memory *hot;
    struct user_shard *users;
    struct item_shard *items;
    const struct hot_reads *reads;
    struct hot_trail trail;
    struct id user;
    struct item item;
    uint32_t time_s;
    uint8_t kind;
    struct user_row *row;                 /* NULL: the user has no row */
    struct shelf *sole;                   /* SET: the shelf that loses SHELF_SOLE, or NULL */
    struct found wanted;                  /* the reaction itself */
    struct found others[LIMIT_EXCLUSIVE]; /* what is cleared; SET: the exclusive kinds */
    uint32_t gone[LIMIT_EXCLUSIVE];       /* cells of the notes for what is cleared */
    uint32_t other_count;
    uint32_t gone_count;
};

/*
 * The user's shard is locked from here to decision_end. Members are set one by one, because most of the
 * struct stays unused.
 */
static void decision_begin(struct decision *decision, struct hot_memory *hot,
                           struct hot_trail trail, const struct hot_reads *reads)
{
    decision->hot = hot;
    decision->trail = trail;
    decision->reads = reads;
    decision->users = user_shard_of(hot, trail.user);
    decision->items = item_shard_of(hot, trail.item);
    decision->other_count = 0;
    decision->gone_count = 0;
    decision->sole = NULL;
    if (decision->time_s == 0)
        decision->time_s = 1; /* 0 means absent in a store */
    pthread_mutex_lock(&decision->users->lock);
    uint32_t time_s = hot_memory_time(hot, decision->time_s);
    if (hot->journal != NULL)
        decision->time_s = time_s;
    decision->row = user_find(decision->users, trail.user, decision->user);
}

static void decision_begin_request(struct decision *decision, struct hot_memory *hot,
                                   const struct hot_request *request, struct hot_trail trail,
                                   const struct hot_reads *reads)
{
    decision->user = request->user;
    decision->item = request->items[0];
    decision->kind = request->name;
    decision->time_s = request->time_s;
    decision_begin(decision, hot, trail, reads);
}

static void decision_begin_event(struct decision *decision, struct hot_memory *hot,
                                 const struct event *event, struct hot_trail trail)
{
    decision->user = event->user;
    decision->item = event->item;
    decision->kind = event->name;
    decision->time_s = event->time_s;
    decision_begin(decision, hot, trail, NULL);
}

static void decision_end(struct decision *decision)
{
    pthread_mutex_unlock(&decision->users->lock);
}

static struct cleared_key key_of(const struct decision *decision, uint8_t kind)
{
    return (struct cleared_key){.user = decision->user, .item = decision->item, .kind = kind};
}

/* Looks on the shelf, or on the warm one. Returns the shelf, also if the reaction is not on it. */
static struct shelf *find_on_shelf(const struct decision *decision, uint8_t warm,
                                   struct found *found)
{
    struct shelf *shelf =
        user_shelf(decision->users, decision->row, found->kind, decision->item, warm);
    if (shelf == NULL)
        return NULL;
    struct shelf_slot slot =
        shelf_find(&decision->users->slab, shelf, decision->hot->scan, decision->item.id);
    if (slot.chunk != 0) {
        found->where = ON_SHELF;
        found->shelf = shelf;
        found->slot = slot;
    }
    return shelf;
}

/* Looks in what was read from the store. Called if the filters have not said no. */
static void find_in_store(const struct decision *decision, struct found *found)
{
    struct cleared_key key = key_of(decision, found->kind);
    if (cleared_has(&decision->users->cleared, &key) || user_absent_has(decision->users, &key))
        return;
    found->where = NOT_HOT;
    for (uint32_t i = 0; decision->reads != NULL && i < decision->reads->count; i++) {
        if (decision->reads->keys[i].kind != found->kind)
            continue;
        found->time_s = decision->reads->keys[i].time_s;
        found->where = found->time_s != 0 ? IN_STORE : ABSENT;
    }
    if (found->where == ABSENT)
        user_absent_add(decision->users, &key);
}

static struct found find(const struct decision *decision, uint8_t kind)
{
    const struct hot_memory *hot = decision->hot;
    struct found found = {.where = ABSENT, .kind = kind};
    const struct shelf *shelf = NULL;
    if (decision->row != NULL) {
        shelf = find_on_shelf(decision, 0, &found);
        if (found.where == ON_SHELF || (shelf != NULL && !(shelf->flags & SHELF_INCOMPLETE)))
            return found;
        find_on_shelf(decision, SHELF_WARM, &found);
    }
    if (hot->filters == NULL || found.where == ON_SHELF)
        return found;
    uint64_t *denied = &decision->users->denied;
    found.incomplete =
        shelf != NULL || filter_said(denied, filters_may_have_shelf(hot->filters, decision->user,
                                                                    kind, decision->item.type));
    if (found.incomplete &&
        filter_said(denied,
                    filters_may_have_reaction(hot->filters, decision->user, kind, decision->item)))
        find_in_store(decision, &found);
    return found;
}

static bool is_set(const struct found *found)
{
    return found->where == ON_SHELF || found->where == IN_STORE;
}

static const struct exclusive_group *group_of(const struct hot_memory *hot, uint8_t kind)
{
    const struct exclusive *exclusive = hot->exclusive;
    return exclusive == NULL || exclusive->group_of[kind] == 0
               ? NULL
               : &exclusive->groups[exclusive->group_of[kind] - 1];
}

/* Finds the other kinds of the group; false if one of them needs the store. */
static bool find_group(struct decision *decision)
{
    const struct exclusive_group *group = group_of(decision->hot, decision->kind);
    for (uint32_t i = 0; group != NULL && i < group->count; i++) {
        if (group->kinds[i] == decision->kind)
            continue;
        struct found found = find(decision, group->kinds[i]);
        if (found.where == NOT_HOT)
            return false;
        if (is_set(&found))
            decision->others[decision->other_count++] = found;
    }
    return true;
}

void hot_memory_keys(const struct hot_memory *hot, const struct hot_request *request,
                     struct hot_reads *reads)
{
    const struct exclusive_group *group =
        request->action == HOT_SET ? group_of(hot, request->name) : NULL;
    struct store_reaction key = {.user = request->user, .item = request->items[0]};
    reads->count = 0;
    key.kind = request->name;
    reads->keys[reads->count++] = key;
    for (uint32_t i = 0; group != NULL && i < group->count; i++) {
        key.kind = group->kinds[i];
        if (key.kind != request->name)
            reads->keys[reads->count++] = key;
    }
}

/* Adds notes that the others are cleared, because the store may still have them for a while. */
static bool gone_reserve(struct decision *decision)
{
    struct cleared *cleared = &decision->users->cleared;
    if (decision->hot->filters == NULL)
        return true;
    if (cleared->oldest != 0)
        cleared_expire(cleared, loads_clean(&decision->hot->loads), EXPIRE_MOST);
    for (uint32_t i = 0; i < decision->other_count; i++) {
        struct cleared_key key = key_of(decision, decision->others[i].kind);
        decision->gone[i] = cleared_add(cleared, &key);
        if (decision->gone[i] == 0)
            return false;
        decision->gone_count++;
    }
    return true;
}

static void gone_release(struct decision *decision)
{
    while (decision->gone_count > 0)
        cleared_give_up(&decision->users->cleared, decision->gone[--decision->gone_count]);
}

/* Records one event, also if several kinds are cleared and none is set. Returns the position after it. */
static uint64_t decision_append(const struct decision *decision, enum event_type type)
{
    if (decision->hot->journal == NULL)
        return decision->hot->replay_position;
    const struct found *cleared = decision->others + (type == EVENT_CLEAR);
    struct event event;
    event.type = type;
    event.name = type == EVENT_CLEAR ? decision->others[0].kind : decision->kind;
    event.time_s = decision->time_s;
    event.user = decision->user;
    event.item = decision->item;
    event.cleared_count = (uint8_t)(decision->other_count - (type == EVENT_CLEAR));
    for (uint32_t i = 0; i < event.cleared_count; i++)
        event.cleared[i] = cleared[i].kind;
    return journal_append(decision->hot->journal, &event);
}

/* Returns the stamp of the event. Called with both shards locked. */
static uint32_t decision_record(const struct decision *decision, enum event_type type)
{
    uint64_t position = decision_append(decision, type);
    uint32_t stamp = stamp_of(position);
    if (decision->item.type == comment_type_of(decision->hot))
        comment_voted(decision->hot, decision->items, decision->trail.item, decision->item,
                      position);
    *user_changed(decision->users, decision->trail.user) = stamp;
    return stamp;
}

static void forget(struct decision *decision, const struct found *found)
{
    if (found->where == ON_SHELF)
        user_remove(decision->users, decision->row, found->shelf, found->slot);
}

/* Subtracts 1 from the counter of each of the others, in the same step as the rest. The row has room. */
static void gone_commit(struct decision *decision, struct item_row *row, uint32_t stamp)
{
    for (uint32_t i = 0; i < decision->other_count; i++)
        item_add(decision->items, row, decision->others[i].kind, -1, stamp);
    for (uint32_t i = 0; i < decision->gone_count; i++)
        cleared_stamp(&decision->users->cleared, decision->gone[i], stamp);
}

/* Evicts clean entries of a shelf that is too long. The keeper evicts what remains too much. */
static void shelf_trim(struct decision *decision, struct shelf *shelf)
{
    struct hot_memory *hot = decision->hot;
    if (shelf->count <= hot->shelf_max || hot->filters == NULL)
        return;
    uint32_t clean = loads_clean(&hot->loads);
    for (uint32_t i = 0; i < TRIM_MOST && shelf->count > hot->shelf_max; i++) {
        if (shelf_tail(&decision->users->slab, shelf).stamp >= clean)
            break;
        shelf_drop_oldest(&decision->users->slab, shelf);
        shelf->flags |= SHELF_INCOMPLETE;
        decision->users->reactions--;
    }
    if (shelf->count > hot->shelf_max)
        decision->users->long_shelves = true;
}

/* Called with everything reserved and the item's shard locked. */
static void set_commit(struct decision *decision, struct user_room *room, struct item_row *row)
{
    uint32_t stamp = decision_record(decision, EVENT_SET);
    item_add(decision->items, row, decision->kind, 1, stamp);
    if (decision->other_count > 0)
        gone_commit(decision, row, stamp);
    struct shelf *shelf =
        user_push(decision->users, decision->trail.user, decision->user, decision->kind,
                  (struct shelf_entry){.id = decision->item.id, .time_s = decision->time_s},
                  decision->item.type, stamp, room);
    if (decision->sole != NULL)
        decision->sole->flags &= (uint8_t)~SHELF_SOLE;
    for (uint32_t i = 0; i < decision->other_count; i++)
        forget(decision, &decision->others[i]);
    user_touch(room->row);
    shelf_trim(decision, shelf);
}

/* Gets the item's row, with room for all counters that change. */
static enum status item_prepare(struct decision *decision, int64_t delta, struct item_row **row)
{
    const struct found *gone = decision->others;
    uint32_t gone_count = decision->other_count;
    struct hot_memory *hot = decision->hot;
    struct item_shard *shard = decision->items;
    uint64_t hash = decision->trail.item;
    uint32_t cell = item_cell(shard, hash, decision->item);
    uint8_t flags = 0;
    if (cell == 0 && hot->filters != NULL &&
        filter_said(&shard->denied, filters_may_have_item(hot->filters, decision->item))) {
        if (hot->journal != NULL)
            return STATUS_BLOCKED;
        flags = ITEM_PARTIAL;
    }
    enum status status = STATUS_OK;
    if (delta != 0)
        status = item_reserve(shard, hash, decision->item, decision->kind, delta, flags, &cell);
    for (uint32_t i = 0; i < gone_count && status == STATUS_OK; i++)
        status = item_reserve(shard, hash, decision->item, gone[i].kind, -1, flags, &cell);
    if (status != STATUS_OK)
        return status;
    *row = item_at(shard, cell);
    if ((*row)->flags & ITEM_PARTIAL)
        return STATUS_OK;
    for (uint32_t i = 0; i < gone_count; i++)
        if (item_value(*row, gone[i].kind) < 1)
            return STATUS_DAMAGED;
    return STATUS_OK;
}

/*
 * Called before a shelf is made. If there is no shelf of the other width and the store has nothing for
 * one, the new shelf is the only one (SHELF_SOLE). If the shelf of the other width has SHELF_SOLE, the
 * store has nothing of this width, and that shelf loses the flag.
 */
static void note_widths(struct decision *decision, struct user_room *room)
{
    struct item other = decision->item;
    other.id.hi = !id_is_wide(other.id);
    struct shelf *shelf = decision->row == NULL ? NULL
                                                : user_shelf(decision->users, decision->row,
                                                             decision->kind, other, 0);
    if (shelf == NULL && !(room->flags & SHELF_INCOMPLETE))
        room->flags |= SHELF_SOLE;
    if (shelf != NULL && shelf->flags & SHELF_SOLE) {
        room->flags &= (uint8_t)~SHELF_INCOMPLETE;
        decision->sole = shelf;
    }
}

/*
 * Called before a shelf is made. If the user has too many shelves already, the new one must replace a
 * clean one. Shelves of the same type are not evicted, because the reactions to be cleared are on them.
 */
static bool shelf_is_allowed(struct decision *decision)
{
    struct hot_memory *hot = decision->hot;
    if (hot->journal == NULL || decision->row == NULL ||
        !user_has_many_shelves(decision->users, decision->row))
        return true;
    if (hot->filters == NULL)
        return false;
    uint32_t dropped = 0;
    while (dropped < DROP_MOST && user_drop_shelf(decision->users, decision->row,
                                                  decision->item.type, loads_clean(&hot->loads)))
        dropped++;
    return dropped > 0;
}

/* Sets the reaction. The others to be cleared have been found. */
static enum status set_change(struct decision *decision)
{
    struct user_room room;
    uint8_t flags = decision->wanted.incomplete ? SHELF_INCOMPLETE : 0;
    if (!user_reserve(decision->users, decision->trail.user, decision->row, decision->user,
                      decision->kind, decision->item, flags, &room))
        return STATUS_NO_MEMORY;
    bool allowed = room.shelf != NULL || shelf_is_allowed(decision);
    if (room.shelf == NULL)
        note_widths(decision, &room);
    enum status status = allowed ? STATUS_NO_MEMORY : STATUS_SHELVES_FULL;
    if (allowed && (decision->other_count == 0 || gone_reserve(decision))) {
        struct item_row *row;
        pthread_mutex_lock(&decision->items->lock);
        status = item_prepare(decision, 1, &row);
        if (status == STATUS_OK)
            set_commit(decision, &room, row);
        pthread_mutex_unlock(&decision->items->lock);
    }
    if (status == STATUS_OK) {
        struct cleared_key key = key_of(decision, decision->kind);
        cleared_remove(&decision->users->cleared, &key);
        user_absent_remove(decision->users, &key);
        return STATUS_OK;
    }
    gone_release(decision);
    user_release(decision->users, decision->user, decision->kind, decision->item, &room);
    return status;
}

/* Clears the others, of which there is at least one, and sets nothing. */
static enum status clear_change(struct decision *decision)
{
    enum status status = STATUS_NO_MEMORY;
    if (gone_reserve(decision)) {
        struct item_row *row;
        pthread_mutex_lock(&decision->items->lock);
        status = item_prepare(decision, 0, &row);
        if (status == STATUS_OK)
            gone_commit(decision, row, decision_record(decision, EVENT_CLEAR));
        pthread_mutex_unlock(&decision->items->lock);
    }
    for (uint32_t i = 0; status == STATUS_OK && i < decision->other_count; i++)
        forget(decision, &decision->others[i]);
    if (status != STATUS_OK)
        gone_release(decision);
    return status;
}

static enum hot_need decision_answer(struct hot_memory *hot, struct hot_request *request,
                                     enum status status, bool changed)
{
    if (status == STATUS_BLOCKED)
        return NEED_ITEM;
    request->status = status;
    request->change.value = status == STATUS_OK && changed;
    hot_note_room(hot, status, request->change.value != 0);
    return status == STATUS_NO_MEMORY && hot->store != NULL ? NEED_MEMORY : NEED_NOTHING;
}

/* Caches what was read, for the next request, or for this one after it has loaded the item. */
static void keep_warm(struct decision *decision, const struct found *found)
{
    if (found->where == IN_STORE)
        hot_memory_warm(decision->hot, decision->users, decision->trail.user, decision->user,
                        found->kind, decision->item, found->time_s);
}

/* Notes that this kind exists, for FEED. */
static void kind_note(struct hot_memory *hot, uint8_t kind)
{
    _Atomic uint64_t *word = &hot->kinds[kind >> 6];
    uint64_t bit = 1ULL << (kind & 63);
    if (!(atomic_load_explicit(word, memory_order_relaxed) & bit))
        atomic_fetch_or(word, bit);
}

void hot_memory_know_kind(struct hot *base, uint8_t kind)
{
    kind_note(hot_memory_of(base), kind);
}

/*
 * A reaction may be set already together with others of its group, from before they were declared
 * exclusive. Then the others are cleared as well. The answer is about the named reaction, so it is 0.
 */
enum hot_need hot_memory_set(struct hot_memory *hot, struct hot_request *request,
                             struct hot_trail trail, const struct hot_reads *reads)
{
    struct decision decision;
    kind_note(hot, request->name);
    decision_begin_request(&decision, hot, request, trail, reads);
    decision.wanted = find(&decision, decision.kind);
    bool is_decidable = decision.wanted.where != NOT_HOT && find_group(&decision);
    bool change = decision.wanted.where == ABSENT;
    enum status status = STATUS_OK;
    if (is_decidable && change)
        status = set_change(&decision);
    else if (is_decidable && decision.other_count > 0)
        status = clear_change(&decision);
    keep_warm(&decision, &decision.wanted);
    for (uint32_t i = 0; status == STATUS_BLOCKED && i < decision.other_count; i++)
        keep_warm(&decision, &decision.others[i]);
    decision_end(&decision);
    return is_decidable ? decision_answer(hot, request, status, change) : NEED_REACTIONS;
}

enum hot_need hot_memory_clear(struct hot_memory *hot, struct hot_request *request,
                               struct hot_trail trail, const struct hot_reads *reads)
{
    struct decision decision;
    decision_begin_request(&decision, hot, request, trail, reads);
    decision.wanted = find(&decision, decision.kind);
    bool is_decidable = decision.wanted.where != NOT_HOT;
    bool change = is_set(&decision.wanted);
    enum status status = STATUS_OK;
    if (change) {
        decision.others[decision.other_count++] = decision.wanted;
        status = clear_change(&decision);
    }
    if (status == STATUS_BLOCKED)
        keep_warm(&decision, &decision.wanted);
    decision_end(&decision);
    return is_decidable ? decision_answer(hot, request, status, change) : NEED_REACTIONS;
}

/* No kind may be cleared twice or by itself, and no more kinds than a group can have. */
static bool cleared_is_sound(const struct event *event)
{
    struct kind_set seen = {0};
    kind_set_add(&seen, event->name);
    if (event->cleared_count > event_cleared_max(event->type))
        return false;
    for (uint32_t i = 0; i < event->cleared_count; i++) {
        if (kind_set_has(&seen, event->cleared[i]))
            return false;
        kind_set_add(&seen, event->cleared[i]);
    }
    return true;
}

/* Finds what a recorded change cleared. It must be on a shelf or in the store. */
static enum status find_cleared(struct decision *decision, uint8_t kind)
{
    struct found *found = &decision->others[decision->other_count++];
    *found = find(decision, kind);
    if (found->where == NOT_HOT)
        found->where = IN_STORE;
    return is_set(found) ? STATUS_OK : STATUS_DAMAGED;
}

enum status hot_memory_apply_set(struct hot_memory *hot, const struct event *event,
                                 struct hot_trail trail)
{
    if (!cleared_is_sound(event))
        return STATUS_DAMAGED;
    kind_note(hot, event->name);
    struct decision decision;
    decision_begin_event(&decision, hot, event, trail);
    decision.wanted = (struct found){.where = ABSENT,
                                     .kind = event->name}; /* the event says that it was not set */
    decision.wanted.incomplete =
        hot->filters != NULL &&
        filters_may_have_shelf(hot->filters, event->user, event->name, event->item.type);
    enum status status = STATUS_OK;
    for (uint32_t i = 0; i < event->cleared_count && status == STATUS_OK; i++)
        status = find_cleared(&decision, event->cleared[i]);
    if (status == STATUS_OK)
        status = set_change(&decision);
    decision_end(&decision);
    return status;
}

enum status hot_memory_apply_clear(struct hot_memory *hot, const struct event *event,
                                   struct hot_trail trail)
{
    if (!cleared_is_sound(event))
        return STATUS_DAMAGED;
    struct decision decision;
    decision_begin_event(&decision, hot, event, trail);
    enum status status = find_cleared(&decision, event->name);
    for (uint32_t i = 0; i < event->cleared_count && status == STATUS_OK; i++)
        status = find_cleared(&decision, event->cleared[i]);
    if (status == STATUS_OK)
        status = clear_change(&decision);
    decision_end(&decision);
    return status;
}
