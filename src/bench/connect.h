/*
 * Opens connections, and makes the few calls that are needed before the load begins. All functions block.
 * Returned descriptors belong to the caller.
 */
#ifndef LAUD_BENCH_CONNECT_H
#define LAUD_BENCH_CONNECT_H

#include <stdbool.h>
#include <stddef.h>

#define CONNECT_REPLY_MAX 65536

#define CONNECT_HOST_MAX 256
#define CONNECT_PORT_MAX 8

/* Splits HOST:PORT or [HOST]:PORT; false: the address is neither. */
bool connect_split(const char *address, char host[CONNECT_HOST_MAX], char port[CONNECT_PORT_MAX]);

/* Opens a blocking socket without Nagle's delay; -1: `problem` has one sentence. */
int connect_open(const char *host, const char *port, double timeout_seconds, char *problem,
                 size_t size);

/* False: not all bytes could be sent. */
bool connect_send(int fd, const char *bytes, size_t length);

/*
 * Sends these words as one command and reads its reply, as it is sent, into `reply`, with a zero byte at
 * the end. An error reply returns false too.
 */
bool connect_call(int fd, const char *const *words, const size_t *lengths, size_t count,
                  char reply[CONNECT_REPLY_MAX], char *problem, size_t size);

/*
 * Authenticates with the token in the environment variable LAUD_TOKEN, if there is one. A token is secret,
 * and every user of the machine can see arguments, so it is no option. Returns as connect_call does.
 */
bool connect_authenticate(int fd, char reply[CONNECT_REPLY_MAX], char *problem, size_t size);

/* Sends SCRIPT LOAD with a file; `sha` gets the 40 digits of its digest. */
bool connect_load_script(int fd, const char *path, char sha[41], char *problem, size_t size);

#endif
