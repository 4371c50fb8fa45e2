/* Words of operations about comments become requests with details, or a sentence that says what was expected. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/name_lists.h"
#include "words.h"

static const struct hot_detail *detail(void)
{
    return hot_detail_of(&request);
}

/* The same as decode, for words that may have any bytes. */
static enum status decode_words(const char *name, const struct text *words, uint32_t count)
{
    memset(&request, 0x5a, sizeof request);
    op_scratch_clear(&scratch);
    scratch.sentence[0] = '\0';
    return op_decode(spec_of(text_from(name)), words, count, names, 1000, &scratch, &request);
}

static enum status post(struct text text)
{
    const struct text words[] = {text_from("1"), text_from("video:1"), text};
    return decode_words("COMMENT", words, 3);
}

static void a_comment_is_posted(void **state)
{
    (void)state;
    assert_int_equal(decode("COMMENT 7 video:42 hello"), STATUS_OK);
    assert_int_equal(request.action, HOT_COMMENT);
    assert_int_equal(request.user.lo, 7);
    assert_int_equal(request.items[0].id.lo, 42);
    assert_int_equal(request.item_count, 1);
    assert_ptr_equal(request.comment.detail, &scratch.details[0]);
    assert_int_equal(scratch.details_used, 1);
    assert_int_equal(detail()->text.length, 5);
    assert_memory_equal(detail()->text.bytes, "hello", 5);
    assert_int_equal(detail()->extra.length, 0);
    assert_int_equal(detail()->mention_count, 0);
    assert_false(detail()->has_token);
    assert_null(detail()->types);

    assert_int_equal(decode("COMMENT 7 video:42 hi mention 8 9 8 008 TOKEN abc EXTRA {\"a\":[1]}"),
                     STATUS_OK);
    assert_int_equal(detail()->mention_count, 2);
    assert_int_equal(detail()->mentions[0].lo, 8);
    assert_int_equal(detail()->mentions[1].lo, 9);
    assert_true(detail()->has_token);
    assert_int_equal(detail()->extra.length, 9);
    /* A keyword is a value where a value is expected. */
    assert_int_equal(decode("COMMENT 7 video:42 TOKEN TOKEN MENTION MENTION 8"), STATUS_OK);
    assert_true(detail()->has_token);
    assert_int_equal(detail()->mention_count, 1);
    assert_int_equal(decode("COMMENT 7 comment:9 hi"), STATUS_OK);
    assert_int_equal(request.items[0].type, names_find_type(names, "comment", 7));
}

/* The first comment creates both types; what is refused creates none. */
static void a_comment_creates_its_types(void **state)
{
    (void)state;
    struct names *before = names;
    names = names_new();
    scratch.type = (struct op_type){0}; /* they may be where others were */
    assert_int_equal(decode("COMMENT 7 comment:9 hi"), STATUS_NO_COMMENT);
    assert_int_equal(decode("EDIT 7 comment:9 hi"), STATUS_NO_COMMENT);
    assert_int_equal(decode("COMMENT 7 video:1 hi TOKEN"), STATUS_BAD_ARITY);
    assert_int_equal(decode("COMMENTS video:1"), STATUS_OK);
    assert_int_equal(names_type_count(names), 0);
    assert_int_equal(decode("COMMENT 7 video:1 hi TOKEN t"), STATUS_OK);
    assert_int_equal(names_type_count(names), 2);
    assert_int_equal(request.items[0].type, names_find_type(names, "video", 5));
    assert_true(detail()->has_token);
    uint64_t token = detail()->token[0];
    assert_int_equal(decode("COMMENT 7 video:1 hi TOKEN t"), STATUS_OK);
    assert_true(token == detail()->token[0]); /* it was made with the type that was created */
    assert_int_equal(decode("SUBJECTSET post:1 MODE held"), STATUS_OK);
    assert_true(names_find_type(names, "post", 4) >= 0);
    names_free(names);

    struct name_lists lists = {
        .texts = {[NAME_TYPE] = "video", [NAME_KIND] = "", [NAME_COUNTER] = ""}};
    char sentence[256];
    names = names_new();
    scratch.type = (struct op_type){0};
    assert_int_equal(names_set_lists(names, &lists, sentence, sizeof sentence), STATUS_OK);
    static const struct refusal bad[] = {
        {"COMMENT 7 video:1 hi", STATUS_NAME_NOT_LISTED,
         "the type 'comment' is not one of --types"},
        {"COMMENT 7 post:1 hi", STATUS_NAME_NOT_LISTED, "the type 'post' is not one of --types"},
        {"SUBJECTSET post:1 MODE held", STATUS_NAME_NOT_LISTED, "'post'"},
    };
    expect_refusals(bad, sizeof bad / sizeof bad[0]);
    names_free(names);
    names = before;
    scratch.type = (struct op_type){0};
}

