/* A cursor of comments is taken back as it was given, by its own list alone, and nothing else is one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chance.h"
#include "op/comment_cursor.h"
#include "words.h"

static char cursor[COMMENT_CURSOR_TEXT + 1];

/* Decodes `line`, and writes the cursor that its list has for this mark. */
static void make(const char *line, struct hot_mark mark)
{
    assert_int_equal(decode(line), STATUS_OK);
    comment_cursor_write(&request, &mark, cursor);
}

/* Decodes a line with the cursor at its end. */
static enum status decode_with(const char *line)
{
    char whole[256];
    snprintf(whole, sizeof whole, "%s %s", line, cursor);
    return decode(whole);
}

static const struct hot_mark *after(void)
{
    return &hot_detail_of(&request)->after;
}

static const struct hot_mark example = {
    .is_set = true, .key = 0x123456789abcdef0, .id = 0x7edcba9876543210, .floor = 0xfedcba98};

static void pages_go_both_ways(void **state)
{
    (void)state;
    struct hot_mark back = example;
    back.back = true;
    make("COMMENTS video:1 BY best", example);
    assert_int_equal(strlen(cursor), COMMENT_CURSOR_TEXT);
    assert_int_equal(decode_with("COMMENTS video:1 BY best CURSOR"), STATUS_OK);
    assert_true(after()->is_set && !after()->back);
    assert_true(after()->key == example.key && after()->id == example.id);
    assert_true(after()->floor == example.floor);
    /* The order is part of the cursor. */
    assert_int_equal(decode_with("COMMENTS video:1 FOR 3 LIMIT 7 CURSOR"), STATUS_OK);
    assert_int_equal(request.cards.order, ORDER_BEST);
    make("COMMENTS video:1 BY best", back);
    assert_int_equal(decode_with("COMMENTS video:1 CURSOR"), STATUS_OK);
    assert_true(after()->is_set && after()->back && after()->key == example.key);
    struct hot_mark floors = {.is_set = true, .id = 5, .floor = 9};
    make("COMMENTS comment:1", floors);
    assert_int_equal(decode_with("COMMENTS comment:1 CURSOR"), STATUS_OK);
    assert_int_equal(request.cards.order, ORDER_OLD);
    assert_int_equal(after()->floor, 9);
    cursor[0] = '\0';
    const struct text words[] = {text_from("video:1"), text_from("CURSOR"), text_from("")};
    op_scratch_clear(&scratch);
    assert_int_equal(
        op_decode(spec_of(text_from("COMMENTS")), words, 3, names, 1, &scratch, &request),
        STATUS_OK);
    assert_false(after()->is_set);
}

static void other_lists_go_on(void **state)
{
    (void)state;
    struct hot_mark mark = {.is_set = true, .key = 77, .id = 12345};
    make("QUEUE video reported", mark);
    assert_int_equal(decode_with("QUEUE video reported CURSOR"), STATUS_OK);
    assert_true(after()->is_set && after()->key == 77 && after()->id == 12345);
    mark.key = 0;
    make("WRITTEN 7", mark);
    assert_int_equal(decode_with("WRITTEN 7 LIMIT 3 CURSOR"), STATUS_OK);
    assert_true(after()->is_set && after()->id == 12345);
    make("INBOX 7", mark);
    assert_int_equal(decode_with("INBOX 7 CURSOR"), STATUS_OK);
    assert_true(after()->is_set && after()->id == 12345);
    assert_int_equal(decode_with("SEEN 7"), STATUS_OK);
    assert_true(after()->is_set && after()->id == 12345);
}

/* Each list takes its own cursors, and no list takes those of another. */
static void no_list_takes_another_one(void **state)
{
    (void)state;
    static const char *const lists[] = {
        "COMMENTS video:1 BY top",
        "COMMENTS video:2 BY top",
        "COMMENTS user:1 BY top",
        "COMMENTS video:1 BY hot",
        "COMMENTS comment:1 BY top",
        "WRITTEN 7",
        "WRITTEN 8",
        "INBOX 7",
        "INBOX 8",
        "QUEUE video pending",
        "QUEUE video hidden",
        "QUEUE user pending",
        "QUEUE unheard-of pending",
    };
    const size_t count = sizeof lists / sizeof lists[0];
    struct hot_mark mark = {.is_set = true, .id = 7};
    for (size_t i = 0; i < count; i++) {
        make(lists[i], mark);
        for (size_t j = 0; j < count; j++) {
            char line[128];
            snprintf(line, sizeof line, "%s CURSOR", lists[j]);
            assert_int_equal(decode_with(line), i == j ? STATUS_OK : STATUS_BAD_ARGUMENT);
            if (i != j)
                assert_non_null(strstr(scratch.sentence, "a CURSOR must be the cursor of"));
        }
        assert_int_equal(decode_with("SEEN 7"),
                         strcmp(lists[i], "INBOX 7") == 0 ? STATUS_OK : STATUS_BAD_ARGUMENT);
    }
}

