/* From path, query and body to the words of an operation, or to a sentence that says what is wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "http/words.h"
#include "say.h"

static struct memory_budget budget = {.limit = MIB(4)};
static struct commands commands;
static struct exchange exchange;
static char sentence[256];

static void begin(enum verb verb, const char *path, const char *body)
{
    exchange =
        (struct exchange){.words.budget = &budget, .text.budget = &budget, .raw.budget = &budget};
    assert_true(buffer_append(&exchange.text, path, strlen(path)));
    assert_null(target_read(&exchange.target, exchange.text.bytes, exchange.text.length,
                            (struct text){NULL, 0}));
    exchange.route = route_find(&exchange.target, verb);
    if (body != NULL)
        assert_int_equal(json_in_read(&exchange.json, (struct text){body, strlen(body)}, &budget,
                                      sentence, sizeof sentence),
                         STATUS_OK);
    struct text raw;
    if (body != NULL && json_in_member(text_from(body), text_from("extra"), &raw))
        assert_true(buffer_append(&exchange.raw, raw.bytes, raw.length));
}

static void end(void)
{
    json_in_free(&exchange.json, &budget);
    buffer_free(&exchange.words);
    buffer_free(&exchange.text);
    buffer_free(&exchange.raw);
    assert_int_equal(memory_used(&budget), 0);
}

static void expect_words(uint32_t first, uint32_t count, const char *wanted)
{
    char got[256] = "";
    for (uint32_t i = 0; i < count; i++) {
        struct text word = *words_at(&exchange, first + i);
        say(got, sizeof got, "%s%.*s", i ? " " : "", (int)word.length, word.bytes);
    }
    assert_string_equal(got, wanted);
}

/* `wanted`: the words, or a piece of the sentence if it is refused. */
static void expect(enum verb verb, const char *path, const char *body, enum status status,
                   const char *wanted)
{
    uint32_t count = 0;
    begin(verb, path, body);
    enum status got = words_check_names(&exchange, sentence, sizeof sentence);
    if (got == STATUS_OK)
        got = words_of_route(&exchange, &count, sentence, sizeof sentence);
    assert_int_equal(got, status);
    if (status == STATUS_OK)
        expect_words(0, count, wanted);
    else if (strstr(sentence, wanted) == NULL)
        fail_msg("'%s' has no '%s'", sentence, wanted);
    end();
}

static void words_of_paths_and_queries(void **state)
{
    (void)state;
    expect(VERB_PUT, "/v1/items/video:1/reactions/like/2", NULL, STATUS_OK, "2 like video:1");
    expect(VERB_GET, "/v1/items/video:1/reactions/like?cursor=&limit=5", NULL, STATUS_OK,
           "video:1 like LIMIT 5 CURSOR ");
    expect(VERB_GET, "/v1/items/video:1/reactions/like?among=7&limit=5", NULL, STATUS_OK,
           "7 video:1 LIMIT 5");
    expect(VERB_GET, "/v1/users/1/reactions/like?type=video", NULL, STATUS_OK, "1 like video");
    expect(VERB_GET, "/v1/users/1/reactions/like?limit=2", NULL, STATUS_BAD_ARITY,
           "'type' is missing");
    expect(VERB_GET, "/v1/items/video:1/counts?x=1", NULL, STATUS_BAD_ARGUMENT, "'x' is unknown");
    expect(VERB_GET, "/v1/items/video:1/counts?item=1", NULL, STATUS_BAD_ARGUMENT,
           "'item' is unknown");
    expect(VERB_GET, "/v1/users/1/reactions/like?type=a&type=b", NULL, STATUS_BAD_ARGUMENT,
           "'type' is repeated");
    expect(VERB_GET, "/v1/items/video:1/reactions/love?among=7", NULL, STATUS_BAD_ARGUMENT,
           "'among' is unknown, known are: limit, cursor");
    expect(VERB_GET, "/v1/live?items=", NULL, STATUS_BAD_ARITY,
           "the parameter 'items' must have at least one item");
    expect(VERB_GET, "/v1/live?items=a:1,,b:2,", NULL, STATUS_OK, "a:1  b:2 ");
}

