/*
 * One lock, one table. A batch goes in three steps: what it claims is checked, all rows it may need
 * are made (empty, so that they say nothing), then values move and rows that say nothing go. Only
 * the first two can fail, and the last cleans up after them too.
 */
#include "store/memory/store_memory.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/names.h"
#include "store/memory/list.h"
#include "store/memory/rows.h"

#define STORE_MEMORY_MAGIC 0x73746f72656d656dULL

struct store_memory {
    struct store store; /* first: the port's functions get a pointer to it */
    uint64_t magic;
    struct memory_budget *budget;
    pthread_mutex_t lock;
    struct memory_rows rows;
    uint64_t position;
    uint64_t durable;
    uint64_t reactions;
    uint32_t token_horizon_s;
    uint32_t cleared_horizon_s;
    uint32_t newest_s;
};

struct store_snapshot {
    struct memory_rows rows;
};

static struct store_memory *memory_of(struct store *store)
{
    struct store_memory *memory = (struct store_memory *)store;
    CHECK_MAGIC(memory, STORE_MEMORY_MAGIC);
    return memory;
}

static enum status read_reactions(struct store *store, struct store_reaction *keys, size_t count)
{
    struct store_memory *memory = memory_of(store);
    pthread_mutex_lock(&memory->lock);
    for (size_t i = 0; i < count; i++) {
        struct memory_key key = memory_key_reaction(&keys[i]);
        const struct memory_row *row = memory_rows_find(&memory->rows, &key);
        keys[i].time_s = row == NULL ? 0 : (uint32_t)row->value;
    }
    pthread_mutex_unlock(&memory->lock);
    return STATUS_OK;
}

static bool values_add(struct store_values *values, uint8_t name, int64_t value)
{
    if (values->used == values->capacity) {
        size_t capacity = values->capacity == 0 ? 64 : values->capacity * 2;
        struct store_value *grown = realloc(values->values, capacity * sizeof(*grown));
        if (grown == NULL)
            return false;
        values->values = grown;
        values->capacity = capacity;
    }
    values->values[values->used++] = (struct store_value){.name = name, .value = value};
    return true;
}

static enum status read_item(const struct memory_rows *rows, struct store_item *item,
                             struct store_values *values)
{
    const struct memory_row *by_name[LIMIT_NAMES];
    memory_rows_counters(rows, item->item, by_name);
    item->first = (uint32_t)values->used;
    for (uint16_t name = 0; name < LIMIT_NAMES; name++)
        if (by_name[name] != NULL && !values_add(values, (uint8_t)name, by_name[name]->value))
            return STATUS_NO_MEMORY;
    item->count = (uint32_t)values->used - item->first;
    return STATUS_OK;
}

static enum status read_items(struct store *store, const struct store_snapshot *snapshot,
                              struct store_item *items, size_t count, struct store_values *values)
{
    struct store_memory *memory = memory_of(store);
    enum status status = STATUS_OK;
    pthread_mutex_lock(&memory->lock);
    const struct memory_rows *rows = snapshot != NULL ? &snapshot->rows : &memory->rows;
    for (size_t i = 0; status == STATUS_OK && i < count; i++)
        status = read_item(rows, &items[i], values);
    pthread_mutex_unlock(&memory->lock);
    return status;
}

static enum status list_page(struct store *store, const struct memory_list *list,
                             struct store_listed after, struct store_listed *out, size_t limit,
                             size_t *count)
{
    struct store_memory *memory = memory_of(store);
    pthread_mutex_lock(&memory->lock);
    *count = memory_list_page(&memory->rows, list, after, out, limit);
    pthread_mutex_unlock(&memory->lock);
    return STATUS_OK;
}

static enum status list_reactions(struct store *store, struct id user, uint8_t kind, uint16_t type,
                                  struct store_listed after, struct store_listed *out, size_t limit,
                                  size_t *count)
{
    const struct store_reaction common = {.user = user, .item.type = type, .kind = kind};
    const struct memory_list list = {.common = &common, .of_user = true};
    return list_page(store, &list, after, out, limit, count);
}

