/*
 * HTTP on a real socket, with a hot tier that needs the store when the test wants it: answers keep
 * their order and are whole, whoever wrote their parts, and everything may end at any moment.
 */
#include "net/fake.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/io.h"
#include "net/loop.h"
#include "say.h"
#include "talk.h"

static struct meter_total total(void)
{
    struct meter_total meter = {.by_worker = 0};
    meter_read(&fake.server.loops[0].watch.meter, &meter);
    return meter;
}

static uint64_t ran(enum op_code op)
{
    struct meter_total meter = total();
    return buckets_count(&meter.operations[op].times);
}

#define COUNTS_1 "{\"item\":\"video:1\",\"counts\":{\"comment\":1}}"

/* A reply of the loop to somebody else: whatever it had to do before is done. */
static void pass_a_turn(void)
{
    int other = http_open();
    get(other, "/v1/items/video:1/counts");
    expect(other, 200, COUNTS_1);
    close(other);
}

static void answers_keep_their_order(void **state)
{
    (void)state;
    int client = http_open();
    get(client, "/v1/items/video:1/counts");
    get(client, "/v1/items/video:1000001/counts");
    client_send(client, "PUT /v1/items/video:3/reactions/like/1 HTTP/1.1\r\n" HOST "\r\n");
    get(client, "/nowhere");
    post(client, "/v1/items/video:7/counters/view", "{\"delta\":1}");
    expect(client, 200, COUNTS_1);
    fake_await_inside(&fake, 1);
    pass_a_turn();
    client_expect_none(client);
    fake_gate(&fake, true);
    expect(client, 200, "{\"item\":\"video:1000001\",\"counts\":{\"comment\":1000001}}");
    expect(client, 200, "{\"changed\":true,\"count\":0}");
    assert_int_equal(read_response(client, false), 404);
    expect(client, 200, "{\"value\":7}");
    close(client);
}

static void a_change_and_its_count_by_a_worker(void **state)
{
    (void)state;
    int client = http_open();
    fake_gate(&fake, true);
    client_send(client, "DELETE /v1/items/video:1000001/reactions/like/1 HTTP/1.1\r\n" HOST "\r\n");
    expect(client, 200, "{\"changed\":true,\"count\":0}");
    client_send(client, "HEAD /v1/items/video:1000001/counts HTTP/1.1\r\n" HOST "\r\n");
    assert_int_equal(read_response(client, true), 200);
    assert_non_null(strstr(head, "Content-Length: 53"));
    post(client, "/v1/feed",
         "{\"user\":\"1\",\"items\":[\"video:1\",\"video:1000002\",\"none:3\"]}");
    expect(client, 200,
           "{\"items\":[{\"item\":\"video:1\",\"reactions\":[],\"counts\":{\"comment\":1}},"
           "{\"item\":\"video:1000002\",\"reactions\":[],\"counts\":{\"comment\":1000002}},"
           "{\"item\":\"none:3\",\"reactions\":[],\"counts\":{\"comment\":3}}]}");
    close(client);
}

static double rate_of(uint64_t id)
{
    static struct hotkeys_top top;
    assert_int_equal(hotkeys_top(fake.server.hotkeys, clock_monotonic_ns(), &top), STATUS_OK);
    for (uint32_t i = 0; i < top.item_count; i++)
        if (top.items[i].item.id.lo == id)
            return top.items[i].rate;
    return 0;
}

/* Also where a worker did it: the counter that is told with a change was not asked for. */
static void what_the_server_does_for_itself_is_not_counted(void **state)
{
    (void)state;
    char text[256];
    int client = http_open();
    fake_gate(&fake, true);
    for (int i = 0; i < 10; i++) {
        for (int id = 3; id <= COLD; id += COLD - 3) {
            snprintf(text, sizeof text,
                     "PUT /v1/items/video:%d/reactions/like/1 HTTP/1.1\r\n" HOST "\r\n", id);
            client_send(client, text);
            expect(client, 200, "{\"changed\":true,\"count\":0}");
        }
        get(client, "/v1/items/video:5/reactions/like/1");
        expect(client, 200, "{\"set\":true}");
    }
    assert_int_equal(fake.server.loops[0].stats.commands, 30);
    assert_int_equal(ran(OP_REACT), 20);
    assert_int_equal(ran(OP_REACTED), 10);
    assert_int_equal(ran(OP_COUNTS), 0);
    assert_int_equal(total().by_worker, 10);
    assert_true(rate_of(5) > 0);
    assert_true(rate_of(3) < 1.5 * rate_of(5));
    assert_true(rate_of(COLD) < 1.5 * rate_of(5));
    close(client);
}

