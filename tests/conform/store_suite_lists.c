/* Lists: their order, their pages, and places to go on from. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "spans.h"
#include "store_suite.h"

/* Either list, asked for in the same way. */
struct list {
    bool of_user;
    struct id user;
    struct item item; /* of a user's list: its type */
    uint8_t kind;
};

static size_t page_of(struct store *store, const struct list *list, struct store_listed after,
                      struct store_listed *out, size_t limit)
{
    size_t count = 77777;
    enum status status = list->of_user
                             ? store_list_reactions(&store->reader, list->user, list->kind,
                                                    list->item.type, after, out, limit, &count)
                             : store_list_reactors(&store->reader, list->item, list->kind, after,
                                                   out, limit, &count);
    assert_int_equal(status, STATUS_OK);
    assert_true(count <= limit);
    return count;
}

static void expect_page(struct store *store, const struct list *list, struct store_listed after,
                        const struct store_listed *wanted, size_t count, size_t limit)
{
    struct store_listed *out = malloc((limit + 1) * sizeof(*out));
    memset(out, 0x5a, (limit + 1) * sizeof(*out));
    struct store_listed guard = out[limit];
    assert_int_equal(page_of(store, list, after, out, limit), count < limit ? count : limit);
    for (size_t i = 0; i < count && i < limit; i++)
        if (out[i].time_s != wanted[i].time_s || !id_equal(out[i].id, wanted[i].id))
            fail_msg("row %zu is %u %lx.%lx, not %u %lx.%lx", i, out[i].time_s, out[i].id.hi,
                     out[i].id.lo, wanted[i].time_s, wanted[i].id.hi, wanted[i].id.lo);
    for (size_t i = 0; i < count && i < limit; i++)
        assert_true(out[i].type == 0 && out[i].kind == 0 && !out[i].cleared);
    assert_memory_equal(&out[limit], &guard, sizeof(guard));
    free(out);
}

/* Pages joined equal the whole list, of `count` rows, and after the last there is nothing. */
static void expect_pages(struct store *store, const struct list *list,
                         const struct store_listed *wanted, size_t count, size_t limit)
{
    struct store_listed after = {0};
    for (size_t at = 0; at < count; at += limit) {
        expect_page(store, list, after, wanted + at, count - at, limit);
        after = wanted[at + limit <= count ? at + limit - 1 : count - 1];
    }
    expect_page(store, list, after, NULL, 0, limit);
}

static const struct store_listed ordered[] = {
    {.time_s = UINT32_MAX, .id = {.hi = 5, .lo = 0}},
    {.time_s = 0x80000000, .id = {.lo = 9}},
    {.time_s = 0x7fffffff, .id = {.lo = 2}},
    {.time_s = 500, .id = {.lo = 0}},
    {.time_s = 500, .id = {.lo = 1}},
    {.time_s = 500, .id = {.lo = 255}},
    {.time_s = 500, .id = {.lo = 256}},
    {.time_s = 500, .id = {.lo = 0x7fffffffffffffff}},
    {.time_s = 500, .id = {.lo = 0x8000000000000000}},
    {.time_s = 500, .id = {.lo = UINT64_MAX}},
    {.time_s = 500, .id = {.hi = 1, .lo = 0}},
    {.time_s = 500, .id = {.hi = 1, .lo = UINT64_MAX}},
    {.time_s = 500, .id = {.hi = 2, .lo = 0}},
    {.time_s = 500, .id = {.hi = 2, .lo = 1}},
    {.time_s = 500, .id = {.hi = 0x8000000000000000, .lo = 0}},
    {.time_s = 500, .id = {.hi = UINT64_MAX, .lo = UINT64_MAX}},
    {.time_s = 499, .id = {.lo = 3}},
    {.time_s = 256, .id = {.lo = 4}},
    {.time_s = 255, .id = {.hi = 4, .lo = 5}},
    {.time_s = 1, .id = {.lo = 6}},
};
enum { ORDERED = sizeof(ordered) / sizeof(*ordered) };

static struct store_reaction ordered_reaction(const struct list *list, size_t at)
{
    struct store_reaction reaction = {
        .user = list->user, .item = list->item, .kind = list->kind, .time_s = ordered[at].time_s};
    *(list->of_user ? &reaction.item.id : &reaction.user) = ordered[at].id;
    return reaction;
}

