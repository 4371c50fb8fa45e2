/* The last changes of watched subjects: what is noted, what is forgotten, and that all of it is bounded. */
#include "support.h"

#include "hot/memory/comment_feed.h"

#define NOW 5000

struct feed_bed {
    struct memory_budget budget;
    struct comment_feeds feeds;
    struct query_news news;
    uint64_t position;
};

static struct feed_bed bed;

static int open_bed(void **state)
{
    (void)state;
    memset(&bed, 0, sizeof bed);
    bed.budget.limit = MIB(64);
    bed.position = 100;
    return 0;
}

static int close_bed(void **state)
{
    (void)state;
    comment_feeds_destroy(&bed.feeds, &bed.budget);
    assert_int_equal(memory_used(&bed.budget), 0);
    return 0;
}

static struct item subject_number(uint64_t number)
{
    return (struct item){.id = {.lo = number}, .type = 3};
}

static enum status read_at(uint64_t subject, uint64_t after, uint32_t now_s)
{
    return comment_feeds_read(&bed.feeds, &bed.budget, subject_number(subject), subject,
                              bed.position, after, now_s, &bed.news);
}

static void read_after(uint64_t after)
{
    assert_int_equal(read_at(1, after, NOW), STATUS_OK);
    assert_int_equal(bed.news.now, bed.position + 1);
}

static void note_at(enum comment_event kind, const struct comment_body *body, uint64_t pinned,
                    uint32_t now_s)
{
    bed.position += 8;
    comment_feeds_note(&bed.feeds, &bed.budget, kind, body, pinned, 1, bed.position, now_s);
}

static struct comment_body body_of(uint64_t id, uint8_t moderation, bool deleted, int64_t delta)
{
    return (struct comment_body){
        .has_comment = true,
        .subject_delta = delta,
        .comment = {
            .id = id, .subject = subject_number(1), .moderation = moderation, .deleted = deleted}};
}

static void note(enum comment_event kind, uint64_t id, uint8_t moderation, bool deleted,
                 int64_t delta)
{
    struct comment_body body = body_of(id, moderation, deleted, delta);
    note_at(kind, &body, COMMENT_NONE, NOW);
}

