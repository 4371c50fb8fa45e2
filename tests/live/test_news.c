/*
 * Changes of comments on their way to streams: whatever a client has already, it gets each comment that
 * changed since, once, in order; or it is asked to begin again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/limits.h"
#include "live/event.h"
#include "live/news.h"

#define MASK     0xfedcba9876543210ULL
#define CARD(id) "{\"root\":null,\"card\":[" id ", 0]}"

static struct memory_budget budget;
static struct news news;
static struct hot_scratch scratch;
static struct hot_cards_page page;
static struct hot_card cards[LIMIT_NEWS_CARDS];
static struct buffer out;

static int open_bed(void **state)
{
    (void)state;
    memset(&budget, 0, sizeof budget);
    budget.limit = MIB(16);
    news_init(&news, &budget, MASK);
    scratch = (struct hot_scratch){.pages = &page, .cards = cards};
    out = (struct buffer){.budget = &budget};
    return 0;
}

static int close_bed(void **state)
{
    (void)state;
    news_free(&news);
    buffer_free(&out);
    assert_int_equal(memory_used(&budget), 0);
    return 0;
}

/* The card of a comment is its id and, on another line, its time of posting. */
static bool write_card(struct buffer *to, const struct hot_card *card,
                       const struct hot_scratch *from, const struct names *names)
{
    char text[64];
    assert_ptr_equal(from, &scratch);
    assert_null(names);
    int length = snprintf(text, sizeof text, "[%llu,\n%u]", (unsigned long long)card->comment.id,
                          card->comment.time_s);
    return buffer_append(to, text, (size_t)length);
}

/* The answer of the next read. */
static void answer_points(uint64_t since, uint64_t until, uint64_t now)
{
    page = (struct hot_cards_page){.news = {.since = since, .until = until, .now = now}};
}

static void answer_card(uint64_t id, uint64_t changed, uint64_t appeared, bool exists)
{
    cards[page.count++] = (struct hot_card){
        .comment.id = id, .exists = exists, .changed = changed, .appeared = appeared};
}

/* Returns after which point it was read. */
static uint64_t read_with(enum status status, uint64_t seen, bool fresh)
{
    struct buffer found = {.budget = &budget};
    bool is_fresh;
    struct hot_request request = {
        .action = HOT_COMMENT_NEWS, .status = status, .cards.after = news_choose(&news)};
    assert_true(news_collect(&found, &request, &scratch, NULL, write_card));
    assert_int_equal(news_take(&news, found.bytes, found.length, seen, &is_fresh), found.length);
    assert_int_equal(is_fresh, fresh);
    buffer_free(&found);
    return request.cards.after;
}

static uint64_t read_news(bool fresh)
{
    return read_with(STATUS_OK, 5, fresh);
}

static void expect_written(enum news_need need, uint64_t *sent, const char *expected)
{
    assert_int_equal(news_need(&news, need != NEWS_BEGIN, *sent, 1), need);
    out.length = 0;
    assert_true(news_write(&out, &news, need, sent, false));
    assert_true(buffer_append(&out, "", 1));
    assert_string_equal(out.bytes, expected);
}

static const char *event(char *to, size_t size, uint64_t point, const char *name, const char *data)
{
    snprintf(to, size, "id: %016llx\nevent: %s\ndata: %s\n\n", (unsigned long long)(point ^ MASK),
             name, data);
    return to;
}

