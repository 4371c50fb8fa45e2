/* Patterns: what each says, what fits it, and that what is unclear is refused with a reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/id.h"
#include "base/names.h"
#include "chance.h"
#include "move/redis_pattern.h"
#include "move/redis_show.h"

static struct redis_pattern pattern;
static char problem[2048];

static void takes(const char *text)
{
    if (!redis_pattern_parse(text, &pattern, problem, sizeof problem))
        fail_msg("%s", problem);
}

static void refuses(const char *text, const char *because)
{
    problem[0] = '\0';
    assert_false(redis_pattern_parse(text, &pattern, problem, sizeof problem));
    if (strstr(problem, because) == NULL)
        fail_msg("'%s' was refused with: %s", text, problem);
    assert_null(strchr(problem, '\n'));
}

static enum redis_match key_match(const char *key, struct redis_values *values)
{
    return redis_template_match(&pattern.key, (struct text){key, strlen(key)}, values);
}

static void assert_value(const struct redis_values *values, enum redis_hole hole, const char *want)
{
    assert_int_equal(values->of[hole].length, strlen(want));
    assert_memory_equal(values->of[hole].bytes, want, strlen(want));
}

static void assert_glob(const char *want)
{
    char glob[REDIS_GLOB_BYTES];
    assert_int_equal(redis_template_glob(&pattern.key, glob), strlen(want));
    assert_string_equal(glob, want);
}

static void reads_layouts(void **state)
{
    (void)state;
    struct redis_values values;
    takes("set:likes:video:{id} -> like video");
    assert_int_equal(pattern.layout, REDIS_SET);
    assert_true(redis_pattern_reacts(&pattern));
    assert_string_equal(pattern.name, "like");
    assert_string_equal(pattern.type, "video");
    assert_int_equal(pattern.member.holes, 1 << REDIS_USER);
    assert_glob("likes:video:*");
    assert_int_equal(key_match("likes:video:77", &values), REDIS_FITS);
    assert_value(&values, REDIS_ID, "77");

    takes("zset:likers:{type}:{id} -> like");
    assert_int_equal(pattern.layout, REDIS_ZSET);
    assert_string_equal(pattern.type, "");
    assert_int_equal(key_match("likers:photo:0c4e1b9e-7a1f-4a57-9a37-5bb1b0a1c001", &values),
                     REDIS_FITS);
    assert_value(&values, REDIS_TYPE, "photo");
    assert_value(&values, REDIS_ID, "0c4e1b9e-7a1f-4a57-9a37-5bb1b0a1c001");

    takes("zset:user:{user}:likes -> like video");
    assert_int_equal(pattern.member.holes, 1 << REDIS_ID);
    assert_glob("user:*:likes");

    takes("set:user:{user}:likes -> like");
    assert_int_equal(pattern.member.holes, 1 << REDIS_ID | 1 << REDIS_TYPE);

    takes("hash:counts:{type}:{id} fields like_count=like,views=view,share");
    assert_false(redis_pattern_reacts(&pattern));
    assert_int_equal(pattern.member.count, 0);
    assert_int_equal(pattern.field_count, 3);
    struct text counter = redis_pattern_counter(&pattern, (struct text){"views", 5});
    assert_int_equal(counter.length, 4);
    assert_memory_equal(counter.bytes, "view", 4);
    assert_null(redis_pattern_counter(&pattern, (struct text){"view", 4}).bytes);

    takes("hash:counts:{id} -> video");
    assert_string_equal(pattern.name, "");
    assert_string_equal(pattern.type, "video");
    takes("hash:views -> view video");
    assert_int_equal(pattern.member.holes, 1 << REDIS_ID);
    takes("string:views:{id} -> view video");
    takes("hash:counts:video:{id} fields like_count=like,views=view -> video");
    takes("set:likes member {user}:{id} -> like video");
    takes("set:\\{video:{id}\\}:likes -> like video");
    takes("  set:all   member {user}/{type}/{id}   ->  like ");
    takes("set:likes:{id} member user:{user} -> like video");
}

static void takes_escapes(void **state)
{
    (void)state;
    struct redis_values values;
    takes("set:\\{video:{id}\\}:li*k?e[s]\\\\x\\ y^- -> like video");
    assert_glob("{video:*}:li\\*k\\?e\\[s\\]\\\\x y\\^\\-");
    assert_int_equal(key_match("{video:5}:li*k?e[s]\\x y^-", &values), REDIS_FITS);
    assert_value(&values, REDIS_ID, "5");
    assert_int_equal(key_match("{video:5}:liikke[s]\\x y^-", &values), REDIS_OTHER);
}

static void refuses_what_is_unclear(void **state)
{
    (void)state;
    refuses("", "empty");
    refuses("   ", "empty");
    refuses("likes:{id} -> like video", "begin with");
    refuses("list:likes:{id} -> like video", "begin with");
    refuses("set: -> like video", "is empty");
    refuses("set:likes:{id}", "name a kind or counter");
    refuses("set:likes:{id} ->", "after '->'");
    refuses("set:likes:{id} -> like video more", "after '->'");
    refuses("set:likes:{id} -> like", "type of items");
    refuses("set:likes:{type}:{id} -> like video", "twice");
    refuses("set:likes -> like video", "whose members");
    refuses("set:likes:{user}:{id} -> like video", "same placeholder");
    refuses("set:likes:{id}:{id} -> like video", "twice");
    refuses("set:likes:{type}{id} -> like", "nothing between");
    refuses("set:likes:{item} -> like video", "brace");
    refuses("set:likes:{id -> like video", "brace");
    refuses("set:likes:id} -> like video", "brace");
    refuses("set:likes:{id} member {id} -> like video", "same placeholder");
    refuses("set:likes:{id} member x -> like video", "who");
    refuses("set:likes:{user} member x -> like video", "which item");
    refuses("set:likes:{id} -> Like video", "a-z");
    refuses("set:likes:{id} -> like vid:eo", "a-z");
    refuses("set:likes:{id} member {user} member {user} -> like video", "each once");
    refuses("set:likes:{id} with {user} -> like video", "each once");
    refuses("set:likes:{id} fields a=b -> like video", "'fields' is for");
    refuses("hash:counts:{id}", "type of items");
    refuses("hash:counts:{id} -> view video", "only a type of items");
    refuses("hash:counts:{id} member {id} -> video", "'member' has no meaning");
    refuses("hash:counts:{id} fields a=b,c=b -> video", "twice");
    refuses("hash:counts:{id} fields a=b,,c -> video", "1 to 63 bytes");
    refuses("hash:counts:{id} fields a=B -> video", "a-z");
    refuses("hash:counts:{user} -> view video", "{user} has no meaning");
    refuses("string:views -> view video", "which item");
    refuses("string:views:{id} member {id} -> view video", "'member' has no meaning");
    refuses("set:likes:{id} -> like video\n", "control characters");
    refuses("set:likes:{id}\\", "ends with a backslash");
    char many[900] = "hash:{id} -> video fields a";
    refuses(many, "after '->'");
    memset(many, 'x', sizeof many);
    memcpy(many, "set:{id}", 8);
    memcpy(many + sizeof many - 20, " -> like video", 15);
    refuses(many, "256 bytes");
    static char longest[REDIS_PATTERN_BYTES + 1];
    memset(longest, 'x', sizeof longest - 1);
    refuses(longest, "1023");
}

static void refuses_pairs(void **state)
{
    (void)state;
    struct redis_pattern two[2];
    takes("set:likes:{id} -> like video");
    two[0] = pattern;
    takes("zset:likes:{id} -> favorite video");
    two[1] = pattern;
    assert_false(redis_patterns_fit(two, 2, problem, sizeof problem));
    assert_non_null(strstr(problem, "same keys"));
    takes("zset:likes:{user} -> like video");
    two[1] = pattern;
    assert_true(redis_patterns_fit(two, 2, problem, sizeof problem));
}

static void tells_keys_apart(void **state)
{
    (void)state;
    struct redis_values values;
    takes("set:likes:{type}:{id} -> like");
    assert_int_equal(key_match("likes:video:1", &values), REDIS_FITS);
    assert_int_equal(key_match("likes:video:1:daily", &values), REDIS_OTHER);
    assert_int_equal(key_match("likes:video:", &values), REDIS_OTHER);
    assert_int_equal(key_match("likes::1", &values), REDIS_OTHER);
    assert_int_equal(key_match("dislikes:video:1", &values), REDIS_OTHER);
    assert_int_equal(key_match("likes:video", &values), REDIS_OTHER);
    assert_int_equal(key_match("", &values), REDIS_OTHER);
    assert_int_equal(key_match("likes:video:cat-video", &values), REDIS_BAD_VALUE);
    assert_int_equal(key_match("likes:Video:1", &values), REDIS_BAD_VALUE);
    assert_int_equal(key_match("likes:video:18446744073709551616", &values), REDIS_BAD_VALUE);
    assert_int_equal(key_match("likes:video:1 ", &values), REDIS_BAD_VALUE);
    struct text zero = {"likes:video:1\0", 14};
    assert_int_equal(redis_template_match(&pattern.key, zero, &values), REDIS_BAD_VALUE);
}

static void reads_in_one_way_only(void **state)
{
    (void)state;
    struct redis_values values;
    takes("set:{type}-{id} -> like");
    assert_int_equal(key_match("video-5", &values), REDIS_FITS);
    assert_int_equal(key_match("short-video-5", &values), REDIS_FITS);
    assert_value(&values, REDIS_TYPE, "short-video");
    assert_int_equal(key_match("video-0c4e1b9e-7a1f-4a57-9a37-5bb1b0a1c001", &values), REDIS_FITS);
    assert_value(&values, REDIS_TYPE, "video");
    assert_int_equal(key_match("a-0c4e1b9e-7a1f-4a57-9a37-555555555555", &values), REDIS_TWO_WAYS);
    takes("set:{id}-likes -> like video");
    assert_int_equal(key_match("0c4e1b9e-7a1f-4a57-9a37-5bb1b0a1c001-likes", &values), REDIS_FITS);
}

/* What is made from values is found again with these values, or can be read in two ways. */
static void finds_what_was_put_in(void **state)
{
    (void)state;
    static const char *const forms[] = {
        "{type}:{id}",   "{type}-{id}",         "{id}{{{type}",       "{id}_{type}x",
        "a{type}a{id}a", "1{id}1{user}1{type}", "*{user}?{id}[{type}"};
    struct chance chance = {test_seed()};
    unsigned fits = 0;
    for (unsigned round = 0; round < 20000; round++) {
        const char *form = forms[chance_below(&chance, sizeof forms / sizeof forms[0])];
        struct redis_template template;
        char escaped[128] = "", key[256] = "", value[3][40];
        snprintf(value[REDIS_ID], 40, "%u", chance_below(&chance, 1 + chance_below(&chance, 5000)));
        snprintf(value[REDIS_USER], 40, "%08x-1111-1111-1111-%012u",
                 1 + chance_below(&chance, 1000000), chance_below(&chance, 100000));
        snprintf(value[REDIS_TYPE], 40, "a%u%s", chance_below(&chance, 30),
                 chance_below(&chance, 2) ? "-a" : "_1");
        for (const char *at = form; *at != '\0';) {
            static const char *const names[] = {"{id}", "{user}", "{type}"};
            int hole = 0;
            while (hole < 3 && strncmp(at, names[hole], strlen(names[hole])) != 0)
                hole++;
            size_t length = hole < 3 ? strlen(names[hole]) : 1;
            snprintf(escaped + strlen(escaped), 16, "%s%.*s", *at == '{' && hole == 3 ? "\\" : "",
                     (int)length, at);
            snprintf(key + strlen(key), 64, "%.*s", hole < 3 ? 40 : 1, hole < 3 ? value[hole] : at);
            at += length;
        }
        struct redis_values values;
        assert_true(redis_template_parse((struct text){escaped, strlen(escaped)}, &template,
                                         problem, sizeof problem));
        enum redis_match match =
            redis_template_match(&template, (struct text){key, strlen(key)}, &values);
        assert_true(match == REDIS_FITS || match == REDIS_TWO_WAYS);
        for (int hole = 0; match == REDIS_FITS && hole < 3; hole++)
            if (redis_template_has(&template, (enum redis_hole)hole))
                assert_value(&values, (enum redis_hole)hole, value[hole]);
        fits += match == REDIS_FITS;
    }
    assert_true(fits > 10000);
}

