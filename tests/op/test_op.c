/* Words become requests, or a sentence that says what was expected. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/name_lists.h"
#include "op/op.h"
#include "trend/trends.h"
#include "words.h"

static void decodes_reactions(void **state)
{
    (void)state;
    assert_int_equal(decode("LIKE 1 video:42"), STATUS_OK);
    assert_int_equal(request.action, HOT_SET);
    assert_int_equal(request.name, NAME_INDEX_LIKE);
    assert_int_equal(request.user.lo, 1);
    assert_int_equal(request.item_count, 1);
    assert_int_equal(request.items[0].id.lo, 42);
    assert_int_equal(request.time_s, 1000);
    uint16_t video = request.items[0].type;
    assert_int_equal(names_find_type(names, "video", 5), video);

    assert_int_equal(decode("UNREACT 0190163d-8694-739b-aea5-966c26f8ad91 like video:7"),
                     STATUS_OK);
    assert_int_equal(request.action, HOT_CLEAR);
    assert_true(id_is_wide(request.user));
    assert_int_equal(decode("REACT 18446744073709551615 dislike video:7"), STATUS_OK);
    assert_int_equal(request.user.lo, UINT64_MAX);
    assert_int_equal(request.name, names_find(names, "dislike", 7));

    assert_int_equal(decode("FEED 1 video:1 article:2 video:3"), STATUS_OK);
    assert_int_equal(request.item_count, 3);
    assert_int_equal(request.items[1].type, TYPE_UNKNOWN);
    assert_int_equal(names_find_type(names, "article", 7), -1);
    assert_int_equal(decode("REACTED 1 love video:1"), STATUS_OK);
    assert_int_equal(request.name, NAME_UNKNOWN);
}

/*
 * The decoder compares the type of an item with the one before, whose first 8 bytes it has as a number.
 * Types that begin alike, shorter and longer than that, must not be confused.
 */
static void types_that_begin_alike(void **state)
{
    (void)state;
    static const char *const types[] = {"a",        "ab",       "abcdef",    "abcdefg",
                                        "abcdefgh", "abcdefgz", "abcdefghi", "abcdefghijklmnopqz"};
    enum { TYPES = sizeof types / sizeof types[0] };
    char line[256];
    for (int i = 0; i < TYPES; i++) {
        snprintf(line, sizeof line, "LIKE 1 %s:7", types[i]);
        assert_int_equal(decode(line), STATUS_OK);
    }
    for (int i = 0; i < TYPES * TYPES; i++) {
        const char *one = types[i / TYPES], *other = types[i % TYPES];
        snprintf(line, sizeof line, "FEED 1 %s:7 %s:12345678 %s:3", one, other, other);
        assert_int_equal(decode(line), STATUS_OK);
        assert_int_equal(request.items[0].type, names_find_type(names, one, strlen(one)));
        assert_int_equal(request.items[1].type, names_find_type(names, other, strlen(other)));
        assert_int_equal(request.items[2].type, request.items[1].type);
    }
}

/* What the caller has read stands for that word, and for no other. */
static void a_user_is_read_once(void **state)
{
    (void)state;
    static const char line[] = "11video:1";
    const struct text words[] = {{line, 1}, {line + 2, 7}},
                      other[] = {{line + 1, 1}, {line + 2, 7}},
                      empty[] = {{NULL, 0}, {line + 2, 7}};
    const struct op_spec *like = spec_of((struct text){"LIKE", 4});
    scratch.user = (struct op_user){.word = words[0], .id.lo = 77};
    assert_int_equal(op_decode(like, words, 2, names, 0, &scratch, &request), STATUS_OK);
    assert_int_equal(request.user.lo, 77);
    assert_int_equal(op_decode(like, other, 2, names, 0, &scratch, &request), STATUS_OK);
    assert_int_equal(request.user.lo, 1);
    scratch.user = (struct op_user){0};
    assert_int_equal(op_decode(like, words, 2, names, 0, &scratch, &request), STATUS_OK);
    assert_int_equal(request.user.lo, 1);
    assert_int_equal(op_decode(like, empty, 2, names, 0, &scratch, &request), STATUS_BAD_ARGUMENT);
}

