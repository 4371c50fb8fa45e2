/*
 * The projector's own thread applies while a test asks, so there is one lock around all.
 */
#include "strict_store.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ROWS_MAX 4096

struct refusal {
    enum status status;
    uint32_t times;
};

struct strict_store {
    struct store store;
    pthread_mutex_t lock;
    struct store_reaction reactions[ROWS_MAX];
    struct store_count counts[ROWS_MAX];
    struct store_name names[ROWS_MAX];
    struct store_token *tokens;
    size_t reaction_count;
    size_t count_count;
    size_t name_count;
    size_t token_count;
    uint64_t position;
    uint64_t durable;
    uint64_t applied;
    uint64_t rows;
    struct refusal refuse_apply;
    struct refusal refuse_flush;
};

static struct strict_store *strict_of(const struct store *store)
{
    return (struct strict_store *)(uintptr_t)store;
}

static bool refused(struct refusal *refusal)
{
    if (refusal->times == 0)
        return false;
    refusal->times--;
    return true;
}

static struct store_reaction *reaction_find(struct strict_store *strict,
                                            const struct store_reaction *key)
{
    for (size_t i = 0; i < strict->reaction_count; i++) {
        struct store_reaction *row = &strict->reactions[i];
        if (id_equal(row->user, key->user) && item_equal(row->item, key->item) &&
            row->kind == key->kind)
            return row;
    }
    return NULL;
}

static struct store_count *count_find(struct strict_store *strict, const struct store_count *key)
{
    for (size_t i = 0; i < strict->count_count; i++)
        if (item_equal(strict->counts[i].item, key->item) && strict->counts[i].name == key->name)
            return &strict->counts[i];
    return NULL;
}

static void reaction_apply(struct strict_store *strict, const struct store_reaction *change)
{
    struct store_reaction *row = reaction_find(strict, change);
    assert_true(change->was_live || change->time_s != 0);
    assert_int_equal(change->was_live, row != NULL);
    if (change->time_s == 0 && row != NULL) {
        *row = strict->reactions[--strict->reaction_count];
        return;
    }
    if (row == NULL)
        row = &strict->reactions[strict->reaction_count++];
    assert_true(strict->reaction_count <= ROWS_MAX);
    *row = *change;
    row->was_live = false;
}

static void count_apply(struct strict_store *strict, const struct store_count *change)
{
    struct store_count *row = count_find(strict, change);
    assert_true(change->value != 0);
    if (row == NULL) {
        row = &strict->counts[strict->count_count++];
        assert_true(strict->count_count <= ROWS_MAX);
        *row = (struct store_count){.item = change->item, .name = change->name};
    }
    assert_false(__builtin_add_overflow(row->value, change->value, &row->value));
    if (row->value == 0)
        *row = strict->counts[--strict->count_count];
}

static void tokens_apply(struct strict_store *strict, const struct store_changes *changes)
{
    size_t most = strict->token_count + changes->item.token_count;
    strict->tokens = realloc(strict->tokens, (most + 1) * sizeof(*strict->tokens));
    assert_non_null(strict->tokens);
    for (size_t i = 0; i < changes->item.token_count; i++)
        strict->tokens[strict->token_count++] = changes->item.tokens[i];
    size_t kept = 0;
    for (size_t i = 0; i < strict->token_count; i++)
        if (strict->tokens[i].time_s >= changes->item.token_horizon_s)
            strict->tokens[kept++] = strict->tokens[i];
    strict->token_count = kept;
}

static void expect_each_once(const struct store_changes *changes)
{
    for (size_t i = 0; i < changes->user.reaction_count && i < 300; i++)
        for (size_t j = 0; j < i; j++) {
            const struct store_reaction *a = &changes->user.reactions[i];
            const struct store_reaction *b = &changes->user.reactions[j];
            assert_false(id_equal(a->user, b->user) && item_equal(a->item, b->item) &&
                         a->kind == b->kind);
        }
}

static void apply_all(struct strict_store *strict, const struct store_changes *changes)
{
    expect_each_once(changes);
    assert_ptr_equal(changes->user.reactions, changes->item.reactions);
    assert_int_equal(changes->user.reaction_count, changes->item.reaction_count);
    for (size_t i = 0; i < changes->user.reaction_count; i++)
        reaction_apply(strict, &changes->user.reactions[i]);
    for (size_t i = 0; i < changes->item.count_count; i++)
        count_apply(strict, &changes->item.counts[i]);
    for (size_t i = 0; i < changes->name_count; i++)
        strict->names[strict->name_count++] = changes->names[i];
    assert_true(strict->name_count <= ROWS_MAX);
    tokens_apply(strict, changes);
    strict->position = changes->position;
    strict->applied++;
    strict->rows += changes->user.reaction_count + changes->item.count_count;
}

static enum status strict_apply(struct store_applier *applier, const struct store_changes *changes)
{
    struct strict_store *strict = strict_of(store_of_applier(applier));
    enum status status = STATUS_OK;
    pthread_mutex_lock(&strict->lock);
    if (refused(&strict->refuse_apply))
        status = strict->refuse_apply.status;
    else if (changes->position > strict->position)
        apply_all(strict, changes);
    pthread_mutex_unlock(&strict->lock);
    return status;
}

static enum status strict_flush(struct store_applier *applier)
{
    struct strict_store *strict = strict_of(store_of_applier(applier));
    enum status status = STATUS_OK;
    pthread_mutex_lock(&strict->lock);
    if (refused(&strict->refuse_flush))
        status = strict->refuse_flush.status;
    else
        strict->durable = strict->position;
    pthread_mutex_unlock(&strict->lock);
    return status;
}

