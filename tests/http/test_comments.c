/*
 * Operations about comments on real sockets, with a hot tier that answers from the request itself: statuses,
 * bodies of PUT, who may do what, and texts that a worker gets whole.
 */
#include "net/fake.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "talk.h"

#define READER    "reader-0123456789"
#define WRITER    "writer-0123456789"
#define MODERATOR "moderator-0123456789"
#define VIDEOS    "videos-0123456789"
#define POSTS     "posts-0123456789"

/* Sends a request with this method and, unless it is NULL, a body. */
static void ask(int fd, const char *method, const char *path, const char *token, const char *json)
{
    char text[1024], length[96] = "", shown[128] = "";
    if (json != NULL)
        snprintf(length, sizeof length, JSON "Content-Length: %zu\r\n", strlen(json));
    if (token != NULL)
        snprintf(shown, sizeof shown, "Authorization: Bearer %s\r\n", token);
    snprintf(text, sizeof text, "%s %s HTTP/1.1\r\n" HOST "%s%s\r\n%s", method, path, shown, length,
             json != NULL ? json : "");
    client_send(fd, text);
}

static void expect_error(int fd, int code, const char *part)
{
    assert_int_equal(read_response(fd, false), code);
    if (strstr(body, part) == NULL)
        fail_msg("%s has no %s", body, part);
}

static void a_new_comment_is_created(void **state)
{
    (void)state;
    int client = http_open();
    fake_gate(&fake, true);
    post(client, "/v1/items/video:3/comments", "{\"user\":\"1\",\"text\":\"ab\"}");
    expect(client, 201, "{\"comment\":\"comment:3\",\"floor\":195,\"state\":\"visible\"}");
    ask(client, "POST", "/v1/items/video:3/comments", NULL,
        "{\"user\":\"1\",\"text\":\"ab\",\"token\":\"t\"}");
    expect(client, 200, "{\"comment\":\"comment:3\",\"floor\":195,\"state\":\"visible\"}");
    /* A worker has the whole text, although the request's bytes may be gone. */
    ask(client, "POST", "/v1/items/video:1000003/comments", NULL,
        "{\"user\":\"1\",\"text\":\"a\\u0000\\u00ff\",\"extra\":{\"a\":1},\"mentions\":[\"5\"]}");
    expect(client, 201, "{\"comment\":\"comment:1000003\",\"floor\":483,\"state\":\"visible\"}");
    ask(client, "POST", "/v1/items/video:3/comments", NULL, "{\"user\":\"1\",\"text\":\"=\"}");
    expect_error(client, 409, "the same text on this item: comment:3");
    ask(client, "POST", "/v1/batch", NULL,
        "{\"operations\":[[\"COMMENT\",\"1\",\"video:3\",\"a\"],[\"COMMENT\",\"1\",\"video:3\",\"="
        "\"],"
        "[\"UNCOMMENT\",\"1\",\"comment:3\"],[\"COMMENT\",\"1\",\"video:1000004\",\"b\"]]}");
    expect(client, 200,
           "{\"results\":[{\"comment\":\"comment:3\",\"floor\":97,\"state\":\"visible\"},"
           "{\"error\":{\"code\":\"COMMENT_REPEATED\",\"message\":\"this user has just posted the "
           "same "
           "text on this item: comment:3\"}},{\"changed\":true},"
           "{\"comment\":\"comment:1000004\",\"floor\":98,\"state\":\"visible\"}]}");
    close(client);
}