static void a_feed_says_how_cold_it_asks(void **state)
{
    (void)state;
    assert_int_equal(decode("FEED 1 video:1 video:2"), STATUS_OK);
    assert_false(request.read.memory_only);
    assert_int_equal(decode("FEED 1 video:1 video:2 COLD skip"), STATUS_OK);
    assert_true(request.read.memory_only);
    assert_int_equal(request.item_count, 2);
    assert_int_equal(decode("FEED 1 video:1 cold SKIP"), STATUS_OK);
    assert_true(request.read.memory_only);
    assert_int_equal(request.item_count, 1);
    assert_int_equal(decode("FEED 1 video:1 Cold Ask"), STATUS_OK);
    assert_false(request.read.memory_only);
    assert_int_equal(decode("FEED 1 video:1 COLD skip"), STATUS_OK);
    assert_int_equal(decode("LIKED 1 video:1"), STATUS_OK);
    assert_false(request.read.memory_only);
    static const struct refusal bad[] = {
        {"FEED 1 video:1 COLD maybe", STATUS_BAD_ARGUMENT, "COLD must be skip or ask, got 'maybe'"},
        {"FEED 1 video:1 COLD video:2", STATUS_BAD_ARGUMENT, "COLD must be skip or ask"},
        {"FEED 1 video:1 COLD", STATUS_BAD_ARGUMENT, "COLD must be skip or ask"},
        {"FEED 1 COLD", STATUS_BAD_ARGUMENT, "COLD must be skip or ask"},
        {"FEED 1 COLD skip", STATUS_BAD_ARITY, "FEED user item"},
        {"FEED 1 COLD skip video:1", STATUS_BAD_ARGUMENT, "an item must be type:id"},
        {"FEED 1 video:1 COLD skip COLD skip", STATUS_BAD_ARGUMENT, "an item must be type:id"},
        {"LIKED 1 video:1 COLD skip", STATUS_BAD_ARGUMENT, "an item must be type:id"},
    };
    expect_refusals(bad, sizeof bad / sizeof bad[0]);
}

static void a_feed_asks_for_friends(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "FEED 1 video:1 FRIENDS 3", "FEED 1 video:1 COLD skip FRIENDS 3",
        "FEED 1 video:1 friends 003 cold ask", "FEED 1 video:1 FRIENDS 3 COLD skip"};
    assert_int_equal(decode("FEED 1 video:1"), STATUS_OK);
    assert_int_equal(request.read.friends, 0);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        assert_int_equal(decode(lines[i]), STATUS_OK);
        assert_int_equal(request.item_count, 1);
        assert_int_equal(request.read.friends, 3);
        assert_int_equal(request.read.memory_only, i % 2);
        assert_int_equal(request.name, NAME_INDEX_LIKE);
    }
    assert_int_equal(decode("FEED 1 video:1 FRIENDS 10"), STATUS_OK);
    assert_int_equal(request.read.friends, LIMIT_NAMED);
    static const struct refusal bad[] = {
        {"FEED 1 video:1 FRIENDS 0", STATUS_BAD_ARGUMENT, "a number from 1 to 10, got '0'"},
        {"FEED 1 video:1 FRIENDS 11", STATUS_BAD_ARGUMENT, "FRIENDS must be a number from 1 to 10"},
        {"FEED 1 video:1 FRIENDS -1", STATUS_BAD_ARGUMENT, "from 1 to 10"},
        {"FEED 1 video:1 FRIENDS 4294967299", STATUS_BAD_ARGUMENT, "from 1 to 10"},
        {"FEED 1 video:1 FRIENDS x COLD skip", STATUS_BAD_ARGUMENT, "from 1 to 10, got 'x'"},
        {"FEED 1 video:1 FRIENDS video:2", STATUS_BAD_ARGUMENT, "from 1 to 10"},
        {"FEED 1 video:1 FRIENDS", STATUS_BAD_ARGUMENT, "from 1 to 10"},
        {"FEED 1 video:1 COLD skip FRIENDS", STATUS_BAD_ARGUMENT, "from 1 to 10"},
        {"FEED 1 video:1 FRIENDS COLD skip", STATUS_BAD_ARGUMENT, "an item must be type:id"},
        {"FEED 1 FRIENDS 3", STATUS_BAD_ARITY, "FEED user item"},
        {"FEED 1 FRIENDS 3 COLD skip", STATUS_BAD_ARITY, "FEED user item"},
        {"FEED 1 FRIENDS 3 video:1", STATUS_BAD_ARGUMENT, "an item must be type:id"},
        {"FEED 1 video:1 FRIENDS 3 FRIENDS 3", STATUS_BAD_ARGUMENT, "an item must be type:id"},
        {"LIKED 1 video:1 FRIENDS 3", STATUS_BAD_ARGUMENT, "an item must be type:id"},
    };
    expect_refusals(bad, sizeof bad / sizeof bad[0]);
}

