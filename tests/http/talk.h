/* A client that speaks HTTP to the server of a test (net/fake.h), and reads one response at a time. */
#ifndef LAUD_HTTP_TALK_H
#define LAUD_HTTP_TALK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <cmocka.h>

#include "net/fake.h"
#include "say.h"

#define HOST "Host: localhost\r\n"
#define JSON "Content-Type: application/json\r\n"

static struct fake fake;
static char body[65536];
static char head[4096];

static int http_open(void)
{
    return client_open_port(fake.server.http_port);
}

static void get(int fd, const char *path)
{
    char text[512];
    snprintf(text, sizeof text, "GET %s HTTP/1.1\r\n" HOST "\r\n", path);
    client_send(fd, text);
}

static void post(int fd, const char *path, const char *json)
{
    char text[512];
    snprintf(text, sizeof text, "POST %s HTTP/1.1\r\n" HOST JSON "Content-Length: %zu\r\n\r\n",
             path, strlen(json));
    client_send(fd, text);
    client_send(fd, json);
}

/* Reads one response into head and body; its code. `bare`: no body comes with it. */
static int read_response(int fd, bool bare)
{
    char line[1024];
    size_t length = 0;
    int code = 0;
    head[0] = '\0';
    client_read_line(fd, line, sizeof line);
    assert_memory_equal(line, "HTTP/1.1 ", 9);
    code = (int)strtol(line + 9, NULL, 10);
    for (client_read_line(fd, line, sizeof line); line[0] != '\0';
         client_read_line(fd, line, sizeof line)) {
        if (strncasecmp(line, "content-length:", 15) == 0)
            length = strtoul(line + 15, NULL, 10);
        say(head, sizeof head, "%s\n", line);
    }
    assert_true(length < sizeof body);
    if (bare)
        length = 0;
    if (length > 0)
        assert_int_equal(recv(fd, body, length, MSG_WAITALL), length);
    body[length] = '\0';
    return code;
}

static void expect(int fd, int code, const char *wanted)
{
    assert_int_equal(read_response(fd, false), code);
    assert_string_equal(body, wanted);
}

#endif