static enum status list_reactors(struct store *store, struct item item, uint8_t kind,
                                 struct store_listed after, struct store_listed *out, size_t limit,
                                 size_t *count)
{
    const struct store_reaction common = {.item = item, .kind = kind};
    return list_page(store, &(struct memory_list){.common = &common}, after, out, limit, count);
}

static enum status list_user(struct store *store, struct id user,
                             const struct store_reaction *after, struct store_reaction *out,
                             size_t limit, size_t *count)
{
    struct store_memory *memory = memory_of(store);
    pthread_mutex_lock(&memory->lock);
    *count = memory_list_user(&memory->rows, user, after, out, limit);
    pthread_mutex_unlock(&memory->lock);
    return STATUS_OK;
}

static enum status list_changes(struct store *store, struct id user, uint32_t since_s,
                                struct store_listed after, struct store_listed *out, size_t limit,
                                struct store_changed *changed)
{
    struct store_memory *memory = memory_of(store);
    enum status status = STATUS_OK;
    pthread_mutex_lock(&memory->lock);
    *changed = (struct store_changed){.last = after, .newest_s = memory->newest_s};
    uint32_t newest_s = memory->newest_s == 0 ? 1 : memory->newest_s;
    if (since_s != 0 && (since_s < memory->cleared_horizon_s || since_s > newest_s))
        status = STATUS_START_OVER;
    else
        changed->count = memory_changes_page(&memory->rows, user, since_s, after, out, limit);
    pthread_mutex_unlock(&memory->lock);
    changed->more = status == STATUS_OK && changed->count == limit;
    if (changed->count > 0)
        changed->last = out[changed->count - 1];
    return status;
}

static enum status check_claims(struct store_memory *memory, const struct store_changes *changes)
{
    for (size_t i = 0; i < changes->reaction_count; i++) {
        struct memory_key key = memory_key_reaction(&changes->reactions[i]);
        bool live = memory_rows_find(&memory->rows, &key) != NULL;
        if (live != changes->reactions[i].was_live)
            return STATUS_DAMAGED;
    }
    return STATUS_OK;
}

static struct memory_key token_key(const struct store_token *token)
{
    struct memory_key key = memory_key_item(SORT_TOKEN, token->item, 0);
    key.user = (struct id){.hi = token->token[0], .lo = token->token[1]};
    return key;
}

static struct memory_key name_key(const struct store_name *name)
{
    return (struct memory_key){.sort = SORT_NAME, .type = name->index, .name = name->role};
}

static bool make_row(struct store_memory *memory, struct memory_key key)
{
    return memory_rows_make(&memory->rows, &key) != NULL;
}

/* All that may have been cleared, one after the other; cleared_s is 0 of what was not. */
static size_t cleared_count(const struct store_changes *changes)
{
    return changes->reaction_count + changes->passed_count;
}

static const struct store_reaction *cleared_at(const struct store_changes *changes, size_t at)
{
    return at < changes->reaction_count ? &changes->reactions[at]
                                        : &changes->passed[at - changes->reaction_count];
}

static bool make_rows(struct store_memory *memory, const struct store_changes *changes)
{
    bool made = true;
    for (size_t i = 0; made && i < changes->reaction_count; i++)
        made = make_row(memory, memory_key_reaction(&changes->reactions[i]));
    for (size_t i = 0; made && i < cleared_count(changes); i++)
        made = make_row(memory, memory_key_cleared(cleared_at(changes, i)));
    for (size_t i = 0; made && i < changes->count_count; i++)
        made = make_row(
            memory, memory_key_item(SORT_COUNT, changes->counts[i].item, changes->counts[i].name));
    for (size_t i = 0; made && i < changes->name_count; i++)
        made = make_row(memory, name_key(&changes->names[i]));
    for (size_t i = 0; made && i < changes->token_count; i++)
        made = make_row(memory, token_key(&changes->tokens[i]));
    return made;
}

static struct memory_row *row_of(struct store_memory *memory, struct memory_key key)
{
    struct memory_row *row = memory_rows_find(&memory->rows, &key);
    ASSERT(row != NULL);
    return row;
}

