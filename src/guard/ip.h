/*
 * Client addresses: as text, in lists of networks, and as the key of a limit. An IPv4 address is
 * stored as its mapped IPv6 address (::ffff:a.b.c.d), so that a client has one address whichever way
 * it connects. Any thread may call these functions.
 */
#ifndef LAUD_GUARD_IP_H
#define LAUD_GUARD_IP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/id.h"
#include "base/text.h"

#define IP_TEXT_MAX 48
#define IP_NETS_MAX 32

struct ip {
    uint8_t bytes[16];
};

struct ip_net {
    struct ip ip;
    unsigned bits; /* the length of the network's prefix */
};

struct ip_nets {
    unsigned count;
    struct ip_net nets[IP_NETS_MAX];
};

/* All zero if the socket's address is neither IPv4 nor IPv6. */
struct ip ip_of_socket(const struct sockaddr *address);

/* Parses an address without port or brackets. */
bool ip_parse(struct text text, struct ip *out);

/* Parses an address that may have a port or brackets: 10.0.0.1:80, [::1] or [::1]:80. */
bool ip_parse_host(struct text host, struct ip *out);

/* The host without the port at its end, if there is one. The host is a name, or in brackets. */
struct text ip_without_port(struct text host);

/* Writes the address as text with a terminator. A mapped IPv4 address is written as IPv4. */
void ip_format(const struct ip *ip, char out[IP_TEXT_MAX]);

/* The key of a client: its IPv4 address, or the /64 network of its IPv6 address. */
struct id ip_client(const struct ip *ip);

bool ip_is_loopback(const struct ip *ip);

/*
 * Parses a list of addresses and networks (10.0.0.0/8, ::1) that are separated by commas or spaces. False:
 * `problem` is one sentence.
 */
bool ip_nets_parse(struct ip_nets *nets, const char *list, char *problem, size_t size);
bool ip_nets_have(const struct ip_nets *nets, const struct ip *ip);

/*
 * Reads one list of X-Forwarded-For; several lists are passed in their order. *client becomes the
 * right-most address that is not one of our proxies. If an entry is no address, whatever is to the
 * left of it cannot be trusted, and *client becomes `peer`. Entries may have ports and brackets, which
 * some proxies add.
 */
void ip_follow(const struct ip_nets *ours, struct text list, const struct ip *peer,
               struct ip *client);

#endif
