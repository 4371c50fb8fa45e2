#include "redis_server.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../conform/directory.h"
#include "base/clock.h"

#define START_NS 60000000000ULL
#define TRIES    20

static unsigned port_free(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, length), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &length), 0);
    close(fd);
    return ntohs(address.sin_port);
}

static void socket_path(const struct redis_server *server, char out[64])
{
    snprintf(out, 64, "%s/socket", server->directory);
}

static void prepare(struct redis_server *server)
{
    memset(server, 0, sizeof *server);
    strcpy(server->directory, "/tmp/laud-redis-XXXXXX");
    directory_make(server->directory);
    snprintf(server->url, sizeof server->url, "unix://%s/socket", server->directory);
}

/* It listens a while after it starts. False if it ended instead. */
static bool connect_control(struct redis_server *server)
{
    char path[64];
    uint64_t start = clock_monotonic_ns();
    socket_path(server, path);
    for (;;) {
        server->control = redisConnectUnix(path);
        assert_non_null(server->control);
        if (server->control->err == 0)
            return true;
        redisFree(server->control);
        server->control = NULL;
        if (waitpid(server->pid, NULL, WNOHANG) == server->pid)
            return false;
        assert_true(clock_monotonic_ns() - start < START_NS);
        nanosleep(&(struct timespec){0, 5000000}, NULL);
    }
}

/* False if it ended: what was a free port may be another's by now. */
static bool start_once(struct redis_server *server, const char *password, const char *cluster)
{
    char path[64], port[16], bus_port[16], log[64];
    socket_path(server, path);
    snprintf(log, sizeof log, "%s/log", server->directory);
    snprintf(port, sizeof port, "%u", port_free());
    snprintf(bus_port, sizeof bus_port, "%u", port_free());
    snprintf(server->tcp_url, sizeof server->tcp_url, "redis://127.0.0.1:%s", port);
    server->pid = fork();
    assert_true(server->pid >= 0);
    if (server->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execlp("redis-server", "redis-server", "--port", port, "--bind", "127.0.0.1",
               "--unixsocket", path, "--dir", server->directory, "--logfile", log, "--save", "",
               "--appendonly", "no", "--requirepass", password, "--cluster-enabled", cluster,
               "--cluster-port", bus_port, (char *)NULL);
        _exit(127);
    }
    return connect_control(server);
}

static void start(struct redis_server *server, const char *password, const char *cluster)
{
    int tries = 1;
    prepare(server);
    while (!start_once(server, password, cluster))
        assert_true(++tries <= TRIES);
}

void redis_server_start(struct redis_server *server, const char *password)
{
    start(server, password, "no");
    if (password[0] != '\0')
        redis_do(server, "AUTH %s", password);
}

void redis_server_start_node(struct redis_server *server)
{
    start(server, "", "yes");
    redis_do(server, "CLUSTER ADDSLOTSRANGE 0 16383");
    uint64_t started = clock_monotonic_ns();
    for (bool up = false; !up;) {
        redisReply *reply = redisCommand(server->control, "CLUSTER INFO");
        assert_non_null(reply);
        up = strstr(reply->str, "cluster_state:ok") != NULL;
        freeReplyObject(reply);
        assert_true(clock_monotonic_ns() - started < START_NS);
        nanosleep(&(struct timespec){0, up ? 0 : 5000000}, NULL);
    }
}

static void pretend(int listener, const char *answer, int times)
{
    char asked[65536];
    for (;;) {
        int fd = accept(listener, NULL, NULL);
        for (int i = 0; i < times && read(fd, asked, sizeof asked) > 0; i++)
            if (send(fd, answer, strlen(answer), MSG_NOSIGNAL) < 0)
                break;
        close(fd);
    }
}

void redis_server_pretend(struct redis_server *server, const char *answer, int times)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    prepare(server);
    snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", server->directory);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(fd, 16), 0);
    server->pid = fork();
    assert_true(server->pid >= 0);
    if (server->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pretend(fd, answer, times);
    }
    close(fd);
}

void redis_server_kill(struct redis_server *server)
{
    if (server->pid > 0) {
        kill(server->pid, SIGKILL);
        waitpid(server->pid, NULL, 0);
    }
    server->pid = 0;
}

void redis_server_stop(struct redis_server *server)
{
    if (server->control != NULL)
        redisFree(server->control);
    redis_server_kill(server);
    directory_remove(server->directory);
}

void redis_do(struct redis_server *server, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    redisReply *reply = redisvCommand(server->control, format, arguments);
    va_end(arguments);
    assert_non_null(reply);
    if (reply->type == REDIS_REPLY_ERROR)
        fail_msg("%s: %s", format, reply->str);
    freeReplyObject(reply);
}