static void texts_are_any_utf_8(void **state)
{
    (void)state;
    static char longest[LIMIT_COMMENT_TEXT + 1];
    memset(longest, 'a', sizeof longest);
    assert_int_equal(post((struct text){"a\0b", 3}), STATUS_OK);
    assert_int_equal(detail()->text.length, 3);
    assert_int_equal(post(text_from("\xe4\xbd\xa0\xe5\xa5\xbd \xf0\x9f\x98\x80\n")), STATUS_OK);
    assert_int_equal(post((struct text){longest, LIMIT_COMMENT_TEXT}), STATUS_OK);
    assert_int_equal(post((struct text){longest, LIMIT_COMMENT_TEXT + 1}), STATUS_TEXT_TOO_LONG);
    assert_string_equal(scratch.sentence, "a text must have at most 10000 bytes, got 10001");
    assert_int_equal(post(text_from("")), STATUS_BAD_ARGUMENT);
    assert_string_equal(scratch.sentence, "a text must not be empty");
    assert_int_equal(post(text_from("abc\xff")), STATUS_BAD_ARGUMENT);
    assert_string_equal(scratch.sentence, "a text must be UTF-8, but the byte at offset 3 is not");
    assert_int_equal(scratch.subject, strlen("a text"));
    assert_int_equal(post(text_from("\xc0\x80")), STATUS_BAD_ARGUMENT); /* a long form of NUL */
    assert_int_equal(post(text_from("a\xed\xa0\x80")), STATUS_BAD_ARGUMENT);
    assert_non_null(strstr(scratch.sentence, "offset 1 "));
    assert_int_equal(scratch.details_used, 0);
    assert_int_equal(scratch.used, 0);
}

static void expect_extra(struct text extra, enum status status, const char *part)
{
    const struct text words[] = {text_from("1"), text_from("video:1"), text_from("hi"),
                                 text_from("EXTRA"), extra};
    assert_int_equal(decode_words("COMMENT", words, 5), status);
    if (status == STATUS_OK)
        assert_int_equal(detail()->extra.length, extra.length);
    else
        assert_non_null(strstr(scratch.sentence, part));
}

static void extra_is_json(void **state)
{
    (void)state;
    static char longest[LIMIT_COMMENT_EXTRA + 1];
    memset(longest, '1', sizeof longest);
    expect_extra(text_from("{\"at\": 12.5}"), STATUS_OK, "");
    expect_extra((struct text){longest, LIMIT_COMMENT_EXTRA}, STATUS_OK, "");
    expect_extra((struct text){longest, sizeof longest}, STATUS_TEXT_TOO_LONG,
                 "an EXTRA must have at most 4096 bytes, got 4097");
    expect_extra(text_from("{\"at\":}"), STATUS_BAD_ARGUMENT,
                 "an EXTRA must be JSON, but the byte at offset 6 does not fit");
    expect_extra(text_from("[1"), STATUS_BAD_ARGUMENT,
                 "an EXTRA must be JSON, but it ends too early");
    expect_extra(text_from(""), STATUS_BAD_ARGUMENT, "ends too early");
}

/* A token is of its user and its item: anybody else's token of the same text is another one. */
static void tokens_are_of_user_and_item(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "COMMENT 7 video:42 hi TOKEN a", "COMMENT 8 video:42 hi TOKEN a",
        "COMMENT 7 video:43 hi TOKEN a", "COMMENT 7 user:42 hi TOKEN a",
        "COMMENT 7 video:42 hi TOKEN b", "COMMENT 42 video:7 hi TOKEN a"};
    uint64_t tokens[sizeof lines / sizeof lines[0]][2];
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        assert_int_equal(decode(lines[i]), STATUS_OK);
        memcpy(tokens[i], detail()->token, sizeof tokens[i]);
        for (size_t j = 0; j < i; j++)
            assert_true(tokens[i][0] != tokens[j][0] && tokens[i][1] != tokens[j][1]);
    }
    assert_int_equal(decode("COMMENT 7 video:42 another-text MENTION 1 TOKEN a"), STATUS_OK);
    assert_memory_equal(tokens[0], detail()->token, sizeof tokens[0]);
}

