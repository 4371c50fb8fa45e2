/*
 * What pages promise when comments are posted, moderated and voted on between two of them: whoever kept
 * key and listedness from the first page to the last is there exactly once, in both directions. Whoever did
 * not may be there twice or not at all. Also AT, and the errors of pages.
 */
#include "hot_suite_comments.h"

enum { SUBJECT = 3, ROOTS = 160, COMMENTS = 600, USERS = 4, ROUNDS = 6 * ORDER_TOTAL };

/* What a comment was when the first page was read. */
struct kept {
    uint64_t key;
    bool listed;
    bool moved; /* it has changed at any time since */
    uint32_t times;
};

static void note_changes(struct world *world, enum comment_order order, struct kept *kept,
                         uint32_t known)
{
    for (uint32_t i = 0; i < known; i++)
        if (model_is_listed(world->model, i) != kept[i].listed ||
            model_key(world->model, i, order) != kept[i].key)
            kept[i].moved = true;
}

static void change(struct world *world)
{
    struct chance *chance = &world->chance;
    uint32_t comment = chance_below(chance, world->model->count);
    uint32_t user = chance_below(chance, USERS);
    switch (chance_below(chance, 6)) {
    case 0: /* not for ever, so that reading comes to an end */
        if (world->model->count < COMMENTS)
            world_add(world, user, SUBJECT, MODEL_NONE);
        break;
    case 1:
        world_moderate(world, comment, chance_below(chance, 2) ? COMMENT_HIDDEN : COMMENT_VISIBLE);
        break;
    case 2:
        if (model_is_open(world->model, comment) && world->model->count < COMMENTS)
            world_add(world, user, SUBJECT, comment);
        break;
    default:
        world_vote(world, user, comment, chance_below(chance, 3) ? MODEL_LIKE : MODEL_DISLIKE,
                   chance_below(chance, 2));
    }
    world->clock_s += chance_below(chance, 4) == 0;
}

/* Reads all pages in one direction, with changes between them, and counts who was there how often. */
static void read_pages(struct world *world, struct page_request *ask, bool back, struct kept *kept,
                       uint32_t known)
{
    for (bool more = true; more;) {
        struct hot_cards_page page;
        assert_int_equal(world_page(world, ask, &page), STATUS_OK);
        for (uint32_t i = 0; i < page.count; i++) {
            uint64_t id = world->suite.scratch.cards[page.first + i].comment.id;
            uint32_t comment = model_find(world->model, id);
            assert_int_not_equal(comment, MODEL_NONE);
            if (comment < known)
                kept[comment].times++;
        }
        ask->after = back ? page.back : page.next;
        more = ask->after.is_set;
        for (uint32_t i = chance_below(&world->chance, 6); more && i > 0; i--)
            change(world);
        note_changes(world, ask->order, kept, known);
        if (chance_below(&world->chance, 3) == 0)
            suite_disturb(&world->suite, &world->chance, 40, world->clock_s);
    }
}

static void check_kept(struct world *world, const struct kept *kept, uint32_t known)
{
    for (uint32_t i = 0; i < known; i++)
        if (model_is_root(world->model, i) && !kept[i].moved)
            assert_int_equal(kept[i].times, kept[i].listed);
}

static void run_pages(struct world *world, enum comment_order order, bool back)
{
    struct page_request ask = {.item = suite_item(SUBJECT),
                               .order = order,
                               .reader = {.user = MODEL_NOBODY},
                               .limit = 1 + chance_below(&world->chance, 12),
                               .replies = 2};
    uint32_t known = world->model->count;
    struct kept *kept = calloc(known, sizeof *kept);
    assert_non_null(kept);
    for (uint32_t i = 0; i < known; i++)
        kept[i] = (struct kept){model_key(world->model, i, order), model_is_listed(world->model, i),
                                false, 0};
    /* Backwards from a point after the last one: the key is the lowest, the floor the last. */
    if (back)
        ask.after = (struct hot_mark){
            .is_set = true, .back = true, .floor = order == ORDER_NEW ? 0 : UINT32_MAX};
    read_pages(world, &ask, back, kept, known);
    check_kept(world, kept, known);
    free(kept);
}

void hot_suite_comments_pages(void **state)
{
    (void)state;
    if (!hot_suite_tier->has_store)
        return;
    struct world world = world_open(test_seed());
    for (uint32_t i = 0; i < ROOTS; i++) {
        world_add(&world, i % USERS, SUBJECT, MODEL_NONE);
        for (uint32_t user = 0; user < USERS; user++)
            if (chance_below(&world.chance, 2))
                world_vote(&world, user, i,
                           chance_below(&world.chance, 3) ? MODEL_LIKE : MODEL_DISLIKE, true);
    }
    for (uint32_t round = 0; round < ROUNDS; round++) {
        run_pages(&world, (enum comment_order)(round % ORDER_TOTAL), false);
        run_pages(&world, (enum comment_order)(round % ORDER_TOTAL), true);
    }
    check_everything(&world, SUBJECT + 1);
    world_close(&world);
}

