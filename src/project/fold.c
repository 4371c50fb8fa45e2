/*
 * The result is built in the arrays that are worked on: flat arrays of rows as the store takes
 * them, in the order of first occurrence. Each array has an index by hash with linear probing,
 * which is never more than half full. fold_take closes the gaps in these arrays and copies nothing.
 *
 * A slot of an index has 32 bits of hash and a serial number. Serial numbers continue from window
 * to window, and a slot with a serial number of an earlier window is empty. So clearing a window
 * costs nothing, however large it was.
 */
#include "project/fold.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/hash.h"

#define FOLD_MAGIC     0x666f6c64U
#define ROWS_MIN       64 /* smallest size of each array: any single event fits */
#define ROWS_MAX       (1U << 30)
#define BUDGET_SHARE   16 /* this fraction of the budget is taken at the beginning */
#define BODIES_SHARE   64 /* bodies of one window may take this fraction of the budget */
#define COMMENTS_SHARE 64 /* and rows of comments this fraction */

_Static_assert(1 + LIMIT_EXCLUSIVE <= ROWS_MIN, "an empty window takes any event");
_Static_assert((ROWS_MIN & (ROWS_MIN - 1)) == 0, "indexes are masked");

/* An array with its index, if it needs one. */
struct rows {
    void *at;
    size_t row_bytes;
    uint32_t used;
    uint32_t capacity; /* a power of two */
    uint64_t *slots;   /* twice the capacity; low half: serial number, high half: hash */
    uint32_t mask;
    uint32_t floor; /* serial numbers up to this are from earlier windows */
    bool indexed;
};

struct fold {
    uint32_t magic;
    bool taken;
    struct memory_budget *budget;
    size_t events_max;
    size_t events;
    size_t bodies_max;         /* at least LIMIT_EVENT_BODY: an empty window takes any event */
    size_t bodies;             /* bytes of bodies */
    struct comments *comments; /* may be NULL */
    size_t work_max; /* bytes for rows of comments, which are charged; 0 without comments */
    size_t work;     /* about how many of them are needed */
    uint64_t seed;
    struct rows reactions; /* of struct store_reaction; time_s 0: absent at this point */
    struct rows counts;    /* of struct store_count */
    struct rows names;     /* of struct store_name */
    struct rows tokens;    /* of struct store_token */
};

static size_t rows_bytes(const struct rows *rows, uint32_t capacity)
{
    return capacity * (rows->row_bytes + (rows->indexed ? 2 * sizeof(*rows->slots) : 0));
}

/* Copies the slots of this window into an index of at least twice the size. */
static void slots_move(const struct rows *rows, uint64_t *slots, uint32_t mask)
{
    ASSERT(rows->slots == NULL || mask > rows->mask);
    for (uint32_t i = 0; rows->slots != NULL && i <= rows->mask; i++) {
        uint64_t value = rows->slots[i];
        if ((uint32_t)value <= rows->floor)
            continue;
        uint32_t slot = (uint32_t)(value >> 32) & mask;
        while (slots[slot] != 0)
            slot = (slot + 1) & mask;
        slots[slot] = value;
    }
}

static bool slots_grow(struct rows *rows, uint32_t capacity)
{
    uint32_t mask = capacity * 2 - 1;
    uint64_t *slots = calloc((size_t)mask + 1, sizeof(*slots));
    if (slots == NULL)
        return false;
    slots_move(rows, slots, mask);
    free(rows->slots);
    rows->slots = slots;
    rows->mask = mask;
    return true;
}

