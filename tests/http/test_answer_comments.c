/*
 * Replies about comments: the JSON is exactly as described, and RESP2 and RESP3 have the same fields with the
 * same values in the same order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/decimal.h"
#include "chance.h"
#include "http/answer.h"
#include "http/answer_comments.h"
#include "op/comment_cursor.h"
#include "op/comment_reply.h"
#include "op/shape.h"
#include "resp/reply.h"

static struct memory_budget budget = {.limit = MIB(16)};
static struct names *names;
static struct hot_counter counters[] = {{3, NAME_INDEX_LIKE}, {0, 2}, {2, NAME_INDEX_COMMENT}};
static struct hot_card cards[6];
static struct hot_cards_page pages[1];
static struct hot_inbox_entry inbox[2];
static struct hot_version versions[2];
static struct item video = {.id.lo = 42, .type = 0};
static struct hot_scratch scratch;

/* Reads one RESP value. A map of RESP3 becomes an object, a list an array. */
static json_t *read_resp(const char **at)
{
    char kind = *(*at)++;
    char *end;
    long long number = strtoll(*at, &end, 10);
    *at = end + 2;
    if (kind == '_' || (kind == '$' && number < 0))
        return json_null();
    if (kind == ':')
        return json_integer(number);
    if (kind == '$') {
        json_t *text = json_stringn(*at, (size_t)number);
        *at += number + 2;
        return text;
    }
    json_t *value = kind == '%' ? json_object() : json_array();
    for (long long i = 0; i < number; i++) {
        json_t *entry = read_resp(at);
        if (kind == '%') {
            json_object_set_new(value, json_string_value(entry), read_resp(at));
            json_decref(entry);
        } else {
            json_array_append_new(value, entry);
        }
    }
    return value;
}

static json_t *reply(const struct hot_request *request, bool resp3)
{
    struct buffer out = {.budget = &budget};
    assert_true(reply_write(&out, request, &scratch, names, resp3));
    assert_true(buffer_append(&out, "", 1));
    const char *at = out.bytes;
    json_t *value = read_resp(&at);
    assert_int_equal(at - out.bytes, out.length - 1);
    buffer_free(&out);
    return value;
}

/*
 * The value of the JSON answer as RESP has it: true and false are 1 and 0, a cursor that is null is empty, an
 * extra value is a text, and in RESP2 an object is a list of names and values.
 */
static json_t *as_resp(const json_t *json, const char *name, bool resp3)
{
    if (strcmp(name, "extra") == 0 && !json_is_null(json)) {
        char *text = json_dumps(json, JSON_ENCODE_ANY | JSON_COMPACT);
        json_t *value = json_string(text);
        free(text);
        return value;
    }
    if (json_is_boolean(json))
        return json_integer(json_is_true(json));
    if (json_is_null(json) && (strcmp(name, "cursor") == 0 || strcmp(name, "back") == 0))
        return json_string("");
    if (json_is_array(json)) {
        json_t *list = json_array();
        for (size_t i = 0; i < json_array_size(json); i++)
            json_array_append_new(list, as_resp(json_array_get(json, i), "", resp3));
        return list;
    }
    if (!json_is_object(json))
        return json_deep_copy(json);
    json_t *map = resp3 ? json_object() : json_array();
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)json, key, value)
    {
        if (resp3) {
            json_object_set_new(map, key, as_resp(value, key, resp3));
            continue;
        }
        json_array_append_new(map, json_string(key));
        json_array_append_new(map, as_resp(value, key, resp3));
    }
    return map;
}

static void expect_same(const json_t *json, const struct hot_request *request, const char *whole)
{
    for (int resp3 = 0; resp3 < 2; resp3++) {
        json_t *got = reply(request, resp3);
        json_t *wanted = as_resp(whole ? json_object_get(json, whole) : json, "", resp3);
        char *got_text = json_dumps(got, JSON_ENCODE_ANY),
             *text = json_dumps(wanted, JSON_ENCODE_ANY);
        assert_string_equal(got_text, text); /* it has the members in their order */
        free(got_text);
        free(text);
        json_decref(got);
        json_decref(wanted);
    }
}