static void pages_are_asked_for(void **state)
{
    (void)state;
    assert_int_equal(decode("COMMENTS video:42"), STATUS_OK);
    assert_int_equal(request.action, HOT_COMMENTS);
    assert_int_equal(request.cards.order, ORDER_TOP);
    assert_int_equal(request.cards.limit, LIMIT_COMMENTS_USUAL);
    assert_int_equal(request.cards.replies, LIMIT_REPLIES_USUAL);
    assert_false(request.cards.all || detail()->has_reader || detail()->after.is_set);
    assert_int_equal(detail()->at, COMMENT_NONE);
    assert_int_equal(decode("COMMENTS video:42 BY Controversial for 9 REPLIES 0 LIMIT 50 all"),
                     STATUS_OK);
    assert_int_equal(request.cards.order, ORDER_CONTROVERSIAL);
    assert_int_equal(request.cards.limit, 50);
    assert_int_equal(request.cards.replies, 0);
    assert_true(request.cards.all && detail()->has_reader);
    assert_int_equal(detail()->reader.lo, 9);
    assert_int_equal(decode("COMMENTS video:42 ALL AT comment:12 CURSOR "), STATUS_BAD_ARITY);
    assert_int_equal(decode("COMMENTS video:42 ALL AT comment:12"), STATUS_OK);
    assert_int_equal(detail()->at, 12);
    assert_int_equal(decode("COMMENTS comment:42"), STATUS_OK);
    assert_int_equal(request.cards.order, ORDER_OLD);
    assert_int_equal(decode("COMMENTS comment:42 BY new"), STATUS_OK);
    assert_int_equal(request.cards.order, ORDER_NEW);
    assert_int_equal(decode("COMMENTS unheard-of:42"), STATUS_OK);
    assert_int_equal(request.items[0].type, TYPE_UNKNOWN);
    assert_int_equal(request.cards.order, ORDER_TOP);
    static const struct refusal bad[] = {
        {"COMMENTS", STATUS_BAD_ARITY, "COMMENTS item [BY"},
        {"COMMENTS video:1 BY", STATUS_BAD_ARITY, "wrong number"},
        {"COMMENTS video:1 BY best BY hot", STATUS_BAD_ARGUMENT, "each at most once, got 'BY'"},
        {"COMMENTS video:1 ALL ALL", STATUS_BAD_ARGUMENT, "or ALL, each at most once, got 'ALL'"},
        {"COMMENTS video:1 BY worst", STATUS_BAD_ARGUMENT, "a BY must be top, new, old, best"},
        {"COMMENTS video:1 FOR x", STATUS_BAD_ARGUMENT, "a user must be"},
        {"COMMENTS video:1 REPLIES 11", STATUS_BAD_ARGUMENT, "from 0 to 10, got '11'"},
        {"COMMENTS video:1 REPLIES -1", STATUS_BAD_ARGUMENT, "from 0 to 10"},
        {"COMMENTS video:1 LIMIT 0", STATUS_BAD_ARGUMENT, "a number from 1 to 50, got '0'"},
        {"COMMENTS video:1 LIMIT 51", STATUS_BAD_ARGUMENT, "from 1 to 50"},
        {"COMMENTS video:1 OFFSET 3", STATUS_BAD_ARGUMENT, "expected BY, FOR, REPLIES"},
        {"COMMENTS video:1 CURSOR x", STATUS_BAD_ARGUMENT, "a CURSOR must be"},
        {"COMMENTS video:1 CURSOR x AT comment:1", STATUS_BAD_ARGUMENT, "AT and CURSOR"},
        {"COMMENTS video:1 AT video:2", STATUS_BAD_ARGUMENT, "an AT must be a comment"},
        {"COMMENTS video:1 AT comment:", STATUS_BAD_ARGUMENT, "an AT must be a comment"},
        {"COMMENTS video:1 AT comment:0", STATUS_NO_COMMENT, "no such comment"},
        {"COMMENTS comment:0", STATUS_NO_COMMENT, "no such comment"},
        {"COMMENTS comment:0190163d-8694-739b-aea5-966c26f8ad91", STATUS_NO_COMMENT, "no such"},
    };
    expect_refusals(bad, sizeof bad / sizeof bad[0]);
}

