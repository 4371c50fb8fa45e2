#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/options.h"
#include "journal/log.h"

static struct options options;
static char problem[512];
static bool help;

#define READ(...)                                                                                  \
    read_list((const char *const[]){__VA_ARGS__},                                                  \
              sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static bool read_list(const char *const *arguments, size_t count)
{
    char *argv[16];
    assert_true(count < 16);
    for (size_t i = 0; i < count; i++)
        argv[i] = strdup(arguments[i]);
    problem[0] = '\0';
    bool good = options_read(&options, (int)count, argv, &help, problem, sizeof problem);
    for (size_t i = 0; i < count; i++)
        free(argv[i]);
    return good;
}

static void assert_says(const char *part)
{
    if (strstr(problem, part) == NULL)
        fail_msg("'%s' does not say '%s'", problem, part);
}

/* A file with this text; the caller unlinks it. */
static void make_file(char path[64], const char *text)
{
    snprintf(path, 64, "/tmp/laud-options-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static void assert_shown(const char *name, const char *wanted)
{
    const char *found;
    char value[OPTION_TEXT_MAX];
    for (size_t i = 0; options_get(&options, i, &found, value); i++)
        if (strcmp(found, name) == 0 && strcmp(value, wanted) != 0)
            fail_msg("%s is shown as '%s', not as '%s'", name, value, wanted);
}

static int forget_environment(void **state)
{
    (void)state;
    const char *name;
    char value[OPTION_TEXT_MAX], variable[OPTION_NAME_MAX];
    memset(&options, 0, sizeof options);
    for (size_t i = 0; options_get(&options, i, &name, value); i++) {
        options_environment_name(name, variable);
        unsetenv(variable);
    }
    unsetenv("LAUD_CONFIG");
    return 0;
}

static void test_defaults(void **state)
{
    (void)state;
    assert_true(options_read(&options, 0, NULL, &help, problem, sizeof problem));
    assert_false(help);
    assert_string_equal(options.data, "./laud-data");
    assert_string_equal(options.resp.host, "127.0.0.1");
    assert_int_equal(options.resp.port, 5283);
    assert_int_equal(options.durability, DURABILITY_COMMIT);
    assert_int_equal(options.interval_ms, 100);
    assert_int_equal(options.segment_bytes, MIB(64));
    assert_int_equal(options.token_ttl_ms, 600000);
    assert_string_equal(options.exclusive, "");
    assert_string_equal(options.config, "");
}

static void test_flags(void **state)
{
    (void)state;
    assert_true(READ("--data", "/x y", "--resp=[::1]:0", "--http", "localhost:80", "--threads=4",
                     "--durability=interval", "--interval-ms", "2s", "--max-memory", "3g",
                     "--exclusive=like,dislike; up,down", "--token-ttl=7d"));
    assert_string_equal(options.data, "/x y");
    assert_string_equal(options.resp.host, "::1");
    assert_int_equal(options.resp.port, 0);
    assert_string_equal(options.http.host, "localhost");
    assert_int_equal(options.http.port, 80);
    assert_int_equal(options.threads, 4);
    assert_int_equal(options.durability, DURABILITY_INTERVAL);
    assert_int_equal(options.interval_ms, 2000);
    assert_int_equal(options.max_memory, GIB(3));
    assert_string_equal(options.exclusive, "like,dislike; up,down");
    assert_int_equal(options.token_ttl_ms, 7 * 86400000ULL);
    assert_true(READ("--threads=4", "--threads=5", "--durability", "none"));
    assert_int_equal(options.threads, 5);
    assert_int_equal(options.durability, DURABILITY_NONE);
    assert_int_equal(options.store, OPTION_STORE_ROCKSDB);
    assert_int_equal(options.keep_journal, 0);
    assert_true(READ("--store=none", "--keep-journal", "yes", "--item-ttl=1h", "--window-ms=1s"));
    assert_int_equal(options.store, OPTION_STORE_NONE);
    assert_int_equal(options.keep_journal, 1);
    assert_int_equal(options.item_ttl_ms, 3600000);
    assert_int_equal(options.window_ms, 1000);
}

static void test_help(void **state)
{
    (void)state;
    assert_true(READ("--threads", "4", "--help"));
    assert_true(help);
    assert_true(READ("-h"));
    assert_true(help);
    assert_true(READ("--config", "/nonexistent/laud.ini", "--help"));
    assert_true(help);
}

static void test_unknown(void **state)
{
    (void)state;
    assert_false(READ("--thread", "4"));
    assert_says("unknown option '--thread', did you mean '--threads'?");
    assert_false(READ("--max-memmory=1G"));
    assert_says("did you mean '--max-memory'?");
    assert_false(READ("--confg=x"));
    assert_says("did you mean '--config'?");
    assert_false(READ("--zzzzzz"));
    assert_string_equal(problem, "unknown option '--zzzzzz'");
    assert_false(READ("data"));
    assert_says("unexpected argument 'data'");
    assert_false(READ("--"));
    assert_says("unexpected argument '--'");
    assert_false(READ("--threads"));
    assert_string_equal(problem, "--threads needs a value");
    char longest[1000] = "--";
    memset(longest + 2, 'a', sizeof longest - 3);
    assert_false(READ(longest));
    assert_says("unknown option '--aaaa");
}

static void test_bad_numbers(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "--threads=65",
        "--threads=-1",
        "--threads=",
        "--threads=4x",
        "--threads= 4",
        "--threads=1K",
        "--threads=0x4",
        "--shelf-max=0",
        "--segment-size=1M",
        "--segment-size=2G",
        "--max-memory=18446744073709551616",
        "--max-memory=99999999999999G",
        "--max-memory=64mbb",
        "--max-memory=-1",
        "--max-memory=1.5.2",
        "--max-memory=",
        "--interval-ms=0",
        "--interval-ms=1.5",
        "--idle-timeout=-1",
        "--idle-timeout=8d",
        "--idle-timeout=1x",
        "--keep-journal=2",
        "--keep-journal=",
        "--interval-ms=61s",
        "--durability=always",
        "--durability=",
        "--durability=commit|interval",
        "--store=memory",
        "--workers=0",
        "--window-ms=0",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (READ(bad[i]))
            fail_msg("'%s' was taken", bad[i]);
        char flag[64];
        snprintf(flag, sizeof flag, "%.*s: '", (int)strcspn(bad[i], "="), bad[i]);
        assert_says(flag);
    }
    assert_false(READ("--threads=65"));
    assert_string_equal(problem, "--threads: '65' is out of range: give a number from 0 to 64");
    assert_false(READ("--segment-size=1M"));
    assert_says("'1M' is out of range: give a size from 4M to 1G");
    assert_false(READ("--max-memory=64mbb"));
    assert_says("'64mbb' is not a size: give a number of bytes, or a number with a unit, as in");
    assert_false(READ("--max-memory=99999999999999G"));
    assert_says("'99999999999999G' is larger than a size can be");
    assert_false(READ("--idle-timeout=1.5.2"));
    assert_says("'1.5.2' is not a duration: give a number of seconds, or");
    assert_false(READ("--insecure=maybe"));
    assert_says("'maybe' is neither yes nor no");
    assert_false(READ("--durability=always"));
    assert_says("commit, interval, none");
    assert_true(READ("--max-memory=18446744073709551615"));
    assert_int_equal(options.max_memory, UINT64_MAX);
}

/* Flags, environment and file read values by the same words, and all are shown in one form. */
static void test_as_people_type(void **state)
{
    (void)state;
    static const struct {
        const char *name, *typed, *shown;
    } samples[] = {
        {"max-memory", "64mb", "64M"},
        {"max-memory", "1GB", "1G"},
        {"max-memory", "512MiB", "512M"},
        {"max-memory", "1T", "1T"},
        {"max-memory", "1.5g", "1536M"},
        {"max-memory", "67108864", "64M"},
        {"idle-timeout", "1w", "7d"},
        {"idle-timeout", "90", "90s"},
        {"idle-timeout", "1.5h", "90m"},
        {"idle-timeout", "2 MIN", "2m"},
        {"interval-ms", "90", "90ms"},
        {"window-ms", "1S", "1s"},
        {"insecure", "true", "yes"},
        {"insecure", "on", "yes"},
        {"insecure", "YES", "yes"},
        {"insecure", "1", "yes"},
        {"boards", "False", "no"},
        {"boards", "off", "no"},
        {"boards", "no", "no"},
        {"boards", "0", "no"},
        {"durability", "Commit", "commit"},
        {"log-format", "JSON", "json"},
        {"http", "None", "none"},
        {"max-memory", "64Mi", "64M"},
    };
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        char flag[96], line[96], variable[OPTION_NAME_MAX], path[64];
        snprintf(flag, sizeof flag, "--%s=%s", samples[i].name, samples[i].typed);
        snprintf(line, sizeof line, "%s = %s\n", samples[i].name, samples[i].typed);
        options_environment_name(samples[i].name, variable);
        assert_true(READ(flag));
        assert_shown(samples[i].name, samples[i].shown);
        make_file(path, line);
        assert_true(READ("--config", path));
        assert_shown(samples[i].name, samples[i].shown);
        unlink(path);
        setenv(variable, samples[i].typed, 1);
        assert_true(options_read(&options, 0, NULL, &help, problem, sizeof problem));
        assert_shown(samples[i].name, samples[i].shown);
        unsetenv(variable);
    }
}

static void test_bad_addresses(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",        "localhost", ":5283", "::1:5283", "[::1]",     "[::1]5283", "[]:1",       "a:",
        "a:65536", "a:-1",      "a:1x",  "a b:1",    "[::1:5283", "a:1:2",     "http://a:1",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (READ("--resp", bad[i]))
            fail_msg("'%s' was taken", bad[i]);
        assert_says("is not HOST:PORT");
    }
    assert_true(READ("--resp=h:65535"));
    assert_int_equal(options.resp.port, 65535);
    char host[300] = "";
    memset(host, 'h', 255);
    snprintf(host + 255, sizeof host - 255, ":1");
    assert_true(READ("--resp", host));
    assert_int_equal(strlen(options.resp.host), 255);
    snprintf(host + 255, sizeof host - 255, "h:1");
    assert_false(READ("--resp", host));
    char shown[OPTION_TEXT_MAX];
    const char *name;
    assert_true(READ("--http=none"));
    assert_string_equal(options.http.host, "");
    options_get(&options, OPTIONS_INDEX_http, &name, shown);
    assert_string_equal(shown, "none");
    assert_false(READ("--resp=none"));
}

