#include "http/origin.h"

#include <stdio.h>
#include <string.h>

#include "base/quantity.h"

#define ORIGIN_MAX 256

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define DIGIT "0123456789"

/* The next origin of the list; *at is advanced. Returns its length; 0: there are no more. */
static size_t next_of(const char **at, const char **origin)
{
    *origin = *at + strspn(*at, ", ");
    size_t length = strcspn(*origin, ", ");
    *at = *origin + length;
    return length;
}

bool origins_have(const char *list, const char *origin)
{
    const char *one;
    size_t length = strlen(origin), part;
    while ((part = next_of(&list, &one)) > 0)
        if ((part == 1 && *one == '*') || (part == length && memcmp(one, origin, length) == 0))
            return true;
    return false;
}

/* After the host there is nothing, or a port that is not the default. The problem, or NULL. */
static const char *port_problem(const char *text, bool http, bool https)
{
    uint64_t port;
    if (*text == '\0')
        return NULL;
    if (*text == '/')
        return "it has a path, or a '/' at its end";
    if (*text != ':' || quantity_parse(QUANTITY_COUNT, text + 1, &port) != QUANTITY_GOOD ||
        port == 0 || port > 65535 || text[1] == '0')
        return "what follows the host is not a port";
    if ((http && port == 80) || (https && port == 443))
        return "browsers omit the default port of the scheme";
    return NULL;
}

/* What is wrong with this origin, or NULL. */
static const char *origin_problem(const char *origin)
{
    size_t scheme = strspn(origin, LOWER DIGIT "+.-");
    if (strcmp(origin, "null") == 0)
        return "pages of any site can send it";
    for (const char *at = origin; *at != '\0'; at++)
        if (*at >= 'A' && *at <= 'Z')
            return "browsers send it in lower case";
    if (scheme == 0 || strspn(origin, LOWER) == 0 || strncmp(origin + scheme, "://", 3) != 0)
        return "it does not begin with a scheme such as https://";
    const char *host = origin + scheme + 3;
    size_t length = strspn(host, LOWER DIGIT "-._");
    if (host[0] == '[') {
        length = 1 + strspn(host + 1, "abcdef" DIGIT ":.");
        length += host[length] == ']';
        if (length < 4 || host[length - 1] != ']')
            return "what is in brackets is not an IPv6 address";
    }
    if (length == 0)
        return "it has no host";
    return port_problem(host + length, scheme == 4 && strncmp(origin, "http", 4) == 0,
                        scheme == 5 && strncmp(origin, "https", 5) == 0);
}

bool origins_check(const char *list, char *problem, size_t size)
{
    const char *one;
    size_t length;
    char origin[ORIGIN_MAX];
    while ((length = next_of(&list, &one)) > 0) {
        if (length == 1 && *one == '*')
            continue;
        const char *wrong = "it is too long";
        snprintf(origin, sizeof origin, "%.*s", (int)length, one);
        if (length < sizeof origin)
            wrong = origin_problem(origin);
        if (wrong == NULL)
            continue;
        snprintf(
            problem, size,
            "'%.100s' is not a web origin, because %s: give origins as in https://a.example or "
            "http://localhost:3000, or * for all",
            origin, wrong);
        return false;
    }
    return true;
}
