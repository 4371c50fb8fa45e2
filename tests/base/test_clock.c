/*
 * The wall clock is set back while somebody waits: seen from the kernel, the time it was told is that
 * much further away. So here the wall clock says an hour more than the kernel's does.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"

#define AHEAD_S 3600

/* In place of the C library's. */
int clock_gettime(clockid_t clock, struct timespec *out)
{
    int result = (int)syscall(SYS_clock_gettime, clock, out);
    if (clock == CLOCK_REALTIME)
        out->tv_sec += AHEAD_S;
    return result;
}

static void a_wait_does_not_go_by_the_wall_clock(void **state)
{
    (void)state;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition;
    struct timespec kernel;
    syscall(SYS_clock_gettime, CLOCK_REALTIME, &kernel);
    assert_true(clock_wall_ms() / 1000 >= (uint64_t)kernel.tv_sec + AHEAD_S);
    clock_condition_init(&condition);
    pthread_mutex_lock(&lock);
    struct timespec until = clock_after_ms(1);
    int result;
    while ((result = pthread_cond_timedwait(&condition, &lock, &until)) == 0)
        ;
    assert_int_equal(result, ETIMEDOUT); /* and not an hour later */
    pthread_mutex_unlock(&lock);
    pthread_cond_destroy(&condition);
}

static void so_many_milliseconds_are_ahead(void **state)
{
    (void)state;
    uint64_t before = clock_monotonic_ns();
    struct timespec at = clock_after_ms(2999);
    uint64_t after = clock_monotonic_ns();
    uint64_t ns = (uint64_t)at.tv_sec * 1000000000 + (uint64_t)at.tv_nsec;
    assert_in_range(at.tv_nsec, 0, 999999999);
    assert_in_range(ns, before + 2999000000, after + 2999000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_does_not_go_by_the_wall_clock),
        cmocka_unit_test(so_many_milliseconds_are_ahead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
