/*
 * Where a Redis is: redis://[user[:password]@]host[:port][/database], unix:///path[?db=database].
 * Names and passwords may be percent-encoded. No sentence here ever repeats the text it is about:
 * there may be a password in it.
 */
#ifndef LAUD_MOVE_REDIS_URL_H
#define LAUD_MOVE_REDIS_URL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REDIS_ADDRESS_NAME 300

struct redis_address {
    char host[256]; /* "" for a socket in the file system */
    char path[108];
    char user[128];     /* "": the default one */
    char password[512]; /* "": none */
    uint32_t database;
    uint16_t port;
};

/* False: `problem` is one sentence. */
bool redis_url_parse(const char *url, struct redis_address *out, char *problem, size_t size);

/* As it can be shown: host and port, or path. */
const char *redis_address_name(const struct redis_address *address, char out[REDIS_ADDRESS_NAME]);

#endif
