/*
 * Requests that need the store, on a real socket: replies keep their order, nobody else waits, and
 * a connection, a server or a pool may end or be full at any moment.
 */
#include "fake.h"

#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "chance.h"
#include "hot/delayed/hot_delayed.h"

#define BUSY_CAPACITY "-BUSY the server is over capacity, try again\r\n"
#define BUSY_STOPPING "-BUSY the server is shutting down\r\n"
#define STORE_FAILED                                                                               \
    "-ERR the store takes nothing more until the server is restarted: it is made of paper\r\n"
#define BUSY_LAGGING "-BUSY the store is too far behind, try again later\r\n"

static struct fake fake;

/* A reply of the loop to somebody else: whatever it had to do before is done. */
static void pass_a_turn(void)
{
    int other = client_open(&fake);
    client_send(other, "LIKED 1 video:1\r\nLIKE 1 video:2\r\n");
    client_expect(other, "*1\r\n:1\r\n:1\r\n");
    close(other);
}

static void replies_keep_their_order(void **state)
{
    (void)state;
    int client = client_open(&fake);
    client_send(client, "LIKED 1 video:1 video:2\r\n"
                        "LIKED 1 video:1000001 video:1\r\n"
                        "LIKE 1 video:3\r\nCOUNTS video:4\r\nPING\r\nLIKE 1 bad\r\n"
                        "HELLO 3\r\nCOUNTS video:1000002\r\nNOPE\r\nECHO last\r\n");
    client_expect(client, "*2\r\n:1\r\n:0\r\n");
    fake_await_inside(&fake, 1);
    pass_a_turn();
    client_expect_none(client);
    fake_gate(&fake, true);
    client_expect(client, "*2\r\n:1\r\n:1\r\n:1\r\n*1\r\n*2\r\n$7\r\ncomment\r\n:4\r\n+PONG\r\n");
    char line[256];
    client_read_line(client, line, sizeof line);
    assert_non_null(strstr(line, "an item must be type:id"));
    client_read_line(client, line, sizeof line);
    assert_string_equal(line, "%7");
    do
        client_read_line(client, line, sizeof line);
    while (strcmp(line, "*0") != 0);
    client_expect(client, "*1\r\n%1\r\n$7\r\ncomment\r\n:1000002\r\n");
    client_read_line(client, line, sizeof line);
    assert_non_null(strstr(line, "unknown command"));
    client_expect(client, "$4\r\nlast\r\n");
    close(client);
}

static void a_feed_from_memory_alone_does_not_wait(void **state)
{
    (void)state;
    int client = client_open(&fake);
    client_send(client, "FEED 1 video:1000001 COLD skip\r\n");
    client_expect(client, "*1\r\n*2\r\n*0\r\n*2\r\n$7\r\ncomment\r\n:1000001\r\n");
    assert_int_equal(fake_ran(&fake), 0);
    close(client);
}

static void a_violation_behind_a_job_is_told_in_its_place(void **state)
{
    (void)state;
    int client = client_open(&fake);
    client_send(client, "LIKED 1 video:1000001\r\n*1\r\n$x\r\n");
    fake_await_inside(&fake, 1);
    pass_a_turn();
    client_expect_none(client);
    fake_gate(&fake, true);
    client_expect(client,
                  "*1\r\n:1\r\n-ERR Protocol error: bad or too large length of an argument\r\n");
    client_expect_end(client);
    close(client);
}

static void what_was_asked_before_a_half_close_is_answered(void **state)
{
    (void)state;
    int client = client_open(&fake);
    client_send(client, "LIKE 1 video:1000001\r\nLIKED 1 video:1000003\r\nPING\r\n");
    shutdown(client, SHUT_WR);
    fake_await_inside(&fake, 1);
    pass_a_turn();
    fake_gate(&fake, true);
    client_expect(client, ":1\r\n*1\r\n:1\r\n+PONG\r\n");
    client_expect_end(client);
    close(client);
}

static void writes_of_a_worker_are_on_disk_when_they_are_answered(void **state)
{
    (void)state;
    int client = client_open(&fake);
    fake_gate(&fake, true);
    uint64_t before = journal_appended(fake.journal);
    client_send(client, "LIKE 1 video:1000001\r\n");
    client_expect(client, ":1\r\n");
    assert_true(journal_appended(fake.journal) > before);
    assert_int_equal(journal_released(fake.journal), journal_appended(fake.journal));
    close(client);
}