static void changes_are_asked_for(void **state)
{
    (void)state;
    assert_int_equal(decode("EDIT 7 comment:9 better"), STATUS_OK);
    assert_int_equal(request.action, HOT_EDIT);
    assert_int_equal(request.items[0].id.lo, 9);
    assert_int_equal(detail()->text.length, 6);
    assert_int_equal(decode("UNCOMMENT 7 comment:9"), STATUS_OK);
    assert_int_equal(request.action, HOT_UNCOMMENT);
    assert_int_equal(decode("MODERATE comment:9 Hidden REASON spam"), STATUS_OK);
    assert_int_equal(request.action, HOT_MODERATE);
    assert_int_equal(request.comment.state, COMMENT_HIDDEN);
    assert_int_equal(detail()->reason.length, 4);
    assert_int_equal(decode("PIN comment:9"), STATUS_OK);
    assert_int_equal(request.action, HOT_PIN);
    assert_int_equal(decode("UNPIN comment:9"), STATUS_OK);
    assert_int_equal(request.action, HOT_UNPIN);
    assert_int_equal(decode("PURGE comment:9"), STATUS_OK);
    assert_int_equal(request.action, HOT_PURGE);
    assert_int_equal(decode("SUBJECTSET video:1 MODE readonly"), STATUS_OK);
    assert_true(request.comment.set_mode && !request.comment.set_owner);
    assert_int_equal(request.comment.mode, SUBJECT_READONLY);
    assert_int_equal(decode("SUBJECTSET video:1 OWNER 0 MODE open"), STATUS_OK);
    assert_true(request.comment.set_mode && request.comment.set_owner);
    assert_int_equal(request.user.lo, 0);
    assert_int_equal(decode("BAN 7"), STATUS_OK);
    assert_int_equal(request.action, HOT_BAN);
    assert_int_equal(request.comment.until_s, UINT32_MAX);
    assert_false(request.comment.shadow);
    assert_int_equal(decode("BAN 7 SHADOW UNTIL 4000000000"), STATUS_OK);
    assert_true(request.comment.until_s == 4000000000U && request.comment.shadow);
    assert_int_equal(decode("UNBAN 7"), STATUS_OK);
    assert_int_equal(request.action, HOT_BAN);
    assert_int_equal(request.comment.until_s, 0);
}

static void lists_and_cards_are_asked_for(void **state)
{
    (void)state;
    assert_int_equal(decode("CARDS comment:1 comment:2 FOR 7"), STATUS_OK);
    assert_int_equal(request.action, HOT_CARDS);
    assert_int_equal(request.item_count, 2);
    assert_true(detail()->has_reader && detail()->reader.lo == 7);
    /* An item that only looks like a comment has no card, and is not an error among others. */
    assert_int_equal(decode("CARDS comment:0190163d-8694-739b-aea5-966c26f8ad91"), STATUS_OK);
    assert_false(detail()->has_reader);
    assert_int_equal(decode("WRITTEN 7 LIMIT 50"), STATUS_OK);
    assert_int_equal(request.action, HOT_WRITTEN);
    assert_int_equal(request.cards.limit, 50);
    assert_int_equal(decode("INBOX 7"), STATUS_OK);
    assert_int_equal(request.cards.limit, LIMIT_COMMENTS_USUAL);
    assert_false(detail()->after.is_set);
    assert_int_equal(decode("QUEUE video reported LIMIT 3"), STATUS_OK);
    assert_int_equal(request.cards.queue, QUEUE_REPORTED);
    assert_int_equal(request.cards.type, names_find_type(names, "video", 5));
    assert_int_equal(request.cards.limit, 3);
    assert_int_equal(decode("QUEUE unheard-of pending"), STATUS_OK);
    assert_int_equal(request.cards.type, TYPE_UNKNOWN);
    assert_int_equal(decode("HISTORY comment:1"), STATUS_OK);
    assert_false(request.cards.all);
    assert_int_equal(decode("HISTORY comment:1 ALL"), STATUS_OK);
    assert_true(request.cards.all);
    assert_int_equal(decode("SUBJECT video:1"), STATUS_OK);
    assert_int_equal(request.action, HOT_SUBJECT);
}

