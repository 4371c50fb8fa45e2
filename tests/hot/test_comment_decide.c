/* Decisions about comments: counts and pins, what is refused, ids, tokens, and what survives a restart. */
#include "comment_bed.h"

static void check_counts(struct comment_bed *bed, struct item item, int64_t comments,
                         uint64_t roots)
{
    assert_int_equal(comments_of(bed, item), comments);
    assert_int_equal(subject_now(bed, item).roots, roots);
}

static void test_counts_follow_the_states(void **state)
{
    (void)state;
    struct comment_bed bed;
    struct item item = subject_number(1);
    struct query_comment now;
    int64_t value;
    comment_bed_open(&bed, MIB(64), 0);
    uint64_t root = post(&bed, 1, item), first = reply(&bed, 2, root),
             second = reply(&bed, 3, first);
    check_counts(&bed, item, 3, 1);
    assert_int_equal(comments_of(&bed, comment_number(root)), 2);
    assert_true(comment_now(&bed, second, &now));
    assert_int_equal(now.comment.floor, 2);
    assert_true(now.comment.root == root && now.comment.reply_to == first);
    assert_true(now.comment.reply_to_user.lo == 2);

    assert_int_equal(moderate(&bed, root, COMMENT_HIDDEN, &value), STATUS_OK);
    assert_int_equal(value, 1);
    check_counts(&bed, item, 0, 0);
    assert_int_equal(comments_of(&bed, comment_number(root)), 0);
    assert_int_equal(post_text(&bed, 4, comment_number(first), "x", 0, NULL), STATUS_NO_COMMENT);
    assert_int_equal(moderate(&bed, root, COMMENT_VISIBLE, &value), STATUS_OK);
    check_counts(&bed, item, 3, 1);

    assert_int_equal(act(&bed, HOT_UNCOMMENT, 2, root, &value), STATUS_NOT_AUTHOR);
    assert_int_equal(act(&bed, HOT_UNCOMMENT, 1, root, &value), STATUS_OK);
    assert_int_equal(value, 1);
    assert_int_equal(act(&bed, HOT_UNCOMMENT, 1, root, &value), STATUS_OK);
    assert_int_equal(value, 0);
    check_counts(&bed, item, 2, 1); /* a placeholder with two replies */
    assert_int_equal(post_text(&bed, 4, comment_number(root), "x", 0, NULL),
                     STATUS_COMMENT_DELETED);
    assert_int_equal(act(&bed, HOT_PURGE, 0, first, &value), STATUS_OK);
    check_counts(&bed, item, 1, 1);
    assert_int_equal(act(&bed, HOT_UNCOMMENT, 3, second, &value), STATUS_OK);
    check_counts(&bed, item, 0, 0); /* with its last open reply the deleted root is gone */
    comment_bed_close(&bed);
}

static void test_whatever_ends_openness_unpins(void **state)
{
    (void)state;
    struct comment_bed bed;
    struct item item = subject_number(2);
    uint64_t roots[4];
    int64_t value;
    comment_bed_open(&bed, MIB(64), 0);
    for (int i = 0; i < 4; i++)
        roots[i] = post(&bed, 1, item);
    for (int i = 0; i < 3; i++)
        assert_int_equal(act(&bed, HOT_PIN, 0, roots[i], &value), STATUS_OK);
    assert_int_equal(act(&bed, HOT_PIN, 0, roots[2], &value), STATUS_OK);
    assert_int_equal(value, 0);
    assert_int_equal(act(&bed, HOT_PIN, 0, roots[3], &value), STATUS_PINS_FULL);
    size_t events = recorder_count(&bed.bed.recorder);
    assert_int_equal(moderate(&bed, roots[0], COMMENT_PENDING, &value), STATUS_OK);
    assert_int_equal(recorder_count(&bed.bed.recorder), events + 1); /* in the same event */
    struct subject subject = subject_now(&bed, item);
    assert_int_equal(subject.pin_count, 2);
    assert_true(subject.pins[0] == roots[1] && subject.pins[1] == roots[2]);
    assert_int_equal(moderate(&bed, roots[0], COMMENT_VISIBLE, &value), STATUS_OK);
    assert_int_equal(subject_now(&bed, item).pin_count, 2); /* nothing pins it again */
    uint64_t answer = reply(&bed, 2, roots[1]);
    assert_int_equal(act(&bed, HOT_PIN, 0, answer, &value), STATUS_COMMENT_NOT_OPEN);
    assert_int_equal(act(&bed, HOT_UNPIN, 0, roots[1], &value), STATUS_OK);
    assert_int_equal(value, 1);
    assert_int_equal(subject_now(&bed, item).pin_count, 1);
    comment_bed_close(&bed);
}