/* Both arrays are charged while the contents are copied, because both exist then. */
static bool rows_grow(struct rows *rows, struct memory_budget *budget, uint32_t capacity)
{
    ASSERT(capacity > rows->capacity && capacity >= ROWS_MIN && capacity <= ROWS_MAX);
    ASSERT((capacity & (capacity - 1)) == 0); /* indexes are masked */
    size_t bytes = rows_bytes(rows, capacity);
    if (!memory_charge(budget, bytes))
        return false;
    void *at = realloc(rows->at, capacity * rows->row_bytes);
    if (at != NULL)
        rows->at = at;
    if (at == NULL || (rows->indexed && !slots_grow(rows, capacity))) {
        memory_release(budget, bytes);
        return false;
    }
    memory_release(budget, rows_bytes(rows, rows->capacity));
    rows->capacity = capacity;
    return true;
}

static void rows_free(struct rows *rows, struct memory_budget *budget)
{
    memory_release(budget, rows_bytes(rows, rows->capacity));
    free(rows->at);
    free(rows->slots);
}

static bool rows_reserve(struct fold *fold, struct rows *rows, uint32_t more)
{
    ASSERT(more <= ROWS_MIN && rows->used <= rows->capacity);
    if (rows->capacity - rows->used >= more)
        return true;
    return rows->capacity < ROWS_MAX && rows_grow(rows, fold->budget, rows->capacity * 2);
}

/* A serial number is never used again while a slot may still have it. */
static void rows_clear(struct rows *rows)
{
    ASSERT(rows->used <= rows->capacity);
    rows->floor += rows->used;
    rows->used = 0;
    if (rows->indexed && rows->floor >= UINT32_MAX - ROWS_MAX) {
        memset(rows->slots, 0, ((size_t)rows->mask + 1) * sizeof(*rows->slots));
        rows->floor = 0;
    }
}

static uint32_t power_at_least(uint64_t least)
{
    uint32_t power = ROWS_MIN;
    while (power < least && power < ROWS_MAX)
        power *= 2;
    return power;
}

/*
 * Allocates the smallest size of each array, and then a full window, or as much of it as may be
 * taken at the beginning.
 */
static bool fold_first_rows(struct fold *fold)
{
    struct rows *all[4] = {&fold->reactions, &fold->counts, &fold->names, &fold->tokens};
    for (size_t i = 0; i < 4; i++)
        if (!rows_grow(all[i], fold->budget, ROWS_MIN))
            return false;
    uint64_t share = fold->budget->limit / BUDGET_SHARE;
    for (uint32_t usual = power_at_least(fold->events_max); usual > ROWS_MIN; usual /= 2) {
        size_t bytes = rows_bytes(&fold->reactions, usual) + rows_bytes(&fold->counts, usual);
        if (bytes <= share && rows_grow(&fold->reactions, fold->budget, usual)) {
            /* Otherwise later, when it is needed. */
            (void)rows_grow(&fold->counts, fold->budget, usual);
            break;
        }
    }
    return true;
}

static size_t bodies_bound(const struct memory_budget *budget)
{
    uint64_t share = budget->limit / BODIES_SHARE;
    return share > FOLD_BODIES_MAX    ? FOLD_BODIES_MAX
           : share > LIMIT_EVENT_BODY ? (size_t)share
                                      : LIMIT_EVENT_BODY;
}

static size_t work_bound(const struct memory_budget *budget)
{
    uint64_t share = budget->limit / COMMENTS_SHARE;
    return share > FOLD_COMMENTS_MAX   ? FOLD_COMMENTS_MAX
           : share > FOLD_COMMENTS_MIN ? (size_t)share
                                       : FOLD_COMMENTS_MIN;
}

struct fold *fold_new(struct memory_budget *budget, size_t events_max, uint64_t seed)
{
    ASSERT(events_max > 0);
    if (!memory_charge(budget, sizeof(struct fold)))
        return NULL;
    struct fold *fold = malloc(sizeof(*fold));
    if (fold == NULL) {
        memory_release(budget, sizeof(*fold));
        return NULL;
    }
    *fold = (struct fold){
        .magic = FOLD_MAGIC,
        .budget = budget,
        .events_max = events_max,
        .bodies_max = bodies_bound(budget),
        .seed = seed,
        .reactions = {.row_bytes = sizeof(struct store_reaction), .indexed = true},
        .counts = {.row_bytes = sizeof(struct store_count), .indexed = true},
        .names = {.row_bytes = sizeof(struct store_name)},
        .tokens = {.row_bytes = sizeof(struct store_token)},
    };
    if (fold_first_rows(fold))
        return fold;
    fold_free(fold);
    return NULL;
}