static void other_words_are_refused(void **state)
{
    (void)state;
    static const struct refusal bad[] = {
        {"COMMENT 1 video:1", STATUS_BAD_ARITY, "COMMENT user item text [TOKEN token] [MENTION"},
        {"COMMENT x video:1 hi", STATUS_BAD_ARGUMENT, "a user must be"},
        {"COMMENT 1 video hi", STATUS_BAD_ARGUMENT, "an item must be type:id"},
        {"COMMENT 1 video:1 hi TOKEN", STATUS_BAD_ARITY, "wrong number"},
        {"COMMENT 1 video:1 hi MENTION", STATUS_BAD_ARITY, "wrong number"},
        {"COMMENT 1 video:1 hi MENTION x", STATUS_BAD_ARGUMENT, "a user must be"},
        {"COMMENT 1 video:1 hi MENTION TOKEN t", STATUS_BAD_ARGUMENT, "a user must be"},
        {"COMMENT 1 video:1 hi TOKEN t TOKEN t", STATUS_BAD_ARGUMENT,
         "expected TOKEN, MENTION or EXTRA, each at most once, got 'TOKEN'"},
        {"COMMENT 1 video:1 hi there", STATUS_BAD_ARGUMENT, "expected TOKEN, MENTION or EXTRA"},
        {"COMMENT 1 video:1 hi MENTION 1 2 3 4 5 6 7 8 9 10 11", STATUS_TOO_MANY_ITEMS,
         "a comment must mention at most 10 users"},
        {"EDIT 1 video:1 hi", STATUS_BAD_ARGUMENT, "a comment must be comment:ID, as in comment:7"},
        {"EDIT 1 comment:x hi", STATUS_BAD_ARGUMENT, "an item must be type:id, the id"},
        {"EDIT 1 comment:0 hi", STATUS_NO_COMMENT, "there is no such comment"},
        {"PIN comment:0190163d-8694-739b-aea5-966c26f8ad91", STATUS_NO_COMMENT, "no such comment"},
        {"PIN comments:1", STATUS_BAD_ARGUMENT, "a comment must be comment:ID"},
        {"CARDS video:1", STATUS_BAD_ARGUMENT, "a comment must be comment:ID"},
        {"CARDS comment:1 FOR", STATUS_BAD_ARITY, "CARDS comment [comment ...] [FOR user]"},
        {"CARDS FOR 7", STATUS_BAD_ARITY, "CARDS comment"},
        {"CARDS comment:1 FOR x", STATUS_BAD_ARGUMENT, "a user must be"},
        {"MODERATE comment:1 gone", STATUS_BAD_ARGUMENT,
         "a state must be visible, pending, hidden or shadow, got 'gone'"},
        {"MODERATE comment:1", STATUS_BAD_ARITY, "MODERATE comment state"},
        {"MODERATE comment:1 hidden WHY x", STATUS_BAD_ARGUMENT, "expected REASON"},
        {"QUEUE video visible", STATUS_BAD_ARGUMENT, "pending, hidden or reported, got 'visible'"},
        {"QUEUE video pending LIMIT 51", STATUS_BAD_ARGUMENT, "from 1 to 50"},
        {"WRITTEN 7 LIMIT", STATUS_BAD_ARITY, "wrong number"},
        {"WRITTEN 7 CURSOR x", STATUS_BAD_ARGUMENT, "a CURSOR must be"},
        {"SEEN 7 x", STATUS_BAD_ARGUMENT, "a cursor must be that of an entry"},
        {"HISTORY comment:1 NONE", STATUS_BAD_ARGUMENT, "expected ALL"},
        {"SUBJECT comment:1", STATUS_BAD_ARGUMENT, "an item must not be a comment"},
        {"SUBJECTSET comment:1 MODE open", STATUS_BAD_ARGUMENT, "an item must not be a comment"},
        {"SUBJECTSET video:1", STATUS_BAD_ARITY, "SUBJECTSET item [OWNER user] [MODE"},
        {"SUBJECTSET video:1 MODE shut", STATUS_BAD_ARGUMENT, "a MODE must be open, held"},
        {"SUBJECTSET video:1 OWNER x", STATUS_BAD_ARGUMENT, "a user must be"},
        {"BAN 7 UNTIL 0", STATUS_BAD_ARGUMENT, "an UNTIL must be a time in seconds since 1970"},
        {"BAN 7 UNTIL 4294967295", STATUS_BAD_ARGUMENT, "before 2106"},
        {"BAN 7 UNTIL tomorrow", STATUS_BAD_ARGUMENT, "an UNTIL must be a time"},
        {"BAN 7 UNTIL", STATUS_BAD_ARITY, "BAN user [UNTIL time] [SHADOW]"},
        {"UNBAN 7 SHADOW", STATUS_BAD_ARITY, "UNBAN user"},
        {"ADD video:1 comment 1", STATUS_NOT_A_COUNTER,
         "this one is kept by the server, got 'comment'"},
    };
    expect_refusals(bad, sizeof bad / sizeof bad[0]);
    assert_int_equal(scratch.details_used, 0);
}

