/*
 * The last '@' ends user and password, because people write passwords with an '@' without encoding it; a
 * host never has one.
 */
#include "move/redis_url.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"

#define PORT_USUAL   6379
#define DATABASE_MAX 65535

struct span {
    const char *at;
    size_t length;
};

static bool refuse(char *problem, size_t size, const char *sentence)
{
    snprintf(problem, size, "%s", sentence);
    return false;
}

static int hex_digit(char c)
{
    return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

/* Decodes %XX; false if the result does not fit or has a zero byte. */
static bool decode(struct span from, char *out, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < from.length; i++) {
        char c = from.at[i];
        if (c == '%') {
            if (i + 2 >= from.length || !isxdigit((unsigned char)from.at[i + 1]) ||
                !isxdigit((unsigned char)from.at[i + 2]))
                return false;
            c = (char)(hex_digit(from.at[i + 1]) * 16 + hex_digit(from.at[i + 2]));
            i += 2;
        }
        if (c == '\0' || used + 1 >= size)
            return false;
        out[used++] = c;
    }
    out[used] = '\0';
    return true;
}

static bool number(struct span from, uint32_t max, uint32_t *out)
{
    uint64_t value;
    if (from.length > 6 || !decimal_read((struct text){from.at, from.length}, max, &value))
        return false;
    *out = (uint32_t)value;
    return true;
}

static bool credentials(struct span from, struct redis_address *out)
{
    const char *colon = memchr(from.at, ':', from.length);
    struct span user = {from.at, colon == NULL ? from.length : (size_t)(colon - from.at)};
    if (!decode(user, out->user, sizeof out->user))
        return false;
    if (colon == NULL)
        return true;
    struct span password = {colon + 1, from.length - user.length - 1};
    return decode(password, out->password, sizeof out->password);
}

/* host, host:port, [host]:port */
static bool host_and_port(struct span from, struct redis_address *out)
{
    struct span host = from;
    const char *end = from.at + from.length;
    const char *colon;
    if (from.length > 0 && from.at[0] == '[') {
        const char *close = memchr(from.at, ']', from.length);
        if (close == NULL)
            return false;
        host = (struct span){from.at + 1, (size_t)(close - from.at) - 1};
        colon = close + 1;
        if (colon < end && *colon != ':')
            return false;
    } else {
        colon = memchr(from.at, ':', from.length);
        colon = colon == NULL ? end : colon;
        host.length = (size_t)(colon - from.at);
    }
    uint32_t port = PORT_USUAL;
    if (colon < end && !number((struct span){colon + 1, (size_t)(end - colon) - 1}, 65535, &port))
        return false;
    if (host.length == 0 || host.length >= sizeof out->host || port == 0)
        return false;
    memcpy(out->host, host.at, host.length);
    out->port = (uint16_t)port;
    return true;
}

static bool parse_tcp(const char *rest, struct redis_address *out, char *problem, size_t size)
{
    if (strpbrk(rest, "?#") != NULL && strchr(rest, '@') == NULL)
        return refuse(problem, size, "the URL of Redis can have nothing after the database");
    const char *at = strrchr(rest, '@');
    const char *authority = at == NULL ? rest : at + 1;
    if (at != NULL && !credentials((struct span){rest, (size_t)(at - rest)}, out))
        return refuse(problem, size,
                      "user and password in the URL of Redis are too long or not percent-encoded");
    size_t length = strcspn(authority, "/");
    if (!host_and_port((struct span){authority, length}, out))
        return refuse(problem, size,
                      "the URL of Redis must be redis://[user:password@]host[:port][/database]");
    if (authority[length] == '\0' || authority[length + 1] == '\0')
        return true;
    struct span database = {authority + length + 1, strlen(authority + length + 1)};
    if (!number(database, DATABASE_MAX, &out->database))
        return refuse(problem, size,
                      "what follows the host in the URL of Redis must be the number "
                      "of a database, as in redis://localhost:6379/0");
    return true;
}

static bool parse_unix(const char *rest, struct redis_address *out, char *problem, size_t size)
{
    size_t length = strcspn(rest, "?");
    if (rest[0] != '/' || !decode((struct span){rest, length}, out->path, sizeof out->path))
        return refuse(problem, size,
                      "a socket of Redis must be unix:///path/of/socket, or with ?db=N after it, "
                      "and its path is shorter than 108 bytes");
    if (rest[length] == '\0')
        return true;
    const char *query = rest + length + 1;
    if (strncmp(query, "db=", 3) != 0 ||
        !number((struct span){query + 3, strlen(query + 3)}, DATABASE_MAX, &out->database))
        return refuse(problem, size, "after the path of a socket of Redis only ?db=N can follow");
    return true;
}

bool redis_url_parse(const char *url, struct redis_address *out, char *problem, size_t size)
{
    memset(out, 0, sizeof *out);
    if (strncasecmp(url, "redis://", 8) == 0)
        return parse_tcp(url + 8, out, problem, size);
    if (strncasecmp(url, "unix://", 7) == 0)
        return parse_unix(url + 7, out, problem, size);
    if (strncasecmp(url, "rediss://", 9) == 0)
        return refuse(problem, size,
                      "rediss:// needs TLS, which is not supported: use redis:// on the same "
                      "machine, or through a tunnel");
    return refuse(problem, size,
                  "the URL of Redis must begin with redis:// or unix://, as in "
                  "redis://localhost:6379/0");
}

const char *redis_address_name(const struct redis_address *address, char out[REDIS_ADDRESS_NAME])
{
    if (address->host[0] == '\0')
        snprintf(out, REDIS_ADDRESS_NAME, "%s", address->path);
    else
        snprintf(out, REDIS_ADDRESS_NAME, strchr(address->host, ':') ? "[%s]:%u" : "%s:%u",
                 address->host, address->port);
    return out;
}