/* `whole`: the one member whose list is the whole reply of RESP. */
static void expect(struct hot_request request, const char *wanted, const char *whole)
{
    struct buffer out = {.budget = &budget};
    json_error_t error;
    request = with_op(request);
    assert_true(answer_write(&out, &request, &scratch, names, NULL, true));
    assert_true(buffer_append(&out, "", 1));
    if (wanted != NULL)
        assert_string_equal(out.bytes, wanted);
    json_t *json = json_loads(out.bytes, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
    if (json == NULL)
        fail_msg("%s: %s", error.text, out.bytes);
    expect_same(json, &request, whole);
    json_decref(json);
    buffer_free(&out);
}

static struct hot_card card_of(uint64_t id)
{
    return (struct hot_card){.exists = true,
                             .is_shown = true,
                             .comment = {.id = id,
                                         .subject = video,
                                         .author.lo = 7,
                                         .floor = 1,
                                         .time_s = 1000,
                                         .next_floor = 1},
                             .text = text_from("hello")};
}

#define CARD_1                                                                                     \
    "{\"comment\":\"comment:11\",\"user\":\"7\",\"reply_to\":null,\"floor\":1,\"time\":1000,"      \
    "\"edited\":1005,\"state\":\"visible\",\"text\":\"hello\",\"extra\":{\"a\":[1]},"              \
    "\"counts\":{\"like\":3,\"comment\":2},\"mine\":[\"like\"],\"pinned\":true,"                   \
    "\"owner_liked\":true,"
#define CARD_2                                                                                     \
    "{\"comment\":\"comment:12\",\"user\":\"00000000-0000-0001-0000-000000000002\","               \
    "\"reply_to\":{\"comment\":\"comment:11\",\"user\":\"7\"},\"floor\":1,\"time\":1000,"          \
    "\"edited\":null,\"state\":\"pending\",\"text\":\"hello\",\"extra\":null,\"counts\":{},"       \
    "\"mine\":[],\"pinned\":false,\"owner_liked\":false}"
#define CARD_3                                                                                     \
    "{\"comment\":\"comment:13\",\"user\":null,\"reply_to\":null,\"floor\":1,\"time\":1000,"       \
    "\"edited\":null,\"state\":\"deleted\",\"text\":null,\"extra\":null,\"counts\":{},"            \
    "\"mine\":[],\"pinned\":false,\"owner_liked\":false,\"replies\":[],\"more\":"

/* A root with a reply, a reply, a placeholder, and one that is not there. */
static void fill_cards(void)
{
    cards[0] = card_of(11);
    cards[0].comment.edited_s = 1005;
    cards[0].comment.open_replies = 2;
    cards[0].extra = text_from("{\"a\":[1]}");
    cards[0].counter_first = 0;
    cards[0].counter_count = 3;
    kind_set_add(&cards[0].mine, NAME_INDEX_LIKE);
    cards[0].pinned = cards[0].owner_liked = true;
    cards[0].reply_first = 1;
    cards[0].reply_count = 1;
    cards[0].more = 1;
    cards[1] = card_of(12);
    cards[1].comment.root = cards[1].comment.reply_to = 11;
    cards[1].comment.reply_to_user.lo = 7;
    cards[1].comment.author = (struct id){.hi = 1, .lo = 2};
    cards[1].comment.moderation = COMMENT_PENDING;
    cards[2] = card_of(13);
    cards[2].comment.deleted = true;
    cards[2].comment.edited_s = 1005;
    cards[2].is_shown = false;
    cards[2].text = text_from("never shown");
    cards[2].extra = text_from("\"never shown\"");
    cards[2].comment.open_replies = 4;
    cards[2].more = 4;
    cards[3] = (struct hot_card){.comment.id = 14};
}

static void posted_and_done(void **state)
{
    (void)state;
    struct hot_request request = {.action = HOT_COMMENT};
    request.comment.id = 9223372036854775807;
    request.comment.floor = 3;
    request.comment.state = COMMENT_PENDING;
    expect(request,
           "{\"comment\":\"comment:9223372036854775807\",\"floor\":3,\"state\":\"pending\"}", NULL);
    static const enum hot_action changes[] = {HOT_EDIT, HOT_UNCOMMENT,   HOT_MODERATE,
                                              HOT_PIN,  HOT_UNPIN,       HOT_PURGE,
                                              HOT_BAN,  HOT_SUBJECT_SET, HOT_SEEN};
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        request = (struct hot_request){.action = changes[i]};
        expect(request, "{\"changed\":false}", "changed");
        request.comment.value = 1;
        expect(request, "{\"changed\":true}", "changed");
    }
}