static void test_what_is_refused_or_held(void **state)
{
    (void)state;
    struct comment_bed bed;
    struct item item = subject_number(3);
    struct hot_request request;
    int64_t value;
    comment_bed_open(&bed, MIB(64), 60);
    uint64_t root = post(&bed, 1, item);
    assert_int_equal(post_text(&bed, 1, item, "same", 0, &request), STATUS_OK);
    uint64_t first = request.comment.id;
    assert_int_equal(post_text(&bed, 1, item, "same", 0, &request), STATUS_COMMENT_REPEATED);
    assert_true(request.comment.id == first);
    ban(&bed, 5, UINT32_MAX, false);
    assert_int_equal(post_text(&bed, 5, item, "a", 0, NULL), STATUS_BANNED);
    ban(&bed, 6, UINT32_MAX, true);
    assert_int_equal(post_text(&bed, 6, item, "b", 0, &request), STATUS_OK);
    assert_int_equal(request.comment.state, COMMENT_VISIBLE); /* a shadow ban does not show */
    uint64_t shadow = request.comment.id;
    assert_int_equal(comments_of(&bed, item), 2);
    assert_int_equal(post_text(&bed, 7, comment_number(shadow), "c", 0, NULL), STATUS_NO_COMMENT);
    assert_int_equal(post_text(&bed, 6, comment_number(shadow), "d", 0, NULL), STATUS_OK);
    assert_int_equal(comments_of(&bed, item), 2);
    assert_int_equal(set_mode(&bed, item, SUBJECT_HELD), STATUS_OK);
    assert_int_equal(post_text(&bed, 1, item, "e", 0, &request), STATUS_OK);
    assert_int_equal(request.comment.state, COMMENT_PENDING);
    uint64_t pending = request.comment.id;
    assert_int_equal(post_text(&bed, 1, comment_number(pending), "f", 0, NULL),
                     STATUS_COMMENT_NOT_OPEN);
    assert_int_equal(edit(&bed, 1, root, "new text", &value), STATUS_OK);
    assert_int_equal(value, 1);
    assert_int_equal(comments_of(&bed, item), 1); /* an edit is held, too */
    assert_int_equal(set_mode(&bed, item, SUBJECT_READONLY), STATUS_OK);
    assert_int_equal(post_text(&bed, 1, item, "g", 0, NULL), STATUS_SUBJECT_READONLY);
    assert_int_equal(set_mode(&bed, item, SUBJECT_CLOSED), STATUS_OK);
    assert_int_equal(post_text(&bed, 1, item, "h", 0, NULL), STATUS_SUBJECT_CLOSED);
    assert_int_equal(set_mode(&bed, comment_number(root), SUBJECT_OPEN), STATUS_NOT_A_SUBJECT);
    assert_int_equal(act(&bed, HOT_PURGE, 0, 12345, &value), STATUS_NO_COMMENT);
    comment_bed_close(&bed);
}

static void test_a_token_answers_the_same_comment(void **state)
{
    (void)state;
    struct comment_bed bed;
    struct item item = subject_number(4);
    struct hot_request request;
    for (int stored = 0; stored < 3; stored++) {
        comment_bed_open(&bed, MIB(64), 0);
        assert_int_equal(post_text(&bed, 1, item, "once", 77, &request), STATUS_OK);
        assert_false(request.comment.repeated);
        uint64_t id = request.comment.id;
        if (stored > 0)
            bed_project_all(&bed.bed);
        if (stored > 1)
            bed_flush(&bed.bed);
        bed_crash(&bed.bed, bed.clock_s);
        hot_memory_set_reach(bed.bed.hot, bed_reach, &bed.bed);
        assert_int_equal(moderate(&bed, id, COMMENT_PENDING, NULL), STATUS_OK);
        size_t events = recorder_count(&bed.bed.recorder);
        assert_int_equal(post_text(&bed, 1, item, "once", 77, &request), STATUS_OK);
        assert_true(request.comment.repeated && request.comment.id == id);
        assert_int_equal(request.comment.floor, 1);
        assert_int_equal(request.comment.state, COMMENT_PENDING);
        assert_int_equal(recorder_count(&bed.bed.recorder), events);
        comment_bed_close(&bed);
    }
}

/* The clock is set back, the server is killed, items with the next ids exist already: no id is given twice. */
static void test_ids_never_repeat(void **state)
{
    (void)state;
    enum { POSTS = 300 };
    struct comment_bed bed;
    struct item item = subject_number(5);
    struct chance chance = {test_seed()};
    uint64_t newest = 0;
    comment_bed_open(&bed, MIB(64), 0);
    for (int i = 0; i < POSTS; i++) {
        uint64_t id = post(&bed, 1, item);
        assert_true(id > newest);
        assert_int_equal(comment_id_gene(id), gene(item));
        newest = id;
        if (chance_below(&chance, 8) == 0) /* a plain item takes the next id */
            bed_change(&bed.bed, HOT_SET, id_number(9), 0, comment_number(id + 1), bed.clock_s);
        if (chance_below(&chance, 4) == 0)
            bed_project_all(&bed.bed);
        if (chance_below(&chance, 4) == 0)
            bed_flush(&bed.bed);
        if (chance_below(&chance, 8) == 0) {
            bed_crash(&bed.bed, bed.clock_s);
            hot_memory_set_reach(bed.bed.hot, bed_reach, &bed.bed);
        }
        bed.clock_s += chance_below(&chance, 3);
        bed.clock_s -= chance_below(&chance, 5);
    }
    assert_int_equal(comments_of(&bed, item), POSTS);
    comment_bed_close(&bed);
    comment_bed_open(&bed, MIB(64), 0);
    bed.clock_s = UINT32_MAX - 1;
    assert_int_equal(post_text(&bed, 1, item, "late", 0, NULL), STATUS_NO_COMMENT_TIME);
    comment_bed_close(&bed);
}

static void test_the_first_event_corrects_the_counter(void **state)
{
    (void)state;
    struct comment_bed bed;
    struct item item = subject_number(6);
    comment_bed_open(&bed, MIB(64), 0);
    bed_add(&bed.bed, item, NAME_INDEX_COMMENT, 40);
    post(&bed, 1, item);
    assert_int_equal(comments_of(&bed, item), 1);
    post(&bed, 1, item);
    bed_project_all(&bed.bed);
    bed_evict(&bed.bed);
    assert_int_equal(comments_of(&bed, item), 2);
    comment_bed_close(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_follow_the_states),
        cmocka_unit_test(test_whatever_ends_openness_unpins),
        cmocka_unit_test(test_what_is_refused_or_held),
        cmocka_unit_test(test_a_token_answers_the_same_comment),
        cmocka_unit_test(test_ids_never_repeat),
        cmocka_unit_test(test_the_first_event_corrects_the_counter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