/* Who follows whom is found by names that a read never creates. */
static void friends_are_found_by_their_names(void **state)
{
    (void)state;
    assert_int_equal(decode("FEED 1 video:1 FRIENDS 3"), STATUS_OK);
    uint16_t type = request.read.follow_type;
    uint8_t follow = request.read.follow;
    assert_int_equal(decode("FRIENDS 1 video:1 DEPTH 2"), STATUS_OK);
    assert_true(request.list.second);
    assert_int_equal(request.list.type, type);
    assert_int_equal(request.list.follow, follow);
    assert_int_equal(type == TYPE_UNKNOWN, names_find_type(names, "user", 4) < 0);
    assert_int_equal(decode("FRIENDS 1 video:1 DEPTH 1"), STATUS_OK);
    assert_false(request.list.second);
    assert_int_equal(decode("REACT 1 follow user:2"), STATUS_OK);
    assert_int_equal(decode("FEED 1 video:1 FRIENDS 3"), STATUS_OK);
    assert_int_equal(request.read.follow_type, names_find_type(names, "user", 4));
    assert_int_equal(request.read.follow, names_find(names, "follow", 6));
}

/* An inbox leaves out whom the user has blocked: the same, with another kind. */
static void blocked_users_are_found_by_their_names(void **state)
{
    (void)state;
    assert_int_equal(decode("INBOX 1"), STATUS_OK);
    assert_int_equal(request.name, NAME_UNKNOWN);
    assert_int_equal(decode("REACT 1 block user:2"), STATUS_OK);
    assert_int_equal(decode("INBOX 1 LIMIT 3"), STATUS_OK);
    assert_int_equal(request.cards.type, names_find_type(names, "user", 4));
    assert_int_equal(request.name, names_find(names, "block", 5));
}

static void decodes_additions(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        int64_t delta;
    } good[] = {{"ADD video:1 view 1", 1},
                {"ADD video:1 view +5", 5},
                {"ADD video:1 view -0", 0},
                {"ADD video:1 view 9223372036854775807", INT64_MAX},
                {"ADD video:1 view -9223372036854775808", INT64_MIN}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_int_equal(decode(good[i].line), STATUS_OK);
        assert_true(request.change.delta == good[i].delta);
        assert_false(request.change.has_token);
    }
    static const char *const bad[] = {"ADD video:1 view 9223372036854775808",
                                      "ADD video:1 view -9223372036854775809",
                                      "ADD video:1 view 1.5",
                                      "ADD video:1 view -",
                                      "ADD video:1 view +-1",
                                      "ADD video:1 view 00000000000000000001"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(decode(bad[i]), STATUS_BAD_ARGUMENT);
}

