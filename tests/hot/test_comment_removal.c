/*
 * FORGET and DROP of comments: what is left in memory and in the store, whatever is killed in between. The
 * answers are compared with what a reader gets, and the store is searched for rows that should be gone.
 */
#include "comment/policy.h"
#include "comment/rows.h"
#include "hot/comments.h"
#include "support.h"

enum { VIDEO = 0, COMMENT = 1, NOW_S = 1800000000, TRIES = 1000 };

static const struct item video = {.id = {.lo = 42}, .type = VIDEO};
static const struct item other = {.id = {.lo = 43}, .type = VIDEO};

static const struct hot_detail no_detail;

struct desk {
    struct bed bed;
    struct names *names;
    struct comment_policy *policy;
    uint32_t posted;
};

static void discard(struct bed *bed, const struct item *parents, size_t count)
{
    hot_memory_discard_heads(bed->hot, parents, count);
}

static void desk_open(struct desk *desk)
{
    char problem[256];
    const struct comment_policy_options values = {
        .words = "", .links = COMMENT_ANY_LINKS, .dislike = "", .report = "", .orders = "*"};
    *desk = (struct desk){.names = names_new()};
    assert_int_equal(names_restore(desk->names, NAME_TYPE, VIDEO, "video", 5), STATUS_OK);
    assert_int_equal(names_restore(desk->names, NAME_TYPE, COMMENT, "comment", 7), STATUS_OK);
    desk->policy = comment_policy_new(&values, problem, sizeof problem);
    assert_non_null(desk->policy);
    names_observe(desk->names, comment_policy_learn, desk->policy);
    struct hot_memory_options options = bed_options();
    options.comments = desk->policy;
    options.head_bytes = MIB(1);
    bed_open_stored(&desk->bed, MIB(64), options);
    bed_use_comments(&desk->bed, desk->names);
    desk->bed.parents = discard;
    hot_memory_set_reach(desk->bed.hot, bed_reach, &desk->bed);
}

static void desk_crash(struct desk *desk)
{
    bed_crash(&desk->bed, NOW_S);
    hot_memory_set_reach(desk->bed.hot, bed_reach, &desk->bed);
}

static void desk_close(struct desk *desk)
{
    bed_close(&desk->bed);
    comment_policy_free(desk->policy);
    names_free(desk->names);
}

static struct id user_number(uint64_t number)
{
    return (struct id){.lo = number};
}

static struct item comment_number(uint64_t comment)
{
    return (struct item){.id = {.lo = comment}, .type = COMMENT};
}

static enum status try_post(struct desk *desk, uint64_t user, struct item item, uint64_t *id,
                            uint32_t *floor)
{
    char text[32];
    int length = snprintf(text, sizeof text, "text %u", desk->posted++);
    struct hot_detail detail = {.text = {text, (size_t)length}};
    struct hot_request request = {.action = HOT_COMMENT,
                                  .user = user_number(user),
                                  .items = &item,
                                  .item_count = 1,
                                  .time_s = NOW_S,
                                  .comment.detail = &detail};
    enum status status = bed_run(&desk->bed, &request);
    *id = request.comment.id;
    *floor = request.comment.floor;
    return status;
}

static uint64_t post(struct desk *desk, uint64_t user, struct item item)
{
    uint64_t id;
    uint32_t floor;
    assert_int_equal(try_post(desk, user, item, &id, &floor), STATUS_OK);
    return id;
}

static void moderate(struct desk *desk, uint64_t id, enum comment_moderation state)
{
    struct item item = comment_number(id);
    struct hot_request request = {.action = HOT_MODERATE,
                                  .items = &item,
                                  .item_count = 1,
                                  .time_s = NOW_S,
                                  .comment.detail = &no_detail,
                                  .comment.state = (uint8_t)state};
    assert_int_equal(bed_run(&desk->bed, &request), STATUS_OK);
}

