/* The short way takes what is plain, and whatever it takes is what jansson makes of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../chance.h"
#include "http/json_plain.h"

#define ROUNDS   20000
#define TEXT_MAX 4096

/* Is it taken? If so, it must be the same as by jansson. */
static bool taken(const char *bytes, size_t length)
{
    json_error_t error;
    char *copy = malloc(length ? length : 1); /* no byte behind it */
    assert_non_null(copy);
    memcpy(copy, bytes, length);
    json_t *plain = json_plain_read((struct text){copy, length});
    json_t *full = json_loadb(copy, length, JSON_REJECT_DUPLICATES, &error);
    if (plain != NULL && (full == NULL || !json_equal(plain, full)))
        fail_msg("'%.*s' is read in two ways", (int)length, bytes);
    bool was = plain != NULL;
    json_decref(plain);
    json_decref(full);
    free(copy);
    return was;
}

#define TAKEN(bytes) taken(bytes, sizeof(bytes) - 1)

static void plain_is_taken(void **state)
{
    (void)state;
    assert_true(TAKEN("{}"));
    assert_true(TAKEN("[]"));
    assert_true(TAKEN(" \t\r\n{ \"a\" : [ ] , \"b\" : { } } \n"));
    assert_true(TAKEN("{\"user\":\"1\",\"items\":[\"video:1\", \"video:2\"],\"cold\":\"no\"}"));
    assert_true(TAKEN("{\"operations\":[[\"LIKE\",\"1\",\"video:1\"],[\"PING\"],[]]}"));
    assert_true(TAKEN("{\"\":\"\",\"delta\":-5,\"z\":0}"));
    assert_true(TAKEN("[999999999999999999,-999999999999999999,1 ]"));
}

static void all_else_is_left(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        " ",
        "\"a\"",
        "1",
        "{",
        "[",
        "{}x",
        "{}{}",
        "[1,]",
        "[,1]",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{1:2}",
        "[1 2]",
        "[01]",
        "[-]",
        "[-0]",
        "[00]",
        "[1.5]",
        "[1e3]",
        "[1",
        "[\"a",
        "[\"a\\n\"]",
        "[true]",
        "[null]",
        "[\"\xc3\xa9\"]",
        "['a']",
        "[\"\n\"]",
        "[+1]",
        "{\"a\":1]",
        "[1}",
        "[1000000000000000000]",
        "[99999999999999999999]",
        "{\"a\":1,\"b\":2,\"a\":3}",
        "{\"a\":{\"b\":1,\"b\":1}}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (taken(texts[i], strlen(texts[i])))
            fail_msg("'%s' was taken", texts[i]);
    }
    assert_false(TAKEN("{}\0"));
    assert_false(TAKEN("[\"a\0b\"]"));
}

/* Writes a value, mostly plain; names are few, so that some come twice. */
static void make_value(struct chance *chance, FILE *out, int depth)
{
    static const char *const leaves[] = {"\"video:1\"", "\"\"",        "0",    "-17",
                                         "\"x y\"",     "\"\\u0041\"", "true", "12345678901234567",
                                         "1.5",         "\"}\""};
    uint32_t kind = chance_below(chance, depth < 5 ? 4 : 2);
    if (kind < 2) {
        fputs(leaves[chance_below(chance, sizeof leaves / sizeof leaves[0])], out);
        return;
    }
    uint32_t count = chance_below(chance, 4);
    fputs(kind == 2 ? "[" : "{", out);
    for (uint32_t i = 0; i < count; i++) {
        fputs(i > 0 ? chance_below(chance, 2) ? "," : " , " : "", out);
        if (kind == 3)
            fprintf(out, "\"%c\":", 'a' + (int)chance_below(chance, 20));
        make_value(chance, out, depth + 1);
    }
    fputs(kind == 2 ? "]" : "}", out);
}

static void random_texts(void **state)
{
    (void)state;
    struct chance chance = {test_seed()};
    unsigned count = 0;
    for (int round = 0; round < ROUNDS; round++) {
        char text[TEXT_MAX] = "";
        FILE *out = fmemopen(text, sizeof text, "w");
        assert_non_null(out);
        fputs("[", out);
        make_value(&chance, out, 0);
        fputs("]", out);
        long length = ftell(out);
        fclose(out);
        if (length <= 0 || length >= TEXT_MAX - 1)
            continue;
        count += taken(text, (size_t)length);
        for (int i = 0; i < 3; i++) {
            text[chance_below(&chance, (uint32_t)length)] =
                "\"\\{}[],: 0-9a\n"[chance_below(&chance, 14)];
            taken(text, (size_t)length);
        }
    }
    assert_true(count > ROUNDS / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_is_taken),
        cmocka_unit_test(all_else_is_left),
        cmocka_unit_test(random_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