bool fold_set_comments(struct fold *fold, struct comments *comments)
{
    ASSERT(fold->comments == NULL && fold->events == 0);
    size_t work_max = work_bound(fold->budget);
    if (!memory_charge(fold->budget, work_max))
        return false;
    fold->comments = comments;
    fold->work_max = work_max;
    return true;
}

void fold_free(struct fold *fold)
{
    if (fold == NULL)
        return;
    CHECK_MAGIC(fold, FOLD_MAGIC);
    rows_free(&fold->reactions, fold->budget);
    rows_free(&fold->counts, fold->budget);
    rows_free(&fold->names, fold->budget);
    rows_free(&fold->tokens, fold->budget);
    memory_release(fold->budget, sizeof(*fold) + fold->work_max);
    fold->magic = 0;
    free(fold);
}

/* The number of a new row for this slot; the caller has made room before. */
static uint32_t row_make(struct rows *rows, uint32_t slot, uint32_t hash)
{
    ASSERT(rows->used < rows->capacity);
    uint32_t row = rows->used++;
    rows->slots[slot] = (uint64_t)hash << 32 | (rows->floor + row + 1);
    return row;
}

static bool reaction_is(const struct store_reaction *row, const struct event *event, uint8_t kind)
{
    return id_equal(row->user, event->user) && item_equal(row->item, event->item) &&
           row->kind == kind;
}

/* The row of the event's reaction of this kind. A row that did not exist is new and not filled. */
static struct store_reaction *reaction_find(struct fold *fold, const struct event *event,
                                            uint8_t kind, bool *is_new)
{
    struct rows *rows = &fold->reactions;
    struct store_reaction *reactions = rows->at;
    uint32_t hash = (uint32_t)hash_mix(id_hash(event->user, fold->seed),
                                       item_hash(event->item, fold->seed + ((uint64_t)kind << 16)));
    for (uint32_t slot = hash & rows->mask;; slot = (slot + 1) & rows->mask) {
        uint64_t value = rows->slots[slot];
        if ((uint32_t)value <= rows->floor) {
            *is_new = true;
            return &reactions[row_make(rows, slot, hash)];
        }
        struct store_reaction *row = &reactions[(uint32_t)value - rows->floor - 1];
        if (value >> 32 == hash && reaction_is(row, event, kind))
            return row;
    }
}

/*
 * False: the reaction has this state already. A time of 0 would mean "not set", so second 0 becomes
 * second 1.
 */
static bool reaction_put(struct fold *fold, const struct event *event, uint8_t kind, bool live)
{
    bool is_new = false;
    uint32_t time_s = event->time_s == 0 ? 1 : event->time_s;
    struct store_reaction *row = reaction_find(fold, event, kind, &is_new);
    bool changes = is_new || (row->time_s != 0) != live;
    if (is_new)
        *row = (struct store_reaction){
            .user = event->user, .item = event->item, .kind = kind, .was_live = !live};
    row->time_s = live ? time_s : 0;
    row->cleared_s = live ? 0 : time_s;
    return changes;
}

/* A comment that is voted on is read and written when the window is applied. */
static void count_work(struct fold *fold, struct item item)
{
    if (fold->comments != NULL && item.type == comments_type(fold->comments))
        fold->work += COMMENTS_VOTE_COST;
}