/* A batch has a detail for each of its requests, and no more. */
static void details_are_bounded(void **state)
{
    (void)state;
    const struct text words[] = {text_from("7")};
    const struct op_spec *spec = spec_of(text_from("INBOX"));
    op_scratch_clear(&scratch);
    for (uint32_t i = 0; i < LIMIT_BATCH; i++) {
        assert_int_equal(op_decode(spec, words, 1, names, 1000, &scratch, &request), STATUS_OK);
        assert_ptr_equal(detail(), &scratch.details[i]);
    }
    assert_int_equal(op_decode(spec, words, 1, names, 1000, &scratch, &request), STATUS_MORE);
    op_scratch_clear(&scratch);
    assert_int_equal(op_decode(spec, words, 1, names, 1000, &scratch, &request), STATUS_OK);
}

/* Whoever is limited to some types of items is limited to subjects of these types. */
static void requests_are_limited_to_types(void **state)
{
    (void)state;
    uint16_t video = (uint16_t)names_find_type(names, "video", 5);
    uint16_t user = (uint16_t)names_find_type(names, "user", 4);
    assert_int_equal(decode("EDIT 7 comment:9 hi"), STATUS_OK);
    assert_true(hot_detail_allows(detail(), video) && hot_detail_allows(detail(), user));
    op_limit_types(&scratch, &request, names, "post,video");
    assert_true(hot_detail_allows(detail(), video));
    assert_false(hot_detail_allows(detail(), user));
    assert_int_equal(decode("CARDS comment:9"), STATUS_OK);
    assert_true(hot_detail_allows(detail(), user));
    op_limit_types(&scratch, &request, names, "user");
    assert_true(hot_detail_allows(detail(), user));
    assert_false(hot_detail_allows(detail(), video));
    assert_true(hot_detail_allows(NULL, video));
    assert_int_equal(decode("LIKE 7 video:9"), STATUS_OK);
    op_limit_types(&scratch, &request, names, "user"); /* not about comments: nothing happens */
}

static int make_names(void **state)
{
    (void)state;
    names = names_new();
    return names == NULL || decode("LIKE 1 video:1") != STATUS_OK ||
           decode("LIKE 1 user:1") != STATUS_OK || decode("LIKE 1 comment:1") != STATUS_OK;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_comment_is_posted),
        cmocka_unit_test(a_comment_creates_its_types),
        cmocka_unit_test(texts_are_any_utf_8),
        cmocka_unit_test(extra_is_json),
        cmocka_unit_test(tokens_are_of_user_and_item),
        cmocka_unit_test(pages_are_asked_for),
        cmocka_unit_test(changes_are_asked_for),
        cmocka_unit_test(lists_and_cards_are_asked_for),
        cmocka_unit_test(other_words_are_refused),
        cmocka_unit_test(details_are_bounded),
        cmocka_unit_test(requests_are_limited_to_types),
    };
    return cmocka_run_group_tests(tests, make_names, free_names);
}