static void a_token_belongs_to_item_and_counter(void **state)
{
    (void)state;
    static const char *const lines[] = {"ADD video:1 view 1 TOKEN a", "ADD video:1 view 1 TOKEN b",
                                        "ADD video:2 view 1 TOKEN a", "ADD video:1 share 1 TOKEN a",
                                        "ADD photo:1 view 1 TOKEN a"};
    uint64_t tokens[5][2];
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(decode(lines[i]), STATUS_OK);
        assert_true(request.change.has_token);
        memcpy(tokens[i], request.change.token, sizeof tokens[i]);
        for (size_t other = 0; other < i; other++)
            assert_memory_not_equal(tokens[i], tokens[other], sizeof tokens[i]);
    }
    assert_int_equal(decode("ADD video:1 view 999 token a"), STATUS_OK);
    assert_memory_equal(request.change.token, tokens[0], sizeof tokens[0]);
    assert_int_equal(decode("ADD video:1 view 1 TOKEN"), STATUS_BAD_ARITY);
    assert_int_equal(decode("ADD video:1 view 1 token a b"), STATUS_BAD_ARITY);
    assert_int_equal(decode("ADD video:1 view 1 TAKEN a"), STATUS_BAD_ARGUMENT);
}

static void names_keep_their_role(void **state)
{
    (void)state;
    assert_int_equal(decode("ADD video:1 plays 1"), STATUS_OK);
    assert_int_equal(decode("REACT 1 plays video:1"), STATUS_NOT_A_KIND);
    assert_int_equal(decode("REACTED 1 plays video:1"), STATUS_NOT_A_KIND);
    assert_int_equal(decode("UNREACT 1 plays video:1"), STATUS_NOT_A_KIND);
    assert_int_equal(decode("ADD video:1 like 1"), STATUS_NOT_A_COUNTER);
    assert_int_equal(decode("ADD video:1 comment 1"), STATUS_NOT_A_COUNTER);
    assert_int_equal(decode("REACT 1 comment video:1"), STATUS_NOT_A_KIND);
}

static void refusals_say_what_was_expected(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        enum status status;
        const char *part;
    } bad[] = {
        {"LIKE 1", STATUS_BAD_ARITY, "LIKE user item"},
        {"LIKE 1 video:1 video:2", STATUS_BAD_ARITY, "LIKE user item"},
        {"FEED 1", STATUS_BAD_ARITY, "FEED user item"},
        {"LIKE x video:1", STATUS_BAD_ARGUMENT, "user must be"},
        {"LIKE -1 video:1", STATUS_BAD_ARGUMENT, "user must be"},
        {"LIKE 18446744073709551616 video:1", STATUS_BAD_ARGUMENT, "user must be"},
        {"LIKE 00000000-0000-0000-0000-000000000000 video:1", STATUS_BAD_ARGUMENT,
         "UUID that does not begin with 16 zeros"},
        {"LIKE 1 video", STATUS_BAD_ARGUMENT, "type:id"},
        {"LIKE 1 video:", STATUS_BAD_ARGUMENT, "type:id"},
        {"LIKE 1 :1", STATUS_BAD_ARGUMENT, "name must be"},
        {"LIKE 1 Video:1", STATUS_BAD_ARGUMENT, "name must be"},
        {"LIKED 1 Video:1", STATUS_BAD_ARGUMENT, "name must be"},
        {"LIKE 1 {1}:1", STATUS_BAD_ARGUMENT, "name must be"},
        {"LIKE 1 video:1:2", STATUS_BAD_ARGUMENT, "type:id"},
        {"REACT 1 LIKE video:1", STATUS_BAD_ARGUMENT, "name must be"},
        {"LIKE 1 a23456789012345678901234567890123:1", STATUS_BAD_ARGUMENT, "name must be"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(decode(bad[i].line), bad[i].status);
        assert_non_null(strstr(scratch.sentence, bad[i].part));
    }
    assert_int_equal(decode("LIKE 1 video:\x01\x7f\n"), STATUS_BAD_ARGUMENT);
    for (const char *c = scratch.sentence; *c; c++)
        assert_true(*c >= ' ' && *c <= '~');
}