static void pages_of_comments(void **state)
{
    (void)state;
    fill_cards();
    static const struct hot_detail none;
    struct hot_request request = {.action = HOT_COMMENTS,
                                  .items = &video,
                                  .item_count = 1,
                                  .cards = {.detail = &none, .order = ORDER_TOP}};
    pages[0] = (struct hot_cards_page){.first = 0, .count = 1};
    pages[0].subject = (struct subject){
        .item = video, .has_owner = true, .owner.lo = 5, .mode = SUBJECT_HELD, .roots = 8};
    pages[0].comments = 12;
    expect(request,
           "{\"cursor\":null,\"back\":null,\"subject\":{\"owner\":\"5\",\"mode\":\"held\","
           "\"pinned\":[],\"roots\":8,\"comments\":12},\"comments\":[" CARD_1 "\"replies\":[" CARD_2
           "],\"more\":1}]}",
           NULL);
    /* Pins are cards without replies; `more` says how many there are. */
    pages[0].pinned_count = 1;
    pages[0].first = 2;
    pages[0].subject.has_owner = false;
    expect(request,
           "{\"cursor\":null,\"back\":null,\"subject\":{\"owner\":null,\"mode\":\"held\","
           "\"pinned\":[" CARD_1 "\"replies\":[],\"more\":2}],\"roots\":8,\"comments\":12},"
           "\"comments\":[" CARD_3 "4}]}",
           NULL);
    request.action = HOT_SUBJECT;
    expect(request,
           "{\"owner\":null,\"mode\":\"held\",\"pinned\":[" CARD_1
           "\"replies\":[],\"more\":2}],\"roots\":8,\"comments\":12}",
           NULL);
}

/* The cursor of a page is one that its list takes. */
static void cursors_of_pages(void **state)
{
    (void)state;
    static const struct hot_detail none;
    struct hot_request request = with_op((struct hot_request){
        .action = HOT_COMMENTS, .items = &video, .item_count = 1, .cards = {.detail = &none}});
    pages[0] = (struct hot_cards_page){
        .next = {.is_set = true, .key = 1, .id = 2, .floor = 3},
        .back = {.is_set = true, .back = true, .key = 4, .id = 5, .floor = 6}};
    expect(request, NULL, NULL);
    json_t *page = reply(&request, true);
    struct hot_mark next, back;
    uint8_t order;
    struct text text = text_from(json_string_value(json_object_get(page, "cursor")));
    assert_true(comment_cursor_read_page(&request, text, &next, &order));
    assert_true(next.is_set && !next.back && next.key == 1 && next.id == 2 && next.floor == 3);
    text = text_from(json_string_value(json_object_get(page, "back")));
    assert_true(comment_cursor_read_page(&request, text, &back, &order));
    assert_true(back.back && back.key == 4 && back.id == 5 && back.floor == 6);
    json_decref(page);
}