/* First in another order and with other times. */
static void fill_ordered(struct store *store, const struct list *list)
{
    for (size_t step = 0; step < ORDERED; step++) {
        struct store_reaction reaction = ordered_reaction(list, step * 7 % ORDERED);
        reaction.time_s = 490 + (uint32_t)step;
        suite_react(store, reaction);
    }
    for (size_t at = 0; at < ORDERED; at++)
        suite_react(store, ordered_reaction(list, at));
}

void store_suite_lists_order(void **state)
{
    (void)state;
    for (int of_user = 0; of_user < 2; of_user++) {
        struct store *store = store_suite_open();
        const struct list list = {.of_user = of_user,
                                  .user = {.lo = 7},
                                  .item = {.id = {.hi = 3, .lo = 9}, .type = 2},
                                  .kind = 1};
        fill_ordered(store, &list);
        for (size_t limit = 1; limit <= ORDERED + 1; limit++)
            expect_pages(store, &list, ordered, ORDERED, limit);
        assert_int_equal(store_flush(&store->applier), STATUS_OK);
        expect_pages(store, &list, ordered, ORDERED, 3);
        suite_done(store);
    }
}

/* What differs in one part is another list, also where it lies right beside. */
void store_suite_lists_ends(void **state)
{
    (void)state;
    struct store *store = store_suite_open();
    const struct store_listed one = {.time_s = 5, .id.lo = 1};
    const struct store_reaction base = {
        .user.lo = 1, .item = {.id.lo = 1, .type = 1}, .kind = 1, .time_s = 5};
    const struct list lists[] = {{.of_user = true, .user = base.user, .item.type = 1, .kind = 1},
                                 {.item = base.item, .kind = 1}};
    for (size_t i = 0; i < 2; i++)
        expect_page(store, &lists[i], (struct store_listed){0}, NULL, 0, 10);
    struct store_reaction others[] = {base, base, base, base, base, base};
    others[0].kind = 0;
    others[1].kind = 2;
    others[2].item.type = 0;
    others[3].item.type = 2;
    others[4].user.hi = others[4].item.id.hi = 1;
    others[5].user.lo = others[5].item.id.lo = 0;
    suite_apply(store, (struct store_changes){BOTH_SPANS(others, 6)});
    for (size_t i = 0; i < 2; i++)
        expect_page(store, &lists[i], (struct store_listed){0}, NULL, 0, 10);
    suite_react(store, base);
    for (size_t i = 0; i < 2; i++) {
        expect_page(store, &lists[i], (struct store_listed){0}, &one, 1, 10);
        expect_page(store, &lists[i], (struct store_listed){0}, &one, 1, 0);
        expect_page(store, &lists[i], one, NULL, 0, 10);
    }
    suite_done(store);
}

/* A place whose row went, got another time, or never was, goes on with what comes after it. */
void store_suite_lists_gone(void **state)
{
    (void)state;
    struct store *store = store_suite_open();
    const struct list list = {.item = {.id.lo = 5, .type = 3}};
    struct store_listed wanted[6];
    for (uint32_t i = 0; i < 6; i++) {
        wanted[i] = (struct store_listed){.time_s = 100 - i / 2, .id.lo = 10 + i};
        suite_react(store, (struct store_reaction){.user = wanted[i].id,
                                                   .item = list.item,
                                                   .time_s = wanted[i].time_s});
    }
    struct store_reaction second = {.user = wanted[1].id, .item = list.item};
    suite_react(store, second);
    expect_page(store, &list, wanted[0], wanted + 2, 4, 10);
    expect_page(store, &list, wanted[1], wanted + 2, 4, 10);
    second.time_s = 7; /* comes again, as the oldest */
    suite_react(store, second);
    struct store_listed last = {.time_s = 7, .id = second.user};
    expect_page(store, &list, wanted[1], wanted + 2, 5, 4);
    expect_page(store, &list, wanted[5], &last, 1, 4);
    second.time_s = 1000; /* and as the newest: behind whoever is on the second page */
    suite_react(store, second);
    expect_page(store, &list, wanted[1], wanted + 2, 4, 10);
    expect_page(store, &list, last, NULL, 0, 10);
    expect_page(store, &list, (struct store_listed){.time_s = UINT32_MAX}, NULL, 0, 0);
    const struct store_listed never[] = {{.time_s = 99, .id.lo = 0},
                                         {.time_s = 99, .id.lo = 12},
                                         {.time_s = 99, .id.hi = 1},
                                         {.time_s = 98, .id.lo = 14},
                                         {.time_s = 1, .id.lo = 1}};
    const size_t from[] = {2, 3, 4, 5, 6};
    for (size_t i = 0; i < 5; i++)
        expect_page(store, &list, never[i], wanted + from[i], 6 - from[i], 10);
    suite_done(store);
}

