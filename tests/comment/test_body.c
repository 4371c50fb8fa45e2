/* Bodies of events: round trips of every kind, and no other bytes are taken for one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "comment/body.h"
#include "comment/content.h"
#include "sample.h"

enum { ROUNDS = 40 };

static enum comment_event present_kind;

static size_t again(const uint8_t *bytes, size_t length, uint8_t *out)
{
    struct comment_body body;
    if (comment_body_decode(present_kind, bytes, length, &body) != STATUS_OK)
        return 0;
    return comment_body_encode(present_kind, &body, out);
}

static bool is_of_user(enum comment_event kind)
{
    return kind == COMMENT_EVENT_BAN || kind == COMMENT_EVENT_SEEN || kind == COMMENT_EVENT_INBOX ||
           kind == COMMENT_EVENT_NOTICE;
}

static bool is_of_subject(enum comment_event kind)
{
    return kind == COMMENT_EVENT_PIN || kind == COMMENT_EVENT_SUBJECT || kind == COMMENT_EVENT_DROP;
}

static struct comment_body sample_body(struct chance *chance, enum comment_event kind,
                                       const uint8_t *content)
{
    struct comment_body body = {0};
    if (kind == COMMENT_EVENT_BAN)
        body.ban = (struct user_ban){(uint32_t)chance_next(chance), sample_bool(chance)};
    if (kind == COMMENT_EVENT_SEEN)
        body.seen = (uint32_t)chance_next(chance);
    if (kind == COMMENT_EVENT_NOTICE)
        body.notice =
            (struct inbox_notice){.number = (uint32_t)chance_next(chance),
                                  .entry = {.comment = chance_next(chance),
                                            .by = {chance_next(chance), chance_next(chance)},
                                            .time_s = (uint32_t)chance_next(chance),
                                            .mention = sample_bool(chance)}};
    if (is_of_user(kind))
        return body;
    bool import = kind == COMMENT_EVENT_IMPORT;
    bool add = kind == COMMENT_EVENT_ADD;
    body.has_subject = add || import || is_of_subject(kind) || sample_bool(chance);
    body.has_comment = !is_of_subject(kind);
    body.has_root = body.has_comment && sample_bool(chance);
    body.has_content = add || kind == COMMENT_EVENT_EDIT || (import && sample_bool(chance));
    body.has_token = add && sample_bool(chance);
    if (body.has_subject)
        body.subject = sample_subject(chance);
    if (body.has_comment)
        body.comment = sample_comment(chance);
    if (body.has_root)
        body.root = sample_comment(chance);
    if (body.has_token)
        body.token[0] = chance_next(chance), body.token[1] = chance_next(chance);
    if (body.has_content)
        body.content = content, body.content_length = chance_below(chance, 40);
    body.subject_delta = (int64_t)chance_next(chance);
    body.root_delta = (int64_t)chance_next(chance);
    if (sample_bool(chance))
        body.reason = text_from("It was spam.");
    return body;
}

static void expect_body(const struct comment_body *a, const struct comment_body *b)
{
    assert_int_equal(a->has_subject, b->has_subject);
    assert_int_equal(a->has_comment, b->has_comment);
    assert_int_equal(a->has_root, b->has_root);
    assert_int_equal(a->has_content, b->has_content);
    assert_int_equal(a->has_token, b->has_token);
    expect_subject(&a->subject, &b->subject);
    expect_comment(&a->comment, &b->comment);
    expect_comment(&a->root, &b->root);
    assert_int_equal(a->content_length, b->content_length);
    if (a->content_length > 0)
        assert_memory_equal(a->content, b->content, a->content_length);
    assert_int_equal(a->subject_delta, b->subject_delta);
    assert_int_equal(a->root_delta, b->root_delta);
    assert_memory_equal(a->token, b->token, sizeof a->token);
    assert_int_equal(a->ban.until_s, b->ban.until_s);
    assert_int_equal(a->ban.shadow, b->ban.shadow);
    assert_int_equal(a->seen, b->seen);
    assert_int_equal(a->notice.number, b->notice.number);
    assert_int_equal(a->notice.entry.comment, b->notice.entry.comment);
    assert_true(id_equal(a->notice.entry.by, b->notice.entry.by));
    assert_int_equal(a->notice.entry.time_s, b->notice.entry.time_s);
    assert_int_equal(a->notice.entry.mention, b->notice.entry.mention);
    assert_int_equal(a->reason.length, b->reason.length);
    if (a->reason.length > 0)
        assert_memory_equal(a->reason.bytes, b->reason.bytes, a->reason.length);
}

static void every_kind_is_read_as_it_was_written(void **state)
{
    (void)state;
    static uint8_t bytes[COMMENT_BODY_BYTES];
    static uint8_t out[COMMENT_BODY_BYTES];
    struct chance chance = {test_seed()};
    uint8_t content[64];
    for (size_t i = 0; i < sizeof content; i++)
        content[i] = (uint8_t)chance_next(&chance);
    for (present_kind = COMMENT_EVENT_ADD; present_kind <= COMMENT_EVENT_NOTICE; present_kind++) {
        for (unsigned round = 0; round < ROUNDS / SANITIZED_PART; round++) {
            struct comment_body body = sample_body(&chance, present_kind, content);
            struct comment_body back;
            size_t length = comment_body_encode(present_kind, &body, bytes);
            assert_int_equal(comment_body_decode(present_kind, bytes, length, &back), STATUS_OK);
            expect_body(&body, &back);
            expect_one_form(again, bytes, length, out);
        }
    }
}

static void a_body_of_another_kind_is_damaged(void **state)
{
    (void)state;
    uint8_t bytes[KIB(1)];
    struct chance chance = {test_seed()};
    struct comment_body body = {.has_comment = true, .comment = sample_comment(&chance)};
    struct comment_body back;
    size_t length = comment_body_encode(COMMENT_EVENT_STATE, &body, bytes);
    const enum comment_event others[] = {
        COMMENT_EVENT_ADD,    COMMENT_EVENT_EDIT,  COMMENT_EVENT_PIN,  COMMENT_EVENT_SUBJECT,
        COMMENT_EVENT_DROP,   COMMENT_EVENT_BAN,   COMMENT_EVENT_SEEN, COMMENT_EVENT_INBOX,
        COMMENT_EVENT_IMPORT, COMMENT_EVENT_NOTICE};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_int_equal(comment_body_decode(others[i], bytes, length, &back), STATUS_DAMAGED);
    for (unsigned kind = COMMENT_EVENT_NOTICE + 1; kind < 256; kind++)
        assert_int_equal(comment_body_decode(kind, bytes, length, &back), STATUS_DAMAGED);
    assert_int_equal(comment_body_decode(0, bytes, length, &back), STATUS_DAMAGED);
}

static void the_largest_content_fits(void **state)
{
    (void)state;
    static uint8_t content[COMMENT_CONTENT_BYTES];
    static uint8_t bytes[COMMENT_BODY_BYTES];
    static char text[LIMIT_COMMENT_TEXT];
    static char reason[LIMIT_REASON];
    struct chance chance = {test_seed()};
    memset(text, 'x', sizeof text);
    struct comment_content full = {.text = {text, sizeof text},
                                   .extra = {text, LIMIT_COMMENT_EXTRA},
                                   .time_s = UINT32_MAX,
                                   .mention_count = LIMIT_MENTIONS};
    for (unsigned i = 0; i < LIMIT_MENTIONS; i++)
        full.mentions[i] = (struct id){UINT64_MAX, UINT64_MAX};
    struct comment_body body = {.has_subject = true,
                                .has_comment = true,
                                .has_root = true,
                                .has_content = true,
                                .has_token = true,
                                .subject = sample_subject(&chance),
                                .comment = sample_comment(&chance),
                                .root = sample_comment(&chance),
                                .content = content,
                                .reason = {reason, sizeof reason}};
    struct comment_body back;
    body.content_length = (uint32_t)comment_content_encode(&full, content);
    assert_true(body.content_length > LIMIT_COMMENT_TEXT + LIMIT_COMMENT_EXTRA);
    size_t length = comment_body_encode(COMMENT_EVENT_ADD, &body, bytes);
    assert_true(length <= LIMIT_EVENT_BODY);
    assert_int_equal(comment_body_decode(COMMENT_EVENT_ADD, bytes, length, &back), STATUS_OK);
    expect_body(&body, &back);
}

/* What was forgotten must not be written, even if somebody has not removed it. */
static void a_forgotten_author_is_not_written(void **state)
{
    (void)state;
    uint8_t bytes[KIB(1)];
    struct chance chance = {test_seed()};
    struct comment_body body = {.has_comment = true, .comment = sample_comment(&chance)};
    struct comment_body back;
    body.comment.anonymous = true;
    body.comment.author = (struct id){.lo = 77};
    size_t length = comment_body_encode(COMMENT_EVENT_FORGET, &body, bytes);
    assert_int_equal(comment_body_decode(COMMENT_EVENT_FORGET, bytes, length, &back), STATUS_OK);
    assert_true(id_equal(back.comment.author, (struct id){0}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_is_read_as_it_was_written),
        cmocka_unit_test(a_body_of_another_kind_is_damaged),
        cmocka_unit_test(the_largest_content_fits),
        cmocka_unit_test(a_forgotten_author_is_not_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
