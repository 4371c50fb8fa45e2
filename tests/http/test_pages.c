/*
 * HTTP on a real socket: the pages that are no operations, what a failed store is told as, and refusals
 * in HTTP's own words.
 */
#include "net/fake.h"

#include <signal.h>
#include <unistd.h>

#include <jansson.h>

#include "http/console.h"
#include "http/welcome.h"
#include "talk.h"

static void ready_or_not(void **state)
{
    (void)state;
    int client = http_open();
    get(client, "/readyz");
    expect(client, 200, "{\"status\":\"ready\"}");
    atomic_store(&fake.admits, STATUS_NO_MEMORY);
    get(client, "/readyz");
    assert_int_equal(read_response(client, false), 503);
    assert_non_null(strstr(body, "the memory limit is reached"));
    atomic_store(&fake.admits, STATUS_OK);
    get(client, "/readyz");
    expect(client, 200, "{\"status\":\"ready\"}");
    atomic_store(&fake.admission.stopping, true);
    get(client, "/readyz");
    assert_int_equal(read_response(client, false), 503);
    assert_non_null(strstr(body, "STOPPING"));
    client_send(client, "PUT /v1/items/video:3/reactions/like/1 HTTP/1.1\r\n" HOST "\r\n");
    assert_int_equal(read_response(client, false), 503);
    get(client, "/healthz");
    expect(client, 200, "{\"status\":\"ok\"}");
    atomic_store(&fake.admission.stopping, false);
    close(client);
}

/* At "/" a browser gets a page and all others JSON. */
static void the_first_page(void **state)
{
    (void)state;
    int client = http_open();
    get(client, "/");
    assert_int_equal(read_response(client, false), 200);
    assert_non_null(strstr(body, "\"name\":\"laud\""));
    assert_non_null(strstr(head, "Content-Type: application/json\n"));
    assert_non_null(strstr(head, "Vary: Accept\n"));
    assert_null(strstr(head, "Content-Security-Policy"));
    client_send(client, "GET / HTTP/1.1\r\nAccept: text/html\r\n" HOST "\r\n");
    assert_int_equal(read_response(client, false), 200);
    assert_non_null(strstr(head, "Content-Type: text/html; charset=utf-8\n"));
    assert_non_null(strstr(head, "Content-Security-Policy: default-src 'none'; "));
    client_send(client, "HEAD / HTTP/1.1\r\n" HOST "\r\n");
    assert_int_equal(read_response(client, true), 200);
    post(client, "/", "{}");
    assert_int_equal(read_response(client, false), 405);
    assert_non_null(strstr(head, "Allow: GET, HEAD, OPTIONS\n"));
    close(client);
}

static const char *welcome(const char *host)
{
    struct buffer out = {.budget = &fake.budget};
    assert_int_equal(
        welcome_write_html(&fake.server.loops[0], (struct text){host, strlen(host)}, &out),
        STATUS_OK);
    assert_true(out.length < sizeof body);
    memcpy(body, out.bytes, out.length);
    body[out.length] = '\0';
    buffer_free(&out);
    return body;
}

/* The page of a program without the console: a host that is no plain name is not repeated. */
static void the_small_page(void **state)
{
    (void)state;
    char wanted[128];
    assert_non_null(strstr(welcome_fields, "default-src 'none'; style-src 'sha256-"));
    assert_non_null(
        strstr(welcome("like.example:80"), "curl -X PUT 'http://like.example:80/v1/items/"));
    assert_null(strstr(body, "Authorization"));
    assert_null(strstr(welcome("a';touch${IFS}x;'"), "touch"));
    snprintf(wanted, sizeof wanted, "'http://127.0.0.1:%u/v1/items/", fake.server.http_port);
    assert_non_null(strstr(body, wanted));
    assert_null(strstr(welcome("a&lt;';id;'"), "id;"));
}

/* Sends a request for a file with one more header; its code. */
static int get_file(int client, const char *path, const char *field)
{
    char text[512];
    snprintf(text, sizeof text, "GET %s HTTP/1.1\r\n" HOST "Accept: text/html\r\n%s\r\n", path,
             field);
    client_send(client, text);
    return read_response(client, false);
}

