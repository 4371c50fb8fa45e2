#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/template.h"

static const struct template_space space = {.users = 1000, .items = 1000, .requests = 100};
static struct template_scratch scratch;
static char problem[256];

/* Compiles, renders once into exactly max_bytes, and returns the text, terminated. */
static char *rendered(const char *text, const struct template_space *from, struct random *random,
                      uint64_t sequence)
{
    struct template *template = template_compile(text, from, problem, sizeof(problem));
    if (template == NULL) {
        fail_msg("'%s': %s", text, problem);
        return NULL;
    }
    char *out = malloc(template->max_bytes + 1);
    char *end = template_render(template, random, sequence, &scratch, out);
    assert_true((size_t)(end - out) <= template->max_bytes);
    *end = '\0';
    template_free(template);
    return out;
}

static void check(const char *text, uint64_t sequence, const char *expected)
{
    struct random random = {1};
    char *out = rendered(text, &space, &random, sequence);
    assert_string_equal(out, expected);
    free(out);
}

static void plain_words(void **state)
{
    (void)state;
    check("PING", 0, "*1\r\n$4\r\nPING\r\n");
    check("  SET   a  b ", 0, "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\nb\r\n");
    check("A ; B c", 0, "*1\r\n$1\r\nA\r\n*2\r\n$1\r\nB\r\n$1\r\nc\r\n");
    check("A a;b", 0, "*2\r\n$1\r\nA\r\n$3\r\na;b\r\n");
}

static void sequence_and_arithmetic(void **state)
{
    (void)state;
    check("G {seq}", 7, "*2\r\n$1\r\nG\r\n$1\r\n7\r\n");
    check("G k:{seq}:{seq%10}", 42, "*2\r\n$1\r\nG\r\n$6\r\nk:42:2\r\n");
    check("G {seq/10*3+5-1}", 42, "*2\r\n$1\r\nG\r\n$2\r\n16\r\n");
    check("G {seq+1000000000000000000}", 99, "*2\r\n$1\r\nG\r\n$19\r\n1000000000000000099\r\n");
    check("G x{seq*7919%100}y{seq}z", 3, "*2\r\n$1\r\nG\r\n$6\r\nx57y3z\r\n");
}

static void repetition(void **state)
{
    (void)state;
    check("F {3*v:{seq}}", 5, "*4\r\n$1\r\nF\r\n$3\r\nv:5\r\n$3\r\nv:5\r\n$3\r\nv:5\r\n");
    check("{2*H a ;} Z", 0,
          "*2\r\n$1\r\nH\r\n$1\r\na\r\n*2\r\n$1\r\nH\r\n$1\r\na\r\n*1\r\n$1\r\nZ\r\n");
}

static void expansion(void **state)
{
    (void)state;
    const char *const pairs[][2] = {
        {"{2*a:{item.n}}", "a:{item.1} a:{item.2}"},
        {"{2*{user.n%10} x} {1*y}", "{user.1%10} x {user.2%10} x y"},
        {"{2*{item.n} {2*{user.n}}}", "{item.1} {user.1} {user.2} {item.2} {user.1} {user.2}"},
        {"{sha} {user}", "abc {user}"},
    };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        char *expanded = template_expand(pairs[i][0], "abc", problem, sizeof(problem));
        assert_non_null(expanded);
        assert_string_equal(expanded, pairs[i][1]);
        free(expanded);
    }
}

/* Reads "$length\r\nnumber\r\n", checks that the length is right, and moves on. */
static uint64_t word_number(const char **at)
{
    char *end;
    assert_int_equal(**at, '$');
    unsigned long length = strtoul(*at + 1, &end, 10);
    const char *digits = end + 2;
    uint64_t number = strtoull(digits, &end, 10);
    assert_int_equal(end - digits, length);
    assert_memory_equal(end, "\r\n", 2);
    *at = end + 2;
    return number;
}