static void a_client_may_leave_while_a_worker_has_its_request(void **state)
{
    (void)state;
    struct linger at_once = {.l_onoff = 1};
    for (int i = 0; i < 8; i++) {
        int client = client_open(&fake);
        client_send(client, "LIKED 1 video:1\r\nLIKE 1 video:1000001\r\nPING\r\n");
        client_expect(client, "*1\r\n:1\r\n");
        if (i % 2 == 0)
            setsockopt(client, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        close(client);
    }
    fake_await_inside(&fake, 4);
    pass_a_turn();
    fake_gate(&fake, true);
    pass_a_turn();
}

static void set_limit(size_t limit)
{
    pthread_mutex_lock(&fake.pool.lock);
    fake.pool.limit = limit;
    pthread_mutex_unlock(&fake.pool.lock);
}

static void past_the_limit_only_what_needs_the_store_is_refused(void **state)
{
    (void)state;
    set_limit(2);
    int clients[7];
    for (int i = 0; i < 6; i++) {
        clients[i] = client_open(&fake);
        client_send(clients[i], "LIKED 1 video:1000001\r\n");
        if (i < 4)
            fake_await_inside(&fake, i + 1);
    }
    while (pool_waiting(&fake.pool) < 2)
        sched_yield();
    clients[6] = client_open(&fake);
    client_send(clients[6], "LIKED 1 video:1\r\nLIKE 1 video:1000001\r\nLIKE 1 video:4\r\n"
                            "LIKED 1 video:1000002\r\nLIKED 1 video:3\r\nPING\r\n");
    client_expect(clients[6],
                  "*1\r\n:1\r\n" BUSY_CAPACITY ":1\r\n" BUSY_CAPACITY "*1\r\n:1\r\n+PONG\r\n");
    fake_gate(&fake, true);
    for (int i = 0; i < 6; i++)
        client_expect(clients[i], "*1\r\n:1\r\n");
    client_send(clients[6], "LIKED 1 video:1000001\r\n");
    client_expect(clients[6], "*1\r\n:1\r\n");
    for (int i = 0; i < 7; i++)
        close(clients[i]);
}

static void no_memory_for_a_job_is_busy(void **state)
{
    (void)state;
    int client = client_open(&fake);
    client_send(client, "PING\r\n");
    client_expect(client, "+PONG\r\n");
    uint64_t free_bytes = fake.budget.limit - memory_used(&fake.budget);
    assert_true(memory_charge_connection(&fake.budget, free_bytes - 64));
    client_send(client, "LIKED 1 video:1000001\r\nLIKED 1 video:1\r\n");
    client_expect(client, BUSY_CAPACITY "*1\r\n:1\r\n");
    memory_release_connection(&fake.budget, free_bytes - 64);
    close(client);
}

static void *stop_server(void *unused)
{
    server_stop(&fake.server);
    return unused;
}

static void stopping_waits_for_jobs_and_answers_them(void **state)
{
    (void)state;
    pthread_t stopper;
    int clients[6];
    for (int i = 0; i < 4; i++) {
        clients[i] = client_open(&fake);
        client_send(clients[i], "LIKED 1 video:1000001\r\nLIKE 1 video:2\r\n");
        fake_await_inside(&fake, i + 1);
    }
    for (int i = 4; i < 6; i++) {
        clients[i] = client_open(&fake);
        client_send(clients[i], "LIKED 1 video:1000003\r\nLIKE 1 video:1000004\r\n"
                                "LIKED 1 video:1000005 video:6\r\n");
    }
    while (pool_waiting(&fake.pool) < 2)
        sched_yield();
    assert_int_equal(pthread_create(&stopper, NULL, stop_server, NULL), 0);
    while (!atomic_load(&fake.admission.stopping))
        sched_yield();
    fake_gate(&fake, true);
    for (int i = 0; i < 4; i++) /* one batch, admitted before the end was in sight */
        client_expect(clients[i], "*1\r\n:1\r\n:1\r\n");
    for (int i = 4; i < 6; i++)
        client_expect(clients[i], "*1\r\n:1\r\n" BUSY_STOPPING "*2\r\n:1\r\n:0\r\n");
    for (int i = 0; i < 6; i++) {
        client_expect_end(clients[i]);
        close(clients[i]);
    }
    pthread_join(stopper, NULL);
}

/* Drained for as long as it may: clients are let go, and the job is waited for all the same. */
static void a_stuck_job_outlives_its_connection(void **state)
{
    (void)state;
    pthread_t stopper;
    int client = client_open(&fake);
    client_send(client, "LIKE 1 video:1000001\r\n");
    fake_await_inside(&fake, 1);
    assert_int_equal(pthread_create(&stopper, NULL, stop_server, NULL), 0);
    client_expect_end(client);
    usleep(50000); /* not needed to pass: a loop that did not wait would end now */
    pthread_mutex_lock(&fake.pool.lock);
    assert_false(fake.pool.ending);
    pthread_mutex_unlock(&fake.pool.lock);
    fake_gate(&fake, true);
    pthread_join(stopper, NULL);
    assert_int_equal(fake_ran(&fake), 1);
    close(client);
}

/* So long that a test which was not let run for a while is not a slow client. */
#define PATIENT_MS 4000

/* Time-outs are for clients that are slow or silent, not for those that wait for a worker. */
static void waiting_for_a_worker_is_not_being_idle_or_slow(void **state)
{
    (void)state;
    fake_init(&fake);
    fake.options.idle_timeout_ms = PATIENT_MS;
    fake.options.slow_timeout_ms = PATIENT_MS;
    fake_start(&fake);
    int silent = client_open(&fake), asking = client_open(&fake), halfway = client_open(&fake);
    client_send(asking, "LIKED 1 video:1000001\r\n");
    client_send(halfway, "LIKED 1 video:1000003\r\n*2\r\n$4\r\n");
    fake_await_inside(&fake, 2);
    int later_silent = client_open(&fake), later_halfway = client_open(&fake);
    client_send(later_halfway, "*2\r\n$4\r\n");
    client_expect_end(silent);
    client_expect_end(later_silent);
    client_expect_end(later_halfway);
    fake_gate(&fake, true);
    client_expect(asking, "*1\r\n:1\r\n");
    client_expect(halfway, "*1\r\n:1\r\n");
    client_send(halfway, "ECHO\r\n$2\r\nhi\r\n");
    client_expect(halfway, "$2\r\nhi\r\n");
    client_expect_end(asking);
    client_expect_end(halfway);
    int all[] = {silent, asking, halfway, later_silent, later_halfway};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        close(all[i]);
    fake_stop(&fake);
}

/* A store too far behind: loops and workers refuse writes; reads go on; then writes do. */
static void writes_wait_for_a_store_that_is_behind(void **state)
{
    (void)state;
    fake_init(&fake);
    fake.admission.lag_slow = 100;
    fake.admission.lag_max = 200;
    fake_start(&fake);
    fake_gate(&fake, true);
    int client = client_open(&fake);
    char line[128];
    int taken = 0;
    do {
        client_send(client, taken % 2 ? "LIKE 1 video:1000001\r\n" : "LIKE 1 video:1\r\n");
        client_read_line(client, line, sizeof line);
    } while (strcmp(line, ":1") == 0 && ++taken < 100);
    assert_in_range(taken, 2, 20);
    assert_string_equal(line, "-BUSY the store is too far behind, try again later");
    client_send(client, "LIKED 1 video:1\r\nLIKED 1 video:1000001\r\n");
    client_expect(client, "*1\r\n:1\r\n*1\r\n:1\r\n");
    client_send(client, "LIKE 1 video:1\r\nLIKED 1 video:1000001\r\nLIKE 1 video:1000001\r\n");
    client_expect(client, BUSY_LAGGING "*1\r\n:1\r\n" BUSY_LAGGING);
    admission_store_failed(&fake.admission, "it is made of paper");
    client_send(client, "LIKE 1 video:1\r\nLIKED 1 video:1000001\r\nLIKE 1 video:1000001\r\n");
    client_expect(client, STORE_FAILED "*1\r\n:1\r\n" STORE_FAILED);
    admission_projected(&fake.admission, journal_appended(fake.journal));
    client_send(client, "LIKE 1 video:1\r\nLIKE 1 video:1000001\r\n");
    client_expect(client, ":1\r\n:1\r\n");
    close(client);
    fake_stop(&fake);
}

static long read_number(int client)
{
    char line[128];
    client_read_line(client, line, sizeof line);
    assert_int_equal(line[0], ':');
    return strtol(line + 1, NULL, 10);
}

/* A DROP asks again before each batch, tells how far it came, and takes nobody else's leave. */
static void a_drop_stops_where_the_store_is_too_far_behind(void **state)
{
    (void)state;
    fake_init(&fake);
    fake.admission.lag_slow = 3999;
    fake.admission.lag_max = 4000;
    fake_start(&fake);
    fake_gate(&fake, true);
    int client = client_open(&fake);
    char line[128];
    long removed = 0;
    uint64_t lag = 0;
    client_send(client, "DROP video:1000001 LIMIT 10000\r\n");
    client_read_line(client, line, sizeof line);
    while (strcmp(line, "*2") == 0) { /* more than once if its time was over first */
        assert_true(lag <= fake.admission.lag_max);
        long some = read_number(client);
        assert_true(some > 0);
        assert_int_equal(some % LIMIT_BATCH, 0);
        client_expect(client, ":1\r\n");
        assert_int_equal(journal_released(fake.journal), journal_appended(fake.journal));
        lag = journal_appended(fake.journal);
        removed += some;
        client_send(client, "DROP video:1000001 LIMIT 10000\r\n");
        client_read_line(client, line, sizeof line);
    }
    assert_string_equal(line, "-BUSY the store is too far behind, try again later");
    assert_true(lag > fake.admission.lag_max);
    assert_in_range(removed, LIMIT_BATCH, 10 * LIMIT_BATCH);
    client_send(client, "LIKE 1 video:1\r\nLIKED 1 video:1\r\n");
    client_expect(client, BUSY_LAGGING "*1\r\n:1\r\n");
    admission_projected(&fake.admission, journal_appended(fake.journal));
    client_send(client, "DROP video:1000001 LIMIT 32\r\nLIKE 1 video:1\r\n");
    client_expect(client, "*2\r\n:32\r\n:0\r\n:1\r\n");
    close(client);
    fake_stop(&fake);
}

static void a_drop_ends_when_the_server_does(void **state)
{
    (void)state;
    pthread_t stopper;
    int client = client_open(&fake);
    client_send(client, "DROP video:1000001\r\nLIKED 1 video:1\r\n");
    fake_await_inside(&fake, 1);
    assert_int_equal(pthread_create(&stopper, NULL, stop_server, NULL), 0);
    while (!atomic_load(&fake.admission.stopping))
        sched_yield();
    fake_gate(&fake, true);
    client_expect(client, BUSY_STOPPING "*1\r\n:1\r\n");
    client_expect_end(client);
    pthread_join(stopper, NULL);
    close(client);
}

/* Between the two bounds everything is answered, whoever sends it and however much at once. */
static void writes_slow_down_and_all_of_them_are_answered(void **state)
{
    (void)state;
    enum { CLIENTS = 8, WRITES = 40 };
    fake_init(&fake);
    fake.admission.lag_slow = 1;
    fake.admission.lag_max = MIB(1);
    fake_start(&fake);
    fake_gate(&fake, true);
    int clients[CLIENTS];
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = client_open(&fake);
        for (int write = 0; write < WRITES; write++)
            client_send(clients[i],
                        write % 8 == 5 ? "LIKE 1 video:1000001\r\n" : "LIKE 1 video:1\r\n");
    }
    for (int i = 0; i < CLIENTS; i++) {
        for (int write = 0; write < WRITES; write++)
            client_expect(clients[i], ":1\r\n");
        close(clients[i]);
    }
    fake_stop(&fake);
}

