/*
 * Comments at their bounds: more than a tier caches of an order, more changes than it lists, more own pending
 * comments than are shown, more versions and notices than are kept, more pins than there may be; bans that end.
 */
#include "hot_suite_comments.h"

enum { SUBJECT = 4 };

static const struct model_reader nobody = {.user = MODEL_NOBODY};

/* Subjects of the suite whose comments have the same gene would share a list of changes; this is only one. */
void hot_suite_comments_many(void **state)
{
    (void)state;
    if (!hot_suite_tier->has_store)
        return;
    struct world world = world_open(test_seed());
    uint32_t count = 1400 / (SANITIZED_PART > 1 ? 2 : 1); /* more than are listed as changed */
    for (uint32_t i = 0; i < count; i++) {
        world_add(&world, i % MODEL_USERS, SUBJECT, MODEL_NONE);
        world_vote(&world, i % MODEL_USERS, chance_below(&world.chance, i + 1), MODEL_LIKE, true);
        world.clock_s += i % 5 == 0;
    }
    for (int order = 0; order < ORDER_TOTAL; order++)
        check_roots(&world, SUBJECT, (enum comment_order)order, nobody, 50, 1);
    suite_settle(&world.suite);
    for (int order = 0; order < ORDER_TOTAL; order++) {
        for (uint32_t i = 0; i < 40; i++) /* some of what the head has, and some below it */
            world_vote(&world, 1, chance_below(&world.chance, count), MODEL_DISLIKE, true);
        check_roots(&world, SUBJECT, (enum comment_order)order, nobody, 50, 1);
        suite_disturb(&world.suite, &world.chance, 5, world.clock_s);
    }
    /* the whole head goes, and what was below it is on the first page */
    uint32_t expected =
        (uint32_t)model_roots(world.model, SUBJECT, ORDER_TOP, nobody, world.expected);
    for (uint32_t i = 0; i < 300 && i < expected; i++)
        world.joined[i] = world.expected[i];
    for (uint32_t i = 0; i < 300 && i < expected; i++)
        world_moderate(&world, world.joined[i], COMMENT_HIDDEN);
    check_roots(&world, SUBJECT, ORDER_TOP, nobody, 20, 0);
    suite_settle(&world.suite);
    check_roots(&world, SUBJECT, ORDER_TOP, nobody, 20, 0);
    check_roots(&world, SUBJECT, ORDER_NEW,
                (struct model_reader){.user = MODEL_NOBODY, .all = true}, 50, 0);
    world_close(&world);
}

/* A long thread: replies are paged like roots, and a root says how many more there are. */
void hot_suite_comments_thread(void **state)
{
    (void)state;
    if (!hot_suite_tier->has_store)
        return;
    struct world world = world_open(test_seed());
    uint32_t root = world_add(&world, 0, SUBJECT, MODEL_NONE);
    for (uint32_t i = 0; i < 300; i++) {
        uint32_t to = chance_below(&world.chance, world.model->count);
        world_add(&world, i % MODEL_USERS, SUBJECT, model_is_open(world.model, to) ? to : root);
        if (i % 7 == 0)
            world_moderate(&world, world.model->count - 1, COMMENT_PENDING);
        if (i % 50 == 0)
            suite_disturb(&world.suite, &world.chance, 10, world.clock_s);
    }
    for (uint32_t user = 0; user <= MODEL_USERS; user++) {
        struct model_reader reader = {.user = user < MODEL_USERS ? user : MODEL_NOBODY};
        check_thread(&world, root, ORDER_OLD, reader, 37);
        check_thread(&world, root, ORDER_NEW, reader, 50);
        check_roots(&world, SUBJECT, ORDER_TOP, reader, 3, LIMIT_REPLIES);
    }
    check_thread(&world, root, ORDER_NEW, (struct model_reader){MODEL_NOBODY, true}, 50);
    world_uncomment(&world, 0, root);
    check_roots(&world, SUBJECT, ORDER_TOP, nobody, 3, LIMIT_REPLIES);
    for (uint32_t i = 1; i < world.model->count; i++)
        world_purge(&world, i);
    check_counts(&world, SUBJECT);
    check_roots(&world, SUBJECT, ORDER_TOP, nobody, 3, LIMIT_REPLIES);
    check_roots(&world, SUBJECT, ORDER_OLD, nobody, 3, LIMIT_REPLIES);
    world_close(&world);
}

/* The newest 50 comments of an author that wait are shown before the first page; the others are not. */
void hot_suite_comments_own(void **state)
{
    (void)state;
    if (!hot_suite_tier->has_store)
        return;
    struct world world = world_open(9);
    struct hot_cards_page page;
    struct page_request ask = {
        .item = suite_item(SUBJECT), .reader = {.user = 2}, .limit = 10, .replies = 0};
    world_add(&world, 1, SUBJECT, MODEL_NONE);
    world_set_subject(&world, SUBJECT, MODEL_NOBODY, true, SUBJECT_HELD);
    for (uint32_t i = 0; i < LIMIT_OWN_COMMENTS + 10; i++)
        world_add(&world, 2, SUBJECT, MODEL_NONE);
    for (int round = 0; round < 3; round++) {
        ask.order = ORDER_TOP;
        assert_int_equal(world_page(&world, &ask, &page), STATUS_OK);
        assert_int_equal(page.count, LIMIT_OWN_COMMENTS + 1);
        for (uint32_t i = 0; i < LIMIT_OWN_COMMENTS; i++)
            assert_true(world.suite.scratch.cards[page.first + i].comment.id ==
                        world.model->comments[world.model->count - 1 - i].id);
        if (round == 0)
            suite_settle(&world.suite);
        else if (round == 1)
            suite_restart(&world.suite, world.clock_s);
    }
    check_queue(&world, SUBJECT % 2, QUEUE_PENDING, 7);
    world_close(&world);
}