static void bodies_of_put(void **state)
{
    (void)state;
    int client = http_open();
    ask(client, "POST", "/v1/items/video:3/comments", NULL, "{\"user\":\"1\",\"text\":\"a\"}");
    assert_int_equal(read_response(client, false), 201);
    ask(client, "PUT", "/v1/comments/comment:3/text", NULL, "{\"user\":\"1\",\"text\":\"a\"}");
    expect(client, 200, "{\"changed\":true}");
    ask(client, "PUT", "/v1/comments/comment:3/text", NULL, NULL);
    expect_error(client, 415, "Content-Type");
    ask(client, "PUT", "/v1/comments/comment:3/text", NULL, "{\"user\":\"1\",\"text\":\"\"}");
    expect_error(client, 400, "the member 'text' must not be empty");
    ask(client, "PUT", "/v1/comments/comment:3/pin", NULL, NULL);
    expect(client, 200, "{\"changed\":true}");
    ask(client, "PUT", "/v1/comments/comment:3/pin", NULL, "{}");
    expect_error(client, 400, "take no body");
    ask(client, "PUT", "/v1/users/7/ban", NULL, NULL);
    expect(client, 200, "{\"changed\":true}");
    ask(client, "PUT", "/v1/users/7/ban", NULL, "{\"until\":4000000000,\"shadow\":true}");
    expect(client, 200, "{\"changed\":true}");
    ask(client, "PUT", "/v1/users/7/ban", NULL, "{\"until\":1}");
    expect_error(client, 400, "an UNTIL must be a time in the future, got 1");
    ask(client, "PUT", "/v1/users/7/ban", NULL, "{\"until\":\"x\"}");
    expect_error(client, 400, "the member 'until' must be a time");
    ask(client, "PUT", "/v1/items/video:3/subject", NULL, "{}");
    expect_error(client, 400, "SUBJECTSET item");
    get(client, "/v1/comments/comment:9/history");
    expect_error(client, 404, "there is no such comment");
    ask(client, "POST", "/v1/items/video:3/comments", NULL,
        "{\"user\":\"1\",\"text\":\"a\",\"extra\":{},\"mentions\":[\"x\"]}");
    expect_error(client, 400, "the member 'mentions[0]' must be an unsigned");
    close(client);
}

static void use_tokens(void)
{
    char path[128];
    static const char tokens[] = "read " READER "\nwrite " WRITER "\nmoderator " MODERATOR
                                 "\nmoderator " VIDEOS " video\nmoderator " POSTS " post\n";
    fake_init(&fake);
    snprintf(path, sizeof path, "%s/tokens", fake.directory);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fchmod(fileno(file), 0600), 0);
    assert_true(fputs(tokens, file) >= 0);
    assert_int_equal(fclose(file), 0);
    snprintf(fake.options.tokens, sizeof fake.options.tokens, "%s", path);
    fake_start(&fake);
}

