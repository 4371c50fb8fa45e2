/*
 * Setting and clearing a reaction: look, make room, then change everything at once. Whatever can
 * fail (memory, the store) comes before the first change, so a refusal leaves nothing behind. The
 * item's shard is locked only for the second half.
 *
 * A reaction is on its shelf or in the store, never in both: the shelf's oldest moves there when
 * one too many comes, and is looked for and removed there once the shelf says it is incomplete.
 *
 * Replay goes the same way, except that it does not ask whether a recorded change is one.
 */
#include <string.h>

#include "base/assert.h"
#include "hot/memory/hot_memory_priv.h"

enum where {
    ABSENT,
    ON_SHELF,
    IN_STORE,
    NOT_HOT, /* only the store knows */
};

struct found {
    enum where where;
    uint8_t kind;
    struct shelf *shelf;
    struct shelf_place place;
};

/* One SET or CLEAR on its way. */
struct decision {
    struct hot_memory *hot;
    struct user_shard *users;
    struct item_shard *items;
    struct hot_trail trail;
    struct id user;
    struct item item;
    uint32_t time_s;
    uint8_t kind;
    struct user_row *row;                 /* NULL: an unknown user */
    struct found wanted;                  /* the reaction itself */
    struct found others[LIMIT_EXCLUSIVE]; /* SET: kinds that cannot be beside it */
    uint32_t other_count;
};

/* The user's shard is locked from here to decision_end. Filled by hand: most of it stays unused. */
static void decision_begin(struct decision *decision, struct hot_memory *hot,
                           struct hot_trail trail)
{
    decision->hot = hot;
    decision->trail = trail;
    decision->users = user_shard_of(hot, trail.user);
    decision->items = item_shard_of(hot, trail.item);
    decision->other_count = 0;
    if (decision->time_s == 0)
        decision->time_s = 1; /* 0 means absent in a store */
    pthread_mutex_lock(&decision->users->lock);
    decision->row = user_find(decision->users, trail.user, decision->user, trail.guess);
}

static void decision_begin_request(struct decision *decision, struct hot_memory *hot,
                                   const struct hot_request *request, struct hot_trail trail)
{
    decision->user = request->user;
    decision->item = request->items[0];
    decision->kind = request->name;
    decision->time_s = request->time_s;
    decision_begin(decision, hot, trail);
}

static void decision_begin_event(struct decision *decision, struct hot_memory *hot,
                                 const struct event *event, struct hot_trail trail)
{
    decision->user = event->user;
    decision->item = event->item;
    decision->kind = event->name;
    decision->time_s = event->time_s;
    decision_begin(decision, hot, trail);
}

static void decision_end(struct decision *decision)
{
    pthread_mutex_unlock(&decision->users->lock);
}

static struct found find_hot(const struct decision *decision, uint8_t kind)
{
    struct found found = {.where = ABSENT, .kind = kind};
    if (decision->row == NULL)
        return found;
    found.shelf = user_shelf(decision->users, decision->row, kind, decision->item);
    if (found.shelf == NULL)
        return found;
    found.place =
        shelf_find(&decision->users->slab, found.shelf, decision->hot->scan, decision->item.id);
    if (found.place.chunk != 0)
        found.where = ON_SHELF;
    else if (found.shelf->flags & SHELF_INCOMPLETE)
        found.where = NOT_HOT;
    return found;
}

/* What is not hot is nowhere. */
static enum status find_rest(struct decision *decision)
{
    (void)decision;
    return STATUS_OK;
}

static bool is_live(const struct found *found)
{
    return found->where == ON_SHELF || found->where == IN_STORE;
}

static void find_group(struct decision *decision)
{
    const struct exclusive *exclusive = decision->hot->exclusive;
    if (decision->row == NULL || exclusive == NULL || exclusive->group_of[decision->kind] == 0)
        return;
    const struct exclusive_group *group =
        &exclusive->groups[exclusive->group_of[decision->kind] - 1];
    for (uint32_t i = 0; i < group->count; i++)
        if (group->kinds[i] != decision->kind)
            decision->others[decision->other_count++] = find_hot(decision, group->kinds[i]);
}

/* Keeps of the others only those that are live and have to go. */
static void keep_live(struct decision *decision)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < decision->other_count; i++)
        if (is_live(&decision->others[i]))
            decision->others[count++] = decision->others[i];
    decision->other_count = count;
}

/* Every counter that is to lose one has one. */
static bool counts_agree(const struct decision *decision, const struct item_row *row)
{
    for (uint32_t i = 0; i < decision->other_count; i++)
        if (item_value(row, decision->others[i].kind) < 1)
            return false;
    return true;
}

static void decision_record(const struct decision *decision, enum event_type type)
{
    if (decision->hot->journal == NULL)
        return;
    struct event event = {
        .type = type,
        .name = decision->kind,
        .time_s = decision->time_s,
        .user = decision->user,
        .item = decision->item,
        .cleared_count = (uint8_t)decision->other_count,
    };
    for (uint32_t i = 0; i < decision->other_count; i++)
        event.cleared[i] = decision->others[i].kind;
    journal_append(decision->hot->journal, &event);
}

static void forget(struct decision *decision, const struct found *found)
{
    if (found->where == ON_SHELF)
        user_remove(decision->users, decision->row, found->shelf, found->place);
}