/* A label is one draw a request; without one every place draws for itself. */
static void labels(void **state)
{
    (void)state;
    struct random random = {3};
    const struct template_space wide = {.users = 1000000, .items = 1000000, .id_base = 1000000};
    int different = 0;
    uint64_t last = 0;
    for (int i = 0; i < 100; i++) {
        char *out = rendered("{item.1} {item} {item.1} {item.1%10}", &wide, &random, 0);
        const char *at = out + strlen("*4\r\n");
        uint64_t labelled = word_number(&at);
        uint64_t own = word_number(&at);
        assert_int_equal(word_number(&at), labelled);
        assert_int_equal(word_number(&at), labelled % 10);
        assert_int_equal(*at, '\0');
        different += (labelled != own) + (labelled != last);
        last = labelled;
        free(out);
    }
    assert_true(different > 190);
}

static void draws_stay_in_range(void **state)
{
    (void)state;
    struct random random = {4};
    const struct template_space small = {.users = 10, .items = 3, .id_base = 95};
    struct template *template =
        template_compile("{user} {item} {rand:7-12}", &small, problem, sizeof(problem));
    assert_non_null(template);
    unsigned seen[3][128] = {{0}};
    for (int i = 0; i < 10000; i++) {
        char out[128];
        *template_render(template, &random, 0, &scratch, out) = '\0';
        const char *at = out + strlen("*3\r\n");
        uint64_t user = word_number(&at);
        uint64_t item = word_number(&at);
        uint64_t other = word_number(&at);
        assert_in_range(user, 95, 104);
        assert_in_range(item, 95, 97);
        assert_in_range(other, 7, 12);
        seen[0][user] = seen[1][item] = seen[2][other] = 1;
    }
    unsigned distinct = 0;
    for (int i = 0; i < 128; i++)
        distinct += seen[0][i] + seen[1][i] + seen[2][i];
    assert_int_equal(distinct, 10 + 3 + 6);
    template_free(template);
}

static void zipf_prefers_the_first(void **state)
{
    (void)state;
    struct random random = {5};
    const struct template_space skewed = {.users = 9, .items = 9, .theta = 1.5};
    struct template *template = template_compile("{item}", &skewed, problem, sizeof(problem));
    assert_non_null(template);
    unsigned seen[9] = {0};
    for (int i = 0; i < 20000; i++) {
        char out[32];
        *template_render(template, &random, 0, &scratch, out) = '\0';
        seen[out[8] - '0']++;
    }
    for (int i = 1; i < 9; i++)
        assert_true(seen[i] < seen[i - 1]);
    template_free(template);
}

static void fixed_lengths_join_into_few_segments(void **state)
{
    (void)state;
    const struct template_space wide = {
        .users = 1000, .items = 1000, .id_base = 1000000000000000000ULL};
    struct template *template =
        template_compile("LIKE {user} video:{item}", &wide, problem, sizeof(problem));
    assert_non_null(template);
    assert_int_equal(template->segment_count, 5);
    assert_int_equal(template->commands, 1);
    template_free(template);
}

static const struct template_space http_space = {
    .users = 1000, .items = 1000, .requests = 1000, .http_fields = "Host: h\r\n"};

static void check_http(const char *text, uint64_t sequence, const char *expected)
{
    struct random random = {1};
    char *out = rendered(text, &http_space, &random, sequence);
    assert_string_equal(out, expected);
    free(out);
}

static void http_requests(void **state)
{
    (void)state;
    check_http("GET /a/{seq}/b", 7, "GET /a/7/b HTTP/1.1\r\nHost: h\r\n\r\n");
    check_http(" PUT  /a ; ; DELETE /b?c={seq}", 12,
               "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n"
               "DELETE /b?c=12 HTTP/1.1\r\nHost: h\r\n\r\n");
    check_http("{2*GET /;} OPTIONS *", 0,
               "GET /; HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
               "Content-Length: 16\r\n\r\nGET /; OPTIONS *");
}

#define POSTED "POST /f HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"

