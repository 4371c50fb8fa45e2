/*
 * A fold is held to what the world was before and after its window, event by event in the plain
 * way; then single promises: what it refuses, what it costs, what it forgets.
 */
#include <string.h>

#include "base/names.h"
#include "project/fold.h"
#include "world.h"

static struct memory_budget budget;

static struct fold *new_fold(size_t events_max)
{
    atomic_store(&budget.used, 0);
    budget.limit = GIB(1);
    struct fold *fold = fold_new(&budget, events_max, 42);
    assert_non_null(fold);
    return fold;
}

static void drop_fold(struct fold *fold)
{
    fold_free(fold);
    assert_int_equal(memory_used(&budget), 0);
}

static struct event reaction(uint8_t type, uint64_t user, uint64_t item, uint32_t time_s)
{
    return (struct event){
        .type = type, .user = {.lo = user}, .item = {.id = {.lo = item}}, .time_s = time_s};
}

static struct event addition(uint64_t item, int64_t delta)
{
    return (struct event){
        .type = EVENT_ADD, .name = 9, .item = {.id = {.lo = item}}, .delta = delta, .time_s = 5};
}

static enum status add(struct fold *fold, struct event event)
{
    return fold_add(fold, &event);
}

struct window {
    struct world before;
    struct world after;
    bool touched[WORLD_USERS][WORLD_KINDS][WORLD_ITEMS];
    uint32_t cleared_s[WORLD_USERS][WORLD_KINDS][WORLD_ITEMS]; /* last, in this window */
    struct store_token tokens[512];
    size_t token_count;
};

static void window_touch(struct window *window, const struct event *event, uint8_t kind,
                         bool clears)
{
    for (uint32_t user = 0; user < WORLD_USERS; user++)
        for (uint32_t item = 0; item < WORLD_ITEMS; item++)
            if (id_equal(world_user(user), event->user) &&
                item_equal(world_item(item), event->item)) {
                window->touched[user][kind][item] = true;
                if (clears)
                    window->cleared_s[user][kind][item] = event->time_s;
            }
}

static void window_note(struct window *window, const struct event *event)
{
    if (event->type == EVENT_SET || event->type == EVENT_CLEAR) {
        window_touch(window, event, event->name, event->type == EVENT_CLEAR);
        for (uint8_t i = 0; i < event->cleared_count; i++)
            window_touch(window, event, event->cleared[i], true);
    }
    if (event->type == EVENT_ADD && event->has_token)
        window->tokens[window->token_count++] =
            (struct store_token){.token = {event->token[0], event->token[1]},
                                 .time_s = event->time_s,
                                 .item = event->item};
}

static const struct store_reaction *find_change(const struct store_reaction *rows, size_t count,
                                                uint32_t user, uint32_t kind, uint32_t item)
{
    const struct store_reaction *found = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct store_reaction *row = &rows[i];
        if (!id_equal(row->user, world_user(user)) || row->kind != kind ||
            !item_equal(row->item, world_item(item)))
            continue;
        assert_null(found);
        found = row;
    }
    return found;
}

static void expect_reactions(const struct window *window, const struct store_changes *changes)
{
    size_t expected = 0, passed = 0;
    for (uint32_t i = 0; i < WORLD_USERS * WORLD_KINDS * WORLD_ITEMS; i++) {
        uint32_t user = i / (WORLD_KINDS * WORLD_ITEMS);
        uint32_t kind = i / WORLD_ITEMS % WORLD_KINDS;
        uint32_t item = i % WORLD_ITEMS;
        uint32_t before = window->before.time_s[user][kind][item];
        uint32_t after = window->after.time_s[user][kind][item];
        const struct store_reaction *change =
            find_change(changes->user.reactions, changes->user.reaction_count, user, kind, item);
        const struct store_reaction *pass =
            find_change(changes->user.transient, changes->user.transient_count, user, kind, item);
        if (!window->touched[user][kind][item] || (before == 0 && after == 0)) {
            assert_null(change);
            assert_int_equal(pass != NULL, window->touched[user][kind][item]);
            if (pass != NULL)
                assert_int_equal(pass->cleared_s, window->cleared_s[user][kind][item]);
            passed += pass != NULL;
            continue;
        }
        assert_null(pass);
        assert_non_null(change);
        assert_int_equal(change->time_s, after);
        assert_int_equal(change->was_live, before != 0);
        assert_int_equal(change->cleared_s, after == 0 ? window->cleared_s[user][kind][item] : 0);
        expected++;
    }
    assert_int_equal(changes->user.reaction_count, expected);
    assert_int_equal(changes->user.transient_count, passed);
}

