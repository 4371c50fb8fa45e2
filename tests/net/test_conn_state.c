/* The states of a connection: which may follow which, and that BLOCKED means being in the queue. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "net/conn_priv.h"

/* Large, because of its buffer for reading. */
static struct loop loop;

static void draining_never_goes_back(void **state)
{
    (void)state;
    struct conn conn = {.loop = &loop};
    assert_true(conn_is_open(&conn));
    conn_drain(&conn, false);
    assert_int_equal(conn.state, CONN_DRAINING);
    assert_false(conn_is_open(&conn) || conn_is_closing(&conn));
    conn_drain(&conn, true);
    assert_int_equal(conn.state, CONN_DRAINING_LINGER);
    conn_drain(&conn, false);
    assert_int_equal(conn.state, CONN_DRAINING_LINGER);
    conn_enter(&conn, CONN_LINGERING);
    conn_drain(&conn, true);
    assert_int_equal(conn.state, CONN_LINGERING);
    conn_enter(&conn, CONN_CLOSING);
    conn_drain(&conn, true);
    assert_int_equal(conn.state, CONN_CLOSING);
    assert_true(conn_is_closing(&conn));
    conn_enter(&conn, CONN_CLOSED);
    assert_true(conn_is_closing(&conn));
}

static void blocked_connections_are_queued(void **state)
{
    (void)state;
    struct conn conns[3] = {{.loop = &loop}, {.loop = &loop}, {.loop = &loop}};
    for (int i = 0; i < 3; i++)
        conn_enter(&conns[i], CONN_BLOCKED);
    assert_ptr_equal(loop.blocked.first, &conns[0]);
    assert_ptr_equal(loop.blocked.last, &conns[2]);
    conn_drain(&conns[1], false); /* one that ends waits no more */
    assert_ptr_equal(conns[0].queue_next, &conns[2]);
    assert_ptr_equal(conns[2].queue_previous, &conns[0]);
    conn_enter(&conns[0], CONN_OPEN);
    assert_ptr_equal(loop.blocked.first, &conns[2]);
    conn_enter(&conns[0], CONN_BLOCKED);
    assert_ptr_equal(loop.blocked.last, &conns[0]);
    conn_enter(&conns[2], CONN_CLOSING);
    conn_enter(&conns[0], CONN_CLOSING);
    assert_null(loop.blocked.first);
    assert_null(loop.blocked.last);
}

/* Does a process that makes this transition end with a failed assertion? */
static bool is_refused(enum conn_state from, enum conn_state to)
{
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct conn conn = {.loop = &loop, .state = from};
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        signal(SIGABRT, SIG_DFL);
        close(STDERR_FILENO);
        conn_enter(&conn, to);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void other_transitions_are_refused(void **state)
{
    (void)state;
    assert_false(is_refused(CONN_OPEN, CONN_DRAINING));
    assert_true(is_refused(CONN_OPEN, CONN_LINGERING));
    assert_true(is_refused(CONN_OPEN, CONN_CLOSED));
    assert_true(is_refused(CONN_DRAINING, CONN_OPEN));
    assert_true(is_refused(CONN_DRAINING, CONN_BLOCKED));
    assert_true(is_refused(CONN_DRAINING, CONN_LINGERING));
    assert_true(is_refused(CONN_LINGERING, CONN_DRAINING));
    assert_true(is_refused(CONN_CLOSING, CONN_CLOSING));
    assert_true(is_refused(CONN_CLOSED, CONN_OPEN));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draining_never_goes_back),
        cmocka_unit_test(blocked_connections_are_queued),
        cmocka_unit_test(other_transitions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