static void set_values(struct store_memory *memory, const struct store_changes *changes)
{
    for (size_t i = 0; i < changes->reaction_count; i++) {
        const struct store_reaction *change = &changes->reactions[i];
        row_of(memory, memory_key_reaction(change))->value = change->time_s;
        memory->reactions += (change->time_s != 0) - (uint64_t)change->was_live;
    }
    for (size_t i = 0; i < cleared_count(changes); i++) {
        const struct store_reaction *change = cleared_at(changes, i);
        if (change->time_s == 0)
            row_of(memory, memory_key_cleared(change))->value = change->cleared_s;
    }
    for (size_t i = 0; i < changes->count_count; i++) {
        const struct store_count *count = &changes->counts[i];
        struct memory_row *row =
            row_of(memory, memory_key_item(SORT_COUNT, count->item, count->name));
        row->value = (int64_t)((uint64_t)row->value + (uint64_t)count->value);
    }
    for (size_t i = 0; i < changes->name_count; i++) {
        struct memory_row *row = row_of(memory, name_key(&changes->names[i]));
        row->value = row->length = changes->names[i].length;
        memcpy(row->text, changes->names[i].text, sizeof(row->text));
    }
    for (size_t i = 0; i < changes->token_count; i++)
        row_of(memory, token_key(&changes->tokens[i]))->value = changes->tokens[i].time_s;
    if (changes->token_horizon_s > memory->token_horizon_s)
        memory->token_horizon_s = changes->token_horizon_s;
    if (changes->cleared_horizon_s > memory->cleared_horizon_s)
        memory->cleared_horizon_s = changes->cleared_horizon_s;
    if (changes->newest_s > memory->newest_s)
        memory->newest_s = changes->newest_s;
    memory->position = changes->position;
}

/* Rows that say nothing go: a reaction without a time, a counter of 0, what is too old. */
static void sweep(struct store_memory *memory)
{
    for (size_t i = 0; i < memory->rows.head_count; i++)
        for (struct memory_row *row = memory->rows.heads[i], *next; row != NULL; row = next) {
            next = row->next;
            if (row->value == 0 ||
                (row->key.sort == SORT_TOKEN && row->value < memory->token_horizon_s) ||
                (row->key.sort == SORT_CLEARED && row->value < memory->cleared_horizon_s))
                memory_rows_remove(&memory->rows, row);
        }
}

static void sweep_row(struct store_memory *memory, struct memory_key key)
{
    struct memory_row *row = memory_rows_find(&memory->rows, &key);
    if (row != NULL && row->value == 0)
        memory_rows_remove(&memory->rows, row);
}

static void sweep_changes(struct store_memory *memory, const struct store_changes *changes,
                          bool horizons_moved)
{
    if (changes->token_count > 0 || horizons_moved) {
        sweep(memory);
        return;
    }
    for (size_t i = 0; i < changes->reaction_count; i++)
        sweep_row(memory, memory_key_reaction(&changes->reactions[i]));
    for (size_t i = 0; i < cleared_count(changes); i++)
        sweep_row(memory, memory_key_cleared(cleared_at(changes, i)));
    for (size_t i = 0; i < changes->count_count; i++)
        sweep_row(memory,
                  memory_key_item(SORT_COUNT, changes->counts[i].item, changes->counts[i].name));
}

/* The budget carries one charge for each row; the batch is charged as if all of it were new. */
static enum status apply_locked(struct store_memory *memory, const struct store_changes *changes)
{
    if (changes->position <= memory->position)
        return STATUS_OK;
    enum status status = check_claims(memory, changes);
    if (status != STATUS_OK)
        return status;
    size_t most = changes->reaction_count + cleared_count(changes) + changes->count_count +
                  changes->name_count + changes->token_count;
    size_t before = memory->rows.count;
    bool horizons_move = changes->token_horizon_s > memory->token_horizon_s ||
                         changes->cleared_horizon_s > memory->cleared_horizon_s;
    if (!memory_charge(memory->budget, most * MEMORY_ROW_BYTES))
        return STATUS_NO_MEMORY;
    if (make_rows(memory, changes)) {
        set_values(memory, changes);
        sweep_changes(memory, changes, horizons_move);
    } else {
        sweep(memory);
        status = STATUS_NO_MEMORY;
    }
    memory_release(memory->budget, (before + most - memory->rows.count) * MEMORY_ROW_BYTES);
    return status;
}

