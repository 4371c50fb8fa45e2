#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "base/files.h"
#include "base/limits.h"

static void enough_is_enough(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= LIMIT_THREADS; threads++) {
        struct files files;
        assert_true(files_share(&files, files_wanted(threads, 10000, 20000), threads));
        assert_int_equal(files.places, 10000 + 20000);
        assert_int_equal(files.refused, LIMIT_REFUSED);
        assert_true(files_share(&files, RLIM_INFINITY, threads));
        assert_true(files.places > 1ULL << 60);
    }
}

/* However few there are: all shares together never come to more, or it says that there are too few. */
static void shares_fit(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= LIMIT_THREADS; threads *= 2)
        for (uint64_t allowed = 0; allowed < 40000; allowed += 7) {
            struct files files;
            bool enough = files_share(&files, allowed, threads);
            assert_true(files.refused > 0 && files.refused <= LIMIT_REFUSED);
            assert_true(files.own > files_of_store(allowed) + (uint64_t)threads * files.refused);
            if (enough)
                assert_int_equal(files.own + files.places, allowed);
            else
                assert_true(allowed < files.own + 16);
        }
}

static void the_usual_limit_serves_some(void **state)
{
    (void)state;
    struct files files;
    assert_true(files_share(&files, 1024, 2));
    assert_true(files.places > 500);
    assert_true(files_share(&files, 1024, LIMIT_THREADS));
    assert_false(files_share(&files, 100, 1));
    assert_false(files_share(&files, 0, 1));
}

/* The soft limit goes up to the hard one, and never down. */
static void the_limit_is_raised(void **state)
{
    (void)state;
    struct rlimit before, low;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    low = (struct rlimit){.rlim_cur = 32, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    assert_int_equal(files_allowed(), 32);
    assert_int_equal(files_raise(16), 32);
    assert_int_equal(files_raise(64), 64);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(enough_is_enough),
        cmocka_unit_test(shares_fit),
        cmocka_unit_test(the_usual_limit_serves_some),
        cmocka_unit_test(the_limit_is_raised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
