#include "support.h"

#include "hot/exclusive.h"

struct exclusive_bed {
    struct names *names;
    struct exclusive exclusive;
    char sentence[256];
};

static enum status parse(struct exclusive_bed *bed, const char *text)
{
    bed->names = names_new();
    assert_non_null(bed->names);
    strcpy(bed->sentence, "");
    return exclusive_parse(&bed->exclusive, text, bed->names, bed->sentence, sizeof(bed->sentence));
}

static void test_groups_are_read(void **state)
{
    (void)state;
    struct exclusive_bed bed;
    assert_int_equal(parse(&bed, " like , dislike;up,down , sideways ; "), STATUS_OK);
    assert_int_equal(bed.exclusive.group_count, 2);
    int like = names_find(bed.names, "like", 4);
    int dislike = names_find(bed.names, "dislike", 7);
    int sideways = names_find(bed.names, "sideways", 8);
    assert_int_equal(like, NAME_INDEX_LIKE);
    assert_true(dislike > 0 && sideways > 0);
    assert_int_equal(names_get(bed.names, (uint8_t)dislike)->role, NAME_KIND);
    assert_int_equal(bed.exclusive.group_of[like], 1);
    assert_int_equal(bed.exclusive.group_of[dislike], 1);
    assert_int_equal(bed.exclusive.group_of[sideways], 2);
    assert_int_equal(bed.exclusive.group_of[NAME_INDEX_COMMENT], 0);
    assert_int_equal(bed.exclusive.groups[0].count, 2);
    assert_int_equal(bed.exclusive.groups[1].count, 3);
    assert_int_equal(bed.exclusive.groups[1].kinds[2], sideways);
    names_free(bed.names);
}

static void test_nothing_is_no_group(void **state)
{
    (void)state;
    const char *texts[] = {"", "   "};
    for (size_t i = 0; i < 2; i++) {
        struct exclusive_bed bed;
        assert_int_equal(parse(&bed, texts[i]), STATUS_OK);
        assert_int_equal(bed.exclusive.group_count, 0);
        names_free(bed.names);
    }
}

static void test_mistakes_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *says;
    } cases[] = {
        {"like", "at least two"},
        {"like,like", "named twice"},
        {"like,dislike;dislike,up", "named twice"},
        {"like,Dislike", "'Dislike' is not the name"},
        {"like,", "is not the name"},
        {"like dislike", "expected ',' or ';'"},
        {"like,comment", "'comment'"},
        {";like,dislike", "is not the name"},
        {"a,b,c,d,e,f,g,h,i", "at most 8 kinds"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct exclusive_bed bed;
        assert_int_not_equal(parse(&bed, cases[i].text), STATUS_OK);
        if (strstr(bed.sentence, cases[i].says) == NULL)
            fail_msg("'%s' says: %s", cases[i].text, bed.sentence);
        names_free(bed.names);
    }
}

static void test_too_many_groups(void **state)
{
    (void)state;
    char text[1024] = "";
    for (int i = 0; i <= LIMIT_EXCLUSIVE_GROUPS; i++)
        sprintf(text + strlen(text), "a%d,b%d;", i, i);
    struct exclusive_bed bed;
    assert_int_equal(parse(&bed, text), STATUS_BAD_ARGUMENT);
    assert_non_null(strstr(bed.sentence, "groups"));
    names_free(bed.names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups_are_read),
        cmocka_unit_test(test_nothing_is_no_group),
        cmocka_unit_test(test_mistakes_are_named),
        cmocka_unit_test(test_too_many_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