/* Every file comes in both forms; who has its version gets only that, also behind a proxy. */
static void files_of_the_console(void **state)
{
    (void)state;
    int client = http_open();
    char path[128], field[256];
    for (const struct console_file *file = console_files; file->name != NULL; file++) {
        bool index = file == console_index();
        snprintf(path, sizeof path, "/console/%s", file->name);
        assert_int_equal(get_file(client, index ? "/" : path, "Accept-Encoding: br, gzip\r\n"),
                         200);
        assert_non_null(strstr(head, "Content-Encoding: gzip\n"));
        assert_non_null(strstr(head, file->packed_etag));
        assert_non_null(strstr(head, "Cache-Control: no-cache\n"));
        assert_non_null(strstr(head, "X-Content-Type-Options: nosniff\n"));
        assert_non_null(
            strstr(head, index ? "Vary: Accept, Accept-Encoding\n" : "Vary: Accept-Encoding\n"));
        assert_memory_equal(body, file->packed.bytes, file->packed.length);
        snprintf(field, sizeof field, "If-None-Match: \"x\", W/%s\r\n", file->plain_etag);
        assert_int_equal(get_file(client, index ? "/" : path, field), 304);
        assert_non_null(strstr(head, file->plain_etag));
        assert_null(strstr(head, "Content-Length"));
        if (file->plain.length >= sizeof body)
            continue;
        snprintf(field, sizeof field, "If-None-Match: %s\r\n", file->packed_etag);
        assert_int_equal(get_file(client, index ? "/" : path, field), 200);
        assert_null(strstr(head, "Content-Encoding"));
        assert_string_equal(body, file->plain.bytes);
    }
    assert_int_equal(get_file(client, "/console/nothing.js", ""), 404);
    assert_non_null(strstr(head, "Cache-Control: no-store\n"));
    assert_int_equal(get_file(client, "/console/", ""), 404);
    assert_int_equal(get_file(client, "/console/index.html/x", ""), 404);
    post(client, "/console/main.js", "{}");
    assert_int_equal(read_response(client, false), 405);
    close(client);
}

static json_t *get_json(int client, const char *path)
{
    get(client, path);
    assert_int_equal(read_response(client, false), 200);
    json_t *document = json_loads(body, 0, NULL);
    assert_non_null(document);
    return document;
}

/* INFO, HOTKEYS and SLOWLOG as JSON. */
static void what_the_server_does(void **state)
{
    (void)state;
    int client = http_open();
    get(client, "/v1/items/video:3/counts");
    assert_int_equal(read_response(client, false), 200);
    json_t *info = get_json(client, "/info");
    json_t *sections = json_object_get(info, "sections");
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(sections, "Server"), "laud_version")),
        LAUD_VERSION);
    assert_true(json_is_integer(
        json_object_get(json_object_get(sections, "Memory"), "used_memory_connections")));
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(sections, "Store"), "store_state")),
        "none"); /* the server of this test has no such section */
    assert_null(json_object_get(sections, "Hotkeys"));
    json_t *operation = json_array_get(json_object_get(info, "operations"), 0);
    assert_int_equal(json_array_size(json_object_get(info, "operations")), 1);
    assert_string_equal(json_string_value(json_object_get(operation, "name")), "COUNTS");
    assert_int_equal(json_integer_value(json_object_get(operation, "count")), 1);
    assert_int_equal(json_array_size(json_object_get(operation, "times")), BUCKETS);
    assert_int_equal(json_array_size(json_object_get(info, "bounds_ns")), BUCKETS_BOUNDED);
    json_decref(info);
    get(client, "/slowlog");
    expect(client, 200, "{\"entries\":[]}");
    close(client);
}

/* What a restart alone mends is not to be tried again, and says why. */
static void a_store_that_failed_says_so(void **state)
{
    (void)state;
    fake_init(&fake);
    fake.admission.lag_slow = 1;
    fake.admission.lag_max = 2;
    fake_start(&fake);
    int client = http_open();
    const char *put = "PUT /v1/items/video:3/reactions/like/1 HTTP/1.1\r\n" HOST "\r\n";
    client_send(client, put);
    assert_int_equal(read_response(client, false), 200);
    client_send(client, put);
    assert_int_equal(read_response(client, false), 503);
    assert_non_null(strstr(body, "LAGGING"));
    assert_non_null(strstr(head, "Retry-After: 1\n"));
    admission_store_failed(&fake.admission, "it is made of paper");
    client_send(client, put);
    expect(client, 503,
           "{\"error\":{\"code\":\"STORE_FAILED\",\"message\":\"the store takes nothing more until "
           "the server is restarted: it is made of paper\"}}");
    assert_null(strstr(head, "Retry-After"));
    post(client, "/v1/batch", "{\"operations\":[[\"LIKE\",\"1\",\"video:3\"]]}");
    assert_int_equal(read_response(client, false), 200);
    assert_non_null(strstr(body, "made of paper"));
    get(client, "/readyz");
    assert_int_equal(read_response(client, false), 503);
    assert_non_null(strstr(body, "made of paper"));
    close(client);
    fake_stop(&fake);
}