static enum status apply(struct store *store, const struct store_changes *changes)
{
    struct store_memory *memory = memory_of(store);
    pthread_mutex_lock(&memory->lock);
    enum status status = apply_locked(memory, changes);
    pthread_mutex_unlock(&memory->lock);
    return status;
}

static enum status flush(struct store *store)
{
    struct store_memory *memory = memory_of(store);
    pthread_mutex_lock(&memory->lock);
    memory->durable = memory->position;
    pthread_mutex_unlock(&memory->lock);
    return STATUS_OK;
}

static struct store_snapshot *take_snapshot(struct store *store)
{
    struct store_memory *memory = memory_of(store);
    struct store_snapshot *snapshot = malloc(sizeof(*snapshot));
    if (snapshot == NULL)
        return NULL;
    pthread_mutex_lock(&memory->lock);
    bool copied = memory_rows_copy(&snapshot->rows, &memory->rows);
    pthread_mutex_unlock(&memory->lock);
    if (copied)
        return snapshot;
    free(snapshot);
    return NULL;
}

static void release(struct store *store, struct store_snapshot *snapshot)
{
    (void)memory_of(store);
    memory_rows_destroy(&snapshot->rows);
    free(snapshot);
}

static enum status visit_row(const struct store_visitor *visitor, const struct memory_row *row)
{
    const struct memory_key *key = &row->key;
    struct item item = {.id = key->item, .type = key->type};
    if (key->sort == SORT_REACTION && !store_visits_part(visitor, store_user_part(key->user)))
        return STATUS_OK;
    if (key->sort == SORT_COUNT && !store_visits_part(visitor, store_item_part(item)))
        return STATUS_OK;
    if (key->sort == SORT_REACTION && visitor->reaction != NULL)
        return visitor->reaction(visitor->context,
                                 &(struct store_reaction){.user = key->user,
                                                          .item = item,
                                                          .kind = (uint8_t)key->name,
                                                          .time_s = (uint32_t)row->value});
    if (key->sort == SORT_COUNT && visitor->count != NULL)
        return visitor->count(
            visitor->context,
            &(struct store_count){.item = item, .name = (uint8_t)key->name, .value = row->value});
    if (key->sort == SORT_NAME && visitor->name != NULL) {
        struct store_name name = {
            .role = (uint8_t)key->name, .index = key->type, .length = row->length};
        memcpy(name.text, row->text, row->length);
        return visitor->name(visitor->context, &name);
    }
    if (key->sort == SORT_TOKEN && visitor->token != NULL)
        return visitor->token(visitor->context,
                              &(struct store_token){.token = {key->user.hi, key->user.lo},
                                                    .time_s = (uint32_t)row->value,
                                                    .item = item});
    return STATUS_OK;
}

/* Over a copy, so that a visitor may take its time and may ask the store. */
static enum status visit(struct store *store, const struct store_visitor *visitor)
{
    struct store_snapshot *snapshot = take_snapshot(store);
    if (snapshot == NULL)
        return STATUS_NO_MEMORY;
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < snapshot->rows.head_count; i++)
        for (const struct memory_row *row = snapshot->rows.heads[i];
             status == STATUS_OK && row != NULL; row = row->next)
            status = visit_row(visitor, row);
    release(store, snapshot);
    return status;
}

struct recount {
    struct memory_rows expected; /* a counter for each item and kind with reactions */
    bool is_kind[256];
    struct store_report *report;
};

static enum status recount_name(void *context, const struct store_name *name)
{
    struct recount *recount = context;
    if (name->role == NAME_KIND)
        recount->is_kind[name->index] = true;
    return STATUS_OK;
}

static enum status recount_reaction(void *context, const struct store_reaction *reaction)
{
    struct recount *recount = context;
    struct memory_key key = memory_key_item(SORT_COUNT, reaction->item, reaction->kind);
    struct memory_row *row = memory_rows_make(&recount->expected, &key);
    if (row == NULL)
        return STATUS_NO_MEMORY;
    row->value++;
    recount->report->reactions++;
    recount->report->rows++;
    return STATUS_OK;
}