static void expect_counts(const struct window *window, const struct store_changes *changes)
{
    struct world sum = window->before;
    for (size_t i = 0; i < changes->item.count_count; i++) {
        assert_true(changes->item.counts[i].value != 0);
        for (uint32_t item = 0; item < WORLD_ITEMS; item++)
            if (item_equal(world_item(item), changes->item.counts[i].item))
                sum.counts[item][changes->item.counts[i].name] += changes->item.counts[i].value;
        for (size_t j = 0; j < i; j++)
            assert_false(item_equal(changes->item.counts[i].item, changes->item.counts[j].item) &&
                         changes->item.counts[i].name == changes->item.counts[j].name);
    }
    assert_memory_equal(sum.counts, window->after.counts, sizeof sum.counts);
}

static void expect_window(const struct window *window, const struct store_changes *changes)
{
    expect_reactions(window, changes);
    expect_counts(window, changes);
    assert_int_equal(changes->position, window->after.position);
    assert_int_equal(changes->name_count, window->after.defined - window->before.defined);
    assert_int_equal(changes->item.token_count, window->token_count);
    for (size_t i = 0; i < window->token_count; i++) {
        assert_memory_equal(changes->item.tokens[i].token, window->tokens[i].token, 16);
        assert_int_equal(changes->item.tokens[i].time_s, window->tokens[i].time_s);
        assert_true(item_equal(changes->item.tokens[i].item, window->tokens[i].item));
    }
}

static void test_against_the_world(void **state)
{
    (void)state;
    static struct window window;
    struct chance chance = {test_seed()};
    struct fold *fold = new_fold(512);
    struct world world;
    world_start(&world, chance_next(&chance));
    for (int i = 0; i < 1500; i++) {
        memset(&window, 0, sizeof window);
        window.before = world;
        uint32_t events = chance_below(&chance, i % 10 == 0 ? 512 : 30);
        for (uint32_t j = 0; j < events; j++) {
            struct event event = world_next(&world);
            assert_int_equal(fold_add(fold, &event), STATUS_OK);
            window_note(&window, &event);
        }
        window.after = world;
        assert_int_equal(fold_events(fold), events);
        struct store_changes changes;
        fold_take(fold, world.position, &changes);
        expect_window(&window, &changes);
        fold_clear(fold);
    }
    drop_fold(fold);
}

/* Nothing but that it was cleared, for those who know of the like. */
static void test_like_and_unlike_is_nothing(void **state)
{
    (void)state;
    struct fold *fold = new_fold(100);
    struct store_changes changes;
    assert_int_equal(add(fold, reaction(EVENT_SET, 1, 2, 10)), STATUS_OK);
    assert_int_equal(add(fold, addition(2, 7)), STATUS_OK);
    assert_int_equal(add(fold, reaction(EVENT_CLEAR, 1, 2, 11)), STATUS_OK);
    assert_int_equal(add(fold, addition(2, -7)), STATUS_OK);
    fold_take(fold, 77, &changes);
    assert_int_equal(changes.user.reaction_count, 0);
    assert_int_equal(changes.user.transient_count, 1);
    assert_int_equal(changes.user.transient[0].cleared_s, 11);
    assert_int_equal(changes.item.count_count, 0);
    assert_int_equal(changes.position, 77);
    drop_fold(fold);
}

/* Unliked and liked again: the store's time is not known, so the change stays, with the new one. */
static void test_again_at_another_time(void **state)
{
    (void)state;
    struct fold *fold = new_fold(100);
    struct store_changes changes;
    assert_int_equal(add(fold, reaction(EVENT_CLEAR, 1, 2, 10)), STATUS_OK);
    assert_int_equal(add(fold, reaction(EVENT_SET, 1, 2, 0)), STATUS_OK);
    fold_take(fold, 1, &changes);
    assert_int_equal(changes.user.reaction_count, 1);
    assert_true(changes.user.reactions[0].was_live);
    assert_int_equal(changes.user.reactions[0].time_s, 1); /* second 0 would say absent */
    assert_int_equal(changes.item.count_count, 0);
    drop_fold(fold);
}