/* Many clients, long pipelines, some of it cold, bytes cut anywhere: each gets what it asked for. */

enum { STRESS_CLIENTS = 6, STRESS_COMMANDS = 2000 };

struct stress {
    pthread_t thread;
    uint64_t seed;
    char *asked, *expected;
    int fd;
};

static void *send_in_pieces(void *argument)
{
    struct stress *s = argument;
    struct chance chance = {s->seed};
    size_t length = strlen(s->asked);
    for (size_t at = 0; at < length;) {
        size_t piece = 1 + chance_below(&chance, chance_below(&chance, 8) ? 3000 : 20);
        piece = piece < length - at ? piece : length - at;
        if (send(s->fd, s->asked + at, piece, MSG_NOSIGNAL) != (ssize_t)piece)
            break;
        at += piece;
    }
    return NULL;
}

/* One command and its reply. */
static void write_one(FILE *asked, FILE *expected, unsigned what, unsigned id)
{
    char digits[16];
    int width = snprintf(digits, sizeof digits, "%u", id);
    switch (what) {
    case 0:
        fprintf(asked, "LIKE 1 video:%u\r\n", id);
        fprintf(expected, ":1\r\n");
        break;
    case 1:
        fprintf(asked, "LIKED 1 video:%u\r\n", id);
        fprintf(expected, "*1\r\n:%u\r\n", id % 2);
        break;
    case 2:
        fprintf(asked, "ADD video:%u view 1\r\n", id);
        fprintf(expected, ":%u\r\n", id);
        break;
    default:
        fprintf(asked, "ECHO %u\r\n", id);
        fprintf(expected, "$%d\r\n%s\r\n", width, digits);
    }
}