/* Any bytes at all: never a crash, never an answer that says what is not true. */
static void stands_noise(void **state)
{
    (void)state;
    static const char alphabet[] = "{}iduserty:\\ ->*?[=,setzhashmbrflng0123";
    struct chance chance = {test_seed()};
    for (unsigned round = 0; round < 50000; round++) {
        char text[64];
        size_t length = chance_below(&chance, sizeof text);
        for (size_t i = 0; i < length; i++)
            text[i] = alphabet[chance_below(&chance, sizeof alphabet - 1)];
        text[length] = '\0';
        problem[0] = '\0';
        if (!redis_pattern_parse(text, &pattern, problem, sizeof problem))
            assert_true(problem[0] != '\0');
        struct redis_template template;
        struct redis_values values;
        if (!redis_template_parse((struct text){text, length}, &template, problem, sizeof problem))
            continue;
        char key[64];
        for (size_t i = 0; i < sizeof key; i++)
            key[i] = (char)chance_below(&chance, 256);
        if (redis_template_match(&template, (struct text){key, sizeof key}, &values) == REDIS_FITS)
            assert_int_equal(template.holes, 0);
    }
}

static void shows_any_bytes(void **state)
{
    (void)state;
    char shown[REDIS_SHOWN], all[512];
    assert_string_equal(redis_show((struct text){"a\n\x1b[1m\xff", 7}, shown),
                        "a\\x0a\\x1b[1m\\xff");
    memset(all, 0x80, sizeof all);
    redis_show((struct text){all, sizeof all}, shown);
    assert_true(strlen(shown) < REDIS_SHOWN);
    assert_string_equal(shown + strlen(shown) - 3, "...");
    assert_string_equal(redis_show((struct text){"", 0}, shown), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_layouts),           cmocka_unit_test(takes_escapes),
        cmocka_unit_test(refuses_what_is_unclear), cmocka_unit_test(refuses_pairs),
        cmocka_unit_test(tells_keys_apart),        cmocka_unit_test(reads_in_one_way_only),
        cmocka_unit_test(finds_what_was_put_in),   cmocka_unit_test(stands_noise),
        cmocka_unit_test(shows_any_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