static void what_is_refused_is_counted_by_name(void **state)
{
    (void)state;
    int client = http_open();
    get(client, "/v1/items/video:1/reactions/like/x");
    assert_int_equal(read_response(client, false), 400);
    get(client, "/v1/items/video:1/counts?x=1");
    assert_int_equal(read_response(client, false), 400);
    post(client, "/v1/feed", "{");
    assert_int_equal(read_response(client, false), 400);
    post(client, "/v1/batch",
         "{\"operations\":[[\"LIKE\",\"1\",\"x\"],[\"COUNTS\"],[\"COUNTS\",1],[\"PING\"],1]}");
    assert_int_equal(read_response(client, false), 200);
    get(client, "/nowhere");
    assert_int_equal(read_response(client, false), 404);
    struct meter_total meter = total();
    assert_int_equal(meter.operations[OP_REACTED].refused, 1);
    assert_int_equal(meter.operations[OP_FEED].refused, 1);
    assert_int_equal(meter.operations[OP_LIKE].refused, 1);
    assert_int_equal(meter.operations[OP_COUNTS].refused, 3);
    assert_int_equal(fake.server.loops[0].stats.errors, 9);
    assert_int_equal(fake.server.loops[0].stats.commands, 9);
    close(client);
}

static uint32_t times_in_body(const char *text)
{
    uint32_t count = 0;
    for (const char *at = body; (at = strstr(at, text)) != NULL; at += strlen(text))
        count++;
    return count;
}

#define LONG_TYPE "a-type-of-items-with-a-long-name"

/* All are run and answered, in order, by the loop and by workers; what does not fit is told so. */
static void results_that_do_not_fit_are_told_one_by_one(void **state)
{
    (void)state;
    static char asked[131072];
    fake_init(&fake);
    fake.options.output_buffer = LIMIT_OUTPUT_MIN;
    fake_start(&fake);
    fake_gate(&fake, true);
    asked[0] = '\0';
    say(asked, sizeof asked, "{\"operations\":[");
    for (int i = 0; i < LIMIT_HTTP_BATCH; i += 2) {
        say(asked, sizeof asked, "[\"COUNTS\"");
        for (int item = 0; item < 50; item++)
            say(asked, sizeof asked, ",\"video:%d\"", i % 80 == 40 ? COLD + item : item + 1);
        say(asked, sizeof asked, "],[\"LIKE\",\"1\",\"video:%d\"],", i + 1);
    }
    unsay(asked, 1);
    say(asked, sizeof asked, "]}");
    int client = http_open();
    post(client, "/v1/batch", asked);
    assert_int_equal(read_response(client, false), 200);
    uint32_t large = times_in_body("{\"code\":\"ANSWER_TOO_LARGE\"");
    uint32_t items = times_in_body("{\"items\":["), changes = times_in_body("{\"changed\":true}");
    assert_true(items > 0 && changes > 0 && large > LIMIT_HTTP_BATCH / 2);
    assert_int_equal(items + changes + large, LIMIT_HTTP_BATCH);
    assert_ptr_equal(strstr(body, "{\"results\":[{\"items\":[{\"item\":\"video:1\","), body);
    assert_int_equal(ran(OP_COUNTS), LIMIT_HTTP_BATCH / 2);
    assert_int_equal(ran(OP_LIKE), LIMIT_HTTP_BATCH / 2);
    assert_true(fake_ran(&fake) > 0);
    assert_int_equal(total().statuses[STATUS_ANSWER_TOO_LARGE], large);
    assert_int_equal(fake.server.loops[0].stats.errors, large);
    close(client);
    fake_stop(&fake);
}