static void uncomment(struct desk *desk, uint64_t user, uint64_t id)
{
    struct item item = comment_number(id);
    struct hot_request request = {.action = HOT_UNCOMMENT,
                                  .user = user_number(user),
                                  .items = &item,
                                  .item_count = 1,
                                  .comment.detail = &no_detail,
                                  .time_s = NOW_S};
    assert_int_equal(bed_run(&desk->bed, &request), STATUS_OK);
}

/* How many roots a page has, and in `first` the first of them. */
static uint32_t page_of(struct desk *desk, struct item item, enum comment_order order,
                        struct hot_card *first)
{
    struct hot_detail detail = {0};
    struct hot_request request = {.action = HOT_COMMENTS,
                                  .items = &item,
                                  .item_count = 1,
                                  .time_s = NOW_S,
                                  .cards.detail = &detail,
                                  .cards.limit = LIMIT_COMMENTS,
                                  .cards.order = (uint8_t)order};
    hot_scratch_clear(&desk->bed.scratch);
    assert_int_equal(bed_run(&desk->bed, &request), STATUS_OK);
    const struct hot_cards_page *page = &desk->bed.scratch.pages[request.cards.page];
    if (page->count > 0)
        *first = desk->bed.scratch.cards[page->first];
    return page->count;
}

static void assert_page(struct desk *desk, struct item item, uint32_t count)
{
    struct hot_card card;
    for (unsigned order = 0; order < ORDER_TOTAL; order++)
        assert_int_equal(page_of(desk, item, (enum comment_order)order, &card), count);
}

/* One call. */
static struct hot_request remove_some(struct desk *desk, enum hot_action action, uint64_t user,
                                      const struct item *item, uint32_t limit)
{
    struct hot_request request = {.action = action,
                                  .user = user_number(user),
                                  .items = item,
                                  .item_count = item != NULL,
                                  .time_s = NOW_S,
                                  .remove.limit = limit};
    assert_int_equal(bed_run(&desk->bed, &request), STATUS_OK);
    assert_true(request.remove.removed <= limit);
    return request;
}

/* Calls until everything is removed; returns how much that was. With `crashes` the server dies between calls. */
static uint32_t remove_all(struct desk *desk, enum hot_action action, uint64_t user,
                           const struct item *item, uint32_t limit, bool crashes)
{
    uint32_t removed = 0;
    for (unsigned tries = 0; tries < TRIES; tries++) {
        struct hot_request request = remove_some(desk, action, user, item, limit);
        removed += request.remove.removed;
        if (crashes && tries % 2 == 0)
            desk_crash(desk);
        if (!request.remove.more)
            return removed;
    }
    fail_msg("it does not end");
    return 0;
}

struct search {
    struct id user; /* whose rows are looked for */
    uint64_t rows[STORE_TABLES];
    bool has_user;
};

static bool contains(struct store_bytes bytes, uint64_t number)
{
    for (uint32_t i = 0; i + 8 <= bytes.length; i++) {
        uint64_t big = 0, little = 0;
        for (unsigned j = 0; j < 8; j++) {
            big = big << 8 | bytes.data[i + j];
            little |= (uint64_t)bytes.data[i + j] << 8 * j;
        }
        if (big == number || little == number)
            return true;
    }
    return false;
}

static enum status search_row(void *context, const struct store_row *row)
{
    struct search *search = context;
    search->rows[row->table]++;
    search->has_user = search->has_user || contains(row->key, search->user.lo) ||
                       contains(row->value, search->user.lo);
    return STATUS_OK;
}

static struct search search_store(struct desk *desk, uint64_t user)
{
    struct search search = {.user = user_number(user)};
    struct store_visitor visitor = {.row = search_row, .context = &search};
    bed_project_all(&desk->bed);
    assert_int_equal(store_visit(&desk->bed.store->admin, &visitor), STATUS_OK);
    return search;
}