static void expect_refusal(int fd, int code, const char *sentence)
{
    char wanted[512];
    snprintf(wanted, sizeof wanted, "\"message\":\"%s\"}}", sentence);
    assert_int_equal(read_response(fd, false), code);
    const char *message = strstr(body, "\"message\":");
    assert_non_null(message);
    assert_string_equal(message, wanted);
}

/* An error names the part of the path, the parameter, the member or the header, not a word of RESP. */
static void refusals_name_what_http_knows(void **state)
{
    (void)state;
    static const struct {
        const char *path, *body, *sentence;
    } refused[] = {
        {"/v1/items/video/counts", NULL,
         "{item} in the path must be type:id, as in video:42, got 'video'"},
        {"/v1/items/Video:1/counts", NULL,
         "the type in {item} in the path must be a letter a-z, then up to 31 of a-z, 0-9, '_' and "
         "'-', got "
         "'Video'"},
        {"/v1/items/video:1/reactions/like?limit=0", NULL,
         "the parameter 'limit' must be a number from 1 to 200, got '0'"},
        {"/v1/items/video:1/reactions/like?cursor=x", NULL,
         "the parameter 'cursor' must be the cursor of an earlier page of the same list, got 'x'"},
        {"/v1/users/1/changes?since=x", NULL,
         "the parameter 'since' must be the cursor of an earlier answer for the same user, got "
         "'x'"},
        {"/v1/top/video/like?window=year", NULL,
         "the parameter 'window' must be hour, day or week, got 'year'"},
        {"/v1/live?items=video:1,video", NULL,
         "entry 2 of the parameter 'items' must be type:id, as in video:42, got 'video'"},
        {"/v1/counts", "{\"items\":[]}", "the member 'items' must have at least one item"},
        {"/v1/counts", "{\"items\":[\"video:1\",\"video\"]}",
         "the member 'items[1]' must be type:id, as in video:42, got 'video'"},
        {"/v1/feed", "{\"user\":\"1\",\"items\":[\"video:1\"],\"cold\":\"hot\"}",
         "the member 'cold' must be skip or ask, got 'hot'"},
        {"/v1/items/video:1/counters/view", "{\"delta\":\"x\"}",
         "the member 'delta' must be a signed 64-bit decimal, got 'x'"},
        {"/v1/items/video:1/counters/view", "{\"delta\":1,\"token\":\"\"}",
         "the member 'token' must be 1 to 64 bytes, got ''"},
    };
    int client = http_open();
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        if (refused[i].body == NULL)
            get(client, refused[i].path);
        else
            post(client, refused[i].path, refused[i].body);
        expect_refusal(client, 400, refused[i].sentence);
    }
#define FEED "POST /v1/feed HTTP/1.1\r\n" HOST
    client_send(client, FEED "Content-Type: text/plain; charset=\"x\"\r\n\r\n");
    expect_refusal(client, 415,
                   "the header Content-Type must be application/json, got 'text/plain; "
                   "charset=\\\"x\\\"'");
    client_send(client, FEED "\r\n");
    expect_refusal(client, 415, "the header Content-Type is missing, it must be application/json");
    client_send(client, FEED JSON "Content-Encoding: gzip\r\n\r\n");
    expect_refusal(
        client, 415,
        "the header Content-Encoding must be absent, because compressed bodies are not supported, "
        "got 'gzip'");
    get(client, "/v1/items/video:1%00/counts");
    expect_refusal(client, 400,
                   "the path has a % that is not followed by the two hexadecimal digits of a "
                   "printable ASCII character other than space, / and \\\\");
    close(client);
}

int main(void)
{
#define ON_A_SERVER(test)                                                                          \
    cmocka_unit_test_prestate_setup_teardown(test, fake_begin, fake_end, &fake)
    const struct CMUnitTest tests[] = {
        ON_A_SERVER(ready_or_not),
        ON_A_SERVER(the_first_page),
        ON_A_SERVER(the_small_page),
        ON_A_SERVER(files_of_the_console),
        ON_A_SERVER(what_the_server_does),
        cmocka_unit_test(a_store_that_failed_says_so),
        ON_A_SERVER(refusals_name_what_http_knows),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
