/* The descriptions of operations agree with themselves: other code relies on it without looking. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "op/op.h"

static size_t count_of(const struct op_spec *spec, enum op_word word)
{
    size_t count = 0;
    for (size_t i = 0; i < spec->args_min; i++)
        count += spec->words[i] == word;
    return count;
}

static void words_fit_the_bounds(void **state)
{
    (void)state;
    for (size_t i = 0; i < op_count(); i++) {
        const struct op_spec *spec = op_get(i);
        size_t one = count_of(spec, WORD_ITEM) + count_of(spec, WORD_COMMENT);
        size_t many = count_of(spec, WORD_ITEMS) + count_of(spec, WORD_COMMENTS);
        assert_true(spec->args_min <= OP_WORDS);
        assert_int_equal(strlen((const char *)spec->words), spec->args_min);
        assert_int_equal(one + many, spec->items_max > 0);
        assert_int_equal(many, spec->items_max > 1);
        assert_int_equal(spec->args_max == UINT16_MAX, many > 0 || spec->extra == EXTRA_POST);
        if (many > 0)
            assert_true(spec->words[spec->args_min - 1] == WORD_ITEMS ||
                        spec->words[spec->args_min - 1] == WORD_COMMENTS);
        else if (spec->extra < EXTRA_POST)
            assert_int_equal((spec->args_max - spec->args_min) % 2, 0);
        assert_true(spec->extra != EXTRA_FEED || many > 0);
        assert_int_equal(spec->extra == EXTRA_READER, count_of(spec, WORD_COMMENTS) > 0);
        assert_int_equal(count_of(spec, WORD_USER), op_has_user(spec));
        assert_true(op_items_at(spec) < spec->args_min || spec->items_max == 0);
        assert_true(spec->shape < SHAPE_TOTAL);
        assert_int_equal(op_limit_max(spec) > 0, strstr(spec->arguments, "[LIMIT n]") != NULL);
    }
}

/* The names of arguments, as people read them, are as many as the words. */
static void arguments_name_the_words(void **state)
{
    (void)state;
    static const char *const names[WORD_TOTAL] = {
        [WORD_USER] = "user",        [WORD_KIND] = "kind",    [WORD_COUNTER] = "counter",
        [WORD_DELTA] = "delta",      [WORD_TYPE] = "type",    [WORD_ANY_COUNTER] = "counter",
        [WORD_ITEM] = "item",        [WORD_ITEMS] = "item",   [WORD_COMMENT] = "comment",
        [WORD_COMMENTS] = "comment", [WORD_TEXT] = "text",    [WORD_STATE] = "state",
        [WORD_QUEUE] = "queue",      [WORD_CURSOR] = "cursor"};
    for (size_t i = 0; i < op_count(); i++) {
        const char *at = op_get(i)->arguments;
        for (size_t word = 0; word < op_get(i)->args_min; word++) {
            const char *name = names[op_get(i)->words[word]];
            assert_memory_equal(at, name, strlen(name));
            at += strlen(name);
            at += *at == ' ';
        }
        assert_true(*at == '\0' || *at == '[');
    }
}

/* One action, one shape, whatever the operation is called. */
static void an_action_has_one_shape(void **state)
{
    (void)state;
    for (size_t i = 0; i < op_count(); i++)
        for (size_t j = 0; j < i; j++)
            if (op_get(i)->action == op_get(j)->action)
                assert_int_equal(op_get(i)->shape, op_get(j)->shape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_fit_the_bounds),
        cmocka_unit_test(arguments_name_the_words),
        cmocka_unit_test(an_action_has_one_shape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