static void a_refused_write_makes_no_name(void **state)
{
    (void)state;
    size_t types = names_type_count(names), others = names_count(names);
    assert_int_equal(decode("REACT 1 brandnew nocolon"), STATUS_BAD_ARGUMENT);
    assert_int_equal(decode("REACT 1 like brandnew:x"), STATUS_BAD_ARGUMENT);
    assert_int_equal(decode("ADD brandnew:1 brandnew x"), STATUS_BAD_ARGUMENT);
    assert_int_equal(decode("ADD brandnew:1 like 1"), STATUS_NOT_A_COUNTER);
    assert_int_equal(decode("UNREACT 1 brandnew brandnew:1"), STATUS_OK);
    assert_int_equal(decode("ADD brandnew:1 brandnew 0 TOKEN a"), STATUS_OK);
    assert_int_equal(request.name, NAME_UNKNOWN);
    assert_int_equal(request.items[0].type, TYPE_UNKNOWN);
    assert_int_equal(decode("ADD video:1 brandnew -0"), STATUS_OK);
    assert_int_equal(names_type_count(names), types);
    assert_int_equal(names_count(names), others);
    assert_int_equal(decode("REACT 1 brandnew brandnew:1"), STATUS_OK);
    assert_int_equal(names_type_count(names), types + 1);
    assert_int_equal(names_count(names), others + 1);
    assert_int_equal(request.name, others);
    assert_int_equal(request.items[0].type, types);
}

/* The line of an operation with so many items. */
static enum status decode_many(const char *start, int count)
{
    static char line[32 * (LIMIT_ITEMS + 2)];
    int at = snprintf(line, sizeof line, "%s", start);
    for (int i = 0; i < count; i++)
        at += snprintf(line + at, sizeof line - (size_t)at, " video:%d", i);
    return decode(line);
}

static void items_are_bounded(void **state)
{
    (void)state;
    assert_int_equal(decode_many("FEED 1", LIMIT_FEED_ITEMS), STATUS_OK);
    assert_int_equal(decode_many("FEED 1", LIMIT_FEED_ITEMS + 1), STATUS_TOO_MANY_ITEMS);
    assert_non_null(strstr(scratch.sentence, "200"));
    assert_int_equal(decode_many("LIKED 1", LIMIT_ITEMS), STATUS_OK);
    assert_int_equal(decode_many("LIKED 1", LIMIT_ITEMS + 1), STATUS_TOO_MANY_ITEMS);

    scratch.used = LIMIT_BATCH_ITEMS - 1;
    struct text words[3] = {{"1", 1}, {"video:1", 7}, {"video:2", 7}};
    assert_int_equal(
        op_decode(spec_of((struct text){"FEED", 4}), words, 3, names, 0, &scratch, &request),
        STATUS_MORE);
    assert_int_equal(
        op_decode(spec_of((struct text){"FEED", 4}), words, 2, names, 0, &scratch, &request),
        STATUS_OK);
    assert_int_equal(scratch.used, LIMIT_BATCH_ITEMS);
}

/* Whatever is wrong with it, and wherever that stands. */
static void what_is_refused_takes_no_room(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "ADD video:1 view x",        "ADD video:1 like 1",      "ADD video:1 view 1 TOKEN ",
        "DROP video:1 LIMIT x",      "LIKERS video:1 CURSOR x", "REACTORS video:1 Like",
        "FRIENDS 1 video:1 LIMIT 0", "FEED 1 video:1 video",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        assert_int_not_equal(decode(lines[i]), STATUS_OK);
        assert_int_equal(scratch.used, 0);
    }
    assert_int_equal(decode("ADD video:1 view 1"), STATUS_OK);
    assert_int_equal(scratch.used, 1);
}

