/* A submission owns all that its requests point to, so that the connection may be gone before it is run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hot/comments.h"
#include "hot/submission.h"

static struct memory_budget budget = {.limit = MIB(8)};

/* Bytes in memory of their own, which the test frees before it looks at the copy. */
static struct text made(const char *text)
{
    size_t length = strlen(text);
    char *bytes = malloc(length);
    assert_non_null(bytes);
    memcpy(bytes, text, length);
    return (struct text){bytes, length};
}

static void expect_text(struct text text, const char *wanted)
{
    assert_int_equal(text.length, strlen(wanted));
    assert_memory_equal(text.bytes, wanted, text.length);
}

static void details_are_copied(void **state)
{
    (void)state;
    struct item *items = calloc(3, sizeof *items);
    struct hot_detail *details = calloc(3, sizeof *details);
    assert_true(items != NULL && details != NULL);
    for (unsigned i = 0; i < 3; i++)
        items[i].id.lo = 10 + i;
    struct text texts[] = {made("the text"), made("{\"a\":1}"), made("why"), made("x")};
    details[0] = (struct hot_detail){.text = texts[0],
                                     .extra = texts[1],
                                     .mentions = {{.lo = 5}, {.lo = 6}},
                                     .mention_count = 2,
                                     .has_token = true,
                                     .token = {1, 2}};
    details[1] = (struct hot_detail){.reason = texts[2]};
    details[2] = (struct hot_detail){.text = texts[3], .has_reader = true, .reader.lo = 9, .at = 4};
    struct hot_request requests[] = {
        {.action = HOT_COMMENT, .items = items, .item_count = 1, .comment.detail = &details[0]},
        {.action = HOT_SET, .items = items + 1, .item_count = 1, .change.delta = -1},
        {.action = HOT_MODERATE, .items = items, .item_count = 1, .comment.detail = &details[1]},
        {.action = HOT_COMMENTS, .items = items + 2, .item_count = 1, .cards.detail = &details[2]},
        {.action = HOT_PIN, .items = items, .item_count = 1},
    };
    struct hot_submission *submission =
        submission_new(sizeof(struct hot_submission), requests, 5, &budget);
    assert_non_null(submission);
    assert_true(memory_used(&budget) >= 3 * sizeof(struct hot_detail));
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        free((char *)texts[i].bytes);
    free(items);
    free(details);

    const struct hot_request *own = submission->requests;
    assert_true(submission->writes);
    expect_text(own[0].comment.detail->text, "the text");
    expect_text(own[0].comment.detail->extra, "{\"a\":1}");
    assert_int_equal(own[0].comment.detail->mentions[1].lo, 6);
    assert_int_equal(own[0].comment.detail->token[1], 2);
    assert_int_equal(own[0].items[0].id.lo, 10);
    assert_int_equal(own[1].change.delta, -1); /* no detail is where this one has none */
    assert_int_equal(own[1].items[0].id.lo, 11);
    expect_text(own[2].comment.detail->reason, "why");
    expect_text(own[3].cards.detail->text, "x");
    assert_int_equal(own[3].cards.detail->reader.lo, 9);
    assert_int_equal(own[3].cards.detail->at, 4);
    assert_int_equal(own[3].items[0].id.lo, 12);
    assert_null(own[4].comment.detail);
    submission_free(submission);
    assert_int_equal(memory_used(&budget), 0);
}

/* The largest texts on all requests of a batch fit, and are charged. */
static void the_largest_details_are_copied(void **state)
{
    (void)state;
    static char bytes[LIMIT_COMMENT_TEXT];
    memset(bytes, 'a', sizeof bytes);
    struct item item = {.id.lo = 1};
    struct hot_detail detail = {.text = {bytes, LIMIT_COMMENT_TEXT},
                                .extra = {bytes, LIMIT_COMMENT_EXTRA}};
    struct hot_request requests[LIMIT_BATCH];
    for (size_t i = 0; i < LIMIT_BATCH; i++)
        requests[i] = (struct hot_request){
            .action = HOT_COMMENT, .items = &item, .item_count = 1, .comment.detail = &detail};
    struct hot_submission *submission =
        submission_new(sizeof(struct hot_submission), requests, LIMIT_BATCH, &budget);
    assert_non_null(submission);
    assert_true(memory_used(&budget) > LIMIT_BATCH * (LIMIT_COMMENT_TEXT + LIMIT_COMMENT_EXTRA));
    for (size_t i = 0; i < LIMIT_BATCH; i++) {
        const struct hot_detail *own = submission->requests[i].comment.detail;
        assert_memory_equal(own->text.bytes, bytes, LIMIT_COMMENT_TEXT);
        assert_memory_equal(own->extra.bytes, bytes, LIMIT_COMMENT_EXTRA);
    }
    submission_free(submission);
    struct memory_budget small = {.limit = LIMIT_BATCH * LIMIT_COMMENT_TEXT};
    assert_null(submission_new(sizeof(struct hot_submission), requests, LIMIT_BATCH, &small));
    assert_int_equal(memory_used(&small), 0);
}

/* What a request slows down writes by: a long text as much as many likes. */
static void long_texts_count_as_many_writes(void **state)
{
    (void)state;
    static char bytes[LIMIT_COMMENT_TEXT];
    struct hot_detail detail = {.text = {bytes, sizeof bytes}};
    struct hot_request request = {.action = HOT_SET};
    assert_int_equal(hot_writes_of_request(&request), 1);
    request.action = HOT_ASK;
    assert_int_equal(hot_writes_of_request(&request), 0);
    request = (struct hot_request){.action = HOT_COMMENT, .comment.detail = &detail};
    assert_int_equal(hot_writes_of_request(&request), 1 + hot_writes_of(sizeof bytes));
    detail.text.length = 0;
    assert_int_equal(hot_writes_of_request(&request), 1);
    request = (struct hot_request){.action = HOT_COMMENTS, .cards.detail = &detail};
    assert_int_equal(hot_writes_of_request(&request), 0);
    request = (struct hot_request){.action = HOT_PIN};
    assert_int_equal(hot_writes_of_request(&request), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(details_are_copied),
        cmocka_unit_test(the_largest_details_are_copied),
        cmocka_unit_test(long_texts_count_as_many_writes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