static void alone_an_answer_that_does_not_fit_is_422(void **state)
{
    (void)state;
    static char asked[131072];
    fake_init(&fake);
    fake.options.output_buffer = LIMIT_OUTPUT_MIN;
    fake_start(&fake);
    asked[0] = '\0';
    say(asked, sizeof asked, "{\"items\":[");
    for (int i = 0; i < LIMIT_ITEMS; i++)
        say(asked, sizeof asked, "%s\"" LONG_TYPE ":%d\"", i ? "," : "", i);
    say(asked, sizeof asked, "]}");
    int client = http_open();
    post(client, "/v1/counts", asked);
    assert_int_equal(read_response(client, false), 422);
    assert_non_null(strstr(body, "\"ANSWER_TOO_LARGE\""));
    assert_int_equal(total().operations[OP_COUNTS].failed, 1);
    assert_int_equal(fake.server.loops[0].stats.commands, 1);
    assert_int_equal(fake.server.loops[0].stats.errors, 1);
    close(client);
    fake_stop(&fake);
}

#ifdef LAUD_FAULTS
#define ORIGIN "https://a.example"

static void expect_read_only(int client, bool last)
{
    assert_int_equal(read_response(client, false), 503);
    assert_non_null(strstr(body, "\"READONLY\""));
    assert_non_null(strstr(head, "Access-Control-Allow-Origin: " ORIGIN "\n"));
    assert_null(strstr(head, "Retry-After"));
    assert_int_equal(strstr(head, "Connection: close\n") != NULL, last);
}

/* A page is told so, each of a pipeline, and nothing is run behind the answer that says close. */
static void a_failed_commit_ends_the_connection(void **state)
{
    (void)state;
    static const char put[] =
        "PUT /v1/items/video:3/reactions/like/1 HTTP/1.1\r\n" HOST "Origin: " ORIGIN "\r\n\r\n";
    fake_init(&fake);
    snprintf(fake.options.cors_origin, sizeof fake.options.cors_origin, ORIGIN);
    fake_start(&fake);
    int client = http_open();
    char twice[2 * sizeof put];
    assert_int_equal(io_faults_plan("segment.write:1+:EIO"), 0);
    snprintf(twice, sizeof twice, "%s%s", put, put);
    client_send(client, twice);
    expect_read_only(client, false);
    expect_read_only(client, true);
    client_expect_end(client);
    close(client);
    assert_int_equal(io_faults_plan(NULL), 0);
    client = http_open();
    client_send(client, put);
    expect_read_only(client, false);
    get(client, "/v1/items/video:1/counts");
    expect(client, 200, COUNTS_1);
    close(client);
    fake_stop(&fake);
}
#endif

/* Two hundred operations, some of them cold, some of them wrong: one answer each, in order. */
static void a_batch_is_answered_in_order(void **state)
{
    (void)state;
    static char asked[32768], wanted[65536];
    say(asked, sizeof asked, "{\"operations\":[");
    say(wanted, sizeof wanted, "{\"results\":[");
    for (int i = 0; i < LIMIT_HTTP_BATCH; i++) {
        int id = i % 7 == 3 ? COLD + i : i + 1;
        if (i % 11 == 5) {
            say(asked, sizeof asked, "[\"LIKE\",\"1\",\"bad\"],");
            say(wanted, sizeof wanted,
                "{\"error\":{\"code\":\"BAD_ARGUMENT\",\"message\":\"an item must be type:id, as "
                "in video:42, got 'bad'\"}},");
        } else if (i % 5 == 2) {
            say(asked, sizeof asked, "[\"COUNTS\",\"video:%d\",\"video:2\"],", id);
            say(wanted, sizeof wanted,
                "{\"items\":[{\"item\":\"video:%d\",\"counts\":{\"comment\":%d}},"
                "{\"item\":\"video:2\",\"counts\":{\"comment\":2}}]},",
                id, id);
        } else {
            say(asked, sizeof asked, "[\"ADD\",\"video:%d\",\"view\",\"1\"],", id);
            say(wanted, sizeof wanted, "{\"value\":%d},", id);
        }
    }
    unsay(asked, 1);
    unsay(wanted, 1);
    say(asked, sizeof asked, "]}");
    say(wanted, sizeof wanted, "]}");
    int client = http_open();
    fake_gate(&fake, true);
    post(client, "/v1/batch", asked);
    expect(client, 200, wanted);
    post(client, "/v1/batch", "{\"operations\":[]}");
    expect(client, 200, "{\"results\":[]}");
    unsay(asked, 2);
    say(asked, sizeof asked, ",[\"COUNTS\",\"video:1\"]]}");
    post(client, "/v1/batch", asked);
    assert_int_equal(read_response(client, false), 422);
    assert_non_null(strstr(body, "TOO_MANY_ITEMS"));
    get(client, "/v1/items/video:1/counts");
    expect(client, 200, COUNTS_1);
    close(client);
}