static void types_are_bounded(void **state)
{
    (void)state;
    struct names *kept = names;
    names = names_new();
    char line[64];
    for (int i = 0; i < LIMIT_TYPES; i++) {
        snprintf(line, sizeof line, "LIKE 1 t%d:1", i);
        assert_int_equal(decode(line), STATUS_OK);
    }
    assert_int_equal(decode("LIKE 1 onemore:1"), STATUS_TABLE_FULL);
    assert_non_null(strstr(scratch.sentence, "'onemore' would be a new type"));
    assert_non_null(strstr(scratch.sentence, "1024"));
    assert_int_equal(decode("REACT 1 new-kind onemore:1"), STATUS_TABLE_FULL);
    assert_int_equal(names_find(names, "new-kind", 8), -1); /* a refusal makes no name */
    assert_int_equal(decode("LIKED 1 onemore:1"), STATUS_OK);
    assert_int_equal(decode("UNLIKE 1 onemore:1"), STATUS_OK);
    assert_int_equal(decode("LIKE 1 t0:1"), STATUS_OK);
    names_free(names);
    names = kept;
}

/* Only what writes is refused, by the first of its names; and then none of the others is made. */
static void names_are_listed(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        enum status status;
        const char *says;
    } cases[] = {
        {"LIKE 1 clip:1", STATUS_NAME_NOT_LISTED, "the type 'clip' is not one of --types: video"},
        {"LIKE 1 new:1", STATUS_NAME_NOT_LISTED, "the type 'new' is not one of --types: video"},
        {"REACT 1 love new:1", STATUS_NAME_NOT_LISTED, "'new'"},
        {"REACT 1 hate video:1", STATUS_NAME_NOT_LISTED,
         "'hate' is not one of --kinds: like, love"},
        {"REACT 1 new video:1", STATUS_NAME_NOT_LISTED, "'new' is not one of --kinds: like, love"},
        {"ADD video:1 share 1", STATUS_NAME_NOT_LISTED, "'share' is not one of --counters: view"},
        {"ADD clip:1 view 1", STATUS_NAME_NOT_LISTED, "'clip'"},
        {"REACT 1 view video:1", STATUS_NOT_A_KIND, "'view'"},
        {"ADD video:1 love 1", STATUS_NOT_A_COUNTER, "'love'"},
        {"ADD clip:1 share 0", STATUS_OK, NULL},
        {"UNREACT 1 hate clip:1", STATUS_OK, NULL},
        {"UNLIKE 1 new:1", STATUS_OK, NULL},
        {"REACTED 1 hate clip:1", STATUS_OK, NULL},
        {"DROP clip:1", STATUS_OK, NULL},
        {"FEED 1 clip:1 new:1", STATUS_OK, NULL},
        {"LIKE 1 video:1", STATUS_OK, NULL},
        {"LIKE 1 clip:1", STATUS_NAME_NOT_LISTED, "'clip'"},
        {"REACT 1 love video:1", STATUS_OK, NULL},
        {"ADD video:1 view 1", STATUS_OK, NULL},
    };
    struct names *kept = names;
    struct name_lists lists = {
        .texts = {[NAME_TYPE] = "video", [NAME_KIND] = "love", [NAME_COUNTER] = "view"}};
    names = names_new();
    scratch.type = (struct op_type){0}; /* they may be where others were */
    assert_int_equal(decode("REACT 1 hate clip:1"), STATUS_OK);
    assert_int_equal(names_set_lists(names, &lists, scratch.sentence, sizeof scratch.sentence),
                     STATUS_OK);
    scratch.type = (struct op_type){0}; /* lists are set at start, before anything is decoded */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t types = names_type_count(names), others = names_count(names);
        assert_int_equal(decode(cases[i].line), cases[i].status);
        if (cases[i].says == NULL)
            continue;
        if (strstr(scratch.sentence, cases[i].says) == NULL)
            fail_msg("%s says: %s", cases[i].line, scratch.sentence);
        assert_int_equal(names_type_count(names), types);
        assert_int_equal(names_count(names), others);
    }
    names_free(names);
    names = kept;
}

