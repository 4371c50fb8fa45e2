#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/sockets.h"

static char problem[512];

static enum status bind_to(struct sockets *sockets, const char *host, uint16_t port, bool open)
{
    struct address address = {.port = port};
    snprintf(address.host, sizeof address.host, "%s", host);
    return sockets_bind(sockets, &address, 2, open, problem, sizeof problem);
}

static void test_one_port_for_all(void **state)
{
    (void)state;
    struct sockets sockets;
    assert_int_equal(bind_to(&sockets, "127.0.0.1", 0, false), STATUS_OK);
    assert_int_equal(sockets.count, 2);
    assert_true(sockets.port > 0);
    assert_false(sockets_are_open(&sockets));
    assert_int_equal(sockets_probe(&sockets), 0);
    int first = sockets_take(&sockets, 0), second = sockets_take(&sockets, 1);
    assert_int_equal(listen(first, 8), 0);
    assert_int_equal(listen(second, 8), 0);
    sockets_close(&sockets); /* leaves alone what was taken */
    struct sockets other;
    assert_int_equal(bind_to(&other, "127.0.0.1", sockets.port, false), STATUS_IO_FAILED);
    assert_non_null(strstr(problem, "in use"));
    assert_int_equal(other.count, 0);
    close(first);
    close(second);
}

/* Two that were both bound before either listened: the later one is told. */
static void test_others_that_were_faster(void **state)
{
    (void)state;
    struct sockets ours, theirs;
    assert_int_equal(bind_to(&ours, "127.0.0.1", 0, false), STATUS_OK);
    assert_int_equal(bind_to(&theirs, "127.0.0.1", ours.port, false), STATUS_OK);
    int fd = sockets_take(&theirs, 0);
    assert_int_equal(listen(fd, 8), 0);
    assert_int_equal(sockets_probe(&ours), -EADDRINUSE);
    close(fd);
    sockets_close(&ours);
    sockets_close(&theirs);
}

static void test_beyond_loopback(void **state)
{
    (void)state;
    struct sockets sockets;
    assert_int_equal(bind_to(&sockets, "0.0.0.0", 0, false), STATUS_BAD_ARGUMENT);
    assert_non_null(strstr(problem, "--tokens"));
    assert_int_equal(sockets.count, 0);
    assert_int_equal(bind_to(&sockets, "0.0.0.0", 0, true), STATUS_OK);
    assert_true(sockets_are_open(&sockets));
    sockets_close(&sockets);
    assert_int_equal(bind_to(&sockets, "192.0.2.1", 0, true), STATUS_IO_FAILED);
    assert_non_null(strstr(problem, "cannot listen on 192.0.2.1:0: "));
}

static struct sockets at(const char *host, uint16_t port)
{
    struct sockets sockets = {.port = port};
    struct sockaddr_in *four = (struct sockaddr_in *)&sockets.address;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)&sockets.address;
    sockets.address.ss_family = strchr(host, ':') != NULL ? AF_INET6 : AF_INET;
    void *to = strchr(host, ':') != NULL ? (void *)&six->sin6_addr : (void *)&four->sin_addr;
    assert_int_equal(inet_pton(sockets.address.ss_family, host, to), 1);
    return sockets;
}

static void test_overlap(void **state)
{
    (void)state;
    static const struct {
        const char *one, *other;
        bool overlap;
    } cases[] = {
        {"127.0.0.1", "127.0.0.1", true}, {"127.0.0.1", "127.0.0.2", false},
        {"0.0.0.0", "127.0.0.1", true},   {"0.0.0.0", "::1", false},
        {"::", "127.0.0.1", true},        {"::", "::1", true},
        {"::", "0.0.0.0", true},          {"::1", "127.0.0.1", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sockets one = at(cases[i].one, 80), other = at(cases[i].other, 80);
        assert_int_equal(sockets_overlap(&one, &other), cases[i].overlap);
        assert_int_equal(sockets_overlap(&other, &one), cases[i].overlap);
        other.port = 81;
        assert_false(sockets_overlap(&one, &other));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_port_for_all),
        cmocka_unit_test(test_others_that_were_faster),
        cmocka_unit_test(test_beyond_loopback),
        cmocka_unit_test(test_overlap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