static void count_add(struct fold *fold, struct item item, uint8_t name, int64_t delta)
{
    struct rows *rows = &fold->counts;
    struct store_count *counts = rows->at;
    uint32_t hash = (uint32_t)item_hash(item, fold->seed + ((uint64_t)name << 16));
    for (uint32_t slot = hash & rows->mask;; slot = (slot + 1) & rows->mask) {
        uint64_t value = rows->slots[slot];
        if ((uint32_t)value <= rows->floor) {
            counts[row_make(rows, slot, hash)] =
                (struct store_count){.item = item, .name = name, .value = delta};
            count_work(fold, item);
            return;
        }
        struct store_count *row = &counts[(uint32_t)value - rows->floor - 1];
        if (value >> 32 == hash && row->name == name && item_equal(row->item, item)) {
            row->value = (int64_t)((uint64_t)row->value + (uint64_t)delta);
            return;
        }
    }
}

/* Adds a SET or a CLEAR, including the other kinds that it cleared. */
static enum status add_reaction(struct fold *fold, const struct event *event)
{
    ASSERT(event->cleared_count <= LIMIT_EXCLUSIVE);
    bool live = event->type == EVENT_SET;
    uint32_t most = 1U + event->cleared_count;
    if (!rows_reserve(fold, &fold->reactions, most) || !rows_reserve(fold, &fold->counts, most))
        return STATUS_NO_MEMORY;
    for (uint8_t i = 0; i < event->cleared_count; i++) {
        if (!reaction_put(fold, event, event->cleared[i], false))
            return STATUS_DAMAGED;
        count_add(fold, event->item, event->cleared[i], -1);
    }
    if (!reaction_put(fold, event, event->name, live))
        return STATUS_DAMAGED;
    count_add(fold, event->item, event->name, live ? 1 : -1);
    return STATUS_OK;
}

static void add_token(struct fold *fold, const struct store_token *token)
{
    ASSERT(fold->tokens.used < fold->tokens.capacity);
    ((struct store_token *)fold->tokens.at)[fold->tokens.used++] = *token;
}

static enum status add_addition(struct fold *fold, const struct event *event)
{
    if (!rows_reserve(fold, &fold->counts, 1) || !rows_reserve(fold, &fold->tokens, 1))
        return STATUS_NO_MEMORY;
    count_add(fold, event->item, event->name, event->delta);
    if (event->has_token)
        add_token(fold, &(struct store_token){.token = {event->token[0], event->token[1]},
                                              .time_s = event->time_s,
                                              .item = event->item});
    return STATUS_OK;
}

static enum status add_name(struct fold *fold, const struct event *event)
{
    if (!rows_reserve(fold, &fold->names, 1))
        return STATUS_NO_MEMORY;
    ASSERT(event->text_length <= LIMIT_NAME_LENGTH);
    ASSERT(fold->names.used < fold->names.capacity);
    struct store_name *name = &((struct store_name *)fold->names.at)[fold->names.used++];
    *name = (struct store_name){
        .role = event->name, .length = event->text_length, .index = event->index};
    memcpy(name->text, event->text, event->text_length);
    if (fold->comments != NULL)
        comments_define(fold->comments, event);
    return STATUS_OK;
}

/* Counters and tokens of an event about comments are like those of any other event. */
static enum status add_effect(struct fold *fold, const struct event *event)
{
    struct comments_effect effect;
    size_t cost = comments_cost(event);
    if ((fold->events > 0 && cost > fold->work_max - fold->work) ||
        !rows_reserve(fold, &fold->counts, 2) || !rows_reserve(fold, &fold->tokens, 1))
        return STATUS_NO_MEMORY;
    enum status status = comments_add(fold->comments, event, &effect);
    if (status != STATUS_OK)
        return status;
    fold->work += cost;
    if (effect.subject_delta != 0)
        count_add(fold, effect.subject, NAME_INDEX_COMMENT, effect.subject_delta);
    if (effect.root_delta != 0)
        count_add(fold, effect.root, NAME_INDEX_COMMENT, effect.root_delta);
    if (effect.has_token)
        add_token(fold, &(struct store_token){.token = {effect.token[0], effect.token[1]},
                                              .time_s = event->time_s,
                                              .item = event->item,
                                              .value = effect.comment});
    return STATUS_OK;
}