static void a_stream_begins_and_continues(void **state)
{
    (void)state;
    char one[160], two[160], all[320];
    uint64_t sent = 0;
    assert_int_equal(news_need(&news, false, 0, 1), NEWS_NOTHING);
    answer_points(10, 20, 20);
    assert_int_equal(read_news(true), HOT_NEWS_BEGIN);
    expect_written(NEWS_BEGIN, &sent, event(one, sizeof one, 20, "begin", "{}"));
    assert_int_equal(sent, 20);
    assert_int_equal(news_need(&news, true, sent, 1), NEWS_NOTHING);
    answer_points(10, 25, 25);
    assert_int_equal(read_news(false), 20);
    assert_int_equal(news_need(&news, true, sent, 1), NEWS_SKIP);
    answer_points(10, 40, 40);
    answer_card(7, 30, 30, true);
    answer_card(8, 38, 0, false);
    assert_int_equal(read_news(true), 25);
    sent = 25;
    snprintf(all, sizeof all, "%s%s", event(one, sizeof one, 30, "new", CARD("7")),
             event(two, sizeof two, 38, "removed", "{\"comment\":\"comment:8\"}"));
    expect_written(NEWS_EVENTS, &sent, all);
    assert_int_equal(sent, 40);
}

/* One that came in between two changes gets only the second, and what is new depends on the client. */
static void each_gets_what_it_lacks(void **state)
{
    (void)state;
    char one[160], two[160], all[320];
    answer_points(10, 20, 20);
    read_news(true);
    answer_points(10, 60, 60);
    answer_card(7, 30, 30, true);
    answer_card(8, 50, 40, true);
    read_news(true);
    uint64_t sent = 20;
    snprintf(all, sizeof all, "%s%s", event(one, sizeof one, 30, "new", CARD("7")),
             event(two, sizeof two, 50, "new", CARD("8")));
    expect_written(NEWS_EVENTS, &sent, all);
    sent = 40;
    expect_written(NEWS_EVENTS, &sent, event(one, sizeof one, 50, "changed", CARD("8")));
    assert_int_equal(news_need(&news, true, 50, 1), NEWS_SKIP);
    assert_int_equal(news_need(&news, true, 60, 1), NEWS_NOTHING);
    assert_int_equal(news_need(&news, true, 15, 1), NEWS_READ); /* it is not in this read */
}

static void a_reply_has_its_root(void **state)
{
    (void)state;
    char one[128];
    uint64_t sent = 20;
    answer_points(10, 20, 20);
    read_news(true);
    answer_points(10, 30, 30);
    answer_card(8, 30, 30, true);
    cards[0].comment.root = 7;
    read_news(true);
    expect_written(NEWS_EVENTS, &sent,
                   event(one, sizeof one, 30, "new", "{\"root\":\"comment:7\",\"card\":[8, 0]}"));
}

static void an_unknown_point_is_reset(void **state)
{
    (void)state;
    char one[128];
    answer_points(10, 20, 20);
    read_news(true);
    uint64_t sent = 9;
    expect_written(NEWS_RESET, &sent, event(one, sizeof one, 20, "reset", "{}"));
    assert_int_equal(sent, 20);
    sent = 1000; /* perhaps another thread has read so far: only a later read can say */
    assert_int_equal(news_need(&news, true, sent, 6), NEWS_READ);
    news_want(&news, sent);
    answer_points(10, 20, 20);
    assert_int_equal(read_with(STATUS_OK, 6, true), 1000);
    assert_int_equal(news_need(&news, true, sent, 6), NEWS_RESET);
    news_want(&news, 25); /* and this one is right */
    answer_points(10, 30, 30);
    assert_int_equal(read_with(STATUS_OK, 7, false), 20);
    answer_points(10, 30, 30);
    assert_int_equal(read_with(STATUS_OK, 7, true), 25);
    assert_int_equal(news_need(&news, true, 25, 7), NEWS_SKIP);
}