static void words_of_bodies(void **state)
{
    (void)state;
    expect(VERB_POST, "/v1/feed", "{\"user\":\"1\",\"items\":[\"a:1\",\"b:2\"],\"cold\":\"skip\"}",
           STATUS_OK, "1 a:1 b:2 COLD skip");
    expect(VERB_POST, "/v1/feed", "{\"user\":\"1\",\"items\":[]}", STATUS_BAD_ARITY,
           "the member 'items' must have at least one item");
    expect(VERB_POST, "/v1/feed", "{\"user\":\"1\",\"items\":[\"a:1\",\"cold\",\"skip\"]}",
           STATUS_BAD_ARGUMENT, "the member 'items[1]' must be type:id");
    expect(VERB_POST, "/v1/items/a:1/counters/view", "{\"delta\":-5}", STATUS_OK, "a:1 view -5");
    expect(VERB_POST, "/v1/items/a:1/counters/view",
           "{\"delta\":\"9223372036854775807\",\"token\":\"t\"}", STATUS_OK,
           "a:1 view 9223372036854775807 TOKEN t");
    expect(VERB_POST, "/v1/feed", "{\"user\":1,\"items\":[]}", STATUS_BAD_JSON,
           "'user' must be a string");
    expect(VERB_POST, "/v1/feed", "{\"user\":\"1\",\"items\":[1]}", STATUS_BAD_JSON,
           "the member 'items' must be an array of strings, but its entry [0] is not a string");
    expect(VERB_POST, "/v1/feed", "{\"user\":\"1\",\"items\":\"a:1\"}", STATUS_BAD_JSON,
           "an array");
    expect(VERB_POST, "/v1/feed", "{\"user\":\"1\"}", STATUS_BAD_JSON, "'items' must be an array");
    expect(VERB_POST, "/v1/feed", "{\"items\":[]}", STATUS_BAD_ARITY, "'user' is missing");
    expect(VERB_POST, "/v1/feed", "{\"user\":\"1\",\"items\":[],\"x\":1}", STATUS_BAD_ARGUMENT,
           "the member 'x' is unknown, known are: user, items, cold");
    expect(VERB_POST, "/v1/feed", "[]", STATUS_BAD_JSON, "must be a JSON object");
    expect(VERB_POST, "/v1/feed?user=1", "{}", STATUS_BAD_ARGUMENT, "'user' is unknown");
    expect(VERB_POST, "/v1/items/a:1/counters/view", "{\"delta\":1.5}", STATUS_BAD_JSON,
           "an integer");
    expect(VERB_POST, "/v1/items/a:1/counters/view", "{\"delta\":1,\"token\":2}", STATUS_BAD_JSON,
           "'token' must be a string");
    expect(VERB_POST, "/v1/items/a:1/counters/view", "{}", STATUS_BAD_ARITY, "'delta' is missing");
}

/* Options that stand alone, have many values, or are any JSON value; and bodies of PUT. */
static void words_of_comments(void **state)
{
    (void)state;
    static const char path[] = "/v1/items/a:1/comments";
    expect(VERB_POST, path, "{\"user\":\"1\",\"text\":\"hi\"}", STATUS_OK, "1 a:1 hi");
    expect(VERB_POST, path,
           "{\"text\":\"hi\",\"user\":\"1\",\"token\":\"t\",\"mentions\":[\"2\",\"3\"],"
           "\"extra\": {\"b\" : 1.50} }",
           STATUS_OK, "1 a:1 hi TOKEN t MENTION 2 3 EXTRA {\"b\" : 1.50}");
    expect(VERB_POST, path, "{\"user\":\"1\",\"text\":\"hi\",\"mentions\":[],\"extra\":null}",
           STATUS_OK, "1 a:1 hi");
    expect(VERB_POST, path, "{\"user\":\"1\",\"text\":\"hi\",\"extra\":\"x\"}", STATUS_OK,
           "1 a:1 hi EXTRA \"x\"");
    expect(VERB_POST, path, "{\"user\":\"1\",\"text\":\"hi\",\"\\u0065xtra\":1}", STATUS_BAD_JSON,
           "the name of the member 'extra' must be written without \\u");
    expect(VERB_POST, path, "{\"user\":\"1\",\"text\":\"hi\",\"mentions\":\"2\"}", STATUS_BAD_JSON,
           "the member 'mentions' must be an array of strings");
    expect(VERB_POST, path, "{\"user\":\"1\",\"text\":\"hi\",\"mentions\":[2]}", STATUS_BAD_JSON,
           "its entry [0] is not a string");
    expect(VERB_POST, path, "{\"user\":\"1\"}", STATUS_BAD_ARITY, "'text' is missing");
    expect(VERB_GET, "/v1/items/a:1/comments?by=new&all=true&limit=3&replies=0", NULL, STATUS_OK,
           "a:1 BY new REPLIES 0 LIMIT 3 ALL");
    expect(VERB_GET, "/v1/items/a:1/comments?all=false&for=7", NULL, STATUS_OK, "a:1 FOR 7");
    expect(VERB_GET, "/v1/items/a:1/comments?all", NULL, STATUS_OK, "a:1 ALL");
    expect(VERB_GET, "/v1/items/a:1/comments?all=1", NULL, STATUS_OK, "a:1 ALL");
    expect(VERB_GET, "/v1/items/a:1/comments?all=0", NULL, STATUS_OK, "a:1");
    expect(VERB_GET, "/v1/items/a:1/comments?all=yes", NULL, STATUS_BAD_ARGUMENT,
           "the parameter 'all' must be true or false");
    expect(VERB_PUT, "/v1/comments/comment:7/text", "{\"user\":\"1\",\"text\":\"x\"}", STATUS_OK,
           "1 comment:7 x");
    expect(VERB_PUT, "/v1/comments/comment:7/text?user=1", "{}", STATUS_BAD_ARGUMENT,
           "a PUT with a body takes no parameters");
    expect(VERB_PUT, "/v1/comments/comment:7/state", "{\"state\":\"hidden\",\"reason\":\"spam\"}",
           STATUS_OK, "comment:7 hidden REASON spam");
    expect(VERB_PUT, "/v1/comments/comment:7/pin", NULL, STATUS_OK, "comment:7");
    expect(VERB_DELETE, "/v1/comments/comment:7?user=1", NULL, STATUS_OK, "1 comment:7");
    expect(VERB_DELETE, "/v1/comments/comment:7", NULL, STATUS_BAD_ARITY, "'user' is missing");
    expect(VERB_DELETE, "/v1/comments/comment:7/content", NULL, STATUS_OK, "comment:7");
    expect(VERB_POST, "/v1/cards", "{\"comments\":[\"comment:1\"],\"for\":\"7\"}", STATUS_OK,
           "comment:1 FOR 7");
    expect(VERB_POST, "/v1/cards", "{\"comments\":[\"comment:1\",\"FOR\",\"7\"]}",
           STATUS_BAD_ARGUMENT, "'comments[1]'");
    expect(VERB_PUT, "/v1/users/7/ban", "{\"until\":1900000000,\"shadow\":true}", STATUS_OK,
           "7 UNTIL 1900000000 SHADOW");
    expect(VERB_PUT, "/v1/users/7/ban", "{\"shadow\":false}", STATUS_OK, "7");
    expect(VERB_PUT, "/v1/users/7/ban", "{\"shadow\":1}", STATUS_BAD_JSON,
           "the member 'shadow' must be true or false");
    expect(VERB_PUT, "/v1/users/7/inbox/seen", "{\"cursor\":\"c\"}", STATUS_OK, "7 c");
    expect(VERB_PUT, "/v1/items/a:1/subject", "{\"mode\":\"held\"}", STATUS_OK, "a:1 MODE held");
    expect(VERB_GET, "/v1/queue/video/reported?limit=5", NULL, STATUS_OK, "video reported LIMIT 5");
}