enum { ANA = 0x1122334455667788, BEN = 0x2233445566778811, EVE = 0x3344556677881122 };

/* Ana writes 7 comments: 3 roots, of which one is deleted, and 4 replies, of which one is hidden. */
static void write_some(struct desk *desk)
{
    uint64_t first = post(desk, ANA, video), second = post(desk, BEN, video);
    uint64_t third = post(desk, ANA, video);
    post(desk, ANA, other);
    post(desk, BEN, comment_number(first)); /* into Ana's inbox */
    post(desk, ANA, comment_number(first));
    post(desk, ANA, comment_number(second));
    post(desk, ANA, comment_number(second));
    moderate(desk, post(desk, ANA, comment_number(second)), COMMENT_HIDDEN);
    uncomment(desk, ANA, third);
}

static void check_forgotten(struct desk *desk)
{
    struct hot_card card;
    assert_int_equal(bed_count(&desk->bed, video, NAME_INDEX_COMMENT), 2);
    assert_int_equal(bed_count(&desk->bed, other, NAME_INDEX_COMMENT), 0);
    assert_page(desk, other, 0);
    assert_page(desk, video, 2); /* the first root is a placeholder: Ben's reply is there */
    page_of(desk, video, ORDER_OLD, &card);
    assert_false(card.is_shown);
    assert_true(card.comment.anonymous && card.comment.deleted);
    struct search search = search_store(desk, ANA);
    assert_int_equal(search.rows[STORE_CONTENT], 2);
    assert_int_equal(search.rows[STORE_HISTORY], 0);
}

static void forget_ana(bool crashes, uint32_t limit)
{
    struct desk desk;
    desk_open(&desk);
    write_some(&desk);
    struct hot_request ban = {.action = HOT_BAN,
                              .user = user_number(ANA),
                              .time_s = NOW_S,
                              .comment.until_s = BAN_FOR_EVER};
    assert_int_equal(bed_run(&desk.bed, &ban), STATUS_OK);
    assert_int_equal(
        bed_change(&desk.bed, HOT_SET, user_number(ANA), NAME_INDEX_LIKE, video, NOW_S), 1);
    /* 7 comments, what is kept of her, and a like */
    assert_int_equal(remove_all(&desk, HOT_FORGET, ANA, NULL, limit, crashes), 9);
    assert_int_equal(bans_count(&hot_memory_of(desk.bed.hot)->bans), 0);
    check_forgotten(&desk);
    assert_int_equal(remove_all(&desk, HOT_FORGET, ANA, NULL, limit, false), 0);
    uint64_t id = post(&desk, ANA, video); /* she may begin anew */
    assert_true(id != COMMENT_NONE);
    assert_int_equal(remove_all(&desk, HOT_FORGET, ANA, NULL, limit, false), 1);
    check_forgotten(&desk);
    desk_close(&desk);
}

static void test_a_user_is_forgotten(void **state)
{
    (void)state;
    forget_ana(false, 1000);
    forget_ana(false, 2);
}

static void test_forgetting_is_killed(void **state)
{
    (void)state;
    forget_ana(true, 1);
    forget_ana(true, 3);
}

static void test_others_are_not_forgotten(void **state)
{
    (void)state;
    struct desk desk;
    desk_open(&desk);
    write_some(&desk);
    int64_t before = bed_count(&desk.bed, video, NAME_INDEX_COMMENT);
    assert_int_equal(remove_all(&desk, HOT_FORGET, EVE, NULL, 10, false), 0);
    assert_int_equal(bed_count(&desk.bed, video, NAME_INDEX_COMMENT), before);
    desk_close(&desk);
}

