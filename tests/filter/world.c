#include "world.h"
#include "spans.h"

#include <string.h>

struct id world_user(uint32_t user)
{
    return (struct id){.hi = user % 2 == 0 ? 0 : 0x1234567800004000ULL + user, .lo = user + 1};
}

struct item world_item(uint32_t item)
{
    return (struct item){.id = {.hi = item % 3 == 0 ? 0x8765432100004000ULL : 0, .lo = item / 2},
                         .type = (uint16_t)(item % WORLD_TYPES)};
}

static void times_of(const struct world *world, uint32_t number, struct store_reaction *out)
{
    uint32_t user = number / (WORLD_KINDS * WORLD_ITEMS);
    uint32_t kind = number / WORLD_ITEMS % WORLD_KINDS;
    uint32_t item = number % WORLD_ITEMS;
    *out = (struct store_reaction){.user = world_user(user),
                                   .kind = (uint8_t)kind,
                                   .item = world_item(item),
                                   .time_s = world->times[user][kind][item]};
}

#define WORLD_SIZE (WORLD_USERS * WORLD_KINDS * WORLD_ITEMS)

static enum status world_visit(struct store_admin *admin, const struct store_visitor *visitor)
{
    const struct world *world = (const struct world *)store_of_admin(admin);
    for (uint32_t i = 0; i < WORLD_SIZE; i++) {
        struct store_reaction reaction;
        times_of(world, i, &reaction);
        bool wanted = reaction.time_s != 0 &&
                      store_visits_partition(visitor, store_user_partition(reaction.user));
        enum status status = wanted ? visitor->reaction(visitor->context, &reaction) : STATUS_OK;
        if (status != STATUS_OK)
            return status;
    }
    for (uint32_t i = 0; visitor->count != NULL && i < WORLD_ITEMS; i++) {
        struct store_count count = {.item = world_item(i), .name = 9, .value = world->counts[i]};
        bool wanted =
            count.value != 0 && store_visits_partition(visitor, store_item_partition(count.item));
        enum status status = wanted ? visitor->count(visitor->context, &count) : STATUS_OK;
        if (status != STATUS_OK)
            return status;
    }
    return world->visit_status;
}

static void world_stats(struct store_admin *admin, struct store_stats *out)
{
    *out = (struct store_stats){.reactions =
                                    world_reactions((const struct world *)store_of_admin(admin))};
}

static const struct store_admin_functions world_admin = {
    .name = "world", .visit = world_visit, .stats = world_stats};

void world_make(struct world *world, uint64_t seed)
{
    *world = (struct world){.store = {.admin = {&world_admin}}, .chance = {seed}};
}

uint64_t world_reactions(const struct world *world)
{
    uint64_t live = 0;
    for (uint32_t i = 0; i < WORLD_SIZE; i++)
        live += (&world->times[0][0][0])[i] != 0;
    return live;
}

static bool drawn_before(const uint32_t *numbers, size_t count, uint32_t number)
{
    for (size_t i = 0; i < count; i++)
        if (numbers[i] == number)
            return true;
    return false;
}

const struct store_changes *world_draw(struct world *world, uint32_t makes)
{
    uint32_t numbers[WORLD_BATCH];
    size_t count = chance_below(&world->chance, WORLD_BATCH) + 1;
    for (size_t i = 0; i < count; i++) {
        struct store_reaction *change = &world->reactions[i];
        do
            numbers[i] = chance_below(&world->chance, WORLD_SIZE);
        while (drawn_before(numbers, i, numbers[i]));
        times_of(world, numbers[i], change);
        change->was_live = change->time_s != 0;
        change->time_s = chance_below(&world->chance, 100) < makes
                             ? 1 + chance_below(&world->chance, 1000000)
                             : 0;
    }
    size_t counts = chance_below(&world->chance, 3);
    for (size_t i = 0; i < counts; i++) /* different ones: halves of the items */
        world->count_changes[i] =
            (struct store_count){.item = world_item((uint32_t)i * WORLD_ITEMS / 2 +
                                                    chance_below(&world->chance, WORLD_ITEMS / 2)),
                                 .name = 9,
                                 .value = chance_below(&world->chance, 2) == 0 ? 1 : -1};
    world->changes = (struct store_changes){
        BOTH_SPANS(world->reactions, count), .item.counts = world->count_changes,
        .item.count_count = counts, .position = ++world->position};
    return &world->changes;
}

static void apply_reaction(struct world *world, const struct store_reaction *change)
{
    for (uint32_t user = 0; user < WORLD_USERS; user++)
        for (uint32_t item = 0; id_equal(world_user(user), change->user) && item < WORLD_ITEMS;
             item++)
            if (item_equal(world_item(item), change->item))
                world->times[user][change->kind][item] = change->time_s;
}

void world_apply(struct world *world)
{
    for (size_t i = 0; i < world->changes.user.reaction_count; i++)
        apply_reaction(world, &world->reactions[i]);
    for (size_t i = 0; i < world->changes.item.count_count; i++)
        for (uint32_t item = 0; item < WORLD_ITEMS; item++)
            if (item_equal(world_item(item), world->count_changes[i].item))
                world->counts[item] += world->count_changes[i].value;
}

void world_step(struct world *world, struct filters *filters, uint32_t makes)
{
    world_draw(world, makes);
    filters_before(filters, &world->changes);
    world_apply(world);
    filters_after(filters, &world->changes);
}

void world_check(const struct world *world, const struct filters *filters)
{
    for (uint32_t i = 0; i < WORLD_SIZE; i++) {
        struct store_reaction row;
        times_of(world, i, &row);
        if (row.time_s == 0)
            continue;
        assert_true(filters_may_have_reaction(filters, row.user, row.kind, row.item));
        assert_true(filters_may_have_shelf(filters, row.user, row.kind, row.item.type));
        assert_true(filters_may_have_item(filters, row.item));
    }
    for (uint32_t i = 0; i < WORLD_ITEMS; i++)
        if (world->counts[i] != 0)
            assert_true(filters_may_have_item(filters, world_item(i)));
}

void world_suspects(const struct world *world, const struct filters *filters, uint64_t *absent,
                    uint64_t *suspects)
{
    *absent = *suspects = 0;
    for (uint32_t i = 0; i < WORLD_SIZE; i++) {
        struct store_reaction row;
        times_of(world, i, &row);
        *absent += row.time_s == 0;
        *suspects +=
            row.time_s == 0 && filters_may_have_reaction(filters, row.user, row.kind, row.item);
    }
}

bool tell(void *context, uint64_t done, uint64_t total)
{
    struct told *told = context;
    assert_true(done >= told->done && total >= done);
    told->calls++;
    told->done = done;
    told->total = total;
    return told->calls != told->stop_at;
}