/* With everything reserved and the item's shard locked. */
static void set_commit(struct decision *decision, struct user_room *room, struct item_slot *slot,
                       bool full)
{
    item_add(slot, decision->kind, 1, decision->time_s);
    for (uint32_t i = 0; i < decision->other_count; i++) {
        item_take(slot->row, decision->others[i].kind);
        forget(decision, &decision->others[i]);
    }
    struct shelf *shelf = user_push(decision->users, decision->trail.user, decision->user,
                                    decision->kind, decision->item, decision->time_s, room);
    (void)shelf;
    (void)full;
    decision_record(decision, EVENT_SET);
}

/* The others to go are known and located. */
static enum status set_change(struct decision *decision)
{
    struct user_room room;
    if (!user_reserve(decision->users, decision->trail.user, decision->row, decision->user,
                      decision->kind, decision->item, &room))
        return STATUS_NO_MEMORY;
    bool full = room.shelf != NULL && room.shelf->count >= decision->hot->shelf_max;
    struct item_slot slot;
    pthread_mutex_lock(&decision->items->lock);
    enum status status = item_reserve(decision->items, decision->trail.item, decision->item,
                                      decision->kind, 1, &slot);
    if (status == STATUS_OK) {
        status = counts_agree(decision, slot.row) ? STATUS_OK : STATUS_DAMAGED;
        if (status == STATUS_OK)
            set_commit(decision, &room, &slot, full);
        else
            item_release(decision->items, decision->trail.item, &slot);
    }
    pthread_mutex_unlock(&decision->items->lock);
    if (status != STATUS_OK)
        user_release(decision->users, decision->user, decision->kind, decision->item, &room);
    return status;
}

static enum status clear_change(struct decision *decision)
{
    pthread_mutex_lock(&decision->items->lock);
    struct item_row *row = item_find(decision->items, decision->trail.item, decision->item);
    enum status status = item_value(row, decision->kind) >= 1 ? STATUS_OK : STATUS_DAMAGED;
    if (status == STATUS_OK) {
        item_take(row, decision->kind);
        row->time_s = decision->time_s;
        forget(decision, &decision->wanted);
        decision_record(decision, EVENT_CLEAR);
    }
    pthread_mutex_unlock(&decision->items->lock);
    return status;
}

static void decision_answer(struct hot_request *request, enum status status, bool changed)
{
    ASSERT(status != STATUS_DAMAGED); /* counts and shelves are changed together or not at all */
    request->status = status;
    request->value = status == STATUS_OK && changed;
}

void hot_memory_set(struct hot_memory *hot, struct hot_request *request, struct hot_trail trail)
{
    struct decision decision;
    decision_begin_request(&decision, hot, request, trail);
    enum status status = STATUS_OK;
    bool change = false;
    decision.wanted = find_hot(&decision, decision.kind);
    if (decision.wanted.where != ON_SHELF) {
        find_group(&decision);
        status = find_rest(&decision);
        change = status == STATUS_OK && decision.wanted.where == ABSENT;
    }
    if (change) {
        keep_live(&decision);
        status = set_change(&decision);
    }
    decision_end(&decision);
    decision_answer(request, status, change);
}

void hot_memory_clear(struct hot_memory *hot, struct hot_request *request, struct hot_trail trail)
{
    struct decision decision;
    decision_begin_request(&decision, hot, request, trail);
    decision.wanted = find_hot(&decision, decision.kind);
    enum status status = find_rest(&decision);
    bool change = status == STATUS_OK && is_live(&decision.wanted);
    if (change)
        status = clear_change(&decision);
    decision_end(&decision);
    decision_answer(request, status, change);
}

/* No kind is cleared twice, or by itself. */
static bool cleared_is_sound(const struct event *event)
{
    struct kind_set seen = {0};
    kind_set_add(&seen, event->name);
    if (event->cleared_count > LIMIT_EXCLUSIVE)
        return false;
    for (uint32_t i = 0; i < event->cleared_count; i++) {
        if (kind_set_has(&seen, event->cleared[i]))
            return false;
        kind_set_add(&seen, event->cleared[i]);
    }
    return true;
}

enum status hot_memory_apply_set(struct hot_memory *hot, const struct event *event,
                                 struct hot_trail trail)
{
    if (!cleared_is_sound(event))
        return STATUS_DAMAGED;
    struct decision decision;
    decision_begin_event(&decision, hot, event, trail);
    decision.wanted.where = ABSENT; /* its event says so */
    for (uint32_t i = 0; i < event->cleared_count; i++)
        decision.others[decision.other_count++] = find_hot(&decision, event->cleared[i]);
    enum status status = find_rest(&decision);
    if (status == STATUS_OK) {
        keep_live(&decision);
        status =
            decision.other_count == event->cleared_count ? set_change(&decision) : STATUS_DAMAGED;
    }
    decision_end(&decision);
    return status;
}

enum status hot_memory_apply_clear(struct hot_memory *hot, const struct event *event,
                                   struct hot_trail trail)
{
    struct decision decision;
    decision_begin_event(&decision, hot, event, trail);
    decision.wanted = find_hot(&decision, decision.kind);
    enum status status = find_rest(&decision);
    if (status == STATUS_OK)
        status = is_live(&decision.wanted) ? clear_change(&decision) : STATUS_DAMAGED;
    decision_end(&decision);
    return status;
}