/* Returns how many comments there are. */
static uint32_t fill(struct desk *desk, uint32_t roots)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < roots; i++) {
        uint64_t root = post(desk, ANA, video);
        count++;
        for (uint32_t j = 0; j < i % 5; j++, count++) {
            uint64_t reply = post(desk, BEN, comment_number(root));
            if (j == 1)
                moderate(desk, reply, COMMENT_PENDING);
        }
        if (i % 7 == 3)
            uncomment(desk, ANA, root);
        if (i % 7 == 5)
            moderate(desk, root, COMMENT_HIDDEN);
    }
    return count;
}

static void drop_video(bool crashes, bool projected, uint32_t limit)
{
    enum { ROOTS = 40 };
    struct desk desk;
    uint64_t id;
    uint32_t floor;
    desk_open(&desk);
    uint32_t count = fill(&desk, ROOTS);
    post(&desk, EVE, other);
    if (projected)
        bed_project_all(&desk.bed);
    uint32_t removed = remove_some(&desk, HOT_DROP, 0, &video, 1).remove.removed;
    assert_int_equal(removed, 1);
    if (crashes)
        desk_crash(&desk);
    assert_int_equal(bed_count(&desk.bed, video, NAME_INDEX_COMMENT), 0);
    assert_page(&desk, video, 0);
    assert_int_equal(try_post(&desk, EVE, video, &id, &floor), STATUS_OK);
    assert_int_equal(floor, ROOTS + 1);
    assert_page(&desk, video, 1);
    assert_int_equal(bed_count(&desk.bed, video, NAME_INDEX_COMMENT), 1);
    /* The one that came in between is dropped by the next call, like everything else. */
    removed += remove_all(&desk, HOT_DROP, 0, &video, limit, crashes);
    assert_int_equal(removed, count + 1 + 2);
    assert_page(&desk, video, 0);
    assert_int_equal(try_post(&desk, EVE, video, &id, &floor), STATUS_OK);
    assert_int_equal(floor, ROOTS + 2);
    assert_page(&desk, video, 1);
    assert_page(&desk, other, 1);
    struct search search = search_store(&desk, BEN);
    assert_int_equal(search.rows[STORE_COMMENT], 2);
    assert_int_equal(search.rows[STORE_CONTENT], 2);
    assert_int_equal(search.rows[STORE_FLOOR], 2);
    assert_int_equal(search.rows[STORE_WRITTEN], 2);
    assert_int_equal(search.rows[STORE_QUEUE], 0);
    desk_close(&desk);
}

static void test_a_subject_is_dropped(void **state)
{
    (void)state;
    drop_video(false, false, 1000);
    drop_video(false, true, 1000);
    drop_video(false, true, 7);
}

static void test_dropping_is_killed(void **state)
{
    (void)state;
    drop_video(true, false, 5);
    drop_video(true, true, 1);
    drop_video(true, true, 40);
}

static void test_an_item_without_comments_is_dropped(void **state)
{
    (void)state;
    struct desk desk;
    desk_open(&desk);
    assert_int_equal(
        bed_change(&desk.bed, HOT_SET, user_number(ANA), NAME_INDEX_LIKE, video, NOW_S), 1);
    assert_int_equal(remove_all(&desk, HOT_DROP, 0, &video, 10, false), 1);
    uint64_t id = post(&desk, ANA, video);
    struct item comment = comment_number(id);
    assert_int_equal(
        bed_change(&desk.bed, HOT_SET, user_number(BEN), NAME_INDEX_LIKE, comment, NOW_S), 1);
    /* DROP of a comment removes what others have done with it, and not the comment. */
    assert_int_equal(remove_all(&desk, HOT_DROP, 0, &comment, 10, false), 1);
    assert_page(&desk, video, 1);
    desk_close(&desk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_user_is_forgotten),
        cmocka_unit_test(test_forgetting_is_killed),
        cmocka_unit_test(test_others_are_not_forgotten),
        cmocka_unit_test(test_a_subject_is_dropped),
        cmocka_unit_test(test_dropping_is_killed),
        cmocka_unit_test(test_an_item_without_comments_is_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