/* A page AT a root begins with it, and goes on as the order does; before it there is the rest. */
static void check_at_root(struct world *world, enum comment_order order, uint32_t root)
{
    struct model_reader nobody = {.user = MODEL_NOBODY};
    struct page_request ask = {.item = suite_item(SUBJECT),
                               .order = order,
                               .reader = nobody,
                               .limit = 7,
                               .replies = 3,
                               .at = world->model->comments[root].id};
    size_t count = model_roots(world->model, SUBJECT, order, nobody, world->expected), at = 0;
    struct hot_cards_page page;
    while (at < count && world->expected[at] != root)
        at++;
    assert_int_equal(world_page(world, &ask, &page), STATUS_OK);
    assert_int_equal(page.count, count - at < 7 ? count - at : 7);
    for (uint32_t i = 0; i < page.count; i++)
        assert_true(world->suite.scratch.cards[page.first + i].comment.id ==
                    world->model->comments[world->expected[at + i]].id);
    if (!page.back.is_set)
        assert_int_equal(at, 0);
    if (at == 0)
        return;
    ask.at = 0;
    ask.after = page.back;
    assert_int_equal(world_page(world, &ask, &page), STATUS_OK);
    assert_int_equal(page.count, at < 7 ? at : 7);
    for (uint32_t i = 0; i < page.count; i++)
        assert_true(world->suite.scratch.cards[page.first + i].comment.id ==
                    world->model->comments[world->expected[at - page.count + i]].id);
}

/* AT a reply: its root, whose replies begin with it. */
static void check_at_reply(struct world *world, enum comment_order order, uint32_t reply)
{
    struct page_request ask = {.item = suite_item(SUBJECT),
                               .order = order,
                               .reader = {.user = MODEL_NOBODY},
                               .limit = 2,
                               .replies = 2,
                               .at = world->model->comments[reply].id};
    struct hot_cards_page page;
    assert_int_equal(world_page(world, &ask, &page), STATUS_OK);
    const struct hot_card *root = &world->suite.scratch.cards[page.first];
    assert_true(root->comment.id == world->model->comments[world->model->comments[reply].root].id);
    assert_true(root->reply_count > 0);
    assert_true(world->suite.scratch.cards[root->reply_first].comment.id ==
                world->model->comments[reply].id);
}

void hot_suite_comments_at(void **state)
{
    (void)state;
    if (!hot_suite_tier->has_store)
        return;
    struct world world = world_open(3);
    for (uint32_t i = 0; i < 40; i++)
        world_add(&world, i % USERS, SUBJECT, MODEL_NONE);
    for (uint32_t i = 0; i < 120; i++) {
        world_add(&world, i % USERS, SUBJECT, chance_below(&world.chance, world.model->count));
        world_vote(&world, i % USERS, chance_below(&world.chance, 40), MODEL_LIKE, true);
    }
    for (int round = 0; round < 2; round++) {
        for (int order = 0; order < ORDER_TOTAL; order++)
            for (uint32_t i = 0; i < world.model->count; i++)
                if (model_is_root(world.model, i))
                    check_at_root(&world, (enum comment_order)order, i);
                else
                    check_at_reply(&world, (enum comment_order)order, i);
        suite_settle(&world.suite);
    }
    world_close(&world);
}

void hot_suite_comments_refusals(void **state)
{
    (void)state;
    if (!hot_suite_tier->has_store)
        return;
    struct world world = world_open(5);
    struct hot_cards_page page;
    uint32_t root = world_add(&world, 0, SUBJECT, MODEL_NONE);
    uint32_t reply = world_add(&world, 1, SUBJECT, root);
    uint32_t elsewhere = world_add(&world, 1, SUBJECT + 1, MODEL_NONE);
    struct page_request ask = {
        .item = world_item(&world, reply), .reader = {.user = MODEL_NOBODY}, .limit = 10};
    ask.order = ORDER_OLD;
    assert_int_equal(world_page(&world, &ask, &page), STATUS_NOT_A_ROOT);
    ask.item = world_item(&world, root);
    ask.order = ORDER_TOP;
    assert_int_equal(world_page(&world, &ask, &page), STATUS_NO_THREAD_ORDER);
    ask.item = world_item(&world, MODEL_NONE);
    ask.order = ORDER_OLD;
    assert_int_equal(world_page(&world, &ask, &page), STATUS_NO_COMMENT);
    ask.item = suite_item(SUBJECT);
    ask.at = world.model->comments[elsewhere].id;
    assert_int_equal(world_page(&world, &ask, &page), STATUS_NO_COMMENT);
    ask.at = 12345;
    assert_int_equal(world_page(&world, &ask, &page), STATUS_NO_COMMENT);
    ask.at = 0;
    world_set_subject(&world, SUBJECT, MODEL_NOBODY, true, SUBJECT_CLOSED);
    assert_int_equal(world_page(&world, &ask, &page), STATUS_SUBJECT_CLOSED);
    ask.item = world_item(&world, root);
    assert_int_equal(world_page(&world, &ask, &page), STATUS_SUBJECT_CLOSED);
    ask.reader.all = true;
    assert_int_equal(world_page(&world, &ask, &page), STATUS_OK);
    assert_int_equal(page.count, 1);
    world_close(&world);
}