static void use_is_noted(void **state)
{
    (void)state;
    struct names *kept = names;
    names = names_new();
    scratch.type = (struct op_type){0}; /* they may be where others were */
    assert_int_equal(decode("LIKED 1 video:1"), STATUS_OK);
    assert_false(names_entry(names, 0, 0).used);
    assert_int_equal(decode("REACT 1 love video:1"), STATUS_OK);
    assert_int_equal(decode("ADD post:1 view 0"), STATUS_OK);
    assert_int_equal(decode("UNLIKE 1 video:1"), STATUS_OK);
    assert_true(names_entry(names, 0, 1).used);  /* video */
    assert_false(names_entry(names, 1, 1).used); /* like */
    assert_true(names_entry(names, 3, 1).used);  /* love */
    names_free(names);
    names = kept;
    scratch.type = (struct op_type){0};
}

static void decodes_names(void **state)
{
    (void)state;
    assert_int_equal(decode("NAMES"), STATUS_OK);
    assert_int_equal(request.action, HOT_NAMES);
    assert_int_equal(request.item_count, 0);
    assert_int_equal(decode("NAMES video"), STATUS_BAD_ARITY);
    assert_string_equal(scratch.sentence, "wrong number of arguments, expected NAMES");
    assert_int_equal(op_limit_max(op_get(OP_NAMES)), 0);
}

static void decodes_what_is_to_be_removed(void **state)
{
    (void)state;
    size_t types = names_type_count(names);
    assert_int_equal(decode("FORGET 42"), STATUS_OK);
    assert_int_equal(request.action, HOT_FORGET);
    assert_int_equal(request.user.lo, 42);
    assert_int_equal(request.item_count, 0);
    assert_int_equal(request.remove.limit, LIMIT_REMOVAL_USUAL);
    assert_int_equal(decode("FORGET 42 limit 10000"), STATUS_OK);
    assert_int_equal(request.remove.limit, LIMIT_REMOVAL);
    assert_int_equal(decode("DROP unheard-of:7 LIMIT 1"), STATUS_OK);
    assert_int_equal(request.action, HOT_DROP);
    assert_int_equal(request.items[0].type, TYPE_UNKNOWN);
    assert_int_equal(request.remove.limit, 1);
    assert_int_equal(names_type_count(names), types);
    static const char *const bad[] = {
        "FORGET",
        "FORGET x",
        "FORGET -1",
        "FORGET video:1",
        "FORGET 1 2",
        "FORGET 1 LIMIT",
        "FORGET 1 LIMIT 0",
        "FORGET 1 LIMIT -1",
        "FORGET 1 LIMIT 10001",
        "FORGET 1 LIMIT 99999999999999999999",
        "FORGET 1 LIMIT 1e3",
        "FORGET 1 LIMIT 5 LIMIT 5",
        "FORGET 1 CURSOR x",
        "DROP",
        "DROP 1",
        "DROP video",
        "DROP video:x",
        "DROP Video:1",
        "DROP video:1 video:2",
        "DROP video:1 LIMIT x",
        "DROP video:1 LIMIT 1 video:2",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        enum status status = decode(bad[i]);
        assert_true(status == STATUS_BAD_ARGUMENT || status == STATUS_BAD_ARITY);
        assert_true(scratch.sentence[0] != '\0');
    }
    assert_int_equal(decode("FORGET 1 LIMIT 10001"), STATUS_BAD_ARGUMENT);
    assert_non_null(strstr(scratch.sentence, "1 to 10000"));
}

