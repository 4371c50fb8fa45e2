#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "bench/bench_options.h"

static struct bench_options options;
static char problem[256];

static bool read_words(const char *const *words)
{
    char *argv[32];
    int argc = 0;
    for (; words[argc] != NULL; argc++)
        argv[argc] = (char *)words[argc];
    problem[0] = '\0';
    return bench_options_read(&options, argc, argv, problem, sizeof(problem));
}

#define READ(...) read_words((const char *const[]){__VA_ARGS__, NULL})

static void defaults(void **state)
{
    (void)state;
    assert_true(READ("PING"));
    assert_string_equal(options.server_host, "127.0.0.1");
    assert_string_equal(options.server_port, "5283");
    assert_int_equal(options.connections, 50);
    assert_int_equal(options.pipeline, 1);
    assert_int_equal(options.threads, 1);
    assert_int_equal(options.rate, 0);
    assert_int_equal(options.batch, 1);
    assert_true(options.seconds == 10 && options.theta == 0);
    assert_int_equal(options.mix.count, 1);
    assert_string_equal(options.mix.entries[0].command, "PING");
}

static void values_and_commands(void **state)
{
    (void)state;
    assert_true(READ("--address", "[::1]:7000", "--pipeline=16", "--seconds", "0.5", "--json",
                     "--distribution", "zipf:0.99", "--", "LIKE", "{user}", "video:{item}"));
    assert_string_equal(options.server_host, "::1");
    assert_string_equal(options.server_port, "7000");
    assert_int_equal(options.pipeline, 16);
    assert_true(options.seconds == 0.5 && options.json && options.theta == 0.99);
    assert_string_equal(options.mix.entries[0].command, "LIKE {user} video:{item}");
    assert_true(READ("--seconds", "2m", "--warmup=500ms", "--timeout", "1 MIN", "PING"));
    assert_true(options.seconds == 120 && options.warmup == 0.5 && options.timeout == 60);

    assert_true(READ("--host", "localhost", "--port", "6379", "--mix", "90:GET a", "--mix",
                     "10:SET a 1:2"));
    assert_string_equal(options.server_host, "localhost");
    assert_string_equal(options.server_port, "6379");
    assert_int_equal(options.mix.count, 2);
    assert_int_equal(options.mix.entries[0].weight, 90);
    assert_string_equal(options.mix.entries[1].command, "SET a 1:2");
}

static void http(void **state)
{
    (void)state;
    assert_true(READ("--http", "GET", "/"));
    assert_string_equal(options.server_port, "5284");
    assert_string_equal(options.mix.entries[0].command, "GET /");
    assert_true(READ("--http", "--address", "h:1", "--header", "X-Device-Id: 7", "GET /"));
    assert_string_equal(options.server_port, "1");
    assert_false(READ("--header", "X-Device-Id: 7", "PING"));
    assert_non_null(strstr(problem, "--http"));
    assert_false(READ("--http", "--header", "X-Device-Id", "GET /"));
    assert_false(READ("--http", "--header", "X: a\r\nY: b", "GET /"));
    assert_false(READ("--http", "--protocol", "3", "GET /"));
    assert_false(READ("--http", "--load-script", "a", "GET /"));
}

static void refusals(void **state)
{
    (void)state;
    assert_false(READ("--seconds", "1"));
    assert_non_null(strstr(problem, "no command"));
    assert_false(READ("--nonsense", "1", "PING"));
    assert_non_null(strstr(problem, "--nonsense"));
    assert_false(READ("--pipeline", "0", "PING"));
    assert_false(READ("--pipeline", "-1", "PING"));
    assert_false(READ("--pipeline", "2x", "PING"));
    assert_false(READ("--pipeline"));
    assert_false(READ("--seconds", "nan", "PING"));
    assert_false(READ("--seconds", "1.5.2", "PING"));
    assert_string_equal(problem,
                        "--seconds: '1.5.2' is not a duration: give a number of seconds, or "
                        "a number with a unit, as in 100ms, 30s, 10m, 12h, 7d or 1w");
    assert_false(READ("--timeout", "2000000", "PING"));
    assert_non_null(strstr(problem, "'2000000' is out of range"));
    assert_false(READ("--seconds", "0", "PING"));
    assert_false(READ("--json=yes", "PING"));
    assert_false(READ("--address", "127.0.0.1", "PING"));
    assert_false(READ("--address", "127.0.0.1:99999", "PING"));
    assert_false(READ("--distribution", "zipf", "PING"));
    assert_false(READ("--distribution", "zipf:0", "PING"));
    assert_false(READ("--distribution", "normal", "PING"));
    assert_false(READ("--mix", "LIKE a b"));
    assert_false(READ("--mix", "0:PING"));
    assert_false(READ("--batch", "2", "PING"));
    assert_non_null(strstr(problem, "--rate"));
    assert_true(READ("--batch", "2", "--rate", "10", "PING"));
    assert_false(READ("--threads", "60", "PING"));
    assert_non_null(strstr(problem, "--threads"));
}

static void help_tells_every_option(void **state)
{
    (void)state;
    char text[16384];
    FILE *out = fmemopen(text, sizeof(text), "w");
    bench_options_help(out);
    assert_int_equal(fclose(out), 0);
#define BENCH_OPTION(field, name, type, initial, min, max, value, help)                            \
    assert_non_null(strstr(text, "--" name));
#include "bench/bench_options.def"
#undef BENCH_OPTION
    assert_true(READ("--help", "--nonsense"));
    assert_true(options.help);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(values_and_commands),
        cmocka_unit_test(http),
        cmocka_unit_test(refusals),
        cmocka_unit_test(help_tells_every_option),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