static enum status add_comment(struct fold *fold, const struct event *event)
{
    ASSERT(event->body_length > 0 && event->body_length <= LIMIT_EVENT_BODY);
    if (event->body_length > fold->bodies_max - fold->bodies)
        return STATUS_NO_MEMORY;
    enum status status = fold->comments != NULL ? add_effect(fold, event) : STATUS_OK;
    if (status == STATUS_OK)
        fold->bodies += event->body_length;
    return status;
}

enum status fold_add(struct fold *fold, const struct event *event)
{
    ASSERT(!fold->taken);
    if (fold_is_full(fold))
        return STATUS_NO_MEMORY;
    enum status status;
    switch (event->type) {
    case EVENT_SET:
    case EVENT_CLEAR:
        status = add_reaction(fold, event);
        break;
    case EVENT_ADD:
        status = add_addition(fold, event);
        break;
    case EVENT_DEFINE:
        status = add_name(fold, event);
        break;
    case EVENT_COMMENT:
        status = add_comment(fold, event);
        break;
    default:
        status = STATUS_DAMAGED;
        break;
    }
    fold->events += status == STATUS_OK;
    return status;
}

bool fold_is_full(const struct fold *fold)
{
    return fold->events >= fold->events_max || fold->bodies >= fold->bodies_max ||
           (fold->comments != NULL && fold->work >= fold->work_max);
}

size_t fold_events(const struct fold *fold)
{
    return fold->events;
}

size_t fold_bodies(const struct fold *fold)
{
    return fold->bodies;
}

/*
 * Puts transient reactions after the changes, which keep their order. Returns the number of
 * changes.
 */
static size_t reactions_part(struct store_reaction *rows, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (!rows[i].was_live && rows[i].time_s == 0)
            continue;
        struct store_reaction row = rows[i];
        if (kept != i)
            rows[i] = rows[kept];
        rows[kept++] = row;
    }
    return kept;
}

static size_t counts_close_gaps(struct store_count *rows, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (rows[i].value != 0)
            rows[kept++] = rows[i];
    return kept;
}

void fold_take(struct fold *fold, uint64_t position, struct store_changes *changes)
{
    CHECK_MAGIC(fold, FOLD_MAGIC);
    ASSERT(fold->events <= fold->events_max && fold->bodies <= fold->bodies_max);
    ASSERT(!fold->taken);
    fold->taken = true;
    size_t kept = reactions_part(fold->reactions.at, fold->reactions.used);
    ASSERT(kept <= fold->reactions.used);
    *changes = (struct store_changes){
        .user = {.reactions = fold->reactions.at,
                 .reaction_count = kept,
                 .transient = (const struct store_reaction *)fold->reactions.at + kept,
                 .transient_count = fold->reactions.used - kept},
        .item = {.reactions = fold->reactions.at,
                 .reaction_count = kept,
                 .counts = fold->counts.at,
                 .count_count = counts_close_gaps(fold->counts.at, fold->counts.used),
                 .tokens = fold->tokens.at,
                 .token_count = fold->tokens.used},
        .names = fold->names.at,
        .name_count = fold->names.used,
        .position = position,
    };
}

void fold_clear(struct fold *fold)
{
    CHECK_MAGIC(fold, FOLD_MAGIC);
    rows_clear(&fold->reactions);
    rows_clear(&fold->counts);
    rows_clear(&fold->names);
    rows_clear(&fold->tokens);
    fold->events = 0;
    fold->bodies = 0;
    fold->work = 0;
    if (fold->comments != NULL)
        comments_clear(fold->comments);
    fold->taken = false;
}