static void cards_and_lists_of_cards(void **state)
{
    (void)state;
    fill_cards();
    pages[0] = (struct hot_cards_page){.count = 4};
    struct hot_request request = {.action = HOT_CARDS};
    expect(request,
           "{\"cards\":[" CARD_1 "\"replies\":[],\"more\":2}," CARD_2 "," CARD_3 "4},null]}",
           "cards");
    pages[0] = (struct hot_cards_page){.first = 1, .count = 1};
    request = (struct hot_request){.action = HOT_WRITTEN};
    expect(request, "{\"cursor\":null,\"cards\":[" CARD_2 "]}", NULL);
    request = (struct hot_request){.action = HOT_QUEUE};
    expect(request, "{\"cursor\":null,\"cards\":[" CARD_2 "]}", NULL);
    pages[0].count = 0;
    pages[0].next = (struct hot_mark){.is_set = true, .id = 3};
    expect(request, NULL, NULL);
    /* A hidden root has no thread, so that there is nothing more to read. */
    cards[0].comment.moderation = COMMENT_HIDDEN;
    struct buffer out = {.budget = &budget};
    assert_true(answer_write_card(&out, &cards[0], &scratch, names));
    assert_true(buffer_append(&out, "", 1));
    assert_non_null(strstr(out.bytes, "\"state\":\"hidden\""));
    assert_non_null(strstr(out.bytes, "\"more\":0}"));
    buffer_free(&out);
}

static void inboxes_and_histories(void **state)
{
    (void)state;
    struct hot_request request = with_op((struct hot_request){.action = HOT_INBOX, .user.lo = 7});
    char wanted[512], cursor[COMMENT_CURSOR_TEXT + 1] = "";
    inbox[0] = (struct hot_inbox_entry){
        .number = 9, .entry = {.comment = 11, .by.lo = 3, .time_s = 1000, .mention = true}};
    inbox[1] = (struct hot_inbox_entry){.number = 8, .entry = {.comment = 12, .time_s = 900}};
    pages[0] = (struct hot_cards_page){.entry_first = 0, .entry_count = 1, .unread = 4};
    comment_cursor_write(&request, &(struct hot_mark){.is_set = true, .id = 9}, cursor);
    snprintf(wanted, sizeof wanted,
             "{\"cursor\":null,\"unread\":4,\"entries\":[{\"kind\":\"mention\","
             "\"comment\":\"comment:11\",\"by\":\"3\",\"time\":1000,\"cursor\":\"%s\"}]}",
             cursor);
    expect(request, wanted, NULL);
    pages[0].entry_count = 2;
    expect(request, NULL, NULL);
    versions[0] = (struct hot_version){.time_s = 1005, .text = text_from("b")};
    versions[1] = (struct hot_version){.time_s = 1000, .text = text_from("a")};
    request = (struct hot_request){.action = HOT_HISTORY};
    expect(request,
           "{\"versions\":[{\"time\":1005,\"text\":\"b\"},{\"time\":1000,\"text\":\"a\"}]}",
           "versions");
    pages[0].entry_count = 0;
    expect(request, "{\"versions\":[]}", "versions");
}

