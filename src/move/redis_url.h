/*
 * The address of a Redis: redis://[user[:password]@]host[:port][/database], unix:///path[?db=database].
 * Names and passwords may be percent-encoded. Sentences about a wrong address never repeat its text,
 * because it may contain a password.
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
    char user[128];     /* "": the default user */
    char password[512]; /* "": no password */
    uint32_t database;
    uint16_t port;
};

/* False: `problem` has one sentence. */
bool redis_url_parse(const char *url, struct redis_address *out, char *problem, size_t size);

/* The address as it may be shown, without the password: host and port, or path. */
const char *redis_address_name(const struct redis_address *address, char out[REDIS_ADDRESS_NAME]);

#endif