static void a_client_may_leave_while_a_worker_has_its_request(void **state)
{
    (void)state;
    int client = http_open();
    post(client, "/v1/batch",
         "{\"operations\":[[\"COUNTS\",\"video:1\"],[\"COUNTS\",\"video:1000001\"]]}");
    fake_await_inside(&fake, 1);
    struct linger reset = {.l_onoff = 1};
    setsockopt(client, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    close(client);
    pass_a_turn();
    fake_gate(&fake, true);
    pass_a_turn();
}

static void past_the_limit_of_jobs_it_is_busy(void **state)
{
    (void)state;
    int client = http_open();
    pthread_mutex_lock(&fake.pool.lock);
    fake.pool.limit = 0;
    pthread_mutex_unlock(&fake.pool.lock);
    get(client, "/v1/items/video:1000001/counts");
    assert_int_equal(read_response(client, false), 503);
    assert_non_null(strstr(head, "Retry-After: 1\n"));
    assert_non_null(strstr(body, "\"TOO_BUSY\""));
    post(client, "/v1/batch",
         "{\"operations\":[[\"COUNTS\",\"video:1000001\"],[\"LIKED\",\"1\",\"video:1\"]]}");
    expect(client, 200,
           "{\"results\":[{\"error\":{\"code\":\"TOO_BUSY\",\"message\":\"the server is over "
           "capacity, try again\"}},{\"set\":[true]}]}");
    get(client, "/v1/items/video:1/counts");
    expect(client, 200, COUNTS_1);
    close(client);
}

static void a_body_is_waited_for_and_asked_for(void **state)
{
    (void)state;
    int client = http_open();
    client_send(client, "PUT /v1/items/video:3/reactions/like/1 HTTP/1.1\r\n" HOST "\r\n"
                        "POST /v1/counts HTTP/1.1\r\n" HOST JSON
                        "Expect: 100-continue\r\nContent-Length: 21\r\n\r\n");
    expect(client, 200, "{\"changed\":true,\"count\":0}");
    client_expect(client, "HTTP/1.1 100 Continue\r\n\r\n");
    client_send(client, "{\"items\":[\"video:9\"");
    pass_a_turn();
    client_expect_none(client);
    client_send(client, "]}x");
    expect(client, 200, "{\"items\":[{\"item\":\"video:9\",\"counts\":{\"comment\":9}}]}");
    assert_int_equal(send(client, "\r\n", 2, MSG_NOSIGNAL), 2);
    assert_int_equal(read_response(client, false), 400);
    assert_non_null(strstr(head, "Connection: close\n"));
    client_expect_end(client);
    close(client);
}

/* The answer to what cannot be read comes whole, though the client goes on sending. */
static void a_refusal_is_not_lost(void **state)
{
    (void)state;
    static char flood[256 * 1024];
    memset(flood, 'a', sizeof flood);
    int client = http_open();
    client_send(client,
                "POST /v1/counts HTTP/1.1\r\n" HOST JSON "Content-Length: 100000000\r\n\r\n");
    for (int i = 0; i < 8; i++)
        assert_true(send(client, flood, sizeof flood, MSG_NOSIGNAL) > 0);
    assert_int_equal(read_response(client, false), 413);
    client_expect_end(client);
    close(client);
}

/* The store is so far behind that writes are slowed down: they wait, and all of them are made. */
static void a_batch_waits_for_the_guard(void **state)
{
    (void)state;
    static char asked[8192], wanted[8192];
    fake_init(&fake);
    fake.admission.lag_slow = 100;
    fake.admission.lag_max = KIB(64);
    fake_start(&fake);
    say(asked, sizeof asked, "{\"operations\":[");
    say(wanted, sizeof wanted, "{\"results\":[");
    for (int i = 0; i < LIMIT_HTTP_BATCH; i++) {
        say(asked, sizeof asked, "%s[\"LIKE\",\"%d\",\"video:1\"]", i ? "," : "", i);
        say(wanted, sizeof wanted, "%s{\"changed\":true}", i ? "," : "");
    }
    say(asked, sizeof asked, "]}");
    say(wanted, sizeof wanted, "]}");
    int client = http_open();
    for (int round = 0; round < 3; round++)
        post(client, "/v1/batch", asked);
    get(client, "/v1/items/video:1/counts");
    for (int round = 0; round < 3; round++)
        expect(client, 200, wanted);
    expect(client, 200, COUNTS_1);
    close(client);
    fake_stop(&fake);
}

static void too_many_connections(void **state)
{
    (void)state;
    fake_init(&fake);
    fake.options.max_connections = 1;
    fake_start(&fake);
    int one = http_open(), two;
    get(one, "/v1/items/video:1/counts");
    expect(one, 200, COUNTS_1);
    two = http_open();
    get(two, "/v1/items/video:1/counts");
    assert_int_equal(read_response(two, false), 503);
    assert_non_null(strstr(body, "TOO_MANY_CONNECTIONS"));
    client_expect_end(two);
    close(one);
    close(two);
    fake_stop(&fake);
}

/* More of them in a row than a batch has room for items. */
static void refusals_leave_nothing_behind(void **state)
{
    (void)state;
    int client = http_open();
    for (int i = 0; i < LIMIT_BATCH_ITEMS + 1; i++) {
        get(client, "/v1/items/video:1/reactions/like?limit=x");
        assert_int_equal(read_response(client, false), 400);
    }
    get(client, "/v1/items/video:1/counts");
    expect(client, 200, COUNTS_1);
    close(client);
}

static void stopping_answers_what_a_worker_has(void **state)
{
    (void)state;
    int client = http_open();
    get(client, "/v1/items/video:1000001/counts");
    fake_await_inside(&fake, 1);
    fake_gate(&fake, true);
    server_stop(&fake.server);
    assert_int_equal(read_response(client, false), 200);
    client_expect_end(client);
    close(client);
}

int main(void)
{
#define ON_A_SERVER(test)                                                                          \
    cmocka_unit_test_prestate_setup_teardown(test, fake_begin, fake_end, &fake)
    const struct CMUnitTest tests[] = {
        ON_A_SERVER(answers_keep_their_order),
        ON_A_SERVER(a_change_and_its_count_by_a_worker),
        ON_A_SERVER(what_the_server_does_for_itself_is_not_counted),
        ON_A_SERVER(what_is_refused_is_counted_by_name),
        cmocka_unit_test(results_that_do_not_fit_are_told_one_by_one),
        cmocka_unit_test(alone_an_answer_that_does_not_fit_is_422),
#ifdef LAUD_FAULTS
        cmocka_unit_test(a_failed_commit_ends_the_connection),
#endif
        ON_A_SERVER(a_batch_is_answered_in_order),
        ON_A_SERVER(a_client_may_leave_while_a_worker_has_its_request),
        ON_A_SERVER(past_the_limit_of_jobs_it_is_busy),
        ON_A_SERVER(a_body_is_waited_for_and_asked_for),
        ON_A_SERVER(a_refusal_is_not_lost),
        cmocka_unit_test(a_batch_waits_for_the_guard),
        cmocka_unit_test(too_many_connections),
        ON_A_SERVER(refusals_leave_nothing_behind),
        ON_A_SERVER(stopping_answers_what_a_worker_has),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
