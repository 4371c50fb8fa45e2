/* Where a Redis is: what is understood, what is refused, and that no password is ever repeated. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "move/redis_url.h"

static struct redis_address address;
static char problem[512];

static void takes(const char *url, const char *host, unsigned port, const char *user,
                  const char *password, unsigned database)
{
    if (!redis_url_parse(url, &address, problem, sizeof problem))
        fail_msg("%s: %s", url, problem);
    assert_string_equal(address.host, host);
    assert_int_equal(address.port, port);
    assert_string_equal(address.user, user);
    assert_string_equal(address.password, password);
    assert_int_equal(address.database, database);
}

static void refuses(const char *url, const char *because)
{
    assert_false(redis_url_parse(url, &address, problem, sizeof problem));
    if (strstr(problem, because) == NULL)
        fail_msg("'%s' was refused with: %s", url, problem);
    assert_null(strstr(problem, "secret"));
}

static void reads_urls(void **state)
{
    (void)state;
    char name[REDIS_ADDRESS_NAME];
    takes("redis://localhost", "localhost", 6379, "", "", 0);
    takes("redis://localhost/", "localhost", 6379, "", "", 0);
    takes("REDIS://10.0.0.1:7000/3", "10.0.0.1", 7000, "", "", 3);
    takes("redis://:secret@h", "h", 6379, "", "secret", 0);
    takes("redis://me:s%40cr%3At@h:1/15", "h", 1, "me", "s@cr:t", 15);
    takes("redis://me:a@b/c?d#e@h:1/15", "h", 1, "me", "a@b/c?d#e", 15);
    takes("redis://me@[::1]:7/0", "::1", 7, "me", "", 0);
    assert_string_equal(redis_address_name(&address, name), "[::1]:7");
    takes("unix:///run/redis.sock", "", 0, "", "", 0);
    assert_string_equal(address.path, "/run/redis.sock");
    takes("unix:///run/my%20redis?db=4", "", 0, "", "", 4);
    assert_string_equal(redis_address_name(&address, name), "/run/my redis");
}

static void refuses_others(void **state)
{
    (void)state;
    refuses("rediss://localhost", "TLS");
    refuses("http://localhost", "redis:// or unix://");
    refuses("", "redis:// or unix://");
    refuses("redis://", "redis://[user:password@]host");
    refuses("redis://:secret@", "redis://[user:password@]host");
    refuses("redis://:secret%zz@h", "percent");
    refuses("redis://:secret%00@h", "percent");
    refuses("redis://h:0", "redis://[user:password@]host");
    refuses("redis://h:65536", "redis://[user:password@]host");
    refuses("redis://h:secret", "redis://[user:password@]host");
    refuses("redis://[::1", "redis://[user:password@]host");
    refuses("redis://[::1]x", "redis://[user:password@]host");
    refuses("redis://h/secret", "number of a database");
    refuses("redis://h/99999999", "number of a database");
    refuses("redis://h/1?x=secret", "nothing after");
    refuses("unix://relative", "unix:///");
    refuses("unix:///x?password=secret", "?db=N");
    char longest[1024] = "redis://:secret";
    memset(longest + 15, 'x', 1000);
    memcpy(longest + 1000, "@h", sizeof "@h");
    refuses(longest, "too long");
    memcpy(longest, "unix:///", 8);
    refuses(longest, "108");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_urls),
        cmocka_unit_test(refuses_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
