/*
 * A Redis for one test, real or not: redis-server in a directory of its own, or a process that
 * answers whatever is asked with the same bytes. Both listen on a socket in that directory, the real
 * one on a port of its own too. Both end with the test.
 */
#ifndef LAUD_MOVE_REDIS_SERVER_H
#define LAUD_MOVE_REDIS_SERVER_H

#include <hiredis/hiredis.h>
#include <sys/types.h>

struct redis_server {
    char directory[32];
    char url[64];     /* of the socket */
    char tcp_url[64]; /* real ones */
    pid_t pid;
    redisContext *control; /* of a real one, to put things into it */
};

void redis_server_start(struct redis_server *server, const char *password);
void redis_server_start_node(struct redis_server *server); /* of a cluster, which it is alone */

/* Each connection gets `answer` for each thing it sends, at most `times` times, and is closed. */
void redis_server_pretend(struct redis_server *server, const char *answer, int times);

void redis_server_kill(struct redis_server *server); /* and go on without it */
void redis_server_stop(struct redis_server *server);

/* One command, which must succeed; the answer is thrown away. */
void redis_do(struct redis_server *server, const char *format, ...);

#endif