/* The length is right however long the numbers are, and braces of JSON are no placeholders. */
static void http_bodies(void **state)
{
    (void)state;
    check_http("POST /f {\"u\":\"{seq}\"} ", 5, POSTED "Content-Length: 9\r\n\r\n{\"u\":\"5\"}");
    check_http("POST /f {\"u\":\"{seq}\"}", 500,
               POSTED "Content-Length: 11\r\n\r\n{\"u\":\"500\"}");
    check_http("POST /f [{2*{\"i\":{seq},\"o\":{}},}  1 ] ; GET /", 42,
               POSTED "Content-Length: 39\r\n\r\n"
                      "[{\"i\":42,\"o\":{}}, {\"i\":42,\"o\":{}},  1 ]"
                      "GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    check_http("POST /f {\"a\":{\"b\":{\"c\":{rand:7-7}}}}", 0,
               POSTED "Content-Length: 19\r\n\r\n{\"a\":{\"b\":{\"c\":7}}}");
}

static void http_refusals(void **state)
{
    (void)state;
    const char *const bad[] = {"",      "GET",         ";",        "GET a",          "HEAD /a",
                               "GET ;", "GET /{none}", "GET /{us", "POST / {user %}"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        problem[0] = '\0';
        if (template_compile(bad[i], &http_space, problem, sizeof(problem)) != NULL)
            fail_msg("'%s' was accepted", bad[i]);
        assert_true(problem[0] != '\0');
    }
}

static void refusals(void **state)
{
    (void)state;
    const char *const bad[] = {
        "",
        " ; ",
        "{nothing}",
        "{user",
        "user}",
        "{user.}",
        "{user.0}",
        "{user.n}",
        "{rand:5}",
        "{rand:9-3}",
        "{seq%0}",
        "{seq/0}",
        "{seq-1}",
        "{seq^2}",
        "{seq+}",
        "{seq*99999999999999999999}",
        "{seq*1000000000000000000}",
        "{seq+1+1+1+1+1}",
        "{0*a}",
        "{99999*a}",
        "{5000*{user}}",
        "{10000*{10000*a}}",
        "{sha}",
        "{user %3}",
        "{2*{user}",
        "{\"user\"}",
        "{}",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        problem[0] = '\0';
        struct template *template = template_compile(bad[i], &space, problem, sizeof(problem));
        if (template != NULL)
            fail_msg("'%s' was accepted", bad[i]);
        assert_true(problem[0] != '\0');
    }
    const struct template_space endless = {.users = 1, .items = 1};
    assert_null(template_compile("{seq}", &endless, problem, sizeof(problem)));
}

/* Lines stand in words and in bodies; their length counts. */
static void lines(void **state)
{
    (void)state;
    struct random random = {1};
    char bytes[] = "abcde\nabcde\n";
    struct line_file file = {.bytes = bytes, .count = 2, .length = 5};
    struct template_space with = space;
    with.lines = &file;
    char *out = rendered("G x{line} {seq}{line}", &with, &random, 7);
    assert_string_equal(out, "*3\r\n$1\r\nG\r\n$6\r\nxabcde\r\n$6\r\n7abcde\r\n");
    free(out);
    out = rendered("G {seq}{line}", &with, &random, 17);
    assert_string_equal(out, "*2\r\n$1\r\nG\r\n$7\r\n17abcde\r\n");
    free(out);
    with.http_fields = "";
    out = rendered("POST /a/{line} {\"b\":\"{line}\"}", &with, &random, 0);
    assert_string_equal(out, "POST /a/abcde HTTP/1.1\r\nContent-Type: application/json\r\n"
                             "Content-Length: 13\r\n\r\n{\"b\":\"abcde\"}");
    free(out);
    assert_null(template_compile("G {line}", &space, problem, sizeof(problem)));
    assert_non_null(strstr(problem, "--lines"));
    assert_null(template_compile("G {line+1}", &with, problem, sizeof(problem)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_words),
        cmocka_unit_test(sequence_and_arithmetic),
        cmocka_unit_test(repetition),
        cmocka_unit_test(expansion),
        cmocka_unit_test(labels),
        cmocka_unit_test(draws_stay_in_range),
        cmocka_unit_test(zipf_prefers_the_first),
        cmocka_unit_test(fixed_lengths_join_into_few_segments),
        cmocka_unit_test(http_requests),
        cmocka_unit_test(http_bodies),
        cmocka_unit_test(http_refusals),
        cmocka_unit_test(refusals),
        cmocka_unit_test(lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