/* Some commands in one, which is run, or thrown away, or refused for one of them. */
static void write_transaction(FILE *asked, FILE *expected, struct chance *chance)
{
    unsigned count = chance_below(chance, 70), end = chance_below(chance, 4);
    char *replies;
    size_t size;
    FILE *inside = open_memstream(&replies, &size);
    assert_non_null(inside);
    fprintf(asked, "MULTI\r\n");
    fprintf(expected, "+OK\r\n");
    for (unsigned i = 0; i < count; i++) {
        unsigned id = chance_below(chance, 1000) + (chance_below(chance, 40) ? 0 : COLD);
        write_one(asked, inside, chance_below(chance, 4), id);
        fprintf(expected, "+QUEUED\r\n");
    }
    assert_int_equal(fclose(inside), 0);
    if (end == 0) {
        fprintf(asked, "DISCARD\r\n");
        fprintf(expected, "+OK\r\n");
    } else if (end == 1) {
        fprintf(asked, "PING 1 2\r\nEXEC\r\n");
        fprintf(expected, "-ERR wrong number of arguments, expected PING [message]\r\n"
                          "-EXECABORT Transaction discarded because of previous errors.\r\n");
    } else {
        fprintf(asked, "EXEC\r\n");
        fprintf(expected, "*%u\r\n%s", count, replies);
    }
    free(replies);
}

