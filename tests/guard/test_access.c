/* The file of tokens, well-formed and hostile; finding a token; the types it is for. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "chance.h"
#include "guard/access.h"

#define READER "reader-0123456789"
#define WRITER "writer-0123456789"

static bool parse(struct access *access, const char *text)
{
    char problem[256] = "";
    bool good = access_parse(access, text, strlen(text), problem, sizeof problem);
    assert_int_equal(good, problem[0] == '\0');
    assert_null(strstr(problem, "0123456789"));
    return good;
}

static void tokens_are_found_whole_or_not_at_all(void **state)
{
    (void)state;
    struct access access;
    assert_true(parse(&access, "# people\n\n  read\t" READER "\r\nwrite " WRITER
                               " video,clip\nadmin admin-0123456789"
                               "\nmoderator moderator-01234567"));
    assert_int_equal(access.count, 4);
    assert_ptr_equal(access_find(&access, text_from(READER)), &access.tokens[0]);
    assert_ptr_equal(access_find(&access, text_from(WRITER)), &access.tokens[1]);
    assert_int_equal(access_find(&access, text_from("admin-0123456789"))->role, ROLE_ADMIN);
    enum role moderator = access_find(&access, text_from("moderator-01234567"))->role;
    assert_true(moderator > ROLE_WRITE && moderator < ROLE_ADMIN);
    char text[ACCESS_TOKEN_MAX + 2] = READER;
    for (size_t length = 0; length <= sizeof text; length++) {
        bool whole = length == strlen(READER);
        assert_int_equal(access_find(&access, (struct text){text, length}) != NULL, whole);
    }
    for (size_t i = 0; i < strlen(READER); i++) {
        text[i] ^= 1;
        assert_null(access_find(&access, (struct text){text, strlen(READER)}));
        text[i] ^= 1;
    }
    access_free(&access);
    assert_false(access_is_on(&access));
    assert_null(access_find(&access, text_from(READER)));
}

static void types_are_compared_whole(void **state)
{
    (void)state;
    struct access access;
    assert_true(parse(&access, "read " READER " video,clip\nread " WRITER));
    const struct access_token *some = &access.tokens[0], *all = &access.tokens[1];
    assert_true(access_has_type(some, text_from("video")));
    assert_true(access_has_type(some, text_from("clip")));
    assert_false(access_has_type(some, text_from("vide")));
    assert_false(access_has_type(some, text_from("videos")));
    assert_false(access_has_type(some, text_from("video,clip")));
    assert_false(access_has_type(some, text_from("")));
    assert_true(access_has_type(all, text_from("anything")));
    access_free(&access);
}

static void bad_lines_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "\n\n# nothing\n",
        "read\n",
        "root " READER,
        "READ " READER,
        "read short-012345678",
        "read \x80\x81\x82\x83\x84\x85\x86\x87\x88\x89\x8a\x8b\x8c\x8d\x8e\x8f",
        "read " READER " video,",
        "read " READER " ,video",
        "read " READER " Video",
        "read " READER " video clip",
        "read " READER " a,,b",
        "read " READER "\nwrite " READER,
        READER,
    };
    struct access access;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(parse(&access, bad[i]));
        assert_false(access_is_on(&access));
        assert_null(access.tokens);
    }
    char problem[256];
    static const char zero[] = "read reader-01234\0 56789\n";
    assert_false(access_parse(&access, zero, sizeof zero - 1, problem, sizeof problem));
}

static void there_is_an_end_to_tokens_and_their_length(void **state)
{
    (void)state;
    static char text[ACCESS_TOKENS_MAX * 64 + 512];
    struct access access;
    size_t at = 0;
    for (unsigned i = 0; i < ACCESS_TOKENS_MAX; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "write token-number-%06u\n", i);
    assert_true(parse(&access, text));
    assert_int_equal(access.count, ACCESS_TOKENS_MAX);
    assert_ptr_equal(access_find(&access, text_from("token-number-000255")), &access.tokens[255]);
    access_free(&access);
    snprintf(text + at, sizeof text - at, "write one-too-many-tokens\n");
    assert_false(parse(&access, text));
    for (unsigned more = 0; more < 2; more++) {
        snprintf(text, sizeof text, "read %0*d", (int)(ACCESS_TOKEN_MAX + more), 7);
        assert_int_equal(parse(&access, text), more == 0);
        access_free(&access);
    }
}

static void any_bytes_are_taken_or_refused(void **state)
{
    (void)state;
    struct chance chance = {test_seed()};
    static const char pieces[] = "read write admin #\n\r\t ,,abc-_0123456789video\0\xff\x01";
    for (unsigned round = 0; round < 20000; round++) {
        char text[200], problem[256];
        size_t length = chance_below(&chance, sizeof text + 1);
        char *copy = malloc(length + 1); /* so that a sanitizer sees its end */
        assert_non_null(copy);
        for (size_t i = 0; i < length; i++)
            copy[i] = pieces[chance_below(&chance, sizeof pieces - 1)];
        if (length > 30)
            memcpy(copy, "write ", 6);
        struct access access;
        if (access_parse(&access, copy, length, problem, sizeof problem))
            assert_in_range(access.count, 1, ACCESS_TOKENS_MAX);
        access_free(&access);
        free(copy);
    }
}

static void a_file_must_be_its_owners_alone(void **state)
{
    (void)state;
    char directory[] = "/tmp/laud-access-XXXXXX", path[64], problem[512];
    struct access access = {0};
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/tokens", directory);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("read " READER "\n", file);
    fclose(file);
    static const mode_t bad[] = {0640, 0604, 0620, 0602, 0610, 0601, 0777};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(chmod(path, bad[i]), 0);
        assert_false(access_load(&access, path, problem, sizeof problem));
        assert_non_null(strstr(problem, "chmod 600"));
    }
    assert_int_equal(chmod(path, 0600), 0);
    assert_true(access_load(&access, path, problem, sizeof problem));
    assert_int_equal(access.count, 1);
    access_free(&access);
    assert_int_equal(truncate(path, 300 * 1024), 0);
    assert_false(access_load(&access, path, problem, sizeof problem));
    assert_false(access_load(&access, directory, problem, sizeof problem));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_false(access_load(&access, path, problem, sizeof problem));
    unlink(path);
    rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_are_found_whole_or_not_at_all),
        cmocka_unit_test(types_are_compared_whole),
        cmocka_unit_test(bad_lines_are_refused),
        cmocka_unit_test(there_is_an_end_to_tokens_and_their_length),
        cmocka_unit_test(any_bytes_are_taken_or_refused),
        cmocka_unit_test(a_file_must_be_its_owners_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
