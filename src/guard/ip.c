/*
 * A provider gives a whole /64 network to one customer, who can use every address in it. So a limit
 * counts the network. X-Forwarded-For is a list that a client can begin with anything; only the
 * entries that our own proxies appended at its right end are reliable.
 */
#include "guard/ip.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>

#include "base/decimal.h"

#define V4_BITS 96 /* the length of the prefix of mapped IPv4 addresses */

static const uint8_t v4_prefix[12] = {[10] = 0xff, [11] = 0xff};

static bool is_v4(const struct ip *ip)
{
    return memcmp(ip->bytes, v4_prefix, sizeof v4_prefix) == 0;
}

static struct ip from_v4(const void *four)
{
    struct ip ip;
    memcpy(ip.bytes, v4_prefix, sizeof v4_prefix);
    memcpy(ip.bytes + sizeof v4_prefix, four, 4);
    return ip;
}

struct ip ip_of_socket(const struct sockaddr *address)
{
    struct ip ip = {{0}};
    if (address->sa_family == AF_INET)
        return from_v4(&((const struct sockaddr_in *)(const void *)address)->sin_addr);
    if (address->sa_family == AF_INET6)
        memcpy(ip.bytes, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr,
               sizeof ip.bytes);
    return ip;
}

bool ip_parse(struct text text, struct ip *out)
{
    char copy[IP_TEXT_MAX];
    uint8_t four[4];
    if (text.length == 0 || text.length >= sizeof copy ||
        memchr(text.bytes, '\0', text.length) != NULL)
        return false;
    memcpy(copy, text.bytes, text.length);
    copy[text.length] = '\0';
    if (inet_pton(AF_INET, copy, four) == 1) {
        *out = from_v4(four);
        return true;
    }
    return inet_pton(AF_INET6, copy, out->bytes) == 1;
}

/* Parses a number of at most `digits` digits that is at most `max`. */
static bool parse_number(struct text text, size_t digits, unsigned max, unsigned *out)
{
    uint64_t number;
    if (text.length > digits || !decimal_read(text, max, &number))
        return false;
    *out = (unsigned)number;
    return true;
}

struct text ip_without_port(struct text host)
{
    const char *colon = host.length > 0 ? memrchr(host.bytes, ':', host.length) : NULL;
    size_t length = colon != NULL ? (size_t)(colon - host.bytes) : host.length;
    unsigned port;
    bool cut = colon != NULL && parse_number((struct text){colon + 1, host.length - length - 1}, 5,
                                             UINT16_MAX, &port);
    return cut ? (struct text){host.bytes, length} : host;
}

bool ip_parse_host(struct text host, struct ip *out)
{
    if (ip_parse(
            host,
            out)) /* this comes first, because the end of an IPv6 address may look like a port */
        return true;
    host = ip_without_port(host);
    if (host.length < 2)
        return false;
    bool wide = memchr(host.bytes, ':', host.length) != NULL;
    if (host.bytes[0] != '[')
        return !wide && ip_parse(host, out);
    return wide && host.bytes[host.length - 1] == ']' &&
           ip_parse((struct text){host.bytes + 1, host.length - 2}, out);
}

void ip_format(const struct ip *ip, char out[IP_TEXT_MAX])
{
    bool v4 = is_v4(ip);
    inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? ip->bytes + sizeof v4_prefix : ip->bytes, out,
              IP_TEXT_MAX);
}

struct id ip_client(const struct ip *ip)
{
    struct id id;
    memcpy(&id.hi, ip->bytes, 8);
    memcpy(&id.lo, ip->bytes + 8, 8);
    if (!is_v4(ip))
        id.lo = 0;
    return id;
}

bool ip_is_loopback(const struct ip *ip)
{
    static const struct ip v6 = {{[15] = 1}};
    return is_v4(ip) ? ip->bytes[12] == 127 : memcmp(ip, &v6, sizeof v6) == 0;
}

static bool parse_net(struct text text, struct ip_net *out)
{
    const char *slash = memchr(text.bytes, '/', text.length);
    size_t length = slash != NULL ? (size_t)(slash - text.bytes) : text.length;
    if (!ip_parse((struct text){text.bytes, length}, &out->ip))
        return false;
    unsigned skipped = is_v4(&out->ip) ? V4_BITS : 0;
    out->bits = 128 - skipped;
    if (slash != NULL &&
        !parse_number((struct text){slash + 1, text.length - length - 1}, 3, out->bits, &out->bits))
        return false;
    out->bits += skipped;
    return true;
}

bool ip_nets_parse(struct ip_nets *nets, const char *list, char *problem, size_t size)
{
    nets->count = 0;
    for (const char *at = list + strspn(list, ", "); *at != '\0'; at += strspn(at, ", ")) {
        size_t length = strcspn(at, ", ");
        if (nets->count == IP_NETS_MAX) {
            snprintf(problem, size, "there can be at most %d addresses or networks", IP_NETS_MAX);
            return false;
        }
        if (!parse_net((struct text){at, length}, &nets->nets[nets->count++])) {
            snprintf(problem, size,
                     "'%.*s' is not an address or network, as in 10.0.0.1, 10.0.0.0/8 or fd00::/8",
                     (int)(length < 64 ? length : 64), at);
            return false;
        }
        at += length;
    }
    return true;
}

static bool net_has(const struct ip_net *net, const struct ip *ip)
{
    unsigned whole = net->bits / 8, rest = net->bits % 8;
    if (memcmp(net->ip.bytes, ip->bytes, whole) != 0)
        return false;
    return rest == 0 || (net->ip.bytes[whole] ^ ip->bytes[whole]) >> (8 - rest) == 0;
}

bool ip_nets_have(const struct ip_nets *nets, const struct ip *ip)
{
    for (unsigned i = 0; i < nets->count; i++) {
        if (net_has(&nets->nets[i], ip))
            return true;
    }
    return false;
}

void ip_follow(const struct ip_nets *ours, struct text list, const struct ip *peer,
               struct ip *client)
{
    while (list.length > 0) {
        const char *comma = memchr(list.bytes, ',', list.length);
        size_t length = comma != NULL ? (size_t)(comma - list.bytes) : list.length;
        struct ip ip;
        if (!ip_parse_host(text_trim((struct text){list.bytes, length}), &ip))
            *client = *peer;
        else if (!ip_nets_have(ours, &ip))
            *client = ip;
        size_t past = length + (comma != NULL);
        list = (struct text){list.bytes + past, list.length - past};
    }
}