enum { USERS = 12, ITEMS = 60, KINDS = 2, TIMES = 9, ROUNDS = 40, CHANGES = 80 };

static uint32_t model[USERS][ITEMS][KINDS];

/* Narrow and wide in turn, two and two alike but for their width. */
static struct id model_id(uint64_t number)
{
    return (struct id){.hi = number % 2 ? number / 8 + 1 : 0, .lo = number / 2 * 1000};
}

static struct item model_item(uint64_t number)
{
    return (struct item){.id = model_id(number), .type = (uint16_t)(number % 8 == 7)};
}

static void change_some(struct store *store, uint64_t seed, uint64_t round)
{
    struct store_reaction changes[CHANGES];
    size_t count = 0;
    for (uint64_t i = 0; i < CHANGES; i++) {
        uint64_t dice = hash_3(seed, round, i);
        uint32_t user = dice % USERS, item = (dice >> 8) % ITEMS, kind = (dice >> 16) % KINDS;
        if ((dice >> 24) % 2)
            user %= 2, item %= 40;
        struct store_reaction change = {.user = model_id(user),
                                        .item = model_item(item),
                                        .kind = (uint8_t)kind,
                                        .was_live = model[user][item][kind] != 0,
                                        .time_s = 1 + (uint32_t)((dice >> 32) % TIMES)};
        if ((dice >> 40) % 4 == 0)
            change.time_s = 0;
        bool twice = false;
        for (size_t j = 0; j < count; j++)
            twice |= id_equal(changes[j].user, change.user) && changes[j].kind == change.kind &&
                     item_equal(changes[j].item, change.item);
        if (twice)
            continue;
        changes[count++] = change;
        model[user][item][kind] = change.time_s;
    }
    suite_apply(store, (struct store_changes){BOTH_SPANS(changes, count)});
}

static int compare_listed(const void *a, const void *b)
{
    return store_listed_order(*(const struct store_listed *)a, *(const struct store_listed *)b);
}

static size_t model_list(const struct list *list, struct store_listed *out)
{
    size_t count = 0;
    for (uint32_t user = 0; user < USERS; user++)
        for (uint32_t item = 0; item < ITEMS; item++) {
            uint32_t time_s = model[user][item][list->kind];
            struct item at = model_item(item);
            if (time_s == 0 ||
                !(list->of_user ? id_equal(model_id(user), list->user) && at.type == list->item.type
                                : item_equal(at, list->item)))
                continue;
            out[count++] = (struct store_listed){.time_s = time_s,
                                                 .id = list->of_user ? at.id : model_id(user)};
        }
    qsort(out, count, sizeof(*out), compare_listed);
    return count;
}

static void check_list(struct store *store, const struct list *list, uint64_t dice)
{
    struct store_listed wanted[USERS * ITEMS];
    size_t count = model_list(list, wanted);
    expect_pages(store, list, wanted, count, 1 + dice % 7);
    expect_pages(store, list, wanted, count, 1 + dice % 50);
    struct store_listed place = {.time_s = 1 + (uint32_t)((dice >> 8) % TIMES),
                                 .id = model_id((dice >> 16) % ITEMS)};
    size_t at = 0;
    while (at < count && store_listed_order(wanted[at], place) <= 0)
        at++;
    expect_page(store, list, place, wanted + at, count - at, 1 + (dice >> 24) % 20);
}

static int compare_of_user(const void *a, const void *b)
{
    return store_user_order(a, b);
}

static size_t model_user(uint32_t user, struct store_reaction *out)
{
    size_t count = 0;
    for (uint32_t item = 0; item < ITEMS; item++)
        for (uint32_t kind = 0; kind < KINDS; kind++)
            if (model[user][item][kind] != 0)
                out[count++] = (struct store_reaction){.user = model_id(user),
                                                       .item = model_item(item),
                                                       .kind = (uint8_t)kind,
                                                       .time_s = model[user][item][kind]};
    qsort(out, count, sizeof(*out), compare_of_user);
    return count;
}

/* What comes behind a place, in pages of one size. */
static void expect_user(struct store *store, struct id user, struct store_reaction after,
                        const struct store_reaction *wanted, size_t count, size_t limit)
{
    struct store_reaction out[ITEMS * KINDS + 1];
    size_t got;
    for (size_t at = 0; at <= count; at += got) {
        assert_int_equal(store_list_user(&store->reader, user, &after, out, limit, &got),
                         STATUS_OK);
        assert_int_equal(got, count - at < limit ? count - at : limit);
        for (size_t i = 0; i < got; i++) {
            assert_int_equal(store_user_order(&out[i], &wanted[at + i]), 0);
            assert_true(id_equal(out[i].user, user));
        }
        if (got == 0)
            return;
        after = out[got - 1];
    }
}