static void test_texts(void **state)
{
    (void)state;
    char text[OPTION_TEXT_MAX + 1] = "";
    memset(text, 'd', OPTION_TEXT_MAX - 1);
    assert_true(READ("--data", text));
    assert_string_equal(options.data, text);
    text[OPTION_TEXT_MAX - 1] = 'd';
    assert_false(READ("--data", text));
    assert_says("--data: the value has 512 bytes, but can have at most 511");
    assert_false(READ("--config", text));
    assert_says("too long");
    assert_false(READ("--data="));
    assert_says("must not be empty");
    assert_false(READ("--data", "a\nb"));
    assert_says("control bytes");
    assert_true(READ("--exclusive="));
}

static void test_precedence(void **state)
{
    (void)state;
    char path[64];
    make_file(path, "threads = 1\ntoken-max = 101\nshelf-max = 11\n");
    setenv("LAUD_THREADS", "2", 1);
    setenv("LAUD_TOKEN_MAX", "102", 1);
    assert_true(READ("--threads=3", "--config", path));
    assert_int_equal(options.threads, 3);
    assert_int_equal(options.token_max, 102);
    assert_int_equal(options.shelf_max, 11);
    assert_int_equal(options.max_args, 4096);
    assert_string_equal(options.config, path);
    assert_int_equal(options.origin[OPTIONS_INDEX_threads], OPTION_FROM_FLAG);
    assert_int_equal(options.origin[OPTIONS_INDEX_token_max], OPTION_FROM_ENVIRONMENT);
    assert_int_equal(options.origin[OPTIONS_INDEX_shelf_max], OPTION_FROM_FILE);
    assert_int_equal(options.origin[OPTIONS_INDEX_max_args], OPTION_FROM_DEFAULT);

    setenv("LAUD_CONFIG", path, 1);
    assert_true(READ("--threads=3"));
    assert_int_equal(options.shelf_max, 11);
    assert_false(READ("--config=/nonexistent/laud.ini")); /* the flag wins */
    assert_says("'/nonexistent/laud.ini': No such file");

    setenv("LAUD_TOKEN_MAX", "many", 1);
    assert_false(READ("--threads=3"));
    assert_says("LAUD_TOKEN_MAX: 'many' is not a number");
    unlink(path);
}