static void make_stress(struct stress *s, struct chance *chance)
{
    size_t size;
    FILE *asked = open_memstream(&s->asked, &size);
    FILE *expected = open_memstream(&s->expected, &size);
    assert_true(asked != NULL && expected != NULL);
    s->seed = chance_next(chance);
    for (int i = 0; i < STRESS_COMMANDS; i++) {
        unsigned id = chance_below(chance, 1000) + (chance_below(chance, 20) ? 0 : COLD);
        if (chance_below(chance, 20) == 0)
            write_transaction(asked, expected, chance);
        write_one(asked, expected, chance_below(chance, 4), id);
    }
    assert_int_equal(fclose(asked), 0);
    assert_int_equal(fclose(expected), 0);
}

static void everybody_gets_what_they_asked_for(void **state)
{
    (void)state;
    struct chance chance = {test_seed()};
    struct stress all[STRESS_CLIENTS];
    fake_gate(&fake, true);
    for (int i = 0; i < STRESS_CLIENTS; i++) {
        make_stress(&all[i], &chance);
        all[i].fd = client_open(&fake);
        assert_int_equal(pthread_create(&all[i].thread, NULL, send_in_pieces, &all[i]), 0);
    }
    for (int i = 0; i < STRESS_CLIENTS; i++) {
        size_t length = strlen(all[i].expected);
        char *got = calloc(1, length + 1);
        assert_non_null(got);
        assert_int_equal(recv(all[i].fd, got, length, MSG_WAITALL), length);
        assert_string_equal(got, all[i].expected);
        pthread_join(all[i].thread, NULL);
        client_expect_none(all[i].fd);
        close(all[i].fd);
        free(got);
        free(all[i].asked);
        free(all[i].expected);
    }
    assert_true(fake_ran(&fake) > 0);
}