/* Whatever text was kept, a JSON parser reads the same bytes. */
static void texts_come_back(void **state)
{
    (void)state;
    static const struct {
        struct text text;
        const char *json;
    } cases[] = {
        {{"", 0}, "\"\""},
        {{"a\0b", 3}, "\"a\\u0000b\""},
        {{"\"\\/\b\f\n\r\t\x1f\x7f", 10}, "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u001f\x7f\""},
        {{"\xe4\xbd\xa0\xe5\xa5\xbd\xf0\x9f\x98\x80", 10},
         "\"\xe4\xbd\xa0\xe5\xa5\xbd\xf0\x9f\x98\x80\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buffer out = {.budget = &budget};
        assert_true(answer_write_utf8(&out, cases[i].text));
        assert_int_equal(out.length, strlen(cases[i].json));
        assert_memory_equal(out.bytes, cases[i].json, out.length);
        buffer_free(&out);
    }
    struct chance chance = {.state = test_seed()};
    for (int i = 0; i < 100000 / SANITIZED_PART; i++) {
        char text[40];
        size_t length = chance_below(&chance, sizeof text);
        for (size_t j = 0; j < length; j++)
            text[j] = (char)chance_below(&chance, 128);
        struct buffer out = {.budget = &budget};
        assert_true(answer_write_utf8(&out, (struct text){text, length}));
        json_t *read = json_loadb(out.bytes, out.length, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
        assert_non_null(read);
        assert_int_equal(json_string_length(read), length);
        assert_memory_equal(json_string_value(read), text, length);
        json_decref(read);
        buffer_free(&out);
    }
}

/* The largest page: 200 cards, and as much content as a page can have, all of it escaped. */
static void the_largest_page_can_be_written(void **state)
{
    (void)state;
    static char text[LIMIT_COMMENT_TEXT]; /* all NUL, which is the longest in JSON */
    static struct hot_card many[LIMIT_CARDS];
    struct hot_card *before = scratch.cards;
    for (size_t i = 0; i < LIMIT_CARDS; i++)
        many[i] = card_of(i + 1);
    for (size_t i = 0; i < LIMIT_PAGE_CONTENT / LIMIT_COMMENT_TEXT + 1; i++)
        many[i].text = (struct text){text, sizeof text};
    scratch.cards = many;
    pages[0] = (struct hot_cards_page){.count = LIMIT_CARDS};
    struct hot_request request = with_op((struct hot_request){.action = HOT_CARDS});
    expect(request, NULL, "cards");
    struct buffer out = {.budget = &budget};
    assert_true(answer_write(&out, &request, &scratch, names, NULL, true));
    assert_true(out.length > 6 * LIMIT_PAGE_CONTENT && out.length < MIB(2));
    buffer_free(&out);
    scratch.cards = before;
}

/* Without memory there is no answer, wherever it ends, and nothing else happens. */
static void no_memory(void **state)
{
    (void)state;
    fill_cards();
    pages[0] = (struct hot_cards_page){.count = 1, .pinned_count = 1};
    static const struct hot_detail none;
    struct hot_request request = with_op((struct hot_request){
        .action = HOT_COMMENTS, .items = &video, .item_count = 1, .cards = {.detail = &none}});
    bool written = false;
    for (size_t limit = 0; !written; limit += 64) {
        struct memory_budget small = {.limit = limit};
        struct buffer out = {.budget = &small}, second = {.budget = &small};
        written = answer_write(&out, &request, &scratch, names, NULL, true);
        buffer_free(&out);
        reply_write(&second, &request, &scratch, names, true);
        buffer_free(&second);
        assert_true(limit < MIB(1));
    }
}

static void a_repeated_text_names_the_first_one(void **state)
{
    (void)state;
    char room[COMMENT_SENTENCE];
    struct hot_request request = {.action = HOT_COMMENT, .status = STATUS_COMMENT_REPEATED};
    request.comment.id = 77;
    assert_string_equal(comment_reply_sentence(&request, status_sentence(request.status), room),
                        "this user has just posted the same text on this item: comment:77");
    request.status = STATUS_BANNED;
    assert_string_equal(comment_reply_sentence(&request, "usual", room), "usual");
    request = (struct hot_request){.action = HOT_SET, .status = STATUS_COMMENT_REPEATED};
    assert_string_equal(comment_reply_sentence(&request, "usual", room), "usual");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(posted_and_done),
        cmocka_unit_test(pages_of_comments),
        cmocka_unit_test(cursors_of_pages),
        cmocka_unit_test(cards_and_lists_of_cards),
        cmocka_unit_test(inboxes_and_histories),
        cmocka_unit_test(texts_come_back),
        cmocka_unit_test(the_largest_page_can_be_written),
        cmocka_unit_test(no_memory),
        cmocka_unit_test(a_repeated_text_names_the_first_one),
    };
    uint16_t index;
    names = names_new();
    if (names == NULL || names_intern(names, NAME_TYPE, "video", 5, &index) != STATUS_OK ||
        names_intern(names, NAME_KIND, "dislike", 7, &index) != STATUS_OK)
        return 1;
    scratch = (struct hot_scratch){
        .counters = counters, .cards = cards, .pages = pages, .inbox = inbox, .versions = versions};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    names_free(names);
    return failed;
}