static void check_users(struct store *store, uint64_t seed)
{
    struct store_reaction wanted[ITEMS * KINDS];
    for (uint32_t user = 0; user < USERS; user++) {
        uint64_t dice = hash_3(seed, user, 77);
        size_t count = model_user(user, wanted), at = 0;
        expect_user(store, model_id(user), (struct store_reaction){0}, wanted, count, 1 + dice % 7);
        expect_user(store, model_id(user), (struct store_reaction){0}, wanted, count,
                    ITEMS * KINDS + 1);
        struct store_reaction place = {.user = model_id(user),
                                       .item = model_item((dice >> 8) % ITEMS),
                                       .kind = (uint8_t)((dice >> 16) % KINDS),
                                       .time_s = 1 + (uint32_t)((dice >> 24) % TIMES)};
        while (at < count && store_user_order(&wanted[at], &place) <= 0)
            at++;
        expect_user(store, model_id(user), place, wanted + at, count - at, 1 + (dice >> 32) % 20);
    }
}

/* Everything a user has, at both ends of kinds, types and ids; and nobody else's. */
void store_suite_lists_user(void **state)
{
    (void)state;
    struct store *store = store_suite_open();
    const struct id users[] = {
        {.lo = 0}, {.lo = UINT64_MAX}, {.hi = 1, .lo = 0}, {UINT64_MAX, UINT64_MAX}};
    const struct store_reaction ends[] = {
        {.item = {{.lo = 0}, 0}, .kind = 0, .time_s = UINT32_MAX},
        {.item = {{.lo = UINT64_MAX}, 0}, .kind = 0, .time_s = 1},
        {.item = {{.hi = 1}, LIMIT_TYPES - 1}, .kind = 0, .time_s = 1},
        {.item = {{.lo = 0}, 0}, .kind = LIMIT_NAMES - 1, .time_s = 1},
        {.item = {{UINT64_MAX, UINT64_MAX}, LIMIT_TYPES - 1}, .kind = LIMIT_NAMES - 1, .time_s = 1},
    };
    struct store_reaction none;
    size_t count = 7;
    const struct store_reaction first = {0};
    assert_int_equal(store_list_user(&store->reader, users[0], &first, &none, 1, &count),
                     STATUS_OK);
    assert_int_equal(count, 0);
    for (size_t user = 0; user < 4; user++)
        for (size_t i = 0; i < 5; i++) {
            struct store_reaction reaction = ends[i];
            reaction.user = users[user];
            suite_react(store, reaction);
        }
    for (size_t user = 0; user < 4; user++)
        for (size_t limit = 1; limit < 7; limit++)
            expect_user(store, users[user], first, ends, 5, limit);
    expect_user(store, (struct id){.lo = 1}, first, ends, 0, 3);
    suite_done(store);
}

static void check_lists(struct store *store, uint8_t kind, uint64_t seed)
{
    for (uint32_t user = 0; user < USERS; user++)
        for (uint16_t type = 0; type < 2; type++) {
            const struct list list = {
                .of_user = true, .user = model_id(user), .item.type = type, .kind = kind};
            check_list(store, &list, hash_3(seed, user, kind));
        }
    for (uint32_t item = 0; item < ITEMS; item++) {
        const struct list list = {.item = model_item(item), .kind = kind};
        check_list(store, &list, hash_3(seed, item, kind + 10U));
    }
}

/* A random history; some of it flushed, some not. Two users have half of the reactions. */
void store_suite_lists_pages(void **state)
{
    (void)state;
    uint64_t seed = suite_seed();
    struct store *store = store_suite_open();
    memset(model, 0, sizeof(model));
    for (uint64_t round = 0; round < ROUNDS; round++) {
        change_some(store, seed, round);
        if (hash_3(seed, round, 1000) % 4 == 0)
            assert_int_equal(store_flush(&store->applier), STATUS_OK);
        for (uint32_t kind = 0; round % 8 == 7 && kind < KINDS; kind++)
            check_lists(store, (uint8_t)kind, hash_3(seed, round, 1001));
        if (round % 8 == 7)
            check_users(store, hash_3(seed, round, 1002));
    }
    suite_done(store);
}