static void assert_file_refused(const char *text, unsigned line, const char *part)
{
    char path[64], place[96];
    make_file(path, text);
    if (READ("--config", path))
        fail_msg("this file was taken: %s", text);
    snprintf(place, sizeof place, "%s:%u: ", path, line);
    assert_int_equal(strncmp(problem, place, strlen(place)), 0);
    assert_says(part);
    unlink(path);
}

static void test_bad_files(void **state)
{
    (void)state;
    assert_file_refused("threads = 4\n\nthread = 4\n", 3, "unknown option 'thread', did you mean");
    assert_file_refused("# x\nthreads = many\n", 2, "threads: 'many' is not a number");
    assert_file_refused("threads = 4\n[server]\n", 2, "sections are not supported");
    assert_file_refused("threads\nbogus = 1\n", 1, "expected name = value");
    assert_file_refused("data = x ; the place\n", 1, "ambiguous");
    assert_file_refused("config = other.ini\n", 1, "unknown option 'config'");
    assert_null(strstr(problem, "did you mean"));
    char text[2048] = "threads = 1\ndata = ";
    memset(text + strlen(text), 'x', 1500);
    assert_file_refused(text, 2, "too long");
    assert_false(READ("--config", "/"));
    assert_says("/:0: reading stopped with an error");
}