static void test_contradictions(void **state)
{
    (void)state;
    struct fold *fold = new_fold(100);
    assert_int_equal(add(fold, reaction(EVENT_SET, 1, 2, 10)), STATUS_OK);
    assert_int_equal(add(fold, reaction(EVENT_SET, 1, 2, 10)), STATUS_DAMAGED);
    fold_clear(fold);
    assert_int_equal(add(fold, reaction(EVENT_CLEAR, 1, 2, 10)), STATUS_OK);
    assert_int_equal(add(fold, reaction(EVENT_CLEAR, 1, 2, 10)), STATUS_DAMAGED);
    fold_clear(fold);
    struct event other = reaction(EVENT_SET, 1, 2, 10);
    other.name = 3;
    other.cleared_count = 1; /* kind 0, which the window says is gone */
    assert_int_equal(add(fold, reaction(EVENT_CLEAR, 1, 2, 10)), STATUS_OK);
    assert_int_equal(add(fold, other), STATUS_DAMAGED);
    fold_clear(fold);
    assert_int_equal(add(fold, (struct event){.type = 99}), STATUS_DAMAGED);
    drop_fold(fold);
}

static void test_sums_wrap(void **state)
{
    (void)state;
    struct fold *fold = new_fold(100);
    struct store_changes changes;
    assert_int_equal(add(fold, addition(1, INT64_MAX)), STATUS_OK);
    assert_int_equal(add(fold, addition(1, INT64_MAX)), STATUS_OK);
    fold_take(fold, 1, &changes);
    assert_int_equal(changes.item.count_count, 1);
    assert_int_equal(changes.item.counts[0].value, -2);
    drop_fold(fold);
}

static void test_full(void **state)
{
    (void)state;
    struct fold *fold = new_fold(3);
    struct store_changes changes;
    for (uint64_t i = 0; i < 3; i++) {
        assert_false(fold_is_full(fold));
        assert_int_equal(add(fold, reaction(EVENT_SET, i, 1, 9)), STATUS_OK);
    }
    assert_true(fold_is_full(fold));
    assert_int_equal(add(fold, reaction(EVENT_SET, 3, 1, 9)), STATUS_NO_MEMORY);
    fold_take(fold, 1, &changes);
    assert_int_equal(changes.user.reaction_count, 3);
    assert_int_equal(changes.item.count_count, 1);
    assert_int_equal(changes.item.counts[0].value, 3);
    fold_clear(fold);
    assert_int_equal(fold_events(fold), 0);
    assert_int_equal(add(fold, reaction(EVENT_SET, 3, 1, 9)), STATUS_OK);
    drop_fold(fold);
}

/* With little memory the windows are small, and what was taken before the end is whole. */
static struct event comment(uint32_t length)
{
    static const uint8_t body[LIMIT_EVENT_BODY];
    struct event event = reaction(EVENT_COMMENT, 1, 1, 9);
    event.name = 1;
    event.body = body;
    event.body_length = length;
    return event;
}

/* Adds comments of this length until the window takes no more; how many bytes it took. */
static size_t fill_with_comments(struct fold *fold, uint32_t length)
{
    size_t bytes = 0;
    while (add(fold, comment(length)) == STATUS_OK)
        bytes += length;
    assert_int_equal(fold_bodies(fold), bytes);
    assert_int_equal(fold_events(fold) * length, bytes);
    return bytes;
}

static void test_full_of_bodies(void **state)
{
    (void)state;
    static const uint32_t lengths[] = {LIMIT_EVENT_BODY, 10000, 4096};
    struct fold *fold = new_fold(1000000);
    struct store_changes changes;
    for (size_t i = 0; i < 3; i++) {
        size_t bytes = fill_with_comments(fold, lengths[i]);
        assert_true(bytes <= FOLD_BODIES_MAX && bytes + lengths[i] > FOLD_BODIES_MAX);
        bool full = bytes == FOLD_BODIES_MAX;
        assert_int_equal(fold_is_full(fold), full);
        assert_int_equal(add(fold, reaction(EVENT_SET, 3, 1, 9)),
                         full ? STATUS_NO_MEMORY : STATUS_OK);
        fold_take(fold, 8, &changes);
        assert_int_equal(changes.user.reaction_count, full ? 0 : 1);
        assert_int_equal(changes.position, 8);
        fold_clear(fold);
        assert_int_equal(fold_bodies(fold), 0);
    }
    drop_fold(fold);
    budget.limit = MIB(1);
    fold = fold_new(&budget, 1000, 42); /* however small the budget is */
    assert_non_null(fold);
    assert_int_equal(fill_with_comments(fold, LIMIT_EVENT_BODY), LIMIT_EVENT_BODY);
    drop_fold(fold);
}

