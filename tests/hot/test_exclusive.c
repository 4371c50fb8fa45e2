#include "support.h"

#include "base/name_lists.h"
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
    assert_int_equal(names_get(bed.names, (uint8_t)sideways)->group, 2);
    assert_int_equal(names_get(bed.names, NAME_INDEX_LIKE)->group, 1);
    assert_int_equal(names_get(bed.names, NAME_INDEX_COMMENT)->group, 0);
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
        {"like,\x1b[2J", "'?[2J' is not the name"},
        {"like \x1b", "before '?'"},
        {"like,comment", "'comment'"},
        {";like,dislike", "is not the name"},
        {"a,b,c,d,e,f,g,h,i", "at most 8 kinds"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct exclusive_bed bed;
        assert_int_not_equal(parse(&bed, cases[i].text), STATUS_OK);
        if (strstr(bed.sentence, cases[i].says) == NULL)
            fail_msg("'%s' says: %s", cases[i].text, bed.sentence);
        assert_int_not_equal(
            exclusive_check(cases[i].text, NULL, bed.sentence, sizeof bed.sentence), STATUS_OK);
        assert_non_null(strstr(bed.sentence, cases[i].says));
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

/* A kind is for ever: a text that is refused at its end has made none at its beginning. */
static void test_a_refused_text_makes_no_kind(void **state)
{
    (void)state;
    static const char *const texts[] = {"like,up;like,down", "up,down;left,comment", "up,down;left",
                                        "up,down;left,view"};
    struct exclusive_bed bed = {.names = names_new()};
    uint16_t index;
    assert_int_equal(names_intern(bed.names, NAME_COUNTER, "view", 4, &index), STATUS_OK);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_int_not_equal(
            exclusive_parse(&bed.exclusive, texts[i], bed.names, bed.sentence, sizeof bed.sentence),
            STATUS_OK);
        assert_int_equal(names_count(bed.names), 3);
        assert_int_equal(bed.exclusive.group_count, 0);
    }
    assert_int_equal(exclusive_check("up,down;left,view", NULL, bed.sentence, sizeof bed.sentence),
                     STATUS_OK);
    names_free(bed.names);
}

/* What lists do not allow is no kind of a group, whatever names there are. */
static void test_groups_are_within_the_lists(void **state)
{
    (void)state;
    static const struct {
        const char *text, *kinds, *counters;
        enum status status;
        const char *says;
    } cases[] = {
        {"like,dislike", "dislike", "view", STATUS_OK, ""},
        {"like,dislike", "", "view", STATUS_OK, ""},
        {"like,dislike", "love", "", STATUS_NAME_NOT_LISTED,
         "'dislike' is not one of --kinds: like"},
        {"like,view", "", "view", STATUS_NOT_A_KIND, "'view'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct exclusive_bed bed = {.names = names_new()};
        struct name_lists lists = {
            .texts = {[NAME_KIND] = cases[i].kinds, [NAME_COUNTER] = cases[i].counters}};
        assert_int_equal(exclusive_check(cases[i].text, &lists, bed.sentence, sizeof bed.sentence),
                         cases[i].status);
        assert_non_null(strstr(bed.sentence, cases[i].says));
        assert_int_equal(names_set_lists(bed.names, &lists, bed.sentence, sizeof bed.sentence),
                         STATUS_OK);
        assert_int_equal(exclusive_parse(&bed.exclusive, cases[i].text, bed.names, bed.sentence,
                                         sizeof bed.sentence),
                         cases[i].status);
        assert_int_equal(names_count(bed.names), cases[i].status == STATUS_OK ? 3 : 2);
        names_free(bed.names);
    }
}

/* There is room for one more name, and two are wanted. */
static void test_a_full_table_takes_no_half_of_a_group(void **state)
{
    (void)state;
    struct exclusive_bed bed = {.names = names_new()};
    uint16_t index;
    char text[16];
    while (names_count(bed.names) < LIMIT_NAMES - 1) {
        int length = sprintf(text, "n%zu", names_count(bed.names));
        assert_int_equal(names_intern(bed.names, NAME_KIND, text, (size_t)length, &index),
                         STATUS_OK);
    }
    assert_int_equal(
        exclusive_parse(&bed.exclusive, "up,down", bed.names, bed.sentence, sizeof bed.sentence),
        STATUS_TABLE_FULL);
    assert_int_equal(names_count(bed.names), LIMIT_NAMES - 1);
    assert_int_equal(
        exclusive_parse(&bed.exclusive, "up,like", bed.names, bed.sentence, sizeof bed.sentence),
        STATUS_OK);
    names_free(bed.names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups_are_read),
        cmocka_unit_test(test_nothing_is_no_group),
        cmocka_unit_test(test_mistakes_are_named),
        cmocka_unit_test(test_too_many_groups),
        cmocka_unit_test(test_a_refused_text_makes_no_kind),
        cmocka_unit_test(test_a_full_table_takes_no_half_of_a_group),
        cmocka_unit_test(test_groups_are_within_the_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