static void too_many_words(void **state)
{
    (void)state;
    static char body[8 * LIMIT_HTTP_WORDS] = "{\"items\":[";
    for (int i = 0; i <= LIMIT_HTTP_WORDS; i++)
        say(body, sizeof body, "%s\"a:1\"", i ? "," : "");
    say(body, sizeof body, "]}");
    expect(VERB_POST, "/v1/counts", body, STATUS_TOO_MANY_ITEMS,
           "the member 'items' must have at most 1000 items, got 1101");
}

static void words_of_batches(void **state)
{
    (void)state;
    const struct op_spec *spec = NULL;
    uint32_t count = 0;
    begin(VERB_POST, "/v1/batch",
          "{\"operations\":[[\"like\",\"1\",\"a:1\"],[\"COUNTS\"],[\"PING\"],[],[1],7,[\"LIKE\",1]]"
          "}");
    static const enum status wanted[] = {STATUS_OK,       STATUS_OK,       STATUS_UNKNOWN_COMMAND,
                                         STATUS_BAD_JSON, STATUS_BAD_JSON, STATUS_BAD_JSON,
                                         STATUS_BAD_JSON};
    for (uint32_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        assert_int_equal(
            words_of_batch(&exchange, &commands, i, &spec, &count, sentence, sizeof sentence),
            wanted[i]);
    exchange.words.length = 0;
    words_of_batch(&exchange, &commands, 0, &spec, &count, sentence, sizeof sentence);
    assert_string_equal(spec->name, "LIKE");
    expect_words(0, count, "1 a:1");
    end();
}

static void no_memory(void **state)
{
    (void)state;
    uint32_t count;
    begin(VERB_PUT, "/v1/items/video:1/reactions/like/2", NULL);
    budget.limit = memory_used(&budget);
    assert_int_equal(words_of_route(&exchange, &count, sentence, sizeof sentence),
                     STATUS_NO_MEMORY);
    budget.limit = MIB(4);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_of_paths_and_queries), cmocka_unit_test(words_of_bodies),
        cmocka_unit_test(words_of_comments),          cmocka_unit_test(too_many_words),
        cmocka_unit_test(words_of_batches),           cmocka_unit_test(no_memory),
    };
    commands_init(&commands);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
