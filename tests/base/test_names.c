#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/name_lists.h"
#include "base/names.h"

static enum status intern(struct names *names, enum name_role role, const char *text,
                          uint16_t *index)
{
    return names_intern(names, role, text, strlen(text), index);
}

static void test_valid(void **state)
{
    (void)state;
    static const char *const good[] = {"a", "like", "a-b_c9", "abcdefghijklmnopqrstuvwxyz012345"};
    static const char *const bad[] = {
        "",    "Like", "9a",  "-a",          "_a",
        "a b", "a{b}", "a:b", "caf\xc3\xa9", "abcdefghijklmnopqrstuvwxyz0123456",
        "a\n"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_true(name_is_valid(good[i], strlen(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(name_is_valid(bad[i], strlen(bad[i])));
    assert_false(name_is_valid("a\0b", 3));
}

static void test_always_there(void **state)
{
    (void)state;
    struct names *names = names_new();
    assert_non_null(names);
    assert_int_equal(names_count(names), 2);
    assert_int_equal(names_type_count(names), 0);
    assert_int_equal(names_find(names, "like", 4), NAME_INDEX_LIKE);
    assert_int_equal(names_find(names, "comment", 7), NAME_INDEX_COMMENT);
    const struct name *like = names_get(names, NAME_INDEX_LIKE);
    assert_string_equal(like->text, "like");
    assert_int_equal(like->length, 4);
    assert_int_equal(like->role, NAME_KIND);
    assert_int_equal(like->bulk_length, 10);
    assert_memory_equal(like->bulk, "$4\r\nlike\r\n", 10);
    assert_int_equal(names_get(names, NAME_INDEX_COMMENT)->role, NAME_KEPT);
    names_free(names);
}

static void test_roles(void **state)
{
    (void)state;
    struct names *names = names_new();
    uint16_t index = 999, again = 999;
    assert_int_equal(intern(names, NAME_COUNTER, "view", &index), STATUS_OK);
    assert_int_equal(index, 2);
    assert_int_equal(intern(names, NAME_COUNTER, "view", &again), STATUS_OK);
    assert_int_equal(again, index);
    assert_int_equal(intern(names, NAME_KIND, "view", &again), STATUS_NOT_A_KIND);
    assert_int_equal(intern(names, NAME_KIND, "comment", &again), STATUS_NOT_A_KIND);
    assert_int_equal(intern(names, NAME_COUNTER, "like", &again), STATUS_NOT_A_COUNTER);
    assert_int_equal(intern(names, NAME_COUNTER, "comment", &again), STATUS_NOT_A_COUNTER);
    assert_int_equal(intern(names, NAME_TYPE, "like", &again), STATUS_OK); /* its own table */
    assert_int_equal(again, 0);
    assert_int_equal(names_find_type(names, "like", 4), 0);
    assert_int_equal(names_find_type(names, "view", 4), -1);
    assert_int_equal(names_find(names, "views", 5), -1);
    assert_int_equal(names_find(names, "vie", 3), -1);
    assert_int_equal(names_find(names, "", 0), -1);
    assert_int_equal(names_find(names, "abcdefghijklmnopqrstuvwxyz0123456", 33), -1);
    assert_int_equal(intern(names, NAME_KIND, "Bad", &again), STATUS_BAD_ARGUMENT);
    assert_int_equal(intern(names, NAME_KIND, "", &again), STATUS_BAD_ARGUMENT);
    assert_int_equal(names_count(names), 3);
    names_free(names);
}

static void assert_fills(enum name_role role, size_t already, size_t limit)
{
    struct names *names = names_new();
    char text[LIMIT_NAME_LENGTH + 1];
    uint16_t index;
    for (size_t i = already; i < limit; i++) {
        snprintf(text, sizeof text, "n%zu", i);
        assert_int_equal(intern(names, role, text, &index), STATUS_OK);
        assert_int_equal(index, i);
    }
    assert_int_equal(intern(names, role, "one-more", &index), STATUS_TABLE_FULL);
    assert_int_equal(names_test(names, role, "one-more", 8), STATUS_TABLE_FULL);
    assert_int_equal(names_test(names, role, text, strlen(text)), STATUS_OK);
    char sentence[256];
    names_refusal(names, STATUS_TABLE_FULL, role, "one-more", 8, sentence, sizeof sentence);
    assert_string_equal(sentence,
                        role == NAME_TYPE
                            ? "'one-more' would be a new type, but there are already 1024 "
                              "types, and there can be no more"
                            : "'one-more' would be a new counter, but there are already 250 "
                              "kinds and counters, and there can be no more");
    for (size_t i = already; i < limit; i++) {
        snprintf(text, sizeof text, "n%zu", i);
        assert_int_equal(intern(names, role, text, &index), STATUS_OK);
        assert_int_equal(index, i);
        assert_string_equal(role == NAME_TYPE ? names_type(names, index)->text
                                              : names_get(names, (uint8_t)index)->text,
                            text);
    }
    names_free(names);
}

static void test_full(void **state)
{
    (void)state;
    assert_fills(NAME_TYPE, 0, LIMIT_TYPES);
    assert_fills(NAME_COUNTER, 2, LIMIT_NAMES);
}

/* What is there stays and is found; only writes are refused, and nothing is made. */
static void test_lists(void **state)
{
    (void)state;
    struct names *names = names_new();
    struct name_lists lists = {
        .texts = {[NAME_TYPE] = "video", [NAME_KIND] = "love", [NAME_COUNTER] = "view"}};
    char sentence[256] = "";
    uint16_t index;
    assert_int_equal(intern(names, NAME_TYPE, "clip", &index), STATUS_OK);
    assert_int_equal(intern(names, NAME_KIND, "hate", &index), STATUS_OK);
    assert_int_equal(names_set_lists(names, &lists, sentence, sizeof sentence), STATUS_OK);
    assert_int_equal(intern(names, NAME_TYPE, "clip", &index), STATUS_NAME_NOT_LISTED);
    assert_int_equal(intern(names, NAME_KIND, "hate", &index), STATUS_NAME_NOT_LISTED);
    assert_int_equal(intern(names, NAME_KIND, "new", &index), STATUS_NAME_NOT_LISTED);
    assert_int_equal(intern(names, NAME_KIND, "view", &index), STATUS_NOT_A_KIND);
    assert_int_equal(names_test(names, NAME_COUNTER, "share", 5), STATUS_NAME_NOT_LISTED);
    assert_int_equal(names_test(names, NAME_COUNTER, "view", 4), STATUS_OK);
    assert_int_equal(names_test(names, NAME_COUNTER, "View", 4), STATUS_BAD_ARGUMENT);
    assert_int_equal(names_count(names), 3);
    assert_int_equal(names_find(names, "hate", 4), 2);
    names_refusal(names, STATUS_NAME_NOT_LISTED, NAME_KIND, "hate", 4, sentence, sizeof sentence);
    assert_string_equal(sentence, "the kind 'hate' is not one of --kinds: like, love");
    assert_int_equal(intern(names, NAME_KIND, "like", &index), STATUS_OK);
    assert_int_equal(intern(names, NAME_KIND, "love", &index), STATUS_OK);
    assert_int_equal(intern(names, NAME_TYPE, "video", &index), STATUS_OK);
    assert_int_equal(names_restore(names, NAME_KIND, 4, "old", 3), STATUS_OK); /* of the journal */
    assert_false(names_get(names, 4)->allowed);
    lists.texts[NAME_KIND] = "";
    lists.texts[NAME_COUNTER] = "view,hate";
    assert_int_equal(names_set_lists(names, &lists, sentence, sizeof sentence), STATUS_NOT_A_KIND);
    assert_string_equal(sentence, "--counters: 'hate' is a kind in the data");
    names_free(names);
}

static void expect_entry(const struct names *names, size_t at, const char *text, uint8_t role,
                         bool allowed, bool used)
{
    struct name_entry entry = names_entry(names, at, names_type_count(names));
    assert_string_equal(entry.name->text, text);
    assert_int_equal(entry.name->role, role);
    assert_int_equal(entry.allowed, allowed);
    assert_int_equal(entry.used, used);
}

static void test_entries(void **state)
{
    (void)state;
    struct names *names = names_new();
    struct name_lists lists = {.texts = {[NAME_TYPE] = "video"}};
    char sentence[64];
    uint16_t index;
    intern(names, NAME_TYPE, "video", &index);
    intern(names, NAME_TYPE, "clip", &index);
    intern(names, NAME_COUNTER, "view", &index);
    assert_int_equal(names_set_lists(names, &lists, sentence, sizeof sentence), STATUS_OK);
    names_note_use(names, 0, 2);
    names_set_group(names, NAME_INDEX_LIKE, 3);
    expect_entry(names, 0, "video", NAME_TYPE, true, true);
    expect_entry(names, 1, "clip", NAME_TYPE, false, false);
    expect_entry(names, 2, "like", NAME_KIND, true, false);
    expect_entry(names, 3, "comment", NAME_KEPT, false, false);
    expect_entry(names, 4, "view", NAME_COUNTER, true, true);
    assert_int_equal(names_get(names, NAME_INDEX_LIKE)->group, 3);
    names_free(names);
}

static void test_restore(void **state)
{
    (void)state;
    struct names *names = names_new();
    assert_int_equal(names_restore(names, NAME_KIND, 2, "dislike", 7), STATUS_OK);
    assert_int_equal(names_restore(names, NAME_KIND, 2, "dislike", 7), STATUS_OK);
    assert_int_equal(names_restore(names, NAME_KIND, 0, "like", 4), STATUS_OK);
    assert_int_equal(names_restore(names, NAME_KIND, 2, "hate", 4), STATUS_DAMAGED);
    assert_int_equal(names_restore(names, NAME_COUNTER, 2, "dislike", 7), STATUS_DAMAGED);
    assert_int_equal(names_restore(names, NAME_KIND, 3, "dislike", 7), STATUS_DAMAGED);
    assert_int_equal(names_restore(names, NAME_KIND, 4, "hate", 4), STATUS_DAMAGED); /* a gap */
    assert_int_equal(names_restore(names, NAME_KIND, 3, "Hate", 4), STATUS_DAMAGED);
    assert_int_equal(names_restore(names, (enum name_role)9, 3, "hate", 4), STATUS_DAMAGED);
    assert_int_equal(names_restore(names, NAME_TYPE, 0, "video", 5), STATUS_OK);
    assert_int_equal(names_restore(names, NAME_TYPE, 65535, "post", 4), STATUS_DAMAGED);
    assert_int_equal(names_count(names), 3);
    assert_int_equal(names_type_count(names), 1);
    names_free(names);
}

static enum status refuse(void *context, enum name_role role, uint16_t index, const char *text,
                          size_t length)
{
    (void)role, (void)index, (void)text, (void)length;
    ++*(int *)context;
    return STATUS_READONLY;
}

static void test_recorder_refuses(void **state)
{
    (void)state;
    struct names *names = names_new();
    int calls = 0;
    uint16_t index;
    names_set_recorder(names, refuse, &calls);
    assert_int_equal(intern(names, NAME_KIND, "fan", &index), STATUS_READONLY);
    assert_int_equal(names_find(names, "fan", 3), -1);
    assert_int_equal(names_count(names), 2);
    assert_int_equal(intern(names, NAME_KIND, "like", &index), STATUS_OK);
    assert_int_equal(calls, 1);
    names_set_recorder(names, NULL, NULL);
    assert_int_equal(intern(names, NAME_KIND, "fan", &index), STATUS_OK);
    assert_int_equal(index, 2);
    names_free(names);
}

#define THREADS      8
#define SHARED_NAMES 150
#define OWN_NAMES    8

/* What the threads of test_threads share; the recorder runs under the table's own mutex. */
struct crowd {
    struct names *names;
    pthread_barrier_t start;
    char recorded[LIMIT_NAMES][LIMIT_NAME_LENGTH + 1];
    size_t recorded_count;
    bool found_too_early;
};

struct member {
    struct crowd *crowd;
    unsigned number;
    bool failed;
    uint16_t shared[SHARED_NAMES];
    uint16_t own[OWN_NAMES];
    pthread_t thread;
};

static enum status record(void *context, enum name_role role, uint16_t index, const char *text,
                          size_t length)
{
    struct crowd *crowd = context;
    if (names_find(crowd->names, text, length) != -1 || names_count(crowd->names) != index ||
        role != NAME_COUNTER)
        crowd->found_too_early = true;
    memcpy(crowd->recorded[index], text, length);
    crowd->recorded_count++;
    return STATUS_OK;
}

/* Finds before, interns, and reads what came back; false if anything disagrees. */
static bool intern_and_look(struct names *names, const char *text, uint16_t *index)
{
    int before = names_find(names, text, strlen(text));
    if (intern(names, NAME_COUNTER, text, index) != STATUS_OK)
        return false;
    if (before != -1 && before != *index)
        return false;
    if (names_find(names, text, strlen(text)) != *index || names_count(names) <= *index)
        return false;
    const struct name *name = names_get(names, (uint8_t)*index);
    return strcmp(name->text, text) == 0 && name->role == NAME_COUNTER;
}

static void *run_member(void *argument)
{
    struct member *member = argument;
    struct names *names = member->crowd->names;
    char text[LIMIT_NAME_LENGTH + 1];
    pthread_barrier_wait(&member->crowd->start);
    for (unsigned i = 0; i < SHARED_NAMES; i++) {
        unsigned which = (i * 7 + member->number % 2) % SHARED_NAMES; /* two orders */
        snprintf(text, sizeof text, "shared-%u", which);
        if (!intern_and_look(names, text, &member->shared[which]))
            member->failed = true;
        if (i < OWN_NAMES) {
            snprintf(text, sizeof text, "own-%u-%u", member->number, i);
            if (!intern_and_look(names, text, &member->own[i]))
                member->failed = true;
        }
    }
    return NULL;
}

static void check_crowd(struct crowd *crowd, const struct member *members)
{
    char text[LIMIT_NAME_LENGTH + 1];
    assert_false(crowd->found_too_early);
    assert_int_equal(crowd->recorded_count, SHARED_NAMES + THREADS * OWN_NAMES);
    assert_int_equal(names_count(crowd->names), 2 + SHARED_NAMES + THREADS * OWN_NAMES);
    for (unsigned t = 0; t < THREADS; t++) {
        assert_false(members[t].failed);
        assert_memory_equal(members[t].shared, members[0].shared, sizeof members[0].shared);
        for (unsigned i = 0; i < OWN_NAMES; i++) {
            snprintf(text, sizeof text, "own-%u-%u", t, i);
            assert_string_equal(crowd->recorded[members[t].own[i]], text);
        }
    }
    for (unsigned i = 0; i < SHARED_NAMES; i++) {
        snprintf(text, sizeof text, "shared-%u", i);
        assert_string_equal(crowd->recorded[members[0].shared[i]], text);
    }
}

_Static_assert(2 + SHARED_NAMES + THREADS * OWN_NAMES <= LIMIT_NAMES, "they all fit");

static void test_threads(void **state)
{
    (void)state;
    for (int round = 0; round < 50; round++) {
        struct crowd crowd = {.names = names_new()};
        struct member members[THREADS] = {0};
        pthread_barrier_init(&crowd.start, NULL, THREADS);
        names_set_recorder(crowd.names, record, &crowd);
        for (unsigned t = 0; t < THREADS; t++) {
            members[t] = (struct member){.crowd = &crowd, .number = t};
            assert_int_equal(pthread_create(&members[t].thread, NULL, run_member, &members[t]), 0);
        }
        for (unsigned t = 0; t < THREADS; t++)
            pthread_join(members[t].thread, NULL);
        check_crowd(&crowd, members);
        pthread_barrier_destroy(&crowd.start);
        names_free(crowd.names);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valid),   cmocka_unit_test(test_always_there),
        cmocka_unit_test(test_roles),   cmocka_unit_test(test_full),
        cmocka_unit_test(test_lists),   cmocka_unit_test(test_entries),
        cmocka_unit_test(test_restore), cmocka_unit_test(test_recorder_refuses),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
