/*
 * A server whose names are somewhere else: commands wait for them without holding up anybody else, replies
 * keep their order, limits are taken once, and everything may end while something waits.
 */
#include "net/fake.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/slow_names.h"
#include "http/talk.h"
#include "net/loop.h"

#define ONE(value) "*1\r\n*2\r\n$7\r\ncomment\r\n:" value "\r\n"
#define PUT(item)  "PUT /v1/items/" item "/reactions/like/1 HTTP/1.1\r\n" HOST "\r\n"

static struct slow_names slow;

static int begin(void **state)
{
    (void)state;
    fake_init(&fake);
    fake.options.limit_user_write = (struct rate){.per_s = 100000, .burst = 100000};
    fake.options.limit_ip_read = (struct rate){.per_s = 100000, .burst = 100000};
    slow_begin(&slow, fake.names, "far");
    fake_start(&fake);
    return 0;
}

static int end(void **state)
{
    (void)state;
    fake_stop(&fake);
    slow_end(&slow);
    return 0;
}

/* A reply of the loop to somebody else: whatever it had to do before is done. */
static void pass_a_turn(void)
{
    int other = client_open(&fake);
    client_send(other, "PING\r\n");
    client_expect(other, "+PONG\r\n");
    close(other);
}

static uint64_t limits_taken(void)
{
    return fake.server.loops[0].stats.limits_checked;
}

static void replies_keep_their_order(void **state)
{
    (void)state;
    int client = client_open(&fake);
    client_send(client, "COUNTS video:1\r\nCOUNTS far:7\r\nLIKE 1 near:1\r\nCOUNTS video:3\r\n");
    client_expect(client, ONE("1"));
    slow_await(&slow, 1, 0);
    pass_a_turn();
    client_expect_none(client);
    slow_answer(&slow, STATUS_OK, STATUS_BLOCKED);
    client_expect(client, ONE("7"));
    slow_await(&slow, 3, 1);
    pass_a_turn();
    client_expect_none(client);
    slow_answer(&slow, STATUS_OK, STATUS_OK);
    client_expect(client, ":1\r\n" ONE("3"));
    assert_true(names_find_type(fake.names, "far", 3) >= 0);
    assert_true(names_find_type(fake.names, "near", 4) >= 0);
    close(client);
}

static void answers_keep_their_order(void **state)
{
    (void)state;
    int client = http_open();
    get(client, "/v1/items/video:1/counts");
    get(client, "/v1/items/far:7/counts");
    client_send(client, PUT("near:1"));
    post(client, "/v1/batch",
         "{\"operations\":[[\"COUNTS\",\"video:3\"],[\"LIKE\",\"1\",\"third:1\"],[\"LIKED\",\"1\","
         "\"video:5\"]]}");
    expect(client, 200, "{\"item\":\"video:1\",\"counts\":{\"comment\":1}}");
    slow_await(&slow, 1, 0);
    pass_a_turn();
    client_expect_none(client);
    slow_answer(&slow, STATUS_OK, STATUS_BLOCKED);
    expect(client, 200, "{\"item\":\"far:7\",\"counts\":{\"comment\":7}}");
    slow_await(&slow, 3, 1);
    pass_a_turn();
    client_expect_none(client);
    slow_answer(&slow, STATUS_OK, STATUS_OK);
    expect(client, 200, "{\"changed\":true,\"count\":0}");
    expect(client, 200,
           "{\"results\":[{\"items\":[{\"item\":\"video:3\",\"counts\":{\"comment\":3}}]},"
           "{\"changed\":true},{\"set\":[true]}]}");
    close(client);
}

/* Wakes come for other names too: who still has to wait asks again, and is not counted again. */
static void limits_are_taken_once(void **state)
{
    (void)state;
    int resp = client_open(&fake), http = http_open();
    client_send(resp, "LIKE 1 near:1\r\n");
    slow_await(&slow, 1, 0);
    for (uint64_t finds = 2; finds < 20; finds++) {
        names_wake(fake.names);
        slow_await(&slow, finds, 0);
    }
    slow_answer(&slow, STATUS_OK, STATUS_OK);
    client_expect(resp, ":1\r\n");
    assert_int_equal(limits_taken(), 1);

    slow_answer(&slow, STATUS_BLOCKED, STATUS_BLOCKED);
    uint64_t asked = slow_finds(&slow);
    client_send(http, PUT("other:1"));
    for (uint64_t more = 1; more < 20; more++) {
        slow_await(&slow, asked + more, 0);
        names_wake(fake.names);
    }
    slow_answer(&slow, STATUS_OK, STATUS_OK);
    expect(http, 200, "{\"changed\":true,\"count\":0}");
    assert_int_equal(limits_taken(), 2);
    close(resp);
    close(http);
}

static void a_transaction_waits_as_a_whole(void **state)
{
    (void)state;
    int client = client_open(&fake);
    client_send(client, "MULTI\r\nCOUNTS video:1\r\nLIKE 1 near:1\r\nCOUNTS video:3\r\nEXEC\r\n");
    client_expect(client, "+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n");
    slow_await(&slow, 1, 0);
    pass_a_turn();
    client_expect_none(client);
    slow_answer(&slow, STATUS_OK, STATUS_OK);
    client_expect(client, "*3\r\n" ONE("1") ":1\r\n" ONE("3"));
    close(client);
}

static void a_client_goes_while_it_waits(void **state)
{
    (void)state;
    int resp = client_open(&fake), http = http_open(), stays = client_open(&fake);
    client_send(resp, "LIKE 1 near:1\r\nLIKE 1 near:2\r\n");
    slow_await(&slow, 1, 0);
    client_send(http, PUT("near:3"));
    slow_await(&slow, 2, 0);
    client_send(stays, "COUNTS far:7\r\n");
    slow_await(&slow, 3, 0);
    close(resp);
    close(http);
    pass_a_turn();
    slow_answer(&slow, STATUS_OK, STATUS_OK);
    client_expect(stays, ONE("7"));
    close(stays);
}

static void the_server_stops_while_some_wait(void **state)
{
    (void)state;
    int resp = client_open(&fake), http = http_open();
    client_send(resp, "COUNTS video:1\r\nLIKE 1 near:1\r\n");
    client_send(http, PUT("near:3"));
    client_expect(resp, ONE("1"));
    slow_await(&slow, 2, 0);
    pass_a_turn();
    server_stop(&fake.server);
    client_expect_end(resp);
    client_expect_end(http);
    slow_answer(&slow, STATUS_OK, STATUS_OK);
    assert_int_equal(names_find_type(fake.names, "near", 4), -1);
    close(resp);
    close(http);
}

#define ON_A_SERVER(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_A_SERVER(replies_keep_their_order),     ON_A_SERVER(answers_keep_their_order),
        ON_A_SERVER(limits_are_taken_once),        ON_A_SERVER(a_transaction_waits_as_a_whole),
        ON_A_SERVER(a_client_goes_while_it_waits), ON_A_SERVER(the_server_stops_while_some_wait),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
