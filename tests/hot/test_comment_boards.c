/* TOP of comments: all comments of a subject are in one shard, and so in one section of the board. */
#include "comment/comment_id.h"
#include "comment/policy.h"
#include "support.h"

enum { COMMENT = 1, VIEW = 9, NOW_S = 1800000000, HOT_GENE = 77 };

static struct comment_policy policy = {
    .dislike = POLICY_NO_NAME, .report = POLICY_NO_NAME, .type = COMMENT, .report_at = 1};

static struct item comment_at(uint32_t gene, uint32_t number)
{
    uint64_t id = (uint64_t)(1000 + number) << (COMMENT_SEQUENCE_BITS + GENE_BITS) |
                  (uint64_t)gene << COMMENT_SEQUENCE_BITS;
    return comment_item(id, COMMENT);
}

static struct hot_memory_options usual(void)
{
    struct hot_memory_options options = bed_options();
    options.comments = &policy;
    return options;
}

/* The values are those of a permutation: item i has value 1 + i * 7919 % count. */
static int64_t value_of(uint32_t number, uint32_t count)
{
    return 1 + (int64_t)((uint64_t)number * 7919 % count);
}

static void add_all(struct bed *bed, uint32_t gene, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        bed_add(bed, comment_at(gene, i), VIEW, value_of(i, count));
}

static uint32_t top(struct bed *bed, uint32_t limit)
{
    struct hot_request request = {
        .action = HOT_TOP, .name = VIEW, .time_s = NOW_S, .top.type = COMMENT, .top.limit = limit};
    hot_scratch_clear(&bed->scratch);
    assert_int_equal(bed_run(bed, &request), STATUS_OK);
    assert_int_equal(request.top.first, 0);
    return request.top.count;
}

static void test_one_hot_subject_fills_the_board(void **state)
{
    (void)state;
    enum { COMMENTS = 10007 }; /* a prime, so that values are different */
    struct bed bed;
    bed_open_stored(&bed, MIB(256), usual());
    add_all(&bed, HOT_GENE, COMMENTS);
    assert_int_equal(top(&bed, LIMIT_TOP), LIMIT_TOP);
    for (uint32_t i = 0; i < LIMIT_TOP; i++)
        assert_int_equal(bed.scratch.ranked[i].value, COMMENTS - i);
    assert_int_equal(bed_stats(&bed).board_fills, 0); /* nobody had to count anything */
    bed_close(&bed);
}

/* Beside the hot one there are as many comments of others, in all shards. */
static void test_other_subjects_have_room_too(void **state)
{
    (void)state;
    enum { COMMENTS = 4999 };
    struct bed bed;
    bed_open_stored(&bed, MIB(256), usual());
    add_all(&bed, HOT_GENE, COMMENTS);
    for (uint32_t i = 0; i < COMMENTS; i++)
        bed_add(&bed, comment_at(i % GENE_COUNT, 20000 + i), VIEW, value_of(i, COMMENTS));
    assert_int_equal(top(&bed, LIMIT_TOP), LIMIT_TOP);
    for (uint32_t i = 0; i < LIMIT_TOP; i++)
        assert_int_equal(bed.scratch.ranked[i].value, COMMENTS - i / 2);
    const struct boards *boards = &hot_memory_of(bed.hot)->boards;
    assert_int_equal(boards->count, 1);
    assert_true(atomic_load(&boards->list[0]->extra) <= BOARD_EXTRA);
    assert_true(bed_stats(&bed).board_entries <= BOARD_GATHERED);
    bed_close(&bed);
}

/* However many subjects are hot, the entries are bounded. */
static void test_entries_are_bounded(void **state)
{
    (void)state;
    enum { SUBJECTS = 100, COMMENTS = 499 };
    struct bed bed;
    bed_open_stored(&bed, MIB(256), usual());
    for (uint32_t subject = 0; subject < SUBJECTS; subject++)
        add_all(&bed, 31 * subject, COMMENTS);
    const struct boards *boards = &hot_memory_of(bed.hot)->boards;
    assert_true(atomic_load(&boards->list[0]->extra) <= BOARD_EXTRA);
    assert_true(bed_stats(&bed).board_entries <= BOARD_GATHERED);
    assert_int_equal(top(&bed, 100), 100);
    for (uint32_t i = 0; i < 100; i++)
        assert_int_equal(bed.scratch.ranked[i].value, COMMENTS - i / SUBJECTS);
    bed_close(&bed);
}

static void test_boards_of_other_types_stay_as_they_are(void **state)
{
    (void)state;
    struct bed bed;
    bed_open_stored(&bed, MIB(256), usual());
    for (uint32_t i = 0; i < 20000; i++)
        bed_add(&bed, (struct item){.id = {.lo = i}, .type = 700}, VIEW, i + 1);
    assert_int_equal(atomic_load(&hot_memory_of(bed.hot)->boards.list[0]->extra), 0);
    assert_true(bed_stats(&bed).board_entries <= LIMIT_SHARDS * BOARD_ENTRIES);
    bed_close(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_hot_subject_fills_the_board),
        cmocka_unit_test(test_other_subjects_have_room_too),
        cmocka_unit_test(test_entries_are_bounded),
        cmocka_unit_test(test_boards_of_other_types_stay_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