static void test_budget(void **state)
{
    (void)state;
    enum { EVENTS = 40000 };
    budget.limit = MIB(1);
    atomic_store(&budget.used, 0);
    struct fold *fold = fold_new(&budget, EVENTS, 1);
    assert_non_null(fold);
    uint64_t windows = 0;
    uint64_t rows = 0;
    for (uint64_t i = 0; i < EVENTS; i++) {
        enum status status = add(fold, reaction(EVENT_SET, i, i, 9));
        assert_true(memory_used(&budget) <= budget.limit);
        if (status == STATUS_OK)
            continue;
        assert_int_equal(status, STATUS_NO_MEMORY);
        struct store_changes changes;
        fold_take(fold, i, &changes);
        assert_int_equal(changes.user.reaction_count, fold_events(fold));
        assert_int_equal(changes.item.count_count, fold_events(fold));
        rows += changes.user.reaction_count;
        windows++;
        fold_clear(fold);
        assert_int_equal(add(fold, reaction(EVENT_SET, i, i, 9)), STATUS_OK);
    }
    assert_true(windows > 3);
    assert_int_equal(rows + fold_events(fold), EVENTS);
    drop_fold(fold);
    budget.limit = 100;
    assert_null(fold_new(&budget, EVENTS, 1));
    assert_int_equal(memory_used(&budget), 0);
}

/* Growing moves every row's place in the index; each must be found again. */
static void test_grows(void **state)
{
    (void)state;
    enum { USERS = 50000 };
    atomic_store(&budget.used, 0);
    budget.limit = KIB(64); /* begins with the least */
    struct fold *fold = fold_new(&budget, USERS * 3, 7);
    budget.limit = GIB(1);
    struct store_changes changes;
    for (int window = 0; window < 3; window++) {
        for (uint64_t i = 0; i < USERS; i++)
            assert_int_equal(add(fold, reaction(EVENT_SET, i, i % 1000, 9)), STATUS_OK);
        for (uint64_t i = 0; i < USERS; i += 2)
            assert_int_equal(add(fold, reaction(EVENT_CLEAR, i, i % 1000, 9)), STATUS_OK);
        fold_take(fold, 1, &changes);
        assert_int_equal(changes.user.reaction_count, USERS / 2);
        assert_int_equal(changes.item.count_count, 500);
        for (size_t i = 0; i < changes.item.count_count; i++)
            assert_int_equal(changes.item.counts[i].value, USERS / 1000);
        fold_clear(fold);
    }
    drop_fold(fold);
}

static void test_names_and_tokens(void **state)
{
    (void)state;
    struct fold *fold = new_fold(1000);
    struct store_changes changes;
    struct event define = {.type = EVENT_DEFINE, .name = NAME_KIND, .index = 7, .text_length = 3};
    memcpy(define.text, "fav", 3);
    assert_int_equal(fold_add(fold, &define), STATUS_OK);
    for (uint64_t i = 0; i < 200; i++) {
        struct event event = addition(i, 0);
        event.has_token = true;
        event.token[1] = i;
        assert_int_equal(fold_add(fold, &event), STATUS_OK);
    }
    fold_take(fold, 1, &changes);
    assert_int_equal(changes.name_count, 1);
    assert_int_equal(changes.names[0].role, NAME_KIND);
    assert_int_equal(changes.names[0].index, 7);
    assert_int_equal(changes.names[0].length, 3);
    assert_memory_equal(changes.names[0].text, "fav", 4);
    assert_int_equal(changes.item.count_count, 0);
    assert_int_equal(changes.item.token_count, 200);
    assert_int_equal(changes.item.tokens[199].token[1], 199);
    assert_int_equal(changes.item.tokens[199].item.id.lo, 199);
    drop_fold(fold);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_the_world),
        cmocka_unit_test(test_like_and_unlike_is_nothing),
        cmocka_unit_test(test_again_at_another_time),
        cmocka_unit_test(test_contradictions),
        cmocka_unit_test(test_sums_wrap),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_full_of_bodies),
        cmocka_unit_test(test_budget),
        cmocka_unit_test(test_grows),
        cmocka_unit_test(test_names_and_tokens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