/* Reads for one that is late take turns with those for all, and never lower what all have. */
static void late_streams_take_turns(void **state)
{
    (void)state;
    answer_points(10, 100, 100);
    read_news(true);
    news_want(&news, 40);
    news_want(&news, 30);
    answer_points(10, 60, 100);
    answer_card(7, 50, 50, true);
    assert_int_equal(read_news(true), 30);
    assert_int_equal(news.newest, 100);
    assert_int_equal(news_need(&news, true, 30, 1), NEWS_EVENTS);
    assert_int_equal(news_need(&news, true, 40, 1), NEWS_EVENTS);
    assert_int_equal(news_need(&news, true, 60, 1), NEWS_READ);
    assert_int_equal(news_need(&news, true, 100, 1), NEWS_NOTHING);
    news_want(&news, 60);
    answer_points(10, 110, 110);
    assert_int_equal(read_news(false), 100);
    answer_points(10, 110, 110);
    assert_int_equal(read_news(true), 60);
}

static void the_first_read_may_be_of_one_that_comes_back(void **state)
{
    (void)state;
    news_want(&news, 40);
    answer_points(10, 60, 60);
    answer_card(7, 50, 0, true);
    assert_int_equal(read_news(true), 40);
    assert_int_equal(news_need(&news, true, 40, 1), NEWS_EVENTS);
}

/* A read that begins has no changes, so it is none for a stream that came back meanwhile. */
static void a_beginning_has_no_changes(void **state)
{
    (void)state;
    answer_points(10, 60, 60);
    assert_int_equal(read_news(true), HOT_NEWS_BEGIN);
    assert_int_equal(news_need(&news, true, 40, 1), NEWS_READ);
}

static void a_failed_read_is_repeated(void **state)
{
    (void)state;
    answer_points(10, 20, 20);
    read_news(true);
    news_want(&news, 15);
    assert_int_equal(read_with(STATUS_TOO_BUSY, 5, false), 15);
    answer_points(10, 30, 30);
    answer_card(7, 25, 25, true);
    assert_int_equal(read_news(true), 15);
    news_want(&news, 12);
    news_choose(&news);
    news_choose(&news);
    news_fail(&news);
    assert_int_equal(news.missing, 12);
}

static void all_begin_again_after_a_drop(void **state)
{
    (void)state;
    answer_points(10, 20, 20);
    read_news(true);
    answer_points(30, 30, 30);
    assert_int_equal(read_news(true), 20);
    assert_int_equal(news_need(&news, true, 20, 1), NEWS_RESET);
    assert_int_equal(news_need(&news, true, 30, 1), NEWS_NOTHING);
}

static void a_closed_subject_ends_its_streams(void **state)
{
    (void)state;
    answer_points(10, 20, 20);
    read_news(true);
    read_with(STATUS_SUBJECT_CLOSED, 5, true);
    assert_int_equal(news_need(&news, true, 20, 1), NEWS_END);
    assert_int_equal(news_need(&news, false, 0, 1), NEWS_END);
    read_with(STATUS_SUBJECT_CLOSED, 5, false);
    answer_points(10, 20, 20);
    read_news(false);
    assert_int_equal(news_need(&news, true, 20, 1), NEWS_NOTHING);
}

static void without_memory_nothing_is_written(void **state)
{
    (void)state;
    uint64_t sent = 20;
    answer_points(10, 20, 20);
    read_news(true);
    answer_points(10, 40, 40);
    answer_card(7, 30, 30, true);
    read_news(true);
    budget.limit = memory_used(&budget);
    assert_false(news_write(&out, &news, NEWS_EVENTS, &sent, true));
    assert_int_equal(out.length, 0);
    assert_int_equal(sent, 20);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, open_bed, close_bed)
    const struct CMUnitTest tests[] = {
        TEST(a_stream_begins_and_continues),
        TEST(each_gets_what_it_lacks),
        TEST(a_reply_has_its_root),
        TEST(an_unknown_point_is_reset),
        TEST(late_streams_take_turns),
        TEST(the_first_read_may_be_of_one_that_comes_back),
        TEST(a_beginning_has_no_changes),
        TEST(a_failed_read_is_repeated),
        TEST(all_begin_again_after_a_drop),
        TEST(a_closed_subject_ends_its_streams),
        TEST(without_memory_nothing_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
