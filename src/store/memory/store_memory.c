/*
 * One lock, one table, and an array of the rows of named tables. A batch is applied in three steps: its claims about the old state are
 * checked; all rows that it may need are created empty; then values are changed and empty rows are
 * removed. Only the first two steps can fail, and the last one also cleans up after such a failure.
 */
#include "store/memory/store_memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "store/memory/list.h"
#include "store/memory/rows.h"
#include "store/memory/tables.h"
#include "store/memory/verify.h"

#define STORE_MEMORY_MAGIC 0x73746f72656d656dULL

struct store_memory {
    struct store store; /* must be the first member: the port's functions get a pointer to it */
    uint64_t magic;
    struct memory_budget *budget;
    pthread_mutex_t lock;
    struct memory_rows rows;
    struct memory_tables tables;
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

static enum status read_reactions(struct store_reader *reader, struct store_reaction *keys,
                                  size_t count)
{
    struct store_memory *memory = memory_of(store_of_reader(reader));
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
        struct store_value *grown = array_grow(values->values, &values->capacity, values->used + 1,
                                               STORE_VALUES_MIN, sizeof(*grown));
        if (grown == NULL)
            return false;
        values->values = grown;
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
    ASSERT(values->used <= values->capacity && values->used >= item->first);
    item->count = (uint32_t)values->used - item->first;
    return STATUS_OK;
}

static enum status read_items(struct store_reader *reader, const struct store_snapshot *snapshot,
                              struct store_item *items, size_t count, struct store_values *values)
{
    struct store_memory *memory = memory_of(store_of_reader(reader));
    enum status status = STATUS_OK;
    pthread_mutex_lock(&memory->lock);
    const struct memory_rows *rows = snapshot != NULL ? &snapshot->rows : &memory->rows;
    for (size_t i = 0; status == STATUS_OK && i < count; i++)
        status = read_item(rows, &items[i], values);
    pthread_mutex_unlock(&memory->lock);
    return status;
}

static enum status list_page(struct store_reader *reader, const struct memory_list *list,
                             struct store_listed after, struct store_listed *out, size_t limit,
                             size_t *count)
{
    struct store_memory *memory = memory_of(store_of_reader(reader));
    pthread_mutex_lock(&memory->lock);
    *count = memory_list_page(&memory->rows, list, after, out, limit);
    ASSERT(*count <= limit);
    pthread_mutex_unlock(&memory->lock);
    return STATUS_OK;
}

static enum status list_reactions(struct store_reader *reader, struct id user, uint8_t kind,
                                  uint16_t type, struct store_listed after,
                                  struct store_listed *out, size_t limit, size_t *count)
{
    const struct store_reaction common = {.user = user, .item.type = type, .kind = kind};
    const struct memory_list list = {.common = &common, .of_user = true};
    return list_page(reader, &list, after, out, limit, count);
}

static enum status list_reactors(struct store_reader *reader, struct item item, uint8_t kind,
                                 struct store_listed after, struct store_listed *out, size_t limit,
                                 size_t *count)
{
    const struct store_reaction common = {.item = item, .kind = kind};
    return list_page(reader, &(struct memory_list){.common = &common}, after, out, limit, count);
}

static enum status list_user(struct store_reader *reader, struct id user,
                             const struct store_reaction *after, struct store_reaction *out,
                             size_t limit, size_t *count)
{
    struct store_memory *memory = memory_of(store_of_reader(reader));
    pthread_mutex_lock(&memory->lock);
    *count = memory_list_user(&memory->rows, user, after, out, limit);
    ASSERT(*count <= limit);
    pthread_mutex_unlock(&memory->lock);
    return STATUS_OK;
}

static enum status list_changes(struct store_reader *reader, struct id user, uint32_t since_s,
                                struct store_listed after, struct store_listed *out, size_t limit,
                                struct store_changed *changed)
{
    struct store_memory *memory = memory_of(store_of_reader(reader));
    enum status status = STATUS_OK;
    pthread_mutex_lock(&memory->lock);
    *changed = (struct store_changed){.last = after, .newest_s = memory->newest_s};
    uint32_t newest_s = memory->newest_s == 0 ? 1 : memory->newest_s;
    if (since_s != 0 && (since_s < memory->cleared_horizon_s || since_s > newest_s))
        status = STATUS_START_OVER;
    else
        changed->count = memory_changes_page(&memory->rows, user, since_s, after, out, limit);
    pthread_mutex_unlock(&memory->lock);
    ASSERT(changed->count <= limit);
    changed->more = status == STATUS_OK && changed->count == limit;
    if (changed->count > 0)
        changed->last = out[changed->count - 1];
    return status;
}

static enum status read_rows(struct store_reader *reader, enum store_table table,
                             const struct store_bytes *keys, size_t count,
                             struct store_bytes *values, struct store_arena *arena)
{
    struct store_memory *memory = memory_of(store_of_reader(reader));
    pthread_mutex_lock(&memory->lock);
    enum status status = memory_tables_read(&memory->tables, table, keys, count, values, arena);
    pthread_mutex_unlock(&memory->lock);
    return status;
}

static enum status scan_rows(struct store_reader *reader, const struct store_scan *scan,
                             struct store_row *rows, size_t *count, bool *more,
                             struct store_arena *arena)
{
    struct store_memory *memory = memory_of(store_of_reader(reader));
    pthread_mutex_lock(&memory->lock);
    enum status status = memory_tables_scan(&memory->tables, scan, rows, count, more, arena);
    pthread_mutex_unlock(&memory->lock);
    return status;
}

static bool has_row(const struct store_memory *memory, struct memory_key key)
{
    return memory_rows_find(&memory->rows, &key) != NULL;
}

static enum status check_claims(const struct store_memory *memory,
                                const struct store_changes *changes)
{
    const struct store_user_changes *user = &changes->user;
    const struct store_item_changes *item = &changes->item;
    for (size_t i = 0; i < user->reaction_count; i++)
        if (has_row(memory, memory_key_reaction(&user->reactions[i])) !=
            user->reactions[i].was_live)
            return STATUS_DAMAGED;
    for (size_t i = 0; i < item->reaction_count; i++)
        if (has_row(memory, memory_key_by_item(&item->reactions[i])) != item->reactions[i].was_live)
            return STATUS_DAMAGED;
    return STATUS_OK;
}

static struct memory_key token_key(const struct store_token *token)
{
    struct memory_key key = memory_key_item(ROW_TOKEN, token->item, 0);
    key.user = (struct id){.hi = token->token[0], .lo = token->token[1]};
    return key;
}

static struct memory_key name_key(const struct store_name *name)
{
    return (struct memory_key){.row_type = ROW_NAME, .type = name->index, .name = name->role};
}

static bool make_row(struct store_memory *memory, struct memory_key key)
{
    return memory_rows_make(&memory->rows, &key) != NULL;
}

static struct memory_key count_key(const struct store_count *count)
{
    return memory_key_item(ROW_COUNT, count->item, count->name);
}

/* Reactions that may have been cleared: those of `reactions`, then those of `transient`. */
static size_t cleared_count(const struct store_user_changes *user)
{
    return user->reaction_count + user->transient_count;
}

static const struct store_reaction *cleared_at(const struct store_user_changes *user, size_t at)
{
    ASSERT(at < cleared_count(user));
    return at < user->reaction_count ? &user->reactions[at]
                                     : &user->transient[at - user->reaction_count];
}

static bool make_user_rows(struct store_memory *memory, const struct store_user_changes *user)
{
    bool made = true;
    for (size_t i = 0; made && i < user->reaction_count; i++)
        made = make_row(memory, memory_key_reaction(&user->reactions[i]));
    for (size_t i = 0; made && i < cleared_count(user); i++)
        made = make_row(memory, memory_key_cleared(cleared_at(user, i)));
    return made;
}

static bool make_item_rows(struct store_memory *memory, const struct store_item_changes *item)
{
    bool made = true;
    for (size_t i = 0; made && i < item->reaction_count; i++)
        made = make_row(memory, memory_key_by_item(&item->reactions[i]));
    for (size_t i = 0; made && i < item->count_count; i++)
        made = make_row(memory, count_key(&item->counts[i]));
    for (size_t i = 0; made && i < item->token_count; i++)
        made = make_row(memory, token_key(&item->tokens[i]));
    return made;
}

static bool make_rows(struct store_memory *memory, const struct store_changes *changes)
{
    bool made = make_user_rows(memory, &changes->user) && make_item_rows(memory, &changes->item);
    for (size_t i = 0; made && i < changes->name_count; i++)
        made = make_row(memory, name_key(&changes->names[i]));
    return made;
}

static struct memory_row *row_of(struct store_memory *memory, struct memory_key key)
{
    struct memory_row *row = memory_rows_find(&memory->rows, &key);
    ASSERT(row != NULL);
    return row;
}

static void set_user_values(struct store_memory *memory, const struct store_user_changes *user)
{
    for (size_t i = 0; i < user->reaction_count; i++) {
        const struct store_reaction *change = &user->reactions[i];
        row_of(memory, memory_key_reaction(change))->value = change->time_s;
        memory->reactions += (change->time_s != 0) - (uint64_t)change->was_live;
    }
    for (size_t i = 0; i < cleared_count(user); i++) {
        const struct store_reaction *change = cleared_at(user, i);
        if (change->time_s == 0)
            row_of(memory, memory_key_cleared(change))->value = change->cleared_s;
    }
    if (user->cleared_horizon_s > memory->cleared_horizon_s)
        memory->cleared_horizon_s = user->cleared_horizon_s;
}

static void set_item_values(struct store_memory *memory, const struct store_item_changes *item)
{
    for (size_t i = 0; i < item->reaction_count; i++)
        row_of(memory, memory_key_by_item(&item->reactions[i]))->value = item->reactions[i].time_s;
    for (size_t i = 0; i < item->count_count; i++) {
        struct memory_row *row = row_of(memory, count_key(&item->counts[i]));
        row->value = (int64_t)((uint64_t)row->value + (uint64_t)item->counts[i].value);
    }
    for (size_t i = 0; i < item->token_count; i++) {
        struct memory_row *row = row_of(memory, token_key(&item->tokens[i]));
        row->value = item->tokens[i].time_s;
        row->stands_for = item->tokens[i].value;
    }
    if (item->token_horizon_s > memory->token_horizon_s)
        memory->token_horizon_s = item->token_horizon_s;
}

static void set_values(struct store_memory *memory, const struct store_changes *changes)
{
    set_user_values(memory, &changes->user);
    set_item_values(memory, &changes->item);
    for (size_t i = 0; i < changes->name_count; i++) {
        struct memory_row *row = row_of(memory, name_key(&changes->names[i]));
        row->value = row->length = changes->names[i].length;
        memcpy(row->text, changes->names[i].text, sizeof(row->text));
    }
    if (changes->newest_s > memory->newest_s)
        memory->newest_s = changes->newest_s;
    ASSERT(changes->position > memory->position);
    memory->position = changes->position;
}

/* Removes rows without a meaning: a reaction without a time, and a counter of 0. */
static void sweep(struct store_memory *memory)
{
    for (size_t i = 0; i < memory->rows.head_count; i++)
        for (struct memory_row *row = memory->rows.heads[i], *next; row != NULL; row = next) {
            next = row->next;
            if (row->value == 0)
                memory_rows_remove(&memory->rows, row);
        }
}

/* Removes tokens and cleared reactions that are too old. */
static void sweep_aging(struct store_memory *memory)
{
    struct list *aging = &memory->rows.aging;
    for (struct list *link = aging->next, *next; link != NULL && link != aging; link = next) {
        struct memory_row *row = LIST_OF(link, struct memory_row, aging);
        uint32_t horizon_s =
            row->key.row_type == ROW_TOKEN ? memory->token_horizon_s : memory->cleared_horizon_s;
        next = link->next;
        if (row->value < horizon_s || row->value == 0)
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
    const struct store_user_changes *user = &changes->user;
    const struct store_item_changes *item = &changes->item;
    if (item->token_count > 0 || horizons_moved)
        sweep_aging(memory);
    for (size_t i = 0; i < user->reaction_count; i++)
        sweep_row(memory, memory_key_reaction(&user->reactions[i]));
    for (size_t i = 0; i < cleared_count(user); i++)
        sweep_row(memory, memory_key_cleared(cleared_at(user, i)));
    for (size_t i = 0; i < item->reaction_count; i++)
        sweep_row(memory, memory_key_by_item(&item->reactions[i]));
    for (size_t i = 0; i < item->count_count; i++)
        sweep_row(memory, count_key(&item->counts[i]));
}

static size_t rows_at_most(const struct store_changes *changes)
{
    return changes->user.reaction_count + cleared_count(&changes->user) +
           changes->item.reaction_count + changes->item.count_count + changes->item.token_count +
           changes->name_count;
}

static uint64_t bytes_of(const struct store_memory *memory)
{
    return memory->rows.count * (uint64_t)MEMORY_ROW_BYTES + memory->tables.bytes;
}

static enum status apply_charged(struct store_memory *memory, const struct store_changes *changes)
{
    bool horizons_move = changes->item.token_horizon_s > memory->token_horizon_s ||
                         changes->user.cleared_horizon_s > memory->cleared_horizon_s;
    struct memory_tables_change tables;
    if (!memory_tables_prepare(&memory->tables, changes->rows, changes->row_count, &tables))
        return STATUS_NO_MEMORY;
    if (!make_rows(memory, changes)) {
        memory_tables_abandon(&memory->tables, &tables);
        sweep(memory);
        return STATUS_NO_MEMORY;
    }
    set_values(memory, changes);
    sweep_changes(memory, changes, horizons_move);
    memory_tables_commit(&memory->tables, &tables);
    return STATUS_OK;
}

/* The budget is charged for each row; a batch is charged first as if all of its rows were new. */
static enum status apply_locked(struct store_memory *memory, const struct store_changes *changes)
{
    if (changes->position <= memory->position)
        return STATUS_OK;
    enum status status = check_claims(memory, changes);
    if (status != STATUS_OK)
        return status;
    uint64_t before = bytes_of(memory);
    uint64_t most = rows_at_most(changes) * (uint64_t)MEMORY_ROW_BYTES +
                    memory_tables_most(changes->rows, changes->row_count);
    if (!memory_charge(memory->budget, most))
        return STATUS_NO_MEMORY;
    status = apply_charged(memory, changes);
    memory_release(memory->budget, before + most - bytes_of(memory));
    return status;
}

static enum status apply(struct store_applier *applier, const struct store_changes *changes)
{
    struct store_memory *memory = memory_of(store_of_applier(applier));
    pthread_mutex_lock(&memory->lock);
    enum status status = apply_locked(memory, changes);
    pthread_mutex_unlock(&memory->lock);
    return status;
}

static enum status flush(struct store_applier *applier)
{
    struct store_memory *memory = memory_of(store_of_applier(applier));
    pthread_mutex_lock(&memory->lock);
    memory->durable = memory->position;
    pthread_mutex_unlock(&memory->lock);
    return STATUS_OK;
}

static struct store_snapshot *take_snapshot(struct store_reader *reader)
{
    struct store_memory *memory = memory_of(store_of_reader(reader));
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

static void release(struct store_reader *reader, struct store_snapshot *snapshot)
{
    (void)memory_of(store_of_reader(reader));
    memory_rows_destroy(&snapshot->rows);
    free(snapshot);
}

static enum status visit_row(const struct store_visitor *visitor, const struct memory_row *row)
{
    const struct memory_key *key = &row->key;
    struct item item = {.id = key->item, .type = key->type};
    if (key->row_type == ROW_REACTION &&
        !store_visits_partition(visitor, store_user_partition(key->user)))
        return STATUS_OK;
    if (key->row_type == ROW_COUNT && !store_visits_partition(visitor, store_item_partition(item)))
        return STATUS_OK;
    if (key->row_type == ROW_REACTION && visitor->reaction != NULL)
        return visitor->reaction(visitor->context,
                                 &(struct store_reaction){.user = key->user,
                                                          .item = item,
                                                          .kind = (uint8_t)key->name,
                                                          .time_s = (uint32_t)row->value});
    if (key->row_type == ROW_COUNT && visitor->count != NULL)
        return visitor->count(
            visitor->context,
            &(struct store_count){.item = item, .name = (uint8_t)key->name, .value = row->value});
    if (key->row_type == ROW_NAME && visitor->name != NULL) {
        struct store_name name = {
            .role = (uint8_t)key->name, .index = key->type, .length = row->length};
        memcpy(name.text, row->text, row->length);
        return visitor->name(visitor->context, &name);
    }
    if (key->row_type == ROW_TOKEN && visitor->token != NULL)
        return visitor->token(visitor->context,
                              &(struct store_token){.token = {key->user.hi, key->user.lo},
                                                    .time_s = (uint32_t)row->value,
                                                    .item = item,
                                                    .value = row->stands_for});
    return STATUS_OK;
}

static enum status visit_copies(const struct memory_rows *rows, const struct memory_tables *tables,
                                const struct store_visitor *visitor)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < rows->head_count; i++)
        for (const struct memory_row *row = rows->heads[i]; status == STATUS_OK && row != NULL;
             row = row->next)
            status = visit_row(visitor, row);
    if (status == STATUS_OK && visitor->row != NULL)
        status = memory_tables_visit(tables, visitor);
    return status;
}

/* Visits copies of the rows, so that a visitor may be slow and may call the store. */
static enum status visit(struct store_admin *admin, const struct store_visitor *visitor)
{
    struct store_memory *memory = memory_of(store_of_admin(admin));
    struct memory_rows rows = {0};
    struct memory_tables tables = {0};
    pthread_mutex_lock(&memory->lock);
    bool copied = memory_rows_copy(&rows, &memory->rows) &&
                  (visitor->row == NULL || memory_tables_copy(&tables, &memory->tables));
    pthread_mutex_unlock(&memory->lock);
    enum status status = copied ? visit_copies(&rows, &tables, visitor) : STATUS_NO_MEMORY;
    memory_rows_destroy(&rows);
    memory_tables_destroy(&tables);
    return status;
}

/* Memory that was freed is not a file. */
static enum status compact(struct store_admin *admin, store_progress_fn *progress, void *context)
{
    (void)memory_of(store_of_admin(admin));
    if (progress != NULL)
        progress(context, &(struct store_report){0});
    return STATUS_OK;
}

static enum status verify(struct store_admin *admin, store_progress_fn *progress, void *context,
                          struct store_report *report)
{
    struct store_reader *reader = &store_of_admin(admin)->reader;
    struct store_snapshot *snapshot = take_snapshot(reader);
    *report = (struct store_report){0};
    if (snapshot == NULL)
        return STATUS_NO_MEMORY;
    enum status status = memory_verify(&snapshot->rows, report);
    release(reader, snapshot);
    if (progress != NULL)
        progress(context, report);
    return status;
}

static uint64_t position(struct store_applier *applier)
{
    struct store_memory *memory = memory_of(store_of_applier(applier));
    pthread_mutex_lock(&memory->lock);
    uint64_t reached = memory->position;
    pthread_mutex_unlock(&memory->lock);
    return reached;
}

static void stats(struct store_admin *admin, struct store_stats *out)
{
    struct store_memory *memory = memory_of(store_of_admin(admin));
    pthread_mutex_lock(&memory->lock);
    *out = (struct store_stats){.position = memory->position,
                                .durable = memory->durable,
                                .reactions = memory->reactions,
                                .newest_s = memory->newest_s,
                                .memory_bytes = bytes_of(memory),
                                .state = STORE_OK};
    pthread_mutex_unlock(&memory->lock);
}

static void store_memory_close(struct store_admin *admin)
{
    struct store_memory *memory = memory_of(store_of_admin(admin));
    memory_release(memory->budget, sizeof(*memory) + bytes_of(memory));
    memory_rows_destroy(&memory->rows);
    memory_tables_destroy(&memory->tables);
    pthread_mutex_destroy(&memory->lock);
    memory->magic = 0;
    free(memory);
}

static const struct store_reader_functions reader_functions = {
    .read_reactions = read_reactions,
    .read_items = read_items,
    .list_reactions = list_reactions,
    .list_reactors = list_reactors,
    .list_user = list_user,
    .list_changes = list_changes,
    .read_rows = read_rows,
    .scan_rows = scan_rows,
    .snapshot = take_snapshot,
    .release = release,
};

static const struct store_applier_functions applier_functions = {
    .apply = apply,
    .flush = flush,
    .position = position,
};

static const struct store_admin_functions admin_functions = {
    .name = "memory",
    .visit = visit,
    .verify = verify,
    .compact = compact,
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
    memory->store = (struct store){.reader = {&reader_functions},
                                   .applier = {&applier_functions},
                                   .admin = {&admin_functions}};
    memory->magic = STORE_MEMORY_MAGIC;
    memory->budget = budget;
    pthread_mutex_init(&memory->lock, NULL);
    return &memory->store;
}