static void test_good_file(void **state)
{
    (void)state;
    char path[64];
    make_file(path,
              "\xef\xbb\xbf# a comment\r\n; another\r\n\r\n  threads = 4\r\n"
              "\tdata=/var/lib/laud # here\n   shelf-max : 7\nexclusive = like,dislike; up,down\n"
              "resp = [::1]:9");
    if (!READ("--config", path))
        fail_msg("%s", problem);
    assert_int_equal(options.threads, 4);
    assert_string_equal(options.data, "/var/lib/laud");
    assert_int_equal(options.shelf_max, 7);
    assert_string_equal(options.exclusive, "like,dislike; up,down");
    assert_string_equal(options.resp.host, "::1");
    unlink(path);
}

static void test_set(void **state)
{
    (void)state;
    assert_true(READ("--threads=3"));
    assert_true(options_set(&options, "threads", "5", problem, sizeof problem));
    assert_int_equal(options.threads, 5);
    assert_false(options_set(&options, "threads", "x", problem, sizeof problem));
    assert_string_equal(problem, "threads: 'x' is not a number: give a whole number in digits");
    assert_int_equal(options.threads, 5);
    assert_false(options_set(&options, "treads", "x", problem, sizeof problem));
    assert_says("did you mean 'threads'?");
}

/* Whatever options_print writes is read back as the same values. */
static void test_print_round_trip(void **state)
{
    (void)state;
    char path[64], value[OPTION_TEXT_MAX], again[OPTION_TEXT_MAX];
    make_file(path, "");
    assert_true(READ("--resp=[fe80::1%eth0]:1", "--interval-ms=1500", "--max-memory=1536M",
                     "--exclusive=a,b; c,d", "--durability=none", "--idle-timeout=2h"));
    struct options first = options;
    FILE *file = fopen(path, "w");
    options_print(&first, file);
    fclose(file);
    if (!READ("--config", path))
        fail_msg("%s", problem);
    const char *name;
    size_t i = 0;
    for (; options_get(&first, i, &name, value); i++) {
        const char *name_again;
        assert_true(options_get(&options, i, &name_again, again));
        assert_string_equal(name_again, name);
        assert_string_equal(again, value);
        assert_int_equal(options.origin[i], OPTION_FROM_FILE);
    }
    assert_int_equal(i, OPTIONS_TOTAL);
    assert_int_equal(options.max_memory, MIB(1536));
    assert_int_equal(options.interval_ms, 1500);
    unlink(path);
}