/* Whatever is changed, cut or added, it is no cursor any more. */
static void any_change_makes_it_invalid(void **state)
{
    (void)state;
    make("COMMENTS video:1 BY controversial", example);
    char good[sizeof cursor];
    memcpy(good, cursor, sizeof good);
    for (size_t i = 0; i < COMMENT_CURSOR_TEXT; i++) {
        for (int c = 1; c < 256; c++) {
            if (c == good[i] || c == ' ')
                continue;
            cursor[i] = (char)c;
            assert_int_equal(decode_with("COMMENTS video:1 CURSOR"), STATUS_BAD_ARGUMENT);
        }
        cursor[i] = good[i];
    }
    assert_int_equal(decode_with("COMMENTS video:1 CURSOR"), STATUS_OK);
    for (size_t length = 1; length < COMMENT_CURSOR_TEXT; length++) {
        cursor[length] = '\0';
        assert_int_equal(decode_with("COMMENTS video:1 CURSOR"), STATUS_BAD_ARGUMENT);
        cursor[length] = good[length];
    }
    assert_int_equal(decode_with("COMMENTS video:1 CURSOR 0"), STATUS_BAD_ARGUMENT);
}

static void random_bytes_are_no_cursor(void **state)
{
    (void)state;
    struct chance chance = {.state = test_seed()};
    assert_int_equal(decode("COMMENTS video:1"), STATUS_OK);
    struct hot_request page = request;
    assert_int_equal(decode("INBOX 7"), STATUS_OK);
    struct hot_request inbox = request;
    for (int i = 0; i < 300000 / SANITIZED_PART; i++) {
        char *bytes = malloc(COMMENT_CURSOR_TEXT + 4); /* so that a read after its end is found */
        size_t length =
            chance_below(&chance, 3) == 0 ? chance_below(&chance, 62) : COMMENT_CURSOR_TEXT;
        bool digits = chance_below(&chance, 2) == 0;
        assert_non_null(bytes);
        bytes = realloc(bytes, length + 1);
        assert_non_null(bytes);
        for (size_t j = 0; j < length; j++)
            bytes[j] =
                digits ? "0123456789abcdef"[chance_below(&chance, 16)] : (char)chance_next(&chance);
        struct hot_mark mark = {0};
        uint8_t order;
        assert_false(comment_cursor_read_page(&page, (struct text){bytes, length}, &mark, &order));
        assert_false(comment_cursor_read(&inbox, (struct text){bytes, length}, &mark));
        assert_false(mark.is_set);
        free(bytes);
    }
}

/* A position that its list cannot have is refused, even if somebody computed the checksum. */
static void impossible_positions_are_refused(void **state)
{
    (void)state;
    struct hot_mark mark = {.is_set = true, .id = 7, .floor = 3};
    make("WRITTEN 7", mark);
    assert_int_equal(decode_with("WRITTEN 7 CURSOR"), STATUS_BAD_ARGUMENT);
    mark = (struct hot_mark){.is_set = true, .back = true, .id = 7};
    make("INBOX 7", mark);
    assert_int_equal(decode_with("INBOX 7 CURSOR"), STATUS_BAD_ARGUMENT);
    mark = (struct hot_mark){.is_set = true, .key = 1, .id = 7, .floor = 3};
    make("COMMENTS video:1 BY new", mark);
    assert_int_equal(decode_with("COMMENTS video:1 CURSOR"), STATUS_BAD_ARGUMENT);
    assert_int_equal(decode("COMMENTS video:1"), STATUS_OK);
    request.cards.order = ORDER_TOTAL;
    comment_cursor_write(&request, &mark, cursor);
    assert_int_equal(decode_with("COMMENTS video:1 CURSOR"), STATUS_BAD_ARGUMENT);
}

/* Clients keep cursors across upgrades. */
static void the_text_stays_the_same(void **state)
{
    (void)state;
    struct hot_request fixed = {.action = HOT_INBOX, .user.lo = 7};
    struct hot_mark mark = {.is_set = true, .id = 258};
    comment_cursor_write(&fixed, &mark, cursor);
    assert_string_equal(cursor + 16, "00"
                                     "0000000000000000"
                                     "00000000"
                                     "0000000000000102");
    assert_memory_equal(cursor, "8ca040fa82fb8fe2", 16);
    struct item item = {.id.lo = 1, .type = 3};
    fixed = (struct hot_request){
        .action = HOT_COMMENTS, .items = &item, .item_count = 1, .cards.order = ORDER_HOT};
    mark = (struct hot_mark){.is_set = true, .back = true, .key = 9, .floor = 2, .id = 5};
    comment_cursor_write(&fixed, &mark, cursor);
    assert_string_equal(cursor + 16, "84"
                                     "0000000000000009"
                                     "00000002"
                                     "0000000000000005");
    assert_memory_equal(cursor, "9666d8df0e7167d5", 16);
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
        cmocka_unit_test(pages_go_both_ways),
        cmocka_unit_test(other_lists_go_on),
        cmocka_unit_test(no_list_takes_another_one),
        cmocka_unit_test(any_change_makes_it_invalid),
        cmocka_unit_test(random_bytes_are_no_cursor),
        cmocka_unit_test(impossible_positions_are_refused),
        cmocka_unit_test(the_text_stays_the_same),
    };
    return cmocka_run_group_tests(tests, make_names, free_names);
}
