/*
 * The host that a client sends becomes part of a command that people copy into a shell. So it is shown
 * only if it consists of letters, digits and the few signs of names and addresses. Otherwise our own
 * address is shown.
 */
#include "http/welcome.h"

#include <stdio.h>

#include "base/name_lists.h"
#include "http/answer.h"

#define HOST_ROOM 272 /* any host that an option can hold, with brackets and port */

/* The policy allows only the style with this SHA-256. system/test_http compares the two. */
#define STYLE_HASH "sha256-xxgwy+FqQxWQwA7DUqLXVpiX6fZBVAhuTEVQnOR6y70="
#define STYLE                                                                                      \
    ":root{color-scheme:light dark;--text:#1d2530;--soft:#5a6675;--back:#fbfbfa;--box:#eef0f2;"    \
    "--link:#0b57a4}"                                                                              \
    "@media(prefers-color-scheme:dark){:root{--text:#e4e8ec;--soft:#9aa6b2;--back:#14181d;"        \
    "--box:#20262d;--link:#7ab8f5}}"                                                               \
    "body{margin:0 auto;max-width:42rem;padding:1.5rem 1rem;background:var(--back);"               \
    "color:var(--text);font:1rem/1.55 system-ui,sans-serif}"                                       \
    "h1{margin:0}h2{font-size:1.1rem;margin:2rem 0 .5rem}a{color:var(--link)}"                     \
    "p{margin:.5rem 0}ul{padding-left:1.25rem}li{margin:.35rem 0}.soft{color:var(--soft)}"         \
    "pre{background:var(--box);border-radius:.4rem;overflow-x:auto;padding:.8rem}"                 \
    "code{font:.9rem/1.5 ui-monospace,monospace}"

const char welcome_fields[] =
    "Content-Security-Policy: default-src 'none'; style-src '" STYLE_HASH "'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "Referrer-Policy: no-referrer\r\n";

/* The page has an empty icon, so that no browser requests one. */
static const char top[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<title>Laud</title><link rel=\"icon\" href=\"data:,\">\n"
    "<style>" STYLE "</style></head>\n<body><h1>Laud</h1>\n"
    "<p class=\"soft\">Version " LAUD_VERSION "</p>\n"
    "<p>An engagement server: likes and other reactions, counters, feeds and boards. "
    "It works, and this is its HTTP interface.</p>\n";

static const char links[] =
    "<ul>\n<li><a href=\"openapi.json\">openapi.json</a>: every path, as an OpenAPI document</li>\n"
    "<li><a href=\"healthz\">healthz</a>: does the process run?</li>\n"
    "<li><a href=\"readyz\">readyz</a>: does it take writes?</li>\n"
    "<li><a href=\"metrics\">metrics</a>: its numbers, for Prometheus%s</li>\n</ul>\n";

static const char first[] =
    "<h2>A first like</h2>\n<p>User 1 likes %s 42, and the counters of the %s "
    "follow.%s</p>\n<pre><code>curl -X PUT%s 'http://%s/v1/items/%s:42/reactions/like/1'\n"
    "curl%s 'http://%s/v1/items/%s:42/counts'</code></pre>\n"
    "<p class=\"soft\">Behind a proxy, use the address of the proxy instead.</p>\n</body></html>\n";

static bool is_plain(struct text host)
{
    for (size_t i = 0; i < host.length; i++) {
        char c = host.bytes[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!letter && (c < '0' || c > '9') && strchr(".-_:[]", c) == NULL)
            return false;
    }
    return host.length > 0 && host.length < HOST_ROOM;
}

/* The address that the server listens on. A wildcard becomes the loopback address. */
static void name_own(const struct server *server, char out[HOST_ROOM])
{
    const char *host = server->parts.options->http.host;
    bool any = strcmp(host, "0.0.0.0") == 0 || strcmp(host, "*") == 0 || strcmp(host, "::") == 0;
    bool wide = !any && strchr(host, ':') != NULL;
    snprintf(out, HOST_ROOM, "%s%s%s:%u", wide ? "[" : "", any ? "localhost" : host,
             wide ? "]" : "", server->http_port);
}

/* A type that writes may use, for the example. */
static void name_type(const struct server *server, char out[LIMIT_NAME_LENGTH + 1])
{
    const struct name_lists lists = {.texts = {[NAME_TYPE] = server->parts.options->types}};
    struct text type = name_lists_example(&lists, NAME_TYPE, "video");
    snprintf(out, LIMIT_NAME_LENGTH + 1, "%.*s", (int)type.length, type.bytes);
}

enum status welcome_write_html(struct loop *loop, struct text host, struct buffer *out)
{
    bool tokens = access_is_on(&loop->server->access);
    const char *header = tokens ? " -H 'Authorization: Bearer TOKEN'" : "";
    char shown[HOST_ROOM], type[LIMIT_NAME_LENGTH + 1], text[2048];
    if (is_plain(host))
        snprintf(shown, sizeof shown, "%.*s", (int)host.length, host.bytes);
    else
        name_own(loop->server, shown);
    bool written = answer_write_text(out, top);
    snprintf(text, sizeof text, links, tokens ? " (needs a token)" : "");
    written = written && answer_write_text(out, text);
    name_type(loop->server, type);
    snprintf(text, sizeof text, first, type, type,
             tokens ? " This server requires a token: put yours in place of TOKEN." : "", header,
             shown, type, header, shown, type);
    return written && answer_write_text(out, text) ? STATUS_OK : STATUS_NO_MEMORY;
}

enum status welcome_write(struct loop *loop, struct buffer *out)
{
    (void)loop;
    return answer_write_text(out, "{\"name\":\"laud\",\"version\":\"" LAUD_VERSION "\",\"links\":{"
                                  "\"openapi\":\"openapi.json\",\"health\":\"healthz\","
                                  "\"ready\":\"readyz\",\"metrics\":\"metrics\"}}")
               ? STATUS_OK
               : STATUS_NO_MEMORY;
}