static enum status recount_disagrees(const struct recount *recount, const struct memory_key *key,
                                     int64_t said, int64_t is)
{
    char id[LIMIT_ID_TEXT];
    size_t length = id_format(key->item, id);
    snprintf(recount->report->problem, sizeof(recount->report->problem),
             "type %u:%.*s: the counter %u is %lld, but there are %lld reactions", key->type,
             (int)length, id, key->name, (long long)said, (long long)is);
    return STATUS_DAMAGED;
}

/* Each counter that is right takes its number back to 0. */
static enum status recount_count(void *context, const struct store_count *count)
{
    struct recount *recount = context;
    struct memory_key key = memory_key_item(SORT_COUNT, count->item, count->name);
    struct memory_row *row = memory_rows_find(&recount->expected, &key);
    recount->report->counts++;
    recount->report->rows++;
    if (row == NULL && !recount->is_kind[count->name])
        return STATUS_OK;
    if (row == NULL || row->value != count->value)
        return recount_disagrees(recount, &key, count->value, row == NULL ? 0 : row->value);
    row->value = 0;
    return STATUS_OK;
}

static enum status recount_missing(const struct recount *recount)
{
    for (size_t i = 0; i < recount->expected.head_count; i++)
        for (const struct memory_row *row = recount->expected.heads[i]; row != NULL;
             row = row->next)
            if (row->value != 0)
                return recount_disagrees(recount, &row->key, 0, row->value);
    return STATUS_OK;
}

static enum status verify(struct store *store, store_progress_fn *progress, void *context,
                          struct store_report *report)
{
    *report = (struct store_report){0};
    struct recount recount = {.report = report, .is_kind[NAME_INDEX_LIKE] = true};
    const struct store_visitor first = {
        .name = recount_name, .reaction = recount_reaction, .context = &recount};
    const struct store_visitor second = {.count = recount_count, .context = &recount};
    enum status status = visit(store, &first);
    if (status == STATUS_OK)
        status = visit(store, &second);
    if (status == STATUS_OK)
        status = recount_missing(&recount);
    memory_rows_destroy(&recount.expected);
    report->rows_total = report->rows;
    if (progress != NULL)
        progress(context, report);
    return status;
}

static uint64_t position(struct store *store)
{
    struct store_memory *memory = memory_of(store);
    pthread_mutex_lock(&memory->lock);
    uint64_t reached = memory->position;
    pthread_mutex_unlock(&memory->lock);
    return reached;
}

static void stats(struct store *store, struct store_stats *out)
{
    struct store_memory *memory = memory_of(store);
    pthread_mutex_lock(&memory->lock);
    *out = (struct store_stats){.position = memory->position,
                                .durable = memory->durable,
                                .reactions = memory->reactions,
                                .newest_s = memory->newest_s,
                                .memory_bytes = memory->rows.count * (uint64_t)MEMORY_ROW_BYTES,
                                .state = "ok"};
    pthread_mutex_unlock(&memory->lock);
}

static void store_memory_close(struct store *store)
{
    struct store_memory *memory = memory_of(store);
    memory_release(memory->budget, sizeof(*memory) + memory->rows.count * (size_t)MEMORY_ROW_BYTES);
    memory_rows_destroy(&memory->rows);
    pthread_mutex_destroy(&memory->lock);
    memory->magic = 0;
    free(memory);
}

static const struct store_ops store_memory_ops = {
    .name = "memory",
    .read_reactions = read_reactions,
    .read_items = read_items,
    .list_reactions = list_reactions,
    .list_reactors = list_reactors,
    .list_user = list_user,
    .list_changes = list_changes,
    .apply = apply,
    .flush = flush,
    .snapshot = take_snapshot,
    .release = release,
    .visit = visit,
    .verify = verify,
    .position = position,
    .stats = stats,
    .close = store_memory_close,
};

struct store *store_memory_open(struct memory_budget *budget)
{
    if (!memory_charge(budget, sizeof(struct store_memory)))
        return NULL;
    struct store_memory *memory = calloc(1, sizeof(*memory));
    if (memory == NULL) {
        memory_release(budget, sizeof(*memory));
        return NULL;
    }
    memory->store.ops = &store_memory_ops;
    memory->magic = STORE_MEMORY_MAGIC;
    memory->budget = budget;
    pthread_mutex_init(&memory->lock, NULL);
    return &memory->store;
}
