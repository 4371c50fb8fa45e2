#include <string.h>

#include "world.h"

static uint32_t user_number(struct id user)
{
    for (uint32_t i = 0; i < WORLD_USERS; i++)
        if (id_equal(world_user(i), user))
            return i;
    fail_msg("a user that never was");
    return 0;
}

static uint32_t item_number(struct item item)
{
    for (uint32_t i = 0; i < WORLD_ITEMS; i++)
        if (item_equal(world_item(i), item))
            return i;
    fail_msg("an item that never was");
    return 0;
}

/* What a visit of the store comes across, in the form of the world. */
struct census {
    struct world found;
    uint64_t reactions;
};

static enum status visit_reaction(void *context, const struct store_reaction *reaction)
{
    struct census *census = context;
    assert_in_range(reaction->kind, 0, WORLD_KINDS - 1);
    assert_true(reaction->time_s != 0);
    uint32_t *cell =
        &census->found
             .time_s[user_number(reaction->user)][reaction->kind][item_number(reaction->item)];
    assert_int_equal(*cell, 0);
    *cell = reaction->time_s;
    census->reactions++;
    return STATUS_OK;
}

static enum status visit_count(void *context, const struct store_count *count)
{
    struct census *census = context;
    assert_in_range(count->name, 0, WORLD_NAMES - 1);
    assert_true(count->value != 0);
    int64_t *cell = &census->found.counts[item_number(count->item)][count->name];
    assert_int_equal(*cell, 0);
    *cell = count->value;
    return STATUS_OK;
}

static enum status visit_name(void *context, const struct store_name *name)
{
    struct census *census = context;
    bool known = false;
    for (uint32_t i = 0; i < WORLD_DEFINED; i++) {
        struct store_name defined = world_name(i);
        known |= defined.role == name->role && defined.index == name->index &&
                 defined.length == name->length &&
                 memcmp(defined.text, name->text, name->length) == 0;
    }
    assert_true(known);
    census->found.defined++;
    return STATUS_OK;
}

static void expect_reads(const struct world *world, struct store *store)
{
    struct store_item items[WORLD_ITEMS];
    struct store_values values = {0};
    for (uint32_t i = 0; i < WORLD_ITEMS; i++)
        items[i] = (struct store_item){.item = world_item(i)};
    assert_int_equal(store_read_items(&store->reader, NULL, items, WORLD_ITEMS, &values),
                     STATUS_OK);
    for (uint32_t i = 0; i < WORLD_ITEMS; i++) {
        int64_t read[WORLD_NAMES] = {0};
        for (uint32_t j = items[i].first; j < items[i].first + items[i].count; j++)
            read[values.values[j].name] = values.values[j].value;
        assert_memory_equal(read, world->counts[i], sizeof read);
    }
    free(values.values);
    for (uint32_t user = 0; user < WORLD_USERS; user++) {
        struct store_reaction keys[WORLD_KINDS * WORLD_ITEMS];
        for (uint32_t i = 0; i < WORLD_KINDS * WORLD_ITEMS; i++)
            keys[i] = (struct store_reaction){.user = world_user(user),
                                              .kind = (uint8_t)(i / WORLD_ITEMS),
                                              .item = world_item(i % WORLD_ITEMS)};
        assert_int_equal(store_read_reactions(&store->reader, keys, WORLD_KINDS * WORLD_ITEMS),
                         STATUS_OK);
        for (uint32_t i = 0; i < WORLD_KINDS * WORLD_ITEMS; i++)
            assert_int_equal(keys[i].time_s, world->time_s[user][i / WORLD_ITEMS][i % WORLD_ITEMS]);
    }
}

/* The newest clearing of a reaction comes first. */
static void take_changes(struct world *told, uint32_t user, const struct store_listed *rows,
                         size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct item item = {.id = rows[i].id, .type = rows[i].type};
        uint32_t number = item_number(item);
        uint32_t *cell = rows[i].cleared ? &told->cleared_s[user][rows[i].kind][number]
                                         : &told->time_s[user][rows[i].kind][number];
        assert_in_range(rows[i].kind, 0, WORLD_KINDS - 1);
        if (*cell == 0)
            *cell = rows[i].time_s;
    }
}

/* What a client would be told of that time: everything that changed, as it is. */
static void expect_changes(const struct world *world, struct store *store, uint32_t since_s)
{
    static struct world told;
    memset(&told, 0, sizeof told);
    for (uint32_t user = 0; user < WORLD_USERS; user++) {
        struct store_listed rows[7];
        struct store_changed page = {.more = true};
        while (page.more) {
            assert_int_equal(store_list_changes(&store->reader, world_user(user), since_s,
                                                page.last, rows, 7, &page),
                             STATUS_OK);
            take_changes(&told, user, rows, page.count);
        }
        assert_int_equal(page.newest_s, world->now_s);
        for (uint32_t i = 0; i < WORLD_KINDS * WORLD_ITEMS; i++) {
            uint32_t kind = i / WORLD_ITEMS, item = i % WORLD_ITEMS;
            uint32_t set_s = world->time_s[user][kind][item];
            uint32_t cleared_s = set_s == 0 ? world->cleared_s[user][kind][item] : 0;
            assert_int_equal(told.time_s[user][kind][item], set_s >= since_s ? set_s : 0);
            assert_int_equal(told.cleared_s[user][kind][item],
                             cleared_s >= since_s ? cleared_s : 0);
        }
    }
}

void world_expect_store(const struct world *world, struct store *store)
{
    static struct census census;
    memset(&census, 0, sizeof census);
    const struct store_visitor visitor = {
        .reaction = visit_reaction, .count = visit_count, .name = visit_name, .context = &census};
    assert_int_equal(store_position(&store->applier), world->position);
    assert_int_equal(store_visit(&store->admin, &visitor), STATUS_OK);
    assert_memory_equal(census.found.time_s, world->time_s, sizeof world->time_s);
    assert_memory_equal(census.found.counts, world->counts, sizeof world->counts);
    assert_int_equal(census.found.defined, world->defined);
    expect_reads(world, store);
    if (store->reader.functions->list_changes != NULL && world->events > 0)
        expect_changes(world, store, world->now_s - WORLD_CHANGES_TTL_S);
    struct store_report report = {0};
    enum status status = store_verify(&store->admin, NULL, NULL, &report);
    if (status != STATUS_OK)
        fail_msg("%s: %s", status_name(status), report.problem);
    assert_int_equal(report.reactions, census.reactions);
}

void world_expect_filters(const struct world *world, const struct filters *filters)
{
    for (uint32_t user = 0; user < WORLD_USERS; user++) {
        for (uint32_t i = 0; i < WORLD_KINDS * WORLD_ITEMS; i++) {
            uint8_t kind = (uint8_t)(i / WORLD_ITEMS);
            struct item item = world_item(i % WORLD_ITEMS);
            if (world->time_s[user][kind][i % WORLD_ITEMS] == 0)
                continue;
            assert_true(filters_may_have_reaction(filters, world_user(user), kind, item));
            assert_true(filters_may_have_shelf(filters, world_user(user), kind, item.type));
        }
    }
    for (uint32_t i = 0; i < WORLD_ITEMS; i++)
        for (uint32_t name = 0; name < WORLD_NAMES; name++)
            if (world->counts[i][name] != 0)
                assert_true(filters_may_have_item(filters, world_item(i)));
}