/* Nobody reads what it is answered; what is left of them is gone when the server has stopped. */
static void hang_up_at_any_moment(struct chance *chance)
{
    for (int i = 0; i < STRESS_CLIENTS; i++) {
        struct stress one;
        make_stress(&one, chance);
        one.asked[chance_below(chance, 4096)] = '\0';
        one.fd = client_open(&fake);
        client_send(one.fd, one.asked);
        close(one.fd);
        free(one.asked);
        free(one.expected);
    }
}

static void a_delayed_tier_changes_no_reply(void **state)
{
    struct chance chance = {test_seed()};
    fake_init(&fake);
    fake.parts.hot = hot_delayed_open(&fake.hot, chance_next(&chance));
    fake_start(&fake);
    everybody_gets_what_they_asked_for(state);
    hang_up_at_any_moment(&chance);
    struct hot *delayed = fake.parts.hot;
    fake_stop(&fake);
    hot_close(delayed);
}

/* Reads the head of an answer; is there this line in it? */
static bool head_has(int fd, const char *wanted)
{
    char line[256];
    bool found = false;
    do {
        client_read_line(fd, line, sizeof line);
        found = found || strcmp(line, wanted) == 0;
    } while (line[0] != '\0');
    return found;
}

#define GET_COLD "GET /v1/items/video:1000001/counts HTTP/1.1\r\nHost: a\r\n\r\n"

static void what_is_past_its_deadline_is_not_run(void **state)
{
    (void)state;
    fake_init(&fake);
    fake.parts.submission_ns = 1;
    fake_start(&fake);
    fake_gate(&fake, true);
    int resp = client_open(&fake), http = client_open_port(fake.server.http_port);
    client_send(resp, "COUNTS video:1\r\nLIKE 1 video:1000001\r\nLIKE 1 video:1\r\nPING\r\n");
    client_expect(resp,
                  "*1\r\n*2\r\n$7\r\ncomment\r\n:1\r\n" BUSY_CAPACITY BUSY_CAPACITY "+PONG\r\n");
    client_send(http, GET_COLD);
    client_expect(http, "HTTP/1.1 503 ");
    assert_true(head_has(http, "Retry-After: 1"));
    assert_int_equal(fake_ran(&fake), 0);
    close(resp);
    close(http);
    fake_stop(&fake);
}

static void the_tier_says_when_to_ask_again(void **state)
{
    (void)state;
    fake.retry_ns = 6000000001;
    int http = client_open_port(fake.server.http_port);
    client_send(http, GET_COLD);
    client_expect(http, "HTTP/1.1 503 ");
    assert_true(head_has(http, "Retry-After: 7"));
    close(http);
}

int main(void)
{
#define ON_A_SERVER(test)                                                                          \
    cmocka_unit_test_prestate_setup_teardown(test, fake_begin, fake_end, &fake)
    const struct CMUnitTest tests[] = {
        ON_A_SERVER(replies_keep_their_order),
        ON_A_SERVER(a_feed_from_memory_alone_does_not_wait),
        ON_A_SERVER(a_violation_behind_a_job_is_told_in_its_place),
        ON_A_SERVER(what_was_asked_before_a_half_close_is_answered),
        ON_A_SERVER(writes_of_a_worker_are_on_disk_when_they_are_answered),
        ON_A_SERVER(a_client_may_leave_while_a_worker_has_its_request),
        ON_A_SERVER(past_the_limit_only_what_needs_the_store_is_refused),
        ON_A_SERVER(no_memory_for_a_job_is_busy),
        ON_A_SERVER(stopping_waits_for_jobs_and_answers_them),
        ON_A_SERVER(a_stuck_job_outlives_its_connection),
        cmocka_unit_test(waiting_for_a_worker_is_not_being_idle_or_slow),
        cmocka_unit_test(writes_wait_for_a_store_that_is_behind),
        cmocka_unit_test(a_drop_stops_where_the_store_is_too_far_behind),
        ON_A_SERVER(a_drop_ends_when_the_server_does),
        cmocka_unit_test(writes_slow_down_and_all_of_them_are_answered),
        ON_A_SERVER(everybody_gets_what_they_asked_for),
        cmocka_unit_test(a_delayed_tier_changes_no_reply),
        cmocka_unit_test(what_is_past_its_deadline_is_not_run),
        ON_A_SERVER(the_tier_says_when_to_ask_again),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