static void test_help_text(void **state)
{
    (void)state;
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    options_help(out);
    fclose(out);
    const char *name;
    char value[OPTION_TEXT_MAX], wanted[OPTION_NAME_MAX + 4];
    for (size_t i = 0; options_get(&options, i, &name, value); i++) {
        snprintf(wanted, sizeof wanted, "--%s ", name);
        assert_non_null(strstr(text, wanted));
        options_environment_name(name, wanted);
        assert_non_null(strstr(text, wanted));
    }
    char headings[1024] = "\n";
    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1) {
        size_t width = strcspn(line, "\n");
        assert_true(width <= 80);
        if (line == text || line[-1] != '\n' || line[-2] != '\n' || line[width + 1] != ' ')
            continue; /* a heading follows an empty line, and an option follows it */
        snprintf(wanted, sizeof wanted, "\n%.*s\n", (int)width, line);
        assert_null(strstr(headings, wanted)); /* each stands there once */
        strncat(headings, wanted + 1, sizeof headings - strlen(headings) - 1);
    }
    assert_non_null(strstr(headings, "\nServing\n"));
    assert_non_null(strstr(headings, "\nStore\n"));
    free(text);
}

static void test_rates(void **state)
{
    (void)state;
    const char *name;
    char value[OPTION_TEXT_MAX];
    assert_true(
        READ("--limit-ip-read", "50", "--limit-user-write=20/100", "--limit-device-read=0"));
    assert_int_equal(options.limit_ip_read.per_s, 50);
    assert_int_equal(options.limit_ip_read.burst, 50);
    assert_int_equal(options.limit_user_write.per_s, 20);
    assert_int_equal(options.limit_user_write.burst, 100);
    assert_int_equal(options.limit_device_read.per_s, 0);
    assert_int_equal(options.limit_user_read.per_s, 0);
    assert_true(options_get(&options, OPTIONS_INDEX_limit_user_write, &name, value));
    assert_string_equal(value, "20/100");
    assert_true(options_get(&options, OPTIONS_INDEX_limit_device_read, &name, value));
    assert_string_equal(value, "0");
    static const char *const bad[] = {"",
                                      "/",
                                      "5/",
                                      "/5",
                                      "5/0",
                                      "-1",
                                      "5/5/5",
                                      "10000001",
                                      "1/10000001",
                                      "1.5",
                                      "5 / 5",
                                      "10K",
                                      "99999999999999999999999",
                                      "00000000000000000000000000000000000005"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(READ("--limit-ip-read", bad[i]));
        assert_says("limit-ip-read");
        assert_says("RATE/BURST");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_defaults, forget_environment),
        cmocka_unit_test_setup(test_rates, forget_environment),
        cmocka_unit_test_setup(test_flags, forget_environment),
        cmocka_unit_test_setup(test_help, forget_environment),
        cmocka_unit_test_setup(test_unknown, forget_environment),
        cmocka_unit_test_setup(test_bad_numbers, forget_environment),
        cmocka_unit_test_setup(test_bad_addresses, forget_environment),
        cmocka_unit_test_setup(test_as_people_type, forget_environment),
        cmocka_unit_test_setup(test_texts, forget_environment),
        cmocka_unit_test_setup(test_precedence, forget_environment),
        cmocka_unit_test_setup(test_bad_files, forget_environment),
        cmocka_unit_test_setup(test_good_file, forget_environment),
        cmocka_unit_test_setup(test_set, forget_environment),
        cmocka_unit_test_setup(test_print_round_trip, forget_environment),
        cmocka_unit_test_setup(test_help_text, forget_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