/* What each token gets: 200 and 201 for yes, 404 if the tier has no such comment, 403 for no. */
static void who_may_do_what(void **state)
{
    (void)state;
    use_tokens();
    static const struct {
        const char *method, *path, *json;
        int reader, writer, moderator, videos, posts;
    } cases[] = {
        {"POST", "/v1/items/video:3/comments", "{\"user\":\"1\",\"text\":\"a\"}", 403, 201, 201,
         201, 403},
        {"POST", "/v1/items/comment:3/comments", "{\"user\":\"1\",\"text\":\"a\"}", 403, 201, 201,
         201, 201},
        {"PUT", "/v1/comments/comment:3/text", "{\"user\":\"1\",\"text\":\"a\"}", 403, 200, 200,
         200, 404},
        {"DELETE", "/v1/comments/comment:3?user=1", NULL, 403, 200, 200, 200, 200},
        {"GET", "/v1/items/video:3/comments", NULL, 404, 404, 404, 404, 403},
        {"GET", "/v1/items/video:3/comments?all=false", NULL, 404, 404, 404, 404, 403},
        {"GET", "/v1/items/video:3/comments?all=true", NULL, 403, 403, 404, 404, 403},
        {"POST", "/v1/cards", "{\"comments\":[\"comment:3\"]}", 404, 404, 404, 404, 404},
        {"GET", "/v1/users/1/comments", NULL, 404, 404, 404, 403, 403},
        {"GET", "/v1/users/1/inbox", NULL, 404, 404, 404, 403, 403},
        {"GET", "/v1/comments/comment:3/history", NULL, 404, 404, 404, 404, 404},
        {"GET", "/v1/comments/comment:3/history?all=true", NULL, 403, 403, 404, 404, 404},
        {"PUT", "/v1/comments/comment:3/state", "{\"state\":\"hidden\"}", 403, 403, 200, 200, 200},
        {"PUT", "/v1/comments/comment:3/pin", NULL, 403, 403, 200, 200, 200},
        {"DELETE", "/v1/comments/comment:3/pin", NULL, 403, 403, 200, 200, 200},
        {"GET", "/v1/items/video:3/subject", NULL, 404, 404, 404, 404, 403},
        {"PUT", "/v1/items/video:3/subject", "{\"mode\":\"held\"}", 403, 403, 200, 200, 403},
        {"GET", "/v1/queue/video/pending", NULL, 403, 403, 404, 404, 403},
        {"PUT", "/v1/users/1/ban", NULL, 403, 403, 200, 403, 403},
        {"DELETE", "/v1/users/1/ban", NULL, 403, 403, 200, 403, 403},
        {"DELETE", "/v1/comments/comment:3/content", NULL, 403, 403, 200, 200, 200},
        {"DELETE", "/v1/users/1", NULL, 403, 403, 403, 403, 403},
        {"GET", "/hotkeys", NULL, 403, 403, 403, 403, 403},
    };
    int client = http_open();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *const tokens[] = {READER, WRITER, MODERATOR, VIDEOS, POSTS};
        const int wanted[] = {cases[i].reader, cases[i].writer, cases[i].moderator, cases[i].videos,
                              cases[i].posts};
        for (size_t j = 0; j < sizeof tokens / sizeof tokens[0]; j++) {
            ask(client, cases[i].method, cases[i].path, tokens[j], cases[i].json);
            int code = read_response(client, false);
            if (code != wanted[j])
                fail_msg("%s %s with %s: %d instead of %d: %s", cases[i].method, cases[i].path,
                         tokens[j], code, wanted[j], body);
        }
    }
    close(client);
    fake_stop(&fake);
}

/* The same words over RESP; the word ALL is recognised in any case and at any place. */
static void who_may_do_what_over_resp(void **state)
{
    (void)state;
    use_tokens();
    int client = client_open(&fake);
    client_send(client, "AUTH " WRITER "\r\nCOMMENT 1 video:3 a\r\n");
    client_expect(client, "+OK\r\n*6\r\n$7\r\ncomment\r\n$9\r\ncomment:3\r\n$5\r\nfloor\r\n:97\r\n"
                          "$5\r\nstate\r\n$7\r\nvisible\r\n");
    client_send(client,
                "COMMENTS video:3 ALL\r\nCOMMENTS video:3 limit 3 all\r\nMODERATE comment:3 "
                "hidden\r\n");
    for (int i = 0; i < 3; i++)
        client_expect(client, "-NOPERM this token may not do that\r\n");
    client_send(client, "COMMENTS video:3 LIMIT 3\r\nCOMMENT 1 video:3 =\r\n");
    client_expect(client,
                  "-ERR there is no such comment\r\n-ERR this user has just posted the same "
                  "text on this item: comment:3\r\n");
    client_send(client, "AUTH " MODERATOR "\r\nMODERATE comment:3 hidden\r\n");
    client_expect(client, "+OK\r\n:1\r\n");
    client_send(client, "HELLO 3 AUTH default " POSTS "\r\n");
    char line[256];
    client_read_line(client, line, sizeof line);
    assert_int_equal(line[0], '%');
    close(client);
    fake_stop(&fake);
}

int main(void)
{
#define ON_A_SERVER(test)                                                                          \
    cmocka_unit_test_prestate_setup_teardown(test, fake_begin, fake_end, &fake)
    const struct CMUnitTest tests[] = {
        ON_A_SERVER(a_new_comment_is_created),
        ON_A_SERVER(bodies_of_put),
        cmocka_unit_test(who_may_do_what),
        cmocka_unit_test(who_may_do_what_over_resp),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
