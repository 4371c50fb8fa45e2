/* Lists of words against a search for each word by itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/limits.h"
#include "chance.h"
#include "comment/words.h"

static struct words *words_of(const char *lines)
{
    char problem[128];
    struct words *words = words_new(text_from(lines), problem, sizeof problem);
    if (words == NULL)
        fail_msg("%s", problem);
    return words;
}

static void expect(const char *lines, const char *text, bool found)
{
    struct words *words = words_of(lines);
    if (words_find(words, text_from(text)) != found)
        fail_msg("\"%s\" in \"%s\"", lines, text);
    words_free(words);
}

static void words_and_phrases(void **state)
{
    (void)state;
    expect("", "anything", false);
    expect("\n\r\n  \n", "anything", false);
    expect("spam\n", "this is SPAM!", true);
    expect("  Spam \r\nham", "spam", true);
    expect("buy now", "please BUY NOW", true);
    expect("buy now", "please buy  now", false);
    expect("spam\nspam\nSPAM", "spam", true);
    expect("a", "", false);
}

static void a_word_in_a_longer_word_is_another_word(void **state)
{
    (void)state;
    expect("ass", "class", false);
    expect("ass", "assist", false);
    expect("ass", "you ass", true);
    expect("ass", "ass.", true);
    expect("ass", "class ass", true);
    expect("class\nass", "class", true);
    expect("lass\nass", "a class", false);
    expect("$$$", "win1000$$$now", true); /* begins and ends with no letter */
    expect("坏词", "这是坏词吗", true);
    expect("坏", "好", false);
}

enum { WORDS = 40, TEXT = 60, ROUNDS = 3000 };

static bool is_letter(char byte)
{
    return byte >= 'a' && byte <= 'z';
}

static bool model_find(const char *words[WORDS], size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(words[i]);
        for (const char *at = strstr(text, words[i]); at != NULL; at = strstr(at + 1, words[i])) {
            bool begins = at == text || !is_letter(at[0]) || !is_letter(at[-1]);
            if (begins && (!is_letter(at[length - 1]) || !is_letter(at[length])))
                return true;
        }
    }
    return false;
}

/* A small alphabet, so that words overlap, begin alike and contain each other. */
static void random_word(struct chance *chance, char *out, size_t length)
{
    for (size_t i = 0; i < length; i++)
        out[i] = "ab--*"[chance_below(chance, 5)];
    out[length] = '\0';
}

static void random_words_as_one_by_one(void **state)
{
    (void)state;
    struct chance chance = {test_seed()};
    unsigned found = 0;
    for (unsigned round = 0; round < ROUNDS / SANITIZED_PART; round++) {
        char texts[WORDS][16];
        const char *words[WORDS];
        char lines[WORDS * 16] = "";
        size_t count = 1 + chance_below(&chance, WORDS);
        for (size_t i = 0; i < count; i++) {
            random_word(&chance, texts[i], 3 + chance_below(&chance, 8));
            words[i] = texts[i];
            strcat(strcat(lines, texts[i]), "\n");
        }
        struct words *list = words_of(lines);
        for (unsigned i = 0; i < 20; i++) {
            char text[TEXT + 1];
            random_word(&chance, text, chance_below(&chance, TEXT));
            bool wanted = model_find(words, count, text);
            found += wanted;
            if (words_find(list, text_from(text)) != wanted)
                fail_msg("%s in %s", lines, text);
        }
        words_free(list);
    }
    assert_true(found > 0);
}

static void a_hundred_thousand_words(void **state)
{
    (void)state;
    static char lines[LIMIT_BLOCKED_WORDS * 16 + 32];
    char problem[128];
    size_t length = 0;
    for (unsigned i = 0; i < LIMIT_BLOCKED_WORDS; i++)
        length += (size_t)sprintf(lines + length, "word-%u\n", i);
    struct words *words = words_new((struct text){lines, length}, problem, sizeof problem);
    assert_non_null(words);
    assert_true(words_find(words, text_from("the word-99999 is here")));
    assert_false(words_find(words, text_from("the word-100000 is not")));
    words_free(words);
    length += (size_t)sprintf(lines + length, "one more\n");
    assert_null(words_new((struct text){lines, length}, problem, sizeof problem));
    assert_non_null(strstr(problem, "more than"));
}

static void bad_lines(void **state)
{
    (void)state;
    char problem[128];
    char line[LIMIT_BLOCKED_WORD + 2];
    assert_null(words_new(text_from("good\nbad \xff\n"), problem, sizeof problem));
    assert_non_null(strstr(problem, "line 2"));
    memset(line, 'x', sizeof line);
    line[sizeof line - 1] = '\0';
    assert_null(words_new(text_from(line), problem, sizeof problem));
    assert_non_null(strstr(problem, "line 1"));
    line[sizeof line - 2] = '\0';
    expect(line, line, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_and_phrases),
        cmocka_unit_test(a_word_in_a_longer_word_is_another_word),
        cmocka_unit_test(random_words_as_one_by_one),
        cmocka_unit_test(a_hundred_thousand_words),
        cmocka_unit_test(bad_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
