/* Addresses as text, networks, who a client is, and what a proxy says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "guard/ip.h"

static struct ip ip_from(const char *text)
{
    struct ip ip;
    assert_true(ip_parse(text_from(text), &ip));
    return ip;
}

static bool same_client(const char *one, const char *other)
{
    struct ip a = ip_from(one), b = ip_from(other);
    return id_equal(ip_client(&a), ip_client(&b));
}

static void a_client_is_an_ipv4_address_or_a_64_of_ipv6(void **state)
{
    (void)state;
    assert_true(same_client("10.0.0.1", "::ffff:10.0.0.1"));
    assert_false(same_client("10.0.0.1", "10.0.0.2"));
    assert_true(same_client("2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff"));
    assert_false(same_client("2001:db8:1:2::1", "2001:db8:1:3::1"));
    assert_false(same_client("::1", "0.0.0.0"));
}

static void an_address_reads_as_it_was_written(void **state)
{
    (void)state;
    static const char *const as_they_are[] = {"10.0.0.1", "0.0.0.0", "::1", "2001:db8:1:2::ffff"};
    char text[IP_TEXT_MAX];
    struct ip ip;
    for (size_t i = 0; i < sizeof as_they_are / sizeof as_they_are[0]; i++) {
        ip = ip_from(as_they_are[i]);
        ip_format(&ip, text);
        assert_string_equal(text, as_they_are[i]);
    }
    ip = ip_from("::ffff:192.168.255.254");
    ip_format(&ip, text);
    assert_string_equal(text, "192.168.255.254");
}

static void what_is_no_address_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",        "10.0.0",     "10.0.0.256", "10.0.0.1 ",
                                      "[::1]",   "::1%lo",     "1:2:3",      "10.0.0.1:80",
                                      "unknown", "::ffff:1.2", "01.2.3.4x"};
    struct ip ip;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(ip_parse(text_from(bad[i]), &ip));
    assert_false(ip_parse((struct text){"1.2.3.4\0", 8}, &ip));
}

static void networks_have_what_is_in_them(void **state)
{
    (void)state;
    struct ip_nets nets;
    char problem[256];
    assert_true(
        ip_nets_parse(&nets, " 10.0.0.0/9, 192.168.1.7,fd00::/8 ::1", problem, sizeof problem));
    assert_int_equal(nets.count, 4);
    static const char *const in[] = {"10.127.255.255", "192.168.1.7", "fd12::1", "::1",
                                     "::ffff:10.1.2.3"};
    static const char *const out[] = {"10.128.0.0", "192.168.1.8", "fc00::1", "::2", "0.0.0.0"};
    for (size_t i = 0; i < 5; i++) {
        struct ip ip = ip_from(in[i]), other = ip_from(out[i]);
        assert_true(ip_nets_have(&nets, &ip));
        assert_false(ip_nets_have(&nets, &other));
    }
    assert_true(ip_nets_parse(&nets, "0.0.0.0/0", problem, sizeof problem));
    struct ip any = ip_from("203.0.113.9"), wide = ip_from("2001:db8::1");
    assert_true(ip_nets_have(&nets, &any));
    assert_false(ip_nets_have(&nets, &wide));
    assert_true(ip_nets_parse(&nets, "", problem, sizeof problem));
    assert_int_equal(nets.count, 0);
    static const char *const bad[] = {"10.0.0.0/33", "10.0.0.0/",   "::/129",
                                      "host",        "10.0.0.0/-1", "10.0.0.0/8x"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(ip_nets_parse(&nets, bad[i], problem, sizeof problem));
    char many[IP_NETS_MAX * 4 + 8] = "";
    for (unsigned i = 0; i <= IP_NETS_MAX; i++)
        memcpy(many + (size_t)i * 4, "::1,", 4);
    assert_false(ip_nets_parse(&nets, many, problem, sizeof problem));
}

static void follows(const char *list, const char *wanted)
{
    struct ip_nets nets;
    char problem[256];
    struct ip peer = ip_from("10.0.0.1"), client = peer, right = ip_from(wanted);
    assert_true(ip_nets_parse(&nets, "10.0.0.0/8", problem, sizeof problem));
    ip_follow(&nets, text_from(list), &peer, &client);
    assert_memory_equal(&client, &right, sizeof right);
}

static void the_right_most_address_that_is_not_ours_counts(void **state)
{
    (void)state;
    follows("203.0.113.1", "203.0.113.1");
    follows("198.51.100.9, 203.0.113.1", "203.0.113.1");
    follows("198.51.100.9,\t203.0.113.1 , 10.2.3.4", "203.0.113.1");
    follows("2001:db8::7", "2001:db8::7");
    follows("10.9.9.9", "10.0.0.1");
    follows("", "10.0.0.1");
    follows("203.0.113.1, unknown", "10.0.0.1");
    follows("203.0.113.1, , 10.1.1.1", "10.0.0.1");
    follows("garbage, 203.0.113.1", "203.0.113.1");
}

static void an_address_may_have_its_port_and_brackets(void **state)
{
    (void)state;
    follows("9.9.9.5:1000", "9.9.9.5");
    follows("9.9.9.5:0, 10.1.1.1:65535", "9.9.9.5");
    follows("[2001:db8::1]", "2001:db8::1");
    follows("[2001:db8::1]:443", "2001:db8::1");
    follows("198.51.100.9, [2001:db8::1]:443 ,10.2.3.4:80", "2001:db8::1");
    follows("[::ffff:9.9.9.5]:1", "9.9.9.5");
    follows("2001:db8::1:443", "2001:db8::1:443"); /* which is an address, and has no port */
}