static void expect_changes(const uint64_t *ids, size_t count)
{
    assert_int_equal(bed.news.count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(bed.news.changes[i].id, ids[i]);
}

static void nothing_is_kept_of_what_nobody_watches(void **state)
{
    (void)state;
    note(COMMENT_EVENT_ADD, 7, COMMENT_VISIBLE, false, 1);
    assert_int_equal(memory_used(&bed.budget), 0);
    read_after(HOT_NEWS_BEGIN);
    assert_int_equal(bed.news.count, 0);
    assert_int_equal(bed.news.since, bed.position + 1);
    uint64_t used = memory_used(&bed.budget);
    struct comment_body other = body_of(8, COMMENT_VISIBLE, false, 1);
    other.comment.subject = subject_number(2);
    note_at(COMMENT_EVENT_ADD, &other, COMMENT_NONE, NOW);
    assert_int_equal(memory_used(&bed.budget), used);
}

static void changes_are_read_after_a_point(void **state)
{
    (void)state;
    read_after(HOT_NEWS_BEGIN);
    uint64_t begin = bed.news.now;
    note(COMMENT_EVENT_ADD, 7, COMMENT_VISIBLE, false, 1);
    note(COMMENT_EVENT_ADD, 8, COMMENT_VISIBLE, false, 1);
    read_after(begin);
    expect_changes((const uint64_t[]){7, 8}, 2);
    assert_true(bed.news.changes[0].appeared && bed.news.changes[1].appeared);
    assert_int_equal(bed.news.changes[1].point, bed.news.now);
    uint64_t first = bed.news.changes[0].point;
    note(COMMENT_EVENT_EDIT, 7, COMMENT_VISIBLE, false, 0);
    read_after(first);
    expect_changes((const uint64_t[]){8, 7}, 2);
    assert_false(bed.news.changes[1].appeared);
    read_after(bed.news.now);
    assert_int_equal(bed.news.count, 0);
    assert_int_equal(bed.news.since, begin);
}

/* The id of a comment that nobody else has seen must not appear, not even as a removed one. */
static void what_was_never_listed_is_not_noted(void **state)
{
    (void)state;
    read_after(HOT_NEWS_BEGIN);
    uint64_t begin = bed.news.now;
    note(COMMENT_EVENT_ADD, 7, COMMENT_PENDING, false, 0);
    note(COMMENT_EVENT_ADD, 8, COMMENT_SHADOW, false, 0);
    note(COMMENT_EVENT_EDIT, 8, COMMENT_SHADOW, false, 0);
    note(COMMENT_EVENT_STATE, 7, COMMENT_PENDING, true, 0);
    note(COMMENT_EVENT_STATE, 8, COMMENT_HIDDEN, false, 0);
    note(COMMENT_EVENT_FORGET, 8, COMMENT_HIDDEN, true, 0);
    read_after(begin);
    assert_int_equal(bed.news.count, 0);
    note(COMMENT_EVENT_ADD, 9, COMMENT_PENDING, false, 0);
    note(COMMENT_EVENT_STATE, 9, COMMENT_VISIBLE, false, 1); /* approved */
    note(COMMENT_EVENT_STATE, 9, COMMENT_SHADOW, false, -1);
    read_after(begin);
    expect_changes((const uint64_t[]){9, 9}, 2);
    assert_true(bed.news.changes[0].appeared);
    assert_false(bed.news.changes[1].appeared);
}

static void a_deleted_root_depends_on_its_replies(void **state)
{
    (void)state;
    read_after(HOT_NEWS_BEGIN);
    uint64_t begin = bed.news.now;
    struct comment_body reply = body_of(20, COMMENT_VISIBLE, true, -1);
    reply.comment.root = 7;
    reply.has_root = true;
    reply.root_delta = -1;
    reply.root = (struct comment){.id = 7, .subject = subject_number(1), .open_replies = 3};
    note_at(COMMENT_EVENT_STATE, &reply, COMMENT_NONE, NOW);
    read_after(begin);
    expect_changes((const uint64_t[]){20}, 1); /* the root is open anyway */
    reply.root.deleted = true;
    begin = bed.news.now;
    note_at(COMMENT_EVENT_PURGE, &reply, COMMENT_NONE, NOW);
    read_after(begin);
    expect_changes((const uint64_t[]){20}, 1); /* other replies remain */
    begin = bed.news.now;
    reply.root.open_replies = 0;
    note_at(COMMENT_EVENT_PURGE, &reply, COMMENT_NONE, NOW);
    read_after(begin);
    expect_changes((const uint64_t[]){20, 7}, 2);
    assert_int_equal(bed.news.changes[0].point, bed.news.changes[1].point);
    assert_false(bed.news.changes[1].appeared);
    begin = bed.news.now;
    reply.comment.deleted = false; /* it was hidden, and a moderator shows it again */
    reply.subject_delta = reply.root_delta = reply.root.open_replies = 1;
    note_at(COMMENT_EVENT_STATE, &reply, COMMENT_NONE, NOW);
    read_after(begin);
    expect_changes((const uint64_t[]){20, 7}, 2);
    assert_true(bed.news.changes[0].appeared && bed.news.changes[1].appeared);
}

static void pins_and_settings_are_noted(void **state)
{
    (void)state;
    read_after(HOT_NEWS_BEGIN);
    uint64_t begin = bed.news.now;
    struct comment_body body = {.has_subject = true, .subject = {.item = subject_number(1)}};
    note_at(COMMENT_EVENT_PIN, &body, 33, NOW);
    note_at(COMMENT_EVENT_SUBJECT, &body, COMMENT_NONE, NOW);
    note_at(COMMENT_EVENT_ROWS, &body, COMMENT_NONE, NOW);
    note_at(COMMENT_EVENT_BAN, &(struct comment_body){0}, COMMENT_NONE, NOW);
    read_after(begin);
    expect_changes((const uint64_t[]){33, COMMENT_NONE}, 2);
    note_at(COMMENT_EVENT_DROP, &body, COMMENT_NONE, NOW);
    read_after(begin);
    assert_int_equal(bed.news.count, 0);
    assert_int_equal(bed.news.since, bed.news.now); /* whoever read before begins again */
}

static void only_the_last_changes_are_remembered(void **state)
{
    (void)state;
    enum { MORE = 3 * LIMIT_NEWS + 5 };
    read_after(HOT_NEWS_BEGIN);
    uint64_t begin = bed.news.now;
    for (uint64_t id = 1; id <= MORE; id++)
        note(COMMENT_EVENT_ADD, id, COMMENT_VISIBLE, false, 1);
    read_after(begin);
    assert_int_equal(bed.news.count, LIMIT_NEWS);
    for (size_t i = 0; i < LIMIT_NEWS; i++)
        assert_int_equal(bed.news.changes[i].id, MORE - LIMIT_NEWS + 1 + i);
    assert_int_equal(bed.news.since, bed.news.changes[0].point - 8);
}

static void without_memory_less_is_remembered(void **state)
{
    (void)state;
    read_after(HOT_NEWS_BEGIN);
    uint64_t begin = bed.news.now;
    bed.budget.limit = memory_used(&bed.budget);
    note(COMMENT_EVENT_ADD, 1, COMMENT_VISIBLE, false, 1);
    read_after(begin);
    assert_int_equal(bed.news.count, 0);
    assert_int_equal(bed.news.since, bed.news.now);
    assert_int_equal(read_at(2, HOT_NEWS_BEGIN, NOW), STATUS_TOO_MANY_STREAMS);
    bed.budget.limit = MIB(64);
    for (uint64_t id = 1; id <= 16; id++)
        note(COMMENT_EVENT_ADD, id, COMMENT_VISIBLE, false, 1);
    bed.budget.limit = memory_used(&bed.budget);
    note(COMMENT_EVENT_ADD, 17, COMMENT_VISIBLE, false, 1);
    read_after(begin);
    assert_int_equal(bed.news.count, 16);
    assert_int_equal(bed.news.changes[0].id, 2);
    assert_int_equal(bed.news.since, bed.news.changes[0].point - 8);
}

static void a_subject_is_watched_for_a_while(void **state)
{
    (void)state;
    struct comment_body body = body_of(7, COMMENT_VISIBLE, false, 1);
    read_after(HOT_NEWS_BEGIN);
    uint64_t begin = bed.news.now;
    note_at(COMMENT_EVENT_ADD, &body, COMMENT_NONE, NOW + LIMIT_NEWS_S);
    assert_int_equal(read_at(1, begin, NOW + LIMIT_NEWS_S), STATUS_OK);
    assert_int_equal(bed.news.count, 1);
    note_at(COMMENT_EVENT_ADD, &body, COMMENT_NONE, NOW + 2 * LIMIT_NEWS_S + 1);
    assert_int_equal(bed.feeds.count, 0);
    assert_int_equal(read_at(1, begin, NOW + 2 * LIMIT_NEWS_S + 1), STATUS_OK);
    assert_int_equal(bed.news.count, 0);
    assert_true(bed.news.since > begin);
}

static void so_many_subjects_are_watched(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < LIMIT_NEWS_SUBJECTS; i++)
        assert_int_equal(read_at(i, HOT_NEWS_BEGIN, NOW), STATUS_OK);
    assert_int_equal(read_at(LIMIT_NEWS_SUBJECTS, HOT_NEWS_BEGIN, NOW), STATUS_TOO_MANY_STREAMS);
    assert_int_equal(read_at(3, HOT_NEWS_BEGIN, NOW + LIMIT_NEWS_S), STATUS_OK);
    assert_int_equal(read_at(LIMIT_NEWS_SUBJECTS, HOT_NEWS_BEGIN, NOW + LIMIT_NEWS_S + 1),
                     STATUS_OK);
    assert_int_equal(bed.feeds.count, 2); /* those that nobody has read lately are gone */
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, open_bed, close_bed)
    const struct CMUnitTest tests[] = {
        TEST(nothing_is_kept_of_what_nobody_watches),
        TEST(changes_are_read_after_a_point),
        TEST(what_was_never_listed_is_not_noted),
        TEST(a_deleted_root_depends_on_its_replies),
        TEST(pins_and_settings_are_noted),
        TEST(only_the_last_changes_are_remembered),
        TEST(without_memory_less_is_remembered),
        TEST(a_subject_is_watched_for_a_while),
        TEST(so_many_subjects_are_watched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