static enum status strict_read_reactions(struct store_reader *reader, struct store_reaction *keys,
                                         size_t count)
{
    struct strict_store *strict = strict_of(store_of_reader(reader));
    pthread_mutex_lock(&strict->lock);
    for (size_t i = 0; i < count; i++) {
        const struct store_reaction *row = reaction_find(strict, &keys[i]);
        keys[i].time_s = row != NULL ? row->time_s : 0;
    }
    pthread_mutex_unlock(&strict->lock);
    return STATUS_OK;
}

static void values_add(struct store_values *values, const struct store_count *count)
{
    if (values->used == values->capacity) {
        values->capacity = values->capacity * 2 + 16;
        values->values = realloc(values->values, values->capacity * sizeof(*values->values));
        assert_non_null(values->values);
    }
    values->values[values->used++] =
        (struct store_value){.value = count->value, .name = count->name};
}

static enum status strict_read_items(struct store_reader *reader,
                                     const struct store_snapshot *snapshot,
                                     struct store_item *items, size_t count,
                                     struct store_values *values)
{
    struct strict_store *strict = strict_of(store_of_reader(reader));
    assert_null(snapshot);
    pthread_mutex_lock(&strict->lock);
    for (size_t i = 0; i < count; i++) {
        items[i].first = (uint32_t)values->used;
        for (size_t j = 0; j < strict->count_count; j++)
            if (item_equal(strict->counts[j].item, items[i].item))
                values_add(values, &strict->counts[j]);
        items[i].count = (uint32_t)values->used - items[i].first;
    }
    pthread_mutex_unlock(&strict->lock);
    return STATUS_OK;
}

static enum status strict_visit(struct store_admin *admin, const struct store_visitor *visitor)
{
    struct strict_store *strict = strict_of(store_of_admin(admin));
    enum status status = STATUS_OK;
    pthread_mutex_lock(&strict->lock);
    for (size_t i = 0; visitor->reaction != NULL && i < strict->reaction_count; i++)
        if (store_visits_partition(visitor, store_user_partition(strict->reactions[i].user)))
            status = status ? status : visitor->reaction(visitor->context, &strict->reactions[i]);
    for (size_t i = 0; visitor->count != NULL && i < strict->count_count; i++)
        if (store_visits_partition(visitor, store_item_partition(strict->counts[i].item)))
            status = status ? status : visitor->count(visitor->context, &strict->counts[i]);
    for (size_t i = 0; visitor->name != NULL && i < strict->name_count; i++)
        status = status ? status : visitor->name(visitor->context, &strict->names[i]);
    for (size_t i = 0; visitor->token != NULL && i < strict->token_count; i++)
        status = status ? status : visitor->token(visitor->context, &strict->tokens[i]);
    pthread_mutex_unlock(&strict->lock);
    return status;
}

/* What is there is what was checked when it came. */
static enum status strict_verify(struct store_admin *admin, store_progress_fn *progress,
                                 void *context, struct store_report *report)
{
    (void)progress;
    (void)context;
    struct strict_store *strict = strict_of(store_of_admin(admin));
    *report =
        (struct store_report){.reactions = strict->reaction_count, .counts = strict->count_count};
    return STATUS_OK;
}

static uint64_t strict_position(struct store_applier *applier)
{
    struct strict_store *strict = strict_of(store_of_applier(applier));
    pthread_mutex_lock(&strict->lock);
    uint64_t position = strict->position;
    pthread_mutex_unlock(&strict->lock);
    return position;
}

static void strict_stats(struct store_admin *admin, struct store_stats *out)
{
    struct strict_store *strict = strict_of(store_of_admin(admin));
    pthread_mutex_lock(&strict->lock);
    *out = (struct store_stats){.position = strict->position,
                                .durable = strict->durable,
                                .reactions = strict->reaction_count,
                                .state = STORE_OK};
    pthread_mutex_unlock(&strict->lock);
}

static void strict_close(struct store_admin *admin)
{
    struct strict_store *strict = strict_of(store_of_admin(admin));
    pthread_mutex_destroy(&strict->lock);
    free(strict->tokens);
    free(strict);
}

static const struct store_reader_functions strict_reader = {
    .read_reactions = strict_read_reactions,
    .read_items = strict_read_items,
};

static const struct store_applier_functions strict_applier = {
    .apply = strict_apply,
    .flush = strict_flush,
    .position = strict_position,
};

static const struct store_admin_functions strict_admin = {
    .name = "strict",
    .visit = strict_visit,
    .verify = strict_verify,
    .stats = strict_stats,
    .close = strict_close,
};

struct store *strict_store_open(void)
{
    struct strict_store *strict = calloc(1, sizeof(*strict));
    assert_non_null(strict);
    strict->store = (struct store){
        .reader = {&strict_reader}, .applier = {&strict_applier}, .admin = {&strict_admin}};
    pthread_mutex_init(&strict->lock, NULL);
    return &strict->store;
}

void strict_store_refuse_apply(struct store *store, enum status status, uint32_t times)
{
    strict_of(store)->refuse_apply = (struct refusal){status, times};
}

void strict_store_refuse_flush(struct store *store, enum status status, uint32_t times)
{
    strict_of(store)->refuse_flush = (struct refusal){status, times};
}

uint64_t strict_store_applied(const struct store *store)
{
    return strict_of(store)->applied;
}

uint64_t strict_store_rows(const struct store *store)
{
    return strict_of(store)->rows;
}