static void what_only_looks_like_a_port_is_no_address(void **state)
{
    (void)state;
    static const char *const bad[] = {"9.9.9.5:",
                                      "9.9.9.5:65536",
                                      "9.9.9.5:000080",
                                      "9.9.9.5:-1",
                                      "9.9.9.5:+1",
                                      "9.9.9.5:8x",
                                      "9.9.9.5:80:80",
                                      "9.9.9.5: 80",
                                      "[9.9.9.5]",
                                      "[9.9.9.5]:80",
                                      "[2001:db8::1",
                                      "2001:db8::1]",
                                      "[2001:db8::1]:",
                                      "[2001:db8::1]x",
                                      "[2001:db8::1]:1:2",
                                      "[2001:db8::1]443",
                                      "[]",
                                      "[]:80",
                                      "[",
                                      "]",
                                      ":80",
                                      ":",
                                      "[[2001:db8::1]]",
                                      "[2001:db8::1%eth0]:80",
                                      "host:80",
                                      "unknown:80",
                                      "::ffff:9.9.9.5:80",
                                      "1:2:3:4:5:6:7:8:80",
                                      "[:]",
                                      "[::1]]:80",
                                      "[2001:db8::1]:99999",
                                      "9.9.9.5:4294967296"};
    struct ip ip;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char list[64];
        assert_false(ip_parse_host(text_from(bad[i]), &ip));
        snprintf(list, sizeof list, "203.0.113.1, %s", bad[i]);
        follows(list, "10.0.0.1");
    }
    assert_false(ip_parse_host((struct text){NULL, 0}, &ip));
    assert_false(ip_parse_host((struct text){"9.9.9.5\0:80", 11}, &ip));
    assert_false(ip_parse_host((struct text){"[::1\0]", 6}, &ip));
}

static void loopback_is_known(void **state)
{
    (void)state;
    struct ip ip = ip_from("127.8.9.1");
    assert_true(ip_is_loopback(&ip));
    ip = ip_from("::1");
    assert_true(ip_is_loopback(&ip));
    ip = ip_from("0.0.0.0");
    assert_false(ip_is_loopback(&ip));
    ip = ip_from("::");
    assert_false(ip_is_loopback(&ip));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_client_is_an_ipv4_address_or_a_64_of_ipv6),
        cmocka_unit_test(an_address_reads_as_it_was_written),
        cmocka_unit_test(what_is_no_address_is_refused),
        cmocka_unit_test(networks_have_what_is_in_them),
        cmocka_unit_test(the_right_most_address_that_is_not_ours_counts),
        cmocka_unit_test(an_address_may_have_its_port_and_brackets),
        cmocka_unit_test(what_only_looks_like_a_port_is_no_address),
        cmocka_unit_test(loopback_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