static void decodes_boards(void **state)
{
    (void)state;
    assert_int_equal(decode("LIKE 1 video:1"), STATUS_OK);
    assert_int_equal(decode("ADD video:1 view 1"), STATUS_OK);
    uint8_t view = request.name;
    assert_int_equal(decode("TOP video view"), STATUS_OK);
    assert_int_equal(request.action, HOT_TOP);
    assert_int_equal(request.name, view);
    assert_int_equal(request.top.limit, LIMIT_TOP_USUAL);
    assert_int_equal(request.top.window, TREND_NONE);
    assert_int_equal(request.item_count, 0);
    assert_int_equal(decode("TOP video like LIMIT 1000 WINDOW week"), STATUS_OK);
    assert_int_equal(request.name, NAME_INDEX_LIKE);
    assert_int_equal(request.top.limit, LIMIT_TOP);
    assert_int_equal(request.top.window, TREND_WEEK);
    assert_int_equal(decode("TOP video comment window HOUR limit 1"), STATUS_OK);
    assert_int_equal(request.top.window, TREND_HOUR);
    assert_int_equal(request.top.limit, 1);
    assert_int_equal(decode("TOP video like WINDOW day"), STATUS_OK);
    assert_int_equal(request.top.window, TREND_DAY);
}

static void boards_refuse_what_they_do_not_know(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "TOP video like LIMIT 0",
        "TOP video like LIMIT 1001",
        "TOP video like LIMIT -1",
        "TOP video like LIMIT 1x",
        "TOP video like LIMIT 18446744073709551617",
        "TOP video like LIMIT 1 LIMIT 1",
        "TOP video like WINDOW year",
        "TOP video like WINDOW hourly",
        "TOP video like WINDOW day WINDOW day",
        "TOP video like CURSOR x",
        "TOP Video like",
        "TOP video li:ke",
        "TOP video:1 like",
        "TOP video abcdefghijklmnopqrstuvwxyzabcdefg",
    };
    size_t types = names_type_count(names), others = names_count(names);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(decode(bad[i]), STATUS_BAD_ARGUMENT);
        assert_int_not_equal(scratch.sentence[0], 0);
    }
    assert_int_equal(decode("TOP video"), STATUS_BAD_ARITY);
    assert_int_equal(decode("TOP video like LIMIT"), STATUS_BAD_ARITY);
    assert_int_equal(decode("TOP video like LIMIT 1 WINDOW"), STATUS_BAD_ARITY);
    assert_int_equal(decode("TOP video like LIMIT 1 WINDOW day x y"), STATUS_BAD_ARITY);
    assert_int_equal(decode("TOP unheard like"), STATUS_OK);
    assert_int_equal(request.top.type, TYPE_UNKNOWN);
    assert_int_equal(decode("TOP video unheard"), STATUS_OK);
    assert_int_equal(request.name, NAME_UNKNOWN);
    assert_int_equal(names_type_count(names), types);
    assert_int_equal(names_count(names), others);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decodes_reactions),
        cmocka_unit_test(types_that_begin_alike),
        cmocka_unit_test(a_user_is_read_once),
        cmocka_unit_test(a_feed_says_how_cold_it_asks),
        cmocka_unit_test(a_feed_asks_for_friends),
        cmocka_unit_test(friends_are_found_by_their_names),
        cmocka_unit_test(blocked_users_are_found_by_their_names),
        cmocka_unit_test(decodes_additions),
        cmocka_unit_test(a_token_belongs_to_item_and_counter),
        cmocka_unit_test(names_keep_their_role),
        cmocka_unit_test(refusals_say_what_was_expected),
        cmocka_unit_test(a_refused_write_makes_no_name),
        cmocka_unit_test(decodes_what_is_to_be_removed),
        cmocka_unit_test(items_are_bounded),
        cmocka_unit_test(what_is_refused_takes_no_room),
        cmocka_unit_test(types_are_bounded),
        cmocka_unit_test(names_are_listed),
        cmocka_unit_test(use_is_noted),
        cmocka_unit_test(decodes_names),
        cmocka_unit_test(decodes_boards),
        cmocka_unit_test(boards_refuse_what_they_do_not_know),
    };
    names = names_new();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    names_free(names);
    return failed;
}