/* A history has the last LIMIT_VERSIONS earlier texts. */
void hot_suite_comments_versions(void **state)
{
    (void)state;
    if (!hot_suite_tier->has_store)
        return;
    struct world world = world_open(11);
    uint32_t comment = world_add(&world, 1, SUBJECT, MODEL_NONE);
    for (uint32_t i = 0; i < 2 * LIMIT_VERSIONS; i++) {
        world.clock_s++;
        assert_int_equal(world_edit(&world, 1, comment, world.next_text++), STATUS_OK);
        check_history(&world, comment);
        if (i == LIMIT_VERSIONS + 2)
            suite_restart(&world.suite, world.clock_s);
    }
    world_uncomment(&world, 1, comment);
    check_history(&world, comment);
    world_close(&world);
}

/* An inbox has the last LIMIT_INBOX entries. */
void hot_suite_comments_inbox(void **state)
{
    (void)state;
    if (!hot_suite_tier->has_store)
        return;
    struct world world = world_open(13);
    uint32_t root = world_add(&world, 1, SUBJECT, MODEL_NONE);
    for (uint32_t i = 0; i < LIMIT_INBOX + 100; i++) {
        world_add(&world, 2, SUBJECT, root);
        if (i == 500)
            check_inbox(&world, 1, 50);
        if (i % 300 == 0)
            suite_settle(&world.suite);
    }
    check_inbox(&world, 1, 50);
    world_see(&world, 1, 600);
    check_inbox(&world, 1, 50);
    world_see(&world, 1, 300);
    check_inbox(&world, 1, 50);
    suite_restart(&world.suite, world.clock_s);
    check_inbox(&world, 1, 50);
    world_see(&world, 1, LIMIT_INBOX + 100);
    check_inbox(&world, 1, 50);
    world_forget(&world, 1);
    check_inbox(&world, 1, 50);
    world_close(&world);
}

/* A ban ends at its time; a new one replaces it; it outlives a restart. */
void hot_suite_comments_bans(void **state)
{
    (void)state;
    if (!hot_suite_tier->has_store)
        return;
    struct world world = world_open(15);
    for (int round = 0; round < 3; round++) {
        uint32_t user = 3 + (uint32_t)round;
        world_ban(&world, user, world.clock_s + 100, round == 1);
        assert_int_equal(world_add(&world, user, SUBJECT, MODEL_NONE) != MODEL_NONE, round == 1);
        suite_restart(&world.suite, world.clock_s);
        world.clock_s += 99;
        assert_int_equal(world_add(&world, user, SUBJECT, MODEL_NONE) != MODEL_NONE, round == 1);
        world.clock_s += 1;
        assert_int_not_equal(world_add(&world, user, SUBJECT, MODEL_NONE), MODEL_NONE);
        world_ban(&world, user, UINT32_MAX, false);
        world_ban(&world, user, UINT32_MAX, false);
        world_ban(&world, user, UINT32_MAX, true);
        suite_settle(&world.suite);
        suite_restart(&world.suite, world.clock_s);
        assert_int_not_equal(world_add(&world, user, SUBJECT, MODEL_NONE), MODEL_NONE);
        world_ban(&world, user, 0, false);
        world_ban(&world, user, 0, false);
        suite_restart(&world.suite, world.clock_s);
        assert_int_not_equal(world_add(&world, user, SUBJECT, MODEL_NONE), MODEL_NONE);
    }
    check_everything(&world, SUBJECT + 1);
    world_close(&world);
}

/* Three comments are pinned at most, in the order of pinning; and what a user forgets to see is gone. */
void hot_suite_comments_pins(void **state)
{
    (void)state;
    if (!hot_suite_tier->has_store)
        return;
    struct world world = world_open(17);
    for (uint32_t i = 0; i < 6; i++)
        world_add(&world, i, SUBJECT, MODEL_NONE);
    for (uint32_t i = 6; i-- > 0;)
        world_pin(&world, i);
    check_roots(&world, SUBJECT, ORDER_TOP, nobody, 2, 3);
    suite_restart(&world.suite, world.clock_s);
    check_roots(&world, SUBJECT, ORDER_TOP, nobody, 2, 3);
    world_forget(&world, 4);
    check_roots(&world, SUBJECT, ORDER_TOP, nobody, 2, 3);
    world_pin(&world, 0);
    world_unpin(&world, 5);
    world_pin(&world, 1);
    check_roots(&world, SUBJECT, ORDER_TOP, nobody, 2, 3);
    world_drop(&world, SUBJECT);
    check_roots(&world, SUBJECT, ORDER_TOP, nobody, 2, 3);
    assert_int_equal(world.model->subjects[SUBJECT].pin_count, 0);
    uint32_t again = world_add(&world, 1, SUBJECT, MODEL_NONE);
    assert_int_equal(world.model->comments[again].floor, 7);
    check_everything(&world, SUBJECT + 1);
    world_close(&world);
}
